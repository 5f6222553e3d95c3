//! Popped messages: taken, handed out, settled one by one.

use crate::support;

use evenkeel_core::config::RebalanceBy;
use evenkeel_core::consumer::{Event, Failure, Input, Outcome, Position};
use evenkeel_core::model::CallId;
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::pop::PoppedMessage;
use evenkeel_core::wire::reply::{PopReply, PopStatus};
use evenkeel_core::wire::request::Pop;
use support::cluster::{message, tagged};
use support::{
    Cluster, MS, MessageQueue, Reply, Request, Rig, SECOND, Verdict, config, lost, queue, refused,
};

/// The entry of all queues of broker `a`.
fn entry() -> MessageQueue {
    queue("T", -1)
}

fn rig_with(limits: impl FnOnce(&mut evenkeel_core::config::Limits)) -> Rig {
    let mut net = Cluster::one("T", 2);
    net.popped.insert("T".into());
    let mut config = config(&["T"]);
    config.limits.rebalance = RebalanceBy::Broker;
    limits(&mut config.limits);
    let mut rig = Rig::new(net, config);
    rig.advance(SECOND);
    rig
}

fn rig() -> Rig {
    rig_with(|_| {})
}

/// Servers know the topic with its namespace, handlers without it.
#[test]
fn handlers_see_topics_without_their_namespace() {
    let mut net = Cluster::one("inst%T", 2);
    net.popped.insert("inst%T".into());
    let mut config = config(&["T"]);
    config.namespace = "inst".into();
    config.limits.rebalance = RebalanceBy::Broker;
    let mut rig = Rig::new(net, config);
    rig.advance(SECOND);
    let (call, pop) = pop_in_flight(&rig).expect("a pop is in flight");
    assert_eq!((pop.queue.topic.as_str(), pop.group.as_str()), ("inst%T", "inst%g"));
    let messages = popped(0..1, 60_000, 0);
    rig.reply(
        call,
        Ok(Reply::Popped(PopReply { status: PopStatus::Found, rest: 0, messages, damaged: None })),
    );
    let (_, delivery) = rig.deliveries.last().expect("a delivery");
    assert_eq!(delivery.messages[0].topic.as_str(), "T");
    rig.finish_all();
    rig.advance(SECOND);
    let acknowledged = rig.sent(0, |flight| match &flight.request {
        Request::Ack(popped) => Some((popped.group.to_string(), popped.topic.to_string())),
        _ => None,
    });
    assert_eq!(acknowledged, [("inst%g".to_string(), "inst%T".to_string())]);
}

pub(super) fn pop_in_flight(rig: &Rig) -> Option<(CallId, Pop)> {
    rig.flights.values().find_map(|flight| match &flight.request {
        Request::Pop(pop) => Some((flight.call, pop.clone())),
        _ => None,
    })
}

/// Messages of queue 0 of the broker, popped under `hidden` ms, tried `tries` times before.
fn popped(offsets: core::ops::Range<i64>, hidden: i64, tries: i32) -> Vec<PoppedMessage> {
    let of = |offset| {
        let mut message = message(&queue("T", 0), offset);
        message.reconsume_times = tries;
        let check_point = format!("{offset} 1000 {hidden} 3 0 a 0 {offset}");
        PoppedMessage { message, check_point: check_point.parse().expect("a check point") }
    };
    offsets.map(of).collect()
}

pub(super) fn answer(rig: &mut Rig, status: PopStatus, messages: Vec<PoppedMessage>) {
    let (call, _) = pop_in_flight(rig).expect("a pop is in flight");
    rig.reply(call, Ok(Reply::Popped(PopReply { status, rest: 0, messages, damaged: None })));
}

pub(super) fn found(rig: &mut Rig, offsets: core::ops::Range<i64>) {
    answer(rig, PopStatus::Found, popped(offsets, 60_000, 0));
}

/// Offsets that were acknowledged, in order.
pub(super) fn acked(rig: &Rig) -> Vec<i64> {
    rig.sent(0, |flight| match &flight.request {
        Request::Ack(popped) => Some(popped.check_point.offset),
        _ => None,
    })
}

/// Offsets that were hidden anew, and for how long.
pub(super) fn hidden(rig: &Rig) -> Vec<(i64, i64)> {
    rig.sent(0, |flight| match &flight.request {
        Request::ChangeInvisible { popped, invisible_ms } => Some((popped.check_point.offset, *invisible_ms)),
        _ => None,
    })
}

fn buried(rig: &Rig) -> Vec<(i64, i32)> {
    rig.sent(0, |flight| match &flight.request {
        Request::SendBack(back) => Some((back.commit_log_offset, back.delay_level)),
        _ => None,
    })
}

