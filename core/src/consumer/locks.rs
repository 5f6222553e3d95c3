//! Queue locks: one member at a time works on a queue, in the whole group.
//!
//! Groups that are orderly work under them, and those that hand their queues over exclusively. What follows for a queue
//! from each stands in `orderly` and `handover`; here is the lock itself, from the first request to giving it back.
//!
//! A broker gives the lock of a queue to one client id at a time, for 60 s from the last request. The lock is the
//! licence: without it a queue is neither located nor pulled nor handed out. Here it counts for
//! [`lock_life`](crate::config::Limits) (30 s) from the moment its request was *sent*, so that this side always gives
//! up first, whatever the network and the clocks do in between.
//!
//! ```text
//!              granted                    no answer for lock_life           granted
//!   unlocked ----------> locked (renewed) ----------------------> lapsed ------------> locked
//!      ^  |                 |                                        |  (after 60 s: a new life,
//!      +--+ refused:        | refused: another member has it         |   for somebody may have been there)
//!      again soon           v                                        v
//!                        the queue goes (last commit looks first), and a new life asks for the lock
//! ```
//!
//! | answer of the broker | consequence |
//! |---|---|
//! | a set with the queue in it | locked from the time of the request |
//! | a set without it | another member holds it: asked again after 50 ms, 100 ms, …, `lock_retry` |
//! | none | nothing is known: asked again; what was granted counts until it lapses |
//!
//! Java renews every 20 s and sits out a lost renewal until the next one; a queue is silent for up to 20 s then. Here a
//! call that failed is repeated soon.

use super::calls::Purpose;
use super::io::Event;
use super::queue::{AssignedQueue, Look, Phase};
use super::timers::Timer;
use super::{Consumer, Run};
use crate::model::{Address, BrokerName, MessageQueue, QueueEpoch};
use crate::time::{Duration, Instant};
use crate::wire::bodies::QueueSet;
use crate::wire::reply::CallError;
use crate::wire::request::Request;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// How long a broker keeps a lock that is not renewed (its `lockMaxLiveTime`).
const LIFE_AT_BROKER: Duration = Duration::from_secs(60);
/// First wait after a refusal; the next ones double up to `lock_retry`. A queue that moves is free when its old owner has
/// committed, which takes milliseconds.
const FIRST_RETRY: Duration = Duration::from_millis(50);
/// What a life of a queue knows of its lock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lease {
    /// When the request was sent that was granted last; `None` if never, or refused since.
    pub(super) granted: Option<Instant>,
    asking: bool,
    /// When it is asked for (again).
    due: Option<Instant>,
    refusals: u32,
    /// Another member may have had it since this life began.
    lapsed: bool,
}

impl Lease {
    /// Whether the broker may have the lock down as ours: granted, or asked for and not refused yet.
    fn is_to_give_back(&self) -> bool {
        self.granted.is_some() || self.asking
    }
}

/// What there is to do about locks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locks {
    due: BTreeSet<(Instant, QueueEpoch)>,
    /// Locks of lives that have ended.
    unwanted: BTreeMap<BrokerName, BTreeSet<MessageQueue>>,
    /// Those that are being given back: a lock call could overtake that at the broker, and would be undone by it.
    leaving: BTreeSet<MessageQueue>,
}

impl Locks {
    fn give_up(&mut self, queue: MessageQueue) {
        self.unwanted.entry(queue.broker.clone()).or_default().insert(queue);
    }
}

impl Consumer {
    /// Whether queues are worked on under locks. Members of a broadcasting group share no queue.
    pub(super) fn needs_locks(&self) -> bool {
        (self.config.orderly || self.config.limits.exclusive_handover) && !self.is_broadcasting()
    }

    /// Whether nothing forbids to work on the queue now.
    pub(super) fn is_licensed(&self, life: &AssignedQueue) -> bool {
        !self.needs_locks() || self.has_lock(life)
    }

    pub(super) fn has_lock(&self, life: &AssignedQueue) -> bool {
        life.lease.granted.is_some_and(|at| self.now < at + self.config.limits.lock_life)
    }

