//! A strategy for a whole group at once.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::layout::{TopicQueues, written_out};
use super::{Layout, PlanError};
use crate::allocate::{Allocate, Owners, SortedMembers, SortedQueues};
use crate::model::{ClientId, Group, MessageQueue, Topic};
use crate::order;

/// Who owns which queue of all topics of a group.
///
/// ```
/// use evenkeel_core::allocate::Average;
/// use evenkeel_core::model::ClientId;
/// use evenkeel_core::plan::{Layout, Plan};
///
/// // Twenty topics of four queues, and six members: AVG leaves two of them without anything.
/// let mut layout = Layout::new("g", (1..=6).map(|n| ClientId::from(format!("c{n}"))));
/// for topic in 0..20 {
///     layout = layout.with_queues(format!("T{topic}"), "broker-a", 4);
/// }
/// let figures = Plan::new(&Average, &layout)?.figures();
/// assert_eq!(figures.loads, [20, 20, 20, 20, 0, 0]);
/// assert_eq!(figures.idle, ["c5", "c6"].map(ClientId::from));
/// # Ok::<(), evenkeel_core::plan::PlanError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    members: Arc<SortedMembers>,
    topics: Vec<TopicPlan>,
}

/// Who owns which queue of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicPlan {
    /// The topic.
    pub topic: Topic,
    /// Its queues.
    pub queues: Arc<SortedQueues>,
    /// The owner of each, by place among the members.
    pub owners: Owners,
}

/// A member that may differ from the others in what it does.
#[derive(Clone, Debug)]
pub struct Party {
    /// Its client id.
    pub id: ClientId,
    /// The strategy that it runs.
    pub strategy: Arc<dyn Allocate>,
    /// The topics that it has subscribed to; `None` for all.
    pub topics: Option<BTreeSet<Topic>>,
}

impl Plan {
    /// What comes out if every member runs the strategy and has subscribed to every topic.
    ///
    /// # Errors
    ///
    /// If the strategy does not work with these names, or there is too much to plan.
    pub fn new(strategy: &dyn Allocate, layout: &Layout) -> Result<Self, PlanError> {
        let members = Arc::new(layout.members.clone());
        Self::of(strategy, &layout.group, &written_out(&layout.topics)?, members)
    }

    /// What comes out if members differ. All of them count all members, as the broker's list has them, and take for
    /// themselves what their own strategy gives them, if they have subscribed to the topic. The layout's members do not
    /// count.
    ///
    /// # Errors
    ///
    /// As for [`Self::new`].
    pub fn of_parties(layout: &Layout, mut parties: Vec<Party>) -> Result<Self, PlanError> {
        order::sort_by(&mut parties, |a, b| a.id.cmp(&b.id));
        let members = Arc::new(SortedMembers::new(parties.iter().map(|party| party.id.clone())));
        let mut strategies: Vec<&Arc<dyn Allocate>> = Vec::new();
        for party in &parties {
            if !strategies.iter().any(|known| Arc::ptr_eq(known, &party.strategy)) {
                strategies.push(&party.strategy);
            }
        }
        let mut topics = Vec::new();
        for (topic, queues) in written_out(&layout.topics)? {
            let mut owners = Owners::nobody(queues.len());
            for strategy in &strategies {
                let all = strategy.owners(&layout.group, &queues, &members)?;
                let takes = |party: &Party| {
                    Arc::ptr_eq(&party.strategy, strategy)
                        && party.topics.as_ref().is_none_or(|topics| topics.contains(&topic))
                };
                for (queue, place) in all.pairs().filter(|&(_, place)| parties.get(place).is_some_and(takes))
                {
                    owners.give(queue, place)?;
                }
            }
            topics.push(TopicPlan { topic, queues, owners });
        }
        Ok(Self { members, topics })
    }

    /// From what each member was seen to own. The layout's members do not count, and queues that the layout does not
    /// have are left out.
    ///
    /// # Errors
    ///
    /// If there is too much to plan.
    pub fn of_owned(
        layout: &Layout,
        mut shares: Vec<(ClientId, Vec<MessageQueue>)>,
    ) -> Result<Self, PlanError> {
        order::sort_by(&mut shares, |a, b| a.0.cmp(&b.0));
        let mut topics: Vec<TopicPlan> = written_out(&layout.topics)?
            .into_iter()
            .map(|(topic, queues)| TopicPlan { topic, owners: Owners::nobody(queues.len()), queues })
            .collect();
        for (place, (_, share)) in shares.iter().enumerate() {
            for queue in share {
                let topic = topics.binary_search_by(|plan| plan.topic.cmp(&queue.topic)).ok();
                let Some(plan) = topic.and_then(|at| topics.get_mut(at)) else { continue };
                if let Some(at) = plan.queues.position(queue) {
                    plan.owners.give(at, place)?;
                }
            }
        }
        Ok(Self { members: Arc::new(shares.into_iter().map(|(id, _)| id).collect()), topics })
    }

    pub(super) fn of(
        strategy: &dyn Allocate,
        group: &Group,
        topics: &TopicQueues,
        members: Arc<SortedMembers>,
    ) -> Result<Self, PlanError> {
        let plan = |(topic, queues): &(Topic, Arc<SortedQueues>)| {
            let owners = strategy.owners(group, queues, &members)?;
            Ok::<_, PlanError>(TopicPlan { topic: topic.clone(), queues: Arc::clone(queues), owners })
        };
        let topics = topics.iter().map(plan).collect::<Result<_, _>>()?;
        Ok(Self { members, topics })
    }

    /// The members, by place.
    pub fn members(&self) -> &SortedMembers {
        &self.members
    }

    /// The topics that have queues, by name.
    pub fn topics(&self) -> &[TopicPlan] {
        &self.topics
    }

    /// How many queues there are.
    pub fn queues(&self) -> usize {
        self.topics.iter().map(|topic| topic.queues.len()).sum()
    }

    /// The client ids that own a queue.
    pub fn owners_of(&self, queue: &MessageQueue) -> Vec<&ClientId> {
        let topic = self.topics.binary_search_by(|plan| plan.topic.cmp(&queue.topic)).ok();
        let owners = topic.and_then(|at| {
            let plan = self.topics.get(at)?;
            Some(plan.owners.of(plan.queues.position(queue)?))
        });
        owners.into_iter().flatten().filter_map(|place| self.members.get(place)).collect()
    }
}