fn fail(rig: &mut Rig, offset: i64, delay_level: i32) {
    let ticket = rig.ticket(&entry(), offset);
    rig.outcome(ticket, Outcome::Retry { done: 0, delay_level, why: Failure::Asked });
}

#[test]
fn asks_the_master_for_any_queue() {
    let rig = rig();
    let (call, pop) = pop_in_flight(&rig).expect("a pop is in flight");
    assert_eq!(rig.flights[&call].to.as_str(), "a:10911");
    assert_eq!((pop.queue, pop.max_messages, pop.invisible_ms), (entry(), 32, 60_000));
    assert_eq!((pop.suspend_ms, pop.born, pop.from_end), (15_000, 0, true));
    assert_eq!((pop.expression_type.as_str(), pop.expression.as_str()), ("TAG", "*"));
    assert_eq!(rig.view(&entry()).phase, "popping");
    assert!(rig.fetching("T").is_empty(), "no queue is pulled");
}

#[test]
fn each_message_is_acknowledged_under_its_own_name() {
    let mut rig = rig();
    found(&mut rig, 5..8);
    assert!(pop_in_flight(&rig).is_some(), "the next pop does not wait for handlers");
    rig.finish(&entry(), 6);
    rig.finish(&entry(), 5);
    assert_eq!(acked(&rig), [6, 5]);
    rig.advance(MS);
    assert_eq!(rig.view(&entry()).cached, 1);
    let commits = rig.sent(0, |flight| matches!(flight.request, Request::CommitOffset { .. }).then_some(()));
    assert!(commits.is_empty(), "an entry has no offset");
}

#[test]
fn failed_messages_stay_hidden_until_they_are_due() {
    let mut rig = rig();
    answer(&mut rig, PopStatus::Found, popped(0..3, 60_000, 0));
    answer(&mut rig, PopStatus::Found, popped(3..4, 60_000, 2));
    fail(&mut rig, 0, 0);
    fail(&mut rig, 1, 5);
    fail(&mut rig, 2, 99);
    fail(&mut rig, 3, 0);
    assert_eq!(hidden(&rig), [(0, 10_000), (1, 60_000), (2, 7_200_000), (3, 60_000)]);
    assert_eq!(rig.saw(|e| matches!(e, Event::HandlerFailed { .. })), 4);
    rig.advance(MS);
    assert_eq!(rig.view(&entry()).cached, 0);
}

#[test]
fn part_of_a_batch_fails() {
    let mut rig = rig_with(|limits| limits.batch_max = 4);
    found(&mut rig, 0..4);
    let ticket = rig.ticket(&entry(), 0);
    rig.outcome(ticket, Outcome::Retry { done: 3, delay_level: 0, why: Failure::Asked });
    assert_eq!((acked(&rig), hidden(&rig)), (vec![0, 1, 2], vec![(3, 10_000)]));
    let failed = |event: &Event| matches!(event, Event::HandlerFailed { queue: q, offset: 3, .. } if *q == queue("T", 0));
    assert_eq!(rig.saw(failed), 1);
}

/// Java acknowledges such a message: it is lost.
#[test]
fn what_failed_too_often_is_a_dead_letter_before_it_is_acknowledged() {
    let mut rig = rig_with(|limits| limits.max_retries = 2);
    answer(&mut rig, PopStatus::Found, popped(7..8, 60_000, 2));
    found(&mut rig, 9..10);
    fail(&mut rig, 7, 0);
    fail(&mut rig, 9, -1);
    assert_eq!(buried(&rig), [(7_000, -1), (9_000, -1)]);
    assert!(acked(&rig).is_empty());
    rig.advance(MS);
    assert_eq!(acked(&rig), [7, 9]);
    assert_eq!(rig.saw(|e| matches!(e, Event::Buried { .. })), 2);
}

#[test]
fn a_dead_letter_that_cannot_be_stored_is_not_acknowledged() {
    let mut rig = rig_with(|limits| limits.max_retries = 0);
    answer(&mut rig, PopStatus::Found, popped(7..8, 5_000, 0));
    rig.rule(|_, request| match request {
        Request::SendBack(_) => Verdict::Reply(Err(lost())),
        _ => Verdict::Usual,
    });
    fail(&mut rig, 7, 0);
    rig.advance(SECOND * 10);
    assert!(buried(&rig).len() >= 3 && acked(&rig).is_empty(), "{:?}", buried(&rig));
    assert_eq!(rig.view(&entry()).cached, 0, "it comes again");
}

