//! Exclusive hand-over: what moves with a queue, and when the next owner may have it.

use crate::support;

use evenkeel_core::config::ConsumerConfig;
use evenkeel_core::consumer::io::Position;
use evenkeel_core::consumer::{Event, Input, Outcome};
use evenkeel_core::wire::code::ResponseCode;
use support::{
    Cluster, MS, MessageQueue, Reply, Request, Rig, SECOND, Verdict, config, lost, order, queue, refused,
};

fn exclusive() -> ConsumerConfig {
    let mut config = config(&["T"]);
    config.limits.exclusive_handover = true;
    config.limits.concurrency = 4;
    config
}

/// Two queues; of the second, which will move, messages 0 to 3 are with handlers, and 96 wait.
fn moving(config: ConsumerConfig) -> (Rig, MessageQueue) {
    let q = queue("T", 1);
    let cluster = Cluster::one("T", 2).with_stored(&q, 0, 100).with_committed(&queue("T", 0), 0);
    let mut rig = Rig::new(cluster, config);
    rig.advance(SECOND);
    assert_eq!(rig.delivered(&q), [0, 1, 2, 3]);
    (rig, q)
}

/// A member comes that gets the second queue. Gives the number of calls before that.
fn join(rig: &mut Rig) -> usize {
    let calls = rig.calls.len();
    rig.net.members(&["me", "other"]);
    rig.members_changed();
    rig.advance(5 * MS);
    calls
}

fn ended(rig: &Rig, of: &MessageQueue) -> Option<(i64, usize)> {
    rig.events.iter().find_map(|(_, event)| match event {
        Event::QueueEnded { queue, commit_point, abandoned } if queue == of => {
            Some((*commit_point, *abandoned))
        }
        _ => None,
    })
}

fn refuse_commits(rig: &mut Rig) {
    rig.rule(|_, request| match request {
        Request::CommitOffset { .. } => Verdict::Reply(Err(refused(request, ResponseCode::SYSTEM_BUSY))),
        _ => Verdict::Usual,
    });
}

fn refuse_send_backs(rig: &mut Rig) {
    rig.rule(|_, request| match request {
        Request::SendBack(_) => Verdict::Reply(Err(lost())),
        _ => Verdict::Usual,
    });
}

#[test]
fn the_lock_comes_first_and_several_handlers_work_under_it() {
    let (rig, q) = moving(exclusive());
    assert_eq!(order(&rig, 0, &q)[..3], ["lock", "look", "pull"]);
    assert!(rig.view(&q).locked && rig.view(&q).running == 4);
}

#[test]
fn a_queue_that_another_member_still_has_waits() {
    let q = queue("T", 0);
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&q, 0, 100), exclusive());
    rig.net.locked_elsewhere.insert(q.clone());
    rig.advance(5 * SECOND);
    let seen = order(&rig, 0, &q);
    assert!(seen.len() > 8 && seen.iter().all(|what| *what == "lock"), "{seen:?}");
    // The other one has come to 40.
    rig.net.committed.insert(q.clone(), 40);
    rig.net.locked_elsewhere.clear();
    rig.advance(510 * MS);
    assert_eq!(rig.delivered(&q), [40, 41, 42, 43]);
}

/// Its retry topic is a topic.
#[test]
fn queues_of_the_retry_topic_change_hands_in_the_same_way() {
    let mut cluster = Cluster::one("T", 1);
    cluster.topic("%RETRY%g", &[("a", 1)]);
    let (retry, q) = (queue("%RETRY%g", 0), queue("T", 0));
    let mut rig = Rig::new(cluster.with_committed(&q, 0).with_stored(&retry, 0, 3), exclusive());
    rig.advance(SECOND);
    assert_eq!(order(&rig, 0, &retry)[..3], ["lock", "look", "pull"]);
    assert_eq!(rig.delivered(&retry), [0, 1, 2]);
}

