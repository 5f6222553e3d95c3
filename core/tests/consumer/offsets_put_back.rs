//! Somebody else has put an offset of ours back: a member that owned the queue by mistake for a moment, and had to begin at
//! an older offset. See "Somebody puts an offset back" in `manual/races`.

use crate::support;

use support::{Cluster, MessageQueue, Request, Rig, SECOND, config, queue};

/// An idle queue whose ten messages are done and committed.
fn rig() -> (Rig, MessageQueue) {
    let q = queue("T", 0);
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&q, 5, 10), config(&["T"]));
    rig.work = Some(SECOND / 1000);
    rig.advance(20 * SECOND);
    assert_eq!(rig.net.committed[&q], 15);
    rig.net.committed.insert(q.clone(), 7);
    (rig, q)
}

#[test]
fn it_is_told_again_within_little_more_than_a_minute() {
    let (mut rig, q) = rig();
    rig.advance(65 * SECOND);
    assert_eq!(rig.net.committed[&q], 15);
}

#[test]
fn it_is_told_again_at_a_stop() {
    let (mut rig, q) = rig();
    rig.stop(5 * SECOND);
    rig.advance(SECOND);
    assert!(rig.consumer.is_stopped());
    assert_eq!(rig.net.committed[&q], 15);
}

/// Its new owner may have committed less on purpose, or not yet.
#[test]
fn it_is_not_told_again_when_the_queue_goes() {
    let (mut rig, q) = rig();
    rig.net.members(&["aa", "me"]);
    rig.members_changed();
    rig.advance(65 * SECOND);
    assert_eq!(rig.net.committed[&q], 7);
}

/// A minute of silence is sixty seconds without a commit, not every sixtieth: Java sends all of them every 5 s.
#[test]
fn an_idle_queue_costs_one_commit_a_minute() {
    let (mut rig, q) = rig();
    let before = rig.calls.len();
    rig.advance(10 * 60 * SECOND);
    let again = rig.sent(before, |flight| match &flight.request {
        Request::CommitOffset { queue, offset, .. } if *queue == q => Some(*offset),
        _ => None,
    });
    assert!((9..=10).contains(&again.len()), "{again:?}");
    assert!(again.iter().all(|offset| *offset == 15));
}
