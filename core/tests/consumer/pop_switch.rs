//! The broker shares out, and switches topics between pull and pop while they are consumed.

use super::pop::{acked, answer, found, hidden, pop_in_flight};
use crate::support;

use evenkeel_core::allocate::ConsistentHash;
use evenkeel_core::config::{ConfigError, RebalanceBy};
use evenkeel_core::consumer::{Event, Input};
use evenkeel_core::wire::bodies::{Assignments, RequestMode};
use evenkeel_core::wire::reply::PopStatus;
use std::collections::BTreeSet;
use support::{Cluster, MS, MessageQueue, Reply, Request, Rig, SECOND, Topic, Verdict, config, lost, queue};

fn rig(net: Cluster) -> Rig {
    let mut config = config(&["T"]);
    config.limits.rebalance = RebalanceBy::Broker;
    let mut rig = Rig::new(net, config);
    rig.advance(SECOND);
    rig
}

fn entry() -> MessageQueue {
    queue("T", -1)
}

fn switch(rig: &mut Rig, to_pop: bool) {
    match to_pop {
        true => rig.net.popped.insert(Topic::from("T")),
        false => rig.net.popped.remove(&Topic::from("T")),
    };
    rig.members_changed();
}

fn subscribed(rig: &Rig) -> Vec<String> {
    let beats = rig.calls.iter().rev().find_map(|flight| match &flight.request {
        Request::Heartbeat(heartbeat) => Some(heartbeat.consumers[0].subscriptions.clone()),
        _ => None,
    });
    let topics = beats.expect("a heartbeat").into_iter();
    topics.map(|it| it.subscription.topic.as_str().to_owned()).collect()
}

#[test]
fn the_broker_is_asked_and_not_the_members() {
    let rig = rig(Cluster::one("T", 2));
    let asked = rig.sent(0, |flight| match &flight.request {
        Request::QueryAssignment(query) => Some((query.topic.clone(), query.strategy.clone())),
        Request::Members { .. } => panic!("the members were asked for"),
        _ => None,
    });
    assert_eq!(asked[0], ("T".into(), "AVG".into()));
    assert_eq!(rig.fetching("T"), [0, 1]);
}

/// Pulls a topic whose retry topic has a message left from when it was popped. Gives the queue of that.
fn left_from_a_pop() -> (Rig, MessageQueue) {
    let mut net = Cluster::one("T", 1);
    net.topic("%RETRY%g_T", &[("a", 1)]);
    let retry = queue("%RETRY%g_T", 0);
    net.store(&retry, 1);
    let mut rig = rig(net);
    rig.advance(SECOND * 2);
    (rig, retry)
}

/// Retry topics of pops may hold messages from when the topic was popped, by either name.
#[test]
fn retry_topics_of_pops_are_pulled_while_their_topic_is() {
    let (mut rig, retry) = left_from_a_pop();
    assert_eq!(subscribed(&rig), ["%RETRY%g", "%RETRY%g+T", "%RETRY%g_T", "T"]);
    assert_eq!(rig.delivered(&retry), [0]);
    let (_, delivery) = &rig.deliveries[0];
    assert_eq!(delivery.messages[0].topic.as_str(), "T", "it keeps the name it was sent under");
    switch(&mut rig, true);
    rig.finish_all();
    rig.advance(SECOND * 3);
    assert_eq!(subscribed(&rig), ["%RETRY%g", "T"], "pops bring them along");
    assert!(pop_in_flight(&rig).is_some());
}

/// 1. The queue is pulled; two messages are with handlers, one is done.
/// 2. The operator switches to pop. The queue goes: what is done is committed, the handlers may finish.
/// 3. Only when the last commit is confirmed the entry begins: the broker pops from there.
#[test]
fn from_pull_to_pop() {
    let q = queue("T", 0);
    let mut rig = rig(Cluster::one("T", 1).with_stored(&q, 10, 3));
    rig.finish(&q, 10);
    switch(&mut rig, true);
    rig.advance(SECOND);
    assert_eq!(rig.view(&q).phase, "draining");
    assert!(pop_in_flight(&rig).is_none(), "handlers have messages of the queue");
    rig.finish(&q, 11);
    rig.finish(&q, 12);
    rig.advance(SECOND);
    assert_eq!(rig.net.committed[&q], 13);
    assert!(pop_in_flight(&rig).is_some());
    let begun = rig.events.iter().rev().find_map(|(_, event)| match event {
        Event::Rebalanced { topic, assigned, gained, .. } if topic.as_str() == "T" => {
            Some((assigned, gained))
        }
        _ => None,
    });
    assert_eq!(begun, Some((&vec![entry()], &vec![entry()])), "whoever watches the assignment hears of it");
}

