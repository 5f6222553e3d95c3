//! Every deadline there is, as an enum: the list of its variants is the list of everything that can happen later.

use crate::model::{Address, QueueEpoch, Topic};
use crate::time::Instant;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// What a deadline is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// Read a topic's route (again).
    Route(Topic),
    /// Ask whether a subscription can be evaluated, again.
    Check(Topic),
    /// Send a heartbeat to a broker (again).
    Heartbeat(Address),
    /// Run a rebalance round.
    Rebalance,
    /// Commit what has changed.
    Commit,
    /// Locate or pull a queue (again).
    Queue(QueueEpoch),
    /// Pop (again), or tell the broker (again) what became of popped messages.
    Pop(QueueEpoch),
    /// Put messages whose send-back failed back into the window.
    SendBackRetry(QueueEpoch),
    /// An orderly queue has rested after a handler gave up.
    Suspended(QueueEpoch),
    /// Ask for queue locks (again), or renew them.
    Locks,
    /// Whoever wants a message consumed directly waits no longer.
    Direct,
    /// A queue on its way out waits no longer for its handlers.
    Drain(QueueEpoch),
    /// Shutdown waits no longer for handlers, or for its last calls.
    Shutdown,
}

/// Who asked for a wake-up: the [`Timer`] without its subject. When a simulation spins, this says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// [`Timer::Route`]
    Route,
    /// [`Timer::Check`]
    Check,
    /// [`Timer::Heartbeat`]
    Heartbeat,
    /// [`Timer::Rebalance`]
    Rebalance,
    /// [`Timer::Commit`]
    Commit,
    /// [`Timer::Queue`]
    Queue,
    /// [`Timer::Pop`]
    Pop,
    /// [`Timer::SendBackRetry`]
    SendBackRetry,
    /// [`Timer::Suspended`]
    Suspended,
    /// [`Timer::Locks`]
    Locks,
    /// [`Timer::Direct`]
    Direct,
    /// [`Timer::Drain`]
    Drain,
    /// [`Timer::Shutdown`]
    Shutdown,
}

impl Timer {
    /// The reason without its subject.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Route(_) => Reason::Route,
            Self::Check(_) => Reason::Check,
            Self::Heartbeat(_) => Reason::Heartbeat,
            Self::Rebalance => Reason::Rebalance,
            Self::Commit => Reason::Commit,
            Self::Queue(_) => Reason::Queue,
            Self::Pop(_) => Reason::Pop,
            Self::SendBackRetry(_) => Reason::SendBackRetry,
            Self::Suspended(_) => Reason::Suspended,
            Self::Locks => Reason::Locks,
            Self::Direct => Reason::Direct,
            Self::Drain(_) => Reason::Drain,
            Self::Shutdown => Reason::Shutdown,
        }
    }
}

/// The set deadlines: at most one for each [`Timer`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    by_timer: BTreeMap<Timer, Instant>,
    by_time: BTreeSet<(Instant, Timer)>,
}

impl Timers {
    /// Sets a deadline, replacing an earlier setting.
    pub(crate) fn set(&mut self, timer: Timer, at: Instant) {
        if let Some(old) = self.by_timer.insert(timer.clone(), at) {
            self.by_time.remove(&(old, timer.clone()));
        }
        self.by_time.insert((at, timer));
    }

    /// Sets a deadline unless an earlier one is set.
    pub(crate) fn set_earliest(&mut self, timer: Timer, at: Instant) {
        if self.by_timer.get(&timer).is_none_or(|old| at < *old) {
            self.set(timer, at);
        }
    }

    /// Takes a deadline away.
    pub(crate) fn clear(&mut self, timer: &Timer) {
        if let Some(old) = self.by_timer.remove(timer) {
            self.by_time.remove(&(old, timer.clone()));
        }
    }

    /// Takes away all deadlines but those that `keep` wants.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Timer) -> bool) {
        self.by_timer.retain(|timer, _| keep(timer));
        self.by_time.retain(|(_, timer)| keep(timer));
    }

    /// Takes out what is due, earliest first.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Timer> {
        let mut due = Vec::new();
        while self.by_time.first().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, timer)) = self.by_time.pop_first() {
                self.by_timer.remove(&timer);
                due.push(timer);
            }
        }
        due
    }

    /// The next deadline and who asked for it.
    pub(crate) fn next(&self) -> Option<(Instant, Reason)> {
        self.by_time.first().map(|(at, timer)| (*at, timer.reason()))
    }
}
