//! What people type.

use evenkeel_core::paste::{Kind, parse};
use evenkeel_core::report::Strategy;

use crate::mqadmin::{ids, queues};

#[test]
fn ids_topics_group_and_strategy() {
    let parsed = parse(
        "group: pay-worker\nstrategy: hash:20\norders: broker-a=8 broker-b=4\nrefunds: broker-a=2\nc3, c1;c2\n10.0.3.11@7#812\n",
    );
    assert_eq!((parsed.problems.as_slice(), &parsed.kinds), ([].as_slice(), &vec![Kind::List]));
    assert_eq!(queues(&parsed), ["orders broker-a=8", "orders broker-b=4", "refunds broker-a=2"]);
    assert_eq!(ids(&parsed), ["10.0.3.11@7#812", "c1", "c2", "c3"]);
    assert_eq!(parsed.snapshot.strategy, Some("hash:20".parse::<Strategy>().unwrap()));
    assert_eq!(parsed.snapshot.group.unwrap().as_str(), "pay-worker");
}

#[test]
fn what_is_no_list_is_named_with_its_line() {
    let parsed = parse("c1\nhello wide world\n\norders: broker-a=many\nstrategy: averge\n}{\n");
    let told: Vec<_> = parsed.problems.iter().map(|problem| (problem.line, problem.text.as_str())).collect();
    assert_eq!(
        told,
        [(2, "hello wide world"), (4, "orders: broker-a=many"), (5, "strategy: averge"), (6, "}{")]
    );
    assert!(parsed.problems[1].expected.contains("TOPIC: BROKER=N"));
    assert!(parsed.problems[2].expected.contains("there is no strategy \"averge\""));
    assert_eq!(parsed.lines, 5);
}

#[test]
fn a_list_of_texts_is_a_list_of_ids() {
    assert_eq!(ids(&parse(r#"["c2", "c1"]"#)), ["c1", "c2"]);
}

#[test]
fn an_id_twice_in_one_list_is_two_processes() {
    assert_eq!(ids(&parse("X\nY\nX\n")), ["X", "X", "Y"]);
    assert_eq!(ids(&parse("X\nY\n\nX\n")), ["X", "Y"], "another list of the same");
}
