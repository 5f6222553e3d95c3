//! Members that leave, join and restart, and brokers that come and go.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evenkeel_core::allocate::Allocate;
use evenkeel_core::model::MessageQueue;
use evenkeel_core::rng::Rng;

use crate::groups::{Crowd, Size, loads};

/// The sizes of groups, and how many groups of each.
pub(crate) const SIZES: [(Size, usize); 7] = [
    (Size { queues: 8, per_broker: 4, members: 3 }, 600),
    (Size { queues: 16, per_broker: 8, members: 5 }, 600),
    (Size { queues: 64, per_broker: 8, members: 10 }, 400),
    (Size { queues: 128, per_broker: 16, members: 16 }, 300),
    (Size { queues: 1024, per_broker: 16, members: 64 }, 60),
    (Size { queues: 1024, per_broker: 16, members: 100 }, 60),
    (Size { queues: 10_000, per_broker: 100, members: 300 }, 10),
];

/// Sums over all groups of a size.
#[derive(Clone, Copy, Default)]
pub(crate) struct Churn {
    pub(crate) groups: usize,
    pub(crate) leave: Moves,
    pub(crate) join: Moves,
    pub(crate) restart: Moves,
    /// Moves between two members that both stay, on a leave.
    pub(crate) between_the_living: usize,
    /// Existing queues that moved, and queues added.
    pub(crate) broker_added: (usize, usize),
    /// Surviving queues that moved, and queues lost.
    pub(crate) broker_lost: (usize, usize),
    /// The largest difference between two members.
    pub(crate) spread: usize,
}

/// How many queues moved, how many had to, and how many there were.
#[derive(Clone, Copy, Default)]
pub(crate) struct Moves {
    pub(crate) moved: usize,
    pub(crate) floor: usize,
    pub(crate) queues: usize,
}

impl Moves {
    fn add(&mut self, before: &[usize], after: &[usize], crowd: &Crowd) {
        self.moved += before.iter().zip(after).filter(|(before, after)| before != after).count();
        self.floor += floor(before, crowd);
        self.queues += after.len();
    }

    pub(crate) fn ratio(&self) -> f64 {
        self.moved as f64 / self.floor as f64
    }

    pub(crate) fn percent(&self) -> f64 {
        100.0 * self.moved as f64 / self.queues as f64
    }
}

pub(crate) fn measure(strategy: &dyn Allocate, size: Size, groups: usize) -> Churn {
    // The same groups for every strategy.
    let mut rng = Rng::new(size.queues as u64 * 1_000_003 + size.members as u64);
    let mut sum = Churn { groups, ..Churn::default() };
    for _ in 0..groups {
        let start = Crowd::new(size, &mut rng);
        let mut seed = Rng::new(rng.next_u64());
        one_group(strategy, size, start, &mut seed, &mut sum);
    }
    sum
}

fn one_group(strategy: &dyn Allocate, size: Size, start: Crowd, rng: &mut Rng, sum: &mut Churn) {
    let before = start.owners(strategy);
    let loads = loads(&before, &start.members);
    let spread = loads.iter().max().zip(loads.iter().min()).map_or(0, |(most, least)| most - least);
    sum.spread = sum.spread.max(spread);

    let mut less = start.clone();
    let gone = less.leave(rng);
    let after = less.owners(strategy);
    sum.leave.add(&before, &after, &less);
    let living = before.iter().zip(&after).filter(|&(&was, is)| was != gone && was != *is);
    sum.between_the_living += living.count();

    let mut more = start.clone();
    more.join(rng);
    sum.join.add(&before, &more.owners(strategy), &more);

    // Large groups restart in part: each restart is as good as another.
    let mut rolling = start.clone();
    let mut last = before.clone();
    for _ in 0..size.members.min(if size.queues > 5_000 { 5 } else { 20 }) {
        rolling.leave(rng);
        let without = rolling.owners(strategy);
        sum.restart.add(&last, &without, &rolling);
        rolling.join(rng);
        let with = rolling.owners(strategy);
        sum.restart.add(&without, &with, &rolling);
        last = with;
    }

    let brokers = size.queues / size.per_broker;
    let added = start.with_broker_after(rng.below(brokers as u64) as usize, size.per_broker);
    sum.broker_added.0 += surviving_moves(strategy, &start, &added);
    sum.broker_added.1 += size.per_broker;
    let lost = start.without_broker(rng.below(brokers as u64) as usize);
    sum.broker_lost.0 += surviving_moves(strategy, &start, &lost);
    sum.broker_lost.1 += size.per_broker;
}

