//! C11: what can happen to a pull. The wait after an error is `pull_retry_delay`, 1 s: Java's
//! `pullTimeDelayMillsWhenException` (its class constant says 3 s, its constructor 1 s).

use crate::support;

use evenkeel_core::consumer::Event;
use evenkeel_core::wire::error::{WireError, WireErrorKind};
use evenkeel_core::wire::reply::PullStatus;
use support::cluster::{empty, found, message, range, refusal};
use support::{CallError, Cluster, MS, Pulled, Rig, SECOND, config, lost, queue};

/// Queue 0 at 100 and queue 1 at 7, both with a pull at the broker since 1 s at the latest.
fn rig() -> Rig {
    let net = Cluster::one("T", 2).with_committed(&queue("T", 0), 100).with_committed(&queue("T", 1), 7);
    let mut rig = Rig::new(net, config(&["T"]));
    rig.hold_pulls();
    rig.advance(SECOND);
    assert_eq!(rig.pulled(&queue("T", 0)), [100]);
    rig
}

fn failures(rig: &Rig) -> usize {
    rig.saw(|event| matches!(event, Event::CallFailed { .. } | Event::PeerMisbehaved { .. }))
}

#[test]
fn c11_a_empty_answer_after_16_s() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.advance(15 * SECOND);
    rig.answer_pull(&q, Ok(empty(PullStatus::NoNew, 100)));
    assert_eq!((rig.pulled(&q), failures(&rig)), (vec![100, 100], 0));
}

/// The broker holds for 15 s and looks at held pulls every 5 s: what we allow it must be more than both.
#[test]
fn c11_deadline_is_longer_than_the_hold() {
    let (rig, q) = (rig(), queue("T", 0));
    let (call, pull) = rig.pull(&q).expect("a pull is in flight");
    let flight = &rig.flights[&call];
    assert_eq!((pull.suspend_ms, flight.deadline - flight.sent), (15_000, 30 * SECOND));
}

#[test]
fn c11_b_no_answer() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.advance(28 * SECOND + 900 * MS);
    assert_eq!(rig.pulled(&q), [100]);
    rig.advance(2 * SECOND + 100 * MS);
    assert_eq!(rig.pulled(&q), [100, 100], "30 s and the wait after an error");
}

#[track_caller]
fn fails(result: Result<Pulled, CallError>) {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.advance(2 * SECOND);
    rig.answer_pull(&q, result);
    rig.advance(990 * MS);
    assert_eq!(rig.pulled(&q), [100], "asked again too soon");
    rig.advance(10 * MS);
    assert_eq!(rig.pulled(&q), [100, 100]);
    assert_eq!(failures(&rig), 1);
    assert_eq!(rig.pulled(&queue("T", 1)), [7], "the other queue noticed");
    // And life goes on.
    rig.answer_pull(&q, Ok(range(&q, 100, 101)));
    assert_eq!((rig.pulled(&q), rig.delivered(&q)), (vec![100, 100, 101], vec![100]));
}

#[test]
fn c11_c_closed_socket() {
    fails(Err(lost()));
}

#[test]
fn c11_d_unknown_code() {
    fails(Err(refusal(9999)));
}

#[test]
fn c11_e_undecodable_body() {
    let damaged = Some(WireError::new(WireErrorKind::BadMagic, 4, "a message"));
    fails(Ok(Pulled { damaged, ..found(Vec::new(), 132) }));
    fails(Err(CallError::Garbled(WireError::new(WireErrorKind::Truncated, 0, "a header"))));
    // An answer that leads nowhere is none.
    fails(Ok(found(Vec::new(), 100)));
    fails(Ok(found(vec![message(&queue("T", 0), 99)], 100)));
}

