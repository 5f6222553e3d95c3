//! Plans: what holds for every input.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::planning::{many_topics, one_topic};
use evenkeel_core::allocate::{Allocate, Average, Circle, ConsistentHash, Draft};
use evenkeel_core::model::{ClientId, Topic};
use evenkeel_core::plan::{Change, Layout, Plan, Trials, preview};
use proptest::collection::btree_set;
use proptest::prelude::*;

fn strategies() -> [Arc<dyn Allocate>; 4] {
    [Arc::new(Average), Arc::new(Circle), Arc::new(ConsistentHash::default()), Arc::new(Draft::default())]
}

fn group(topics: usize, queues: u32, ids: &BTreeSet<u8>) -> Layout {
    let mut layout = many_topics(topics, queues, 0);
    layout.members = ids.iter().map(|n| ClientId::from(format!("c{n}"))).collect();
    layout
}

proptest! {
    #[test]
    fn a_diff_adds_up(
        (topics, queues, ids) in (1_usize..4, 1_u32..30, btree_set(0_u8..40, 1..12)),
        (topics_after, queues_after, ids_after) in (1_usize..4, 1_u32..30, btree_set(0_u8..40, 1..12)),
    ) {
        let (old, new) = (group(topics, queues, &ids), group(topics_after, queues_after, &ids_after));
        for strategy in strategies() {
            let (before, after) = (Plan::new(&*strategy, &old).unwrap(), Plan::new(&*strategy, &new).unwrap());
            let (diff, counts) = (before.diff(&after), before.counts(&after));
            prop_assert_eq!(diff.moves.len() + diff.kept + diff.removed.len(), before.queues());
            prop_assert_eq!(diff.moves.len() + diff.kept + diff.added.len(), after.queues());
            prop_assert_eq!(
                (diff.moves.len(), diff.kept, diff.added.len(), diff.removed.len(), diff.floor),
                (counts.moved, counts.kept, counts.added, counts.removed, counts.floor)
            );
            prop_assert_eq!(before.moved(&after, |_| true), counts.moved);
            let is_one = |topic: &Topic| *topic == before.topics()[0].topic;
            let of_one = diff.moves.iter().filter(|moved| is_one(&moved.queue.topic)).count();
            prop_assert_eq!(before.moved(&after, is_one), of_one);
            for member in &diff.members {
                let owns = |plan: &Plan| plan.members().position(&member.id).map(|place| {
                    plan.topics().iter().map(|topic| topic.owners.share(place).len()).sum::<usize>()
                });
                prop_assert_eq!((member.before, member.after), (owns(&before), owns(&after)));
            }
            // The ring is not even, so it can do with less.
            if strategy.name() != "CONSISTENT_HASH" {
                prop_assert!(diff.floor <= diff.moves.len(), "{}: {:?}", strategy.name(), counts);
            }
            prop_assert_eq!(before.diff(&before).moves.len(), 0);
        }
    }

    /// The floor by trying every even result.
    #[test]
    fn the_floor_is_the_least_of_all_even_results(
        queues in 1_u32..7,
        ids in btree_set(0_u8..6, 1..4),
        ids_after in btree_set(0_u8..6, 1..4),
    ) {
        let (old, new) = (group(1, queues, &ids), group(1, queues, &ids_after));
        let before = Plan::new(&ConsistentHash::default(), &old).unwrap();
        let after = Plan::new(&Average, &new).unwrap();
        let owner = |at: usize| before.topics()[0].owners.sole(at).map(|place| &before.members()[place]);
        let heirs = &new.members;
        let mut least = usize::MAX;
        for mut choice in 0..heirs.len().pow(queues) {
            let (mut loads, mut moved) = (vec![0; heirs.len()], 0);
            for at in 0..queues as usize {
                let heir = choice % heirs.len();
                choice /= heirs.len();
                loads[heir] += 1;
                moved += usize::from(owner(at) != Some(&heirs[heir]));
            }
            if loads.iter().max().unwrap() - loads.iter().min().unwrap() <= 1 {
                least = least.min(moved);
            }
        }
        prop_assert_eq!(before.diff(&after).floor, least);
    }

    /// Exact ranges by trying every way in which new ids may sort, and every choice of members that leave.
    #[test]
    fn exact_ranges_are_those_of_all_possibilities(queues in 1_u32..40, members in 1_usize..6, count in 1_usize..4) {
        let layout = one_topic(queues, members);
        for strategy in [Arc::new(Average) as Arc<dyn Allocate>, Arc::new(Circle)] {
            let moved = |change: Change| {
                preview(&layout, Arc::clone(&strategy), &[change], Trials { samples: Some(8), seed: 1 }).unwrap().moved
            };
            let joins = subsets(members + count, count).map(|places| {
                // The members so far are c01, c02 …: newcomers sort after as many of them as stand before them.
                let newcomer = |(number, place): (usize, usize)| {
                    ClientId::from(format!("c{:02}+{number}", place - number))
                };
                moved(Change::Join(places.into_iter().enumerate().map(newcomer).collect())).min
            });
            let joins: Vec<usize> = joins.collect();
            let range = moved(Change::JoinUnknown(count));
            prop_assert!(range.exact);
            prop_assert_eq!((Some(&range.min), Some(&range.max)), (joins.iter().min(), joins.iter().max()));

            let count = count.min(members);
            let leaves = subsets(members, count).map(|places| {
                let ids = places.into_iter().map(|place| layout.members[place].clone());
                moved(Change::Leave(ids.collect())).min
            });
            let leaves: Vec<usize> = leaves.collect();
            let range = moved(Change::LeaveUnknown(count));
            prop_assert!(range.exact);
            prop_assert_eq!((Some(&range.min), Some(&range.max)), (leaves.iter().min(), leaves.iter().max()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn previews_follow_from_their_seed(queues in 1_u32..40, members in 1_usize..6, seed in 0_u64..9) {
        let layout = one_topic(queues, members);
        for strategy in strategies() {
            let changes = [Change::JoinUnknown(2), Change::LeaveUnknown(1)];
            let ask = || preview(&layout, Arc::clone(&strategy), &changes, Trials { samples: Some(20), seed });
            let one = ask().unwrap();
            prop_assert_eq!(&one, &ask().unwrap());
            prop_assert!(one.moved.min <= one.moved.typical && one.moved.typical <= one.moved.max);
            prop_assert_eq!(one.moved.min + one.kept.max, queues as usize);
        }
    }
}

/// All ways to pick `count` of `0..of`, ascending.
fn subsets(of: usize, count: usize) -> impl Iterator<Item = Vec<usize>> {
    let bits = move |set: usize| (0..of).filter(move |at| set >> at & 1 == 1).collect::<Vec<_>>();
    (0_usize..1 << of).map(bits).filter(move |set| set.len() == count)
}
