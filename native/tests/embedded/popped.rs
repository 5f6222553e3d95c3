use crate::popping::{MINUTE, held, pop, popped, read_pop, text, texts};
use crate::world::{World, config, messages, pull_of, seconds, send};
use evenkeel::embedded::{Config, Limits};
use evenkeel_core::model::{Group, Topic};
use evenkeel_core::time::Duration;
use evenkeel_core::wire::bodies::{AckSet, BatchAck};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::pop::{OffsetBits, PopSource, PoppedMessage};
use evenkeel_core::wire::request::{Pop, Popped, Request};

const MILLISECOND: Duration = Duration::from_millis(1);
const A_MINUTE: Duration = Duration::from_secs(60);

fn with_messages(bodies: &[&str]) -> (World, evenkeel::embedded::ConnId) {
    let mut world = World::new();
    let conn = world.client();
    for body in bodies {
        world.store(conn, body);
    }
    (world, conn)
}

fn batch(messages: &[&PoppedMessage]) -> Request {
    let set = |popped: &&PoppedMessage| {
        let point = &popped.check_point;
        let mut offsets = OffsetBits::default();
        assert!(offsets.add(point.offset - point.start));
        AckSet {
            group: Group::from("g"),
            topic: Topic::from("t"),
            source: point.source.mark().into(),
            start: point.start,
            queue_id: point.queue_id,
            revive_queue: point.revive_queue,
            pop_time: point.pop_time,
            invisible_ms: point.invisible_ms,
            offsets,
        }
    };
    Request::BatchAck(BatchAck { broker: "embedded-a".into(), acks: messages.iter().map(set).collect() })
}

#[test]
fn what_is_acknowledged_does_not_come_again_and_the_rest_does_when_its_time_is_over() {
    let (mut world, conn) = with_messages(&["a", "b", "c"]);
    let first = world.pop(conn, &pop());
    world.ack(conn, &first[0].check_point);
    world.advance(A_MINUTE - MILLISECOND);
    assert_eq!((world.pop(conn, &pop()), world.popped()), (vec![], 2));

    let first_time = first[1].check_point.pop_time.to_string();
    world.advance(MILLISECOND);
    let again = world.pop(conn, &pop());
    assert_eq!(texts(&again), ["b", "c"]);
    for popped in &again {
        let (message, point) = (&popped.message, &popped.check_point);
        assert_eq!((message.topic.as_str(), message.reconsume_times), ("t", 1));
        assert_eq!((point.source, point.queue_id), (PopSource::RetryV1, 0));
        assert_eq!(message.property("1ST_POP_TIME"), Some(first_time.as_str()));
        world.ack(conn, point);
    }
    world.advance(A_MINUTE);
    assert_eq!((world.pop(conn, &pop()), world.popped()), (vec![], 0));
}

#[test]
fn a_message_that_nobody_acknowledges_comes_again_and_again_with_its_tries_counted() {
    let mut world = World::new();
    let conn = world.client();
    world.ask(conn, send("t", 1, "a", &[("TAGS", "x"), ("KEYS", "k")]));
    for tries in 0..4 {
        let found = world.pop(conn, &Pop { expression: "x".into(), ..pop() });
        assert_eq!(found.len(), 1);
        let message = &found[0].message;
        assert_eq!((message.reconsume_times, message.property("KEYS")), (tries, Some("k")));
        world.advance(A_MINUTE);
    }
}

#[test]
fn a_hidden_message_comes_when_its_new_time_is_over_earlier_or_later() {
    let (mut world, conn) = with_messages(&["soon", "late", "done"]);
    let first = world.pop(conn, &pop());
    world.hide(conn, &first[0].check_point, 10_000);
    let late = world.hide(conn, &first[1].check_point, 3 * MINUTE);
    let done = world.hide(conn, &first[2].check_point, 20_000);
    world.ack(conn, &done);
    world.advance(seconds(10) - MILLISECOND);
    assert_eq!(world.pop(conn, &pop()), []);
    world.advance(MILLISECOND);
    let soon = world.pop(conn, &pop());
    assert_eq!(texts(&soon), ["soon"]);
    world.ack(conn, &soon[0].check_point);
    // The old name is nobody's any more.
    world.ack(conn, &first[1].check_point);
    world.advance(seconds(170) - MILLISECOND);
    assert_eq!((world.pop(conn, &pop()), world.popped()), (vec![], 1));
    world.advance(MILLISECOND);
    assert_eq!(texts(&world.pop(conn, &pop())), ["late"]);
    assert_eq!(late.invisible_ms, 3 * MINUTE);
}

