//! Sharing out by the broker and popped messages: bodies as Java writes them, check points, answers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::golden::{cases, section, text};
use bytes::Bytes;
use evenkeel_core::link::{Limits, Link};
use evenkeel_core::model::{CallId, Group, MessageQueue, Topic};
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::bodies::{
    AckSet, AssignmentQuery, Assignments, BatchAck, Body, ModeSetting, RequestMode,
};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::{Command, HeaderEncoding};
use evenkeel_core::wire::error::WireErrorKind;
use evenkeel_core::wire::frame::Framer;
use evenkeel_core::wire::message::Message;
use evenkeel_core::wire::pop::{CheckPoint, OffsetBits, PopSource};
use evenkeel_core::wire::properties::Properties;
use evenkeel_core::wire::reply::{CallError, PopReply, PopStatus, Reply};
use evenkeel_core::wire::request::{MessageModel, Pop, Popped, Request};
use evenkeel_core::wire::stored::encode_stored;

const POINT: &str = "100 1700000000000 60000 3 0 b 2 104";

fn point(text: &str) -> CheckPoint {
    text.parse().unwrap()
}

#[test]
fn what_java_clients_and_brokers_said() {
    let cases = cases("bodies.json");
    let (mut asked, mut answered) = (0, 0);
    for case in section(&cases, "seen") {
        let body = case["text"].as_str().unwrap_or_default();
        match case["bodyClass"].as_str() {
            Some("QueryAssignmentRequestBody") => {
                let query = AssignmentQuery::decode(body.as_bytes()).unwrap();
                assert_eq!(query.encode(), body, "{}", text(case, "id"));
                asked += 1;
            }
            Some("QueryAssignmentResponseBody") => {
                let table = Assignments::decode(body.as_bytes()).unwrap().0.unwrap();
                assert!(table.values().all(|mode| *mode == RequestMode::Pull), "{}", text(case, "id"));
                answered += 1;
            }
            _ => {}
        }
    }
    assert!(asked >= 3 && answered >= 3, "{asked} {answered}");
}

