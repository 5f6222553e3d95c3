//! C15: several members with one client id. Java's all take the share of the first, and the shares of the others go to
//! nobody, unless a member asks for each of its places; the list can name the id.

use crate::sharing;

use std::collections::BTreeSet;

use evenkeel_core::allocate::{
    Allocate, Average, Circle, ConsistentHash, Draft, GoRing, Input, Nearby, RoomPrefix, SortedMembers,
    SortedQueues,
};
use evenkeel_core::model::{Group, MessageQueue};
use sharing::{by_number, ids, queues, shares};

fn unowned(all: &[MessageQueue], shares: &[Vec<MessageQueue>]) -> Vec<i32> {
    all.iter().filter(|queue| !shares.concat().contains(queue)).map(|queue| queue.id).collect()
}

#[track_caller]
fn check(strategy: &dyn Allocate, queue_count: i32, expected: &str, expected_unowned: &[i32]) {
    let all = queues("T", "b", queue_count);
    let answers = shares(strategy, &all, &ids(["X", "X", "Y"]));
    assert_eq!(by_number(&answers), expected);
    assert_eq!(unowned(&all, &answers), expected_unowned);
}

#[test]
fn c15_shares() {
    check(&Average, 12, "0 1 2 3 | 0 1 2 3 | 8 9 10 11", &[4, 5, 6, 7]);
    check(&Circle, 8, "0 3 6 | 0 3 6 | 2 5", &[1, 4, 7]);
}

#[test]
fn c15_repeated_ids_are_named_once() {
    let repeated = |given: &[&str]| {
        SortedMembers::new(ids(given)).repeated().map(|id| id.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(repeated(&["X", "Y", "X"]), ["X"]);
    assert_eq!(repeated(&["b", "a", "b", "a", "b", "c"]), ["a", "b"]);
    assert!(repeated(&["X", "Y"]).is_empty());
    assert!(repeated(&[]).is_empty());
    assert_eq!(SortedMembers::new(ids(["X", "Y", "X"])).len(), 3);
}

/// What a consumer does: one share for each place of its id. Whoever else is in the group, and asks as Java does, is not
/// contradicted: only the repeated one takes more.
#[test]
fn c15_asked_for_each_place_every_queue_has_one_owner() {
    let rooms = RoomPrefix { separator: '@' };
    let strategies: [&dyn Allocate; 6] = [
        &Average,
        &Circle,
        &ConsistentHash::default(),
        &GoRing::default(),
        &Nearby::new(Average, rooms),
        &Draft::default(),
    ];
    let group = Group::from("g");
    let queues = SortedQueues::new(["r1@a", "r2@a"].into_iter().flat_map(|broker| queues("T", broker, 13)));
    for given in [&["r1@X", "r1@X", "r2@Y"][..], &["r1@W", "r1@X", "r1@X", "r1@X", "r2@Y", "r2@Y"]] {
        let members = SortedMembers::new(ids(given.iter().copied()));
        for strategy in strategies {
            let mut owners = vec![0; queues.len()];
            for same in members.chunk_by(|a, b| a == b) {
                let mut mine = BTreeSet::new();
                for nth in 0..same.len() {
                    let input =
                        Input { group: &group, me: &same[0], queues: &queues, members: &members, nth };
                    mine.extend(strategy.positions(&input).expect("the input has queues and members"));
                }
                mine.into_iter().for_each(|queue| owners[queue] += 1);
            }
            assert_eq!(owners, vec![1; queues.len()], "{strategy:?} for {given:?}");
        }
        let beyond = Input { group: &group, me: &members[0], queues: &queues, members: &members, nth: 3 };
        assert_eq!(Average.positions(&beyond), Ok(vec![]), "a place that the member does not have");
    }
}