#[test]
fn acknowledgements_are_repeated_while_the_time_lasts() {
    let mut rig = rig();
    answer(&mut rig, PopStatus::Found, popped(0..1, 5_000, 0));
    rig.rule(|_, request| match request {
        Request::Ack(_) => Verdict::Reply(Err(lost())),
        _ => Verdict::Usual,
    });
    rig.finish(&entry(), 0);
    rig.advance(SECOND * 2);
    let so_far = acked(&rig).len();
    assert!((2..=3).contains(&so_far), "{so_far}");
    rig.advance(SECOND * 20);
    assert!((4..=6).contains(&acked(&rig).len()), "{:?}", acked(&rig));
    assert_eq!(rig.view(&entry()).cached, 0);
    assert_eq!(
        rig.saw(|e| matches!(e, Event::CallFailed { what: "acknowledge a message", .. })),
        acked(&rig).len()
    );
}

#[test]
fn what_waits_too_long_is_not_handed_out() {
    let mut rig = rig_with(|limits| limits.concurrency = 1);
    answer(&mut rig, PopStatus::Found, popped(0..3, 5_000, 0));
    rig.advance(SECOND * 6);
    assert_eq!(rig.saw(|e| matches!(e, Event::PopExpired { messages: 2, .. })), 1);
    // Done too late: it may spare the repetition. Failed too late: the broker has it in hand.
    rig.finish(&entry(), 0);
    assert_eq!((rig.delivered(&entry()), acked(&rig)), (vec![0], vec![0]));
    answer(&mut rig, PopStatus::Found, popped(3..4, 5_000, 0));
    rig.advance(SECOND * 6);
    fail(&mut rig, 3, 0);
    assert!(hidden(&rig).is_empty());
    rig.advance(MS);
    assert_eq!(rig.view(&entry()).cached, 0);
}

#[test]
fn popping_waits_while_much_is_held() {
    let mut rig = rig_with(|limits| (limits.pop_messages_max, limits.concurrency) = (40, 1));
    found(&mut rig, 0..32);
    found(&mut rig, 32..64);
    assert!(pop_in_flight(&rig).is_none(), "64 are held");
    for offset in 0..24 {
        rig.finish(&entry(), offset);
    }
    assert!(pop_in_flight(&rig).is_none(), "acknowledgements are under way");
    rig.advance(MS);
    assert!(pop_in_flight(&rig).is_none(), "40 are held");
    rig.finish(&entry(), 24);
    rig.advance(MS);
    assert!(pop_in_flight(&rig).is_some());
}

#[test]
fn popping_waits_while_many_bytes_are_held() {
    let mut rig = rig_with(|limits| (limits.queue_bytes_max, limits.concurrency) = (1 << 20, 1));
    let mut messages = popped(0..2, 60_000, 0);
    for popped in &mut messages {
        popped.message.body = vec![0; 600 << 10].into();
    }
    answer(&mut rig, PopStatus::Found, messages);
    assert!(pop_in_flight(&rig).is_none(), "1200 KiB are held");
    assert_eq!(rig.view(&entry()).cached_bytes, 1200 << 10);
    rig.finish(&entry(), 0);
    rig.advance(MS);
    assert!(pop_in_flight(&rig).is_some(), "600 KiB are held");
}

#[test]
fn unwanted_tags_are_acknowledged_unseen() {
    let mut net = Cluster::one("T", 1);
    net.popped.insert("T".into());
    let mut config = config(&[]);
    config.limits.rebalance = RebalanceBy::Broker;
    let tags = evenkeel_core::wire::subscription::Filter::Tags("Aa".into());
    config.subscriptions = vec![tags.subscribe("T".into()).expect("an expression")];
    let mut rig = Rig::new(net, config);
    rig.advance(SECOND);
    // "Aa" and "BB" have one hash code, which is what the broker compares.
    let mut messages = popped(0..2, 60_000, 0);
    for (popped, tag) in messages.iter_mut().zip(["BB", "Aa"]) {
        popped.message = tagged(&queue("T", 0), popped.message.queue_offset, tag);
    }
    answer(&mut rig, PopStatus::Found, messages);
    assert_eq!((acked(&rig), rig.delivered(&entry())), (vec![0], vec![1]));
}

#[test]
fn answers_without_messages() {
    let mut rig = rig();
    let pops =
        |rig: &Rig| rig.sent(0, |flight| matches!(flight.request, Request::Pop(_)).then_some(())).len();
    rig.advance(SECOND * 2);
    answer(&mut rig, PopStatus::NoNew, vec![]);
    assert_eq!(pops(&rig), 2, "at once after a hold");
    answer(&mut rig, PopStatus::NoNew, vec![]);
    assert_eq!(pops(&rig), 2, "but not in a tight loop");
    rig.advance(MS * 100);
    assert_eq!(pops(&rig), 3);
    answer(&mut rig, PopStatus::Full, vec![]);
    rig.advance(MS * 999);
    assert_eq!(pops(&rig), 3, "a broker that holds too many requests is left alone");
    rig.advance(MS);
    assert_eq!(pops(&rig), 4);
    let (call, pop) = pop_in_flight(&rig).expect("a pop is in flight");
    rig.reply(call, Err(refused(&Request::Pop(pop), ResponseCode::FLOW_CONTROL)));
    rig.advance(MS * 20);
    assert_eq!(pops(&rig), 5);
    let (call, _) = pop_in_flight(&rig).expect("a pop is in flight");
    rig.reply(call, Err(lost()));
    rig.advance(SECOND);
    assert_eq!((pops(&rig), rig.saw(|e| matches!(e, Event::CallFailed { what: "pop", .. }))), (6, 1));
}

