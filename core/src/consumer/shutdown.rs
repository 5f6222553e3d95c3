//! Leaving: drain, commit, unregister, in this order and never another.
//!
//! 1. *Drain.* No pull, no pop, no delivery. What was popped and no handler has is shown to others. Handlers that run may
//!    finish, send-backs may be confirmed, until the grace ends. (Exclusive hand-over: what would keep a commit point down
//!    goes back to its broker, too.)
//! 2. *Commit.* Every queue's commit point, at its broker or (broadcasting) in the file, confirmed or given up after
//!    `call_timeout`. Under queue locks a commit that failed is tried again, for `offset_timeout` more: the next owner
//!    waits for it.
//! 3. *Unlock*, where queues are worked on under locks: every queue, at its broker. The next owner finds the commits of
//!    step 2.
//! 4. *Unregister* at every broker that was ever sent a heartbeat. Now the others take over, and what they read first
//!    is what step 2 wrote.
//! 5. *Stopped.* Nothing is left but late outcomes, which change nothing.

use super::Consumer;
use super::calls::Purpose;
use super::direct::Directs;
use super::io::Event;
use super::locks::Locks;
use super::pop::Pops;
use super::queue::{AssignedQueue, Phase};
use super::timers::Timer;
use super::{Run, Stopping};
use crate::model::QueueEpoch;
use crate::time::Duration;
use crate::wire::request::Request;
use alloc::vec::Vec;

/// Before a commit that failed is tried again.
const COMMIT_RETRY: Duration = Duration::from_millis(500);

/// How far the leaving has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Draining,
    Committing,
    Unlocking { open: usize },
    Unregistering { open: usize },
}

impl Consumer {
    pub(super) fn on_stop(&mut self, grace: Duration) {
        let deadline = self.now + grace;
        match &mut self.run {
            Run::New => self.stopped(0),
            Run::Running => {
                let running: usize = self.queues.lives.values().map(|life| life.running.len()).sum();
                let running = running + self.directs.running() + self.pops.running();
                self.refuse_waiting_directs();
                self.run = Run::Stopping(Stopping { step: Step::Draining, deadline, running });
                // A long drain is still a membership: the brokers must not give us up, and what is done is committed.
                let hands_over = self.config.hands_over();
                self.timers.retain(|timer| match timer {
                    Timer::Heartbeat(_) | Timer::Commit | Timer::Locks | Timer::Direct | Timer::Pop(_) => {
                        true
                    }
                    Timer::SendBackRetry(_) => hands_over,
                    _ => false,
                });
                self.timers.set(Timer::Shutdown, deadline);
            }
            // Asked again: the shorter grace counts.
            Run::Stopping(stopping) if stopping.step == Step::Draining && deadline < stopping.deadline => {
                stopping.deadline = deadline;
                self.timers.set(Timer::Shutdown, deadline);
            }
            Run::Stopping(_) | Run::Stopped => {}
        }
    }

    pub(super) fn decide_stopping(&mut self) {
        if matches!(&self.run, Run::Stopping(stopping) if stopping.step == Step::Draining) {
            let entries: Vec<QueueEpoch> = self.pops.epochs().collect();
            for epoch in entries {
                self.decide_pop(epoch);
            }
        }
        loop {
            let Run::Stopping(stopping) = &self.run else { return };
            let deadline = stopping.deadline;
            let overdue = self.now >= deadline;
            let (step, running) = (stopping.step, stopping.running);
            match step {
                Step::Draining if overdue || self.all_at_rest() && !self.fill_all_gaps() => {
                    self.refuse_running_directs();
                    self.save_soon();
                    for life in self.queues.lives.values_mut() {
                        (life.commit_failed, life.waiting) = (false, false);
                        if life.is_held() {
                            // Told again, whatever was confirmed: see `offsets`.
                            life.keeper = None;
                        }
                    }
                    self.next_step(Step::Committing);
                }
                Step::Committing => {
                    self.commit_all();
                    self.decide_saving();
                    let again = |life: &AssignedQueue| {
                        life.waiting && (life.commit_failed || life.phase == Phase::Draining)
                    };
                    let under_way = |life: &AssignedQueue| {
                        life.is_committing() || life.phase == Phase::Closing || again(life)
                    };
                    let saving = self.local.is_saving();
                    if !overdue && (saving || self.queues.lives.values().any(under_way)) {
                        return;
                    }
                    let open = self.unlock_all();
                    self.next_step(Step::Unlocking { open });
                }
                Step::Unlocking { open } if open == 0 || overdue => {
                    let open = self.unregister();
                    self.next_step(Step::Unregistering { open });
                }
                Step::Unregistering { open } if open == 0 || overdue => {
                    return self.stopped(running);
                }
                Step::Draining => {
                    self.decide_saving();
                    self.decide_heartbeats();
                    return self.decide_locks();
                }
                Step::Unlocking { .. } | Step::Unregistering { .. } => return,
            }
        }
    }

