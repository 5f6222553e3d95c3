//! Which queues are ours.

use evenkeel_core::consumer::io::RebalanceReason;
use evenkeel_core::model::{MessageQueue, Topic};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The queues that a consumer owns at one moment. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    generation: u64,
    reason: Option<RebalanceReason>,
    by_topic: Arc<BTreeMap<Topic, BTreeSet<MessageQueue>>>,
}

impl Assignment {
    /// Counts the rebalance rounds that changed something; 0 before the first.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// What started the round that made this assignment; `None` before the first.
    pub fn reason(&self) -> Option<RebalanceReason> {
        self.reason
    }

    /// The queues of the subscribed topics, in Java's order. Those of the retry topic are not among them.
    pub fn queues(&self) -> impl Iterator<Item = &MessageQueue> {
        self.all_queues().filter(|queue| !queue.topic.is_retry())
    }

    /// All queues, those of the retry topic as well.
    pub fn all_queues(&self) -> impl Iterator<Item = &MessageQueue> {
        self.by_topic.values().flatten()
    }

    /// How many [`Assignment::queues`] there are.
    pub fn len(&self) -> usize {
        self.queues().count()
    }

    /// Whether there are no [`Assignment::queues`].
    pub fn is_empty(&self) -> bool {
        self.queues().next().is_none()
    }

    /// Whether this queue is ours.
    pub fn contains(&self, queue: &MessageQueue) -> bool {
        self.by_topic.get(&queue.topic).is_some_and(|queues| queues.contains(queue))
    }

    /// The same with one topic's queues replaced.
    pub(crate) fn apply(
        &mut self,
        generation: u64,
        reason: RebalanceReason,
        topic: &Topic,
        assigned: &[MessageQueue],
    ) {
        self.generation = generation;
        self.reason = Some(reason);
        let by_topic = Arc::make_mut(&mut self.by_topic);
        if assigned.is_empty() {
            by_topic.remove(topic);
        } else {
            by_topic.insert(topic.clone(), assigned.iter().cloned().collect());
        }
    }

    /// Nothing is ours any more.
    pub(crate) fn clear(&mut self) {
        self.by_topic = Arc::default();
    }
}
