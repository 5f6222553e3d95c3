//! Long polling and flow control.
//!
//! One pull of a queue is under way at a time. It asks for what follows the last pulled message, waits at the broker
//! for up to `suspend` if there is nothing, and is answered with at most `pull_batch` messages. The next one follows
//! at once, unless the window is full: then it follows when a handler has made room. So a queue holds at most its
//! limits plus one answer.

use super::calls::Purpose;
use super::io::Event;
use super::queue::Phase;
use super::{Consumer, namespace};
use crate::model::{Address, CallId, QueueEpoch, Topic};
use crate::time::{Duration, Instant};
use crate::wire::code::ResponseCode;
use crate::wire::delivery::{self, Delivery};
use crate::wire::reply::{CallError, PullStatus, Pulled, Refusal};
use crate::wire::request::{Pull, Request};
use alloc::format;

/// A broker holds an empty pull, or it should. One that answers "nothing" at once is not asked more often than this.
pub(super) const EMPTY_PULL_PAUSE: Duration = Duration::from_millis(100);
/// Wait after the broker (or a proxy) said that it is being called too often.
pub(super) const FLOW_CONTROL_PAUSE: Duration = Duration::from_millis(20);

impl Consumer {
    /// Sends the next pull of a queue if nothing speaks against it.
    pub(super) fn pull(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        let limits = &self.config.limits;
        let full = life.window.count() >= limits.queue_messages_max as usize
            || life.window.bytes() >= limits.queue_bytes_max
            || !self.config.orderly && life.window.span() >= u64::from(limits.offset_span_max);
        let busy = life.pull.is_some() || life.after_pull.is_some() || life.waiting;
        let resting = self.quiet || self.paused.has(&life.queue);
        if life.phase != Phase::Fetching || busy || full || resting {
            return;
        }
        if !self.is_licensed(life) {
            return self.want_lock(epoch);
        }
        let Some(entry) = self.subscriptions.get(&life.queue.topic) else { return };
        // A slave that does not know us (it may be down) is no reason to wait: the master has everything.
        let known = |address: &&Address| self.membership.registered(address);
        let Some(first) = self.routes.pull_address(&life.queue.broker, life.suggested) else {
            return self.try_again(epoch);
        };
        let second = || self.routes.master(&life.queue.broker).filter(known);
        let Some(address) = Some(first).filter(known).or_else(second) else { return };
        let address = address.clone();
        let pull = Pull {
            group: self.config.group.clone(),
            queue: life.queue.clone(),
            offset: life.window.next(),
            max_messages: i32::try_from(limits.pull_batch).unwrap_or(32),
            commit: None,
            suspend_ms: i64::try_from(limits.suspend.as_millis()).unwrap_or(15_000),
            subscription_version: entry.version,
            expression_type: entry.subscription.expression_type.as_str().into(),
            expression: None,
        };
        let timeout = limits.pull_timeout;
        let call = self.call(Purpose::Pull(epoch), address, Request::Pull(pull), timeout);
        if let Some(life) = self.queues.lives.get_mut(&epoch) {
            life.pull = Some(call);
            life.last_pull = Some(self.now);
        }
        self.commit_with_pull(epoch);
    }

