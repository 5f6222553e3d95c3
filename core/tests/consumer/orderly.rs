//! Queue locks over a queue's lives: handed over, lost, inherited, given back.

use crate::support;

use evenkeel_core::consumer::{Event, Outcome};
use evenkeel_core::wire::request::MessageModel;
use support::cluster::range;
use support::{Cluster, MS, Reply, Request, Rig, SECOND, Verdict, config, lost, order, queue};

fn rig(queues: i32) -> Rig {
    let mut cluster = Cluster::one("T", queues);
    for id in 0..queues {
        cluster = cluster.with_stored(&queue("T", id), 0, 100);
    }
    let mut config = config(&["T"]);
    // An answer may be late.
    (config.orderly, config.limits.lock_timeout) = (true, 5 * SECOND);
    let mut rig = Rig::new(cluster, config);
    rig.checks.orderly = true;
    rig
}

#[test]
fn a_queue_is_locked_then_located_then_pulled() {
    let mut rig = rig(1);
    rig.advance(SECOND);
    assert_eq!(order(&rig, 0, &queue("T", 0))[..3], ["lock", "look", "pull"]);
    assert!(rig.view(&queue("T", 0)).locked);
}

#[test]
fn a_queue_that_moves_is_unlocked_after_its_last_commit() {
    let (mut rig, q) = (rig(2), queue("T", 1));
    rig.advance(SECOND);
    rig.finish(&q, 0);
    let from = rig.calls.len();
    rig.net.members(&["me", "other"]);
    rig.members_changed();
    rig.advance(10 * SECOND);
    // Its handler works on offset 1 for 10 s: longer than `revoke_timeout`, and the lock is kept.
    assert!(rig.net.locked.contains(&q));
    assert!(rig.view(&q).phase == "draining" && !order(&rig, from, &q).contains(&"unlock"));
    rig.finish(&q, 1);
    rig.advance(SECOND);
    let seen = order(&rig, from, &q);
    assert_eq!(seen.last(), Some(&"unlock"), "{seen:?}");
    assert_eq!(rig.net.committed[&q], 2);
    assert!(!rig.net.locked.contains(&q));
    assert!(rig.net.locked.contains(&queue("T", 0)), "the other one stays");
}

#[test]
fn a_handler_that_hangs_keeps_a_moving_queue_for_20_s_at_most() {
    let (mut rig, q) = (rig(2), queue("T", 1));
    rig.advance(SECOND);
    rig.net.members(&["me", "other"]);
    rig.members_changed();
    rig.advance(19 * SECOND);
    assert!(rig.net.locked.contains(&q));
    rig.advance(2 * SECOND);
    assert!(!rig.net.locked.contains(&q));
}

#[test]
fn leaving_commits_then_unlocks_then_unregisters() {
    let (mut rig, q) = (rig(1), queue("T", 0));
    rig.advance(SECOND);
    let from = rig.calls.len();
    rig.stop(5 * SECOND);
    rig.finish(&q, 0);
    rig.advance(SECOND);
    assert!(rig.consumer.is_stopped());
    assert_eq!(order(&rig, from, &q), ["commit", "unlock", "unregister"]);
    assert!(rig.net.locked.is_empty());
}

#[test]
fn a_long_drain_keeps_the_locks() {
    let (mut rig, q) = (rig(1), queue("T", 0));
    rig.advance(SECOND);
    let from = rig.calls.len();
    rig.stop(50 * SECOND);
    rig.advance(45 * SECOND);
    let seen = order(&rig, from, &q);
    assert_eq!(seen.iter().filter(|what| **what == "lock").count(), 2, "{seen:?}");
    assert!(!seen.contains(&"unlock"));
    rig.finish(&q, 0);
    rig.advance(SECOND);
    assert!(rig.consumer.is_stopped() && rig.net.committed[&q] == 1);
}

/// Brokers that do not answer must not keep the consumer.
#[test]
fn leaving_ends_although_nobody_answers_an_unlock() {
    let (mut rig, q) = (rig(1), queue("T", 0));
    rig.advance(SECOND);
    rig.rule(|_, request| if matches!(request, Request::Unlock(_)) { Verdict::Park } else { Verdict::Usual });
    rig.stop(5 * SECOND);
    rig.finish(&q, 0);
    rig.advance(5 * SECOND);
    assert!(rig.consumer.is_stopped());
}

