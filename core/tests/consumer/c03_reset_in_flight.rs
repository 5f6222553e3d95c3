//! C03: a reset of offsets against what was begun before it.

use crate::support;

use evenkeel_core::consumer::{Event, Outcome};
use support::cluster::range;
use support::{Cluster, MS, Rig, SECOND, config, queue};

/// Queue 0 at 1000 with 900..932 with handlers and a pull for 1000 at the broker; queue 1 beside it.
fn rig() -> Rig {
    let (q, other) = (queue("T", 0), queue("T", 1));
    let net = Cluster::one("T", 2).with_committed(&q, 900).with_committed(&other, 7);
    let mut config = config(&["T"]);
    config.limits.concurrency = 64;
    let mut rig = Rig::new(net, config);
    rig.hold_pulls();
    rig.advance(SECOND);
    rig.answer_pull(&q, Ok(evenkeel_core::wire::reply::Pulled { next: 1000, ..range(&q, 900, 932) }));
    assert_eq!(rig.open.len(), 32);
    assert_eq!(rig.pull(&q).map(|(_, pull)| pull.offset), Some(1000));
    rig
}

/// Nothing older than the reset may reach the broker after it.
fn assert_only_from_50(rig: &Rig, from: usize) {
    let q = queue("T", 0);
    let late: Vec<i64> =
        rig.net.history[from..].iter().filter(|(of, _)| *of == q).map(|(_, at)| *at).collect();
    assert!(
        !late.is_empty() && late.iter().all(|at| (50..=82).contains(at)),
        "commits after the reset: {late:?}"
    );
}

#[test]
fn c03_reset() {
    let (mut rig, q, other) = (rig(), queue("T", 0), queue("T", 1));
    let (history, calls) = (rig.net.history.len(), rig.calls.len());
    // Queue 1 is ours and not named; queue 9 is named and not ours.
    rig.reset(&[(q.clone(), 50), (queue("T", 9), 3)]);
    assert_eq!(rig.view(&q).commit_point, Some(50));
    assert!(support::view(&rig.consumer, &queue("T", 9)).is_none());
    assert_eq!(rig.saw(|event| matches!(event, Event::OffsetReset { .. })), 1);

    // 1. The old pull is still at the broker: the new life waits for it.
    rig.advance(SECOND);
    assert_eq!(rig.net.committed[&q], 50, "the new offset is committed at once");
    assert_eq!(rig.pulled(&q), [900, 1000]);
    // 2. The handlers of the old life finish. They change nothing.
    rig.finish_all();
    assert_eq!(rig.view(&q).commit_point, Some(50));
    // 3. The old pull is answered. Nothing of it is handed out, and the next pull asks for 50.
    let handed_out = rig.deliveries.len();
    rig.answer_pull(&q, Ok(range(&q, 1000, 1032)));
    assert_eq!(rig.deliveries.len(), handed_out);
    assert_eq!(rig.pulled(&q), [900, 1000, 50]);
    rig.answer_pull(&q, Ok(range(&q, 50, 82)));
    assert_eq!(rig.delivered(&q)[32..], (50..82).collect::<Vec<_>>());
    rig.finish_all();
    rig.advance(6 * SECOND);
    assert_eq!(rig.net.committed[&q], 82);
    assert_only_from_50(&rig, history);

    // The queue that was not named went on: one pull, at the broker all the time.
    assert_eq!(rig.pulled(&other), [7]);
    let touched = rig.sent(calls, |flight| format!("{:?}", flight.request).contains("a/9").then_some(()));
    assert!(touched.is_empty(), "the queue that is not ours was touched");
}

#[test]
fn c03_same_reset_twice() {
    let (mut rig, q) = (rig(), queue("T", 0));
    let history = rig.net.history.len();
    rig.reset(&[(q.clone(), 50)]);
    rig.advance(500 * MS);
    rig.reset(&[(q.clone(), 50)]);
    // The second life of 50 has never pulled; the third one still waits for the pull of the first.
    rig.advance(500 * MS);
    assert_eq!(rig.pulled(&q), [900, 1000]);
    for delivery in std::mem::take(&mut rig.open) {
        rig.outcome(delivery.ticket, Outcome::Done);
    }
    rig.answer_pull(&q, Ok(range(&q, 1000, 1032)));
    assert_eq!(rig.pulled(&q), [900, 1000, 50]);
    rig.answer_pull(&q, Ok(range(&q, 50, 82)));
    rig.finish_all();
    rig.advance(6 * SECOND);
    assert_only_from_50(&rig, history);
    assert_eq!(rig.net.committed[&q], 82);
}

/// The old pull never comes back: its deadline frees the queue, 30 s after it was sent.
#[test]
fn c03_the_parked_pull_is_lost() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.reset(&[(q.clone(), 50)]);
    rig.usual();
    rig.advance(30 * SECOND);
    assert_eq!(rig.pulled(&q)[..3], [900, 1000, 50]);
}

/// A commit of the old life is still on its way when the reset comes.
///
/// 1. The commit of 932 is sent and hangs.
/// 2. The reset to 50. Were 50 sent now, the broker's threads could store 932 after it.
/// 3. So 50 goes when the commit of 932 has ended, however it ended.
#[test]
fn c03_old_commit_in_flight() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.finish_all();
    rig.rule(|_, request| match request {
        support::Request::Pull(_) | support::Request::CommitOffset { .. } => support::Verdict::Park,
        _ => support::Verdict::Usual,
    });
    rig.advance(5 * SECOND);
    let hanging = |rig: &Rig| {
        let is_commit = |flight: &&support::Flight| matches!(&flight.request, support::Request::CommitOffset { queue, .. } if *queue == queue_0());
        rig.flights
            .values()
            .filter(is_commit)
            .map(|flight| (flight.call, flight.request.clone()))
            .collect::<Vec<_>>()
    };
    fn queue_0() -> evenkeel_core::model::MessageQueue {
        queue("T", 0)
    }
    let before = hanging(&rig);
    assert_eq!(before.len(), 1);
    rig.reset(&[(q.clone(), 50)]);
    assert_eq!(hanging(&rig), before, "two commits of one queue race");
    rig.hold_pulls();
    rig.reply(before[0].0, Ok(support::Reply::Done));
    assert!(format!("{:?}", hanging(&rig)).contains("offset: 50"), "{:?}", hanging(&rig));
}
