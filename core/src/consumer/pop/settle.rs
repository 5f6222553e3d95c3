//! What becomes of popped messages: handlers' outcomes, and what the broker is told of each message until it knows.

use super::{Held, PopLife};
use crate::consumer::Consumer;
use crate::consumer::calls::Purpose;
use crate::consumer::io::{Event, Outcome};
use crate::model::{Address, MessageQueue, QueueEpoch, Ticket};
use crate::time::Instant;
use crate::wire::pop::PoppedMessage;
use crate::wire::reply::{CallError, Reply};
use crate::wire::request::{Popped, Request, SendBack};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The broker's delay levels, from level 1 on, in seconds. A message that failed for the first time waits at level 3.
const LEVELS: [i64; 18] =
    [1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200];
const FIRST_LEVEL: i32 = 3;
/// A message that no handler had comes again soon.
pub(super) const GIVEN_BACK: Verdict = Verdict::Again { after_ms: 1000 };

#[derive(Clone, Debug)]
pub(super) struct Settling {
    pub(super) held: Held,
    verdict: Verdict,
    /// When the broker is told (again); none while it is being told.
    pub(super) due: Option<Instant>,
    attempt: u32,
}

/// What the broker is to be told of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Done,
    Again { after_ms: i64 },
    Bury,
}

impl PopLife {
    /// The broker is to be told of a message, from now on.
    pub(super) fn settle(&mut self, held: Held, verdict: Verdict, now: Instant) {
        let number = self.number();
        self.settling.insert(number, Settling { held, verdict, due: Some(now), attempt: 0 });
    }

    /// The broker does not know yet, and is told again unless the message is no longer ours by then.
    fn settle_again(&mut self, number: u64, at: Instant) {
        match self.settling.get_mut(&number) {
            Some(settling) if at < settling.held.until => settling.due = Some(at),
            _ => drop(self.settling.remove(&number)),
        }
    }
}

impl Consumer {
    pub(in crate::consumer) fn on_popped_outcome(&mut self, ticket: Ticket, outcome: Outcome) {
        let Some(life) = self.pops.lives.get_mut(&ticket.epoch) else { return self.late() };
        let Some((taken, since)) = life.running.remove(&ticket.number) else { return self.late() };
        self.attention.insert(ticket.epoch);
        let (done, level, why) = match outcome {
            Outcome::PutBack => {
                for held in taken.into_iter().rev() {
                    life.ready.push_front(held);
                }
                return;
            }
            Outcome::Done => (taken.len(), 0, None),
            Outcome::Retry { done, delay_level, why } => (done.min(taken.len()), delay_level, Some(why)),
            Outcome::Suspend { done, why, .. } => (done.min(taken.len()), 0, Some(why)),
        };
        let topic = &life.queue.topic;
        self.rates.handled(self.now, topic, done, taken.len() - done, self.now.since(since));
        let most = self.config.max_retries();
        let mut failed = None;
        for (place, held) in taken.into_iter().enumerate() {
            let message = &held.popped.message;
            let verdict = if place < done {
                Verdict::Done
            } else {
                let queue =
                    MessageQueue::new(message.topic.clone(), message.broker.clone(), message.queue_id);
                failed.get_or_insert((queue, message.queue_offset, message.reconsume_times));
                if held.until <= self.now {
                    // It is on its way to us or another member again.
                    continue;
                }
                match level {
                    _ if message.reconsume_times >= most => Verdict::Bury,
                    ..0 => Verdict::Bury,
                    level => Verdict::Again { after_ms: delay_ms(level, message.reconsume_times) },
                }
            };
            life.settle(held, verdict, self.now);
        }
        if let (Some((queue, offset, reconsume_times)), Some(why)) = (failed, why) {
            self.event(Event::HandlerFailed { queue, offset, reconsume_times, why });
        }
    }

    /// Tells the brokers what is due.
    pub(super) fn settle_due(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.pops.lives.get(&epoch) else { return };
        let is_due = |settling: &Settling| settling.due.is_some_and(|due| due <= self.now);
        let due: Vec<u64> =
            life.settling.iter().filter(|(_, it)| is_due(it)).map(|(number, _)| *number).collect();
        for number in due {
            self.tell(epoch, number);
        }
    }

    fn tell(&mut self, epoch: QueueEpoch, number: u64) {
        let retry_at = self.now + self.config.limits.pull_retry_delay;
        let Some(life) = self.pops.lives.get_mut(&epoch) else { return };
        let topic = life.queue.topic.clone();
        let Some(settling) = life.settling.get_mut(&number) else { return };
        let PoppedMessage { message, check_point } = &settling.held.popped;
        // Whether the broker counts us as a member is nothing to it here.
        let Some(master) = self.routes.master(&check_point.broker).cloned() else {
            return life.settle_again(number, retry_at);
        };
        let group = self.config.group.clone();
        let popped = Popped { group: group.clone(), topic: topic.clone(), check_point: check_point.clone() };
        let (request, timeout) = match settling.verdict {
            Verdict::Done => (Request::Ack(popped), self.config.limits.call_timeout),
            Verdict::Again { after_ms } => {
                let request = Request::ChangeInvisible { popped, invisible_ms: after_ms };
                (request, self.config.limits.call_timeout)
            }
            Verdict::Bury => {
                let request = Request::SendBack(SendBack {
                    group,
                    broker: check_point.broker.clone(),
                    commit_log_offset: message.commit_log_offset,
                    delay_level: -1,
                    msg_id: message.msg_id().to_string(),
                    origin_topic: topic,
                    max_reconsume_times: self.config.max_retries(),
                });
                (request, self.config.limits.offset_timeout)
            }
        };
        settling.due = None;
        self.call(Purpose::Settle(epoch, number), master, request, timeout);
    }

    pub(in crate::consumer) fn on_settled(
        &mut self,
        epoch: QueueEpoch,
        number: u64,
        from: &Address,
        result: Result<Reply, CallError>,
    ) {
        let retry_at = self.now + self.config.limits.pull_retry_delay;
        let Some(life) = self.pops.lives.get_mut(&epoch) else { return self.late() };
        self.attention.insert(epoch);
        let Some(settling) = life.settling.get_mut(&number) else { return self.late() };
        let message = &settling.held.popped.message;
        let queue = MessageQueue::new(message.topic.clone(), message.broker.clone(), message.queue_id);
        let offset = message.queue_offset;
        match result {
            Ok(_) if settling.verdict == Verdict::Bury => {
                (settling.verdict, settling.due, settling.attempt) = (Verdict::Done, Some(self.now), 0);
                self.event(Event::Buried { queue, offset });
            }
            // Also if the broker did not have it any more: then it has given it out again.
            Ok(_) => drop(life.settling.remove(&number)),
            Err(error) => {
                settling.attempt += 1;
                let attempt = settling.attempt;
                let what = match settling.verdict {
                    Verdict::Done => "acknowledge a message",
                    Verdict::Again { .. } => "hide a message",
                    Verdict::Bury => "store a dead letter",
                };
                life.settle_again(number, retry_at);
                let about = format!("{queue} {offset}");
                self.event(Event::CallFailed { to: from.clone(), what, about, error, attempt });
            }
        }
    }
}

/// How long a message stays hidden: the handler's delay level, or the one that follows from its tries.
fn delay_ms(level: i32, reconsume_times: i32) -> i64 {
    let level = if level == 0 { reconsume_times.max(0).saturating_add(FIRST_LEVEL) } else { level };
    let at = usize::try_from(level - 1).unwrap_or(0).min(LEVELS.len() - 1);
    LEVELS[at] * 1000
}
