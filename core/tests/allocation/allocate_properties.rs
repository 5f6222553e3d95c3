//! What holds for every input: one owner for each queue, even loads, no dependence on the order of the lists, and a
//! ring on which only the newcomer gains.

use crate::sharing;

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_core::allocate::{Allocate, Average, Circle, ConsistentHash};
use evenkeel_core::model::{ClientId, MessageQueue};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use sharing::{share, shares};

fn all_queues() -> impl Strategy<Value = Vec<MessageQueue>> {
    let broker = prop_oneof![Just("b2"), Just("b10"), Just("b"), Just("\u{1F680}"), Just("\u{FF21}")];
    btree_set((broker, 0_i32..40), 1..80)
        .prop_map(|set| set.into_iter().map(|(broker, id)| MessageQueue::new("T", broker, id)).collect())
        .prop_flat_map(|queues: Vec<_>| Just(queues).prop_shuffle())
}

fn distinct_members() -> impl Strategy<Value = Vec<ClientId>> {
    btree_set((0_u8..30, 0_u16..20_000), 1..24)
        .prop_map(|set| {
            set.into_iter().map(|(host, pid)| ClientId::from(format!("10.0.0.{host}@{pid}"))).collect()
        })
        .prop_flat_map(|members: Vec<_>| Just(members).prop_shuffle())
}

fn owners(shares: &[Vec<MessageQueue>]) -> BTreeMap<&MessageQueue, Vec<usize>> {
    let mut owners: BTreeMap<&MessageQueue, Vec<usize>> = BTreeMap::new();
    for (member, share) in shares.iter().enumerate() {
        for queue in share {
            owners.entry(queue).or_default().push(member);
        }
    }
    owners
}

proptest! {
    #[test]
    fn every_queue_has_one_owner(queues in all_queues(), members in distinct_members(), points in 1..12_i32) {
        let hash = ConsistentHash::new(points).unwrap();
        for strategy in [&Average as &dyn Allocate, &Circle, &hash] {
            let answers = shares(strategy, &queues, &members);
            let owners = owners(&answers);
            prop_assert!(owners.values().all(|members| members.len() == 1), "{}", strategy.name());
            prop_assert_eq!(owners.keys().copied().collect::<BTreeSet<_>>(), queues.iter().collect());
        }
    }

    #[test]
    fn loads_differ_by_one_at_most(queues in all_queues(), members in distinct_members()) {
        for strategy in [&Average as &dyn Allocate, &Circle] {
            let loads: Vec<usize> = shares(strategy, &queues, &members).iter().map(Vec::len).collect();
            let (least, most) = (loads.iter().min().unwrap(), loads.iter().max().unwrap());
            prop_assert!(most - least <= 1, "{} gave {loads:?}", strategy.name());
        }
    }

    #[test]
    fn the_order_of_the_lists_does_not_matter(
        (queues, shuffled) in all_queues().prop_flat_map(|q| (Just(q.clone()), Just(q).prop_shuffle())),
        (members, others) in distinct_members().prop_flat_map(|m| (Just(m.clone()), Just(m).prop_shuffle())),
    ) {
        for strategy in [&Average as &dyn Allocate, &Circle, &ConsistentHash::default()] {
            let me = members[0].as_str();
            prop_assert_eq!(share(strategy, me, &queues, &members), share(strategy, me, &shuffled, &others));
        }
    }

    #[test]
    fn on_a_ring_only_the_newcomer_gains(queues in all_queues(), mut members in distinct_members()) {
        let strategy = ConsistentHash::default();
        members.push(ClientId::from("newcomer@1"));
        let after = shares(&strategy, &queues, &members);
        members.pop();
        let before = shares(&strategy, &queues, &members);
        for (member, (before, after)) in members.iter().zip(before.iter().zip(&after)) {
            prop_assert!(after.iter().all(|queue| before.contains(queue)), "{member} gained");
        }
    }

    #[test]
    fn repeated_members_panic_nowhere(queues in all_queues(), names in vec(0_u8..4, 1..12), points in 0..12_i32) {
        let members: Vec<ClientId> = names.iter().map(|n| ClientId::from(format!("c{n}"))).collect();
        let hash = ConsistentHash::with_hash(points, |text| i64::try_from(text.len()).unwrap_or(0)).unwrap();
        for strategy in [&Average as &dyn Allocate, &Circle, &hash] {
            for share in shares(strategy, &queues, &members) {
                prop_assert!(share.is_sorted());
            }
        }
    }
}
