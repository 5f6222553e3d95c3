//! What is measured apart from single changes: over all remainders, over topics, in rooms, and by the clock.
#![allow(clippy::disallowed_methods, reason = "a program that measures reads the clock")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use evenkeel_core::allocate::{
    Allocate, Draft, Room, RoomOf, RoomRule, RoomTable, SortedMembers, SortedQueues,
};
use evenkeel_core::model::{BrokerName, ClientId, Group, MessageQueue};
use evenkeel_core::rng::Rng;

use crate::groups::{Crowd, Size, loads};
use crate::targets::Targets;

/// Moves on a leave against q/c, with q from a multiple of c up to the next.
pub(crate) fn over_remainders(targets: &mut Targets, groups: usize) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(out, "\n### AVG_BY_DRAFT over all q mod c: moves on a leave / (q/c)\n");
    let _ = writeln!(
        out,
        "| members | slack | mean | best | worst | mean of the largest difference |\n|---|---|---|---|---|---|"
    );
    for (members, floor, slack, limit, spread_limit) in [
        (5, 3, 0, Some(1.35), 1),
        (10, 6, 0, Some(1.6), 1),
        (16, 8, 0, Some(1.8), 1),
        (64, 16, 0, Some(2.6), 1),
        (100, 10, 0, Some(3.1), 1),
        (10, 6, 1, Some(1.35), 3),
        (32, 8, 2, Some(1.5), 5),
        (32, 8, 4, None, 9),
    ] {
        let strategy = Draft::default().with_slack(slack);
        let mut rng = Rng::new(members as u64 * 31 + u64::from(slack));
        let (mut ratios, mut largest, mut spreads) = (Vec::new(), 0, 0);
        let rounds = (groups * 200 / members).max(2);
        for more in 0..members {
            let size = Size { queues: floor * members + more, per_broker: 8, members };
            let mut moved = 0;
            for _ in 0..rounds {
                let mut crowd = Crowd::new(size, &mut rng);
                let before = crowd.owners(&strategy);
                let loads = loads(&before, &crowd.members);
                let spread =
                    loads.iter().max().zip(loads.iter().min()).map_or(0, |(most, least)| most - least);
                largest = largest.max(spread);
                spreads += spread;
                crowd.leave(&mut rng);
                moved += before.iter().zip(crowd.owners(&strategy)).filter(|(was, is)| **was != *is).count();
            }
            ratios.push(moved as f64 / rounds as f64 * members as f64 / size.queues as f64);
        }
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let (best, worst) =
            (ratios.iter().copied().fold(f64::MAX, f64::min), ratios.iter().copied().fold(0.0, f64::max));
        let mean_spread = spreads as f64 / (rounds * members) as f64;
        let _ =
            writeln!(out, "| {members} | {slack} | {mean:.2} | {best:.2} | {worst:.2} | {mean_spread:.1} |");
        if let Some(limit) = limit {
            let (id, what) = if slack == 0 {
                ("T4", format!("leave / (q/c), {members} members, mean over q mod c"))
            } else {
                ("T8", format!("leave / (q/c), {members} members, slack {slack}"))
            };
            targets.at_most(id, what, mean, limit);
            targets.at_most(
                id,
                format!("largest difference, {members} members, slack {slack}"),
                largest as f64,
                f64::from(spread_limit),
            );
        }
    }
    out
}

/// Queues of a member in total, over many topics of few queues.
pub(crate) fn over_topics(strategies: &[&dyn Allocate; 4], targets: &mut Targets) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ =
        writeln!(out, "\n### Sixty topics: fewest to most queues of a member in total, mean of 40 groups\n");
    let _ = writeln!(
        out,
        "| queues a topic, members | mean | {} |",
        strategies.map(|strategy| strategy.name().into_owned()).join(" | ")
    );
    let _ = writeln!(out, "|---|---|---|---|---|---|");
    for (queues, members) in [(1, 8), (4, 8), (8, 10), (12, 8), (16, 5)] {
        let cells: Vec<(f64, f64)> =
            strategies.iter().map(|strategy| sixty_topics(*strategy, queues, members)).collect();
        let mean = 60.0 * f64::from(queues) / members as f64;
        let text: Vec<String> = cells.iter().map(|(least, most)| format!("{least:.0}..{most:.0}")).collect();
        let _ = writeln!(out, "| {queues}, {members} | {mean:.1} | {} |", text.join(" | "));
        if (queues, members) == (4, 8) {
            targets.at_most(
                "T9",
                "60 topics × 4 queues × 8 members: largest total / mean".into(),
                cells[3].1 / mean,
                1.33,
            );
        }
    }
    out
}

