//! A group for people.

use super::By;
use super::view::{Oldest, View};
use crate::cmd::exit::Failure;
use crate::cmd::global::Global;
use crate::cmd::live;
use crate::cmd::numbers::{NONE, UNKNOWN, age, known, lag, thousands};
use crate::cmd::output::{self, Format};
use crate::cmd::words::count;
use evenkeel::MessageQueue;
use evenkeel::inspect::Member;
use evenkeel_core::wire::request::MessageModel;

/// Two lines about the whole, and a table.
pub(super) fn print(global: &Global, view: &View<'_>, by: By) -> Result<(), Failure> {
    output::line(&title(view))?;
    output::line(&sums(view))?;
    for topic in &view.seen.unrouted {
        output::line(&format!("no name server knows topic {topic}, which members subscribe to"))?;
    }
    let wide = global.format() == Format::Wide;
    let (head, rows) = match by {
        By::Member => members(view, wide),
        By::Queue => queues(view),
        By::Broker => brokers(view),
    };
    if rows.is_empty() {
        return Ok(());
    }
    output::line("")?;
    output::table(global, &head.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), &rows)
}

/// `pay-worker · CLUSTERING push · AVG on all members · 3 members · 1 topic (retry topic hidden, --retry)`
fn title(view: &View<'_>) -> String {
    let seen = view.seen;
    let mut parts = vec![seen.group.to_string()];
    match &seen.kind {
        Some(kind) => parts.extend([live::kind(kind), strategies(view)]),
        None => parts.push("offline".to_owned()),
    }
    if seen.members.iter().any(Member::pops) {
        parts.push("by pop: the broker shares out, queues have no owner".to_owned());
    }
    parts.push(count(seen.members.len(), "member"));
    let topics = match &view.topic {
        Some(topic) => format!("topic {topic}"),
        None => count(view.topics().len(), "topic"),
    };
    let hidden = !view.retry && view.topic.is_none() && seen.topics.keys().any(|topic| topic.is_retry());
    parts.push(if hidden { format!("{topics} (retry topic hidden, --retry)") } else { topics });
    parts.join(" · ")
}

fn strategies(view: &View<'_>) -> String {
    let counts = view.strategies();
    if counts.len() == 1 {
        let of = |name: &Option<String>| match name {
            Some(name) => format!("{name} on all members"),
            None => "strategy not told".to_owned(),
        };
        return counts.keys().next().map(of).unwrap_or_default();
    }
    let mut known: Vec<(&String, usize)> =
        counts.iter().filter_map(|(name, count)| Some((name.as_ref()?, *count))).collect();
    known.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let mut parts: Vec<String> =
        known.into_iter().map(|(name, count)| format!("{name} on {count}")).collect();
    parts.extend(counts.get(&None).map(|count| format!("not told by {count}")));
    parts.join(", ")
}

/// `lag 1,284 · oldest ≤42 s · 38.2 msg/s · in flight 96`
fn sums(view: &View<'_>) -> String {
    let seen = view.seen;
    let total = view.total();
    let broadcasting = seen.kind.is_some_and(|kind| kind.model == MessageModel::Broadcasting);
    let mut waiting = format!("lag {}", lag(total.lag));
    if broadcasting {
        waiting = "lag not told (members that broadcast keep their own offsets)".to_owned();
    } else if view.hidden_lag().messages > 0 {
        waiting = format!("{waiting} ({} of it to be retried)", thousands(view.hidden_lag().messages));
    }
    let mut parts = vec![waiting];
    if !broadcasting {
        parts.push(format!("oldest {}", oldest(total.oldest)));
    }
    parts.push(format!("{:.1} msg/s", seen.rate));
    if seen.kind.is_some() {
        parts.push(format!("in flight {}", known(seen.in_flight())));
    }
    parts.join(" · ")
}

