//! What there is to share, and among whom.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::PlanError;
use crate::allocate::{SortedMembers, SortedQueues};
use crate::model::{BrokerName, ClientId, Group, MessageQueue, Topic};

/// The queues that a group consumes and the members that it has.
///
/// ```
/// use evenkeel_core::model::ClientId;
/// use evenkeel_core::plan::Layout;
///
/// let layout = Layout::new("pay-worker", ["c1", "c2", "c3"].map(ClientId::from))
///     .with_queues("orders", "broker-a", 8)
///     .with_queues("orders", "broker-b", 8);
/// assert_eq!(layout.queues(), 16);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The group.
    pub group: Group,
    /// Its topics.
    pub topics: Topics,
    /// Its members, with those client ids twice that two processes have.
    pub members: SortedMembers,
}

/// Topics, and what each has on which broker.
pub type Topics = BTreeMap<Topic, BTreeMap<BrokerName, BrokerQueues>>;

/// The queues of a topic on one broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerQueues {
    /// How many can be read: those numbered from 0 up to one less than this.
    pub read: u32,
    /// Whether the topic may be read there. If not, the queues do not count.
    pub readable: bool,
}

impl Layout {
    /// The most queues that a plan takes on.
    pub const MAX_QUEUES: u64 = 1_000_000;

    /// A group without topics.
    pub fn new(group: impl Into<Group>, members: impl IntoIterator<Item = ClientId>) -> Self {
        Self { group: group.into(), topics: Topics::new(), members: SortedMembers::new(members) }
    }

    /// With so many readable queues of a topic on a broker, in place of those that it had there.
    #[must_use]
    pub fn with_queues(mut self, topic: impl Into<Topic>, broker: impl Into<BrokerName>, read: u32) -> Self {
        let queues = BrokerQueues { read, readable: true };
        self.topics.entry(topic.into()).or_default().insert(broker.into(), queues);
        self
    }

    /// How many queues can be read.
    pub fn queues(&self) -> u64 {
        readable(&self.topics).map(|(_, _, read)| u64::from(read)).sum()
    }
}

fn readable(topics: &Topics) -> impl Iterator<Item = (&Topic, &BrokerName, u32)> {
    let brokers =
        topics.iter().flat_map(|(topic, on)| on.iter().map(move |(broker, of)| (topic, broker, of)));
    brokers
        .filter(|(_, _, of)| of.readable && of.read > 0)
        .map(|(topic, broker, of)| (topic, broker, of.read))
}

/// Each topic that has queues, with these.
pub(super) type TopicQueues = Vec<(Topic, Arc<SortedQueues>)>;

/// Writes the queues out, one by one.
pub(super) fn written_out(topics: &Topics) -> Result<TopicQueues, PlanError> {
    let count: u64 = readable(topics).map(|(_, _, read)| u64::from(read)).sum();
    if count > Layout::MAX_QUEUES {
        return Err(PlanError::TooManyQueues { count });
    }
    let mut by_topic: BTreeMap<&Topic, Vec<MessageQueue>> = BTreeMap::new();
    for (topic, broker, read) in readable(topics) {
        // No broker has more than fit: the sum is checked above.
        let ids = 0..i32::try_from(read).unwrap_or(i32::MAX);
        let queue = |id| MessageQueue { topic: topic.clone(), broker: broker.clone(), id };
        by_topic.entry(topic).or_default().extend(ids.map(queue));
    }
    let sorted = by_topic.into_iter().map(|(topic, all)| (topic.clone(), Arc::new(SortedQueues::new(all))));
    Ok(sorted.collect())
}
