//! Which queues are ours, when that is asked, and how a queue comes and goes.

use crate::support;

use evenkeel_core::allocate::{Allocate, AllocateError, Average, Input as AllocateInput};
use evenkeel_core::consumer::{Event, Input, RebalanceReason};
use std::borrow::Cow;
use std::sync::Arc;
use support::cluster::range;
use support::{Cluster, MS, Request, Rig, SECOND, Verdict, all_of, config, lost, queue};

fn started(queues: i32) -> Rig {
    let mut net = Cluster::one("T", queues);
    for id in 0..queues {
        net.committed.insert(queue("T", id), 100);
    }
    let mut rig = Rig::new(net, config(&["T"]));
    rig.hold_pulls();
    rig.advance(5 * SECOND);
    rig
}

fn rounds(rig: &Rig) -> usize {
    rig.sent(0, |flight| matches!(flight.request, Request::Members { .. }).then_some(())).len()
}

#[test]
fn join_and_leave() {
    let mut rig = started(8);
    assert_eq!(rig.fetching("T"), [0, 1, 2, 3, 4, 5, 6, 7]);
    // "zz" sorts behind "me": AVG leaves us the first half.
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig.advance(10 * MS);
    assert_eq!(rig.fetching("T"), [0, 1, 2, 3]);
    // "aa" sorts before us: the whole share moves.
    rig.net.members(&["zz", "aa", "me"]);
    rig.advance(SECOND);
    rig.members_changed();
    rig.advance(SECOND);
    assert_eq!(rig.fetching("T"), [3, 4, 5]);
    rig.net.members(&["me"]);
    rig.members_changed();
    rig.advance(2 * SECOND);
    assert_eq!(rig.fetching("T"), [0, 1, 2, 3, 4, 5, 6, 7]);
    let generations: Vec<u64> = (rig.events.iter())
        .filter_map(
            |(_, e)| if let Event::Rebalanced { generation, .. } = e { Some(*generation) } else { None },
        )
        .collect();
    assert_eq!(generations, [1, 2, 3, 4]);
}

#[test]
fn many_notices_are_few_rounds() {
    let mut rig = started(4);
    let before = rounds(&rig);
    for notice in 1..=10 {
        rig.members_changed();
        assert_eq!(rounds(&rig), before + notice.min(4), "four act at once");
        rig.advance(50 * MS);
    }
    rig.advance(5 * SECOND);
    assert_eq!(rounds(&rig), before + 5, "the others are one round, a second after the first");
}

/// One leaves, and another one comes a moment later: whose queues go notices both at once, or two members work on them.
#[test]
fn a_member_that_is_replaced_moves_its_queues_twice_at_once() {
    let mut rig = started(8);
    rig.net.members(&["me"]);
    rig.members_changed();
    rig.advance(100 * MS);
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig.advance(10 * MS);
    assert_eq!(rig.fetching("T"), [0, 1, 2, 3]);
}

/// A round has just been, so that a new topic waits for the rest of its second; a notice does not.
#[test]
fn a_notice_is_not_held_up_by_what_waits() {
    let mut rig = started(4);
    rig.net.topic("U", &[("a", 1)]);
    rig.members_changed();
    rig.advance(10 * MS);
    rig.input(Input::Subscribe { subscription: all_of("U") });
    rig.advance(10 * MS);
    assert_eq!(rig.fetching("U"), [0; 0]);
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig.advance(10 * MS);
    assert_eq!((rig.fetching("T"), rig.fetching("U")), (vec![0, 1], vec![0]));
}

/// A notice that comes while the list is on its way is not lost: the list may be older than it.
#[test]
fn notice_during_a_round() {
    let mut rig = started(4);
    rig.members_changed();
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig.advance(2 * SECOND);
    assert_eq!(rig.fetching("T"), [0, 1]);
}

#[test]
fn a_lost_notice_is_healed() {
    let mut rig = started(4);
    rig.net.members(&["me", "zz"]);
    rig.advance(20 * SECOND);
    assert_eq!(rig.fetching("T"), [0, 1]);
    let reason = |event: &Event| matches!(event, Event::Rebalanced { reason: RebalanceReason::Periodic, .. });
    assert_eq!(rig.saw(reason), 1);
}

#[test]
fn no_list_keeps_what_we_have() {
    let mut rig = started(4);
    rig.net.members(&["zz"]);
    rig.rule(|_, request| match request {
        Request::Members { .. } => Verdict::Reply(Err(lost())),
        Request::Pull(_) => Verdict::Park,
        _ => Verdict::Usual,
    });
    rig.members_changed();
    let before = rounds(&rig);
    rig.advance(5 * SECOND);
    assert_eq!(rig.fetching("T"), [0, 1, 2, 3]);
    assert_eq!(rounds(&rig) - before, 4, "one a second");
}

