//! C04: an orderly handler gives up a moment. Nothing is lost, nothing overtakes.

use crate::support;

use evenkeel_core::consumer::{Event, Failure, Outcome};
use support::cluster::range;
use support::{Cluster, MS, MessageQueue, Request, Rig, SECOND, config, queue};

/// Offsets 5, 6, 7 are in the window of the one queue; pulls stay at the broker.
fn rig(max_retries: i32) -> (Rig, MessageQueue) {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    (config.orderly, config.limits.max_retries) = (true, max_retries);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 5), config);
    rig.checks.orderly = true;
    rig.hold_pulls();
    rig.advance(SECOND);
    rig.answer_pull(&q, Ok(range(&q, 5, 8)));
    (rig, q)
}

fn give_up(rig: &mut Rig, queue: &MessageQueue, offset: i64) {
    let ticket = rig.ticket(queue, offset);
    rig.outcome(ticket, Outcome::Suspend { done: 0, pause: None, why: Failure::Asked });
}

/// Offset and tries of everything handed out.
fn calls(rig: &Rig) -> Vec<(i64, i32)> {
    let each = rig.deliveries.iter().flat_map(|(_, delivery)| &delivery.messages);
    each.map(|message| (message.queue_offset, message.reconsume_times)).collect()
}

#[test]
fn c04_the_same_message_comes_again_before_those_behind_it() {
    let (mut rig, q) = rig(-1);
    assert_eq!((rig.view(&q).cached, rig.view(&q).cached_bytes), (3, 12));
    for tries in 0..2 {
        give_up(&mut rig, &q, 5);
        assert_eq!(rig.view(&q).commit_point, Some(5));
        rig.advance(999 * MS);
        assert_eq!(rig.open.len(), 0, "try {tries}: handed out before the pause of 1000 ms was over");
        rig.advance(MS);
    }
    for offset in 5..8 {
        assert_eq!(rig.open.len(), 1, "one delivery at a time");
        rig.finish(&q, offset);
        assert_eq!(rig.view(&q).commit_point, Some(offset + 1));
    }
    assert_eq!(calls(&rig), [(5, 0), (5, 1), (5, 2), (6, 0), (7, 0)]);
    assert_eq!((rig.view(&q).cached, rig.view(&q).cached_bytes), (0, 0));
    assert_eq!(rig.saw(|event| matches!(event, Event::HandlerFailed { offset: 5, .. })), 2);
    assert!(rig.commits(&q).is_sorted());
}

#[test]
fn c04_after_the_last_try_it_goes_to_the_dead_letters_once() {
    let (mut rig, q) = rig(2);
    for _ in 0..3 {
        give_up(&mut rig, &q, 5);
        if rig.open.is_empty() {
            rig.advance(SECOND);
        }
    }
    rig.advance(10 * MS);
    assert_eq!(calls(&rig), [(5, 0), (5, 1), (5, 2), (6, 0)]);
    let sent_back = rig.sent(0, |flight| match &flight.request {
        Request::SendBack(back) => Some((back.commit_log_offset, back.delay_level)),
        _ => None,
    });
    assert_eq!(sent_back, [(5000, -1)], "one dead letter");
    assert_eq!(rig.view(&q).commit_point, Some(6));
}

/// Those behind it wait until the broker has the dead letter.
#[test]
fn a_dead_letter_that_is_refused_holds_the_queue() {
    let (mut rig, q) = rig(0);
    rig.rule(|_, request| match request {
        Request::SendBack(_) => support::Verdict::Reply(Err(support::lost())),
        Request::Pull(_) => support::Verdict::Park,
        _ => support::Verdict::Usual,
    });
    give_up(&mut rig, &q, 5);
    rig.advance(4 * SECOND);
    assert_eq!((rig.open.len(), rig.view(&q).commit_point), (0, Some(5)));
    // After 5 s it is here again, one try older, and gives up again.
    rig.advance(2 * SECOND);
    rig.hold_pulls();
    give_up(&mut rig, &q, 5);
    rig.advance(10 * MS);
    assert_eq!(calls(&rig), [(5, 0), (5, 1), (6, 0)]);
}

#[test]
fn the_pause_has_limits_and_may_be_asked_for() {
    for (asked, expected) in [(1, 10), (50, 50), (3_600_000, 30_000)] {
        let (mut rig, q) = rig(-1);
        let ticket = rig.ticket(&q, 5);
        let before = rig.now;
        rig.outcome(ticket, Outcome::Suspend { done: 0, pause: Some(MS * asked), why: Failure::Asked });
        rig.advance(40 * SECOND);
        let again = rig.deliveries.last().expect("it came again").0;
        assert_eq!((again - before).as_millis(), expected, "asked for {asked} ms");
    }
}

#[test]
fn part_of_a_batch_is_done() {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    (config.orderly, config.limits.batch_max) = (true, 3);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 5), config);
    rig.hold_pulls();
    rig.advance(SECOND);
    rig.answer_pull(&q, Ok(range(&q, 5, 10)));
    let ticket = rig.ticket(&q, 5);
    rig.outcome(ticket, Outcome::Suspend { done: 1, pause: None, why: Failure::Error("full".into()) });
    rig.advance(SECOND);
    rig.finish_all();
    assert_eq!(calls(&rig), [(5, 0), (6, 0), (7, 0), (6, 1), (7, 1), (8, 0), (9, 0)]);
}

/// What a handler of the other kind answers is understood.
#[test]
fn a_retry_suspends_an_orderly_queue() {
    let (mut rig, q) = rig(-1);
    rig.fail(&q, 5);
    rig.advance(SECOND);
    assert_eq!(calls(&rig), [(5, 0), (5, 1)]);
    assert!(rig.sent(0, |f| matches!(f.request, Request::SendBack(_)).then_some(())).is_empty());
}

#[test]
fn a_message_that_was_put_back_comes_again_at_once_and_no_older() {
    let (mut rig, q) = rig(-1);
    let ticket = rig.ticket(&q, 5);
    rig.outcome(ticket, Outcome::PutBack);
    assert_eq!(calls(&rig), [(5, 0), (5, 0)]);
}