#[test]
fn a_queue_that_moves_takes_along_what_nobody_has_begun() {
    let (mut rig, q) = moving(exclusive());
    let from = join(&mut rig);
    rig.advance(10 * SECOND);
    // Its handlers take their time, longer than `revoke_timeout`: nothing new is handed out, the lock is kept.
    for offset in [3, 1, 2] {
        rig.finish(&q, offset);
        rig.advance(SECOND);
    }
    assert!(rig.net.locked.contains(&q) && !order(&rig, from, &q).contains(&"unlock"));
    rig.finish(&q, 0);
    assert!(rig.net.locked.contains(&q), "the commit is not confirmed yet");
    rig.advance(SECOND);
    assert_eq!(rig.delivered(&q), [0, 1, 2, 3]);
    assert_eq!(rig.net.committed[&q], 4);
    assert_eq!(ended(&rig, &q), Some((4, 0)));
    assert!(order(&rig, from, &q).ends_with(&["commit", "unlock"]));
    assert!(!rig.net.locked.contains(&q) && rig.net.locked.contains(&queue("T", 0)));
}

/// Control: by default the next owner begins while handlers run, and has their messages, too.
#[test]
fn without_it_the_next_owner_does_not_wait() {
    let mut config = exclusive();
    config.limits.exclusive_handover = false;
    let (mut rig, q) = moving(config);
    join(&mut rig);
    rig.advance(4 * SECOND);
    assert!(rig.net.locked.is_empty());
    assert_eq!(ended(&rig, &q), Some((0, 4)), "given up after `revoke_timeout`");
    rig.finish_all();
    rig.advance(SECOND);
    assert_eq!(rig.net.committed.get(&q), Some(&0), "what its handlers did comes again");
}

#[test]
fn a_commit_that_fails_is_tried_again_before_the_lock_goes() {
    let (mut rig, q) = moving(exclusive());
    refuse_commits(&mut rig);
    join(&mut rig);
    rig.finish_all();
    rig.advance(10 * SECOND);
    assert!(rig.net.locked.contains(&q) && ended(&rig, &q).is_none());
    rig.usual();
    rig.advance(2 * SECOND);
    assert_eq!(rig.net.committed[&q], 4);
    assert!(!rig.net.locked.contains(&q));
}

#[test]
fn a_broker_that_takes_no_commit_does_not_keep_the_queue_for_ever() {
    let (mut rig, q) = moving(exclusive());
    refuse_commits(&mut rig);
    join(&mut rig);
    rig.finish_all();
    rig.advance(21 * SECOND);
    assert_eq!(ended(&rig, &q), Some((4, 0)));
    assert!(!rig.net.locked.contains(&q));
}

#[test]
fn handlers_that_outlast_the_patience_are_given_up() {
    let (mut rig, q) = moving(exclusive());
    join(&mut rig);
    rig.finish(&q, 0);
    rig.finish(&q, 2);
    rig.advance(19 * SECOND);
    assert!(rig.net.locked.contains(&q));
    rig.advance(2 * SECOND);
    assert_eq!(ended(&rig, &q), Some((1, 2)), "1 and 3 still run");
    assert!(!rig.net.locked.contains(&q));
    let from = rig.calls.len();
    rig.finish(&q, 1);
    rig.advance(SECOND);
    assert_eq!(order(&rig, from, &q), [""; 0]);
    assert_eq!(rig.net.committed[&q], 1, "what comes too late changes nothing");
}

/// 1. Message 0 failed, and so did its send-back; 1 to 4 are done.
/// 2. The queue moves. Tried again here, 0 would be handed out of a queue on its way out; left as it is, 1 to 4 would come
///    again with it.
#[test]
fn what_failed_goes_back_to_the_broker_before_the_queue_goes() {
    let (mut rig, q) = moving(exclusive());
    refuse_send_backs(&mut rig);
    rig.fail(&q, 0);
    let from = join(&mut rig);
    rig.finish_all();
    rig.advance(3 * SECOND);
    assert!(rig.net.locked.contains(&q));
    rig.usual();
    rig.advance(3 * SECOND);
    let seen = order(&rig, from, &q);
    assert!(seen.ends_with(&["send back", "commit", "unlock"]), "{seen:?}");
    assert_eq!((rig.net.committed[&q], rig.delivered(&q).len()), (5, 5));
}

