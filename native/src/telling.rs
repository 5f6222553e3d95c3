//! Events as log lines: one line, one stable `event` field, no message body ever.

use evenkeel_core::consumer::io::{Event, Failure};
use tracing::{debug, info, warn};

/// Failures in a row from which on they are worth a warning: the first ones heal by themselves, mostly.
const WORRYING: u32 = 3;
/// Later on a warning in so many failures is enough.
const REMINDER: u32 = 64;

/// Whether this failure in a row is to be a warning: the third, then each time their number has doubled, so that a
/// broker that is down for an hour does not fill the log with each try of each queue.
fn worth_a_warning(attempt: u32) -> bool {
    attempt == WORRYING
        || (attempt > WORRYING && attempt.is_power_of_two())
        || (attempt > 0 && attempt.is_multiple_of(REMINDER))
}

/// Writes one event to the log.
pub(crate) fn tell(group: &str, event: &Event) {
    match event {
        Event::Rebalanced { generation, topic, reason, members, queues, assigned, gained, lost } => info!(
            event = "rebalanced", group, generation, %topic, reason = reason.name(), members, queues,
            assigned = assigned.len(), ?gained, ?lost, "rebalanced result changed"
        ),
        Event::Ready => info!(event = "ready", group, "the first rebalance round is done"),
        Event::DuplicateClientId { client, times } => warn!(
            event = "duplicate-client-id", group, %client, times,
            "our client id is listed more than once: another process uses it, and both read the same queues; \
             or, for up to two minutes, a connection that ended is still listed"
        ),
        Event::ForeignMembers { common, members, refused } => {
            let named: Vec<String> =
                members.iter().map(|(client, what)| format!("{client} ({what})")).collect();
            warn!(
                event = "foreign-members",
                group,
                members = named.join(", "),
                refused,
                "not every member has {}: {}",
                common.name(),
                common.consequence()
            );
        }
        Event::NotAMember { broker } => {
            warn!(event = "not-a-member", group, %broker, "the broker's member list does not have us");
        }
        Event::NothingToRead { topic } => warn!(
            event = "nothing-to-read", group, %topic,
            "the topic has no queue that may be read: does its permission (perm) allow reading?"
        ),
        Event::AllocationFailed { topic, why } => {
            warn!(event = "allocation-failed", group, %topic, "the topic stays as it is: {why}");
        }
        Event::QueueStarted { queue, offset, committed } => {
            info!(event = "queue-started", group, %queue, offset, committed, "a queue starts");
        }
        Event::QueueEnded { queue, commit_point, abandoned } if *abandoned > 0 => warn!(
            event = "queue-ended", group, %queue, commit_point, abandoned,
            "a queue has ended before its handlers: their outcomes count no more, and their messages come again"
        ),
        Event::QueueEnded { queue, commit_point, abandoned } => {
            info!(event = "queue-ended", group, %queue, commit_point, abandoned, "a queue has ended");
        }
        Event::Committed { queue, offset } => {
            debug!(event = "committed", group, %queue, offset, "offset committed")
        }
        Event::CallFailed { to, what, about, error, attempt } if *attempt < WORRYING => info!(
            event = "call-failed", group, %to, what, about, blame = %error.blame(), attempt, "{error}"
        ),
        Event::CallFailed { to, what, about, error, attempt } if worth_a_warning(*attempt) => warn!(
            event = "call-failed", group, %to, what, about, blame = %error.blame(), attempt, "{error}"
        ),
        Event::CallFailed { to, what, about, error, attempt } => debug!(
            event = "call-failed", group, %to, what, about, blame = %error.blame(), attempt, "{error}"
        ),
        Event::HandlerFailed { queue, offset, reconsume_times, why } => {
            let (kind, text) = match why {
                Failure::Asked => ("asked", ""),
                Failure::Error(text) => ("error", text.as_str()),
                Failure::Panic(text) => ("panic", text.as_str()),
                Failure::TimedOut => ("timed-out", ""),
            };
            warn!(event = "handler-failed", group, %queue, offset, reconsume_times, kind, "a handler failed: {text}");
        }
        Event::Dropped { queue, offset } => {
            warn!(event = "dropped", group, %queue, offset, "a message that failed is given up: nobody takes it back");
        }
        Event::SaveFailed { why, attempt } => {
            warn!(event = "save-failed", group, attempt, "the offset file could not be written: {why}");
        }
        Event::SentBack { queue, offset } => {
            debug!(event = "sent-back", group, %queue, offset, "a message went back to its broker");
        }
        Event::PeerMisbehaved { from, what } => warn!(event = "peer-misbehaved", group, %from, "{what}"),
        Event::OffsetReset { queue, from, to } => {
            warn!(event = "offset-reset", group, %queue, from, to, "the offset of a queue was reset");
        }
        Event::ConsumedDirectly { queue, offset, verdict, remark, answered } => info!(
            event = "consumed-directly", group, %queue, offset, verdict = verdict.name(), answered,
            "an operator had a message consumed: {}", remark.as_deref().unwrap_or_default()
        ),
        Event::LockRefused { queue, times: 1 } => {
            info!(event = "lock-refused", group, %queue, "another member holds the queue's lock: asking again");
        }
        Event::LockRefused { queue, times } => {
            debug!(event = "lock-refused", group, %queue, times, "another member holds the queue's lock");
        }
        Event::LockLost { queue } => {
            warn!(event = "lock-lost", group, %queue, "the queue's lock was lost: it begins anew");
        }
        Event::SharedOutHere { broker } => warn!(
            event = "shared-out-here", group, %broker,
            "the broker cannot share queues out (it is older than 5.0): the members do it"
        ),
        Event::PopStarted { queue } => {
            info!(event = "pop-started", group, %queue, "the broker has the topic popped");
        }
        Event::PopExpired { queue, messages } => warn!(
            event = "pop-expired", group, %queue, messages,
            "popped messages were not handled in time and come again: are the handlers too slow for pop_invisible?"
        ),
        Event::Buried { queue, offset } => {
            warn!(event = "buried", group, %queue, offset, "a message that failed too often is a dead letter now");
        }
        Event::Late { count } => {
            debug!(event = "late", group, count, "something of an ended queue arrived late")
        }
        Event::Stopped { drained, handed_back, abandoned, .. } => {
            info!(event = "stopped", group, drained, handed_back, abandoned, "the consumer has stopped");
        }
        other => debug!(event = "other", group, "{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_become_rare() {
        let warned: Vec<u32> = (0..300).filter(|attempt| worth_a_warning(*attempt)).collect();
        assert_eq!(warned, [3, 4, 8, 16, 32, 64, 128, 192, 256]);
    }
}
