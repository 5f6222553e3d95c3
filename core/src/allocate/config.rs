//! CONFIG: a list written down beforehand.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{Allocate, AllocateError, Input, Owners, SortedMembers, SortedQueues};
use crate::model::{Group, MessageQueue};

/// Takes the queues of a fixed list, whoever else is in the group. Nothing is checked: neither that the member is in
/// the list of members nor that there are any. Keeping the lists of all members disjoint and complete is the operator's
/// work.
///
/// Java's `AllocateMessageQueueByConfig`
/// (rocketmq:client/src/main/java/org/apache/rocketmq/client/consumer/rebalance/AllocateMessageQueueByConfig.java)
/// answers with its list as it stands, for every topic, so a consumer with two topics pulls the queues of one under the
/// name of the other. That answer is [`ByConfig::listed`]. As a strategy this type differs on purpose: it gives, in the
/// order of the list and each once, only those queues that the topic being shared really has.
///
/// # Example
///
/// ```
/// use evenkeel_core::allocate::{Allocate, ByConfig, Input, SortedMembers, SortedQueues};
/// use evenkeel_core::model::{ClientId, Group, MessageQueue};
///
/// let queue = |id| MessageQueue::new("T", "b", id);
/// let strategy = ByConfig::new([queue(3), queue(0), MessageQueue::new("Other", "b", 1)]);
/// let (queues, members) = (SortedQueues::new((0..6).map(queue)), SortedMembers::new([]));
/// let (group, me) = (Group::from("g"), ClientId::from("c1"));
/// let mine = strategy.allocate(&Input { group: &group, me: &me, queues: &queues, members: &members, nth: 0 })?;
/// assert_eq!(mine, [queue(3), queue(0)]);
/// assert_eq!(strategy.listed().len(), 3);
/// # Ok::<(), evenkeel_core::allocate::AllocateError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByConfig {
    listed: Vec<MessageQueue>,
}

impl ByConfig {
    /// Takes the queues of `listed`, which may be of several topics.
    pub fn new(listed: impl IntoIterator<Item = MessageQueue>) -> Self {
        Self { listed: listed.into_iter().collect() }
    }

    /// The list as it was given: what a Java member would take for any topic.
    pub fn listed(&self) -> &[MessageQueue] {
        &self.listed
    }
}

impl Allocate for ByConfig {
    fn name(&self) -> Cow<'_, str> {
        "CONFIG".into()
    }

    fn positions(&self, input: &Input<'_>) -> Result<Vec<usize>, AllocateError> {
        Ok(self.there(input.queues))
    }

    fn owners(
        &self,
        _: &Group,
        queues: &SortedQueues,
        members: &SortedMembers,
    ) -> Result<Owners, AllocateError> {
        let there = self.there(queues);
        Owners::from_answers(queues.len(), members, |_| Ok(there.clone()))
    }
}

impl ByConfig {
    /// Positions of the listed queues, in the order of the list, each once.
    fn there(&self, queues: &SortedQueues) -> Vec<usize> {
        let mut taken = BTreeSet::new();
        let there = self.listed.iter().filter_map(|queue| queues.position(queue));
        there.filter(|&at| taken.insert(at)).collect()
    }
}
