//! Pop: messages that are taken for a while and settled one by one.
//!
//! An operator switches a group to pop for a topic (`mqadmin setConsumeMode`); the broker then assigns entries instead of
//! queues, mostly one for all queues of a broker (number -1), the same ones to every member. An entry has no offset, no
//! lock and no owner: whoever pops a message has it until its invisible time is over.
//!
//! ```text
//! pop ──> ready ──> with a handler ──> settling ──> forgotten
//!           │              │            done: acknowledged
//!           └── time over ─┘            failed: hidden until it is due again
//!                                       failed too often: stored as a dead letter, then acknowledged
//! ```
//!
//! | moment | what happens |
//! |---|---|
//! | the time is over before a handler is free | the message is forgotten here; it comes again (Java: the same) |
//! | … while a handler has it | done: acknowledged all the same, which spares the repetition if the broker has not begun it; failed: nothing, it comes again. The time is not prolonged |
//! | an acknowledgement fails | repeated while the time lasts (Java: not repeated) |
//! | the entry goes | no further pop; what is held is ours as before and is worked off |
//! | the topic is unsubscribed, or the consumer stops | what no handler has is shown to others at once, and so is what a parked pop still brings |
//!
//! | file | concern |
//! |---|---|
//! | here | entries: what is popped, and handed out |
//! | `settle` | what becomes of each outcome |
//! | `switch` | from pull to pop, and back |
//!
//! How long a popped message is ours is counted from the moment the answer arrived, by our clock: the broker's clock may
//! show another time.

mod settle;
mod switch;

use super::calls::Purpose;
use super::io::{Delivery, Event, Output};
use super::timers::Timer;
use super::{Consumer, namespace, pull};
use crate::model::{Address, CallId, MessageQueue, QueueEpoch, Ticket, Topic};
use crate::time::{Duration, Instant};
use crate::wire::code::ResponseCode;
use crate::wire::pop::PoppedMessage;
use crate::wire::reply::{CallError, PopReply, PopStatus, Refusal};
use crate::wire::request::{ConsumeFrom, Pop, Request};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use settle::{GIVEN_BACK, Settling, Verdict};

/// The entries that are ours, by name and by life.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pops {
    table: BTreeMap<MessageQueue, QueueEpoch>,
    lives: BTreeMap<QueueEpoch, PopLife>,
    /// Retry topics that are pulled, and the topics they belong to.
    retries: BTreeMap<Topic, Topic>,
}

/// One life of an entry.
#[derive(Clone, Debug)]
pub(crate) struct PopLife {
    pub(super) queue: MessageQueue,
    /// No further pop.
    pub(super) leaving: bool,
    pop: Option<CallId>,
    /// Not before.
    pop_at: Instant,
    failures: u32,
    ready: VecDeque<Held>,
    /// With handlers, and since when.
    running: BTreeMap<u64, (Vec<Held>, Instant)>,
    settling: BTreeMap<u64, Settling>,
    /// Numbers deliveries and what is settled.
    last_number: u64,
    /// Whether it stands in the line of those with messages to hand out.
    listed: bool,
    pub(super) last_pop: Option<Instant>,
}

/// A popped message while it is ours.
#[derive(Clone, Debug)]
struct Held {
    popped: PoppedMessage,
    until: Instant,
}

impl Pops {
    /// Whether anything of the topic is popped, or still held from a pop.
    pub(super) fn has(&self, topic: &Topic) -> bool {
        self.lives.values().any(|life| life.queue.topic == *topic)
    }

    /// The topic that a pulled retry topic belongs to, else the topic itself.
    pub(super) fn base<'a>(&'a self, topic: &'a Topic) -> &'a Topic {
        self.retries.get(topic).unwrap_or(topic)
    }

    pub(super) fn forget_retry(&mut self, retry: &Topic) {
        self.retries.remove(retry);
    }

