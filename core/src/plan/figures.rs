//! How even a plan is.

use alloc::vec;
use alloc::vec::Vec;

use super::{Plan, TopicPlan};
use crate::allocate::SortedMembers;
use crate::model::{ClientId, MessageQueue};

/// How even a plan is, for one topic or for all of them together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// How many queues there are.
    pub queues: usize,
    /// How many queues each member has, in the order of the sorted members.
    pub loads: Vec<usize>,
    /// The least that a member has; 0 without members.
    pub min: usize,
    /// The most that a member has.
    pub max: usize,
    /// The difference of the two.
    pub skew: usize,
    /// The members that have nothing.
    pub idle: Vec<ClientId>,
    /// The queues that nobody has.
    pub orphaned: Vec<MessageQueue>,
    /// The queues that several have.
    pub doubled: Vec<MessageQueue>,
}

impl Plan {
    /// The figures of all topics together.
    pub fn figures(&self) -> Figures {
        Figures::of(self.topics(), self.members())
    }

    /// The figures of one of the plan's topics.
    pub fn figures_of(&self, topic: &TopicPlan) -> Figures {
        Figures::of(core::slice::from_ref(topic), self.members())
    }

    /// How many queues each member has, in the order of the sorted members.
    pub(super) fn loads(&self) -> Vec<usize> {
        loads(self.topics(), self.members())
    }
}

fn loads(topics: &[TopicPlan], members: &SortedMembers) -> Vec<usize> {
    let mut loads = vec![0; members.len()];
    for topic in topics {
        for (sum, load) in loads.iter_mut().zip(topic.owners.loads(members.len())) {
            *sum += load;
        }
    }
    loads
}

impl Figures {
    fn of(topics: &[TopicPlan], members: &SortedMembers) -> Self {
        let loads = loads(topics, members);
        let (mut orphaned, mut doubled, mut queues) = (Vec::new(), Vec::new(), 0);
        for topic in topics {
            queues += topic.queues.len();
            let named = |at: usize| topic.queues.get(at).cloned();
            orphaned.extend(topic.owners.orphaned().filter_map(named));
            doubled.extend(topic.owners.doubled().filter_map(named));
        }
        let (min, max) = (loads.iter().copied().min().unwrap_or(0), loads.iter().copied().max().unwrap_or(0));
        let idle = members.iter().zip(&loads).filter(|&(_, &load)| load == 0).map(|(id, _)| id.clone());
        Self { queues, min, max, skew: max - min, idle: idle.collect(), orphaned, doubled, loads }
    }
}