fn sixty_topics(strategy: &dyn Allocate, queues: i32, members: usize) -> (f64, f64) {
    let mut rng = Rng::new(60);
    let (mut least, mut most) = (0, 0);
    for _ in 0..40 {
        let crowd = Crowd::new(Size { queues: 1, per_broker: 1, members }, &mut rng);
        let ids = SortedMembers::new(crowd.members.keys().cloned());
        let mut totals = vec![0; members];
        for topic in 0..60 {
            let name = format!("{}-{topic}", crowd.topic);
            let queues = SortedQueues::new(
                (0..queues).map(|id| MessageQueue::new(name.as_str(), "rmq-broker-000", id)),
            );
            let owners = strategy.owners(&crowd.group, &queues, &ids).expect("there is something to share");
            for (total, load) in totals.iter_mut().zip(owners.loads(members)) {
                *total += load;
            }
        }
        least += totals.iter().min().copied().unwrap_or(0);
        most += totals.iter().max().copied().unwrap_or(0);
    }
    (f64::from(least as u32) / 40.0, f64::from(most as u32) / 40.0)
}

/// Loads in random cases, with weights in every other one.
pub(crate) fn always(targets: &mut Targets, cases: usize) {
    let mut rng = Rng::new(1);
    let mut violations = 0;
    for case in 0..cases {
        let size = Size {
            queues: 1 + rng.below(70) as usize,
            per_broker: 1 + rng.below(16) as usize,
            members: 1 + rng.below(20) as usize,
        };
        let crowd = Crowd::new(size, &mut rng);
        let weight = |id: &ClientId| 1 + id.as_str().len() as u32 % 4;
        let weighted = case % 2 == 1;
        let strategy = if weighted { Draft::default().with_weights(weight) } else { Draft::default() };
        let ids = SortedMembers::new(crowd.members.keys().cloned());
        let owners = strategy.owners(&crowd.group, &crowd.queues, &ids).expect("there is something to share");
        let weights: Vec<usize> =
            ids.iter().map(|id| if weighted { weight(id) as usize } else { 1 }).collect();
        let together: usize = weights.iter().sum();
        let quotas = weights.iter().map(|weight| size.queues * weight / together);
        let loads = owners.loads(ids.len());
        let fits = quotas.zip(&loads).all(|(quota, &load)| load == quota || load == quota + 1);
        let above = loads.iter().filter(|&&load| load > size.queues / ids.len()).count();
        let exact = weighted || above == size.queues % ids.len();
        let once = (0..size.queues).all(|at| owners.sole(at).is_some());
        violations += usize::from(!(fits && exact && once));
    }
    targets.at_most("T1", format!("violations of balance in {cases} random cases"), violations as f64, 0.0);
}

/// Rooms at random, by a table.
pub(crate) fn in_rooms(targets: &mut Targets, cases: usize) {
    let mut rng = Rng::new(11);
    let (mut strict_violations, mut balance_violations) = (0, 0);
    for _ in 0..cases {
        let size = Size {
            queues: 1 + rng.below(70) as usize,
            per_broker: 1 + rng.below(8) as usize,
            members: 1 + rng.below(14) as usize,
        };
        let crowd = Crowd::new(size, &mut rng);
        let mut any = || Room::from(["north", "south", "west"][rng.below(3) as usize]);
        let brokers: BTreeSet<BrokerName> = crowd.queues.iter().map(|queue| queue.broker.clone()).collect();
        let rooms = RoomTable {
            brokers: brokers.into_iter().map(|broker| (broker, any())).collect(),
            members: crowd.members.keys().map(|id| (id.clone(), any())).collect(),
        };
        strict_violations += usize::from(!strict_holds(&crowd, &rooms));
        balance_violations += usize::from(!balance_holds(&crowd, &rooms));
    }
    targets.at_most(
        "T11",
        format!("strict rooms crossed or orphans uneven, {cases} cases"),
        f64::from(strict_violations as u32),
        0.0,
    );
    targets.at_most(
        "T11",
        format!("balance first not even or not the most local, {cases} cases"),
        f64::from(balance_violations as u32),
        0.0,
    );
}

fn strict_holds(crowd: &Crowd, rooms: &RoomTable) -> bool {
    let ids = SortedMembers::new(crowd.members.keys().cloned());
    let strategy = Draft::default().with_rooms(RoomRule::Strict, rooms.clone());
    let owners = strategy.owners(&crowd.group, &crowd.queues, &ids).expect("all rooms are known");
    let mut at_home = vec![0; ids.len()];
    for (at, queue) in crowd.queues.iter().enumerate() {
        let (room, owner) = (rooms.queue(queue), owners.sole(at).expect("each queue has one owner"));
        if rooms.members.values().any(|inhabited| Some(inhabited) == room.as_ref()) {
            if rooms.member(&ids[owner]) != room {
                return false;
            }
            at_home[owner] += 1;
        }
    }
    let loads = owners.loads(ids.len());
    let highest = loads.iter().zip(&at_home).filter(|(load, home)| load > home).map(|(&load, _)| load).max();
    loads.iter().all(|&load| load + 1 >= highest.unwrap_or(0))
}

