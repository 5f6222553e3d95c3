//! Links that break, and brokers that do not know us.

use crate::support;

use evenkeel_core::consumer::{Event, Input};
use support::cluster::refusal;
use support::{Address, Cluster, Flight, MS, Request, Rig, SECOND, config, lost, queue};

fn rig() -> Rig {
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&queue("T", 0), 10), config(&["T"]));
    rig.hold_pulls();
    rig.advance(3 * SECOND);
    rig
}

fn is_heartbeat(flight: &Flight) -> Option<u64> {
    matches!(flight.request, Request::Heartbeat(_)).then(|| flight.sent.as_millis())
}

fn link(rig: &mut Rig, up: bool) {
    rig.input(Input::Link { address: Address::from("a:10911"), up });
}

/// 1. The link breaks; the broker tells the others that we left. The parked pull ends with it.
/// 2. The heartbeat goes at once, and again and again with growing waits.
/// 3. Accepted, the members are asked for, and only now the pull goes.
#[test]
fn link_down() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.net.down.insert("a:10911".into());
    let (calls, begun) = (rig.calls.len(), rig.now.as_millis());
    link(&mut rig, false);
    rig.answer_pull(&q, Err(lost()));
    rig.advance(20 * SECOND);
    let beats = rig.sent(calls, is_heartbeat);
    assert_eq!(beats[0], begun, "at once");
    let waits: Vec<u64> = beats.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits[..6], [201, 401, 801, 1601, 3201, 5001], "{waits:?}");
    assert_eq!(rig.pulled(&q), [10], "no pull to a broker that does not know us");
    assert_eq!(rig.fetching("T"), [0], "what we have, we keep");

    rig.net.down.clear();
    let calls = rig.calls.len();
    rig.advance(5 * SECOND + 10 * MS);
    let kinds = rig.sent(calls, |flight| match flight.request {
        Request::Heartbeat(_) => Some("heartbeat"),
        Request::Members { .. } => Some("members"),
        Request::Pull(_) => Some("pull"),
        _ => None,
    });
    assert_eq!(kinds[0], "heartbeat");
    assert!(kinds[1..].contains(&"members") && kinds[1..].contains(&"pull"), "{kinds:?}");
    assert_eq!(rig.pulled(&q), [10, 10]);
}

/// The answer to a heartbeat that was sent over the old connection says nothing about the new one.
#[test]
fn heartbeat_of_the_old_link() {
    let mut rig = rig();
    rig.rule(|_, request| match request {
        Request::Heartbeat(_) | Request::Pull(_) => support::Verdict::Park,
        _ => support::Verdict::Usual,
    });
    rig.advance(30 * SECOND);
    let beats = |rig: &Rig| {
        rig.flights.values().filter(|f| is_heartbeat(f).is_some()).map(|f| f.call).collect::<Vec<_>>()
    };
    let old = beats(&rig);
    assert_eq!(old.len(), 1);
    link(&mut rig, false);
    assert_eq!(beats(&rig), old, "one heartbeat at a time");
    rig.reply(old[0], Ok(support::Reply::Heartbeat { version: 475 }));
    let new = beats(&rig);
    assert!(new.len() == 1 && new != old, "another one has to go");
}

#[test]
fn link_of_a_stranger() {
    let mut rig = rig();
    let calls = rig.calls.len();
    rig.input(Input::Link { address: "nobody:1".into(), up: false });
    link(&mut rig, true);
    rig.advance(MS);
    assert_eq!(rig.calls.len(), calls);
}

/// Codes 24 and 25: the broker lost us, or knows older subscriptions than the pull's.
#[test]
fn broker_does_not_know_us() {
    for code in [24, 25] {
        let (mut rig, q) = (rig(), queue("T", 0));
        let calls = rig.calls.len();
        rig.answer_pull(&q, Err(refusal(code)));
        rig.advance(2 * SECOND);
        let kinds = rig.sent(calls, |flight| match flight.request {
            Request::Heartbeat(_) => Some("heartbeat"),
            Request::Pull(_) => Some("pull"),
            _ => None,
        });
        assert_eq!(kinds, ["heartbeat", "pull"], "code {code}");
        assert_eq!(rig.pulled(&q), [10, 10]);
    }
}

/// A broker that refuses the heartbeat (an SQL filter it does not have, say) is an error that is told, again and
/// again, and nothing is pulled from it.
#[test]
fn refused_heartbeat() {
    let mut rig = Rig::new(Cluster::one("T", 1), config(&["T"]));
    rig.rule(|_, request| match request {
        Request::Heartbeat(_) => support::Verdict::Reply(Err(refusal(1))),
        _ => support::Verdict::Usual,
    });
    rig.advance(30 * SECOND);
    assert!(rig.saw(|e| matches!(e, Event::CallFailed { what: "send the heartbeat", .. })) >= 5);
    assert!(rig.pulled(&queue("T", 0)).is_empty());
}

#[test]
fn heartbeats_every_30_s() {
    let mut rig = rig();
    let calls = rig.calls.len();
    rig.advance(90 * SECOND);
    assert_eq!(rig.sent(calls, is_heartbeat).len(), 3);
}

/// Brokers write offsets to disk every five seconds. One that was killed comes back without the last ones it confirmed, and
/// nothing more may be consumed that would tell it.
#[test]
fn what_a_broker_confirmed_before_its_link_broke_is_told_again() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.usual();
    rig.answer_pull(&q, Ok(support::cluster::range(&q, 10, 12)));
    rig.finish_all();
    rig.advance(20 * SECOND);
    assert_eq!(rig.net.committed[&q], 12);

    rig.net.committed.insert(q.clone(), 10);
    link(&mut rig, false);
    rig.advance(20 * SECOND);
    assert_eq!(rig.net.committed[&q], 12);
}
