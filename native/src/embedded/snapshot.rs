//! The machine's state as plain values, for tests, oracles and displays.

use super::state::State;
use evenkeel_core::model::{Address, BrokerName, ClientId, Group, MessageQueue};
use evenkeel_core::time::Instant;
use std::collections::BTreeMap;

/// Everything there is to see of a [`State`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The brokers, in the order of their indexes.
    pub brokers: Vec<BrokerSnapshot>,
    /// Open connections, those to the name server included.
    pub connections: usize,
}

/// One broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerSnapshot {
    /// Its name.
    pub name: BrokerName,
    /// The address that routes carry.
    pub address: Address,
    /// Whether it answers.
    pub up: bool,
    /// Its readable queues, system topics included.
    pub queues: BTreeMap<MessageQueue, QueueSnapshot>,
    /// Committed offsets.
    pub offsets: BTreeMap<(Group, MessageQueue), i64>,
    /// Client ids of the members of each consumer group, one for each connection.
    pub members: BTreeMap<Group, Vec<ClientId>>,
    /// Owners of the valid locks.
    pub locks: BTreeMap<(Group, MessageQueue), ClientId>,
    /// Pulls and pops that wait for messages.
    pub held: usize,
    /// Messages that are popped and not settled.
    pub popped: usize,
    /// Messages that wait for their delay.
    pub delayed: usize,
    /// Bytes that stored messages take.
    pub log_bytes: usize,
}

/// One queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueSnapshot {
    /// First offset that is still there.
    pub min: i64,
    /// One past the last offset.
    pub max: i64,
}

impl Snapshot {
    /// One past the last offset of a queue; 0 if there is no such queue.
    pub fn max_offset(&self, queue: &MessageQueue) -> i64 {
        self.broker_of(queue).and_then(|broker| broker.queues.get(queue)).map_or(0, |queue| queue.max)
    }

    /// What a group has committed for a queue.
    pub fn committed(&self, group: &Group, queue: &MessageQueue) -> Option<i64> {
        self.broker_of(queue)?.offsets.get(&(group.clone(), queue.clone())).copied()
    }

    fn broker_of(&self, queue: &MessageQueue) -> Option<&BrokerSnapshot> {
        self.brokers.iter().find(|broker| broker.name == queue.broker)
    }
}

impl State {
    /// The state at `now`.
    pub fn snapshot(&self, now: Instant) -> Snapshot {
        let brokers = self.brokers.iter().map(|broker| {
            let queue = |topic, id| MessageQueue::new(topic, broker.name.clone(), id);
            let queues = broker.topics.iter().flat_map(|(topic, config)| {
                (0..config.read_queues).map(move |id| {
                    let (min, max) = (broker.log.min(topic, id), broker.log.max(topic, id));
                    (queue(topic.clone(), id), QueueSnapshot { min, max })
                })
            });
            let offsets = broker.offsets.iter();
            let members = broker.groups.iter().map(|(group, entry)| {
                (group.clone(), entry.members.values().map(|member| member.client.clone()).collect())
            });
            let locks = broker.locks.valid(now, self.config.lock_life);
            BrokerSnapshot {
                name: broker.name.clone(),
                address: broker.address.clone(),
                up: broker.up,
                queues: queues.collect(),
                offsets: offsets
                    .map(|(group, topic, id, offset)| ((group.clone(), queue(topic.clone(), id)), offset))
                    .collect(),
                members: members.collect(),
                locks: locks
                    .map(|(group, queue, owner)| ((group.clone(), queue.clone()), owner.clone()))
                    .collect(),
                held: broker.held.len() + broker.held_pops.len(),
                popped: broker.popped.len(),
                delayed: broker.delay.len(),
                log_bytes: broker.log.bytes(),
            }
        });
        Snapshot { brokers: brokers.collect(), connections: self.conns.len() }
    }
}
