//! All members at once equals asking each in turn, for every strategy.

use std::sync::Arc;

use evenkeel_core::allocate::{
    Allocate, AllocateError, Average, ByConfig, Circle, ConsistentHash, Draft, GoRing, Identity, Input,
    MachineRoom, Nearby, Owners, RoomPrefix, RoomRule, Seat, SortedMembers, SortedQueues,
};
use evenkeel_core::model::{ClientId, Group, MessageQueue};
use proptest::collection::vec;
use proptest::prelude::*;

fn strategies(listed: Vec<MessageQueue>) -> Vec<Arc<dyn Allocate>> {
    let rooms = RoomPrefix { separator: '@' };
    vec![
        Arc::new(Average),
        Arc::new(Circle),
        Arc::new(ConsistentHash::default()),
        Arc::new(ConsistentHash::new(0).expect("0 points are allowed")),
        Arc::new(ConsistentHash::with_hash(3, |text| text.len() as i64).expect("3 points are allowed")),
        Arc::new(GoRing::default()),
        Arc::new(MachineRoom::new(["r1", "r2"])),
        Arc::new(MachineRoom::default()),
        Arc::new(ByConfig::new(listed.clone())),
        Arc::new(Nearby::new(Average, rooms)),
        Arc::new(Nearby::new(Nearby::new(ConsistentHash::default(), rooms), rooms)),
        Arc::new(Nearby::new(ByConfig::new(listed), rooms)),
        Arc::new(Nearby::new(Draft::default(), rooms)),
        Arc::new(Draft::default()),
        Arc::new(Draft::default().with_slack(2).with_weights(|id| id.as_str().len() as u32)),
        Arc::new(Draft::default().with_identity(Identity::Host)),
        Arc::new(Draft::default().with_rooms(RoomRule::Strict, rooms)),
        Arc::new(Draft::default().with_rooms(RoomRule::BalanceFirst, rooms)),
    ]
}

/// What all members answer, one after the other.
fn asked_in_turn(
    strategy: &dyn Allocate,
    queues: &SortedQueues,
    members: &SortedMembers,
) -> Result<Owners, AllocateError> {
    let group = Group::from("g");
    let mut owners = Owners::nobody(queues.len());
    for (place, me) in members.iter().enumerate().filter(|(_, me)| !me.as_str().is_empty()) {
        for queue in strategy.positions(&Input { group: &group, me, queues, members, nth: 0 })? {
            owners.give(queue, place)?;
        }
    }
    Ok(owners)
}

fn some_queues() -> impl Strategy<Value = Vec<MessageQueue>> {
    let broker = prop_oneof![Just("r1@a"), Just("r1@b"), Just("r2@a"), Just("r3@a"), Just("plain")];
    vec((broker, 0_i32..12), 0..60)
        .prop_map(|all| all.into_iter().map(|(broker, id)| MessageQueue::new("T", broker, id)).collect())
}

proptest! {
    #[test]
    fn all_at_once_equals_one_by_one(
        queues in some_queues(),
        roomless in proptest::bool::weighted(0.2),
        // Few enough names to repeat, the empty one among them.
        ids in vec(prop_oneof![9 => "r[124]@[a-d]{1,2}", 1 => "[x@]{0,2}"], 0..20),
        listed in some_queues(),
    ) {
        let queues = queues.into_iter().filter(|queue| roomless || queue.broker.as_str() != "plain");
        let queues = SortedQueues::new(queues);
        let members = SortedMembers::new(ids.into_iter().map(ClientId::from));
        for strategy in strategies(listed) {
            let at_once = strategy.owners(&Group::from("g"), &queues, &members);
            prop_assert_eq!(&at_once, &asked_in_turn(&*strategy, &queues, &members), "{:?}", strategy);
            let Ok(owners) = at_once else { continue };
            let shares = owners.shares(members.len());
            prop_assert_eq!(owners.loads(members.len()), shares.iter().map(Vec::len).collect::<Vec<_>>());
            for (place, share) in shares.iter().enumerate() {
                prop_assert_eq!(&owners.share(place), share);
            }
            for queue in 0..queues.len() {
                let count = owners.of(queue).count();
                prop_assert_eq!(owners.orphaned().any(|at| at == queue), count == 0);
                prop_assert_eq!(owners.doubled().any(|at| at == queue), count > 1);
                prop_assert_eq!(owners.sole(queue).is_some(), count == 1);
            }
        }
    }

    #[test]
    fn seats_say_what_a_member_keeps(
        queues in 0_usize..200,
        (place, of, then, then_of) in (1_usize..25, 1_usize..25)
            .prop_flat_map(|(of, then_of)| (0..of + 1, Just(of), 0..then_of + 1, Just(then_of))),
    ) {
        let list = SortedQueues::new((0..queues as i32).map(|id| MessageQueue::new("T", "b", id)));
        let share = |strategy: &dyn Allocate, seat: Seat| -> Vec<usize> {
            if queues == 0 || seat.place >= seat.of {
                return Vec::new();
            }
            let members = SortedMembers::new((0..seat.of).map(|place| ClientId::from(format!("{place:04}"))));
            strategy.owners(&Group::from("g"), &list, &members).unwrap().share(seat.place)
        };
        let (before, after) = (Seat { place, of }, Seat { place: then, of: then_of });
        for strategy in [&Average as &dyn Allocate, &Circle] {
            let (had, has) = (share(strategy, before), share(strategy, after));
            let kept = had.iter().filter(|queue| has.contains(queue)).count();
            prop_assert_eq!(strategy.kept_by_seat(queues, before, after), Some(kept), "{:?}", strategy);
        }
        prop_assert_eq!(Draft::default().kept_by_seat(queues, before, after), None);
    }
}

#[test]
fn seats_of_any_size_do_not_overflow() {
    let most = usize::MAX;
    for strategy in [&Average as &dyn Allocate, &Circle] {
        for of in [0, 1, most / 2, most - 1, most] {
            for place in [0, of.saturating_sub(1), of, most] {
                let kept =
                    strategy.kept_by_seat(most, Seat { place, of }, Seat { place: most - 1, of: most });
                assert!(kept.is_some());
            }
        }
    }
}

/// One list for all members, by mistake: 600,000 pairs, and each of them is kept in about the time of the first.
#[test]
fn a_list_that_all_members_share_is_told_in_full() {
    let queues = SortedQueues::new((0..2_000).map(|id| MessageQueue::new("T", "b", id)));
    let members = SortedMembers::new((0..300).map(|number| ClientId::from(format!("c{number:03}"))));
    let listed = ByConfig::new(queues.iter().rev().cloned());
    let owners = listed.owners(&Group::from("g"), &queues, &members).expect("positions");
    assert_eq!(owners.pairs().count(), 600_000);
    assert_eq!((owners.doubled().count(), owners.orphaned().count()), (2_000, 0));
    assert!(owners.of(1_999).eq(0..300));
}
