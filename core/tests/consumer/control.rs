//! Pause, resume and seek, and what they meet under way.

use crate::support;

use evenkeel_core::consumer::{Event, Input, Outcome, Position, Scope};
use evenkeel_core::model::Topic;
use evenkeel_core::time::WallClock;
use support::cluster::range;
use support::{Cluster, MS, MessageQueue, Reply, Request, Rig, SECOND, Verdict, config, lost, queue};

/// Queues 0 and 1, each with the messages 10..14; queue 0's 10..14 are with handlers, and its pull for 14 waits.
fn rig() -> Rig {
    rig_of(Cluster::one("T", 2).with_stored(&queue("T", 0), 10, 4).with_stored(&queue("T", 1), 10, 4))
}

fn rig_of(net: Cluster) -> Rig {
    let mut rig = Rig::new(net, config(&["T"]));
    rig.advance(SECOND);
    rig
}

fn pause(rig: &mut Rig, scope: impl Into<Scope>) {
    rig.input(Input::Pause { scope: scope.into() });
}

fn resume(rig: &mut Rig, scope: impl Into<Scope>) {
    rig.input(Input::Resume { scope: scope.into() });
}

fn seek(rig: &mut Rig, queue: &MessageQueue, to: Position) {
    rig.input(Input::Seek { queue: queue.clone(), to });
}

fn resets(rig: &Rig) -> Vec<(i64, i64)> {
    let reset = |event: &Event| match event {
        Event::OffsetReset { from, to, .. } => Some((*from, *to)),
        _ => None,
    };
    rig.events.iter().filter_map(|(_, event)| reset(event)).collect()
}

// ---- pause ----

/// What runs finishes and is committed; what a parked pull brings is held; the other queue goes on.
#[test]
fn a_paused_queue_hands_out_and_pulls_nothing() {
    let (mut rig, q, other) = (rig(), queue("T", 0), queue("T", 1));
    pause(&mut rig, q.clone());
    assert!(rig.view(&q).paused && !rig.view(&other).paused);
    rig.finish_all();
    rig.store(&q, 2);
    rig.store(&other, 1);
    rig.advance(20 * SECOND);
    assert_eq!(rig.net.committed[&q], 14);
    assert_eq!((rig.view(&q).cached, rig.delivered(&q).len()), (2, 4));
    assert_eq!(rig.pulled(&q), [10, 14], "the parked one was answered, and none followed");
    assert_eq!(rig.delivered(&other), [10, 11, 12, 13, 14]);

    resume(&mut rig, q.clone());
    assert_eq!(rig.delivered(&q)[4..], [14, 15]);
    assert_eq!(rig.pulled(&q), [10, 14, 16]);
}

#[test]
fn a_paused_topic_counts_for_queues_that_come_later() {
    let (mut rig, topic) = (rig(), Topic::from("T"));
    pause(&mut rig, topic.clone());
    rig.net.topic("T", &[("a", 3)]);
    rig.store(&queue("T", 2), 1);
    rig.advance(31 * SECOND);
    assert_eq!(rig.fetching("T"), [0, 1, 2], "it is ours and known");
    assert!(rig.pulled(&queue("T", 2)).is_empty());
    resume(&mut rig, queue("T", 2));
    assert!(rig.view(&queue("T", 2)).paused, "the topic's pause is not the queue's");
    resume(&mut rig, topic);
    assert_eq!(rig.pulled(&queue("T", 2)).len(), 1);
}

#[test]
fn a_topics_resume_ends_the_pauses_of_its_queues() {
    let (mut rig, q) = (rig(), queue("T", 0));
    pause(&mut rig, [q.clone(), queue("T", 1)].into_iter().collect::<Scope>());
    resume(&mut rig, Topic::from("T"));
    assert!(!rig.view(&q).paused && !rig.view(&queue("T", 1)).paused);
}

/// Another member may have worked on it in between: a pause of ours says nothing about that life.
#[test]
fn a_pause_ends_when_the_queue_goes_to_another_member() {
    let (mut rig, q) = (rig(), queue("T", 1));
    rig.finish_all();
    pause(&mut rig, q.clone());
    rig.net.members(&["aa", "me"]);
    rig.members_changed();
    rig.advance(2 * SECOND);
    assert!(rig.view(&q).paused, "AVG gives us the second queue: still ours, still paused");
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig.advance(5 * SECOND);
    assert!(support::view(&rig.consumer, &q).is_none());
    rig.net.members(&["me"]);
    rig.members_changed();
    rig.advance(5 * SECOND);
    assert!(!rig.view(&q).paused);
}

