//! C05: only the broker's word "there is none" licenses the start policy.

use crate::support;

use evenkeel_core::consumer::Event;
use evenkeel_core::model::Topic;
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::request::ConsumeFrom;
use support::{Cluster, MS, Reply, Request, Rig, SECOND, Verdict, config, lost, queue, refused};

/// A queue with 500 messages of which nothing is committed.
fn cluster() -> Cluster {
    let mut net = Cluster::one("T", 1);
    net.store(&queue("T", 0), 500);
    net
}

#[test]
fn c05_answers_in_turn() {
    let q = queue("T", 0);
    let mut rig = Rig::new(cluster(), config(&["T"]));
    let mut turn = 0;
    rig.rule(move |_, request| match request {
        Request::QueryOffset { .. } => {
            turn += 1;
            match turn {
                1 => Verdict::Reply(Err(refused(request, ResponseCode::SYSTEM_ERROR))),
                2 => Verdict::Park,
                3 => Verdict::Reply(Err(lost())),
                4 => Verdict::Reply(Err(refused(request, ResponseCode::SYSTEM_BUSY))),
                _ => Verdict::Usual,
            }
        }
        _ => Verdict::Usual,
    });
    // 1 + 5 + 1 + 1 seconds of errors and silence, with a second between tries.
    for _ in 0..80 {
        rig.advance(100 * MS);
        let started = rig.saw(|event| matches!(event, Event::QueueStarted { .. }));
        let asked = rig.sent(0, |f| matches!(f.request, Request::QueryOffset { .. }).then_some(())).len();
        if asked < 5 {
            assert_eq!((started, rig.pulled(&q)), (0, vec![]), "started on no answer");
            assert!(rig.sent(0, |f| matches!(f.request, Request::MaxOffset { .. }).then_some(())).is_empty());
        }
    }
    rig.advance(2 * SECOND);
    assert_eq!(rig.pulled(&q), [500], "not found: behind everything that is stored");
    let failed = |event: &Event| matches!(event, Event::CallFailed { what: "read the committed offset", .. });
    assert_eq!(rig.saw(failed), 4);
}

#[test]
fn c05_zero_is_an_offset() {
    let q = queue("T", 0);
    let mut rig = Rig::new(cluster().with_committed(&q, 0), config(&["T"]));
    rig.hold_pulls();
    rig.advance(SECOND);
    assert_eq!(rig.pulled(&q), [0]);
    assert!(
        rig.events.iter().any(|(_, e)| matches!(e, Event::QueueStarted { offset: 0, committed: true, .. }))
    );
}

/// 4.9 says 0 of a group that never committed anything, while the queue's first messages are in memory. It would say
/// "none" later, and the start policy would pass over what came meanwhile: the 0 is committed.
#[test]
fn c05_zero_is_made_sure_of() {
    let q = queue("T", 0);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 0), config(&["T"]));
    rig.advance(30 * SECOND);
    assert_eq!(rig.commits(&q), [0], "once");
}

#[test]
fn c05_start_policy_fails() {
    let q = queue("T", 0);
    let mut rig = Rig::new(cluster(), config(&["T"]));
    let mut turn = 0;
    rig.rule(move |_, request| match request {
        Request::MaxOffset { .. } => {
            turn += 1;
            match turn {
                1 => Verdict::Reply(Err(lost())),
                // "Found, but no number" is no offset either.
                2 => Verdict::Reply(Ok(Reply::Offset(None))),
                3 => Verdict::Reply(Ok(Reply::Done)),
                _ => Verdict::Usual,
            }
        }
        _ => Verdict::Usual,
    });
    rig.advance(6 * SECOND);
    assert_eq!(rig.pulled(&q), [500]);
    assert_eq!(rig.saw(|event| matches!(event, Event::PeerMisbehaved { .. })), 2);
}

#[test]
fn c05_start_policies() {
    let at = evenkeel_core::time::WallClock::from_millis(1);
    for (start_from, expected, retry) in
        [(ConsumeFrom::Last, 500, 0), (ConsumeFrom::First, 100, 0), (ConsumeFrom::Timestamp(at), 0, 9)]
    {
        let (q, r) = (queue("T", 0), queue("%RETRY%g", 0));
        let mut net = cluster();
        net.topic("%RETRY%g", &[("a", 1)]);
        net.first.insert(q.clone(), 100);
        net.stored.get_mut(&q).expect("there are messages").drain(..100);
        net.store(&r, 9);
        let mut config = config(&["T"]);
        config.start_from = start_from;
        let mut rig = Rig::new(net, config);
        rig.hold_pulls();
        rig.advance(SECOND);
        assert_eq!((rig.pulled(&q), rig.pulled(&r)), (vec![expected], vec![retry]), "{start_from:?}");
        assert!(r.topic == Topic::from("%RETRY%g") && r.topic.is_retry());
    }
}