#[test]
fn assignments() {
    let pop = r#"{"messageQueueAssignments":[{"messageQueue":{"brokerName":"b","queueId":-1,"topic":"t"},"mode":"POP"}]}"#;
    let table = Assignments::decode(pop.as_bytes()).unwrap();
    assert_eq!(table.0, Some([(MessageQueue::new("t", "b", -1), RequestMode::Pop)].into()));
    assert_eq!(table.encode(), pop);
    // "I cannot tell" and "nothing is yours" are two things.
    assert_eq!(Assignments::decode(b"{}").unwrap().0, None);
    assert_eq!(Assignments::decode(br#"{"messageQueueAssignments":[]}"#).unwrap().0, Some([].into()));
    let odd = br#"{"messageQueueAssignments":[{"messageQueue":{"brokerName":"b","queueId":1,"topic":"t"},"mode":"PUSH"}]}"#;
    assert_eq!(Assignments::decode(odd).unwrap_err().kind, WireErrorKind::Unsupported);
}

#[test]
fn request_bodies() {
    let query = AssignmentQuery {
        group: Group::from("g"),
        client: "c".into(),
        topic: Topic::from("t"),
        strategy: "AVG".into(),
        model: MessageModel::Clustering,
    };
    let request = Request::QueryAssignment(query);
    assert_eq!(request.code(), RequestCode::QUERY_ASSIGNMENT);
    assert_eq!(
        request.to_command().body,
        r#"{"clientId":"c","consumerGroup":"g","messageModel":"CLUSTERING","strategyName":"AVG","topic":"t"}"#
    );
    let setting =
        ModeSetting { group: Group::from("g"), topic: Topic::from("t"), mode: RequestMode::Pop, share: 8 };
    let body = r#"{"consumerGroup":"g","mode":"POP","popShareQueueNum":8,"topic":"t"}"#;
    assert_eq!(Request::SetRequestMode(setting.clone()).to_command().body, body);
    assert_eq!(ModeSetting::decode(body.as_bytes()).unwrap(), setting);
}

#[test]
fn batch_acknowledgement() {
    let mut offsets = OffsetBits::default();
    assert!(offsets.add(0) && offsets.add(9));
    assert!(!offsets.add(-1) && !offsets.add(1 << 40), "what is far away is not written");
    let ack = AckSet {
        group: Group::from("g"),
        topic: Topic::from("t"),
        source: "0".into(),
        start: 100,
        queue_id: 2,
        revive_queue: 3,
        pop_time: 1000,
        invisible_ms: 60_000,
        offsets,
    };
    let batch = BatchAck { broker: "b".into(), acks: vec![ack] };
    let body = r#"{"acks":[{"b":"AQI=","c":"g","it":60000,"pt":1000,"q":2,"r":"0","rq":3,"so":100,"t":"t"}],"brokerName":"b"}"#;
    assert_eq!(batch.encode(), body);
    let read = BatchAck::decode(body.as_bytes()).unwrap();
    assert_eq!(read, batch);
    assert_eq!(read.acks[0].offsets.distances().collect::<Vec<_>>(), [0, 9]);
}

#[test]
fn check_points_are_eight_fields() {
    let read = point(POINT);
    assert_eq!((read.start, read.offset, read.queue_id, read.revive_queue), (100, 104, 2, 3));
    assert_eq!(
        (read.pop_time, read.invisible_ms, read.source),
        (1_700_000_000_000, 60_000, PopSource::Topic)
    );
    assert_eq!(read.to_string(), POINT);
    for (text, kind) in [
        ("", WireErrorKind::BadNumber),
        ("100 1700000000000 60000 3 0 b 2", WireErrorKind::MissingField),
        ("100 1700000000000 60000 3 7 b 2 104", WireErrorKind::BadNumber),
        ("100 1700000000000 60000 3 0 b 2 x", WireErrorKind::BadNumber),
    ] {
        assert_eq!(text.parse::<CheckPoint>().unwrap_err().kind, kind, "{text:?}");
    }
}

#[test]
fn acknowledgements_name_the_stored_topic() {
    let (group, topic) = (Group::from("g"), Topic::from("t"));
    for (mark, stored) in [("0", "t"), ("1", "%RETRY%g_t"), ("2", "%RETRY%g+t")] {
        let text = format!("100 1700000000000 60000 3 {mark} b 2 104");
        let popped = Popped { group: group.clone(), topic: topic.clone(), check_point: point(&text) };
        let ack = Request::Ack(popped.clone()).to_command();
        let hide = Request::ChangeInvisible { popped, invisible_ms: 10_000 }.to_command();
        for command in [&ack, &hide] {
            let field = |name: &str| command.fields.get(name).unwrap();
            assert_eq!((field("topic"), field("extraInfo"), field("offset")), (stored, text.as_str(), "104"));
            assert_eq!((field("consumerGroup"), field("queueId"), field("bname")), ("g", "2", "b"));
        }
        assert_eq!(hide.fields.get("invisibleTime"), Some("10000"));
    }
}

fn pop() -> Pop {
    Pop {
        group: Group::from("g"),
        queue: MessageQueue::new("t", "b", -1),
        max_messages: 32,
        invisible_ms: 60_000,
        suspend_ms: 15_000,
        born: 0,
        from_end: true,
        expression_type: "TAG".into(),
        expression: "*".into(),
    }
}

fn stored(topic: &str, queue_id: i32, offset: i64, properties: &[(&str, &str)]) -> Message {
    let mut message = Message::new(Topic::from(topic), Bytes::from_static(b"x"));
    (message.queue_id, message.queue_offset) = (queue_id, offset);
    message.properties = Properties::from_pairs(properties.iter().copied());
    message
}

fn answer(messages: &[Message], starts: &str, offsets: &str) -> Result<PopReply, CallError> {
    let mut body = Vec::new();
    for message in messages {
        encode_stored(message, &mut body).unwrap();
    }
    let mut command = Command::response(ResponseCode::SUCCESS, Some(1)).with_body(body);
    let fields =
        [("popTime", "1000"), ("invisibleTime", "60000"), ("reviveQid", "3"), ("restNum", "7")].into_iter();
    for (name, value) in fields.chain([("startOffsetInfo", starts), ("msgOffsetInfo", offsets)]) {
        command.fields.set(name, value);
    }
    match Reply::parse(&Request::Pop(pop()), command)? {
        Reply::Popped(reply) => Ok(reply),
        other => panic!("{other:?}"),
    }
}

fn points(reply: &PopReply) -> Vec<String> {
    reply.messages.iter().map(|popped| popped.check_point.to_string()).collect()
}

#[test]
fn messages_of_several_queues_get_their_check_points() {
    let messages = [
        stored("t", 0, 5, &[]),
        stored("t", 0, 7, &[]),
        stored("t", 1, 5, &[]),
        stored("%RETRY%g_t", 0, 2, &[]),
        stored("t", 0, 3, &[("POP_CK", "3 1000 60000 3 2 b 0 3")]),
    ];
    let reply = answer(&messages, "0 0 4;0 1 5;1 0 2", "0 0 5,7;0 1 5;1 0 2").unwrap();
    assert_eq!((reply.status, reply.rest), (PopStatus::Found, 7));
    let expected = [
        "4 1000 60000 3 0 b 0 5",
        "4 1000 60000 3 0 b 0 7",
        "5 1000 60000 3 0 b 1 5",
        "2 1000 60000 3 1 b 0 2",
        "3 1000 60000 3 2 b 0 3",
    ];
    assert_eq!(points(&reply), expected);
}

#[test]
fn a_header_without_offsets_starts_at_each_queues_first_message() {
    let messages = [stored("t", 0, 5, &[]), stored("t", 1, 9, &[]), stored("t", 0, 7, &[])];
    let reply = answer(&messages, "", "").unwrap();
    let expected = ["5 1000 60000 3 0 b 0 5", "9 1000 60000 3 0 b 1 9", "5 1000 60000 3 0 b 0 7"];
    assert_eq!(points(&reply), expected);
}

#[test]
fn unreadable_offsets_are_a_garbled_answer() {
    for (starts, offsets) in [("0 0", "0 0 5"), ("0 0 4", "0 0 5,x"), ("9 0 4", "0 0 5")] {
        let result = answer(&[stored("t", 0, 5, &[])], starts, offsets);
        assert!(matches!(result, Err(CallError::Garbled(_))), "{starts:?} {offsets:?}: {result:?}");
    }
}

#[test]
fn codes_of_answers() {
    let status = |code| match Reply::parse(&Request::Pop(pop()), Command::response(code, Some(1))) {
        Ok(Reply::Popped(reply)) => Some(reply.status),
        Ok(other) => panic!("{other:?}"),
        Err(_) => None,
    };
    assert_eq!(status(ResponseCode::POLLING_TIMEOUT), Some(PopStatus::NoNew));
    assert_eq!(status(ResponseCode::PULL_NOT_FOUND), Some(PopStatus::NoNew));
    assert_eq!(status(ResponseCode::POLLING_FULL), Some(PopStatus::Full));
    assert_eq!(status(ResponseCode::SYSTEM_BUSY), None);

    let popped = Popped { group: Group::from("g"), topic: Topic::from("t"), check_point: point(POINT) };
    let ack = Request::Ack(popped.clone());
    let parse = |request: &Request, code| Reply::parse(request, Command::response(code, Some(1)));
    assert_eq!(parse(&ack, ResponseCode::SUCCESS), Ok(Reply::Acked(true)));
    assert_eq!(parse(&ack, ResponseCode::NO_MESSAGE), Ok(Reply::Acked(false)));
    assert!(parse(&ack, ResponseCode::TOPIC_NOT_EXIST).is_err());

    let hide = Request::ChangeInvisible { popped, invisible_ms: 10_000 };
    assert_eq!(parse(&hide, ResponseCode::NO_MESSAGE), Ok(Reply::Hidden(None)));
    let mut command = Command::response(ResponseCode::SUCCESS, Some(1));
    for (name, value) in [("popTime", "2000"), ("invisibleTime", "10000"), ("reviveQid", "5")] {
        command.fields.set(name, value);
    }
    let renamed = point("104 2000 10000 5 0 b 2 104");
    assert_eq!(Reply::parse(&hide, command), Ok(Reply::Hidden(Some(renamed))));
}

/// 200050 has no room in the 16 bits of the binary header: such a request travels as JSON, all others as set.
#[test]
fn wide_codes_travel_as_json() {
    let mut link = Link::new(Limits { encoding: HeaderEncoding::Binary, ..Limits::default() });
    let deadline = Instant::ZERO + Duration::from_secs(3);
    link.send(Instant::ZERO, CallId(1), &Request::Pop(pop()), deadline);
    link.send(Instant::ZERO, CallId(2), &Request::Route { topic: Topic::from("t") }, deadline);
    let mut framer = Framer::new(1 << 20);
    while let Some(bytes) = link.take_output() {
        framer.push(&bytes);
    }
    let mut seen = Vec::new();
    while let Some(frame) = framer.next().unwrap() {
        let (command, encoding) = Command::decode(frame).unwrap();
        seen.push((command.code, encoding));
    }
    assert_eq!(seen, [(200_050, HeaderEncoding::Json), (105, HeaderEncoding::Binary)]);
}