    pub(super) fn in_order(&self) -> impl Iterator<Item = &PopLife> {
        self.table.values().filter_map(|epoch| self.lives.get(epoch))
    }

    pub(super) fn epochs(&self) -> impl Iterator<Item = QueueEpoch> {
        self.lives.keys().copied()
    }

    pub(super) fn is_life(&self, epoch: QueueEpoch) -> bool {
        self.lives.contains_key(&epoch)
    }

    /// Whether the entry is ours and not on its way out.
    pub(super) fn holds(&self, queue: &MessageQueue) -> bool {
        self.table.get(queue).and_then(|epoch| self.lives.get(epoch)).is_some_and(|life| !life.leaving)
    }

    /// Deliveries with handlers.
    pub(super) fn running(&self) -> usize {
        self.lives.values().map(|life| life.running.len()).sum()
    }

    /// Messages that are ours, over all entries.
    pub(super) fn held(&self) -> usize {
        self.lives.values().map(PopLife::held).sum()
    }
}

impl PopLife {
    /// Messages that are ours: ready, with handlers, being settled.
    pub(super) fn held(&self) -> usize {
        let running: usize = self.running.values().map(|(held, _)| held.len()).sum();
        self.ready.len() + running + self.settling.len()
    }

    /// Body bytes of these.
    pub(super) fn bytes(&self) -> u64 {
        let running = self.running.values().flat_map(|(held, _)| held);
        let settling = self.settling.values().map(|settling| &settling.held);
        let all = self.ready.iter().chain(running).chain(settling);
        all.map(|held| held.popped.message.body.len() as u64).sum()
    }

    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    /// The next number of a delivery, or of what is settled.
    fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }
}

impl Consumer {
    /// Entries of a topic that are ours and not on their way out.
    pub(super) fn popping(&self, topic: &Topic) -> BTreeSet<MessageQueue> {
        let ours = self.pops.in_order().filter(|life| life.queue.topic == *topic && !life.leaving);
        ours.map(|life| life.queue.clone()).collect()
    }

    /// Begins a life of an entry, or takes back that it was to end.
    pub(super) fn start_popping(&mut self, queue: MessageQueue) {
        if let Some(epoch) = self.pops.table.get(&queue).copied() {
            if let Some(life) = self.pops.lives.get_mut(&epoch) {
                life.leaving = false;
            }
            self.attention.insert(epoch);
            return;
        }
        let epoch = self.queues.next_epoch();
        self.pops.table.insert(queue.clone(), epoch);
        let life = PopLife {
            queue: queue.clone(),
            leaving: false,
            pop: None,
            pop_at: self.now,
            failures: 0,
            ready: VecDeque::new(),
            running: BTreeMap::new(),
            settling: BTreeMap::new(),
            last_number: 0,
            listed: false,
            last_pop: None,
        };
        self.pops.lives.insert(epoch, life);
        self.attention.insert(epoch);
        self.event(Event::PopStarted { queue });
    }

    pub(super) fn stop_popping(&mut self, queue: &MessageQueue) {
        let Some(epoch) = self.pops.table.get(queue).copied() else { return };
        if let Some(life) = self.pops.lives.get_mut(&epoch) {
            life.leaving = true;
        }
        self.attention.insert(epoch);
    }

    /// The next steps of an entry, and when to look at it again.
    pub(super) fn decide_pop(&mut self, epoch: QueueEpoch) {
        self.drop_expired(epoch);
        let is_wanted = |life: &PopLife| self.subscriptions.contains_key(&life.queue.topic);
        if !self.is_running() || !self.pops.lives.get(&epoch).is_some_and(is_wanted) {
            self.show_to_others(epoch);
        }
        self.settle_due(epoch);
        self.list_popped(epoch);
        self.pop(epoch);
        let Some(life) = self.pops.lives.get(&epoch) else { return };
        if life.leaving && life.pop.is_none() && life.held() == 0 {
            return self.end_pop_life(epoch);
        }
        let pop_at = (life.pop.is_none() && !life.leaving && life.pop_at > self.now).then_some(life.pop_at);
        let settle_at = life.settling.values().filter_map(|settling| settling.due).min();
        let expires = life.ready.iter().map(|held| held.until).min();
        match [pop_at, settle_at, expires].into_iter().flatten().min() {
            Some(at) => self.timers.set(Timer::Pop(epoch), at),
            None => self.timers.clear(&Timer::Pop(epoch)),
        }
    }