#[test]
fn a_queue_that_is_not_ours_is_not_paused() {
    let mut rig = rig();
    pause(&mut rig, queue("T", 2));
    pause(&mut rig, Topic::from("U"));
    rig.net.topic("T", &[("a", 3)]);
    rig.advance(31 * SECOND);
    assert!(!rig.view(&queue("T", 2)).paused);
}

/// A new life of a queue that stays ours stays paused.
#[test]
fn a_pause_survives_a_seek() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.finish_all();
    pause(&mut rig, q.clone());
    seek(&mut rig, &q, Position::Offset(11));
    rig.advance(20 * SECOND);
    assert_eq!((rig.view(&q).paused, rig.net.committed[&q]), (true, 11), "it has moved, and does not move");
    assert_eq!(rig.delivered(&q).len(), 4);
    resume(&mut rig, q.clone());
    rig.advance(SECOND);
    assert_eq!(rig.delivered(&q)[4..], [11, 12, 13]);
}

/// An orderly consumer of one queue with three messages.
fn orderly_rig() -> (Rig, MessageQueue) {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    config.orderly = true;
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&q, 10, 3), config);
    rig.checks.orderly = true;
    rig.advance(SECOND);
    (rig, q)
}

#[test]
fn orderly_a_paused_queue_keeps_its_lock() {
    let (mut rig, q) = orderly_rig();
    pause(&mut rig, q.clone());
    rig.finish(&q, 10);
    rig.advance(70 * SECOND);
    assert!(rig.view(&q).locked);
    assert_eq!(rig.delivered(&q), [10]);
    resume(&mut rig, q.clone());
    assert_eq!(rig.delivered(&q), [10, 11]);
}

#[test]
fn a_stop_does_not_wait_for_what_is_paused() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.finish_all();
    pause(&mut rig, Topic::from("T"));
    rig.store(&q, 2);
    rig.advance(SECOND);
    rig.stop(5 * SECOND);
    rig.advance(SECOND);
    assert!(rig.consumer.is_stopped());
    assert_eq!(rig.net.committed[&q], 14);
}

// ---- seek ----

/// 1. A pull for 14 is parked and 10..14 is with handlers. 2. Seek to 12. 3. The handlers end, then the pull.
#[test]
fn a_seek_outlives_what_was_under_way() {
    let (mut rig, q) = (rig(), queue("T", 0));
    seek(&mut rig, &q, Position::Offset(12));
    assert_eq!(resets(&rig), [(10, 12)]);
    rig.advance(SECOND);
    assert_eq!(rig.net.committed[&q], 12, "at once: a crash right now keeps it");
    assert_eq!(rig.pulled(&q), [10, 14], "two pulls never wait at the broker");
    rig.finish_all();
    assert_eq!(rig.view(&q).commit_point, Some(12), "of the life before");
    rig.answer_pull(&q, Ok(range(&q, 14, 15)));
    assert_eq!(rig.delivered(&q).len(), 4, "so is what the old pull brings");
    rig.advance(SECOND);
    assert_eq!(rig.delivered(&q)[4..], [12, 13]);
    rig.finish_all();
    rig.advance(6 * SECOND);
    assert_eq!(rig.net.committed[&q], 14);
}

/// The commit of the old place is on its way: the new one is not sent beside it.
#[test]
fn a_seek_waits_for_a_commit_that_is_under_way() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.rule(|_, request| match request {
        Request::CommitOffset { .. } => Verdict::Park,
        _ => Verdict::Usual,
    });
    rig.finish_all();
    rig.advance(5 * SECOND);
    let commits = rig.commits(&q);
    assert_eq!(commits, [14]);
    seek(&mut rig, &q, Position::Offset(11));
    assert_eq!(rig.commits(&q), [14]);
    rig.usual();
    let (call, _) = rig
        .flights
        .values()
        .find_map(|flight| match &flight.request {
            Request::CommitOffset { queue, .. } if *queue == q => Some((flight.call, ())),
            _ => None,
        })
        .expect("the parked commit");
    rig.reply(call, Ok(Reply::Done));
    rig.advance(MS * 5);
    assert_eq!(rig.commits(&q), [14, 11]);
}

