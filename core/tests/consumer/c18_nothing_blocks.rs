//! C18: things that come at the wrong moment. Nothing stands still.

use crate::support;

use evenkeel_core::consumer::{Event, Failure, Input, Outcome};
use support::{Cluster, MS, Request, Rig, SECOND, Verdict, all_of, config, queue};

/// The route changes while the member call is in flight, a thousand times.
///
/// 1. A notice starts a round; the member list is on its way.
/// 2. The route arrives and has more, or fewer, queues. That needs another round, but one is under way.
/// 3. The list arrives and is used with the new route; the other round follows a second later.
#[test]
fn c18_a_route_changes_during_a_round() {
    let mut rig = Rig::new(Cluster::one("T", 4), config(&["T"]));
    rig.advance(SECOND);
    for turn in 0..1000 {
        let queues = 4 + turn % 5;
        rig.net.topic("T", &[("a", queues)]);
        rig.rule(|_, request| match request {
            Request::Members { .. } => Verdict::Park,
            _ => Verdict::Usual,
        });
        rig.advance(29 * SECOND);
        rig.members_changed();
        // The route is read again every 30 s; the list takes its whole deadline once in a while.
        rig.advance(2 * SECOND);
        rig.usual();
        rig.advance(5 * SECOND);
        assert_eq!(rig.fetching("T"), (0..queues).collect::<Vec<_>>(), "turn {turn}");
    }
}

/// One handler, slow, and 32 messages in every answer: they wait their turn and pulling waits for them.
#[test]
fn c18_b_slow_handler() {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    (config.limits.concurrency, config.limits.queue_messages_max) = (1, 33);
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&q, 0, 320), config);
    rig.checks.concurrency = Some(1);
    rig.work = Some(100 * MS);
    rig.advance(SECOND);
    for _ in 0..33 {
        let before = rig.deliveries.len();
        rig.advance(SECOND);
        assert!(rig.deliveries.len() > before || before == 320, "stalled after {before}");
        assert!(rig.view(&q).cached < 33 + 32);
    }
    rig.advance(5 * SECOND);
    assert_eq!(rig.delivered(&q), (0..320).collect::<Vec<_>>());
    assert_eq!(rig.net.committed[&q], 320);
}

#[test]
fn c18_d_panic() {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    config.limits.concurrency = 1;
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&q, 0, 3), config);
    rig.advance(SECOND);
    let ticket = rig.ticket(&q, 0);
    let why = Failure::Panic("index out of bounds".into());
    rig.outcome(ticket, Outcome::Retry { done: 0, delay_level: 0, why: why.clone() });
    assert_eq!(rig.sent(0, |f| matches!(f.request, Request::SendBack(_)).then_some(())).len(), 1);
    assert_eq!(rig.saw(|event| matches!(event, Event::HandlerFailed { why: w, .. } if *w == why)), 1);
    assert_eq!(rig.delivered(&q), [0, 1], "the handler is free for the next one");
    rig.finish(&q, 1);
    rig.finish(&q, 2);
    rig.advance(10 * SECOND);
    assert_eq!(rig.net.committed[&q], 3);
}

/// A handler that calls back into the consumer before it ends: every combination of calls, then its outcome.
#[test]
fn c18_e_calls_from_a_handler() {
    let inputs: [fn() -> Input; 5] = [
        || Input::Subscribe { subscription: all_of("U") },
        || Input::Unsubscribe { topic: "T".into() },
        || Input::Subscribe { subscription: all_of("T") },
        || Input::Unsubscribe { topic: "U".into() },
        || Input::Stop { grace: SECOND },
    ];
    for first in inputs {
        for second in inputs {
            for third in inputs {
                let q = queue("T", 0);
                let mut net = Cluster::one("T", 1).with_stored(&q, 0, 5);
                net.topic("U", &[("a", 1)]);
                let mut rig = Rig::new(net, config(&["T"]));
                rig.advance(SECOND);
                for input in [first(), second(), third()] {
                    rig.input(input);
                }
                rig.finish_all();
                rig.advance(10 * SECOND);
                assert_eq!(rig.net.committed[&q], 5, "{:?} {:?} {:?}", first(), second(), third());
                rig.stop(SECOND);
                rig.advance(10 * SECOND);
                assert!(rig.consumer.is_stopped());
            }
        }
    }
}
