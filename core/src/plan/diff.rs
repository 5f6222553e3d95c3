//! What changes between two plans, and how little would have to.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::{Plan, TopicPlan};
use crate::allocate::SortedMembers;
use crate::model::{ClientId, MessageQueue, Topic};

/// What changes between two plans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Queues that are there before and after, and whose owners are not the same.
    pub moves: Vec<Move>,
    /// How many queues are there before and after, with the same owners.
    pub kept: usize,
    /// Queues that are new.
    pub added: Vec<MessageQueue>,
    /// Queues that are gone.
    pub removed: Vec<MessageQueue>,
    /// The fewest moves that could have led from the plan before to any in which every topic is even.
    pub floor: usize,
    /// What each member has before and after, by id: all who are there before or after.
    pub members: Vec<Turnover>,
}

/// A queue that changes hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The queue.
    pub queue: MessageQueue,
    /// Who has it before: nobody, or one, or several if something is wrong.
    pub from: Vec<ClientId>,
    /// Who has it after.
    pub to: Vec<ClientId>,
}

/// What a member has before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turnover {
    /// Its client id.
    pub id: ClientId,
    /// How many queues it has before; `None` if it is not there.
    pub before: Option<usize>,
    /// How many it has after; `None` if it is not there.
    pub after: Option<usize>,
}

/// The figures of a [`Diff`] alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// As [`Diff::moves`].
    pub moved: usize,
    /// As [`Diff::kept`].
    pub kept: usize,
    /// As [`Diff::added`].
    pub added: usize,
    /// As [`Diff::removed`].
    pub removed: usize,
    /// As [`Diff::floor`].
    pub floor: usize,
}

impl Plan {
    /// What changes from this plan to another.
    pub fn diff(&self, after: &Self) -> Diff {
        let ids = Ids::new(self.members(), after.members());
        let mut diff = Diff {
            floor: self.floor(after, &ids),
            members: self.turnover_of(after, &ids),
            ..Diff::default()
        };
        self.walk(after, |queue, before, after| match (before, after) {
            (Some(_), None) => diff.removed.push(queue.clone()),
            (None, _) => diff.added.push(queue.clone()),
            (Some(before), Some(after)) if ids.same(before, after) => diff.kept += 1,
            (Some(before), Some(after)) => {
                let named = |at: At<'_>, numbers: &[usize]| {
                    ids.owners(at, numbers).into_iter().map(|id| ids.all[id].clone()).collect()
                };
                let (from, to) = (named(before, &ids.before), named(after, &ids.after));
                diff.moves.push(Move { queue: queue.clone(), from, to });
            }
        });
        diff
    }

    /// What each member has before and after, by id: all who are there before or after.
    pub fn turnover(&self, after: &Self) -> Vec<Turnover> {
        self.turnover_of(after, &Ids::new(self.members(), after.members()))
    }

    fn turnover_of(&self, after: &Self, ids: &Ids<'_>) -> Vec<Turnover> {
        let loads = |plan: &Self, numbers: &[usize]| {
            let mut loads = vec![None; ids.all.len()];
            for (&id, load) in numbers.iter().zip(plan.loads()) {
                *loads[id].get_or_insert(0) += load;
            }
            loads
        };
        let (before, after) = (loads(self, &ids.before), loads(after, &ids.after));
        let each = ids.all.iter().zip(before.into_iter().zip(after));
        each.map(|(&id, (before, after))| Turnover { id: id.clone(), before, after }).collect()
    }

    /// How many queues of the topics that are asked for change hands.
    pub fn moved(&self, after: &Self, of: impl Fn(&Topic) -> bool) -> usize {
        let ids = Ids::new(self.members(), after.members());
        let mut moved = 0;
        self.walk(after, |queue, before, after| {
            if let (Some(before), Some(after)) = (before, after) {
                moved += usize::from(of(&queue.topic) && !ids.same(before, after));
            }
        });
        moved
    }

    /// The figures of [`Self::diff`] alone, in less time.
    pub fn counts(&self, after: &Self) -> Counts {
        let ids = Ids::new(self.members(), after.members());
        let mut counts = Counts { floor: self.floor(after, &ids), ..Counts::default() };
        self.walk(after, |_, before, after| match (before, after) {
            (Some(_), None) => counts.removed += 1,
            (None, _) => counts.added += 1,
            (Some(before), Some(after)) => {
                if ids.same(before, after) {
                    counts.kept += 1;
                } else {
                    counts.moved += 1;
                }
            }
        });
        counts
    }

    /// Goes through the queues of both plans in order, and says where each is.
    fn walk<'a>(
        &'a self,
        after: &'a Self,
        mut see: impl FnMut(&'a MessageQueue, Option<At<'a>>, Option<At<'a>>),
    ) {
        for (before, after) in merged(self.topics(), after.topics(), |a, b| a.topic.cmp(&b.topic)) {
            walk_topic(before, after, &mut see);
        }
    }

    /// Each surviving queue that has one owner could stay, if its owner survives and keeps no more than an even share;
    /// all other surviving queues have to move.
    fn floor(&self, after: &Self, ids: &Ids<'_>) -> usize {
        let mut is_heir = vec![false; ids.all.len()];
        for &id in ids.after.iter().filter(|&&id| !ids.all[id].as_str().is_empty()) {
            is_heir[id] = true;
        }
        let heirs = is_heir.iter().filter(|&&heir| heir).count();
        let topics = merged(self.topics(), after.topics(), |a, b| a.topic.cmp(&b.topic));
        topics.map(|(before, after)| floor_of_topic(before, after, ids, &is_heir, heirs)).sum()
    }
}