#[test]
fn places_that_the_broker_knows() {
    for (to, offset) in
        [(Position::First, 10), (Position::Last, 14), (Position::At(WallClock::from_millis(5)), 0)]
    {
        let (mut rig, q) = (rig(), queue("T", 0));
        rig.finish_all();
        rig.advance(6 * SECOND);
        seek(&mut rig, &q, to);
        assert_eq!(rig.view(&q).phase, "locating");
        rig.advance(SECOND);
        assert_eq!(resets(&rig), [(14, offset)], "{to:?}");
        assert_eq!((rig.view(&q).commit_point, rig.net.committed[&q]), (Some(offset), offset), "{to:?}");
    }
}

/// The broker does not answer: the seek is not forgotten, and the committed offset does not slip in instead.
#[test]
fn a_place_that_cannot_be_asked_for_is_asked_for_again() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.finish_all();
    rig.rule(|_, request| match request {
        Request::MinOffset { .. } => Verdict::Reply(Err(lost())),
        _ => Verdict::Usual,
    });
    seek(&mut rig, &q, Position::First);
    rig.advance(5 * SECOND);
    let queries = |rig: &Rig| {
        rig.sent(0, |flight| {
            matches!(&flight.request, Request::QueryOffset { queue, .. } if *queue == queue_0()).then_some(())
        })
        .len()
    };
    assert_eq!((rig.view(&q).phase, queries(&rig)), ("locating", 1));
    // Somewhere else after all: the first seek is over.
    seek(&mut rig, &q, Position::Offset(13));
    assert_eq!(rig.view(&q).commit_point, Some(13));
    seek(&mut rig, &q, Position::First);
    rig.usual();
    rig.advance(2 * SECOND);
    assert_eq!(resets(&rig).last(), Some(&(13, 10)));
}

fn queue_0() -> MessageQueue {
    queue("T", 0)
}

/// Its last commit is still to come, and must not be lost.
#[test]
fn a_queue_on_its_way_out_is_not_sought() {
    let (mut rig, q) = (rig(), queue("T", 1));
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig.advance(100 * MS);
    assert_eq!(rig.view(&q).phase, "draining");
    assert!(!rig.consumer.holds(&q) && rig.consumer.holds(&queue("T", 0)));
    for to in [Position::Offset(0), Position::First] {
        seek(&mut rig, &q, to);
    }
    rig.finish_all();
    rig.advance(5 * SECOND);
    assert_eq!(rig.net.committed[&q], 14);
    assert!(resets(&rig).is_empty());
}

/// The queue goes while its new place is being asked for: the next owner begins where the group has committed.
#[test]
fn a_seek_without_a_place_yet_goes_with_the_queue() {
    let (mut rig, q) = (rig(), queue("T", 1));
    rig.finish_all();
    rig.advance(6 * SECOND);
    rig.rule(|_, request| match request {
        Request::MinOffset { .. } => Verdict::Park,
        _ => Verdict::Usual,
    });
    seek(&mut rig, &q, Position::First);
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig.advance(5 * SECOND);
    assert!(support::view(&rig.consumer, &q).is_none());
    assert_eq!(rig.net.committed[&q], 14);
}

#[test]
fn orderly_a_seek_keeps_the_lock_and_waits_for_the_handler() {
    let (mut rig, q) = orderly_rig();
    seek(&mut rig, &q, Position::First);
    rig.advance(20 * SECOND);
    assert!(rig.view(&q).locked);
    assert_eq!(rig.delivered(&q), [10], "one handler at a time, over all lives");
    let ticket = rig.ticket(&q, 10);
    rig.outcome(ticket, Outcome::Done);
    assert_eq!(rig.delivered(&q), [10, 10]);
}

#[test]
fn a_seek_below_zero_is_no_seek() {
    let (mut rig, q) = (rig(), queue("T", 0));
    seek(&mut rig, &q, Position::Offset(-1));
    rig.finish_all();
    rig.advance(6 * SECOND);
    assert_eq!((rig.net.committed[&q], resets(&rig).len()), (14, 0));
}
