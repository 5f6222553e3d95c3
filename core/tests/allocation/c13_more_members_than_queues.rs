//! C13: more members than queues, and lists that are empty: an answer or an error, never a panic.

use crate::sharing;

use evenkeel_core::allocate::{Allocate, AllocateError, Average, Circle, ConsistentHash, MachineRoom};
use evenkeel_core::allocate::{Nearby, RoomPrefix};
use evenkeel_core::error::Blame;
use sharing::{by_number, ids, queues, share, shares};

fn split(strategy: &dyn Allocate, queue_count: i32, members: usize) -> String {
    by_number(&shares(strategy, &queues("T", "b", queue_count), &ids((1..=members).map(|n| format!("c{n}")))))
}

#[test]
fn c13_average() {
    assert_eq!(split(&Average, 4, 6), "0 | 1 | 2 | 3 | - | -");
    assert_eq!(split(&Average, 1, 5), "0 | - | - | - | -");
    assert_eq!(split(&Average, 10, 3), "0 1 2 3 | 4 5 6 | 7 8 9");
    assert_eq!(split(&Average, 8, 3), "0 1 2 | 3 4 5 | 6 7");
}

#[test]
fn c13_circle() {
    assert_eq!(split(&Circle, 10, 3), "0 3 6 9 | 1 4 7 | 2 5 8");
    assert_eq!(split(&Circle, 3, 5), "0 | 1 | 2 | - | -");
}

/// Every strategy that looks at its input.
fn strategies() -> Vec<Box<dyn Allocate>> {
    vec![
        Box::new(Average),
        Box::new(Circle),
        Box::new(ConsistentHash::default()),
        Box::new(MachineRoom::new(["r"])),
        Box::new(Nearby::new(Average, RoomPrefix { separator: '-' })),
    ]
}

#[test]
fn c13_an_unknown_member_gets_nothing() {
    for strategy in strategies() {
        let answer = share(&*strategy, "r-stranger", &queues("T", "r-b", 4), &ids(["r-c1", "r-c2"]));
        assert_eq!(answer, Ok(Vec::new()), "{}", strategy.name());
    }
}

#[test]
fn c13_empty_input_is_an_error() {
    let (some_queues, some_ids) = (queues("T", "r-b", 4), ids(["r-c1"]));
    for strategy in strategies() {
        let ask = |me, queues, members| share(&*strategy, me, queues, members).unwrap_err();
        assert_eq!(ask("", &some_queues, &some_ids), AllocateError::NoMember);
        assert_eq!(ask("r-c1", &[], &some_ids), AllocateError::NoQueues);
        assert_eq!(ask("r-c1", &some_queues, &[]), AllocateError::NoMembers);
        assert_eq!(ask("", &[], &[]), AllocateError::NoMember);
        assert_eq!(ask("r-c1", &[], &[]), AllocateError::NoQueues);
        assert_eq!(ask("", &[], &[]).blame(), Blame::Caller);
    }
}