/// 1. A pop is parked, one popped message is with a handler.
/// 2. The operator switches back. No further pop; the parked one brings another message, which is ours and is handled.
/// 3. When both are acknowledged the queues begin, at the offset that the broker has.
#[test]
fn from_pop_to_pull() {
    let q = queue("T", 0);
    let mut net = Cluster::one("T", 1).with_committed(&q, 40);
    net.popped.insert(Topic::from("T"));
    let mut rig = rig(net);
    found(&mut rig, 0..1);
    switch(&mut rig, false);
    rig.advance(SECOND * 2);
    assert_eq!(rig.view(&entry()).phase, "draining");
    assert!(rig.fetching("T").is_empty());
    found(&mut rig, 1..2);
    assert_eq!(rig.delivered(&entry()), [0, 1]);
    assert!(pop_in_flight(&rig).is_none());
    rig.finish(&entry(), 0);
    rig.finish(&entry(), 1);
    rig.advance(SECOND);
    assert_eq!(rig.fetching("T"), [0]);
    assert_eq!(rig.pulled(&q)[0], 40);
}

#[test]
fn an_entry_that_is_regained_goes_on() {
    let mut net = Cluster::one("T", 1);
    net.popped.insert(Topic::from("T"));
    let mut rig = rig(net);
    let parked = pop_in_flight(&rig).expect("a pop is in flight").0;
    switch(&mut rig, false);
    rig.advance(SECOND * 2);
    switch(&mut rig, true);
    rig.advance(SECOND * 2);
    assert_eq!(pop_in_flight(&rig).expect("a pop is in flight").0, parked, "never two at once");
    answer(&mut rig, PopStatus::NoNew, vec![]);
    assert!(pop_in_flight(&rig).is_some());
    assert!(rig.fetching("T").is_empty());
}

#[test]
fn no_answer_keeps_what_we_have_and_an_empty_one_takes_it() {
    let mut rig = rig(Cluster::one("T", 2));
    for verdict in [Err(lost()), Ok(Reply::Assigned(Assignments(None)))] {
        rig.rule(move |_, request| match request {
            Request::QueryAssignment(_) => Verdict::Reply(verdict.clone()),
            _ => Verdict::Usual,
        });
        rig.members_changed();
        rig.advance(SECOND * 3);
        assert_eq!(rig.fetching("T"), [0, 1]);
    }
    let asks =
        |rig: &Rig| rig.sent(0, |it| matches!(it.request, Request::QueryAssignment(_)).then_some(())).len();
    assert!(asks(&rig) >= 6, "another round follows soon");
    rig.rule(|_, request| match request {
        Request::QueryAssignment(_) => Verdict::Reply(Ok(Reply::Assigned(Assignments(Some([].into()))))),
        _ => Verdict::Usual,
    });
    rig.advance(SECOND * 3);
    assert!(rig.fetching("T").is_empty());
}

/// 4.9 does not know the question. Java gives up asking after any error, and for good.
#[test]
fn where_the_broker_cannot_the_members_share_out_themselves() {
    let mut net = Cluster::one("T", 4);
    net.old = true;
    net.members(&["me", "other"]);
    let mut rig = rig(net);
    assert_eq!(rig.fetching("T"), [0, 1]);
    rig.advance(SECOND * 60);
    assert_eq!(rig.saw(|event| matches!(event, Event::SharedOutHere { .. })), 1, "told once");
    assert_eq!(subscribed(&rig), ["%RETRY%g", "T"]);
    // The broker comes back as a newer one.
    rig.net.old = false;
    rig.input(Input::Link { address: "a:10911".into(), up: false });
    rig.advance(SECOND * 5);
    assert_eq!(rig.fetching("T"), [0, 1, 2, 3], "this one gives us everything");
}

