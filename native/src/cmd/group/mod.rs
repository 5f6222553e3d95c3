//! `evenkeel group`: one group, its members, queues and lag.

mod json;
mod text;
mod view;

use super::exit::{Code, Failure};
use super::global::Global;
use super::live::{servers, tell_silent};
use super::output::{self, Format};
use super::signals::Signals;
use clap::{Args, ValueEnum};
use evenkeel::client::NameServers;
use evenkeel::inspect::{Options as Patience, read_group};
use evenkeel::settings::values::duration;
use evenkeel::{Group, Topic};
use std::io::IsTerminal;
use std::time::Duration;
use view::View;

/// Options of `group`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The group
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What a line of the table is
    #[arg(long, value_name = "WHAT", default_value = "member")]
    pub(crate) by: By,
    /// Only this topic
    #[arg(short, long, value_name = "TOPIC")]
    pub(crate) topic: Option<String>,
    /// Show the retry topic, too
    #[arg(long)]
    pub(crate) retry: bool,
    /// Look again and again, with this pause
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) watch: Option<Duration>,
}

/// What a line of the table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    Member,
    Queue,
    Broker,
}

/// Runs the command.
pub(crate) async fn run(global: &Global, options: Options) -> Result<Code, Failure> {
    let servers = servers(global)?;
    let code = look(global, &servers, &options).await?;
    let Some(pause) = options.watch else { return Ok(code) };
    let mut signals = Signals::listen();
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _signal = signals.next() => return Ok(Code::Done),
        }
        tokio::select! {
            // What fails now may work at the next look.
            looked = look(global, &servers, &options) => if let Err(failure) = looked {
                failure.print();
            },
            _signal = signals.next() => return Ok(Code::Done),
        }
    }
}

async fn look(global: &Global, servers: &NameServers, options: &Options) -> Result<Code, Failure> {
    let settings = global.settings(&[])?;
    let group = Group::from(settings.outside(&options.name));
    let seen = read_group(servers, &group, &Patience::default()).await?;
    let topic = options.topic.as_deref().map(|topic| Topic::from(settings.outside(topic)));
    if let Some(topic) = topic.as_ref().filter(|topic| !seen.topics.contains_key(*topic)) {
        let known: Vec<&str> = seen.topics.keys().map(|topic| topic.as_str()).collect();
        return Err(Failure::new(
            Code::NotFound,
            format!("group {} does not consume topic {topic}", seen.group),
        )
        .with_hint(format!("it consumes {}", known.join(", "))));
    }
    let view = View::new(&seen, topic, options.retry);
    match global.format() {
        Format::Text | Format::Wide => {
            if options.watch.is_some() && std::io::stdout().is_terminal() {
                output::line("\u{1b}[2J\u{1b}[H")?;
            }
            text::print(global, &view, options.by)?;
        }
        Format::Json => output::json(&json::whole(&view))?,
        Format::Ndjson => output::rows(global, json::SCHEMA, "rows", &json::rows(&view, options.by))?,
        Format::Csv => {
            let rows: Vec<_> = json::rows(&view, options.by).into_iter().map(json::flat).collect();
            output::rows(global, json::SCHEMA, "rows", &rows)?;
        }
    }
    Ok(tell_silent(&seen.silent))
}
