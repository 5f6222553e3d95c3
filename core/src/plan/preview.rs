//! What changes would do to a group, before anybody makes them.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::change::State;
use super::diff::Counts;
use super::seats::Seats;
use super::{Change, Diff, Figures, Layout, Plan, PlanError};
use crate::allocate::Allocate;
use crate::rng::Rng;

/// What changes, made one after the other, do to a group under a strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The strategy's name, before the changes.
    pub strategy: String,
    /// How many queues have another owner at the end than at the beginning, of those that are there at both.
    pub moved: Range,
    /// How many queues have the same owner at the end as at the beginning.
    pub kept: Range,
    /// How many times queues change hands on the way, summed over the steps.
    pub handed_over: Range,
    /// How many queues are new.
    pub added: usize,
    /// How many queues are gone.
    pub removed: usize,
    /// The fewest moves that could have led to any result in which every topic is even.
    pub floor: usize,
    /// The difference between the most and the fewest queues that a member has at the end.
    pub skew: Range,
    /// The figures before.
    pub before: Figures,
    /// The figures after; of the typical trial, if ids are not known.
    pub after: Figures,
    /// The steps on the way; of the typical trial, if ids are not known.
    pub steps: Vec<Step>,
    /// The plans at the beginning and at the end. `None` if ids are not known.
    pub plans: Option<(Plan, Plan)>,
}

impl Preview {
    /// Everything that moves. `None` if ids are not known.
    pub fn diff(&self) -> Option<Diff> {
        self.plans.as_ref().map(|(before, after)| before.diff(after))
    }
}

/// A number that may depend on what is not known yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The least: over everything possible if the range is exact, else over the middle 95 of 100 trials.
    pub min: usize,
    /// The median.
    pub typical: usize,
    /// The most, as for `min`.
    pub max: usize,
    /// Whether `min` and `max` hold for everything possible.
    pub exact: bool,
    /// How many trials it comes from; 0 if none were needed.
    pub samples: usize,
}

/// A step on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What happens.
    pub label: String,
    /// How many queues change hands in it.
    pub moved: usize,
    /// How many have changed hands since the beginning.
    pub total: usize,
}

/// How to try out what is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trials {
    /// How many; `None` for as many as take little time, from 8 up to 2,000.
    pub samples: Option<usize>,
    /// What their random choices follow from: equal seeds give equal answers.
    pub seed: u64,
}

/// What changes do to a group under a strategy. If ids are not known, they are drawn at random, many times over; for
/// strategies that look at nothing but places, and a single change, the range is exact.
///
/// ```
/// use std::sync::Arc;
/// use evenkeel_core::allocate::Average;
/// use evenkeel_core::model::ClientId;
/// use evenkeel_core::plan::{Change, Layout, Trials, preview};
///
/// let layout = Layout::new("pay-worker", ["c1", "c2", "c3"].map(ClientId::from))
///     .with_queues("orders", "broker-a", 8)
///     .with_queues("orders", "broker-b", 8);
/// let preview = preview(&layout, Arc::new(Average), &[Change::JoinUnknown(1)], Trials::default())?;
/// assert_eq!((preview.moved.min, preview.moved.max, preview.moved.exact), (5, 9, true));
/// assert_eq!(preview.floor, 4);
/// assert_eq!(preview.after.loads, [4, 4, 4, 4]);
/// # Ok::<(), evenkeel_core::plan::PlanError>(())
/// ```
///
/// # Errors
///
/// If a change does not fit the group, the strategy does not work with its names, or there is too much to plan.
pub fn preview(
    layout: &Layout,
    strategy: Arc<dyn Allocate>,
    changes: &[Change],
    trials: Trials,
) -> Result<Preview, PlanError> {
    let start = State::new(layout, Arc::clone(&strategy))?;
    let before = start.plan()?;
    let known = changes.iter().all(Change::is_known);
    let mut rng = Rng::new(trials.seed);
    let count = if known { 1 } else { trials.samples.unwrap_or_else(|| affordable(&before)).max(1) };
    let mut tried = Vec::with_capacity(count);
    for _ in 0..count {
        tried.push(Trial::run(&start, &before, changes, &mut rng)?);
    }
    let exact = exact_range(layout, &*strategy, changes)?;
    let samples = if known { 0 } else { count };
    let range = |of: fn(&Trial) -> usize| Range::over(tried.iter().map(of).collect(), samples);
    let (mut moved, mut handed_over) = (range(|trial| trial.counts.moved), range(|trial| trial.handed_over));
    if let Some(exact) = exact {
        moved = exact.around(moved);
        handed_over = moved;
    }
    let typical = tried.iter().min_by_key(|trial| trial.handed_over.abs_diff(handed_over.typical));
    let Some(typical) = typical else {
        return Err(PlanError::TooFewMembers { leaving: 0, members: layout.members.len() });
    };
    let surviving = typical.counts.moved + typical.counts.kept;
    Ok(Preview {
        strategy: strategy.name().into_owned(),
        kept: Range {
            min: surviving.saturating_sub(moved.max),
            typical: surviving.saturating_sub(moved.typical),
            max: surviving.saturating_sub(moved.min),
            ..moved
        },
        moved,
        handed_over,
        added: typical.counts.added,
        removed: typical.counts.removed,
        floor: tried.iter().map(|trial| trial.counts.floor).min().unwrap_or(0),
        skew: range(|trial| trial.skew),
        before: before.figures(),
        after: typical.after.figures(),
        steps: typical.steps.clone(),
        plans: known.then(|| (before, typical.after.clone())),
    })
}

