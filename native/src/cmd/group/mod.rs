//! `evenkeel group`: one group, its members, queues and lag.

mod json;
mod text;
mod view;

use super::cluster::Cluster;
use super::exit::{Code, Failure};
use super::global::Global;
use super::live::tell_silent;
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
    let settings = global.settings(&[])?;
    let servers = Cluster::servers_named(global, &settings)?;
    let group = Group::from(settings.outside(&options.name));
    let topic = options.topic.as_deref().map(|topic| Topic::from(settings.outside(topic)));
    let look = || look(global, &servers, &group, topic.as_ref(), &options);
    let code = look().await?;
    let Some(pause) = options.watch else { return Ok(code) };
    let mut signals = Signals::listen();
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _signal = signals.next() => return Ok(Code::Done),
        }
        tokio::select! {
            // What fails now may work at the next look.
            looked = look() => if let Err(failure) = looked {
                failure.print();
            },
            _signal = signals.next() => return Ok(Code::Done),
        }
    }
}

async fn look(
    global: &Global,
    servers: &NameServers,
    group: &Group,
    topic: Option<&Topic>,
    options: &Options,
) -> Result<Code, Failure> {
    let seen = read_group(servers, group, &Patience::default()).await?;
    if let Some(topic) = topic.filter(|topic| !seen.topics.contains_key(*topic)) {
        let known: Vec<&str> = seen.topics.keys().map(|topic| topic.as_str()).collect();
        return Err(Failure::new(
            Code::NotFound,
            format!("group {} does not consume topic {topic}", seen.group),
        )
        .with_hint(format!("it consumes {}", known.join(", "))));
    }
    let view = View::new(&seen, topic.cloned(), options.retry);
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
