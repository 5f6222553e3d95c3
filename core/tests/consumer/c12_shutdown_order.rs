//! C12: drain, commit, unregister; never another order, never longer than allowed.

use crate::support;

use evenkeel_core::consumer::{Event, Outcome};
use evenkeel_core::time::Duration;
use support::{Cluster, MS, Request, Rig, SECOND, Verdict, config, lost, queue};

/// 100 messages in one queue, one handler of 200 ms each, which has offset 10.
fn rig() -> Rig {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    config.limits.concurrency = 1;
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&q, 0, 100), config);
    rig.checks.concurrency = Some(1);
    rig.work = Some(200 * MS);
    for _ in 0..1000 {
        if rig.deliveries.len() == 11 {
            return rig;
        }
        rig.advance(10 * MS);
    }
    panic!("only {} deliveries in 10 s", rig.deliveries.len());
}

fn kinds(rig: &Rig, from: usize) -> Vec<&'static str> {
    rig.sent(from, |flight| match flight.request {
        Request::CommitOffset { .. } => Some("commit"),
        Request::Unregister { .. } => Some("unregister"),
        Request::Heartbeat(_) => None,
        _ => Some("other"),
    })
}

#[test]
fn c12_run_1() {
    let (mut rig, q) = (rig(), queue("T", 0));
    let calls = rig.calls.len();
    let begun = rig.now;
    rig.stop(5 * SECOND);
    rig.advance(5 * SECOND);
    assert!(rig.consumer.is_stopped());
    assert_eq!(rig.delivered(&q), (0..=10).collect::<Vec<_>>(), "nothing new is begun");
    assert_eq!(rig.net.committed[&q], 11);
    assert_eq!(kinds(&rig, calls), ["commit", "unregister"]);
    // Not before the broker has confirmed: it serves the two with different threads.
    let sent =
        rig.sent(calls, |flight| (!matches!(flight.request, Request::Heartbeat(_))).then_some(flight.sent));
    assert_eq!(sent[1] - sent[0], MS);
    let (at, event) = rig.events.last().expect("there are events");
    assert!(*at - begun < SECOND, "the grace is a limit, not a wait");
    let Event::Stopped { drained: 1, handed_back, abandoned: 0, committed } = event else {
        panic!("{event:?}")
    };
    assert_eq!((*handed_back > 0, committed.as_slice()), (true, &[(q, 11)][..]));
    assert_eq!(rig.wake, None);
}

#[test]
fn c12_run_2() {
    let q = queue("T", 0);
    let mut rig = blocked_rig();
    let begun = rig.now;
    let calls = rig.calls.len();
    rig.stop(SECOND);
    rig.advance(990 * MS);
    assert!(!rig.consumer.is_stopped());
    rig.advance(50 * MS);
    assert!(rig.consumer.is_stopped());
    assert_eq!(kinds(&rig, calls).last(), Some(&"unregister"));
    assert_eq!(rig.net.committed[&q], 10);
    let (at, event) = rig.events.last().expect("there are events");
    assert!(*at - begun < SECOND + 50 * MS);
    assert!(matches!(event, Event::Stopped { drained: 0, abandoned: 1, .. }), "{event:?}");
    // The handler comes back at last. Nobody is interested.
    let ticket = rig.open[0].ticket;
    let calls = rig.calls.len();
    rig.outcome(ticket, Outcome::Done);
    rig.advance(60 * SECOND);
    assert_eq!((rig.calls.len(), rig.net.committed[&q], rig.wake), (calls, 10, None));
}

/// As [`rig`], but offsets 0..10 are done by hand, and the handler of 10 never comes back by itself.
fn blocked_rig() -> Rig {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    config.limits.concurrency = 1;
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&q, 0, 100), config);
    rig.advance(SECOND);
    for offset in 0..10 {
        rig.finish(&q, offset);
    }
    rig
}

/// The broker refuses every commit: the stop does not hang on it, and unregisters after it.
#[test]
fn c12_commit_fails() {
    let mut rig = blocked_rig();
    rig.rule(|_, request| match request {
        Request::CommitOffset { .. } => Verdict::Reply(Err(lost())),
        _ => Verdict::Usual,
    });
    let calls = rig.calls.len();
    rig.finish_all();
    rig.stop(SECOND);
    rig.finish_all();
    rig.advance(100 * MS);
    assert!(rig.consumer.is_stopped());
    assert_eq!(kinds(&rig, calls), ["commit", "unregister"]);
}

