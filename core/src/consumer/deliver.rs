//! Hand-out to handlers, and what becomes of each outcome.
//!
//! At most `concurrency` deliveries are with handlers, over all queues; queues with messages take turns. A handler's
//! slot is free again when its outcome arrives, even if the queue is long gone: the pool is as big as that.
//!
//! | outcome | consequence |
//! |---|---|
//! | done | the offsets are done |
//! | retry | each message goes back to its broker, which stores it again for later (or as a dead letter); done when the broker says so |
//! | … and the send-back fails | it stays here, keeps the commit point down, and is tried again here later |
//! | suspend | orderly only, see `orderly` |
//! | retry, broadcasting | each message is dropped |
//! | put back | as if it had never been handed out |

use super::calls::Purpose;
use super::direct;
use super::io::{Delivery, Event, Failure, Outcome, Output};
use super::queue::{AssignedQueue, Phase};
use super::timers::Timer;
use super::{Consumer, namespace};
use crate::model::{Address, QueueEpoch, Ticket};
use crate::wire::reply::CallError;
use crate::wire::request::{Request, SendBack};
use alloc::string::ToString;
use alloc::vec::Vec;

impl Consumer {
    /// Hands out what is ready while handlers are free.
    pub(super) fn decide_deliveries(&mut self) {
        while self.delivered.len() < self.config.limits.concurrency as usize {
            let Some(epoch) = self.ready.pop_front() else { return };
            if self.pops.is_life(epoch) {
                self.deliver_popped(epoch);
                continue;
            }
            let can = self.queues.lives.get(&epoch).is_some_and(|life| self.can_deliver(life));
            let Some(life) = self.queues.lives.get_mut(&epoch) else { continue };
            life.listed = false;
            if !can {
                continue;
            }
            let messages = life.window.take(self.config.limits.batch_max as usize);
            life.last_ticket += 1;
            let ticket = Ticket { epoch, number: life.last_ticket };
            let offsets = messages.iter().map(|message| message.queue_offset).collect();
            life.running.insert(ticket.number, (offsets, self.now));
            self.delivered.insert(ticket);
            let queue = life.queue.clone();
            self.out.push_back(Output::Deliver(Delivery { ticket, queue, messages }));
            self.list_ready(epoch);
        }
    }

    /// The queue has messages to hand out: it takes its place in the line, once.
    pub(super) fn list_ready(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        if life.listed || !self.can_deliver(life) {
            return;
        }
        if let Some(life) = self.queues.lives.get_mut(&epoch) {
            life.listed = true;
            self.ready.push_back(epoch);
        }
    }

    fn can_deliver(&self, life: &AssignedQueue) -> bool {
        life.phase == Phase::Fetching
            && life.window.ready() > 0
            && self.is_licensed(life)
            && self.is_in_turn(life)
            && !self.paused.has(&life.queue)
    }

    pub(super) fn on_outcome(&mut self, ticket: Ticket, outcome: Outcome) {
        if !self.delivered.remove(&ticket) {
            return self.late();
        }
        if direct::is_direct(ticket) {
            return self.on_direct_outcome(ticket, outcome);
        }
        if self.pops.is_life(ticket.epoch) {
            return self.on_popped_outcome(ticket, outcome);
        }
        let Some(life) = self.queues.lives.get_mut(&ticket.epoch) else {
            self.on_stray_outcome(ticket);
            return self.late();
        };
        let Some((offsets, since)) = life.running.remove(&ticket.number) else { return self.late() };
        let done = match &outcome {
            Outcome::Done => offsets.len(),
            Outcome::Retry { done, .. } | Outcome::Suspend { done, .. } => (*done).min(offsets.len()),
            Outcome::PutBack => 0,
        };
        if outcome != Outcome::PutBack {
            let (topic, failed) = (&life.queue.topic, offsets.len() - done);
            self.rates.handled(self.now, topic, done, failed, self.now.since(since));
        }
        life.last_outcome = Some(self.now);
        self.attention.insert(ticket.epoch);
        match outcome {
            Outcome::Done => {
                for offset in offsets {
                    life.window.complete(offset);
                }
            }
            Outcome::PutBack => {
                for offset in offsets {
                    life.window.put_back(offset, 0);
                }
            }
            Outcome::Suspend { done, pause, why } if self.config.orderly => {
                self.suspend(ticket.epoch, &offsets, done, pause, why);
            }
            Outcome::Retry { done, why, .. } if self.config.orderly => {
                self.suspend(ticket.epoch, &offsets, done, None, why);
            }
            Outcome::Retry { done, delay_level, why } => {
                self.retry(ticket.epoch, &offsets, done, delay_level, why)
            }
            Outcome::Suspend { done, why, .. } => self.retry(ticket.epoch, &offsets, done, 0, why),
        }
    }