fn floor_of_topic(
    before: Option<&TopicPlan>,
    after: Option<&TopicPlan>,
    ids: &Ids<'_>,
    is_heir: &[bool],
    heirs: usize,
) -> usize {
    let mut loads = vec![0_usize; ids.all.len()];
    let (mut queues, mut surviving) = (0_usize, 0);
    walk_topic(before, after, &mut |_, before, after| {
        queues += usize::from(after.is_some());
        if let (Some(before), Some(_)) = (before, after) {
            surviving += 1;
            let owner = before.topic.owners.sole(before.queue).and_then(|place| ids.before.get(place));
            if let Some(&owner) = owner.filter(|&&owner| is_heir[owner]) {
                loads[owner] += 1;
            }
        }
    });
    let (Some(least), Some(more)) = (queues.checked_div(heirs), queues.checked_rem(heirs)) else {
        return surviving;
    };
    let stay: usize = loads.iter().map(|&load| load.min(least)).sum();
    let stay_as_extras = loads.iter().filter(|&&load| load > least).count().min(more);
    surviving - stay - stay_as_extras
}

fn walk_topic<'a>(
    before: Option<&'a TopicPlan>,
    after: Option<&'a TopicPlan>,
    see: &mut impl FnMut(&'a MessageQueue, Option<At<'a>>, Option<At<'a>>),
) {
    match (before, after) {
        (Some(before), Some(after)) if Arc::ptr_eq(&before.queues, &after.queues) => {
            for (queue, name) in before.queues.iter().enumerate() {
                see(name, Some(At { topic: before, queue }), Some(At { topic: after, queue }));
            }
        }
        _ => {
            let (old, new) = (numbered(before), numbered(after));
            for (was, is) in merged(&old, &new, |a, b| a.1.cmp(b.1)) {
                let at = |topic: Option<&'a TopicPlan>, entry: Option<&(usize, &MessageQueue)>| {
                    Some(At { topic: topic?, queue: entry?.0 })
                };
                if let Some(&(_, name)) = was.or(is) {
                    see(name, at(before, was), at(after, is));
                }
            }
        }
    }
}

fn numbered(plan: Option<&TopicPlan>) -> Vec<(usize, &MessageQueue)> {
    plan.into_iter().flat_map(|plan| plan.queues.iter().enumerate()).collect()
}

/// A queue of a plan.
#[derive(Clone, Copy)]
struct At<'a> {
    topic: &'a TopicPlan,
    queue: usize,
}

/// All client ids of two plans, so that owners compare as numbers.
struct Ids<'a> {
    all: Vec<&'a ClientId>,
    /// The number of each place before.
    before: Vec<usize>,
    /// The number of each place after.
    after: Vec<usize>,
}

impl<'a> Ids<'a> {
    fn new(before: &'a SortedMembers, after: &'a SortedMembers) -> Self {
        let mut all: Vec<&ClientId> =
            merged(before, after, Ord::cmp).filter_map(|(old, new)| old.or(new)).collect();
        all.dedup();
        let numbers = |members: &SortedMembers| {
            let mut number = 0;
            let next = |id: &ClientId| {
                while all.get(number).is_some_and(|&known| known < id) {
                    number += 1;
                }
                number
            };
            members.iter().map(next).collect()
        };
        let (before, after) = (numbers(before), numbers(after));
        Self { all, before, after }
    }

    /// The owners of a queue, ascending; one twice if two processes have its id.
    fn owners(&self, at: At<'_>, numbers: &[usize]) -> Vec<usize> {
        at.topic.owners.of(at.queue).filter_map(|place| numbers.get(place).copied()).collect()
    }

    fn same(&self, before: At<'_>, after: At<'_>) -> bool {
        match (before.topic.owners.sole(before.queue), after.topic.owners.sole(after.queue)) {
            (Some(was), Some(is)) => self.before.get(was) == self.after.get(is),
            _ => self.owners(before, &self.before) == self.owners(after, &self.after),
        }
    }
}

/// Pairs the equal entries of two sorted lists.
fn merged<'a, T>(
    mut a: &'a [T],
    mut b: &'a [T],
    order: impl Fn(&T, &T) -> Ordering,
) -> impl Iterator<Item = (Option<&'a T>, Option<&'a T>)> {
    core::iter::from_fn(move || {
        let which = match (a.first(), b.first()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(x), Some(y)) => order(x, y),
        };
        let one = if which.is_le() { a.split_off_first() } else { None };
        let other = if which.is_ge() { b.split_off_first() } else { None };
        Some((one, other))
    })
}