#[test]
fn not_in_the_list() {
    let mut rig = started(4);
    rig.net.members(&["zz"]);
    rig.members_changed();
    let heartbeats =
        |rig: &Rig| rig.sent(0, |f| matches!(f.request, Request::Heartbeat(_)).then_some(())).len();
    let before = heartbeats(&rig);
    rig.advance(10 * MS);
    assert_eq!(rig.fetching("T"), [0; 0]);
    assert_eq!(rig.saw(|event| matches!(event, Event::NotAMember { .. })), 1);
    assert_eq!(heartbeats(&rig), before + 1, "a heartbeat repairs it");
    rig.net.members(&["me", "zz"]);
    rig.advance(3 * SECOND);
    assert_eq!(rig.fetching("T"), [0, 1]);
}

#[test]
fn an_id_used_twice() {
    let mut rig = started(12);
    rig.net.members(&["me", "me", "zz"]);
    rig.members_changed();
    rig.advance(60 * SECOND);
    // Places 0 and 1 of 3: all others leave us both.
    assert_eq!(rig.fetching("T"), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(rig.saw(|event| matches!(event, Event::DuplicateClientId { times: 2, .. })), 1, "told once");
    // It was a connection that had ended, and the broker has seen it now.
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig.advance(SECOND);
    assert_eq!(rig.fetching("T"), [0, 1, 2, 3, 4, 5]);
}

/// AVG until there are two members, then nothing but errors.
#[derive(Debug)]
struct Moody;

impl Allocate for Moody {
    fn name(&self) -> Cow<'_, str> {
        "MOODY".into()
    }
    fn positions(&self, input: &AllocateInput<'_>) -> Result<Vec<usize>, AllocateError> {
        match input.members.len() {
            1 => Average.positions(input),
            2 => Err(AllocateError::Other("no".into())),
            _ => Ok(vec![99]),
        }
    }
}

#[test]
fn the_strategy_fails() {
    let mut config = config(&["T"]);
    config.strategy = Arc::new(Moody);
    let mut rig = Rig::new(Cluster::one("T", 4), config);
    rig.hold_pulls();
    rig.advance(2 * SECOND);
    for members in [&["me", "zz"][..], &["me", "x", "y"][..]] {
        rig.net.members(members);
        rig.members_changed();
        rig.advance(2 * SECOND);
        assert_eq!(rig.fetching("T"), [0, 1, 2, 3], "{members:?}");
    }
    assert!(rig.saw(|event| matches!(event, Event::AllocationFailed { .. })) >= 2);
}

/// Loses queues 2 and 3 of 4 while a handler has 100 of queue 3, and 101 waits.
fn revoked() -> Rig {
    let mut rig = started(4);
    let q = queue("T", 3);
    rig.answer_pull(&q, Ok(range(&q, 100, 104)));
    rig.finish(&q, 100);
    // 101..104 are with handlers; more lies at the broker.
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig
}

#[test]
fn revoked_queue() {
    let (mut rig, q) = (revoked(), queue("T", 3));
    assert_eq!(rig.open.len(), 3);
    rig.advance(2 * MS);
    // 1. What is done is committed at once.
    assert_eq!(rig.net.committed[&q], 101);
    assert_eq!(rig.view(&q).phase, "draining");
    // 2. What the pull still brings is not handed out.
    rig.answer_pull(&q, Ok(range(&q, 104, 110)));
    assert_eq!(rig.open.len(), 3);
    // 3. Handlers finish; the periodic commit does not touch the queue.
    rig.finish(&q, 101);
    rig.finish(&q, 103);
    assert_eq!(rig.net.committed[&q], 101);
    rig.finish(&q, 102);
    rig.advance(5 * MS);
    assert_eq!(rig.net.committed[&q], 104);
    assert!(support::view(&rig.consumer, &q).is_none());
    let ended = |e: &Event| matches!(e, Event::QueueEnded { commit_point: 104, abandoned: 0, queue } if queue.id == 3);
    assert_eq!(rig.saw(ended), 1);
}

/// 1. We lose the queue while 101 is with a handler.
/// 2. The new owner begins at 101, is fast, and commits 500.
/// 3. Our periodic commit is due, then our handlers finish 104. Neither may take the 500 back.
#[test]
fn new_owner_has_committed_more() {
    let (mut rig, q) = (revoked(), queue("T", 3));
    rig.advance(2 * MS);
    rig.net.committed.insert(q.clone(), 500);
    rig.finish(&q, 101);
    // The commit timer ticks at 5 s, 10 s, …; the queue was revoked right after 5 s and waits 3 s at most.
    rig.advance(2 * SECOND);
    rig.finish(&q, 102);
    rig.finish(&q, 103);
    rig.advance(SECOND);
    assert_eq!(rig.net.committed[&q], 500);
    assert!(support::view(&rig.consumer, &q).is_none());
}

/// As before, but the commit timer ticks between the loss and the last handler.
#[test]
fn periodic_commit_of_a_revoked_queue() {
    let (mut rig, q) = (started(4), queue("T", 3));
    rig.advance(4 * SECOND);
    rig.answer_pull(&q, Ok(range(&q, 100, 104)));
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig.advance(5 * MS);
    rig.net.committed.insert(q.clone(), 500);
    rig.finish(&q, 100);
    rig.advance(2 * SECOND);
    assert_eq!(rig.view(&q).phase, "draining");
    assert_eq!(rig.net.committed[&q], 500, "the commit timer took the new owner's offset back");
}