    fn end_pop_life(&mut self, epoch: QueueEpoch) {
        self.timers.clear(&Timer::Pop(epoch));
        let Some(life) = self.pops.lives.remove(&epoch) else { return };
        self.pops.table.remove(&life.queue);
        let topic = life.queue.topic.clone();
        let retries =
            self.pops.retries.iter().filter(|(_, base)| **base == topic).map(|(retry, _)| retry.clone());
        self.rebalance.unsettled.extend(retries);
        self.rebalance.unsettled.insert(topic);
        self.event(Event::QueueEnded { queue: life.queue, commit_point: -1, abandoned: 0 });
    }

    /// Sends the next pop of an entry if nothing speaks against it.
    fn pop(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.pops.lives.get(&epoch) else { return };
        let limits = &self.config.limits;
        let full = life.held() >= limits.pop_messages_max as usize || life.bytes() >= limits.queue_bytes_max;
        let resting = self.quiet || self.paused.has(&life.queue) || !self.is_running();
        if life.leaving || life.pop.is_some() || life.pop_at > self.now || full || resting {
            return;
        }
        let Some(entry) = self.subscriptions.get(&life.queue.topic) else { return };
        let Some(master) = self.routes.master(&life.queue.broker).cloned() else {
            return self.pop_later(epoch, self.config.limits.pull_retry_delay);
        };
        if !self.membership.registered(&master) {
            // The heartbeat that registers us looks at all queues again.
            return;
        }
        let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let pop = Pop {
            group: self.config.group.clone(),
            queue: life.queue.clone(),
            max_messages: i32::try_from(limits.pop_batch).unwrap_or(32),
            invisible_ms: millis(limits.pop_invisible),
            suspend_ms: millis(limits.suspend),
            // The hold begins when the request arrives: our clock may show another time than the broker's.
            born: 0,
            from_end: self.config.start_from != ConsumeFrom::First,
            expression_type: entry.subscription.expression_type.as_str().into(),
            expression: entry.subscription.sub_string.clone(),
        };
        let timeout = limits.pull_timeout;
        let call = self.call(Purpose::Pop(epoch), master, Request::Pop(pop), timeout);
        if let Some(life) = self.pops.lives.get_mut(&epoch) {
            life.pop = Some(call);
            life.last_pop = Some(self.now);
        }
    }

    fn pop_later(&mut self, epoch: QueueEpoch, wait: Duration) {
        if let Some(life) = self.pops.lives.get_mut(&epoch) {
            life.pop_at = self.now + wait;
        }
    }

    pub(super) fn on_pop(
        &mut self,
        epoch: QueueEpoch,
        from: &Address,
        sent: Instant,
        result: Result<PopReply, CallError>,
    ) {
        // The messages of an ended life come again.
        let Some(life) = self.pops.lives.get_mut(&epoch) else { return self.late() };
        life.pop = None;
        self.attention.insert(epoch);
        match result {
            Ok(reply) => {
                life.failures = 0;
                self.on_popped(epoch, from, sent, reply);
            }
            Err(error) => {
                let code = match &error {
                    CallError::Refused(Refusal { code, .. }) => Some(*code),
                    _ => None,
                };
                if code == Some(ResponseCode::FLOW_CONTROL) {
                    return self.pop_later(epoch, pull::FLOW_CONTROL_PAUSE);
                }
                life.failures += 1;
                let (attempt, about) = (life.failures, life.queue.to_string());
                self.event(Event::CallFailed { to: from.clone(), what: "pop", about, error, attempt });
                self.pop_later(epoch, self.config.limits.pull_retry_delay);
            }
        }
    }

