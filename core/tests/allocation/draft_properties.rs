//! AVG_BY_DRAFT: what holds for every input.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_core::allocate::{
    Allocate, Draft, Identity, Owners, Room, RoomOf, RoomRule, SortedMembers, SortedQueues,
};
use evenkeel_core::model::{ClientId, Group, MessageQueue};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

/// A name's room is its first character.
#[derive(Debug)]
struct FirstLetter;

impl RoomOf for FirstLetter {
    fn queue(&self, queue: &MessageQueue) -> Option<Room> {
        queue.broker.as_str().get(..1).map(Room::from)
    }
    fn member(&self, id: &ClientId) -> Option<Room> {
        id.as_str().get(..1).map(Room::from)
    }
}

fn all_queues() -> impl Strategy<Value = Vec<MessageQueue>> {
    let broker = prop_oneof![Just("a2"), Just("a10"), Just("b"), Just("c\u{1F680}"), Just("d\u{FF21}")];
    btree_set((broker, 0_i32..60), 1..120)
        .prop_map(|set| set.into_iter().map(|(broker, id)| MessageQueue::new("T", broker, id)).collect())
}

fn distinct_members() -> impl Strategy<Value = Vec<ClientId>> {
    btree_set((0_usize..4, 0_u8..30, 0_u16..20_000), 1..24).prop_map(|set| {
        let id = |(room, host, pid)| format!("{}10.0.0.{host}@{pid}", ["a", "b", "c", "e"][room]);
        set.into_iter().map(|parts| ClientId::from(id(parts))).collect()
    })
}

fn owners(strategy: &Draft, queues: &SortedQueues, members: &SortedMembers) -> Owners {
    strategy.owners(&Group::from("g"), queues, members).expect("there are queues and members")
}

fn loads(strategy: &Draft, queues: &[MessageQueue], members: &[ClientId]) -> Vec<usize> {
    let (queues, members) = (SortedQueues::new(queues.to_vec()), SortedMembers::new(members.to_vec()));
    owners(strategy, &queues, &members).loads(members.len())
}