/// The race: the lock is granted to a life that is gone.
///
/// 1. The request is under way.
/// 2. The queue goes to another member.
/// 3. The broker grants the lock. Nobody here wants it, and it would keep the new owner waiting for 60 s.
#[test]
fn a_lock_that_nobody_wants_any_more_is_given_back() {
    let (mut rig, q) = (rig(2), queue("T", 1));
    rig.rule(|_, request| if matches!(request, Request::Lock(_)) { Verdict::Park } else { Verdict::Usual });
    rig.advance(SECOND / 2);
    let lock = rig.calls.iter().find(|f| matches!(f.request, Request::Lock(_))).expect("a lock call").clone();
    rig.net.members(&["me", "other"]);
    rig.members_changed();
    rig.advance(2 * SECOND);
    let from = rig.calls.len();
    let Request::Lock(set) = &lock.request else { panic!("{lock:?}") };
    rig.reply(lock.call, Ok(Reply::Locked(set.queues.clone())));
    assert_eq!(order(&rig, from, &q), ["unlock"]);
    assert!(!order(&rig, from, &queue("T", 0)).contains(&"unlock"));
}

/// Another member has the lock: what is here of the queue is old.
#[test]
fn a_lost_lock_ends_the_life_and_the_next_one_looks_where_the_other_member_came_to() {
    let (mut rig, q) = (rig(1), queue("T", 0));
    rig.advance(SECOND);
    for offset in 0..3 {
        rig.finish(&q, offset);
    }
    rig.net.locked_elsewhere.insert(q.clone());
    rig.advance(20 * SECOND);
    assert_eq!(rig.saw(|event| matches!(event, Event::LockLost { .. })), 1);
    let from = rig.deliveries.len();
    // The other one goes on to 50 and leaves.
    rig.net.committed.insert(q.clone(), 50);
    let open = rig.ticket(&q, 3);
    rig.outcome(open, Outcome::Done);
    rig.net.locked_elsewhere.clear();
    rig.advance(SECOND);
    assert_eq!(rig.net.committed[&q], 50, "no commit of ours took it back");
    let (_, next) = &rig.deliveries[from];
    assert_eq!(next.messages[0].queue_offset, 50);
}

/// No answer for a minute: the broker may have given the lock to somebody and have it back.
#[test]
fn after_a_minute_without_a_renewal_the_queue_begins_anew() {
    let (mut rig, q) = (rig(1), queue("T", 0));
    rig.advance(SECOND);
    rig.finish(&q, 0);
    rig.rule(
        |_, request| {
            if matches!(request, Request::Lock(_)) { Verdict::Reply(Err(lost())) } else { Verdict::Usual }
        },
    );
    rig.advance(70 * SECOND);
    rig.net.committed.insert(q.clone(), 40);
    rig.finish(&q, 1);
    rig.usual();
    rig.advance(2 * SECOND);
    let last = rig.deliveries.last().expect("a delivery");
    assert_eq!((last.1.messages[0].queue_offset, rig.net.committed[&q]), (40, 40));
}

#[test]
fn a_reset_goes_on_under_the_same_lock() {
    let (mut rig, q) = (rig(1), queue("T", 0));
    rig.advance(SECOND);
    let from = rig.calls.len();
    rig.reset(&[(q.clone(), 50)]);
    // The old life's pull is parked for 15 s, and its handler still works.
    rig.advance(18 * SECOND);
    assert!(!order(&rig, from, &q).iter().any(|what| ["lock", "unlock"].contains(what)));
    assert!(rig.view(&q).locked && rig.view(&q).cached > 0);
    assert_eq!(rig.delivered(&q), [0], "one worker, over all lives of the queue");
    rig.finish(&q, 0);
    assert_eq!(rig.delivered(&q), [0, 50]);
    rig.advance(3 * SECOND);
    assert!(order(&rig, from, &q).contains(&"lock"), "and it is renewed");
}

#[test]
fn broadcasting_members_lock_nothing() {
    let mut config = config(&["T"]);
    (config.orderly, config.model) = (true, MessageModel::Broadcasting);
    let q = queue("T", 0);
    let mut rig =
        Rig::with_offsets(Cluster::one("T", 1).with_stored(&q, 0, 5), config, [(q.clone(), 0)].into());
    rig.advance(SECOND);
    assert!(!order(&rig, 0, &q).contains(&"lock"));
    assert_eq!(rig.delivered(&q), [0], "one at a time all the same");
}

/// A queue that nobody works on fast enough holds what its limits say; its span is no limit.
#[test]
fn the_span_does_not_limit_an_orderly_queue() {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    (config.orderly, config.limits.offset_span_max) = (true, 1);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 0), config);
    rig.hold_pulls();
    rig.advance(SECOND);
    rig.answer_pull(&q, Ok(range(&q, 0, 10)));
    rig.advance(MS);
    assert!(rig.pull(&q).is_some());
}