#[test]
fn what_was_put_back_goes_along_unless_something_behind_it_is_done() {
    for (order_of_ends, committed) in [([3, 2], 2), ([2, 3], 4)] {
        let (mut rig, q) = moving(exclusive());
        join(&mut rig);
        rig.finish(&q, 0);
        rig.finish(&q, 1);
        // The first of the two was not worked on; the second was, if it lies behind.
        let [put_back, other] = order_of_ends;
        let ticket = rig.ticket(&q, put_back);
        rig.outcome(ticket, Outcome::PutBack);
        let ticket = rig.ticket(&q, other);
        rig.outcome(ticket, if put_back < other { Outcome::Done } else { Outcome::PutBack });
        rig.advance(SECOND);
        assert_eq!(rig.net.committed[&q], committed);
        assert!(!rig.net.locked.contains(&q));
    }
}

#[test]
fn leaving_drains_commits_unlocks_and_then_unregisters() {
    let (mut rig, q) = moving(exclusive());
    let from = rig.calls.len();
    rig.stop(30 * SECOND);
    for offset in [2, 0, 3, 1] {
        rig.advance(SECOND / 2);
        rig.finish(&q, offset);
    }
    rig.advance(SECOND);
    assert!(rig.consumer.is_stopped());
    assert!(order(&rig, from, &q).ends_with(&["commit", "unlock", "unregister"]));
    assert_eq!((rig.net.committed[&q], rig.delivered(&q).len()), (4, 4));
}

#[test]
fn leaving_sends_back_what_failed_and_tries_its_commit_again() {
    let (mut rig, q) = moving(exclusive());
    refuse_send_backs(&mut rig);
    rig.fail(&q, 0);
    rig.stop(30 * SECOND);
    rig.finish_all();
    rig.advance(SECOND);
    assert!(!rig.consumer.is_stopped());
    let mut refusals = 2;
    rig.rule(move |_, request| match request {
        Request::CommitOffset { .. } if refusals > 0 => {
            refusals -= 1;
            Verdict::Reply(Err(lost()))
        }
        _ => Verdict::Usual,
    });
    rig.advance(7 * SECOND);
    assert!(rig.consumer.is_stopped());
    assert_eq!((rig.net.committed[&q], rig.delivered(&q).len()), (5, 5));
}

/// The queue moved, and then its member stops.
#[test]
fn leaving_tries_the_last_commit_of_a_queue_that_moves_again() {
    let (mut rig, q) = moving(exclusive());
    let from = join(&mut rig);
    rig.stop(30 * SECOND);
    let mut refusals = 2;
    rig.rule(move |_, request| match request {
        Request::CommitOffset { .. } if refusals > 0 => {
            refusals -= 1;
            Verdict::Reply(Err(refused(request, ResponseCode::SYSTEM_BUSY)))
        }
        _ => Verdict::Usual,
    });
    rig.finish_all();
    rig.advance(7 * SECOND);
    assert!(rig.consumer.is_stopped());
    assert_eq!(rig.net.committed.get(&q), Some(&4));
    assert!(order(&rig, from, &q).ends_with(&["commit", "unlock", "unregister"]));
}

/// 1. The answer to a commit is lost. 2. Somebody seeks: a new life begins, whose commits wait for that answer.
/// 3. It is done with four messages, and the queue moves, or the member stops.
#[test]
fn the_last_commit_waits_for_one_of_the_life_before() {
    for stops in [false, true] {
        let (mut rig, q) = moving(exclusive());
        rig.rule(|_, request| match request {
            Request::CommitOffset { .. } => Verdict::Park,
            _ => Verdict::Usual,
        });
        rig.finish(&q, 0);
        rig.advance(4 * SECOND + SECOND / 2);
        rig.usual();
        rig.input(Input::Seek { queue: q.clone(), to: Position::Offset(50) });
        // What the earlier life's handlers did counts no more, and its parked pull is answered: now there are handlers for
        // the new one, and it may pull.
        rig.finish_all();
        rig.store(&q, 1);
        rig.advance(50 * MS);
        assert_eq!(rig.delivered(&q)[5..], [50, 51, 52, 53]);
        let from = rig.calls.len();
        if stops {
            rig.stop(30 * SECOND);
        } else {
            join(&mut rig);
        }
        rig.finish_all();
        rig.advance(10 * SECOND);
        assert_eq!(rig.net.committed.get(&q), Some(&54), "stops: {stops}");
        let seen = order(&rig, from, &q);
        let unlocked = seen.iter().position(|what| *what == "unlock");
        assert!(unlocked > seen.iter().rposition(|what| *what == "commit"), "{seen:?}");
    }
}