#[test]
fn a_paused_topic_is_not_popped() {
    let mut rig = rig();
    rig.input(Input::Pause { scope: support::Topic::from("T").into() });
    found(&mut rig, 0..2);
    rig.advance(SECOND);
    assert!(rig.deliveries.is_empty() && pop_in_flight(&rig).is_none());
    rig.input(Input::Resume { scope: support::Topic::from("T").into() });
    assert_eq!(rig.delivered(&entry()), [0, 1]);
    assert!(pop_in_flight(&rig).is_some());
}

/// 1. One message is with a handler, two wait for one; a pop is parked.
/// 2. The stop shows the two to others; what the parked pop still brings, too.
/// 3. The handler ends; its message is acknowledged before we leave.
#[test]
fn shutdown_acknowledges_what_is_done_and_shows_the_rest_to_others() {
    let mut rig = rig_with(|limits| limits.concurrency = 1);
    found(&mut rig, 0..3);
    rig.stop(SECOND * 30);
    assert_eq!(hidden(&rig), [(1, 1000), (2, 1000)]);
    found(&mut rig, 3..4);
    assert_eq!(hidden(&rig).last(), Some(&(3, 1000)));
    rig.advance(SECOND);
    let left =
        |rig: &Rig| rig.calls.iter().any(|flight| matches!(flight.request, Request::Unregister { .. }));
    assert!(!left(&rig), "a handler runs");
    rig.finish(&entry(), 0);
    rig.advance(SECOND);
    assert_eq!(acked(&rig), [0]);
    assert!(left(&rig) && rig.consumer.is_stopped());
    let place = |is_it: &dyn Fn(&Request) -> bool| {
        rig.calls.iter().position(|flight| is_it(&flight.request)).expect("such a call")
    };
    assert!(
        place(&|it| matches!(it, Request::Ack(_))) < place(&|it| matches!(it, Request::Unregister { .. }))
    );
    assert_eq!(rig.deliveries.len(), 1);
}

#[test]
fn a_handler_that_put_its_messages_back_gets_them_again() {
    let mut rig = rig();
    found(&mut rig, 0..2);
    let ticket = rig.ticket(&entry(), 0);
    rig.outcome(ticket, Outcome::PutBack);
    assert_eq!(rig.delivered(&entry()), [0, 1, 0]);
    assert!(acked(&rig).is_empty() && hidden(&rig).is_empty());
}

/// An entry has no offset. Who asks for a seek can see that before.
#[test]
fn a_popped_topic_cannot_be_sought() {
    let mut rig = rig();
    let topic = support::Topic::from("T");
    let calls = rig.calls.len();
    for queue in [entry(), queue("T", 0)] {
        for to in [Position::Offset(7), Position::First] {
            rig.input(Input::Seek { queue: queue.clone(), to });
        }
    }
    assert_eq!((rig.calls.len(), rig.view(&entry()).phase), (calls, "popping"));
    assert!(rig.consumer.is_popping(&topic));
    rig.net.popped.clear();
    rig.members_changed();
    rig.advance(SECOND);
    assert!(rig.consumer.is_popping(&topic), "until the parked pop has ended");
    answer(&mut rig, PopStatus::NoNew, vec![]);
    rig.advance(SECOND);
    assert!(!rig.consumer.is_popping(&topic) && rig.consumer.holds(&queue("T", 0)));
}

#[test]
fn running_info_tells_what_is_popped() {
    let mut rig = rig();
    found(&mut rig, 0..2);
    let request = evenkeel_core::wire::peer::PeerRequest::RunningInfo {
        reply: 7,
        group: support::Group::from(support::GROUP),
        client: support::ClientId::from(support::ME),
    };
    rig.input(Input::Peer { from: "a:10911".into(), request });
    let Some((_, 7, evenkeel_core::wire::peer::Answer::RunningInfo(info))) = rig.answers.last() else {
        panic!("{:?}", rig.answers)
    };
    let figures = &info.popped[&entry()];
    assert_eq!((figures.waiting_ack, figures.dropped), (2, false));
    assert_eq!(figures.last_pop, support::WALL + 1000);
}
