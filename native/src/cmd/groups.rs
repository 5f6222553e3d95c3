//! `evenkeel groups`: the groups of a cluster.

use super::exit::{Code, Failure};
use super::global::Global;
use super::live::{self, servers, silent_json, tell_silent};
use super::numbers::{NONE, UNKNOWN, lag, thousands};
use super::output::{self, Format};
use clap::{Args, ValueEnum};
use evenkeel::Group;
use evenkeel::inspect::{GroupSummary, GroupsSeen, Options as Patience, Which, read_groups};
use regex::Regex;
use serde_json::{Value, json};

/// Options of `groups`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Only groups whose names this regular expression finds something in
    #[arg(long, value_name = "RE")]
    filter: Option<Regex>,
    /// Also groups without members
    #[arg(long)]
    pub(crate) offline: bool,
    /// Order: the most first, or by name
    #[arg(long, value_name = "BY", default_value = "name")]
    sort: Sort,
    /// No more than so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    Lag,
    Name,
    Members,
}

impl Options {
    /// All that there are.
    pub(crate) fn all() -> Self {
        Self { filter: None, offline: true, sort: Sort::Name, limit: None }
    }
}

/// Runs the command.
pub(crate) async fn run(global: &Global, options: Options) -> Result<Code, Failure> {
    let servers = servers(global)?;
    let named = |group: &Group| options.filter.as_ref().is_none_or(|filter| filter.is_match(group.as_str()));
    let which = Which { named: &named, offline: options.offline };
    let mut seen = read_groups(&servers, which, &Patience::default()).await?;
    match options.sort {
        Sort::Name => {}
        // Groups of one size stay by name.
        Sort::Lag => {
            seen.groups.sort_by_key(|group| std::cmp::Reverse((group.lag.messages, group.lag.unknown)))
        }
        Sort::Members => seen.groups.sort_by_key(|group| std::cmp::Reverse(group.members)),
    }
    let all = seen.groups.len();
    seen.groups.truncate(options.limit.unwrap_or(all));
    match global.format() {
        Format::Text | Format::Wide => print(global, &seen, all, options.offline)?,
        Format::Json => output::json(&value(&seen, all))?,
        Format::Ndjson | Format::Csv => {
            let rows: Vec<Value> = seen.groups.iter().map(row).map(|row| flat(global, row)).collect();
            output::rows(global, "evenkeel.groups/1", "groups", &rows)?;
        }
    }
    Ok(tell_silent(&seen.silent))
}

/// As JSON; `all` is how many were found.
pub(crate) fn value(seen: &GroupsSeen, all: usize) -> Value {
    json!({
        "schema": "evenkeel.groups/1",
        "at": seen.at.as_millis(),
        "found": all,
        "groups": seen.groups.iter().map(row).collect::<Vec<_>>(),
        "silent": seen.silent.iter().map(silent_json).collect::<Vec<_>>(),
    })
}

fn row(group: &GroupSummary) -> Value {
    json!({
        "group": group.group.as_str(),
        "online": group.kind.is_some(),
        "members": group.members,
        "model": group.kind.map(|kind| kind.model.name()),
        "type": group.kind.map(|kind| live::way(kind.consume_type)),
        "clients": group.clients,
        "topics": group.topics.iter().map(|topic| topic.as_str()).collect::<Vec<_>>(),
        "lag": group.lag.total(),
        "lagKnown": group.lag.messages,
        "lagUnknownQueues": group.lag.unknown,
        "rate": group.rate,
    })
}

/// Lists as one cell of text, with blanks between for CSV.
fn flat(global: &Global, mut row: Value) -> Value {
    if global.format() == Format::Csv {
        for (name, between) in [("clients", ", "), ("topics", " ")] {
            let texts = row[name].as_array().into_iter().flatten().filter_map(Value::as_str);
            row[name] = texts.collect::<Vec<_>>().join(between).into();
        }
    }
    row
}

fn print(global: &Global, seen: &GroupsSeen, all: usize, offline: bool) -> Result<(), Failure> {
    if seen.groups.is_empty() {
        let hint = if offline { "" } else { " with members; --offline lists the others, too" };
        global.say(&format!("evenkeel: no groups{hint}"));
        return Ok(());
    }
    let wide = global.format() == Format::Wide;
    let mut head = vec!["GROUP", "MEMBERS", "KIND", "CLIENTS", "TOPICS", "LAG", "MSG/S"];
    if wide {
        head.push("TOPIC NAMES");
    }
    let rows: Vec<Vec<String>> = seen
        .groups
        .iter()
        .map(|group| {
            let mut row = vec![
                group.group.to_string(),
                thousands(group.members as u64),
                group.kind.as_ref().map_or_else(|| "offline".to_owned(), live::kind),
                clients(group),
                if group.topics.is_empty() { NONE.to_owned() } else { thousands(group.topics.len() as u64) },
                lag(group.lag),
                format!("{:.1}", group.rate),
            ];
            if wide {
                row.push(group.topics.iter().map(|topic| topic.as_str()).collect::<Vec<_>>().join(" "));
            }
            row
        })
        .collect();
    output::table(global, &head.into_iter().map(str::to_owned).collect::<Vec<_>>(), &rows)?;
    if all > seen.groups.len() {
        global.say(&format!("evenkeel: {} of {all} groups (--limit)", seen.groups.len()));
    }
    if seen.groups.iter().any(|group| group.lag.unknown > 0) {
        global.say(&format!("evenkeel: {UNKNOWN} is a lag that is not known: offsets that do not fit"));
    }
    Ok(())
}

fn clients(group: &GroupSummary) -> String {
    if group.clients.is_empty() {
        return NONE.to_owned();
    }
    group.clients.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