    /// The first `done` messages are done, each of the others goes back to its broker.
    fn retry(&mut self, epoch: QueueEpoch, offsets: &[i64], done: usize, delay_level: i32, why: Failure) {
        for offset in self.partly_done(epoch, offsets, done, why) {
            match self.is_broadcasting() {
                true => self.drop_message(epoch, *offset),
                false => self.send_back(epoch, *offset, delay_level, self.config.max_retries()),
            }
        }
    }

    /// A handler failed behind the first `done` messages. Completes these, tells of it, and gives the others.
    pub(super) fn partly_done<'a>(
        &mut self,
        epoch: QueueEpoch,
        offsets: &'a [i64],
        done: usize,
        why: Failure,
    ) -> &'a [i64] {
        let (done, again) = offsets.split_at(done.min(offsets.len()));
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return &[] };
        for offset in done {
            life.window.complete(*offset);
        }
        if let Some(first) = again.first() {
            self.handler_failed(epoch, *first, why);
        }
        again
    }

    fn handler_failed(&mut self, epoch: QueueEpoch, offset: i64, why: Failure) {
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        let reconsume_times = life.window.message(offset).map_or(0, |message| message.reconsume_times);
        let queue = life.queue.clone();
        self.event(Event::HandlerFailed { queue, offset, reconsume_times, why });
    }

    /// Asks the broker to store the message again. Its log position names it there, not its queue offset.
    /// At `most` retries it becomes a dead letter.
    pub(super) fn send_back(&mut self, epoch: QueueEpoch, offset: i64, delay_level: i32, most: i32) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        let Some(message) = life.window.suspend(offset) else { return };
        let master =
            self.routes.master(&life.queue.broker).filter(|master| self.membership.registered(master));
        let Some(master) = master.cloned() else { return self.send_back_failed(epoch, offset) };
        let origin_topic = namespace::outside(&self.config.namespace, message.topic.clone());
        let request = Request::SendBack(SendBack {
            group: self.config.group.clone(),
            broker: life.queue.broker.clone(),
            commit_log_offset: message.commit_log_offset,
            delay_level,
            msg_id: message.msg_id().to_string(),
            origin_topic,
            max_reconsume_times: most,
        });
        life.sending_back.insert(offset);
        self.call(Purpose::SendBack(epoch, offset), master, request, self.config.limits.offset_timeout);
    }

    pub(super) fn on_sent_back(
        &mut self,
        epoch: QueueEpoch,
        offset: i64,
        from: &Address,
        result: Result<(), CallError>,
    ) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return self.late() };
        life.sending_back.remove(&offset);
        self.attention.insert(epoch);
        match result {
            Ok(()) => {
                life.window.complete(offset);
                let queue = life.queue.clone();
                self.event(Event::SentBack { queue, offset });
            }
            Err(error) => {
                self.queue_call_failed(epoch, from, "send a message back", error);
                self.send_back_failed(epoch, offset);
            }
        }
    }

    /// Java stores a copy through its inner producer then. That trades one failing call for another and can leave two
    /// copies; here the message keeps its offset and is tried again in this process.
    fn send_back_failed(&mut self, epoch: QueueEpoch, offset: i64) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        let at = self.now + self.config.limits.send_back_retry_delay;
        life.stuck.insert(offset, at);
        self.timers.set_earliest(Timer::SendBackRetry(epoch), at);
    }

    pub(super) fn on_send_back_retry(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        let now = self.now;
        let due: Vec<i64> =
            life.stuck.iter().filter(|(_, at)| **at <= now).map(|(offset, _)| *offset).collect();
        for offset in due {
            life.stuck.remove(&offset);
            life.window.put_back(offset, 1);
        }
        if let Some(next) = life.stuck.values().min() {
            self.timers.set(Timer::SendBackRetry(epoch), *next);
        }
        self.attention.insert(epoch);
        self.list_ready(epoch);
    }
}
