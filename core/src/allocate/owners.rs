//! Who owns each queue of a topic, for all members at once.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::{AllocateError, SortedMembers};

/// Who owns each queue of a topic, for all members at once. Members are named by their place in the sorted list and
/// queues by their position in theirs. A queue can have one owner, as it should, or none, or several: client ids that
/// occur twice, strategies that differ and lists written by hand all lead there.
///
/// ```
/// use evenkeel_core::allocate::{Allocate, Average, SortedMembers, SortedQueues};
/// use evenkeel_core::model::{ClientId, Group, MessageQueue};
///
/// let queues = SortedQueues::new((0..12).map(|id| MessageQueue::new("T", "b", id)));
/// let members = SortedMembers::new(["x", "x", "y"].map(ClientId::from));
/// let owners = Average.owners(&Group::from("g"), &queues, &members)?;
/// assert_eq!(owners.doubled().collect::<Vec<_>>(), [0, 1, 2, 3]);
/// assert_eq!(owners.orphaned().collect::<Vec<_>>(), [4, 5, 6, 7]);
/// assert_eq!(owners.of(0).collect::<Vec<_>>(), [0, 1]);
/// assert_eq!(owners.loads(members.len()), [4, 4, 4]);
/// # Ok::<(), evenkeel_core::allocate::AllocateError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owners {
    /// The lowest place that owns each queue, or [`NOBODY`].
    first: Vec<usize>,
    /// Further owners as (queue, place).
    others: BTreeSet<(usize, usize)>,
}

/// Stands for no owner; no list is that long.
const NOBODY: usize = usize::MAX;

impl Owners {
    /// So many queues, and nobody has any.
    pub fn nobody(queues: usize) -> Self {
        Self { first: vec![NOBODY; queues], others: BTreeSet::new() }
    }

    /// From a rule that gives each queue to one place, or to none, as if every place were a member of its own. What is
    /// given to the first place of a client id belongs to all who have that id, since all of them find themselves
    /// there; what is given to its further places, or to a member without an id, belongs to nobody.
    pub fn from_places(
        places: impl IntoIterator<Item = Option<usize>>,
        members: &SortedMembers,
    ) -> Result<Self, AllocateError> {
        let runs = Runs::new(members);
        let mut owners = Self { first: Vec::new(), others: BTreeSet::new() };
        for place in places {
            let queue = owners.first.len();
            owners.first.push(NOBODY);
            if let Some(place) = place {
                for place in runs.sharing(place) {
                    owners.give(queue, place)?;
                }
            }
        }
        Ok(owners)
    }

    /// From what each distinct client id answers when it is asked, as members do.
    pub(super) fn from_answers(
        queues: usize,
        members: &SortedMembers,
        mut ask: impl FnMut(usize) -> Result<Vec<usize>, AllocateError>,
    ) -> Result<Self, AllocateError> {
        let mut owners = Self::nobody(queues);
        let mut start = 0;
        for same in members.chunk_by(|a, b| a == b) {
            let run = start..start + same.len();
            start = run.end;
            if same.first().is_none_or(|id| id.as_str().is_empty()) {
                continue;
            }
            for queue in ask(run.start)? {
                for place in run.clone() {
                    owners.give(queue, place)?;
                }
            }
        }
        Ok(owners)
    }

    /// Makes the member at `place` an owner of `queue`, besides those that it has.
    ///
    /// # Errors
    ///
    /// [`AllocateError::NotAPosition`] if there is no such queue.
    pub fn give(&mut self, queue: usize, place: usize) -> Result<(), AllocateError> {
        let first = self.first.get_mut(queue).ok_or(AllocateError::NotAPosition { at: queue })?;
        let other = match *first {
            NOBODY => {
                *first = place;
                return Ok(());
            }
            known if known == place => return Ok(()),
            known => {
                *first = known.min(place);
                (queue, known.max(place))
            }
        };
        self.others.insert(other);
        Ok(())
    }

    /// How many queues there are.
    pub fn queues(&self) -> usize {
        self.first.len()
    }

    /// The places of the owners of a queue, ascending.
    pub fn of(&self, queue: usize) -> impl Iterator<Item = usize> {
        let first = self.first.get(queue).copied().filter(|&place| place != NOBODY);
        let others = self.others.range((queue, 0)..=(queue, usize::MAX));
        first.into_iter().chain(others.map(|entry| entry.1))
    }

    /// The owner of a queue that has exactly one.
    pub fn sole(&self, queue: usize) -> Option<usize> {
        let mut owners = self.of(queue);
        owners.next().filter(|_| owners.next().is_none())
    }

    /// The queues of a place, ascending.
    pub fn share(&self, place: usize) -> Vec<usize> {
        (0..self.queues()).filter(|&queue| self.of(queue).any(|owner| owner == place)).collect()
    }

    /// The queues of each place, ascending, for so many members.
    pub fn shares(&self, members: usize) -> Vec<Vec<usize>> {
        let mut shares = vec![Vec::new(); members];
        for (queue, place) in self.pairs() {
            if let Some(share) = shares.get_mut(place) {
                share.push(queue);
            }
        }
        if !self.others.is_empty() {
            shares.iter_mut().for_each(|share| share.sort_unstable());
        }
        shares
    }

    /// How many queues each place has, for so many members.
    pub fn loads(&self, members: usize) -> Vec<usize> {
        let mut loads = vec![0; members];
        for (_, place) in self.pairs() {
            if let Some(load) = loads.get_mut(place) {
                *load += 1;
            }
        }
        loads
    }

    /// Every (queue, place) there is, in no promised order.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let first = self.first.iter().copied().enumerate().filter(|&(_, place)| place != NOBODY);
        first.chain(self.others.iter().copied())
    }

    /// The queues that nobody owns, ascending.
    pub fn orphaned(&self) -> impl Iterator<Item = usize> {
        self.first.iter().enumerate().filter(|&(_, &place)| place == NOBODY).map(|(queue, _)| queue)
    }

    /// The queues that several own, ascending.
    pub fn doubled(&self) -> impl Iterator<Item = usize> {
        let mut last = None;
        self.others.iter().map(|&(queue, _)| queue).filter(move |&queue| last.replace(queue) != Some(queue))
    }
}

/// Which places share a client id.
struct Runs {
    /// The end of the run that begins at each place, and 0 inside a run. Empty if no id repeats or is missing.
    ends: Vec<usize>,
    members: usize,
}

impl Runs {
    fn new(members: &SortedMembers) -> Self {
        let nameless = members.first().is_some_and(|id| id.as_str().is_empty());
        if !nameless && members.repeated().next().is_none() {
            return Self { ends: Vec::new(), members: members.len() };
        }
        let mut ends = vec![0; members.len()];
        let mut start = 0;
        for same in members.chunk_by(|a, b| a == b) {
            let end = start + same.len();
            if same.first().is_some_and(|id| !id.as_str().is_empty()) {
                ends[start] = end;
            }
            start = end;
        }
        Self { ends, members: members.len() }
    }

    /// The places that take what the rule gives to `place`.
    fn sharing(&self, place: usize) -> core::ops::Range<usize> {
        if self.ends.is_empty() {
            return place..place + usize::from(place < self.members);
        }
        place..self.ends.get(place).copied().unwrap_or(0).max(place)
    }
}
