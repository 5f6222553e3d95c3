//! Pause, resume and seek, while the consumer runs.
//!
//! A paused queue is still ours: its lock is renewed, what its handlers finish is committed. Nothing of it is pulled or
//! handed out; what a parked pull still brings is held. A pause of single queues ends when they go to another member; a
//! pause of a topic counts for queues that come later, too, until it is resumed or unsubscribed.
//!
//! A seek is a reset by the user's own hand: the queue's present life ends without a further commit, and the next one
//! begins at the new place (`queue`, `restart_at`). Where the place has to be asked for, the next life finds it out first,
//! and until then nothing of the queue happens.

use super::Consumer;
use super::io::{Position, Scope};
use super::queue::{AssignedQueue, Phase, Seek};
use crate::model::{MessageQueue, QueueEpoch, Topic};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

#[derive(Clone, Debug, Default)]
pub(crate) struct Paused {
    topics: BTreeSet<Topic>,
    queues: BTreeSet<MessageQueue>,
}

impl Paused {
    pub(super) fn has(&self, queue: &MessageQueue) -> bool {
        self.topics.contains(&queue.topic) || self.queues.contains(queue)
    }

    /// The queue is another member's now.
    pub(super) fn lost(&mut self, queue: &MessageQueue) {
        self.queues.remove(queue);
    }

    pub(super) fn unsubscribed(&mut self, topic: &Topic) {
        self.topics.remove(topic);
    }
}

impl Consumer {
    /// Whether the queue is ours: being worked on, or about to be.
    pub fn holds(&self, queue: &MessageQueue) -> bool {
        self.pops.holds(queue) || self.life_of(queue).is_some_and(AssignedQueue::is_held)
    }

    /// Whether messages of the topic are popped, or still held from a pop: it has no offsets to seek.
    pub fn is_popping(&self, topic: &Topic) -> bool {
        self.pops.has(topic)
    }

    fn life_of(&self, queue: &MessageQueue) -> Option<&AssignedQueue> {
        self.queues.lives.get(self.queues.table.get(queue)?)
    }

    pub(super) fn on_pause(&mut self, scope: Scope) {
        match scope {
            Scope::Topic(topic) if self.subscriptions.contains_key(&topic) => {
                self.paused.topics.insert(topic);
            }
            Scope::Topic(_) => {}
            Scope::Queues(queues) => {
                let ours: Vec<MessageQueue> = queues.into_iter().filter(|queue| self.holds(queue)).collect();
                self.paused.queues.extend(ours);
            }
        }
    }

    pub(super) fn on_resume(&mut self, scope: Scope) {
        match scope {
            Scope::Topic(topic) => {
                self.paused.topics.remove(&topic);
                self.paused.queues.retain(|queue| queue.topic != topic);
            }
            Scope::Queues(queues) => self.paused.queues.retain(|queue| !queues.contains(queue)),
        }
        self.look_at_all_queues();
    }

    pub(super) fn on_seek(&mut self, queue: &MessageQueue, to: Position) {
        if !self.is_running() || !self.holds(queue) || self.is_popping(&queue.topic) {
            return;
        }
        match to {
            Position::Offset(offset) if offset < 0 => {}
            Position::Offset(offset) => self.restart_at(queue, offset),
            Position::First | Position::Last | Position::At(_) => {
                let sought = self.life_of(queue).and_then(|life| life.seek.map(|seek| seek.from));
                let Some((epoch, from)) = self.next_life(queue) else { return };
                if let Some(life) = self.queues.lives.get_mut(&epoch) {
                    let from = from.or(sought).unwrap_or(-1);
                    (life.phase, life.seek) = (Phase::Locating { asking: false }, Some(Seek { from, to }));
                }
            }
        }
    }

    /// The place of a seek is known.
    pub(super) fn arrive(&mut self, epoch: QueueEpoch, offset: i64) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        let Some(Seek { from, .. }) = life.seek.take() else { return self.begin(epoch, offset, None) };
        self.begin_reset(epoch, from, offset);
    }
}