    /// Whether a commit of the queue can only be ours, as far as locks tell.
    pub(super) fn may_commit(&self, life: &AssignedQueue) -> bool {
        let kept = |at: Instant| self.now < at + LIFE_AT_BROKER;
        !self.needs_locks() || life.lease.granted.is_some_and(kept)
    }

    /// Whether nobody else can have worked on the queue in this life of it.
    pub(super) fn is_alone(&self, life: &AssignedQueue) -> bool {
        self.needs_locks() && self.may_commit(life) && !life.lease.lapsed
    }

    /// The queue cannot go on without its lock: it is asked for in this `decide`.
    pub(super) fn want_lock(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        if self.needs_locks() && !life.lease.asking && life.lease.due.is_none() && !self.has_lock(life) {
            self.lock_due(epoch, self.now);
        }
    }

    fn lock_due(&mut self, epoch: QueueEpoch, at: Instant) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        if let Some(old) = life.lease.due.replace(at) {
            self.locks.due.remove(&(old, epoch));
        }
        self.locks.due.insert((at, epoch));
    }

    /// Gives back the locks of ended lives, and asks for those that are due: one call for each broker.
    pub(super) fn decide_locks(&mut self) {
        if !self.needs_locks() {
            return;
        }
        self.give_back();
        let mut asks: BTreeMap<Address, Vec<QueueEpoch>> = BTreeMap::new();
        while let Some((at, epoch)) = self.locks.due.first().copied().filter(|(at, _)| *at <= self.now) {
            self.locks.due.remove(&(at, epoch));
            let Some(life) = self.queues.lives.get_mut(&epoch) else { continue };
            life.lease.due = None;
            let leaving = !matches!(self.run, Run::Running) && life.lease.granted.is_none();
            if life.lease.asking || leaving {
                continue;
            }
            if life.phase == Phase::Closing {
                // The unlock that may follow must not meet this; if the last commit fails, the lock is needed longer.
                self.lock_due(epoch, self.now + self.config.limits.lock_retry);
                continue;
            }
            if self.locks.leaving.contains(&life.queue) {
                // When the broker has answered.
                continue;
            }
            match self.routes.master(&life.queue.broker) {
                Some(master) if self.membership.registered(master) => {
                    life.lease.asking = true;
                    asks.entry(master.clone()).or_default().push(epoch);
                }
                // The heartbeat that registers us looks at all queues, and those without a lock want it then.
                _ => self.lock_due(epoch, self.now + self.config.limits.lock_retry),
            }
        }
        for (master, epochs) in asks {
            let queue = |epoch: &QueueEpoch| self.queues.lives.get(epoch).map(|life| life.queue.clone());
            let queues = epochs.iter().filter_map(queue).collect();
            let request = Request::Lock(self.queue_set(queues));
            self.call(Purpose::Lock(epochs), master, request, self.config.limits.lock_timeout);
        }
        match self.locks.due.first() {
            Some((at, _)) => self.timers.set(Timer::Locks, *at),
            None => self.timers.clear(&Timer::Locks),
        }
    }

    fn queue_set(&self, queues: BTreeSet<MessageQueue>) -> QueueSet {
        let (group, client) = (self.config.group.clone(), self.config.client.clone());
        QueueSet { group, client, only_this_broker: false, queues }
    }

    pub(super) fn on_locked(
        &mut self,
        epochs: Vec<QueueEpoch>,
        from: &Address,
        sent: Instant,
        result: Result<BTreeSet<MessageQueue>, CallError>,
    ) {
        let mut granted = match result {
            Ok(granted) => granted,
            Err(error) => return self.on_lock_failed(&epochs, from, error),
        };
        for epoch in epochs {
            let Some(life) = self.queues.lives.get_mut(&epoch) else {
                self.late();
                continue;
            };
            life.lease.asking = false;
            self.attention.insert(epoch);
            if granted.remove(&life.queue) {
                self.on_granted(epoch, sent);
            } else {
                self.on_refused(epoch);
            }
        }
        // Granted to a life that has ended meanwhile. If the queue has a new one, the lock is its lock, too.
        for queue in granted {
            if !self.in_table(&queue) {
                self.locks.give_up(queue);
            }
        }
    }

    fn on_granted(&mut self, epoch: QueueEpoch, sent: Instant) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        let before = life.lease.granted.replace(sent);
        life.lease.refusals = 0;
        // The broker may have given it to another member in between, who has worked on it and gone again.
        life.lease.lapsed |= before.is_some_and(|before| sent >= before + LIFE_AT_BROKER);
        let lost = life.lease.lapsed && life.is_held();
        self.lock_due(epoch, sent + self.config.limits.lock_interval);
        if lost {
            self.lose_lock(epoch);
        }
    }

    fn on_refused(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        let had = life.lease.granted.take().is_some();
        life.lease.lapsed |= had;
        life.lease.refusals = life.lease.refusals.saturating_add(1);
        let (queue, times) = (life.queue.clone(), life.lease.refusals);
        if !life.is_held() {
            return;
        }
        if had {
            return self.lose_lock(epoch);
        }
        let wait = FIRST_RETRY * (1 << (times - 1).min(10));
        self.event(Event::LockRefused { queue, times });
        self.lock_due(epoch, self.now + wait.min(self.config.limits.lock_retry));
    }

    fn on_lock_failed(&mut self, epochs: &[QueueEpoch], from: &Address, error: CallError) {
        let mut about = String::new();
        for epoch in epochs {
            let Some(life) = self.queues.lives.get_mut(epoch) else { continue };
            life.lease.asking = false;
            about = life.queue.to_string();
            self.attention.insert(*epoch);
            self.lock_due(*epoch, self.now + self.config.limits.lock_retry);
        }
        if epochs.len() > 1 {
            about = alloc::format!("{} queues", epochs.len());
        }
        self.event(Event::CallFailed { to: from.clone(), what: "lock queues", about, error, attempt: 1 });
    }

    /// Another member has the queue, or may have had it: what is known of its offsets is old. This life goes as if the
    /// queue had been reassigned, and the next one begins with the lock and the committed offset.
    fn lose_lock(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        let queue = life.queue.clone();
        self.event(Event::LockLost { queue: queue.clone() });
        self.revoke(&queue, Look::First);
        self.rebalance.unsettled.insert(queue.topic);
    }

    /// What a life leaves behind.
    pub(super) fn drop_lease(&mut self, epoch: QueueEpoch, life: &AssignedQueue) {
        if let Some(due) = life.lease.due {
            self.locks.due.remove(&(due, epoch));
        }
        if life.lease.is_to_give_back() {
            self.locks.give_up(life.queue.clone());
        }
    }

    /// The next life of the same queue goes on under the same lock.
    pub(super) fn inherit_lease(&mut self, from: QueueEpoch, lease: Lease, epoch: QueueEpoch) {
        if let Some(due) = lease.due {
            self.locks.due.remove(&(due, from));
        }
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        life.lease.granted = lease.granted;
        if let Some(at) = lease.granted {
            self.lock_due(epoch, at + self.config.limits.lock_interval);
        }
    }

    /// Gives back what ended lives held. Nobody waits for the answers, and a lost one costs the next owner the rest of
    /// the lock's 60 s.
    pub(super) fn give_back(&mut self) -> usize {
        let mut calls = 0;
        for (broker, queues) in core::mem::take(&mut self.locks.unwanted) {
            let Some(master) = self.routes.master(&broker).cloned() else { continue };
            self.locks.leaving.extend(queues.iter().cloned());
            let request = Request::Unlock(self.queue_set(queues.clone()));
            self.call(Purpose::Unlock(queues), master, request, self.config.limits.lock_timeout);
            calls += 1;
        }
        calls
    }

    /// Locks were given back, or nobody knows. A queue that is ours again may ask for its lock.
    pub(super) fn on_unlocked(&mut self, queues: &BTreeSet<MessageQueue>) {
        self.locks.leaving.retain(|queue| !queues.contains(queue));
        self.attention.extend(queues.iter().filter_map(|queue| self.queues.table.get(queue)));
        self.unlock_ended();
    }

    /// The end of the consumer: all locks, after the last commits and before the others hear that we left.
    pub(super) fn unlock_all(&mut self) -> usize {
        for life in self.queues.lives.values_mut() {
            if life.lease.is_to_give_back() {
                life.lease.granted = None;
                self.locks.give_up(life.queue.clone());
            }
        }
        self.give_back()
    }
}