    fn on_popped(&mut self, epoch: QueueEpoch, from: &Address, sent: Instant, reply: PopReply) {
        let limits = &self.config.limits;
        let wait = match reply.status {
            PopStatus::Found => limits.pull_interval,
            PopStatus::Full => limits.pull_retry_delay,
            // A broker holds an empty pop, or it should.
            PopStatus::NoNew => pull::EMPTY_PULL_PAUSE.saturating_sub(self.now.since(sent)),
        };
        self.pop_later(epoch, wait);
        let Some(life) = self.pops.lives.get_mut(&epoch) else { return };
        if reply.status == PopStatus::Found {
            self.rates.pulled(self.now, &life.queue.topic, reply.messages.len(), self.now.since(sent));
        }
        if let Some(error) = &reply.damaged {
            let what = format!("unreadable message in a pop of {}: {error}", life.queue);
            self.out.push_back(Output::Event(Event::PeerMisbehaved { from: from.clone(), what }));
        }
        let subscription = self.subscriptions.get(&life.queue.topic).map(|entry| &entry.subscription);
        for mut popped in reply.messages {
            let hidden = u64::try_from(popped.check_point.invisible_ms).unwrap_or(0);
            let until = self.now + Duration::from_millis(hidden);
            // The broker compares hash codes of tags only.
            let wanted = subscription.is_none_or(|subscription| subscription.wants(popped.message.tag()));
            // A message that comes again keeps the name it was sent under.
            popped.message.topic = life.queue.topic.clone();
            popped.message.broker = popped.check_point.broker.clone();
            let held = Held { popped, until };
            if wanted {
                life.ready.push_back(held);
            } else {
                life.settle(held, Verdict::Done, self.now);
            }
        }
    }

    fn drop_expired(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.pops.lives.get_mut(&epoch) else { return };
        let before = life.ready.len();
        let now = self.now;
        life.ready.retain(|held| held.until > now);
        let messages = before - life.ready.len();
        if messages > 0 {
            let queue = life.queue.clone();
            self.event(Event::PopExpired { queue, messages });
        }
    }

    /// What no handler has is shown to the other members at once.
    fn show_to_others(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.pops.lives.get_mut(&epoch) else { return };
        for held in core::mem::take(&mut life.ready) {
            life.settle(held, GIVEN_BACK, self.now);
        }
    }

    fn list_popped(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.pops.lives.get_mut(&epoch) else { return };
        if !life.listed && !life.ready.is_empty() && !self.paused.has(&life.queue) {
            life.listed = true;
            self.ready.push_back(epoch);
        }
    }

    /// Hands out the next messages of an entry whose turn it is.
    pub(super) fn deliver_popped(&mut self, epoch: QueueEpoch) {
        self.drop_expired(epoch);
        let Some(life) = self.pops.lives.get_mut(&epoch) else { return };
        life.listed = false;
        if life.ready.is_empty() || self.paused.has(&life.queue) {
            self.attention.insert(epoch);
            return;
        }
        let count = life.ready.len().min(self.config.limits.batch_max as usize);
        let taken: Vec<Held> = life.ready.drain(..count).collect();
        let mut messages: Vec<_> = taken.iter().map(|held| held.popped.message.clone()).collect();
        for message in &mut messages {
            namespace::inside(&self.config.namespace, message);
        }
        let number = life.number();
        let ticket = Ticket { epoch, number };
        life.running.insert(number, (taken, self.now));
        let queue = life.queue.clone();
        self.delivered.insert(ticket);
        self.out.push_back(Output::Deliver(Delivery { ticket, queue, messages }));
        self.list_popped(epoch);
    }
}
