//! `evenkeel snapshot`: a group as one JSON file, for plans elsewhere and for bug reports.

use super::exit::{Code, Failure};
use super::global::Global;
use super::output::{self, Format};
use super::source::Source;
use super::words;
use clap::Args;
use evenkeel_core::model::{BrokerName, ClientId, Topic};
use evenkeel_core::report::{Owned, Snapshot, redact};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The variable with the salt of pseudonyms.
const SALT: &str = "EVENKEEL_REDACT_SALT";

/// Options of `snapshot`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
    /// Put pseudonyms in place of all names and addresses. They sort as the names do, so that plans stay the same for
    /// AVG and AVG_BY_CIRCLE. With EVENKEEL_REDACT_SALT set, pseudonyms of one salt can be matched between snapshots
    #[arg(long)]
    redact: bool,
    /// Write it there; else to stdout
    #[arg(short = 'O', long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub(crate) async fn run(global: &Global, options: Options) -> Result<Code, Failure> {
    let seen = options.source.read(global).await?;
    let snapshot = if options.redact {
        // Not an argument: those are seen by everybody on the machine.
        let salt = std::env::var(SALT).ok().filter(|salt| !salt.is_empty());
        redact(&seen.snapshot, salt.as_deref())
    } else {
        seen.snapshot.clone()
    };
    let text = written(global, &snapshot)?;
    match &options.out {
        None => output::line(&text)?,
        Some(path) => {
            std::fs::write(path, format!("{text}\n"))
                .map_err(|error| Failure::other(format!("cannot write {}: {error}", path.display())))?;
            let (topics, members) = (snapshot.topics.len(), snapshot.consumers.len());
            global.say(&format!(
                "evenkeel: {}, {} and {} in {}",
                words::count(topics, "topic"),
                words::queues(&snapshot),
                words::count(members, "member"),
                path.display()
            ));
        }
    }
    Ok(seen.tell_who_was_silent())
}

/// A snapshot is JSON. For people it is laid out in lines; as CSV it is its queues and their owners.
fn written(global: &Global, snapshot: &Snapshot) -> Result<String, Failure> {
    let wrong = |error: serde_json::Error| Failure::other(format!("cannot write the snapshot: {error}"));
    match global.format() {
        Format::Text | Format::Wide => serde_json::to_string_pretty(snapshot).map_err(wrong),
        Format::Json | Format::Ndjson => serde_json::to_string(snapshot).map_err(wrong),
        Format::Csv => Ok(output::csv_text(&rows(snapshot)).join("\n")),
    }
}

fn rows(snapshot: &Snapshot) -> Vec<Value> {
    let mut rows = Vec::new();
    let owned: BTreeMap<(&Topic, &BrokerName, i64), &Vec<ClientId>> = snapshot
        .owned
        .iter()
        .flatten()
        .map(|Owned { queue, owners }| ((&queue.topic, &queue.broker, i64::from(queue.id)), owners))
        .collect();
    for topic in &snapshot.topics {
        for broker in topic.brokers.iter().filter(|broker| broker.readable) {
            for id in 0..broker.read_queues {
                let queue = (&topic.topic, &broker.broker, id);
                let owners: Vec<&str> = owned
                    .get(&queue)
                    .into_iter()
                    .flat_map(|owners| owners.iter())
                    .map(|id| id.as_str())
                    .collect();
                rows.push(json!({
                    "topic": topic.topic.as_str(),
                    "broker": broker.broker.as_str(),
                    "id": id,
                    "owners": owners.join(" "),
                }));
            }
        }
    }
    rows
}