proptest! {
    #[test]
    fn each_queue_has_one_owner_and_loads_are_even(queues in all_queues(), members in distinct_members()) {
        let (queues, members) = (SortedQueues::new(queues), SortedMembers::new(members));
        let owners = owners(&Draft::default(), &queues, &members);
        prop_assert!((0..queues.len()).all(|queue| owners.sole(queue).is_some()));
        let (least, more) = (queues.len() / members.len(), queues.len() % members.len());
        let loads = owners.loads(members.len());
        prop_assert!(loads.iter().all(|&load| load == least || load == least + 1), "{loads:?}");
        prop_assert_eq!(loads.iter().filter(|&&load| load == least + 1).count(), more);
    }

    #[test]
    fn order_does_not_matter(
        (queues, shuffled) in all_queues().prop_flat_map(|q| (Just(q.clone()), Just(q).prop_shuffle())),
        (members, others) in distinct_members().prop_flat_map(|m| (Just(m.clone()), Just(m).prop_shuffle())),
    ) {
        let one = owners(&Draft::default(), &SortedQueues::new(queues), &SortedMembers::new(members));
        let other = owners(&Draft::default(), &SortedQueues::new(shuffled), &SortedMembers::new(others));
        prop_assert_eq!(one, other);
    }

    #[test]
    fn weighted_loads_are_quotas_or_one_more(queues in all_queues(), members in distinct_members(), seed in 0_u32..99) {
        let weight = move |id: &ClientId| 1 + (id.as_str().len() as u32 * 7 + seed) % 5;
        let together: usize = members.iter().map(|id| weight(id) as usize).sum();
        let loads = loads(&Draft::default().with_weights(weight), &queues, &members);
        prop_assert_eq!(loads.iter().sum::<usize>(), queues.len());
        for (id, load) in SortedMembers::new(members).iter().zip(loads) {
            let quota = queues.len() * weight(id) as usize / together;
            prop_assert!(load == quota || load == quota + 1, "{load} of {quota}");
        }
    }

    #[test]
    fn slack_bounds_the_loads(queues in all_queues(), members in distinct_members(), slack in 0_u32..5) {
        let loads = loads(&Draft::default().with_slack(slack), &queues, &members);
        prop_assert_eq!(loads.iter().sum::<usize>(), queues.len());
        let (quota, slack) = (queues.len() / members.len(), slack as usize);
        prop_assert!(loads.iter().all(|&load| load + slack >= quota && load <= quota + 1 + slack), "{loads:?}");
    }

    #[test]
    fn strict_rooms_are_not_crossed_and_orphans_level(queues in all_queues(), members in distinct_members()) {
        let (queues, members) = (SortedQueues::new(queues), SortedMembers::new(members));
        let owners = owners(&Draft::default().with_rooms(RoomRule::Strict, FirstLetter), &queues, &members);
        let mut at_home = vec![0_usize; members.len()];
        let inhabited: BTreeSet<Room> = members.iter().filter_map(|id| FirstLetter.member(id)).collect();
        for (at, queue) in queues.iter().enumerate() {
            let owner = owners.sole(at).expect("each queue has one owner");
            let room = FirstLetter.queue(queue).unwrap();
            if inhabited.contains(&room) {
                prop_assert_eq!(FirstLetter.member(&members[owner]), Some(room));
                at_home[owner] += 1;
            }
        }
        let loads = owners.loads(members.len());
        let receivers = loads.iter().zip(&at_home).filter(|(load, home)| load > home);
        let highest = receivers.map(|(&load, _)| load).max().unwrap_or(0);
        prop_assert!(loads.iter().all(|&load| load + 1 >= highest), "{at_home:?} became {loads:?}");
    }

    #[test]
    fn balance_first_keeps_the_most_local_queues(queues in all_queues(), members in distinct_members()) {
        let (queues, members) = (SortedQueues::new(queues), SortedMembers::new(members));
        let owners =
            owners(&Draft::default().with_rooms(RoomRule::BalanceFirst, FirstLetter), &queues, &members);
        let (least, extras) = (queues.len() / members.len(), queues.len() % members.len());
        let loads = owners.loads(members.len());
        prop_assert_eq!(loads.iter().sum::<usize>(), queues.len());
        prop_assert!(loads.iter().all(|&load| load == least || load == least + 1), "{loads:?}");

        let local = queues.iter().enumerate().filter(|&(at, queue)| {
            FirstLetter.queue(queue) == FirstLetter.member(&members[owners.sole(at).unwrap()])
        });
        let mut rooms: BTreeMap<Room, (usize, usize)> = BTreeMap::new();
        for queue in &queues {
            rooms.entry(FirstLetter.queue(queue).unwrap()).or_default().0 += 1;
        }
        for id in &members {
            rooms.entry(FirstLetter.member(id).unwrap()).or_default().1 += 1;
        }
        let without_extras: usize = rooms.values().map(|&(there, members)| there.min(least * members)).sum();
        let more: usize =
            rooms.values().map(|&(there, members)| there.saturating_sub(least * members).min(members)).sum();
        prop_assert_eq!(local.count(), without_extras + more.min(extras));
    }

    #[test]
    fn repeated_and_odd_members_panic_nowhere(queues in all_queues(), names in vec("[@#a-c\u{1F680}]{0,3}", 1..12)) {
        let (queues, members) = (SortedQueues::new(queues), SortedMembers::new(names.iter().map(|n| ClientId::from(n.as_str()))));
        for strategy in [
            Draft::default(),
            Draft::default().with_identity(Identity::Host),
            Draft::default().with_weights(|_| 0),
            Draft::default().with_weights(|id| u32::MAX >> id.as_str().len()).with_slack(u32::MAX),
            Draft::default().with_rooms(RoomRule::Strict, FirstLetter),
        ] {
            let _ = strategy.owners(&Group::from("g"), &queues, &members);
        }
    }

    #[test]
    fn a_restarted_host_keeps_its_queues(queues in all_queues(), hosts in 2_u8..9, back in 0_u8..9) {
        let id = |host: u8, pid: u16| ClientId::from(format!("10.0.0.{host}@{pid}#1"));
        let before = SortedMembers::new((0..hosts).map(|host| id(host, 7)));
        let after = SortedMembers::new((0..hosts).map(|host| id(host, if host == back { 65_000 } else { 7 })));
        let strategy = Draft::default().with_identity(Identity::Host);
        let queues = SortedQueues::new(queues);
        prop_assert_eq!(owners(&strategy, &queues, &before), owners(&strategy, &queues, &after));
    }
}

#[test]
fn what_does_not_go_together_is_an_error() {
    let queues = SortedQueues::new([MessageQueue::new("T", "a", 0)]);
    let members = SortedMembers::new([ClientId::from("a")]);
    let balanced = Draft::default().with_rooms(RoomRule::BalanceFirst, FirstLetter);
    for strategy in [balanced.clone().with_slack(1), balanced.with_weights(|_| 1)] {
        let error = strategy.owners(&Group::from("g"), &queues, &members).unwrap_err();
        assert_eq!(error.kind(), "bad-parameter");
    }
}