    fn next_step(&mut self, step: Step) {
        self.timers.retain(|_| false);
        let limits = &self.config.limits;
        // Under a lock the next owner waits: a commit whose answer is lost is over first, and then comes the last one.
        let more = step == Step::Committing && self.needs_locks();
        let more = if more { limits.offset_timeout } else { Duration::ZERO };
        let deadline = self.now + limits.call_timeout + more;
        self.timers.set(Timer::Shutdown, deadline);
        if let Run::Stopping(stopping) = &mut self.run {
            (stopping.step, stopping.deadline) = (step, deadline);
        }
    }

    fn all_at_rest(&self) -> bool {
        self.directs.running() == 0
            && self.pops.held() == 0
            && self.queues.lives.values().all(AssignedQueue::is_at_rest)
    }

    /// Sends each commit that is due and was not refused in this step already, or may be tried again. Queues that were on
    /// their way out when the stop began have a new owner: their last commit looks at the broker's offset first, as ever.
    fn commit_all(&mut self) {
        let lives: Vec<(QueueEpoch, Phase, bool)> =
            self.queues.lives.iter().map(|(epoch, life)| (*epoch, life.phase, life.waiting)).collect();
        for (epoch, phase, waiting) in lives {
            match phase {
                Phase::Draining if !waiting => self.close_queue(epoch),
                Phase::Draining | Phase::Closing => {}
                Phase::Locating { .. } | Phase::Fetching => {
                    let again = self.needs_locks();
                    let due = |life: &AssignedQueue| !life.commit_failed || again && !life.waiting;
                    if self.queues.lives.get(&epoch).is_some_and(due) {
                        self.commit(epoch);
                    }
                }
            }
        }
    }

    /// A commit of this step failed. Only under a lock is it worth another try: without one the next owner does not wait.
    pub(super) fn commit_again(&mut self, epoch: QueueEpoch) {
        let committing = matches!(&self.run, Run::Stopping(stopping) if stopping.step == Step::Committing);
        let ours = |life: &AssignedQueue| life.phase == Phase::Fetching && self.may_commit(life);
        if committing && self.needs_locks() && self.queues.lives.get(&epoch).is_some_and(ours) {
            self.look_again(epoch, self.now + COMMIT_RETRY);
        }
    }

    /// As [`Consumer::commit_again`], of a queue that was on its way out when the stop began: the wait, if it may.
    pub(super) fn may_try_last_commit_again(&self) -> Option<Duration> {
        let before_unlocking =
            |stopping: &Stopping| matches!(stopping.step, Step::Draining | Step::Committing);
        matches!(&self.run, Run::Stopping(stopping) if before_unlocking(stopping)).then_some(COMMIT_RETRY)
    }

    fn unregister(&mut self) -> usize {
        let brokers = self.membership.told();
        for address in &brokers {
            let request =
                Request::Unregister { client: self.config.client.clone(), group: self.config.group.clone() };
            self.call(Purpose::Unregister, address.clone(), request, self.config.limits.call_timeout);
        }
        brokers.len()
    }

    pub(super) fn unlock_ended(&mut self) {
        if let Run::Stopping(Stopping { step: Step::Unlocking { open }, .. }) = &mut self.run {
            *open = open.saturating_sub(1);
        }
    }

    pub(super) fn on_unregistered(&mut self) {
        if let Run::Stopping(Stopping { step: Step::Unregistering { open }, .. }) = &mut self.run {
            *open = open.saturating_sub(1);
        }
    }

    fn stopped(&mut self, running: usize) {
        let lives = self.queues.lives.values();
        let abandoned: usize = lives.clone().map(|life| life.running.len()).sum();
        let abandoned = abandoned + self.directs.running() + self.pops.running();
        let handed_back =
            lives.clone().filter(|life| life.is_located()).map(|life| life.window.count()).sum();
        let committed = lives.filter_map(|life| Some((life.queue.clone(), life.committed?))).collect();
        self.event(Event::Stopped {
            drained: running.saturating_sub(abandoned),
            handed_back,
            abandoned,
            committed,
        });
        self.run = Run::Stopped;
        self.timers.retain(|_| false);
        self.calls.clear();
        self.locks = Locks::default();
        self.directs = Directs::default();
        self.queues.lives.clear();
        self.queues.table.clear();
        self.pops = Pops::default();
        self.ready.clear();
        self.attention.clear();
    }
}
