//! Phrases about groups that several subcommands print.

use super::exit::Failure;
use super::numbers::thousands;
use super::output;
use evenkeel_core::model::{Group, MessageQueue, Topic};
use evenkeel_core::plan::Level;
use evenkeel_core::report::{Finding, Snapshot};
use std::collections::BTreeSet;

/// The group and its topic or the number of its topics.
pub(super) fn subject(group: Option<&Group>, topics: &[Topic]) -> Vec<String> {
    let topics = match topics {
        [one] => one.to_string(),
        all => count(all.len(), "topic"),
    };
    group.map(ToString::to_string).into_iter().chain([topics]).collect()
}

/// The queues that can be read; those of retry topics apart.
pub(super) fn queues(snapshot: &Snapshot) -> String {
    let of = |retry: bool| {
        let topics = snapshot.topics.iter().filter(|seen| seen.topic.is_retry() == retry);
        let readable = topics.flat_map(|seen| &seen.brokers).filter(|broker| broker.readable);
        readable.map(|broker| usize::try_from(broker.read_queues).unwrap_or(0)).sum::<usize>()
    };
    match of(true) {
        0 => count(of(false), "queue"),
        retry => format!("{} (and {retry} of the retry topic)", count(of(false), "queue")),
    }
}

/// How many brokers have queues that can be read.
pub(super) fn brokers(snapshot: &Snapshot) -> usize {
    let all = snapshot.topics.iter().flat_map(|topic| &topic.brokers);
    let readable = all.filter(|broker| broker.readable && broker.read_queues > 0);
    readable.map(|broker| &broker.broker).collect::<BTreeSet<_>>().len()
}

/// `1 queue`, `2 queues`.
pub(super) fn count(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{} {what}s", thousands(count as u64)) }
}

/// `broker-a 4 5, broker-b 0`, with topics before them if there are several.
pub(super) fn grouped(queues: &[&MessageQueue], with_topics: bool) -> String {
    let parts = queues.chunk_by(|a, b| a.topic == b.topic && a.broker == b.broker).filter_map(|run| {
        let ids: Vec<String> = run.iter().map(|queue| queue.id.to_string()).collect();
        let first = run.first()?;
        let topic = if with_topics { format!("{} ", first.topic) } else { String::new() };
        Some(format!("{topic}{} {}", first.broker, ids.join(" ")))
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// A finding with its effect and what to do.
pub(super) fn finding(found: &Finding) -> Result<(), Failure> {
    let level = match found.level {
        Level::Error => "FAIL",
        Level::Warning => "WARN",
        Level::Info => "INFO",
    };
    let title = evenkeel_core::plan::explain(found.code.as_str()).map_or("", |entry| entry.title);
    output::paragraph(&format!("{level} {} ", found.code), &format!("{title}: {}", found.text))?;
    if let Some(effect) = &found.effect {
        output::paragraph("          effect: ", effect)?;
    }
    output::paragraph("          fix:    ", &found.fix)
}