    pub(super) fn on_pull(
        &mut self,
        epoch: QueueEpoch,
        call: CallId,
        from: &Address,
        sent: Instant,
        result: Result<Pulled, CallError>,
    ) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else {
            self.late();
            return self.let_next_life_pull(call);
        };
        life.pull = None;
        if life.phase != Phase::Fetching {
            // Draining: the new owner pulls these.
            return;
        }
        match result {
            Ok(pulled) => {
                life.failures = 0;
                life.suggested = pulled.suggested_broker;
                life.max = pulled.max;
                self.on_pulled(epoch, from, sent, pulled);
            }
            Err(error) => self.on_pull_failed(epoch, from, error),
        }
    }

    fn on_pulled(&mut self, epoch: QueueEpoch, from: &Address, sent: Instant, pulled: Pulled) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        let asked = life.window.next();
        match pulled.status {
            // The broker has deleted what we have not pulled. What we have pulled is still good: it stays and is
            // finished. (A reset by an operator, which means something else, does not name the first offset.)
            PullStatus::OffsetIllegal if pulled.next == pulled.min && pulled.next > asked => {
                life.window.pulled_to(pulled.next);
                let queue = life.queue.clone();
                self.event(Event::OffsetReset { queue, from: asked, to: pulled.next });
                self.attention.insert(epoch);
            }
            PullStatus::OffsetIllegal => {
                let queue = life.queue.clone();
                if pulled.next == asked || pulled.next < 0 {
                    let what = format!("offset {asked} of {queue} is illegal, use {}", pulled.next);
                    self.event(Event::PeerMisbehaved { from: from.clone(), what });
                    return self.try_again(epoch);
                }
                self.restart_at(&queue, pulled.next);
                // Brokers that cannot agree with themselves on what is legal are not asked in a tight loop.
                if let Some(epoch) = self.queues.table.get(&queue).copied() {
                    self.look_again(epoch, self.now + EMPTY_PULL_PAUSE);
                }
            }
            PullStatus::NoNew | PullStatus::NoMatch => {
                life.window.pulled_to(pulled.next);
                if life.window.next() == asked && self.now.since(sent) < EMPTY_PULL_PAUSE {
                    self.look_again(epoch, sent + EMPTY_PULL_PAUSE);
                }
                self.attention.insert(epoch);
            }
            PullStatus::Found => self.take_in(epoch, from, asked, sent, pulled),
        }
    }

    /// Messages enter the window. An answer that brings nobody forward (messages below what we asked for, or none that
    /// can be read) is no answer: the same pull follows after a wait.
    fn take_in(&mut self, epoch: QueueEpoch, from: &Address, asked: i64, sent: Instant, pulled: Pulled) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        let Some(entry) = self.subscriptions.get(&life.queue.topic) else { return };
        let last_read = pulled.messages.iter().map(|message| message.queue_offset).max();
        self.rates.pulled(self.now, &life.queue.topic, pulled.messages.len(), self.now.since(sent));
        let mut delivered = delivery::deliver(
            pulled.messages,
            &Delivery {
                queue: &life.queue,
                min_offset: pulled.min,
                max_offset: pulled.max,
                offset_delta: pulled.offset_delta,
                subscription: &entry.subscription,
            },
        );
        let is_retry = life.queue.topic.is_retry();
        // They are sorted. If they were not, the window would take the later ones for known.
        delivered.messages.sort_by_key(|message| message.queue_offset);
        for mut message in delivered.messages {
            // A message that comes again keeps the name it was sent under.
            if let Some(topic) = message.retry_topic().filter(|_| is_retry).map(Topic::from) {
                message.topic = topic;
            }
            if is_retry {
                message.topic = self.pops.base(&message.topic).clone();
            }
            namespace::inside(&self.config.namespace, &mut message);
            life.window.insert(message);
        }
        // Behind a damaged message there may be good ones that could not be read: they are not passed over.
        match pulled.damaged {
            None => life.window.pulled_to(pulled.next),
            Some(_) => life.window.pulled_to(last_read.map_or(asked, |last| last.saturating_add(1))),
        }
        let stuck = life.window.next() <= asked;
        let what = match (&pulled.damaged, stuck) {
            (Some(error), _) => {
                format!("unreadable message after {} of {}: {error}", last_read.unwrap_or(asked), life.queue)
            }
            (None, true) => {
                format!("answer to a pull of {} from {asked} leads to {}", life.queue, pulled.next)
            }
            (None, false) => {
                if self.config.limits.pull_interval > Duration::ZERO {
                    self.look_again(epoch, self.now + self.config.limits.pull_interval);
                }
                self.attention.insert(epoch);
                return;
            }
        };
        self.event(Event::PeerMisbehaved { from: from.clone(), what });
        self.attention.insert(epoch);
        if stuck {
            self.try_again(epoch);
        }
    }

    /// The same offset again, after a wait. Codes 24 and 25 mean that the broker does not know us, or knows older
    /// subscriptions: the heartbeat comes first.
    fn on_pull_failed(&mut self, epoch: QueueEpoch, from: &Address, error: CallError) {
        let code = match &error {
            CallError::Refused(Refusal { code, .. }) => Some(*code),
            _ => None,
        };
        match code {
            Some(ResponseCode::FLOW_CONTROL) => return self.look_again(epoch, self.now + FLOW_CONTROL_PAUSE),
            Some(ResponseCode::SUBSCRIPTION_NOT_EXIST | ResponseCode::SUBSCRIPTION_NOT_LATEST) => {
                self.membership.unregistered(from);
            }
            _ => {}
        }
        if let Some(life) = self.queues.lives.get_mut(&epoch) {
            life.suggested = 0;
        }
        self.queue_call_failed(epoch, from, "pull", error);
        self.try_again(epoch);
    }

    /// A pull that outlived its life has ended: the queue's present life may pull.
    fn let_next_life_pull(&mut self, call: CallId) {
        let next = self.queues.lives.iter_mut().find(|(_, life)| life.after_pull == Some(call));
        if let Some((epoch, life)) = next {
            life.after_pull = None;
            self.attention.insert(*epoch);
        }
    }
}
