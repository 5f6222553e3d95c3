//! Random groups with names like those of real ones.

use std::collections::BTreeMap;

use evenkeel_core::allocate::{Allocate, SortedMembers, SortedQueues};
use evenkeel_core::model::{ClientId, Group, MessageQueue};
use evenkeel_core::rng::Rng;

#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) queues: usize,
    pub(crate) per_broker: usize,
    pub(crate) members: usize,
}

/// A group that changes. Members have numbers, so that owners compare without names.
#[derive(Clone)]
pub(crate) struct Crowd {
    pub(crate) group: Group,
    pub(crate) topic: String,
    pub(crate) queues: SortedQueues,
    pub(crate) members: BTreeMap<ClientId, usize>,
    next: usize,
}

impl Crowd {
    pub(crate) fn new(size: Size, rng: &mut Rng) -> Self {
        let topic = format!("topic-{:04x}", rng.below(1 << 16));
        let group = Group::from(format!("group-{:04x}", rng.below(1 << 16)));
        let queues = (0..size.queues).map(|i| queue(&topic, i / size.per_broker, i % size.per_broker));
        let mut crowd =
            Self { group, queues: queues.collect(), topic: topic.clone(), members: BTreeMap::new(), next: 0 };
        for _ in 0..size.members {
            crowd.join(rng);
        }
        crowd
    }

    /// A member with a new id.
    pub(crate) fn join(&mut self, rng: &mut Rng) {
        let (host, pid, nanos) = (rng.below(250 * 250), 1 + rng.below(30_000), rng.next_u64() >> 14);
        let id = format!("10.42.{}.{}@{pid}#{nanos}", host / 250, host % 250);
        self.members.insert(ClientId::from(id), self.next);
        self.next += 1;
    }

    /// A random member leaves; its number is returned.
    pub(crate) fn leave(&mut self, rng: &mut Rng) -> usize {
        let at = rng.below(self.members.len() as u64) as usize;
        let id = self.members.keys().nth(at).expect("there is a member").clone();
        self.members.remove(&id).expect("it is there")
    }

    /// A broker more, or a broker less.
    pub(crate) fn with_broker(&self, number: usize, per_broker: usize, there: bool) -> Self {
        let new = (0..per_broker).map(|id| queue(&self.topic, number, id));
        let broker = queue(&self.topic, number, 0).broker;
        let old = self.queues.iter().filter(|queue| queue.broker != broker).cloned();
        let queues = if there { old.chain(new).collect() } else { old.collect() };
        Self { queues, ..self.clone() }
    }

    /// The number of the owner of each queue.
    pub(crate) fn owners(&self, strategy: &dyn Allocate) -> Vec<usize> {
        let members = SortedMembers::new(self.members.keys().cloned());
        let numbers: Vec<usize> = self.members.values().copied().collect();
        let owners =
            strategy.owners(&self.group, &self.queues, &members).expect("there is something to share");
        (0..owners.queues()).map(|at| numbers[owners.sole(at).expect("each queue has one owner")]).collect()
    }
}

fn queue(topic: &str, broker: usize, id: usize) -> MessageQueue {
    MessageQueue::new(topic, format!("rmq-broker-{broker:03}"), id as i32)
}

/// How many queues each member has.
pub(crate) fn loads(owners: &[usize], members: &BTreeMap<ClientId, usize>) -> Vec<usize> {
    let mut loads: BTreeMap<usize, usize> = members.values().map(|&number| (number, 0)).collect();
    for owner in owners {
        *loads.entry(*owner).or_default() += 1;
    }
    loads.into_values().collect()
}