#[test]
fn orderly_consumers_share_out_themselves() {
    let mut config = config(&["T"]);
    (config.limits.rebalance, config.orderly) = (RebalanceBy::Broker, true);
    let mut net = Cluster::one("T", 1);
    net.popped.insert(Topic::from("T"));
    let mut rig = Rig::new(net, config);
    rig.advance(SECOND * 2);
    assert_eq!(rig.fetching("T"), [0]);
    assert!(rig.sent(0, |it| matches!(it.request, Request::QueryAssignment(_)).then_some(())).is_empty());
}

#[test]
fn brokers_know_two_strategies() {
    let mut config = config(&["T"]);
    config.limits.rebalance = RebalanceBy::Broker;
    config.strategy = std::sync::Arc::new(ConsistentHash::default());
    let error = config.validate().expect_err("the broker would never answer");
    assert!(matches!(&error, ConfigError::Invalid { what: "rebalance", .. }), "{error}");
    assert!(error.to_string().contains("AVG and AVG_BY_CIRCLE"), "{error}");
}

/// 1. One message is with a handler, one waits for it; a pop is parked.
/// 2. The topic is unsubscribed: the waiting one is shown to others, and so is what the parked pop, which cannot be called
///    off, still brings. Nobody is left who could say which of its tags are wanted.
/// 3. The handler ends well, and the entry with it.
#[test]
fn of_an_unsubscribed_topic_nothing_is_handed_out_any_more() {
    let mut net = Cluster::one("T", 1);
    net.popped.insert(Topic::from("T"));
    let mut config = config(&["T"]);
    (config.limits.rebalance, config.limits.concurrency) = (RebalanceBy::Broker, 1);
    let mut rig = Rig::new(net, config);
    rig.advance(SECOND);
    found(&mut rig, 0..2);
    rig.input(Input::Unsubscribe { topic: Topic::from("T") });
    found(&mut rig, 2..4);
    rig.finish(&entry(), 0);
    rig.advance(MS * 5);
    assert_eq!(rig.delivered(&entry()), [0]);
    assert_eq!((acked(&rig), hidden(&rig)), (vec![0], vec![(1, 1000), (2, 1000), (3, 1000)]));
    assert!(pop_in_flight(&rig).is_none());
    assert!(support::view(&rig.consumer, &entry()).is_none());
}

/// While a topic is pulled its retry topics are, too: these go with it, whatever was left of them.
#[test]
fn an_unsubscribed_topic_takes_its_retry_topics_with_it() {
    let (mut rig, retry) = left_from_a_pop();
    rig.input(Input::Unsubscribe { topic: Topic::from("T") });
    rig.finish(&retry, 0);
    rig.advance(SECOND * 60);
    assert_eq!(subscribed(&rig), ["%RETRY%g"]);
    let state = format!("{:?}", rig.consumer);
    for topic in ["%RETRY%g_T", "%RETRY%g+T"] {
        assert!(!state.contains(topic), "{topic} is kept: {state}");
    }
}

/// Broker `b` has nothing for the group any more, broker `c` has. The pop at `b` that cannot be called off is no reason
/// to wait for.
#[test]
fn an_entry_at_another_broker_begins_at_once() {
    let mut net = Cluster::one("T", 1);
    net.topic("T", &[("a", 1), ("b", 1), ("c", 1)]);
    let mut config = config(&["T"]);
    config.limits.rebalance = RebalanceBy::Broker;
    let mut rig = Rig::new(net, config);
    let share = |rig: &mut Rig, brokers: [&'static str; 2]| {
        rig.rule(move |_, request| match request {
            Request::QueryAssignment(query) => {
                let entries = brokers
                    .map(|broker| (MessageQueue::new(query.topic.clone(), broker, -1), RequestMode::Pop));
                Verdict::Reply(Ok(Reply::Assigned(Assignments(Some(entries.into())))))
            }
            _ => Verdict::Usual,
        });
    };
    let popped_at = |rig: &Rig| {
        let to = |request: &Request| match request {
            Request::Pop(pop) => Some(pop.queue.broker.to_string()),
            _ => None,
        };
        rig.flights.values().filter_map(|flight| to(&flight.request)).collect::<BTreeSet<_>>()
    };
    share(&mut rig, ["a", "b"]);
    rig.advance(SECOND);
    assert_eq!(popped_at(&rig), ["a", "b"].map(String::from).into());
    share(&mut rig, ["a", "c"]);
    rig.members_changed();
    rig.advance(MS * 5);
    assert_eq!(popped_at(&rig), ["a", "b", "c"].map(String::from).into());
}
