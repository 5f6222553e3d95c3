//! C19: a topic is unsubscribed, is not found, grows, or its broker moves: five different things.

use crate::support;

use evenkeel_core::consumer::{Event, Input};
use evenkeel_core::wire::code::ResponseCode;
use support::{Address, Cluster, MS, Request, Rig, SECOND, Verdict, all_of, config, queue, refused};

/// T1 and T2 with four queues each, all ours, with pulls at the broker.
fn rig() -> Rig {
    let mut net = Cluster::one("T1", 4);
    net.topic("T2", &[("a", 4)]);
    for id in 0..4 {
        net = net.with_stored(&queue("T1", id), 0, 3).with_stored(&queue("T2", id), 0, 3);
    }
    let mut rig = Rig::new(net, config(&["T1", "T2"]));
    rig.advance(2 * SECOND);
    // More than there are handlers: the first ones make room for the last.
    assert_eq!((rig.fetching("T1"), rig.fetching("T2")), (vec![0, 1, 2, 3], vec![0, 1, 2, 3]));
    rig
}

#[test]
fn c19_a_unsubscribe() {
    let mut rig = rig();
    rig.finish_all();
    rig.finish_all();
    let (calls, events) = (rig.calls.len(), rig.events.len());
    rig.input(Input::Unsubscribe { topic: "T2".into() });
    rig.advance(SECOND);
    assert!(rig.consumer.snapshot().queues.iter().all(|view| view.queue.topic.as_str() == "T1"));
    for id in 0..4 {
        assert_eq!(rig.net.committed[&queue("T2", id)], 3);
    }
    let topics = rig.sent(calls, |flight| match &flight.request {
        Request::Heartbeat(heartbeat) => {
            let of = |c: &evenkeel_core::wire::request::ConsumerData| c.subscriptions.clone();
            let all = heartbeat.consumers.iter().flat_map(of);
            Some(all.map(|entry| entry.subscription.topic.to_string()).collect::<Vec<_>>())
        }
        _ => None,
    });
    assert_eq!(topics, [["%RETRY%g", "T1"]]);
    assert_eq!(rig.fetching("T1"), [0, 1, 2, 3]);
    let touched = |event: &Event| matches!(event, Event::QueueEnded { queue, .. } | Event::QueueStarted { queue, .. } if queue.topic.as_str() == "T1");
    assert!(!rig.events[events..].iter().any(|(_, event)| touched(event)));
    // No more pulls, and no more routes of it.
    let calls = rig.calls.len();
    rig.store(&queue("T2", 0), 3);
    rig.advance(60 * SECOND);
    let of_t2 = |flight: &support::Flight| format!("{:?}", flight.request).contains("T2").then_some(());
    assert!(rig.sent(calls, of_t2).is_empty());
}

/// The topic's brokers are nobody else's: they are still told what its last handlers did.
///
/// 1. Unsubscribed while a handler has offset 0; the route is forgotten.
/// 2. T1's route is read again, and no route names broker `b` any more.
/// 3. The handler finishes.
#[test]
fn c19_a_last_commit_of_a_topic_alone_on_its_broker() {
    use evenkeel_core::model::MessageQueue;
    let q = MessageQueue::new("T2", "b", 0);
    let mut net = Cluster::one("T1", 1);
    net.topic("T2", &[("b", 1)]);
    let mut config = config(&["T1", "T2"]);
    config.limits.route_interval = 4 * SECOND;
    let mut rig = Rig::new(net.with_stored(&q, 0, 1), config);
    rig.advance(3 * SECOND);
    rig.input(Input::Unsubscribe { topic: "T2".into() });
    rig.advance(2 * SECOND);
    rig.finish(&q, 0);
    rig.advance(10 * MS);
    assert_eq!(rig.net.committed[&q], 1);
    rig.advance(5 * SECOND);
    assert_eq!(rig.hung_up, [Address::from("b:10911")]);
}

#[test]
fn c19_a_and_back_again() {
    let mut rig = rig();
    rig.input(Input::Unsubscribe { topic: "T2".into() });
    rig.input(Input::Subscribe { subscription: all_of("T2") });
    rig.finish_all();
    rig.finish_all();
    rig.advance(5 * SECOND);
    assert_eq!(rig.fetching("T2"), [0, 1, 2, 3]);
    let versions = rig.sent(0, |flight| match &flight.request {
        Request::Pull(pull) if pull.queue == queue("T2", 0) => Some(pull.subscription_version),
        _ => None,
    });
    assert!(versions.is_sorted() && versions.first() < versions.last(), "{versions:?}");
}

/// Two changes within one millisecond: the second must win at the broker, which keeps the higher version.
#[test]
fn c19_changes_in_one_millisecond() {
    let mut rig = rig();
    let calls = rig.calls.len();
    rig.rule(
        |_, request| if matches!(request, Request::Heartbeat(_)) { Verdict::Park } else { Verdict::Usual },
    );
    for _ in 0..3 {
        rig.input(Input::Subscribe { subscription: all_of("T2") });
    }
    rig.usual();
    rig.advance(5 * SECOND);
    let versions = rig.sent(calls, |flight| match &flight.request {
        Request::Heartbeat(h) => {
            let of_t2 = h.consumers[0].subscriptions.iter().find(|s| s.subscription.topic.as_str() == "T2");
            of_t2.map(|entry| entry.version)
        }
        _ => None,
    });
    assert_eq!(versions.len(), 2);
    assert_eq!(versions[1], versions[0] + 2);
}

