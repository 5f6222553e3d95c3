//! Commits: telling brokers how far the group has come.
//!
//! Broadcasting members commit to a file of their own, see `broadcast`.
//!
//! A queue is committed when its commit point differs from what the broker confirmed last: every `commit_interval`,
//! with each pull, when the queue goes to another member, and at shutdown. One commit of a queue is under way at a time,
//! so two of them cannot overtake each other. For the same reason pulls carry no commit points, though they could.
//!
//! The first commit of a queue whose group the broker did not know counts only when it has been confirmed twice: of first
//! commits that come at once a broker can confirm two and keep one. Where the topic has no other queue on that broker
//! there is nothing to come at once with, and one is enough.
//!
//! While a broker has no master its slave is told. What one has confirmed the other does not know, and a broker that was
//! killed has forgotten what it confirmed last: whoever is to be told now and has not confirmed over its present
//! connection is told again.
//!
//! A member that owns a queue by mistake for a moment may put its offset back, and so may a broker. What has been confirmed is
//! therefore told again after a minute, and at a stop. Not when the queue goes: by then it has a new owner.
//!
//! Java sends commits one-way and believes, and sends all of them every time. Here the broker answers, so that a lost or
//! refused commit stays due.

use super::Consumer;
use super::calls::Purpose;
use super::io::Event;
use super::queue::{AssignedQueue, Phase};
use super::timers::Timer;
use crate::model::{Address, CallId, MessageQueue, QueueEpoch, Topic};
use crate::time::Duration;
use crate::wire::reply::CallError;
use crate::wire::request::Request;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// What was confirmed so long ago is told again.
const REMINDER: Duration = Duration::from_secs(60);

impl Consumer {
    pub(super) fn on_commit_timer(&mut self) {
        self.timers.set(Timer::Commit, self.now + self.config.limits.commit_interval);
        self.save_soon();
        // A queue on its way out has a new owner, who may have committed more: only `close_queue` commits it, once.
        let (now, mut due) = (self.now, Vec::new());
        for (epoch, life) in self.queues.lives.iter_mut().filter(|(_, life)| life.is_held()) {
            if now >= life.heard + REMINDER {
                life.keeper = None;
            }
            due.push(*epoch);
        }
        for epoch in due {
            self.commit(epoch);
        }
    }

    /// Sends the commit point if the broker does not have it yet and no commit is under way.
    pub(super) fn commit(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        if self.is_broadcasting() {
            return self.note_locally(epoch);
        }
        let Some(keeper) = self.routes.offset_keeper(&life.queue.broker).cloned() else { return };
        let Some(offset) = life.uncommitted(&keeper).filter(|_| !life.is_committing()) else { return };
        if life.is_held() && !self.may_commit(life) {
            return;
        }
        let queue = life.queue.clone();
        let request = Request::CommitOffset { group: self.config.group.clone(), queue, offset };
        let timeout = self.config.limits.offset_timeout;
        let call = self.call(Purpose::Commit(epoch, offset), keeper, request, timeout);
        if let Some(life) = self.queues.lives.get_mut(&epoch) {
            life.commit = Some(call);
        }
    }

    /// A pull is a good moment to tell how far we are. The very first commits go one at a time then: once a broker has
    /// kept one of the group's offsets for the topic, it keeps those that come at once, too.
    pub(super) fn commit_with_pull(&mut self, epoch: QueueEpoch) {
        if self.is_broadcasting() {
            // A file is not written that often.
            return;
        }
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        let rival = |other: &AssignedQueue| {
            let (ours, theirs) = (&life.queue, &other.queue);
            other.commit.is_some()
                && !other.kept
                && (&theirs.topic, &theirs.broker) == (&ours.topic, &ours.broker)
        };
        if life.commit_point() > Some(0) && (life.kept || !self.queues.lives.values().any(rival)) {
            self.commit(epoch);
        }
    }

    pub(super) fn on_committed(
        &mut self,
        epoch: QueueEpoch,
        call: CallId,
        offset: i64,
        from: &Address,
        result: Result<(), CallError>,
    ) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else {
            self.late();
            return self.let_next_life_commit(call);
        };
        life.commit = None;
        life.commit_failed = result.is_err();
        self.attention.insert(epoch);
        let (closing, confirmed) = (life.phase == Phase::Closing, result.is_ok());
        match result {
            Ok(()) => {
                // The first one is sent again.
                if core::mem::replace(&mut life.kept, true) {
                    (life.committed, life.keeper) = (Some(offset), Some(from.clone()));
                    life.heard = self.now;
                }
                let queue = life.queue.clone();
                self.event(Event::Committed { queue, offset });
            }
            Err(error) => {
                self.queue_call_failed(epoch, from, "commit the offset", error);
                self.commit_again(epoch);
            }
        }
        if closing {
            if !confirmed {
                return self.last_commit_failed(epoch);
            }
            // This one may have been under way since before the last handlers finished.
            self.commit_last(epoch);
        }
    }

    /// A commit that outlived its life has ended: the queue's present life may commit. One on its way out goes on with that:
    /// its queue may have a new owner, and it looks first.
    fn let_next_life_commit(&mut self, call: CallId) {
        let next = self.queues.lives.iter_mut().find(|(_, life)| life.after_commit == Some(call));
        if let Some((epoch, life)) = next {
            life.after_commit = None;
            let (epoch, phase) = (*epoch, life.phase);
            self.attention.insert(epoch);
            match phase {
                Phase::Draining => {}
                Phase::Closing => self.commit_last(epoch),
                Phase::Locating { .. } | Phase::Fetching => self.commit(epoch),
            }
        }
    }

    /// The connection to a broker broke. It may come back without what it confirmed last, even without any table of the
    /// group's offsets.
    pub(super) fn doubt_commits(&mut self, broker: &Address) {
        let doubted = |life: &&mut AssignedQueue| life.keeper.as_ref() == Some(broker);
        for life in self.queues.lives.values_mut().filter(doubted) {
            (life.keeper, life.kept) = (None, false);
        }
    }

    /// An operator moved offsets. Queues that are named and ours begin again there; all others go on.
    pub(super) fn on_reset(&mut self, topic: &Topic, offsets: BTreeMap<MessageQueue, i64>) {
        for (queue, offset) in offsets {
            if queue.topic == *topic && offset >= 0 {
                self.restart_at(&queue, offset);
            }
        }
    }
}
