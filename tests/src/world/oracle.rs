//! What must be true, judged from outside: from what members say to servers, hand to handlers and show in snapshots.

use super::Plan;
use super::member::{FILTER, Member};
use evenkeel_core::consumer::{Delivery, Event};
use evenkeel_core::model::{MessageQueue, QueueEpoch, Ticket};
use evenkeel_core::time::Instant;
use evenkeel_core::wire::message::Message;
use evenkeel_core::wire::reply::{CallError, Reply};
use evenkeel_core::wire::request::Request;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// When.
    pub at: Instant,
    /// What.
    pub what: String,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms: {}", self.at.as_millis(), self.what)
    }
}

/// Watches a run.
#[derive(Debug)]
pub struct Oracle {
    verdicts: Vec<Verdict>,
    orderly: bool,
    exclusive: bool,
    graceful: bool,
    /// Deliveries with handlers, by queue: the member's name and the ticket.
    busy: BTreeMap<MessageQueue, BTreeSet<(String, Ticket)>>,
    /// Numbers of what was handed out.
    numbers: BTreeMap<(MessageQueue, i64), u64>,
    /// Numbers of wanted messages that were sent.
    wanted: BTreeSet<u64>,
    /// How often each was completed.
    done: BTreeMap<u64, u64>,
    /// Offsets that may be passed: completed, confirmed as sent back, or not wanted.
    passable: BTreeMap<MessageQueue, BTreeSet<i64>>,
    /// Log positions to offsets, to know what a send-back was about.
    positions: BTreeMap<(MessageQueue, i64), i64>,
    last_commit: BTreeMap<(String, MessageQueue), i64>,
    epochs: BTreeMap<(String, MessageQueue), QueueEpoch>,
}

impl Oracle {
    /// An oracle for a plan.
    pub fn new(plan: &Plan) -> Self {
        Self {
            verdicts: Vec::new(),
            orderly: plan.orderly,
            exclusive: plan.exclusive_handover,
            graceful: plan.graceful,
            busy: BTreeMap::new(),
            numbers: BTreeMap::new(),
            wanted: BTreeSet::new(),
            done: BTreeMap::new(),
            passable: BTreeMap::new(),
            positions: BTreeMap::new(),
            last_commit: BTreeMap::new(),
            epochs: BTreeMap::new(),
        }
    }

    /// Records a broken invariant.
    pub fn fail(&mut self, at: Instant, what: String) {
        self.verdicts.push(Verdict { at, what });
    }

    /// A message was stored. `tag` decides whether the group wants it.
    pub fn on_stored(&mut self, number: u64, tag: &str, queue: MessageQueue, offset: i64) {
        if is_wanted(tag) {
            self.wanted.insert(number);
        } else {
            self.passable.entry(queue).or_default().insert(offset);
        }
    }

    /// A member's request arrives at a server: a commit must not pass what is not done, and must not fall within a life.
    pub fn on_request(&mut self, now: Instant, member: &str, request: &Request) {
        let (queue, offset, is_commit) = match request {
            Request::CommitOffset { queue, offset, .. } => (queue, *offset, true),
            Request::Pull(pull) => match pull.commit {
                Some(offset) => (&pull.queue, offset, false),
                None => return,
            },
            _ => return,
        };
        let none = BTreeSet::new();
        let passable = self.passable.get(queue).unwrap_or(&none);
        if let Some(undone) = (0..offset).find(|at| !passable.contains(at)) {
            self.fail(now, format!("{member} commits {offset} of {queue}, but {undone} is not done"));
        }
        if is_commit {
            let last = self.last_commit.insert((member.to_string(), queue.clone()), offset);
            if last.is_some_and(|last| last > offset) {
                self.fail(now, format!("{member} commits {offset} of {queue} after {last:?}"));
            }
        }
    }

    /// A handler has finished: its first `done` messages are done, whoever it did it for.
    pub fn on_done(&mut self, member: &str, delivery: &Delivery, done: usize) {
        if let Some(busy) = self.busy.get_mut(&delivery.queue) {
            busy.remove(&(member.to_string(), delivery.ticket));
        }
        for message in delivery.messages.iter().take(done) {
            self.passable.entry(delivery.queue.clone()).or_default().insert(message.queue_offset);
            *self.done.entry(number(message)).or_default() += 1;
        }
    }

    /// An answer arrives at a member: a confirmed send-back makes its message passable.
    pub fn on_reply(&mut self, request: &Request, result: &Result<Reply, CallError>) {
        if let (Request::SendBack(back), Ok(_)) = (request, result) {
            let found = self
                .positions
                .iter()
                .find(|((queue, position), _)| {
                    queue.broker == back.broker && *position == back.commit_log_offset
                })
                .map(|((queue, _), offset)| (queue.clone(), *offset));
            if let Some((queue, offset)) = found {
                // A dead letter is the end of its message.
                let number = self.numbers.get(&(queue.clone(), offset)).filter(|_| back.delay_level < 0);
                if let Some(number) = number {
                    *self.done.entry(*number).or_default() += 1;
                }
                self.passable.entry(queue).or_default().insert(offset);
            }
        }
    }

    /// A delivery goes to a handler: never of an older life than one before.
    pub fn on_delivery(&mut self, now: Instant, member: &Member, delivery: &Delivery) {
        for message in &delivery.messages {
            let position = (delivery.queue.clone(), message.commit_log_offset);
            self.positions.insert(position, message.queue_offset);
            self.numbers.insert((delivery.queue.clone(), message.queue_offset), number(message));
        }
        if self.orderly || self.exclusive {
            self.check_alone(now, &member.name, delivery);
        }
        if self.orderly {
            self.check_order(now, &member.name, delivery);
        }
        let key = (member.name.clone(), delivery.queue.clone());
        let last = self.epochs.insert(key, delivery.ticket.epoch);
        if last.is_some_and(|last| last > delivery.ticket.epoch) {
            self.fail(now, format!("{} delivers {} of an ended life", member.name, delivery.queue));
        }
        if delivery.messages.len() > member.limits.batch_max as usize {
            self.fail(now, format!("{} delivers {} messages at once", member.name, delivery.messages.len()));
        }
    }

