//! What `consume` prints for programs: JSON lines of several types, and CSV.

use crate::cmd::exit::Failure;
use crate::cmd::output::{self, Format};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use evenkeel::{Event, Failure as Why, Message, MessageQueue, ShutdownReport};
use serde_json::{Value, json};

/// First line of CSV.
pub(super) const CSV_HEAD: &str =
    "topic,broker,queueId,queueOffset,msgId,tag,keys,storeTs,reconsumeTimes,body";

/// The first JSON line: what is consumed, from where.
pub(super) fn start(broker: &str, group: &str, topics: &[String], listen: Option<String>) -> Value {
    let mut line = json!({
        "type": "start", "schema": "evenkeel.consume/1", "broker": broker, "group": group, "topics": topics,
    });
    if let Some(address) = listen {
        line["listen"] = address.into();
    }
    line
}

/// A message.
pub(super) fn message(message: &Message) -> Value {
    let (body, encoding) = match std::str::from_utf8(message.body()) {
        Ok(text) => (text.to_owned(), "utf8"),
        Err(_) => (STANDARD.encode(message.body()), "base64"),
    };
    json!({
        "type": "message",
        "topic": message.topic(),
        "broker": message.queue().broker.as_str(),
        "queueId": message.queue().id,
        "queueOffset": message.offset(),
        "msgId": message.msg_id(),
        "tag": message.tag(),
        "keys": message.keys().collect::<Vec<_>>(),
        "storeTs": message.stored_at().as_millis(),
        "reconsumeTimes": message.retries(),
        "body": body,
        "bodyEncoding": encoding,
    })
}

/// A message as CSV.
pub(super) fn csv(message: &Message) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let (queue, keys) = (message.queue(), message.keys().collect::<Vec<_>>().join(" "));
    [
        message.topic().to_owned(),
        queue.broker.to_string(),
        queue.id.to_string(),
        message.offset().to_string(),
        message.msg_id(),
        quoted(message.tag().unwrap_or_default()),
        quoted(&keys),
        message.stored_at().as_millis().to_string(),
        message.retries().to_string(),
        quoted(&String::from_utf8_lossy(message.body())),
    ]
    .join(",")
}

/// An event, if it is one to tell of: as JSON on stdout, else as talk on stderr.
pub(super) fn event(event: &Event, format: Format) -> Result<(), Failure> {
    let Some((value, text)) = told(event) else { return Ok(()) };
    if format.is_json() {
        return output::json(&value);
    }
    eprintln!("evenkeel: {text}");
    Ok(())
}

fn told(event: &Event) -> Option<(Value, String)> {
    Some(match event {
        Event::Rebalanced { generation, topic, reason, members, assigned, gained, lost, .. }
            if !topic.is_retry() =>
        {
            let (gained, lost) = (queues(gained), queues(lost));
            let text = format!(
                "rebalance {generation} of {topic} ({}): {} queues, gained [{}], lost [{}]",
                reason.name(),
                assigned.len(),
                gained.join(" "),
                lost.join(" ")
            );
            let value = json!({
                "type": "rebalance", "generation": generation, "topic": topic.as_str(), "reason": reason.name(),
                "consumers": members, "gained": gained, "lost": lost, "assigned": assigned.len(),
            });
            (value, text)
        }
        Event::DuplicateClientId { client, times } => (
            json!({"type": "duplicate-client-id", "clientId": client.as_str(), "times": times}),
            format!(
                "client id {client} is used {times} times in the group: some queues have two owners, others none"
            ),
        ),
        Event::SharedOutHere { broker } => (
            json!({"type": "shared-out-here", "broker": broker.as_str()}),
            format!("broker {broker} cannot share queues out (it is older than 5.0): the members do it"),
        ),
        Event::PopExpired { queue, messages } => (
            json!({"type": "pop-expired", "queue": queue.to_string(), "messages": messages}),
            format!("{messages} popped messages of {queue} were not handled in time: they come again"),
        ),
        Event::Buried { queue, offset } => (
            json!({"type": "buried", "queue": queue.to_string(), "offset": offset}),
            format!("message {offset} of {queue} failed too often: it is a dead letter now"),
        ),
        Event::ForeignMembers { common, members, refused } => {
            let named: Vec<String> =
                members.iter().map(|(client, what)| format!("{client} {what}")).collect();
            let members: Vec<Value> = members
                .iter()
                .map(|(client, what)| json!({"clientId": client.as_str(), "what": what}))
                .collect();
            (
                json!({"type": "foreign-members", "members": members, "refused": refused}),
                format!("not every member has {}: {}", common.name(), named.join(", ")),
            )
        }
        Event::HandlerFailed { queue, offset, reconsume_times, why } => {
            let (kind, text) = match why {
                Why::Asked => ("asked", ""),
                Why::Error(text) => ("error", text.as_str()),
                Why::Panic(text) => ("panic", text.as_str()),
                Why::TimedOut => ("timed-out", ""),
            };
            let value = json!({
                "type": "handler-failed", "topic": queue.topic.as_str(), "queue": name(queue), "queueOffset": offset,
                "reconsumeTimes": reconsume_times, "kind": kind, "text": text,
            });
            (value, format!("handler failed at {}@{offset} ({kind}): {text}", name(queue)))
        }
        Event::Dropped { queue, offset } => (
            json!({"type": "dropped", "topic": queue.topic.as_str(), "queue": name(queue), "queueOffset": offset}),
            format!("{}@{offset} failed and is given up", name(queue)),
        ),
        Event::SaveFailed { why, attempt } => (
            json!({"type": "save-failed", "text": why, "attempt": attempt}),
            format!("the offset file could not be written: {why}"),
        ),
        Event::NothingToRead { topic } => (
            json!({"type": "nothing-to-read", "topic": topic.as_str()}),
            format!("{topic} has no queue that may be read"),
        ),
        Event::OffsetReset { queue, from, to } => (
            json!({"type": "offset-reset", "topic": queue.topic.as_str(), "queue": name(queue), "from": from, "to": to}),
            format!("offset of {} was reset from {from} to {to}", name(queue)),
        ),
        Event::ConsumedDirectly { queue, offset, verdict, remark, .. } => (
            json!({
                "type": "consumed-directly", "topic": queue.topic.as_str(), "queue": name(queue), "queueOffset": offset,
                "result": verdict.name(), "remark": remark,
            }),
            format!("{}@{offset} was consumed on an operator's word: {}", name(queue), verdict.name()),
        ),
        Event::LockLost { queue } => (
            json!({"type": "lock-lost", "topic": queue.topic.as_str(), "queue": name(queue)}),
            format!("the lock of {} was lost", name(queue)),
        ),
        _ => return None,
    })
}

/// How it ended.
pub(super) fn shutdown(cause: &str, report: &ShutdownReport) -> Value {
    json!({
        "type": "shutdown",
        "cause": cause,
        "drainedMs": u64::try_from(report.elapsed.as_millis()).unwrap_or(u64::MAX),
        "drained": report.drained,
        "committed": report.committed.iter().filter(|(queue, _)| !queue.topic.is_retry()).count(),
        "handedBack": report.handed_back,
        "abandoned": report.abandoned,
    })
}

fn name(queue: &MessageQueue) -> String {
    format!("{}/{}", queue.broker, queue.id)
}

fn queues(all: &[MessageQueue]) -> Vec<String> {
    all.iter().map(name).collect()
}