#[test]
fn c19_b_topic_not_found_for_a_while() {
    let mut rig = rig();
    rig.finish_all();
    rig.finish_all();
    let mut turn = 0;
    rig.rule(move |_, request| match request {
        Request::Route { topic } if topic.as_str() == "T1" => {
            turn += 1;
            let missing = refused(request, ResponseCode::TOPIC_NOT_EXIST);
            if turn % 2 == 1 { Verdict::Reply(Err(missing)) } else { Verdict::Park }
        }
        _ => Verdict::Usual,
    });
    let events = rig.events.len();
    rig.advance(120 * SECOND);
    assert_eq!(rig.fetching("T1"), [0, 1, 2, 3]);
    let ended = |event: &Event| matches!(event, Event::QueueEnded { .. } | Event::Rebalanced { .. });
    assert!(!rig.events[events..].iter().any(|(_, event)| ended(event)));
    let failures = rig.events[events..].iter().filter(|(_, e)| matches!(e, Event::CallFailed { .. })).count();
    assert!((3..=5).contains(&failures), "{failures} failures in two minutes");
    rig.store(&queue("T1", 0), 1);
    rig.advance(SECOND);
    assert_eq!(rig.delivered(&queue("T1", 0)), [0, 1, 2, 3]);
}

#[test]
fn c19_c_topic_grows() {
    let mut rig = rig();
    rig.finish_all();
    rig.finish_all();
    rig.net.topic("T1", &[("a", 8)]);
    rig.net.store(&queue("T1", 5), 50);
    rig.net.members(&["me", "zz"]);
    rig.advance(50 * SECOND);
    assert_eq!(rig.fetching("T1"), [0, 1, 2, 3]);
    rig.net.members(&["aa", "me"]);
    rig.members_changed();
    rig.advance(SECOND);
    assert_eq!(rig.fetching("T1"), [4, 5, 6, 7]);
    assert_eq!(rig.pulled(&queue("T1", 5)), [50], "a new queue starts by the start policy");
}

/// A topic that may not be read is told of once, and taken up when its route changes.
#[test]
fn c19_c_topic_without_readable_queues() {
    let mut rig = Rig::new(Cluster::one("T1", 0), config(&["T1"]));
    rig.advance(120 * SECOND);
    let told =
        |rig: &Rig| rig.events.iter().filter(|(_, e)| matches!(e, Event::NothingToRead { .. })).count();
    assert_eq!(told(&rig), 1);
    rig.net.topic("T1", &[("a", 4)]);
    rig.advance(60 * SECOND);
    assert_eq!((rig.fetching("T1"), told(&rig)), (vec![0, 1, 2, 3], 1));
}

/// The topic may not be read any more: its queues end and what is done is committed; the other topic goes on.
#[test]
fn c19_c_no_readable_queue_is_left() {
    let mut rig = rig();
    rig.finish_all();
    rig.finish_all();
    rig.net.topic("T1", &[("a", 0)]);
    rig.advance(50 * SECOND);
    assert_eq!(rig.fetching("T1"), [0; 0]);
    assert_eq!(rig.fetching("T2"), [0, 1, 2, 3]);
    assert_eq!(rig.net.committed[&queue("T1", 0)], 3);
}

#[test]
fn c19_d_broker_moves() {
    let (mut rig, q) = (rig(), queue("T1", 0));
    rig.finish_all();
    rig.finish_all();
    let (old, new) = (Address::from("a:10911"), Address::from("a-new:10911"));
    rig.net.brokers.insert("a".into(), [(0, new.clone())].into());
    rig.advance(31 * SECOND);
    assert_eq!(rig.hung_up, std::slice::from_ref(&old));
    let (calls, events) = (rig.calls.len(), rig.events.len());
    rig.store(&q, 1);
    rig.advance(60 * SECOND);
    assert_eq!(rig.delivered(&q), [0, 1, 2, 3]);
    let to_old = rig.sent(calls, |flight| (flight.to == old).then_some(()));
    assert!(to_old.is_empty(), "the old address is still used");
    assert!(rig.pulled(&q).len() >= 3 && rig.calls.iter().any(|flight| flight.to == new));
    let ended = |event: &Event| matches!(event, Event::QueueEnded { .. });
    assert!(!rig.events[events..].iter().any(|(_, event)| ended(event)), "the queues stay ours");
}

#[test]
fn c19_e_no_retry_topic_yet() {
    let mut rig = rig();
    rig.finish_all();
    rig.finish_all();
    rig.advance(120 * SECOND);
    assert_eq!(rig.saw(|event| matches!(event, Event::CallFailed { .. })), 0, "it is no error");
    // With the first heartbeat the broker made it; it is found without waiting for long.
    rig.net.topic("%RETRY%g", &[("a", 1)]);
    rig.advance(31 * SECOND);
    assert_eq!(rig.fetching("%RETRY%g"), [0]);
}