/// One way that the changes may go.
struct Trial {
    counts: Counts,
    handed_over: usize,
    skew: usize,
    steps: Vec<Step>,
    after: Plan,
}

impl Trial {
    fn run(start: &State, before: &Plan, changes: &[Change], rng: &mut Rng) -> Result<Self, PlanError> {
        let mut state = start.clone();
        let (mut last, mut steps, mut total) = (before.clone(), Vec::new(), 0);
        // Of the first step, which is often the only one, everything is counted.
        let mut first = Counts::default();
        for change in changes {
            state.go_through(change, rng, |label, state| {
                let next = state.plan()?;
                let moved = if steps.is_empty() {
                    first = before.counts(&next);
                    first.moved
                } else {
                    last.moved(&next, |_| true)
                };
                total += moved;
                steps.push(Step { label, moved, total });
                last = next;
                Ok(())
            })?;
        }
        let counts = if steps.len() == 1 { first } else { before.counts(&last) };
        Ok(Self { counts, handed_over: total, skew: last.figures().skew, steps, after: last })
    }
}

impl Range {
    /// The range of a list that is not empty.
    fn over(mut values: Vec<usize>, samples: usize) -> Self {
        values.sort_unstable();
        let at = |per_mille: usize| values.get((values.len().saturating_sub(1)) * per_mille / 1000);
        let at = |per_mille| at(per_mille).copied().unwrap_or(0);
        Self { min: at(25), typical: at(500), max: at(975), exact: samples == 0, samples }
    }
}

/// The least and the most over everything possible, and the median if that is known too.
struct Exact {
    min: usize,
    max: usize,
    typical: Option<usize>,
}

impl Exact {
    fn around(self, tried: Range) -> Range {
        let samples = if self.typical.is_some() { 0 } else { tried.samples };
        let typical = self.typical.unwrap_or(tried.typical);
        Range { min: self.min, typical, max: self.max, exact: true, samples }
    }
}

fn exact_range(
    layout: &Layout,
    strategy: &dyn Allocate,
    changes: &[Change],
) -> Result<Option<Exact>, PlanError> {
    let [change @ (Change::JoinUnknown(_) | Change::LeaveUnknown(_))] = changes else {
        return Ok(None);
    };
    let Some(seats) = Seats::new(strategy, layout)? else {
        return Ok(None);
    };
    let range = match *change {
        Change::JoinUnknown(1) => {
            let by_place = seats.moved_by_place();
            return Ok(by_place.and_then(|mut moved| {
                moved.sort_unstable();
                let typical = moved.get((moved.len() - 1) / 2).copied();
                Some(Exact { min: *moved.first()?, max: *moved.last()?, typical })
            }));
        }
        Change::JoinUnknown(count) => seats.join(count),
        Change::LeaveUnknown(count) => seats.leave(count),
        _ => None,
    };
    Ok(range.map(|(min, max)| Exact { min, max, typical: None }))
}

/// As many trials as take about the time of a blink, were the strategy as slow as the draft.
fn affordable(plan: &Plan) -> usize {
    let (queues, members) = (plan.queues(), plan.members().len());
    let one = queues.saturating_mul(members / 8 + 4).saturating_add(members.saturating_mul(40));
    (1_000_000 / one.max(1)).clamp(8, 2_000)
}