type Table = (Vec<&'static str>, Vec<Vec<String>>);

fn members(view: &View<'_>, wide: bool) -> Table {
    let mut head = vec!["MEMBER", "HOST", "CLIENT", "QUEUES", "LAG", "IN FLIGHT", "OLDEST"];
    if wide {
        head.extend(["STRATEGY", "ADDRESS", "SUBSCRIPTIONS"]);
    }
    (head, view.seen.members.iter().map(|one| member(view, one, wide)).collect())
}

fn member(view: &View<'_>, member: &Member, wide: bool) -> Vec<String> {
    let told = &member.seen;
    let owned = view.owned(member);
    let figures = owned.as_ref().map(|owned| view.figures(owned.iter().copied()));
    let host =
        told.address.as_deref().map(|address| address.rsplit_once(':').map_or(address, |(host, _)| host));
    let unknown = || UNKNOWN.to_owned();
    let mut row = vec![
        told.id.to_string(),
        host.unwrap_or(UNKNOWN).to_owned(),
        told.client(),
        owned.map_or_else(unknown, |owned| thousands(owned.len() as u64)),
        figures.map_or_else(unknown, |figures| lag(figures.lag)),
        known(member.in_flight()),
        figures.map_or_else(unknown, |figures| oldest(figures.oldest)),
    ];
    if wide {
        let subscriptions = told.subscriptions.as_ref().map(|topics| {
            let shown = topics.iter().filter(|(topic, _)| view.shows(topic));
            shown.map(|(topic, text)| format!("{topic}:{text}")).collect::<Vec<_>>().join(" ")
        });
        row.push(told.strategy_name().unwrap_or_else(unknown));
        row.push(told.address.clone().unwrap_or_else(unknown));
        row.push(subscriptions.unwrap_or_else(unknown));
    }
    row
}

fn queues(view: &View<'_>) -> Table {
    let head = vec!["TOPIC", "QUEUE", "OWNER", "LAG", "END", "COMMITTED", "OLDEST"];
    (head, view.queues().iter().map(|one| queue(view, one)).collect())
}

fn queue(view: &View<'_>, queue: &MessageQueue) -> Vec<String> {
    let owners: Vec<&str> = view.owners(queue).iter().map(|id| id.as_str()).collect();
    let owner = match owners.is_empty() {
        true if view.owners_are_known() => NONE.to_owned(),
        true => UNKNOWN.to_owned(),
        false => owners.join(", "),
    };
    let progress = view.seen.progress.get(queue);
    let offset = |of: fn(&evenkeel::inspect::Progress) -> i64| {
        progress.map_or_else(|| UNKNOWN.to_owned(), |progress| of(progress).to_string())
    };
    vec![
        queue.topic.to_string(),
        format!("{}/{}", queue.broker, queue.id),
        owner,
        known(view.seen.lag_of(queue)),
        offset(|progress| progress.end),
        offset(|progress| progress.committed),
        oldest(view.figures([queue]).oldest),
    ]
}

fn brokers(view: &View<'_>) -> Table {
    let head = vec!["BROKER", "ADDRESS", "MEMBERS", "QUEUES", "LAG", "OLDEST"];
    let rows = view.seen.brokers.iter().map(|(broker, address)| {
        let queues = view.on(broker);
        let connected = view.seen.members.iter().filter(|member| member.connections.contains_key(broker));
        let (members, count) = (connected.count() as u64, queues.len() as u64);
        let figures = view.figures(queues);
        vec![
            broker.to_string(),
            address.to_string(),
            thousands(members),
            thousands(count),
            lag(figures.lag),
            oldest(figures.oldest),
        ]
    });
    (head, rows.collect())
}

fn oldest(oldest: Oldest) -> String {
    match oldest {
        Oldest::Nothing => NONE.to_owned(),
        Oldest::AtMost(time) => format!("≤{}", age(time)),
        Oldest::Unknown => UNKNOWN.to_owned(),
    }
}
