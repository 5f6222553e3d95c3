//! Who gets what, as JSON.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::error::{empty_consumers, empty_queues};
use super::running::Running;
use super::work::Work;
use super::{Error, ErrorCode, Move, Snapshot, Strategy, check};
use crate::allocate::{Allocate, AllocateError, Input, SortedMembers, SortedQueues};
use crate::model::{ClientId, Group, MessageQueue, Topic};
use crate::order;
use crate::plan::{self, Figures, Plan};

/// Who gets what of all topics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Allocation {
    /// The strategy's name.
    pub strategy: String,
    /// The queues of each consumer, sorted by topic, broker and number. Ids are in the order that all consumers sort
    /// by; one that several processes have stands once, with what each of them takes.
    pub by_consumer: BTreeMap<ClientId, Vec<MessageQueue>>,
    /// How even it is.
    pub stats: Stats,
}

/// How even an allocation is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// How many queues there are.
    pub queues: usize,
    /// How many processes.
    pub consumers: usize,
    /// The fewest queues that a consumer has.
    pub min: usize,
    /// The most.
    pub max: usize,
    /// The difference of the two.
    pub skew: usize,
    /// The consumers that have nothing.
    pub idle: Vec<ClientId>,
    /// The queues that nobody has.
    pub orphaned: Vec<MessageQueue>,
    /// The queues that several have.
    pub doubled: Vec<MessageQueue>,
}

/// Shares all topics of a group, by a strategy or, without one, by that which the group runs.
///
/// # Errors
///
/// If the snapshot is not sound, has no queues or no consumers, the strategy does not work with its names, or there is
/// too much to share.
pub fn allocate(snapshot: &Snapshot, strategy: Option<&Strategy>) -> Result<Allocation, Error> {
    let group = plan::Snapshot::try_from(snapshot)?;
    let strategy = strategy.cloned().unwrap_or_else(|| Running::of(snapshot, &group, &[]).strategy);
    let layout = group.layout();
    if layout.queues() == 0 {
        return Err(empty_queues());
    }
    if layout.members.is_empty() {
        return Err(empty_consumers());
    }
    Work::once(layout.queues(), layout.members.len()).fits(&strategy)?;
    let plan = Plan::new(&*strategy.build()?, &layout)?;
    Ok(Allocation {
        strategy: strategy.name().into(),
        by_consumer: shares(&plan),
        stats: plan.figures().into(),
    })
}

fn shares(plan: &Plan) -> BTreeMap<ClientId, Vec<MessageQueue>> {
    let mut shares: BTreeMap<ClientId, Vec<MessageQueue>> =
        order::map(plan.members().iter().map(|id| (id.clone(), Vec::new())));
    for topic in plan.topics() {
        let by_place = topic.owners.shares(plan.members().len());
        let mut last = None;
        for (id, share) in plan.members().iter().zip(by_place) {
            // Whoever has an id takes the same.
            if last == Some(id) {
                continue;
            }
            last = Some(id);
            if let Some(queues) = shares.get_mut(id) {
                queues.extend(share.into_iter().filter_map(|at| topic.queues.get(at).cloned()));
            }
        }
    }
    shares
}

/// What one consumer takes, by the contract that every client follows: it is asked for one topic at a time, and nothing
/// but the lists counts. Who is not in the list gets nothing. Queues come in the order in which the rule gives them.
///
/// `group` matters to AVG_BY_DRAFT only.
///
/// # Errors
///
/// If a list is empty, a name is empty or too long, or the strategy does not work with these names.
pub fn allocate_for(
    consumer: &ClientId,
    queues: &[MessageQueue],
    consumers: &[ClientId],
    strategy: &Strategy,
    group: Option<&Group>,
) -> Result<Vec<MessageQueue>, Error> {
    const BAD: ErrorCode = ErrorCode::BadSnapshot;
    check::name(ErrorCode::UnknownConsumer, consumer.as_str(), || "consumer".into())?;
    if queues.is_empty() {
        return Err(Error::from(AllocateError::NoQueues).at("queues"));
    }
    if consumers.is_empty() {
        return Err(Error::from(AllocateError::NoMembers).at("consumers"));
    }
    let mut topics: BTreeMap<&Topic, Vec<MessageQueue>> = BTreeMap::new();
    for (at, queue) in queues.iter().enumerate() {
        check::queue(BAD, queue, || alloc::format!("queues[{at}]"))?;
        topics.entry(&queue.topic).or_default().push(queue.clone());
    }
    for (at, id) in consumers.iter().enumerate() {
        check::name(BAD, id.as_str(), || alloc::format!("consumers[{at}]"))?;
    }
    let members = SortedMembers::new(consumers.iter().cloned());
    Work::once(queues.len() as u64, members.len()).fits(strategy)?;
    let (rule, nameless) = (strategy.build()?, Group::from(""));
    let mut mine = Vec::new();
    for queues in topics.into_values() {
        let queues = SortedQueues::new(queues);
        let input = Input {
            group: group.unwrap_or(&nameless),
            me: consumer,
            queues: &queues,
            members: &members,
            nth: 0,
        };
        mine.extend(rule.allocate(&input)?);
    }
    Ok(mine)
}

/// What moves from one allocation to another, by queue. A queue that one of them does not have belongs to nobody there.
pub fn diff(before: &Allocation, after: &Allocation) -> Vec<Move> {
    let mut owners: BTreeMap<&MessageQueue, (Vec<ClientId>, Vec<ClientId>)> = BTreeMap::new();
    for (id, queues) in &before.by_consumer {
        queues.iter().for_each(|queue| owners.entry(queue).or_default().0.push(id.clone()));
    }
    for (id, queues) in &after.by_consumer {
        queues.iter().for_each(|queue| owners.entry(queue).or_default().1.push(id.clone()));
    }
    let moved = owners.into_iter().filter(|(_, (from, to))| from != to);
    moved.map(|(queue, (from, to))| Move::between(queue.clone(), from, to)).collect()
}

/// How many queues change hands for each place that the id of one new consumer may sort to, from the first to behind
/// the last. `None` if the strategy looks at more than places, or a client id stands twice.
///
/// # Errors
///
/// If the snapshot is not sound.
pub fn moved_by_place(snapshot: &Snapshot, strategy: Option<&Strategy>) -> Result<Option<Vec<usize>>, Error> {
    let group = plan::Snapshot::try_from(snapshot)?;
    let strategy = strategy.cloned().unwrap_or_else(|| Running::of(snapshot, &group, &[]).strategy);
    Ok(plan::moved_by_place(&*strategy.build()?, &group.layout())?)
}

impl From<Figures> for Stats {
    fn from(figures: Figures) -> Self {
        Self {
            queues: figures.queues,
            consumers: figures.loads.len(),
            min: figures.min,
            max: figures.max,
            skew: figures.skew,
            idle: figures.idle,
            orphaned: figures.orphaned,
            doubled: figures.doubled,
        }
    }
}
