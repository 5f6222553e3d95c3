//! Logs: on stderr, nothing but warnings unless more is asked for.

use super::exit::Failure;
use super::global::{Global, LogFormat};
use evenkeel::settings::{Origin, Value};
use std::io::IsTerminal;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt, reload};

/// The log of this process.
pub(crate) struct Logging {
    global: Global,
    handle: reload::Handle<EnvFilter, Registry>,
}

/// Starts logging for the rest of the process.
pub(crate) fn start(global: &Global) -> Logging {
    let filter = wanted(global).ok().map_or_else(
        // The command that reads the settings tells what is wrong with them.
        || EnvFilter::new(fallback(global)),
        |wanted| {
            parsed(&wanted).unwrap_or_else(|problem| {
                eprintln!("evenkeel: {problem}: using {}", fallback(global));
                EnvFilter::new(fallback(global))
            })
        },
    );
    let (filter, handle) = reload::Layer::new(filter);
    let lines =
        fmt::layer().with_writer(std::io::stderr).with_ansi(global.color(std::io::stderr().is_terminal()));
    let lines = match global.log_format {
        LogFormat::Pretty => lines.pretty().boxed(),
        LogFormat::Compact => lines.compact().with_target(false).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry().with(filter).with(lines).init();
    Logging { global: global.clone(), handle }
}

impl Logging {
    /// From now on SIGHUP lets the filter be read again. Needs a tokio runtime.
    pub(crate) fn follow_hangups(self) {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let Ok(mut signals) = signal(SignalKind::hangup()) else { return };
            tokio::spawn(async move {
                while signals.recv().await.is_some() {
                    self.read_again();
                }
            });
        }
    }

    fn read_again(&self) {
        let read = wanted(&self.global).map_err(|failure| failure.text().to_owned());
        let changed = read.and_then(|wanted| {
            let filter = parsed(&wanted)?;
            self.handle.reload(filter).map_err(|error| error.to_string())?;
            Ok(wanted)
        });
        match changed {
            Ok(Value { text, origin }) => {
                self.global.say(&format!("evenkeel: SIGHUP: the log filter is {text:?} ({origin})"));
            }
            Err(problem) => eprintln!("evenkeel: SIGHUP: {problem}: the log filter stays as it is"),
        }
    }
}

/// What the settings say, which may have been changed since the last time.
fn wanted(global: &Global) -> Result<Value, Failure> {
    let settings = global.settings(&[])?;
    let built_in = || Value { text: fallback(global).to_owned(), origin: Origin::BuiltIn };
    Ok(settings.value("log.filter").cloned().unwrap_or_else(built_in))
}

fn parsed(wanted: &Value) -> Result<EnvFilter, String> {
    EnvFilter::try_new(&wanted.text).map_err(|error| {
        format!("the log filter {:?} ({}) cannot be read: {error}", wanted.text, wanted.origin)
    })
}

/// The filter where no layer of the settings has one.
fn fallback(global: &Global) -> &'static str {
    if global.quiet { "error" } else { "warn" }
}
