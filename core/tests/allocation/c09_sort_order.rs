//! C09: all members sort alike, however the lists come, because shares are positions.

use crate::sharing;

use evenkeel_core::allocate::{Average, SortedMembers, SortedQueues};
use evenkeel_core::model::MessageQueue;
use sharing::{by_broker, ids, queues, shares};

#[test]
fn c09_queues_sort_by_topic_broker_text_and_number() {
    let shuffled_members = ids(["E", "B", "D", "A", "C"]);
    let mut given = queues("T", "b2", 12);
    given.extend(queues("T", "b10", 12));
    // 7 has no factor in common with 24, so this visits every queue once.
    let shuffled: Vec<MessageQueue> = (0..24).map(|k| given[(k * 7 + 5) % 24].clone()).collect();
    let answers = shares(&Average, &shuffled, &shuffled_members);
    let of = |name: &str| {
        let at = shuffled_members.iter().position(|id| id.as_str() == name).unwrap();
        by_broker(&answers[at..=at])
    };
    assert_eq!(of("A"), "b10/0 b10/1 b10/2 b10/3 b10/4");
    assert_eq!(of("B"), "b10/5 b10/6 b10/7 b10/8 b10/9");
    assert_eq!(of("C"), "b10/10 b10/11 b2/0 b2/1 b2/2");
    assert_eq!(of("D"), "b2/3 b2/4 b2/5 b2/6 b2/7");
    assert_eq!(of("E"), "b2/8 b2/9 b2/10 b2/11");
}

#[test]
fn c09_client_ids_sort_as_text() {
    let members = SortedMembers::new(ids(["10.0.0.9@1", "10.0.0.10@1", "10.0.0.100@1"]));
    assert_eq!(members.to_vec(), ids(["10.0.0.100@1", "10.0.0.10@1", "10.0.0.9@1"]));
}

#[test]
fn c09_text_sorts_by_utf16_unit() {
    let (rocket, wide_a) = ("\u{1F680}", "\u{FF21}");
    let members = SortedMembers::new(ids([wide_a, rocket, "z"]));
    assert_eq!(members.to_vec(), ids(["z", rocket, wide_a]));
    let queues: SortedQueues = [(wide_a, "b"), ("T", wide_a), ("T", rocket)]
        .map(|(t, b)| MessageQueue::new(t, b, 0))
        .into_iter()
        .collect();
    let order: Vec<_> = queues.iter().map(|queue| (queue.topic.as_str(), queue.broker.as_str())).collect();
    assert_eq!(order, [("T", rocket), ("T", wide_a), (wide_a, "b")]);
}
