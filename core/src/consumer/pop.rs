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
//! | the consumer stops | what no handler has is shown to others at once |
//!
//! # Switching a topic that is being consumed
//!
//! 1. The new mode arrives with an assignment. What must go goes at once: queues by their usual way out, with their last
//!    commit; entries as soon as their last pop is answered and all they held is settled.
//! 2. The new kind begins when nothing of the old kind is left of the topic, its retry topics included. So a member never
//!    pulls what it has popped, and pops from where its last commit says.
//! 3. Members hear of the switch at different times, up to one round apart. What one of them pulls while another one pops
//!    may come twice. Nothing is lost: offsets are only committed of what is done, and the broker keeps what is popped.
//! 4. Popped messages that nobody acknowledged wait in retry topics of their own (`%RETRY%group_topic`, or with `+`). Pops
//!    bring them along; while a topic is pulled, these topics are pulled, too (Java: only the first form).
//!
//! How long a popped message is ours is counted from the moment the answer arrived, by our clock: the broker's clock may
//! show another time.

use super::calls::Purpose;
use super::io::{Delivery, Event, Outcome, Output};
use super::timers::Timer;
use super::{Consumer, namespace, pull};
use crate::model::{Address, CallId, MessageQueue, QueueEpoch, Ticket, Topic};
use crate::time::{Duration, Instant};
use crate::wire::code::ResponseCode;
use crate::wire::pop::PoppedMessage;
use crate::wire::reply::{CallError, PopReply, PopStatus, Refusal, Reply};
use crate::wire::request::{ConsumeFrom, Pop, Popped, Request, SendBack};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The broker's delay levels, from level 1 on, in seconds. A message that failed for the first time waits at level 3.
const LEVELS: [i64; 18] =
    [1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200];
const FIRST_LEVEL: i32 = 3;
/// How long a message that we give back stays hidden.
const GIVEN_BACK_MS: i64 = 1000;

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

#[derive(Clone, Debug)]
struct Settling {
    held: Held,
    verdict: Verdict,
    /// When the broker is told (again); none while it is being told.
    due: Option<Instant>,
    attempt: u32,
}

/// What the broker is to be told of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Done,
    Again { after_ms: i64 },
    Bury,
}

impl Pops {
    /// Whether anything of the topic is popped, or still held from a pop.
    fn has(&self, topic: &Topic) -> bool {
        self.lives.values().any(|life| life.queue.topic == *topic)
    }

    /// The topic that a pulled retry topic belongs to, else the topic itself.
    pub(super) fn base<'a>(&'a self, topic: &'a Topic) -> &'a Topic {
        self.retries.get(topic).unwrap_or(topic)
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

    /// Whether queues of the topic may begin to be pulled: nothing of it is held from a pop.
    pub(super) fn may_pull(&self, topic: &Topic) -> bool {
        !self.pops.has(self.pops.base(topic))
    }

    /// Whether entries of the topic may begin to be popped: none of its queues is left, nor of its retry topics.
    pub(super) fn may_pop(&self, topic: &Topic) -> bool {
        !self.queues.lives.values().any(|life| self.pops.base(&life.queue.topic) == topic)
    }

    /// The topic is pulled now, or popped: its retry topics are consumed by themselves, or come along.
    pub(super) fn follow_mode(&mut self, topic: &Topic, popped: bool) {
        if topic.is_retry() {
            return;
        }
        for retry in
            [self.config.group.pop_retry_topic_v1(topic), self.config.group.pop_retry_topic_v2(topic)]
        {
            match (popped, self.subscriptions.contains_key(&retry)) {
                (true, true) => self.on_unsubscribe(&retry),
                (false, false) => {
                    // The filter of everything is always a legal expression.
                    let Ok(all) = crate::wire::subscription::Filter::All.subscribe(retry.clone()) else {
                        continue;
                    };
                    self.pops.retries.insert(retry, topic.clone());
                    self.on_subscribe(all);
                }
                _ => {}
            }
        }
    }

    /// The topic is not subscribed to any more, and so are its retry topics.
    pub(super) fn forget_pop_retries(&mut self, topic: &Topic) {
        let ours: Vec<Topic> = self
            .pops
            .retries
            .iter()
            .filter(|(_, base)| *base == topic)
            .map(|(retry, _)| retry.clone())
            .collect();
        for retry in ours {
            self.on_unsubscribe(&retry);
        }
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
        if !self.is_running() {
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
        let full = life.held() >= limits.pop_messages_max as usize;
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
                let settling = Settling { held, verdict: Verdict::Done, due: Some(self.now), attempt: 0 };
                let number = life.number();
                life.settling.insert(number, settling);
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
            let verdict = Verdict::Again { after_ms: GIVEN_BACK_MS };
            let number = life.number();
            life.settling.insert(number, Settling { held, verdict, due: Some(self.now), attempt: 0 });
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

    pub(super) fn on_popped_outcome(&mut self, ticket: Ticket, outcome: Outcome) {
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
            let number = life.number();
            life.settling.insert(number, Settling { held, verdict, due: Some(self.now), attempt: 0 });
        }
        if let (Some((queue, offset, reconsume_times)), Some(why)) = (failed, why) {
            self.event(Event::HandlerFailed { queue, offset, reconsume_times, why });
        }
    }

    /// Tells the brokers what is due.
    fn settle_due(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.pops.lives.get(&epoch) else { return };
        let is_due = |settling: &Settling| settling.due.is_some_and(|due| due <= self.now);
        let due: Vec<u64> =
            life.settling.iter().filter(|(_, it)| is_due(it)).map(|(number, _)| *number).collect();
        for number in due {
            self.settle(epoch, number);
        }
    }

    fn settle(&mut self, epoch: QueueEpoch, number: u64) {
        let retry_at = self.now + self.config.limits.pull_retry_delay;
        let Some(life) = self.pops.lives.get_mut(&epoch) else { return };
        let topic = life.queue.topic.clone();
        let Some(settling) = life.settling.get_mut(&number) else { return };
        let PoppedMessage { message, check_point } = &settling.held.popped;
        // Whether the broker counts us as a member is nothing to it here.
        let Some(master) = self.routes.master(&check_point.broker).cloned() else {
            settling.due = (retry_at < settling.held.until).then_some(retry_at);
            if settling.due.is_none() {
                life.settling.remove(&number);
            }
            return;
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

    pub(super) fn on_settled(
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
                settling.due = (retry_at < settling.held.until).then_some(retry_at);
                if settling.due.is_none() {
                    life.settling.remove(&number);
                }
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