    /// One member at a time works on a queue, in the whole group; if orderly, with one handler.
    fn check_alone(&mut self, now: Instant, member: &str, delivery: &Delivery) {
        let queue = &delivery.queue;
        let busy = self.busy.entry(queue.clone()).or_default();
        let other = busy.iter().find(|(other, _)| self.orderly || other != member);
        let other = other.map(|(other, _)| other.clone());
        busy.insert((member.to_string(), delivery.ticket));
        if let Some(other) = other {
            self.fail(now, format!("{member} works on {queue} while {other} does"));
        }
    }

    /// Nothing is begun while something before it is open.
    fn check_order(&mut self, now: Instant, member: &str, delivery: &Delivery) {
        let queue = &delivery.queue;
        let first = delivery.messages.first().map_or(0, |message| message.queue_offset);
        let none = BTreeSet::new();
        let passable = self.passable.get(queue).unwrap_or(&none);
        if let Some(open) = (0..first).find(|at| !passable.contains(at)) {
            self.fail(now, format!("{member} begins {queue} {first} while {open} is open"));
        }
    }

    /// Its handlers are no more.
    pub fn on_kill(&mut self, member: &str) {
        for busy in self.busy.values_mut() {
            busy.retain(|(name, _)| name != member);
        }
    }

    /// A life begins or is moved: its commits may begin lower than those of the life before.
    pub fn on_event(&mut self, now: Instant, member: &str, event: &Event) {
        match event {
            Event::QueueStarted { queue, .. } | Event::OffsetReset { queue, .. } => {
                self.last_commit.remove(&(member.to_string(), queue.clone()));
            }
            Event::PeerMisbehaved { what, .. } => {
                self.fail(now, format!("{member} blames its broker: {what}"))
            }
            Event::AllocationFailed { why, .. } => self.fail(now, format!("{member} cannot allocate: {why}")),
            _ => {}
        }
    }

    /// Windows and handlers keep their limits.
    pub fn check_memory(&mut self, now: Instant, member: &Member) {
        let snapshot = member.consumer.snapshot();
        let most = (member.limits.queue_messages_max + member.limits.pull_batch) as usize;
        for view in snapshot.queues.iter().filter(|view| view.cached > most) {
            self.fail(now, format!("{} holds {} messages of {}", member.name, view.cached, view.queue));
        }
        if snapshot.delivered > member.limits.concurrency as usize {
            self.fail(now, format!("{} has {} deliveries out", member.name, snapshot.delivered));
        }
    }

    /// After quiet each queue has exactly one owner among the members that stay.
    pub fn check_owners(&mut self, members: &[&Member], queues: Vec<MessageQueue>) {
        let mut owners: BTreeMap<MessageQueue, Vec<&str>> = BTreeMap::new();
        let now = Instant::ZERO;
        for member in members {
            for view in member.consumer.snapshot().queues {
                if view.phase != "fetching" {
                    self.fail(now, format!("{} is still {} {}", member.name, view.phase, view.queue));
                }
                owners.entry(view.queue).or_default().push(&member.name);
            }
        }
        for queue in queues {
            let of_queue = owners.remove(&queue).unwrap_or_default();
            if of_queue.len() != 1 {
                self.fail(now, format!("{queue} has the owners {of_queue:?} after quiet"));
            }
        }
    }

    /// Whether every wanted message was completed.
    pub fn all_done(&self) -> bool {
        self.wanted.iter().all(|number| self.done.contains_key(number))
    }

    /// Nothing is lost.
    pub fn check_all_done(&mut self) {
        let lost: Vec<u64> =
            self.wanted.iter().filter(|number| !self.done.contains_key(number)).copied().collect();
        if !lost.is_empty() {
            self.fail(Instant::ZERO, format!("{} messages were never completed: {lost:?}", lost.len()));
        }
    }

    /// Where nobody was killed, an exclusive hand-over makes no message come twice.
    pub fn check_none_twice(&mut self) {
        let twice: Vec<u64> =
            self.done.iter().filter(|(_, times)| **times > 1).map(|(number, _)| *number).collect();
        if self.exclusive && self.graceful && !twice.is_empty() {
            self.fail(Instant::ZERO, format!("{} messages came twice: {twice:?}", twice.len()));
        }
    }

    /// Everybody who was asked to leave has left.
    pub fn check_stopped(&mut self, members: &[Member]) {
        for member in members.iter().filter(|member| !member.dead && !member.stopped) {
            self.fail(Instant::ZERO, format!("{} was asked to leave and has not stopped", member.name));
        }
    }

    /// Completions beyond the first.
    pub fn duplicates(&self) -> u64 {
        self.done.values().map(|times| times - 1).sum()
    }

    /// What was found.
    pub fn into_verdicts(self) -> Vec<Verdict> {
        self.verdicts
    }
}

/// Whether [`FILTER`] wants a tag.
pub fn is_wanted(tag: &str) -> bool {
    FILTER.split(" || ").any(|wanted| wanted == tag)
}

/// A message's number is its body.
fn number(message: &Message) -> u64 {
    std::str::from_utf8(&message.body).ok().and_then(|text| text.parse().ok()).unwrap_or(u64::MAX)
}
