//! C02: a hash ring that agrees with Java's, point for point. Groups of Java and Rust members split without it.

use crate::sharing;

use evenkeel_core::allocate::{ConsistentHash, md5_hash};
use evenkeel_core::model::MessageQueue;
use sharing::{by_number, ids, queues, shares};

#[test]
fn c02_queues_go_where_java_sends_them() {
    let strategy = ConsistentHash::default();
    let orders = queues("TopicTest", "broker-a", 8);
    let two = shares(&strategy, &orders, &ids(["c1", "c2"]));
    assert_eq!(by_number(&two), "0 3 4 5 7 | 1 2 6");
    let three = shares(&strategy, &orders, &ids(["c1", "c2", "c3"]));
    assert_eq!(by_number(&three), "0 4 5 7 | 1 6 | 2 3");
    let four = ids((1..=4).map(|n| format!("10.1.1.{n}@1")));
    assert_eq!(by_number(&shares(&strategy, &queues("T", "b", 8), &four)), "3 6 7 | - | 1 2 4 5 | 0");
}

#[test]
fn c02_ten_virtual_nodes_are_the_default() {
    let orders = queues("TopicTest", "broker-a", 8);
    let members = ids(["c1", "c2", "c3"]);
    let ten = ConsistentHash::new(10).unwrap();
    assert_eq!(shares(&ten, &orders, &members), shares(&ConsistentHash::default(), &orders, &members));
}

#[test]
fn c02_a_new_member_takes_and_nothing_else_moves() {
    let strategy = ConsistentHash::default();
    let orders = queues("TopicTest", "broker-a", 8);
    let before = shares(&strategy, &orders, &ids(["c1", "c2"]));
    let after = shares(&strategy, &orders, &ids(["c1", "c2", "c3"]));
    let moved: Vec<i32> = orders
        .iter()
        .filter(|queue| (0..2).any(|member| before[member].contains(queue) != after[member].contains(queue)))
        .map(|queue| queue.id)
        .collect();
    assert_eq!(moved, [2, 3]);
}

#[test]
fn c02_hashes_are_the_first_four_bytes_of_md5_unsigned() {
    assert_eq!(md5_hash("c1-0"), 3_886_541_579);
    assert_eq!(md5_hash("c1-1"), 1_895_315_590);
    assert_eq!(md5_hash("c1-9"), 1_522_780_571);
    assert_eq!(md5_hash("c2-0"), 830_676_049);
    assert_eq!(md5_hash("c3-0"), 3_814_673_362);
    let queue = |id| MessageQueue::new("TopicTest", "broker-a", id).java_text();
    assert_eq!(queue(0), "MessageQueue [topic=TopicTest, brokerName=broker-a, queueId=0]");
    assert_eq!(md5_hash(&queue(0)), 1_987_926_524);
    assert_eq!(md5_hash(&queue(1)), 4_291_349_817);
}

#[test]
fn c02_a_number_of_virtual_nodes_that_cannot_be_is_an_error() {
    for points in [-1, i32::MIN, ConsistentHash::MAX_VIRTUAL_NODES + 1, i32::MAX] {
        assert_eq!(ConsistentHash::new(points).unwrap_err().kind(), "bad-parameter", "{points}");
    }
    let nobody = ConsistentHash::new(0).unwrap();
    assert_eq!(by_number(&shares(&nobody, &queues("T", "b", 4), &ids(["c1", "c2"]))), "- | -");
}
