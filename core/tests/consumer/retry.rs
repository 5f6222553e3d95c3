//! What becomes of messages whose handler failed.

use crate::support;

use evenkeel_core::consumer::{Event, Failure, Outcome};
use evenkeel_core::wire::request::SendBack;
use support::cluster::range;
use support::{Cluster, MS, Request, Rig, SECOND, Verdict, config, lost, queue};

fn rig(batch_max: u32) -> Rig {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    (config.limits.batch_max, config.limits.max_retries) = (batch_max, 5);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 10), config);
    rig.hold_pulls();
    rig.advance(SECOND);
    rig.answer_pull(&q, Ok(range(&q, 10, 15)));
    rig
}

fn sent_back(rig: &Rig) -> Vec<SendBack> {
    rig.sent(0, |flight| match &flight.request {
        Request::SendBack(back) => Some(back.clone()),
        _ => None,
    })
}

/// Send-backs fail, pulls stay.
fn refuse_send_backs(rig: &mut Rig) {
    rig.rule(|_, request| match request {
        Request::SendBack(_) => Verdict::Reply(Err(lost())),
        Request::Pull(_) => Verdict::Park,
        _ => Verdict::Usual,
    });
}

#[test]
fn goes_back_to_the_broker() {
    let (mut rig, q) = (rig(1), queue("T", 0));
    let ticket = rig.ticket(&q, 10);
    let why = Failure::Error("database".into());
    rig.outcome(ticket, Outcome::Retry { done: 0, delay_level: 3, why: why.clone() });
    let flight = rig.calls.last().expect("a call").clone();
    assert_eq!(flight.to.as_str(), "a:10911");
    let [back] = sent_back(&rig).try_into().expect("one send-back");
    assert_eq!((back.group.as_str(), back.broker.as_str(), back.origin_topic.as_str()), ("g", "a", "T"));
    // Its place in the log, not in the queue.
    assert_eq!((back.commit_log_offset, back.delay_level, back.max_reconsume_times), (10_000, 3, 5));
    assert!(!back.msg_id.is_empty());
    assert_eq!(rig.view(&q).commit_point, Some(10), "not done before the broker says so");
    rig.advance(MS);
    assert_eq!(rig.view(&q).commit_point, Some(11));
    assert_eq!(rig.saw(|e| matches!(e, Event::HandlerFailed { offset: 10, reconsume_times: 0, .. })), 1);
    assert_eq!(rig.saw(|e| matches!(e, Event::SentBack { offset: 10, .. })), 1);
}

#[test]
fn send_back_fails() {
    let (mut rig, q) = (rig(1), queue("T", 0));
    refuse_send_backs(&mut rig);
    rig.fail(&q, 10);
    for offset in 11..15 {
        rig.finish(&q, offset);
    }
    rig.advance(4 * SECOND + 999 * MS);
    assert_eq!((rig.view(&q).commit_point, rig.open.len()), (Some(10), 0));
    // 5 s after the failure it is here again, one try older.
    rig.advance(5 * MS);
    let [again] = &rig.open[..] else { panic!("{:?}", rig.open) };
    assert_eq!((again.messages[0].queue_offset, again.messages[0].reconsume_times), (10, 1));
    rig.fail(&q, 10);
    rig.advance(5 * SECOND + 5 * MS);
    assert_eq!(rig.open[0].messages[0].reconsume_times, 2);
    rig.usual();
    rig.fail(&q, 10);
    rig.advance(10 * MS);
    assert_eq!((rig.view(&q).commit_point, rig.view(&q).cached, rig.view(&q).cached_bytes), (Some(15), 0, 0));
}

/// Two failures at different times: each waits its own time.
#[test]
fn each_waits_its_own_time() {
    let (mut rig, q) = (rig(1), queue("T", 0));
    refuse_send_backs(&mut rig);
    rig.fail(&q, 10);
    rig.advance(3 * SECOND);
    rig.fail(&q, 11);
    let seen = rig.deliveries.len();
    rig.advance(2 * SECOND + 10 * MS);
    assert_eq!(rig.delivered(&q)[seen..], [10]);
    rig.advance(3 * SECOND);
    assert_eq!(rig.delivered(&q)[seen..], [10, 11]);
}

#[test]
fn part_of_a_batch() {
    let (mut rig, q) = (rig(5), queue("T", 0));
    let ticket = rig.ticket(&q, 10);
    rig.outcome(ticket, Outcome::Retry { done: 3, delay_level: 0, why: Failure::Asked });
    assert_eq!(rig.view(&q).commit_point, Some(13));
    let backs: Vec<i64> = sent_back(&rig).iter().map(|back| back.commit_log_offset).collect();
    assert_eq!(backs, [13_000, 14_000]);
    rig.advance(10 * MS);
    assert_eq!(rig.view(&q).commit_point, Some(15));
}

#[test]
fn more_done_than_there_are() {
    let (mut rig, q) = (rig(5), queue("T", 0));
    let ticket = rig.ticket(&q, 10);
    rig.outcome(ticket, Outcome::Retry { done: 99, delay_level: 0, why: Failure::Asked });
    assert_eq!((rig.view(&q).commit_point, sent_back(&rig).len()), (Some(15), 0));
    assert_eq!(rig.saw(|e| matches!(e, Event::HandlerFailed { .. })), 0);
}

#[test]
fn put_back_is_as_if_never_handed_out() {
    let (mut rig, q) = (rig(5), queue("T", 0));
    let ticket = rig.ticket(&q, 10);
    rig.outcome(ticket, Outcome::PutBack);
    assert_eq!(rig.delivered(&q), [10, 11, 12, 13, 14, 10, 11, 12, 13, 14]);
    assert!(rig.open[0].messages.iter().all(|message| message.reconsume_times == 0));
}

/// 1. A message is on its way back to the broker when the queue's offset is reset.
/// 2. The broker confirms. That belongs to the life before and completes nothing in this one.
#[test]
fn confirmed_after_a_reset() {
    let (mut rig, q) = (rig(1), queue("T", 0));
    rig.fail(&q, 10);
    rig.reset(&[(q.clone(), 10)]);
    rig.advance(10 * MS);
    assert_eq!(rig.view(&q).commit_point, Some(10));
    assert_eq!(rig.saw(|e| matches!(e, Event::Late { .. })), 1);
}

/// A message that comes again does so under the name it was sent under.
#[test]
fn retry_topic_message() {
    let r = queue("%RETRY%g", 0);
    let mut net = Cluster::one("T", 1).with_committed(&r, 0);
    net.topic("%RETRY%g", &[("a", 1)]);
    let mut rig = Rig::new(net, config(&["T"]));
    rig.hold_pulls();
    rig.advance(SECOND);
    let mut message = support::cluster::message(&r, 0);
    message.properties = evenkeel_core::wire::properties::Properties::from_pairs([("RETRY_TOPIC", "T")]);
    rig.answer_pull(&r, Ok(support::cluster::found(vec![message], 1)));
    assert_eq!(rig.open[0].messages[0].topic.as_str(), "T");
    assert_eq!(rig.open[0].queue, r);
}