/// Messages that wait for a handler when the queue goes are the new owner's, whatever becomes free.
#[test]
fn messages_that_wait_are_not_handed_out() {
    let q = queue("T", 1);
    let mut config = config(&["T"]);
    config.limits.concurrency = 1;
    let mut rig = Rig::new(Cluster::one("T", 2).with_stored(&q, 0, 5), config);
    rig.advance(SECOND);
    rig.net.members(&["me", "zz"]);
    rig.members_changed();
    rig.advance(5 * MS);
    rig.finish(&q, 0);
    assert_eq!(rig.delivered(&q), [0]);
    rig.advance(5 * MS);
    assert_eq!(rig.net.committed[&q], 1);
    assert!(support::view(&rig.consumer, &q).is_none());
}

#[test]
fn revoked_and_the_handlers_do_not_finish() {
    let (mut rig, q) = (revoked(), queue("T", 3));
    rig.finish(&q, 101);
    rig.advance(3 * SECOND + 10 * MS);
    assert!(support::view(&rig.consumer, &q).is_none(), "3 s are enough");
    assert_eq!(rig.net.committed[&q], 102);
    let ended = |e: &Event| matches!(e, Event::QueueEnded { commit_point: 102, abandoned: 2, queue } if queue.id == 3);
    assert_eq!(rig.saw(ended), 1);
    // Too late.
    rig.finish(&q, 102);
    rig.advance(10 * SECOND);
    assert_eq!(rig.net.committed[&q], 102);
    assert_eq!(rig.saw(|event| matches!(event, Event::Late { .. })), 1);
    rig.answer_pull(&q, Ok(range(&q, 104, 110)));
    assert_eq!((rig.saw(|event| matches!(event, Event::Late { .. })), rig.open.len()), (2, 1));
}

#[test]
fn regained_while_draining() {
    let (mut rig, q) = (revoked(), queue("T", 3));
    rig.advance(SECOND + 500 * MS);
    rig.net.members(&["me"]);
    rig.members_changed();
    rig.advance(100 * MS);
    assert_eq!(rig.view(&q).phase, "draining", "the old life ends first");
    for offset in [101, 102, 103] {
        rig.finish(&q, offset);
    }
    rig.advance(10 * MS);
    assert_eq!(rig.view(&q).phase, "fetching");
    let starts: Vec<i64> = (rig.events.iter())
        .filter_map(|(_, e)| match e {
            Event::QueueStarted { queue, offset, .. } if *queue == q => Some(*offset),
            _ => None,
        })
        .collect();
    assert_eq!(starts, [100, 104]);
}

/// One round takes a queue whose offset is not known yet and gives another one: each has one life, one pull.
#[test]
fn lost_before_located() {
    let mut rig = Rig::new(Cluster::one("T", 4), config(&["T"]));
    rig.net.members(&["aa", "bb", "me"]);
    rig.rule(|_, request| match request {
        Request::QueryOffset { .. } | Request::Pull(_) => Verdict::Park,
        _ => Verdict::Usual,
    });
    rig.advance(SECOND);
    assert_eq!(rig.view(&queue("T", 3)).phase, "locating");
    rig.net.members(&["aa", "me", "zz"]);
    rig.hold_pulls();
    rig.members_changed();
    rig.advance(10 * SECOND);
    assert_eq!(rig.fetching("T"), [2]);
    assert_eq!(rig.pulled(&queue("T", 2)).len(), 1);
    let asked = |f: &support::Flight| {
        matches!(&f.request, Request::QueryOffset { queue, .. } if queue.id == 2).then_some(())
    };
    assert_eq!(rig.sent(0, asked).len(), 1, "two lives of one queue");
}

/// A great many queues that are not located go at once: no deep recursion.
#[test]
fn thousands_lost_before_located() {
    let mut rig = Rig::new(Cluster::one("T", 3000), config(&["T"]));
    rig.rule(|_, request| match request {
        Request::QueryOffset { .. } => Verdict::Park,
        _ => Verdict::Usual,
    });
    rig.advance(SECOND);
    rig.net.members(&["zz"]);
    rig.members_changed();
    rig.advance(SECOND / 10);
    assert!(rig.consumer.snapshot().queues.is_empty());
}

#[test]
fn unsubscribed_and_the_heartbeat_is_under_way() {
    let (mut rig, q) = (revoked(), queue("T", 3));
    rig.advance(2 * MS);
    rig.input(Input::Unsubscribe { topic: "T".into() });
    // The heartbeat without the topic is on its way: for the moment no broker "knows" us. The commit goes all the same.
    for offset in [101, 102, 103] {
        rig.finish(&q, offset);
    }
    rig.advance(5 * MS);
    assert_eq!(rig.net.committed[&q], 104);
}