#[test]
fn many_are_acknowledged_at_once_of_the_topic_and_of_what_came_again() {
    let (mut world, conn) = with_messages(&["a"]);
    world.pop(conn, &pop());
    world.advance(A_MINUTE);
    for body in ["b", "c", "d"] {
        world.store(conn, body);
    }
    let found = world.pop(conn, &pop());
    assert_eq!(texts(&found), ["a", "b", "c", "d"]);
    let done: Vec<_> = found.iter().filter(|popped| text(popped) != "c").collect();
    world.call(conn, &batch(&done));
    assert_eq!(world.popped(), 1);
    world.advance(A_MINUTE);
    assert_eq!(texts(&world.pop(conn, &pop())), ["c"]);
}

#[test]
fn a_parked_pop_gets_what_comes_again_at_once() {
    let (mut world, conn) = with_messages(&["a"]);
    let first = world.pop(conn, &pop());
    let waiting = world.client();
    let opaque = world.post(waiting, Request::Pop(held()).to_command());
    world.hide(conn, &first[0].check_point, 1000);
    world.advance(seconds(1));
    let answer = world.answer(waiting, opaque).expect("woken");
    assert_eq!(texts(&read_pop(&held(), answer).messages), ["a"]);
}

#[test]
fn after_pop_the_rest_is_pulled_from_the_retry_topic() {
    let (mut world, conn) = with_messages(&["a", "b"]);
    world.join(conn, "c1", "g");
    let first = world.pop(conn, &pop());
    world.ack(conn, &first[0].check_point);
    assert_eq!(world.committed(0), Some(2), "who pulls now begins behind what was popped");
    world.advance(A_MINUTE);
    let everything = crate::world::heartbeat("c1", "g", &[("t", "*", 1), ("%RETRY%g_t", "*", 1)]);
    world.ask(conn, everything);
    let pulled = world.ask(conn, pull_of("g", "%RETRY%g_t", 0, 0));
    assert_eq!(pulled.response_code(), ResponseCode::SUCCESS);
    let bodies: Vec<_> = messages(&pulled).into_iter().map(|message| message.body).collect();
    assert_eq!(bodies, ["b"]);
}

#[test]
fn an_acknowledgement_that_comes_too_late_is_no_error() {
    let (mut world, conn) = with_messages(&["a"]);
    let first = world.pop(conn, &pop());
    world.advance(A_MINUTE);
    world.ack(conn, &first[0].check_point);
    assert_eq!(texts(&world.pop(conn, &pop())), ["a"], "it was shown to others already");
}

#[test]
fn what_retention_dropped_does_not_come_again() {
    let limits = Limits { log_bytes: 2000, ..Limits::default() };
    let mut world = World::with(Config { limits, ..config() });
    let conn = world.client();
    world.store(conn, "a");
    assert_eq!(world.pop(conn, &pop()).len(), 1);
    for _ in 0..20 {
        world.ask(conn, send("t", 1, "later", &[]));
    }
    world.advance(A_MINUTE);
    let left = world.pop(conn, &pop());
    assert!(left.iter().all(|popped| text(popped) == "later"), "{left:?}");
}

#[test]
fn settling_what_does_not_exist_is_refused_as_by_a_real_broker() {
    let (mut world, conn) = with_messages(&["a"]);
    let point = world.pop(conn, &pop()).remove(0).check_point;
    let hide = |popped: Popped, invisible_ms| Request::ChangeInvisible { popped, invisible_ms };
    let topic = |topic: &str| Popped { topic: Topic::from(topic), ..popped(&point) };
    let at = |offset| {
        let mut popped = popped(&point);
        popped.check_point.offset = offset;
        popped
    };
    let queue = |queue_id| {
        let mut popped = popped(&point);
        popped.check_point.queue_id = queue_id;
        popped
    };
    for (what, popped, code) in [
        ("topic", topic("unknown"), ResponseCode::TOPIC_NOT_EXIST),
        ("queue", queue(2), ResponseCode::MESSAGE_ILLEGAL),
        ("queue below 0", queue(-1), ResponseCode::MESSAGE_ILLEGAL),
        ("offset below", at(-1), ResponseCode::NO_MESSAGE),
        ("offset above", at(2), ResponseCode::NO_MESSAGE),
        ("huge offset", at(i64::MAX), ResponseCode::NO_MESSAGE),
    ] {
        assert_eq!(world.code(conn, &Request::Ack(popped.clone())), code, "{what}");
        assert_eq!(world.code(conn, &hide(popped, 1000)), code, "{what}");
    }
    assert_eq!(world.code(conn, &Request::Ack(at(1))), ResponseCode::SUCCESS, "the end itself");
    assert_eq!(world.code(conn, &hide(at(1), 1000)), ResponseCode::NO_MESSAGE);
    assert_eq!(world.code(conn, &hide(popped(&point), i64::MAX)), ResponseCode::SYSTEM_ERROR);
    let good = [Request::Ack(popped(&point)), hide(popped(&point), 1000)];
    for broken in ["", "0", "0 x 60000 0 0 embedded-a 0 0", "0 1 60000 999 0 embedded-a 0 0"] {
        for request in good.iter().map(Request::to_command) {
            let request = request.with_field("extraInfo", broken);
            assert_eq!(world.ask(conn, request).response_code(), ResponseCode::SYSTEM_ERROR, "{broken}");
        }
    }
    assert_eq!(world.popped(), 1, "none of these has settled it");
}

