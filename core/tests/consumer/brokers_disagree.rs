//! The broker shares out, and brokers do not agree on how a topic is consumed: whoever answers first, or tells of a
//! change, is not the one that is asked for that.

use super::pop::pop_in_flight;
use crate::support;

use evenkeel_core::config::RebalanceBy;
use evenkeel_core::consumer::Input;
use evenkeel_core::wire::bodies::{Assignments, RequestMode};
use evenkeel_core::wire::peer::PeerRequest;
use support::{
    Address, Cluster, GROUP, Group, MS, MessageQueue, Reply, Request, Rig, SECOND, Topic, Verdict, config,
    lost,
};

/// Broker `a` has the topic popped; broker `b` has it pulled. `rule` comes first.
fn rig(mut rule: impl FnMut(&Address, &Request) -> Verdict + 'static) -> Rig {
    let mut net = Cluster::one("T", 1);
    net.topic("T", &[("a", 1), ("b", 1)]);
    net.popped.insert(Topic::from("T"));
    let mut config = config(&["T"]);
    config.limits.rebalance = RebalanceBy::Broker;
    let mut rig = Rig::new(net, config);
    rig.rule(move |to, request| match rule(to, request) {
        Verdict::Usual if *to == b() && matches!(request, Request::QueryAssignment(_)) => {
            let pulled = ["a", "b"].map(|broker| (MessageQueue::new("T", broker, 0), RequestMode::Pull));
            Verdict::Reply(Ok(Reply::Assigned(Assignments(Some(pulled.into())))))
        }
        verdict => verdict,
    });
    rig
}

fn a() -> Address {
    Address::from("a:10911")
}

fn b() -> Address {
    Address::from("b:10911")
}

/// Whom the consumer asked what is its own of the topic, since call number `from`.
fn asked(rig: &Rig, from: usize) -> Vec<Address> {
    rig.sent(from, |flight| match &flight.request {
        Request::QueryAssignment(query) if query.topic.as_str() == "T" => Some(flight.to.clone()),
        _ => None,
    })
}

fn is_only_popped(rig: &Rig) -> bool {
    let queues = rig.consumer.snapshot().queues;
    !queues.is_empty() && queues.iter().all(|view| view.phase == "popping")
}

#[test]
fn a_notice_from_another_broker_does_not_change_who_is_asked() {
    let mut rig = rig(|_, _| Verdict::Usual);
    rig.advance(SECOND * 5);
    assert!(is_only_popped(&rig));
    let from = rig.calls.len();
    for _ in 0..3 {
        let request = PeerRequest::MembersChanged { group: Group::from(GROUP) };
        rig.input(Input::Peer { from: b(), request });
        rig.advance(SECOND * 5);
        assert!(is_only_popped(&rig));
    }
    assert_eq!(asked(&rig, from), [a(), a(), a()], "one round for each notice, and none that we bring about");
    let pulls = rig.sent(0, |flight| matches!(flight.request, Request::Pull(_)).then_some(()));
    assert!(pulls.is_empty(), "no queue is pulled while others pop it");
}

/// A heartbeat's answer starts a round: the broker that answers first would be asked.
#[test]
fn the_first_broker_is_waited_for() {
    let mut rig = rig(|to, request| match *to == a() && matches!(request, Request::Heartbeat(_)) {
        true => Verdict::Park,
        false => Verdict::Usual,
    });
    rig.advance(SECOND * 2);
    assert!(asked(&rig, 0).is_empty());
    let is_it = |request: &Request| matches!(request, Request::Heartbeat(_));
    let beat =
        rig.flights.values().find(|flight| is_it(&flight.request)).expect("a heartbeat is parked").call;
    rig.reply(beat, Ok(Reply::Heartbeat { version: 475 }));
    rig.advance(MS * 5);
    assert_eq!(asked(&rig, 0)[0], a());
    assert!(is_only_popped(&rig) && pop_in_flight(&rig).is_some());
}

#[test]
fn a_first_broker_that_does_not_know_us_is_not_waited_for() {
    let mut rig = rig(|to, request| match *to == a() && matches!(request, Request::Heartbeat(_)) {
        true => Verdict::Reply(Err(lost())),
        false => Verdict::Usual,
    });
    rig.advance(SECOND * 2);
    assert_eq!(asked(&rig, 0)[0], b());
    assert!(rig.fetching("T").contains(&0));
}

/// The next one in order, for every member; a notice does not choose here either.
#[test]
fn another_one_is_asked_while_the_first_one_fails() {
    let mut rig = rig(|to, request| match *to == a() && matches!(request, Request::QueryAssignment(_)) {
        true => Verdict::Reply(Err(lost())),
        false => Verdict::Usual,
    });
    rig.advance(SECOND * 2);
    assert_eq!(asked(&rig, 0)[..2], [a(), b()]);
}
