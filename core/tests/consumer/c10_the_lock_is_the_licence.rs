//! C10: without its lock a queue of an orderly group is neither pulled nor handed out.

use crate::support;

use evenkeel_core::config::ConsumerConfig;
use evenkeel_core::consumer::Event;
use evenkeel_core::model::Address;
use std::collections::BTreeSet;
use support::{Cluster, MS, MessageQueue, Request, Rig, SECOND, Verdict, config, lost};

fn orderly(topics: &[&str]) -> ConsumerConfig {
    let mut config = config(topics);
    config.orderly = true;
    config
}

/// Queue 0 on brokers `a` and `b`, with 1,000 messages each; each handler takes 100 ms.
fn two_brokers() -> (Rig, MessageQueue, MessageQueue) {
    let (a, b) = (MessageQueue::new("T", "a", 0), MessageQueue::new("T", "b", 0));
    let mut cluster = Cluster::one("T", 1);
    cluster.topic("T", &[("a", 1), ("b", 1)]);
    let cluster = cluster.with_stored(&a, 0, 1000).with_stored(&b, 0, 1000);
    let mut rig = Rig::new(cluster, orderly(&["T"]));
    rig.checks.orderly = true;
    rig.work = Some(100 * MS);
    (rig, a, b)
}

fn locks(rig: &Rig) -> Vec<(Address, BTreeSet<MessageQueue>)> {
    rig.sent(0, |flight| match &flight.request {
        Request::Lock(set) => Some((flight.to.clone(), set.queues.clone())),
        _ => None,
    })
}

#[test]
fn c10_a_queue_whose_lock_another_member_holds_waits_and_the_others_do_not() {
    let (mut rig, a, b) = two_brokers();
    rig.net.locked_elsewhere.insert(b.clone());
    rig.advance(SECOND);
    assert!(!rig.pulled(&a).is_empty() && !rig.delivered(&a).is_empty());
    assert_eq!((rig.pulled(&b).len(), rig.view(&b).phase), (0, "locking"));
    assert!(rig.saw(|event| matches!(event, Event::LockRefused { queue, .. } if *queue == b)) > 1);
    assert_eq!(rig.saw(|event| matches!(event, Event::LockRefused { queue, .. } if *queue == a)), 0);

    rig.net.locked_elsewhere.clear();
    rig.advance(510 * MS);
    assert!(!rig.delivered(&b).is_empty(), "asked again within 500 ms");
    // Each broker is asked for its own queues only.
    for (to, queues) in locks(&rig) {
        assert!(
            queues.iter().all(|queue| to.as_str() == format!("{}:10911", queue.broker)),
            "{to} {queues:?}"
        );
    }
}

#[test]
fn c10_an_unanswered_renewal_ends_the_licence_after_30_s_and_an_answered_one_brings_it_back() {
    let (mut rig, a, b) = two_brokers();
    rig.advance(SECOND);
    let silent_from = rig.now;
    rig.rule(|to, request| match request {
        Request::Lock(_) if to.as_str() == "b:10911" => Verdict::Reply(Err(lost())),
        _ => Verdict::Usual,
    });
    rig.advance(32 * SECOND);
    let last = |rig: &Rig, queue: &MessageQueue| {
        rig.deliveries.iter().rev().find(|(_, d)| d.queue == *queue).map(|(at, _)| *at).expect("a delivery")
    };
    let silent_for = last(&rig, &b) - silent_from;
    assert!(silent_for <= 30 * SECOND && silent_for > 28 * SECOND, "{silent_for:?}");
    assert!(rig.now - last(&rig, &a) <= 200 * MS, "the other queue goes on");
    assert!(!rig.view(&b).locked);
    let before = rig.delivered(&b).len();

    rig.usual();
    rig.advance(2 * SECOND);
    assert!(rig.delivered(&b).len() > before);
    let each_once: Vec<i64> = (0..rig.delivered(&b).len() as i64).collect();
    assert_eq!(rig.delivered(&b), each_once, "it goes on where it stopped");
}

#[test]
fn c10_locks_are_renewed_every_20_s_with_one_call_for_each_broker() {
    let (mut rig, a, b) = two_brokers();
    rig.advance(SECOND);
    let before = locks(&rig).len();
    rig.advance(60 * SECOND);
    let renewals = &locks(&rig)[before..];
    let of = |queue: &MessageQueue| renewals.iter().filter(|(_, queues)| queues.contains(queue)).count();
    assert_eq!((of(&a), of(&b), renewals.len()), (3, 3, 6));
}

/// Control for the licence: a group that is not orderly asks for no lock.
#[test]
fn others_lock_nothing() {
    let mut rig = Rig::new(Cluster::one("T", 2), config(&["T"]));
    rig.advance(60 * SECOND);
    assert!(locks(&rig).is_empty());
    assert_eq!(rig.fetching("T"), [0, 1]);
}