#[test]
fn a_time_below_zero_shows_a_message_at_once() {
    let (mut world, conn) = with_messages(&["a"]);
    let mut point = world.pop(conn, &Pop { invisible_ms: i64::MIN, ..pop() }).remove(0).check_point;
    for _ in 0..2 {
        world.advance(MILLISECOND);
        point = world.pop(conn, &pop()).remove(0).check_point;
        point = world.hide(conn, &point, -1);
    }
    assert_eq!(point.invisible_ms, -1);
}

#[test]
fn a_time_that_is_too_long_to_pop_for_is_the_longest() {
    let (mut world, conn) = with_messages(&["a"]);
    world.pop(conn, &Pop { invisible_ms: i64::MAX, ..pop() });
    world.advance(seconds(3 * 24 * 3600) - MILLISECOND);
    assert_eq!(world.pop(conn, &pop()), []);
    world.advance(MILLISECOND);
    assert_eq!(texts(&world.pop(conn, &pop())), ["a"]);
}

#[test]
fn batches_that_name_nothing_are_refused_and_odd_ones_do_no_harm() {
    let (mut world, conn) = with_messages(&["a"]);
    let point = world.pop(conn, &pop()).remove(0);
    let ask = |world: &mut World, body: &str| {
        let request = Command::request(RequestCode::BATCH_ACK_MESSAGE).with_body(body.to_owned());
        world.ask(conn, request).response_code()
    };
    for body in ["", "{}", r#"{"brokerName":"embedded-a","acks":null}"#, r#"{"brokerName":"b","acks":[]}"#] {
        assert_eq!(ask(&mut world, body), ResponseCode::NO_MESSAGE, "{body}");
    }
    assert_eq!(ask(&mut world, "{"), ResponseCode::SYSTEM_ERROR);
    let odd = |change: fn(&mut AckSet)| {
        let Request::BatchAck(mut acks) = batch(&[&point]) else { panic!("a batch") };
        change(&mut acks.acks[0]);
        Request::BatchAck(acks)
    };
    for change in [
        (|set| set.topic = "unknown".into()) as fn(&mut AckSet),
        |set| set.queue_id = 9,
        |set| set.start = i64::MAX,
        |set| set.start = i64::MIN,
        |set| set.pop_time += 1,
        |set| set.offsets = OffsetBits(vec![0xFE; 1000]),
    ] {
        assert_eq!(world.code(conn, &odd(change)), ResponseCode::SUCCESS);
    }
    assert_eq!(world.code(conn, &odd(|set| set.source = "3".into())), ResponseCode::SYSTEM_ERROR);
    assert_eq!(world.code(conn, &odd(|set| set.revive_queue = 999)), ResponseCode::SYSTEM_ERROR);
    assert_eq!(world.popped(), 1, "none of these has settled it");
}

#[test]
fn names_that_were_never_given_out_cannot_fill_the_table() {
    let limits = Limits { popped: 2, ..Limits::default() };
    let mut world = World::with(Config { limits, ..config() });
    let conn = world.client();
    world.store(conn, "a");
    let point = world.pop(conn, &pop()).remove(0).check_point;
    for pop_time in 0..10 {
        let mut popped = popped(&point);
        popped.check_point.pop_time = pop_time;
        world.advance(MILLISECOND);
        world.ask(conn, Request::ChangeInvisible { popped, invisible_ms: MINUTE }.to_command());
    }
    assert_eq!(world.popped(), 2);
}