/// A periodic commit failed some time ago. The last one is tried all the same.
#[test]
fn c12_an_earlier_commit_failed() {
    let (mut rig, q) = (blocked_rig(), queue("T", 0));
    rig.rule(|_, request| match request {
        Request::CommitOffset { .. } => Verdict::Reply(Err(lost())),
        _ => Verdict::Usual,
    });
    rig.advance(5 * SECOND);
    assert_eq!(rig.net.committed[&q], 0);
    rig.usual();
    rig.finish(&q, 10);
    rig.stop(Duration::ZERO);
    rig.advance(SECOND);
    assert_eq!(rig.net.committed[&q], 11);
}

/// Brokers store what pulls carry in other threads than commits: it may come after the last commit, at any time. So
/// pulls carry nothing, and a commit of its own goes with each.
///
/// 1. Offset 0 is done; the pull that follows is parked, and 1 is committed with it.
/// 2. Offsets 1 and 2 are done, and the stop comes.
/// 3. Whatever the broker does with the pull, what it stored last is 3.
#[test]
fn c12_a_pull_does_not_overtake_the_last_commit() {
    let q = queue("T", 0);
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&q, 0, 2), config(&["T"]));
    rig.advance(SECOND);
    rig.finish(&q, 0);
    rig.store(&q, 1);
    rig.advance(10 * MS);
    assert_eq!(rig.pull(&q).map(|(_, pull)| pull.commit), Some(None));
    assert_eq!(rig.net.committed[&q], 1);
    rig.finish(&q, 1);
    rig.finish(&q, 2);
    let calls = rig.calls.len();
    rig.stop(SECOND);
    rig.advance(10 * MS);
    assert_eq!(kinds(&rig, calls), ["commit", "unregister"]);
    assert!(rig.consumer.is_stopped());
    assert_eq!(rig.net.committed[&q], 3);
}

/// Nobody answers at all: three steps, each with its limit.
#[test]
fn c12_silence() {
    let mut rig = blocked_rig();
    rig.rule(|_, _| Verdict::Park);
    rig.stop(SECOND);
    rig.advance(7 * SECOND + 10 * MS);
    assert!(rig.consumer.is_stopped(), "1 s of grace, 3 s of commit, 3 s of unregister");
}

#[test]
fn c12_a_shorter_grace_counts() {
    let mut rig = blocked_rig();
    rig.stop(60 * SECOND);
    rig.advance(10 * SECOND);
    assert!(!rig.consumer.is_stopped());
    rig.stop(SECOND);
    rig.stop(30 * SECOND);
    rig.advance(SECOND + 50 * MS);
    assert!(rig.consumer.is_stopped());
}

/// A long drain is still a membership: heartbeats go on.
#[test]
fn c12_heartbeats_while_draining() {
    let mut rig = blocked_rig();
    let calls = rig.calls.len();
    rig.stop(120 * SECOND);
    rig.advance(100 * SECOND);
    let heartbeats = rig.sent(calls, |f| matches!(f.request, Request::Heartbeat(_)).then_some(())).len();
    assert_eq!(heartbeats, 3);
}

/// 1. A queue goes to another member while a handler has its message.
/// 2. The new owner commits more than we ever had.
/// 3. We stop. Our last commit of that queue must look first, like any other of a queue that went away.
#[test]
fn c12_queue_on_its_way_out() {
    let q = queue("T", 1);
    let mut rig = Rig::new(Cluster::one("T", 2).with_stored(&q, 0, 1), config(&["T"]));
    rig.advance(SECOND);
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig.advance(10 * MS);
    assert_eq!(rig.view(&q).phase, "draining");
    rig.net.committed.insert(q.clone(), 500);
    rig.stop(5 * SECOND);
    rig.finish(&q, 0);
    rig.advance(SECOND);
    assert!(rig.consumer.is_stopped());
    assert_eq!(rig.net.committed[&q], 500);
}

/// A member list that arrives while we leave starts nothing.
#[test]
fn c12_member_list_while_leaving() {
    let mut rig = blocked_rig();
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig.stop(5 * SECOND);
    let events = rig.events.len();
    rig.advance(SECOND);
    assert!(!rig.events[events..].iter().any(|(_, event)| matches!(event, Event::Rebalanced { .. })));
}

#[test]
fn c12_stop_before_start_and_twice() {
    use evenkeel_core::consumer::{Consumer, Input, Output};
    use evenkeel_core::time::Instant;
    let mut consumer = Consumer::new(config(&["T"]), 1, Instant::ZERO).expect("good");
    consumer.handle(Instant::ZERO, Input::Stop { grace: SECOND });
    assert!(matches!(consumer.poll(), Output::Event(Event::Stopped { .. })));
    consumer.handle(Instant::ZERO, Input::Start { wall: Default::default() });
    consumer.handle(Instant::ZERO, Input::Stop { grace: SECOND });
    assert!(matches!(consumer.poll(), Output::Idle { wake: None }));
}