fn surviving_moves(strategy: &dyn Allocate, before: &Crowd, after: &Crowd) -> usize {
    let owners = |crowd: &Crowd| -> BTreeMap<MessageQueue, usize> {
        crowd.queues.iter().cloned().zip(crowd.owners(strategy)).collect()
    };
    let (before, after) = (owners(before), owners(after));
    before.iter().filter(|(queue, owner)| after.get(queue).is_some_and(|now| now != *owner)).count()
}

/// The fewest queues that have to move to make the loads of the members even.
fn floor(before: &[usize], after: &Crowd) -> usize {
    let mut stay: BTreeMap<usize, usize> = after.members.values().map(|&number| (number, 0)).collect();
    for owner in before {
        stay.entry(*owner).and_modify(|load| *load += 1);
    }
    let (least, more) = (before.len() / stay.len(), before.len() % stay.len());
    let kept: usize = stay.values().map(|&load| load.min(least)).sum();
    before.len() - kept - stay.values().filter(|&&load| load > least).count().min(more)
}

/// The tables, in Markdown.
pub(crate) fn tables(strategies: &[&dyn Allocate; 4], sizes: &[Size], churn: &[[Churn; 4]]) -> String {
    let mut out = String::new();
    // A ring is not even, so that the floor of even results says nothing about it.
    let even = |at: usize| strategies[at].name() != "CONSISTENT_HASH";
    let ratio =
        |at: usize, moves: Moves| if even(at) { format!("{:.2}", moves.ratio()) } else { "–".into() };
    // Writing to a string does not fail.
    let mut table = |title: &str, cell: &dyn Fn(usize, &Churn) -> String| {
        let _ = writeln!(out, "\n### {title}\n");
        let heads: Vec<String> =
            sizes.iter().map(|size| format!("{}, {}", size.queues, size.members)).collect();
        let _ = writeln!(out, "| strategy | {} |\n|---|{}", heads.join(" | "), "---|".repeat(sizes.len()));
        for (at, strategy) in strategies.iter().enumerate() {
            let cells: Vec<String> = churn.iter().map(|of_size| cell(at, &of_size[at])).collect();
            let _ = writeln!(out, "| {} | {} |", strategy.name(), cells.join(" | "));
        }
    };
    table("A member leaves: % of the queues that move / multiple of the floor", &|at, churn| {
        format!("{:.2} % / {}", churn.leave.percent(), ratio(at, churn.leave))
    });
    table("A member joins: % of the queues that move / multiple of the floor", &|at, churn| {
        format!("{:.2} % / {}", churn.join.percent(), ratio(at, churn.join))
    });
    table(
        "A member restarts under a new id: queues that move, leave and join / multiple of the floor",
        &|at, churn| {
            let restarts = churn.restart.queues / 2;
            let queues = churn.leave.queues / churn.groups;
            let each = churn.restart.moved as f64 * queues as f64 / restarts as f64;
            format!("{each:.1} / {}", ratio(at, churn.restart))
        },
    );
    table("A broker: existing queues moved for each queue added / surviving for each lost", &|_, churn| {
        let per = |(moved, queues): (usize, usize)| moved as f64 / queues as f64;
        format!("{:.2} / {:.2}", per(churn.broker_added), per(churn.broker_lost))
    });
    table("Queues read twice while half the members know of a leave, % of all", &|_, churn| {
        format!("{:.2}", doubled_percent(churn))
    });
    table("The largest difference between two members' queues", &|_, churn| churn.spread.to_string());
    out
}

/// A queue that moves between two members who stay is read by both if the old one still has the old view and the new
/// one has the new: one time in four.
pub(crate) fn doubled_percent(churn: &Churn) -> f64 {
    100.0 * churn.between_the_living as f64 / 4.0 / churn.leave.queues as f64
}
