//! One message on an operator's word: what its handler does is answered, and nothing else follows from it.

use crate::support;

use evenkeel_core::consumer::{Event, Failure, Input, Outcome};
use evenkeel_core::wire::message::Message;
use evenkeel_core::wire::peer::{Answer, DirectVerdict, DirectlyConsumed};
use evenkeel_core::wire::properties::Properties;
use support::cluster::message;
use support::{Cluster, MS, MessageQueue, Rig, SECOND, config, consume_directly, queue};

/// Queue 0 with the messages 10..14 and `concurrency` handlers.
fn rig(concurrency: u32, orderly: bool) -> Rig {
    let mut config = config(&["T"]);
    config.limits.concurrency = concurrency;
    config.orderly = orderly;
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&queue("T", 0), 10, 4), config);
    rig.checks.concurrency = Some(concurrency as usize);
    rig.checks.orderly = orderly;
    rig.advance(SECOND);
    rig
}

/// Queue 7 is nobody's here.
fn elsewhere() -> MessageQueue {
    queue("T", 7)
}

fn ask(rig: &mut Rig, opaque: i32, message: Message) {
    rig.input(consume_directly(opaque, "g", message));
}

/// Code and remark of the refusal under this opaque.
fn refusal(rig: &Rig, opaque: i32) -> (i32, &str) {
    match answer(rig, opaque) {
        Answer::Refused { code, remark } => (*code, remark),
        other => panic!("{other:?} is no refusal"),
    }
}

fn answer(rig: &Rig, opaque: i32) -> &Answer {
    let found: Vec<_> = rig.answers.iter().filter(|(_, of, _)| *of == opaque).collect();
    assert_eq!(found.len(), 1, "one question, one answer: {found:?}");
    &found[0].2
}

fn ended(rig: &Rig, opaque: i32) -> &DirectlyConsumed {
    match answer(rig, opaque) {
        Answer::ConsumedDirectly(ended) => ended,
        other => panic!("{other:?} tells no end"),
    }
}

#[test]
fn each_end_of_a_handler_has_its_answer() {
    let mut rig = rig(20, false);
    let retry = |why| Outcome::Retry { done: 0, delay_level: 3, why };
    let suspend = Outcome::Suspend { done: 0, pause: None, why: Failure::Asked };
    let ends = [
        (Outcome::Done, DirectVerdict::Success, None),
        (retry(Failure::Asked), DirectVerdict::Later, None),
        (suspend, DirectVerdict::Later, None),
        (retry(Failure::Error("no money".into())), DirectVerdict::Exception, Some("no money")),
        (retry(Failure::Panic("index 9".into())), DirectVerdict::Exception, Some("panic: index 9")),
        (retry(Failure::TimedOut), DirectVerdict::Exception, Some("the handler's time-out passed")),
        (Outcome::PutBack, DirectVerdict::Later, Some("the handler did not work on it")),
    ];
    for (opaque, (outcome, verdict, remark)) in (0..).zip(ends) {
        ask(&mut rig, opaque, message(&elsewhere(), 5));
        rig.advance(3 * MS);
        let ticket = rig.ticket(&elsewhere(), 5);
        rig.outcome(ticket, outcome);
        let ended = ended(&rig, opaque);
        assert_eq!((ended.verdict, ended.remark.as_deref(), ended.spent_ms), (verdict, remark, 3));
        assert!(ended.auto_commit && !ended.order);
    }
    let told = rig.saw(|event| matches!(event, Event::ConsumedDirectly { answered: true, .. }));
    assert_eq!(told, 7);
}

/// The message is one of a queue of ours, which has it with a handler at the same time.
#[test]
fn nothing_follows_for_the_queue() {
    let (mut rig, q) = (rig(20, false), queue("T", 0));
    rig.finish_all();
    let calls = rig.calls.len();
    ask(&mut rig, 7, message(&q, 11));
    let ticket = rig.ticket(&q, 11);
    rig.outcome(ticket, Outcome::Retry { done: 0, delay_level: 0, why: Failure::Error("no".into()) });
    assert_eq!(rig.view(&q).commit_point, Some(14));
    let sent_back =
        rig.sent(calls, |flight| matches!(flight.request, support::Request::SendBack(_)).then_some(()));
    assert!(sent_back.is_empty(), "a failure is only reported");
    assert_eq!(rig.saw(|event| matches!(event, Event::HandlerFailed { .. })), 0);
}

#[test]
fn a_message_of_the_retry_topic_has_its_first_topic() {
    let mut rig = rig(20, false);
    let retry = queue("%RETRY%g", 0);
    let mut again = message(&retry, 3);
    again.properties = Properties::from_pairs([("RETRY_TOPIC", "T")]);
    ask(&mut rig, 7, again);
    let (_, delivery) = rig.deliveries.last().expect("a delivery");
    assert_eq!(delivery.messages[0].topic.as_str(), "T");
    assert_eq!((delivery.messages[0].broker.as_str(), &delivery.queue), ("a", &retry));
}

#[test]
fn another_group_is_refused() {
    let mut rig = rig(20, false);
    rig.input(consume_directly(7, "other", message(&elsewhere(), 5)));
    assert_eq!(refusal(&rig, 7), (1, "group other is not in this client"));
    assert!(rig.delivered(&elsewhere()).is_empty());
}

