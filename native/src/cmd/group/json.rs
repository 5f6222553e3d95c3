//! A group for programs.

use super::By;
use super::view::{Figures, Oldest, View};
use crate::cmd::live::{silent_json, way};
use evenkeel::MessageQueue;
use evenkeel::inspect::Member;
use serde_json::{Value, json};

pub(super) const SCHEMA: &str = "evenkeel.group/1";

/// The whole, as [`SCHEMA`].
pub(super) fn whole(view: &View<'_>) -> Value {
    let seen = view.seen;
    let total = view.total();
    let topics: Vec<Value> = seen
        .topics
        .iter()
        .filter(|(topic, _)| view.shows(topic))
        .map(|(topic, brokers)| {
            let brokers: Vec<Value> = brokers
                .iter()
                .map(|(broker, queues)| {
                    json!({"broker": broker.as_str(), "readQueues": queues.read, "readable": queues.readable})
                })
                .collect();
            json!({"topic": topic.as_str(), "brokers": brokers})
        })
        .collect();
    let mut value = json!({
        "schema": SCHEMA,
        "group": seen.group.as_str(),
        "at": seen.at.as_millis(),
        "online": seen.kind.is_some(),
        "model": seen.kind.map(|kind| kind.model.name()),
        "type": seen.kind.map(|kind| way(kind.consume_type)),
        "startFrom": seen.kind.map(|kind| kind.start_from.name()),
    });
    extend(&mut value, figures(total));
    extend(
        &mut value,
        json!({
            "inFlight": seen.in_flight(),
            "rate": seen.rate,
            "topics": topics,
            "unrouted": seen.unrouted.iter().map(|topic| topic.as_str()).collect::<Vec<_>>(),
            "members": seen.members.iter().map(|one| member(view, one)).collect::<Vec<_>>(),
            "queues": view.queues().iter().map(|one| queue(view, one)).collect::<Vec<_>>(),
            "brokers": brokers(view),
            "silent": seen.silent.iter().map(silent_json).collect::<Vec<_>>(),
        }),
    );
    value
}

/// One record for each member, queue or broker.
pub(super) fn rows(view: &View<'_>, by: By) -> Vec<Value> {
    match by {
        By::Member => view.seen.members.iter().map(|one| member(view, one)).collect(),
        By::Queue => view.queues().iter().map(|one| queue(view, one)).collect(),
        By::Broker => brokers(view),
    }
}

/// The same with lists and objects as one cell of text.
pub(super) fn flat(mut row: Value) -> Value {
    for cell in row.as_object_mut().into_iter().flat_map(|row| row.values_mut()) {
        let text = match &*cell {
            Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(" "),
            Value::Object(fields) => fields
                .iter()
                .map(|(name, value)| format!("{name}={}", text(value)))
                .collect::<Vec<_>>()
                .join(" "),
            _ => continue,
        };
        *cell = text.into();
    }
    row
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // A queue.
        Value::Object(fields) => {
            let field = |name: &str| fields.get(name).map(text).unwrap_or_default();
            format!("{}:{}/{}", field("topic"), field("broker"), field("id"))
        }
        other => other.to_string(),
    }
}

fn figures(figures: Figures) -> Value {
    let lag = figures.lag;
    let oldest = match figures.oldest {
        Oldest::AtMost(age) => u64::try_from(age.as_millis()).ok(),
        Oldest::Nothing | Oldest::Unknown => None,
    };
    json!({
        "lag": lag.total(),
        "lagKnown": lag.messages,
        "lagUnknownQueues": lag.unknown,
        "oldestAtMostMs": oldest,
    })
}

fn member(view: &View<'_>, member: &Member) -> Value {
    let told = &member.seen;
    let owned = view.owned(member);
    let mut value = json!({
        "id": told.id.as_str(),
        "address": told.address,
        "language": told.language,
        "version": told.version,
        "answered": member.running.is_some(),
        "strategy": told.strategy_name(),
        "pops": member.running.is_some().then_some(member.pops()),
        "queues": owned.as_ref().map(Vec::len),
    });
    let lags = match &owned {
        Some(owned) => figures(view.figures(owned.iter().copied())),
        None => json!({"lag": null, "lagKnown": null, "lagUnknownQueues": null, "oldestAtMostMs": null}),
    };
    extend(&mut value, lags);
    let owned = owned.map(|owned| owned.into_iter().map(name).collect::<Vec<_>>());
    let subscriptions = told.subscriptions.as_ref().map(|topics| {
        topics.iter().map(|(topic, text)| (topic.as_str().to_owned(), text.as_str().into())).collect()
    });
    let connections = member
        .connections
        .iter()
        .map(|(broker, at)| (broker.as_str().to_owned(), at.as_str().into()))
        .collect();
    extend(
        &mut value,
        json!({
            "inFlight": member.in_flight(),
            "subscriptions": subscriptions.map(Value::Object),
            "connections": Value::Object(connections),
            "owned": owned,
        }),
    );
    value
}

fn queue(view: &View<'_>, queue: &MessageQueue) -> Value {
    let progress = view.seen.progress.get(queue);
    let owners: Vec<&str> = view.owners(queue).iter().map(|id| id.as_str()).collect();
    let oldest = figures(view.figures([queue]))["oldestAtMostMs"].take();
    json!({
        "topic": queue.topic.as_str(),
        "broker": queue.broker.as_str(),
        "id": queue.id,
        "owners": (!owners.is_empty() || view.owners_are_known()).then_some(owners),
        "lag": view.seen.lag_of(queue),
        "end": progress.map(|progress| progress.end),
        "committed": progress.map(|progress| progress.committed),
        "lastConsumed": progress.and_then(|progress| progress.last_consumed).map(|at| at.as_millis()),
        "oldestAtMostMs": oldest,
    })
}

fn brokers(view: &View<'_>) -> Vec<Value> {
    let one = |(broker, address): (&evenkeel_core::model::BrokerName, &evenkeel::Address)| {
        let queues = view.on(broker);
        let connected = view.seen.members.iter().filter(|member| member.connections.contains_key(broker));
        let mut value = json!({
            "broker": broker.as_str(),
            "address": address.as_str(),
            "members": connected.count(),
            "queues": queues.len(),
        });
        extend(&mut value, figures(view.figures(queues)));
        value
    };
    view.seen.brokers.iter().map(one).collect()
}

fn name(queue: &MessageQueue) -> Value {
    json!({"topic": queue.topic.as_str(), "broker": queue.broker.as_str(), "id": queue.id})
}

/// Adds the fields of an object to another.
fn extend(value: &mut Value, more: Value) {
    if let (Some(fields), Value::Object(more)) = (value.as_object_mut(), more) {
        fields.extend(more);
    }
}
