//! C09: the order of a group, whatever order things were pasted in.

use evenkeel_core::paste::parse;
use evenkeel_core::report::{Strategy, allocate};

use crate::mqadmin::ids;

#[test]
fn c09_five_consumers_and_two_brokers_in_any_order() {
    let parsed = parse("E\nB\nD\nA\nC\n\nT: b2=12, b10=12\n");
    assert_eq!(parsed.problems, []);
    let all = allocate(&parsed.snapshot, Some(&Strategy::Avg {})).unwrap();
    let share = |id: &str| {
        let queues = all.by_consumer[&id.into()].iter();
        queues.map(|queue| format!("{} {}", queue.broker, queue.id)).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(share("A"), "b10 0, b10 1, b10 2, b10 3, b10 4");
    assert_eq!(share("C"), "b10 10, b10 11, b2 0, b2 1, b2 2");
    assert_eq!(share("E"), "b2 8, b2 9, b2 10, b2 11");
}

#[test]
fn c09_ids_sort_as_text() {
    let parsed = parse("10.0.0.9@1\n10.0.0.100@1\n10.0.0.10@1\n");
    assert_eq!(ids(&parsed), ["10.0.0.100@1", "10.0.0.10@1", "10.0.0.9@1"]);
}