/// All handlers are busy: it waits, and comes before the queue's messages.
#[test]
fn it_takes_the_next_free_handler() {
    let (mut rig, q) = (rig(2, false), queue("T", 0));
    assert_eq!(rig.delivered(&q), [10, 11]);
    ask(&mut rig, 7, message(&elsewhere(), 5));
    assert!(rig.delivered(&elsewhere()).is_empty());
    rig.finish(&q, 10);
    assert_eq!((rig.delivered(&elsewhere()), rig.delivered(&q)), (vec![5], vec![10, 11]));
}

/// Nobody is told that it failed, and it then happens nevertheless.
#[test]
fn what_waits_too_long_is_not_consumed() {
    let mut rig = rig(1, false);
    ask(&mut rig, 7, message(&elsewhere(), 5));
    rig.advance(4 * SECOND);
    let (code, remark) = refusal(&rig, 7);
    assert!(code == 207 && remark.contains("no handler was free"), "{code} {remark}");
    rig.finish_all();
    rig.advance(SECOND);
    assert!(rig.delivered(&elsewhere()).is_empty());
}

#[test]
fn a_handler_that_hangs_is_reported_before_whoever_asked_gives_up() {
    let mut rig = rig(20, false);
    ask(&mut rig, 7, message(&elsewhere(), 5));
    rig.advance(4 * SECOND);
    let told = ended(&rig, 7);
    assert_eq!((told.verdict, told.spent_ms), (DirectVerdict::Null, 4_000));
    assert_eq!(told.remark.as_deref(), Some("the handler has not ended within 4 s; it goes on"));
    rig.finish(&elsewhere(), 5);
    assert_eq!(rig.answers.len(), 1, "answered already");
    assert_eq!(rig.saw(|event| matches!(event, Event::ConsumedDirectly { answered: false, .. })), 1);
}

#[test]
fn sixteen_are_under_way_at_most() {
    let mut rig = rig(4, false);
    for opaque in 0..17 {
        ask(&mut rig, opaque, message(&elsewhere(), i64::from(opaque)));
    }
    assert_eq!(refusal(&rig, 16).0, 2);
    assert_eq!(rig.answers.len(), 1);
    rig.advance(4 * SECOND);
    assert_eq!(rig.answers.len(), 17, "each is answered, whatever becomes of it");
}

/// The next connection's questions have numbers of their own.
#[test]
fn an_answer_is_not_sent_over_another_connection() {
    let mut rig = rig(20, false);
    ask(&mut rig, 7, message(&elsewhere(), 5));
    for up in [false, true] {
        rig.input(Input::Link { address: "a:10911".into(), up });
    }
    rig.finish(&elsewhere(), 5);
    assert!(rig.answers.is_empty());
    assert_eq!(rig.saw(|event| matches!(event, Event::ConsumedDirectly { answered: false, .. })), 1);
}

/// One message of a queue at a time is orderly's word, whoever asks for it.
#[test]
fn orderly_one_message_of_a_queue_at_a_time() {
    let (mut rig, q) = (rig(20, true), queue("T", 0));
    assert_eq!(rig.delivered(&q), [10]);
    ask(&mut rig, 7, message(&q, 3));
    ask(&mut rig, 8, message(&elsewhere(), 5));
    assert_eq!(rig.delivered(&elsewhere()), [5], "of another queue it may");
    assert_eq!(rig.delivered(&q), [10]);
    rig.finish(&q, 10);
    assert_eq!(rig.delivered(&q), [10, 3]);
    rig.finish(&q, 3);
    assert!(ended(&rig, 7).order);
    assert_eq!(rig.delivered(&q), [10, 3, 11]);
}

#[test]
fn a_stop_waits_for_the_handler_and_refuses_what_waits() {
    let mut rig = rig(1, false);
    rig.finish_all();
    rig.finish_all();
    rig.finish_all();
    rig.finish_all();
    ask(&mut rig, 7, message(&elsewhere(), 5));
    ask(&mut rig, 8, message(&elsewhere(), 6));
    rig.stop(5 * SECOND);
    assert_eq!(refusal(&rig, 8), (1, "the consumer stops"));
    rig.advance(SECOND);
    assert!(!rig.consumer.is_stopped());
    rig.finish(&elsewhere(), 5);
    assert_eq!(ended(&rig, 7).verdict, DirectVerdict::Success);
    rig.advance(SECOND);
    assert!(rig.consumer.is_stopped());
    assert_eq!(rig.saw(|event| matches!(event, Event::Stopped { drained: 1, abandoned: 0, .. })), 1);
}

#[test]
fn a_stop_that_waited_long_enough_says_so() {
    let mut rig = rig(1, false);
    for _ in 0..4 {
        rig.finish_all();
    }
    ask(&mut rig, 7, message(&elsewhere(), 5));
    rig.stop(2 * SECOND);
    rig.advance(3 * SECOND);
    assert_eq!(refusal(&rig, 7).0, 1);
    assert_eq!(rig.saw(|event| matches!(event, Event::Stopped { drained: 0, abandoned: 1, .. })), 1);
}