/// Damage in the middle: what could be read is handed out, what could not is not passed over.
#[test]
fn c11_e_damage_behind_good_messages() {
    let (mut rig, q) = (rig(), queue("T", 0));
    let damaged = Some(WireError::new(WireErrorKind::BadMagic, 4, "a message"));
    rig.answer_pull(&q, Ok(Pulled { damaged, next: 132, ..range(&q, 100, 105) }));
    assert_eq!((rig.delivered(&q), rig.pulled(&q)), ((100..105).collect(), vec![100, 105]));
    rig.finish_all();
    assert_eq!(rig.view(&q).commit_point, Some(105));
    rig.answer_pull(&q, Ok(Pulled { damaged, next: 132, ..found(Vec::new(), 132) }));
    rig.advance(SECOND);
    assert_eq!((rig.pulled(&q), rig.view(&q).commit_point), (vec![100, 105, 105], Some(105)));
}

#[test]
fn c11_broker_flow_control() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.answer_pull(&q, Err(refusal(215)));
    rig.advance(19 * MS);
    assert_eq!(rig.pulled(&q), [100]);
    rig.advance(MS);
    assert_eq!((rig.pulled(&q), failures(&rig)), (vec![100, 100], 0));
}

/// A broker that does not hold pulls is not asked in a tight loop.
#[test]
fn c11_broker_that_does_not_hold() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.rule(|_, request| match request {
        support::Request::Pull(pull) => {
            let reply = support::Reply::Pulled(empty(PullStatus::NoNew, pull.offset));
            support::Verdict::Reply(Ok(reply))
        }
        _ => support::Verdict::Usual,
    });
    rig.answer_pull(&q, Ok(empty(PullStatus::NoNew, 100)));
    rig.advance(SECOND);
    assert!(rig.pulled(&q).len() <= 13, "{} pulls in a second", rig.pulled(&q).len());
}

#[test]
fn c11_offset_illegal() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.answer_pull(&q, Ok(range(&q, 100, 110)));
    rig.answer_pull(&q, Ok(empty(PullStatus::OffsetIllegal, 5000)));
    rig.finish_all();
    rig.advance(SECOND);
    assert_eq!(rig.pulled(&q), [100, 110, 5000]);
    assert_eq!(rig.net.committed[&q], 5000);
    assert_eq!(rig.saw(|e| matches!(e, Event::OffsetReset { from: 100, to: 5000, .. })), 1);
}

/// Two brokers in one that contradict each other do not make us spin.
#[test]
fn c11_offset_illegal_for_ever() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.rule(|_, request| match request {
        support::Request::Pull(pull) => {
            let reply = support::Reply::Pulled(empty(PullStatus::OffsetIllegal, 300 - pull.offset));
            support::Verdict::Reply(Ok(reply))
        }
        _ => support::Verdict::Usual,
    });
    rig.answer_pull(&q, Ok(empty(PullStatus::OffsetIllegal, 200)));
    rig.advance(SECOND);
    assert!(rig.pulled(&q).len() <= 13, "{} pulls in a second", rig.pulled(&q).len());
}

/// The broker advises a slave that we cannot reach: the master still serves.
#[test]
fn c11_suggested_slave_is_down() {
    let q = queue("T", 0);
    let mut net = Cluster::one("T", 1).with_committed(&q, 100);
    let slave = support::Address::from("a-slave:10911");
    net.brokers.get_mut(&q.broker).expect("a is a broker").insert(1, slave.clone());
    net.down.insert(slave.clone());
    let mut rig = Rig::new(net, config(&["T"]));
    rig.hold_pulls();
    rig.advance(SECOND);
    rig.answer_pull(&q, Ok(Pulled { suggested_broker: 1, ..range(&q, 100, 101) }));
    assert_eq!(rig.pulled(&q), [100, 101]);
    let to = |rig: &Rig| rig.pull(&q).map(|(call, _)| rig.flights[&call].to.clone());
    assert_eq!(to(&rig), Some("a:10911".into()));
    // It comes up: the next advice is followed.
    rig.net.down.clear();
    rig.advance(6 * SECOND);
    rig.answer_pull(&q, Ok(Pulled { suggested_broker: 1, ..range(&q, 101, 102) }));
    assert_eq!(to(&rig), Some(slave));
}