/// It was at its last try and was not worked on.
#[test]
fn what_was_put_back_at_its_last_try_does_not_become_a_dead_letter() {
    let mut config = exclusive();
    config.limits.max_retries = 0;
    let (mut rig, q) = moving(config);
    join(&mut rig);
    let ticket = rig.ticket(&q, 0);
    rig.outcome(ticket, Outcome::PutBack);
    rig.finish_all();
    rig.advance(SECOND);
    let most = |request: &Request| match request {
        Request::SendBack(back) => Some(back.max_reconsume_times),
        _ => None,
    };
    assert_eq!(rig.sent(0, |flight| most(&flight.request)), [1]);
    assert_eq!(rig.net.committed[&q], 4);
}

/// As for orderly queues: 30 s after the last answered renewal was sent nothing is handed out or pulled.
#[test]
fn a_lock_that_lapsed_stops_hand_out_and_pulls() {
    let (mut rig, q) = moving(exclusive());
    rig.work = Some(100 * MS);
    rig.finish_all();
    let silent_from = rig.now;
    rig.rule(|_, request| match request {
        Request::Lock(_) => Verdict::Reply(Err(lost())),
        _ => Verdict::Usual,
    });
    for _ in 0..40 {
        rig.advance(SECOND);
        rig.store(&q, 20);
    }
    let last = rig.deliveries.last().map(|(at, _)| *at).expect("deliveries") - silent_from;
    assert!(last <= 30 * SECOND && last > 28 * SECOND, "{last:?}");
    assert!(!rig.view(&q).locked);
    let (before, pulls) = (rig.delivered(&q).len(), rig.pulled(&q).len());
    rig.usual();
    rig.advance(5 * SECOND);
    assert!(rig.delivered(&q).len() > before && rig.pulled(&q).len() > pulls);
    let each_once: Vec<i64> = (0..rig.delivered(&q).len() as i64).collect();
    assert_eq!(rig.delivered(&q), each_once, "it goes on where it stopped");
}

/// Brokers serve calls in different threads: a lock call beside the unlock could come first, and be undone by it.
#[test]
fn a_queue_that_comes_back_asks_for_its_lock_when_the_unlock_has_been_answered() {
    let mut config = exclusive();
    config.limits.lock_timeout = 5 * SECOND;
    let (mut rig, q) = moving(config);
    rig.rule(|_, request| if matches!(request, Request::Unlock(_)) { Verdict::Park } else { Verdict::Usual });
    let from = join(&mut rig);
    rig.finish_all();
    rig.advance(SECOND / 2);
    assert_eq!(order(&rig, from, &q).last(), Some(&"unlock"));
    let from = rig.calls.len();
    rig.net.members(&["me"]);
    rig.members_changed();
    rig.advance(3 * SECOND);
    assert_eq!((rig.view(&q).phase, order(&rig, from, &q)), ("locking", vec![]));
    let unlock = rig.calls.iter().rfind(|flight| matches!(flight.request, Request::Unlock(_)));
    let unlock = unlock.expect("it was sent").call;
    rig.reply(unlock, Ok(Reply::Done));
    rig.advance(SECOND);
    assert_eq!(order(&rig, from, &q)[..3], ["lock", "look", "pull"]);
}

/// The answer to an earlier commit is lost: while it is awaited, the last one cannot be sent.
#[test]
fn leaving_outlasts_a_commit_whose_answer_is_lost() {
    let (mut rig, q) = moving(exclusive());
    rig.rule(
        |_, request| {
            if matches!(request, Request::CommitOffset { .. }) { Verdict::Park } else { Verdict::Usual }
        },
    );
    rig.finish(&q, 0);
    rig.advance(4 * SECOND + SECOND / 2);
    rig.usual();
    rig.stop(30 * SECOND);
    rig.finish_all();
    rig.advance(10 * SECOND);
    assert!(rig.consumer.is_stopped());
    assert_eq!(Some(rig.net.committed[&q]), rig.delivered(&q).last().map(|last| last + 1));
}