fn balance_holds(crowd: &Crowd, rooms: &RoomTable) -> bool {
    let ids = SortedMembers::new(crowd.members.keys().cloned());
    let strategy = Draft::default().with_rooms(RoomRule::BalanceFirst, rooms.clone());
    let owners = strategy.owners(&crowd.group, &crowd.queues, &ids).expect("all rooms are known");
    let (least, extras) = (crowd.queues.len() / ids.len(), crowd.queues.len() % ids.len());
    let mut of_room: BTreeMap<Option<Room>, (usize, usize)> = BTreeMap::new();
    let mut local = 0;
    for (at, queue) in crowd.queues.iter().enumerate() {
        let room = rooms.queue(queue);
        local += usize::from(owners.sole(at).is_some_and(|owner| rooms.member(&ids[owner]) == room));
        of_room.entry(room).or_default().0 += 1;
    }
    ids.iter().for_each(|id| of_room.entry(rooms.member(id)).or_default().1 += 1);
    let sum = |of: &dyn Fn(usize, usize) -> usize| -> usize {
        of_room.values().map(|&(queues, members)| of(queues, members)).sum()
    };
    let most = sum(&|queues, members| queues.min(least * members))
        + sum(&|queues, members| queues.saturating_sub(least * members).min(members)).min(extras);
    let loads = owners.loads(ids.len());
    loads.iter().all(|&load| load == least || load == least + 1) && local == most
}

/// All members' queues from names alone, in time of one core.
pub(crate) fn times(strategies: &[&dyn Allocate; 4], targets: &mut Targets) {
    println!("\n### Time for all members at once, ms of one core\n");
    println!("| queues, members | {} |", strategies.map(|strategy| strategy.name().into_owned()).join(" | "));
    println!("|---|---|---|---|---|");
    for (queues, per_broker, members, limit) in [
        (128, 16, 16, Some(0.05)),
        (1000, 10, 100, None),
        (1024, 16, 100, Some(1.0)),
        (10_000, 100, 300, Some(30.0)),
        (10_000, 100, 1000, None),
        (100_000, 1000, 1000, Some(1000.0)),
    ] {
        let crowd = Crowd::new(Size { queues, per_broker, members }, &mut Rng::new(10));
        let ids = SortedMembers::new(crowd.members.keys().cloned());
        let ms = strategies.map(|strategy| one_ms(strategy, &crowd.group, &crowd.queues, &ids));
        let text: Vec<String> = ms.iter().map(|ms| format!("{ms:.3}")).collect();
        println!("| {queues}, {members} | {} |", text.join(" | "));
        if let Some(limit) = limit {
            targets.at_most("T10", format!("ms for {queues} queues and {members} members"), ms[3], limit);
        }
        if (queues, members) == (1000, 100) {
            targets.at_most(
                "time",
                "ms for 1000 × 100, AVG + CIRCLE + HASH".into(),
                ms[0] + ms[1] + ms[2],
                2.0,
            );
        }
        if (queues, members) == (10_000, 1000) {
            targets.at_most("time", "ms for 10000 × 1000, HASH".into(), ms[2], 20.0);
            targets.at_most("time", "ms for 10000 × 1000, AVG".into(), ms[0], 1.0);
        }
    }
}

/// What one run takes on an idle core, as near as a busy machine tells: the shortest run, or the mean of the time that
/// this thread had a core for itself, if that is less.
#[expect(clippy::disallowed_methods, reason = "a program that measures has to look at the clock")]
fn one_ms(strategy: &dyn Allocate, group: &Group, queues: &SortedQueues, members: &SortedMembers) -> f64 {
    let run = || {
        let start = Instant::now();
        black_box(strategy.owners(group, queues, members).is_ok());
        start.elapsed()
    };
    let (start, began) = (worked(), Instant::now());
    let (mut runs, mut shortest) = (0, Duration::MAX);
    while runs < 3 || began.elapsed() < Duration::from_millis(600) {
        shortest = shortest.min(run());
        runs += 1;
    }
    let mean = start.zip(worked()).map(|(start, end)| end.saturating_sub(start) / runs);
    mean.map_or(shortest, |mean| mean.min(shortest)).as_secs_f64() * 1000.0
}

/// The core's time of this thread so far. It is counted in steps of some milliseconds.
fn worked() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(told.split(' ').next()?.parse().ok()?))
}
