//! C15: several members with one client id. All of them take the share of the first, and the shares of the others go to
//! nobody; the list can name the id.

use crate::sharing;

use evenkeel_core::allocate::{Allocate, Average, Circle, SortedMembers};
use evenkeel_core::model::MessageQueue;
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
