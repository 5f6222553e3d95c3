//! Ranges over every place that unknown ids may sort to, for strategies that look at nothing but places.

use alloc::vec;
use alloc::vec::Vec;

use super::PlanError;
use super::layout::{Layout, written_out};
use crate::allocate::{Allocate, Seat};

/// How many queues change hands for each place that the id of one new member may sort to, from the first to behind the
/// last. `None` if the strategy looks at more than places, or client ids repeat.
///
/// ```
/// use evenkeel_core::allocate::Average;
/// use evenkeel_core::model::ClientId;
/// use evenkeel_core::plan::{Layout, moved_by_place};
///
/// let layout = Layout::new("g", (1..=8).map(|n| ClientId::from(format!("c{n}")))).with_queues("T", "b", 64);
/// assert_eq!(moved_by_place(&Average, &layout)?, Some(vec![36, 28, 22, 18, 16, 16, 18, 22, 28]));
/// # Ok::<(), evenkeel_core::plan::PlanError>(())
/// ```
///
/// # Errors
///
/// If there is too much to plan.
pub fn moved_by_place(strategy: &dyn Allocate, layout: &Layout) -> Result<Option<Vec<usize>>, PlanError> {
    let seats = Seats::new(strategy, layout)?;
    Ok(seats.and_then(|seats| seats.moved_by_place()))
}

/// A group as its places and its topics' numbers of queues.
pub(super) struct Seats<'a> {
    strategy: &'a dyn Allocate,
    members: usize,
    /// Numbers of queues, and how many topics have so many.
    topics: Vec<(usize, usize)>,
}

impl<'a> Seats<'a> {
    pub(super) fn new(strategy: &'a dyn Allocate, layout: &Layout) -> Result<Option<Self>, PlanError> {
        let members = &layout.members;
        let strange =
            members.first().is_some_and(|id| id.as_str().is_empty()) || members.repeated().next().is_some();
        let only = Seat { place: 0, of: 1 };
        if strange || strategy.kept_by_seat(1, only, only).is_none() {
            return Ok(None);
        }
        let mut sizes: Vec<usize> =
            written_out(&layout.topics)?.iter().map(|(_, queues)| queues.len()).collect();
        sizes.sort_unstable();
        let topics = sizes.chunk_by(|a, b| a == b).filter_map(|run| Some((*run.first()?, run.len())));
        Ok(Some(Self { strategy, members: members.len(), topics: topics.collect() }))
    }

    pub(super) fn moved_by_place(&self) -> Option<Vec<usize>> {
        (0..=self.members)
            .map(|new| {
                let kept =
                    (0..self.members).map(|place| self.kept(place, place + usize::from(place >= new), 1));
                Some(self.queues() - kept.sum::<Option<usize>>()?)
            })
            .collect()
    }

    /// The least and the most that can move when so many members join.
    pub(super) fn join(&self, count: usize) -> Option<(usize, usize)> {
        self.is_soon_done(count)?;
        // Of the members so far, the one at `place` has `ahead` newcomers before it: never fewer than the one before.
        let mut kept = vec![(0, 0); count + 1];
        for place in 0..self.members {
            let mut best: Option<(usize, usize)> = None;
            for (ahead, so_far) in kept.iter_mut().enumerate() {
                let here = self.kept(place, place + ahead, count as isize)?;
                let (least, most) =
                    best.map_or(*so_far, |(least, most)| (least.min(so_far.0), most.max(so_far.1)));
                best = Some((least, most));
                *so_far = (least + here, most + here);
            }
        }
        self.moved(kept)
    }

    /// The least and the most that can move when so many members leave.
    pub(super) fn leave(&self, count: usize) -> Option<(usize, usize)> {
        self.is_soon_done(count)?;
        // kept[gone]: of the members so far, so many leave.
        let mut kept: Vec<Option<(usize, usize)>> = vec![None; count + 1];
        kept[0] = Some((0, 0));
        for place in 0..self.members {
            for gone in (0..=count.min(place + 1)).rev() {
                let stays = match (kept[gone], place.checked_sub(gone)) {
                    (Some((least, most)), Some(then)) => {
                        let here = self.kept(place, then, -(count as isize))?;
                        Some((least + here, most + here))
                    }
                    _ => None,
                };
                let leaves = gone.checked_sub(1).and_then(|before| kept[before]);
                kept[gone] = match (stays, leaves) {
                    (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
                    (one, other) => one.or(other),
                };
            }
        }
        self.moved([kept[count]?])
    }

    /// Above a few million pairs of members and newcomers, trials have to do.
    fn is_soon_done(&self, count: usize) -> Option<()> {
        (self.members.saturating_mul(count).saturating_mul(self.topics.len()) <= 4_000_000).then_some(())
    }

    fn moved(&self, kept: impl IntoIterator<Item = (usize, usize)>) -> Option<(usize, usize)> {
        let queues = self.queues();
        let moved = kept.into_iter().map(|(least, most)| (queues - most, queues - least));
        moved.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// What a member keeps over all topics, if the group grows by so many.
    fn kept(&self, before: usize, after: usize, growth: isize) -> Option<usize> {
        let before = Seat { place: before, of: self.members };
        let after = Seat { place: after, of: self.members.checked_add_signed(growth)? };
        let topic = |&(queues, topics): &(usize, usize)| {
            Some(self.strategy.kept_by_seat(queues, before, after)? * topics)
        };
        self.topics.iter().map(topic).sum()
    }

    fn queues(&self) -> usize {
        self.topics.iter().map(|(queues, topics)| queues * topics).sum()
    }
}
