//! What the machine wants done, as JSON.

use evenkeel_core::consumer::timers::Reason;
use evenkeel_core::consumer::{Delivery, Event, Failure, Output};
use evenkeel_core::model::MessageQueue;
use evenkeel_core::time::Instant;
use evenkeel_core::wire::command::{Command, HeaderEncoding};
use evenkeel_core::wire::inspect::{command_value, fields, message_value};
use evenkeel_core::wire::json::Value;

pub(super) fn shown(output: &Output) -> Value<'static> {
    match output {
        Output::Call { call, to, request, deadline } => fields([
            ("type", "call".into()),
            ("call", count(call.0)),
            ("to", text(to)),
            ("asks", request.code().name().map_or(Value::Null, Value::from)),
            ("command", shown_command(&request.to_command())),
            ("deadline", millis(*deadline)),
        ]),
        Output::Answer { to, opaque, answer } => fields([
            ("type", "answer".into()),
            ("to", text(to)),
            ("command", shown_command(&answer.to_command(*opaque))),
        ]),
        Output::HangUp { address } => fields([("type", "hangUp".into()), ("address", text(address))]),
        Output::Save { offsets } => {
            let row = |(of, offset): (&MessageQueue, &i64)| {
                fields([("queue", queue(of)), ("offset", (*offset).into())])
            };
            fields([("type", "save".into()), ("offsets", Value::List(offsets.iter().map(row).collect()))])
        }
        Output::Deliver(delivery) => shown_delivery(delivery),
        Output::Event(event) => named_event(event),
        Output::Idle { wake } => fields([
            ("type", "idle".into()),
            ("wake", wake.map_or(Value::Null, |(at, _)| millis(at))),
            ("reason", wake.map_or(Value::Null, |(_, reason)| reason_name(reason).into())),
        ]),
    }
}

fn text(name: impl ToString) -> Value<'static> {
    name.to_string().into()
}

fn count(number: u64) -> Value<'static> {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

fn size(number: usize) -> Value<'static> {
    count(number as u64)
}

fn millis(at: Instant) -> Value<'static> {
    count(at.as_millis())
}

fn shown_command(command: &Command) -> Value<'static> {
    command_value(command, HeaderEncoding::Json)
}

fn queue(queue: &MessageQueue) -> Value<'static> {
    fields([("topic", text(&queue.topic)), ("broker", text(&queue.broker)), ("id", queue.id.into())])
}

fn queues(list: &[MessageQueue]) -> Value<'static> {
    Value::List(list.iter().map(queue).collect())
}

fn shown_delivery(delivery: &Delivery) -> Value<'static> {
    let ticket =
        fields([("epoch", count(delivery.ticket.epoch.0)), ("number", count(delivery.ticket.number))]);
    fields([
        ("type", "deliver".into()),
        ("ticket", ticket),
        ("queue", queue(&delivery.queue)),
        ("messages", Value::List(delivery.messages.iter().map(message_value).collect())),
    ])
}

fn reason_name(reason: Reason) -> &'static str {
    match reason {
        Reason::Route => "route",
        Reason::Check => "check",
        Reason::Heartbeat => "heartbeat",
        Reason::Rebalance => "rebalance",
        Reason::Commit => "commit",
        Reason::Queue => "queue",
        Reason::Pop => "pop",
        Reason::SendBackRetry => "sendBackRetry",
        Reason::Suspended => "suspended",
        Reason::Locks => "locks",
        Reason::Direct => "direct",
        Reason::Drain => "drain",
        Reason::Shutdown => "shutdown",
    }
}

fn named_event(event: &Event) -> Value<'static> {
    let (name, details) = told(event);
    let mut entries = vec![("type".into(), "event".into()), ("event".into(), name.into())];
    if let Value::Map(details) = details {
        entries.extend(details);
    }
    Value::Map(entries)
}

fn told(event: &Event) -> (&'static str, Value<'static>) {
    match event {
        Event::Rebalanced { generation, topic, reason, members, queues: all, assigned, gained, lost } => (
            "rebalanced",
            fields([
                ("generation", count(*generation)),
                ("topic", text(topic)),
                ("reason", reason.name().into()),
                ("members", size(*members)),
                ("queues", size(*all)),
                ("assigned", queues(assigned)),
                ("gained", queues(gained)),
                ("lost", queues(lost)),
            ]),
        ),
        Event::Ready => ("ready", fields([])),
        Event::DuplicateClientId { client, times } => {
            ("duplicateClientId", fields([("client", text(client)), ("times", size(*times))]))
        }
        Event::NotAMember { broker } => ("notAMember", fields([("broker", text(broker))])),
        Event::NothingToRead { topic } => ("nothingToRead", fields([("topic", text(topic))])),
        Event::AllocationFailed { topic, why } => {
            ("allocationFailed", fields([("topic", text(topic)), ("why", text(why))]))
        }
        Event::QueueStarted { queue: started, offset, committed } => (
            "queueStarted",
            fields([
                ("queue", queue(started)),
                ("offset", (*offset).into()),
                ("committed", (*committed).into()),
            ]),
        ),
        Event::QueueEnded { queue: ended, commit_point, abandoned } => (
            "queueEnded",
            fields([
                ("queue", queue(ended)),
                ("commitPoint", (*commit_point).into()),
                ("abandoned", size(*abandoned)),
            ]),
        ),
        Event::Committed { queue: committed, offset } => {
            ("committed", fields([("queue", queue(committed)), ("offset", (*offset).into())]))
        }
        Event::CallFailed { to, what, about, error, attempt } => (
            "callFailed",
            fields([
                ("to", text(to)),
                ("what", (*what).into()),
                ("about", text(about)),
                ("error", text(error)),
                ("attempt", i64::from(*attempt).into()),
            ]),
        ),
        Event::HandlerFailed { queue: failed, offset, reconsume_times, why } => (
            "handlerFailed",
            fields([
                ("queue", queue(failed)),
                ("offset", (*offset).into()),
                ("reconsumeTimes", (*reconsume_times).into()),
                ("why", failure(why)),
            ]),
        ),
        Event::SentBack { queue: sent, offset } => {
            ("sentBack", fields([("queue", queue(sent)), ("offset", (*offset).into())]))
        }
        Event::PeerMisbehaved { from, what } => {
            ("peerMisbehaved", fields([("from", text(from)), ("what", text(what))]))
        }
        Event::OffsetReset { queue: reset, from, to } => {
            ("offsetReset", fields([("queue", queue(reset)), ("from", (*from).into()), ("to", (*to).into())]))
        }
        Event::Late { count: late } => ("late", fields([("count", count(*late))])),
        Event::Stopped { drained, handed_back, abandoned, committed } => (
            "stopped",
            fields([
                ("drained", size(*drained)),
                ("handedBack", size(*handed_back)),
                ("abandoned", size(*abandoned)),
                ("committed", Value::List(committed.iter().map(committed_queue).collect())),
            ]),
        ),
        // The machine may learn to tell more; what is not known here is at least seen.
        other => ("other", fields([("text", format!("{other:?}").into())])),
    }
}

fn committed_queue((of, offset): &(MessageQueue, i64)) -> Value<'static> {
    fields([("queue", queue(of)), ("offset", (*offset).into())])
}

fn failure(why: &Failure) -> Value<'static> {
    match why {
        Failure::Asked => "asked".into(),
        Failure::TimedOut => "timedOut".into(),
        Failure::Error(text) | Failure::Panic(text) => text.clone().into(),
    }
}
