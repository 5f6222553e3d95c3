//! One connection: replies in any order, deadlines, broken peers, closing.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use evenkeel_core::link::{InNamespace, Limits, Link, LinkOutput, Sign};
use evenkeel_core::model::{CallId, Group, MessageQueue};
use evenkeel_core::time::Instant;
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::{Command, HeaderEncoding};
use evenkeel_core::wire::error::WireErrorKind;
use evenkeel_core::wire::frame::Framer;
use evenkeel_core::wire::peer::{Answer, PeerRequest};
use evenkeel_core::wire::reply::{CallError, Reply};
use evenkeel_core::wire::request::Request;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const START: Instant = Instant::from_millis(1000);
const DEADLINE: Instant = Instant::from_millis(4000);

fn query(id: i32) -> Request {
    Request::QueryOffset { group: Group::from("g"), queue: MessageQueue::new("t", "b", id) }
}

fn written(link: &mut Link) -> Vec<Command> {
    let mut framer = Framer::default();
    while let Some(bytes) = link.take_output() {
        framer.push(&bytes);
    }
    let mut commands = Vec::new();
    while let Some(frame) = framer.next().unwrap() {
        commands.push(Command::decode(frame).unwrap().0);
    }
    commands
}

fn receive(link: &mut Link, command: &Command) {
    link.buffer().extend_from_slice(&command.encode(HeaderEncoding::Json).unwrap());
    link.process().unwrap();
}

fn offset_reply(request: &Command, offset: i64) -> Command {
    Command::response(ResponseCode::SUCCESS, request.opaque).with_field("offset", offset)
}

fn results(link: &mut Link) -> BTreeMap<CallId, Result<Reply, CallError>> {
    let mut results = BTreeMap::new();
    while let Some(output) = link.poll() {
        let LinkOutput::Reply { call, result } = output else { panic!("{output:?}") };
        assert!(results.insert(call, result).is_none(), "{call:?} ended twice");
    }
    results
}

proptest! {
    /// Each call ends once: replies find their calls in whatever order they come, even from a byte at a time; what is
    /// not answered expires; answers that come then are counted and change nothing.
    #[test]
    fn replies_in_any_order(order in Just((0..20_usize).collect::<Vec<_>>()).prop_shuffle(), answered in 0..=20_usize,
                            binary in any::<bool>(), step in 1..400_usize) {
        let encoding = if binary { HeaderEncoding::Binary } else { HeaderEncoding::Json };
        let mut link = Link::new(Limits { encoding, ..Limits::default() });
        for call in 0..20 {
            link.send(START, CallId(call), &query(call as i32), DEADLINE);
        }
        let requests = written(&mut link);
        let opaques: BTreeSet<_> = requests.iter().map(|request| request.opaque).collect();
        prop_assert_eq!(opaques.len(), 20);
        prop_assert_eq!(link.next_deadline(), Some(DEADLINE));

        let mut stream = Vec::new();
        for &index in &order[..answered] {
            stream.extend_from_slice(&offset_reply(&requests[index], index as i64).encode(encoding).unwrap());
        }
        for part in stream.chunks(step) {
            link.buffer().extend_from_slice(part);
            link.process().unwrap();
        }
        prop_assert_eq!(link.calls(), 20 - answered);
        link.tick(Instant::from_millis(3999));
        prop_assert_eq!(link.calls(), 20 - answered, "not yet");
        link.tick(DEADLINE);
        prop_assert_eq!(link.next_deadline(), None);

        let results = results(&mut link);
        prop_assert_eq!(results.len(), 20);
        for (position, &index) in order.iter().enumerate() {
            let wanted = if position < answered {
                Ok(Reply::Offset(Some(index as i64)))
            } else {
                Err(CallError::Expired { after_ms: 3000 })
            };
            prop_assert_eq!(&results[&CallId(index as u64)], &wanted);
        }
        for request in &requests {
            receive(&mut link, &offset_reply(request, 5));
        }
        prop_assert_eq!(link.unmatched(), 20);
        prop_assert!(link.poll().is_none());
    }
}

#[test]
fn a_refusal_keeps_code_and_words() {
    let mut link = Link::new(Limits::default());
    link.send(START, CallId(1), &query(0), DEADLINE);
    let request = written(&mut link).remove(0);
    receive(&mut link, &Command::response(ResponseCode(9999), request.opaque).with_remark("no idea"));
    let Err(CallError::Refused(refusal)) = results(&mut link).remove(&CallId(1)).unwrap() else { panic!() };
    assert_eq!((refusal.request, refusal.code), (RequestCode::QUERY_CONSUMER_OFFSET, ResponseCode(9999)));
    assert_eq!(refusal.remark, "no idea");
}

#[test]
fn not_found_is_an_answer_to_an_offset_query_only() {
    let mut link = Link::new(Limits::default());
    link.send(START, CallId(1), &query(0), DEADLINE);
    link.send(START, CallId(2), &Request::MaxOffset { queue: MessageQueue::new("t", "b", 0) }, DEADLINE);
    for request in written(&mut link) {
        receive(&mut link, &Command::response(ResponseCode::QUERY_NOT_FOUND, request.opaque));
    }
    let results = results(&mut link);
    assert_eq!(results[&CallId(1)], Ok(Reply::Offset(None)));
    assert!(matches!(results[&CallId(2)], Err(CallError::Refused(_))));
}

/// C11 (e): an answer that cannot be read fails its call; the connection and the other calls go on.
#[test]
fn a_garbled_answer_fails_its_call_alone() {
    let mut link = Link::new(Limits::default());
    link.send(START, CallId(1), &query(0), DEADLINE);
    link.send(START, CallId(2), &query(1), DEADLINE);
    let requests = written(&mut link);
    receive(&mut link, &Command::response(ResponseCode::SUCCESS, requests[0].opaque));
    receive(&mut link, &offset_reply(&requests[1], 7));
    let results = results(&mut link);
    let Err(CallError::Garbled(error)) = &results[&CallId(1)] else { panic!("{results:?}") };
    assert_eq!((error.kind, error.expected), (WireErrorKind::MissingField, "offset"));
    assert_eq!(results[&CallId(2)], Ok(Reply::Offset(Some(7))));
}

#[test]
fn bytes_that_are_no_frames_end_the_connection_once() {
    let mut link = Link::new(Limits::default());
    link.send(START, CallId(1), &query(0), DEADLINE);
    link.buffer().extend_from_slice(b"HTTP/1.1 400 Bad Request");
    assert_eq!(link.process().unwrap_err().kind, WireErrorKind::TooLarge);
    assert_eq!(link.process(), Ok(()), "told once");
    assert!(link.is_closed());
    link.send(START, CallId(2), &query(0), DEADLINE);
    assert!(link.take_output().is_none());
    let results = results(&mut link);
    assert_eq!(results.len(), 2);
    assert!(results.values().all(|result| matches!(result, Err(CallError::LinkLost { .. }))), "{results:?}");
}

#[test]
fn closing_fails_what_is_in_flight_with_the_reason() {
    let mut link = Link::new(Limits::default());
    link.send(START, CallId(1), &query(0), DEADLINE);
    link.close("reset by peer");
    link.close("again");
    let lost = Err(CallError::LinkLost { reason: "reset by peer".to_string() });
    assert_eq!(results(&mut link), BTreeMap::from([(CallId(1), lost)]));
    assert_eq!(link.next_deadline(), None);
    link.answer(3, &Answer::Refused { code: 3, remark: String::new() });
    assert!(link.take_output().is_none());
}

#[test]
fn what_the_peer_asks_comes_out_and_is_answered_under_its_number() {
    let mut link = Link::new(Limits::default());
    let mut ask = Command::request(RequestCode::GET_CONSUMER_STATUS_FROM_CLIENT)
        .with_field("topic", "")
        .with_field("group", "g");
    ask.opaque = Some(77);
    receive(&mut link, &ask);
    let Some(LinkOutput::Peer(PeerRequest::Status { reply, group, topic })) = link.poll() else { panic!() };
    assert_eq!((reply, group.as_str(), topic), (77, "g", None));
    link.answer(reply, &Answer::Status(BTreeMap::from([(MessageQueue::new("t", "b", 1), 5)])));
    let answer = written(&mut link).remove(0);
    assert!(answer.is_response());
    assert_eq!((answer.opaque, answer.code), (Some(77), 0));
    let body = r#"{"consumerTable":{},"messageQueueTable":{{"brokerName":"b","queueId":1,"topic":"t"}:5}}"#;
    assert_eq!(answer.body, body.as_bytes());

    let mut unknown = Command::request(RequestCode::PUSH_REPLY_MESSAGE_TO_CLIENT);
    unknown.opaque = Some(78);
    receive(&mut link, &unknown);
    let Some(LinkOutput::Peer(request)) = link.poll() else { panic!() };
    assert_eq!(request, PeerRequest::Unknown { reply: Some(78), code: 326 });
    receive(&mut link, &unknown.one_way());
    let Some(LinkOutput::Peer(request)) = link.poll() else { panic!() };
    assert_eq!(request, PeerRequest::Unknown { reply: None, code: 326 });
}

#[test]
fn a_request_that_cannot_be_read_is_refused_and_reported() {
    let mut link = Link::new(Limits::default());
    let mut ask = Command::request(RequestCode::GET_CONSUMER_RUNNING_INFO);
    ask.opaque = Some(9);
    receive(&mut link, &ask);
    assert!(matches!(
        link.poll(),
        Some(LinkOutput::Misread { code: RequestCode::GET_CONSUMER_RUNNING_INFO, .. })
    ));
    let answer = written(&mut link).remove(0);
    assert_eq!((answer.opaque, answer.code), (Some(9), ResponseCode::SYSTEM_ERROR.0));
    receive(&mut link, &Command::request(RequestCode::RESET_CONSUMER_CLIENT_OFFSET).one_way());
    assert!(matches!(link.poll(), Some(LinkOutput::Misread { .. })));
    assert!(link.take_output().is_none(), "one-way: no answer");
}

#[test]
fn raw_commands_get_raw_responses() {
    let mut link = Link::new(Limits::default());
    link.send_command(START, CallId(1), Command::request(RequestCode::GET_BROKER_CONFIG), DEADLINE);
    let request = written(&mut link).remove(0);
    receive(&mut link, &Command::response(ResponseCode::SYSTEM_ERROR, request.opaque).with_body("text"));
    let Some(LinkOutput::Response { call: CallId(1), result: Ok(response) }) = link.poll() else { panic!() };
    assert_eq!((response.code, &response.body[..]), (1, &b"text"[..]));
}

#[test]
fn calls_in_flight_are_bounded() {
    let mut link = Link::new(Limits { calls: 2, ..Limits::default() });
    for call in 0..3 {
        link.send(START, CallId(call), &query(0), DEADLINE);
    }
    assert_eq!((link.calls(), written(&mut link).len()), (2, 2));
    assert!(matches!(results(&mut link)[&CallId(2)], Err(CallError::LinkLost { .. })));
}

#[test]
fn what_cannot_be_written_is_refused_here() {
    let mut link = Link::new(Limits { encoding: HeaderEncoding::Binary, ..Limits::default() });
    // A version has 16 bits there. (A code that is too wide travels as JSON.)
    let wide = |code| Command { version: 1 << 20, ..Command::request(code) };
    link.send_command(START, CallId(1), wide(RequestCode::HEART_BEAT), DEADLINE);
    let Some(LinkOutput::Response { result: Err(CallError::Refused(refusal)), .. }) = link.poll() else {
        panic!()
    };
    assert_eq!(refusal.request, RequestCode::HEART_BEAT);
    assert_eq!((link.calls(), link.next_deadline()), (0, None));
    assert!(link.send_one_way(wide(RequestCode::HEART_BEAT)).is_err());
    link.send_one_way(Command::request(RequestCode::UPDATE_CONSUMER_OFFSET)).unwrap();
    assert!(written(&mut link)[0].is_one_way());
}

#[derive(Debug)]
struct Stamp;
impl Sign for Stamp {
    fn sign(&self, command: &mut Command) {
        let length = command.body.len();
        command.fields.set("Signature", length);
    }
}

#[test]
fn requests_are_signed_and_answers_are_not() {
    let mut link = Link::new(Limits::default()).with_signer(Box::new(Stamp));
    let command = Command::request(RequestCode::HEART_BEAT).with_body("12345");
    link.send_command(START, CallId(1), command, DEADLINE);
    link.answer(4, &Answer::Refused { code: 1, remark: String::new() });
    let written = written(&mut link);
    assert_eq!(written[0].fields.get("Signature"), Some("5"));
    assert_eq!(written[1].fields.get("Signature"), None);
}

/// As Java's hooks, in this order: the namespace first, the signature over it.
#[test]
fn a_namespace_of_requests_is_signed_with_them() {
    #[derive(Debug)]
    struct Count;
    impl Sign for Count {
        fn sign(&self, command: &mut Command) {
            let count = command.fields.iter().count();
            command.fields.set("Signature", count);
        }
    }
    let signer = InNamespace { namespace: "tenant".into(), then: Some(Box::new(Count)) };
    let mut link = Link::new(Limits::default()).with_signer(Box::new(signer));
    link.send_command(START, CallId(1), Command::request(RequestCode::HEART_BEAT), DEADLINE);
    link.send_one_way(Command::request(RequestCode::UPDATE_CONSUMER_OFFSET)).unwrap();
    link.answer(4, &Answer::Refused { code: 1, remark: String::new() });
    let fields =
        |command: &Command| ["nsd", "ns", "Signature"].map(|name| command.fields.get(name).map(String::from));
    let written = written(&mut link);
    for request in &written[..2] {
        assert_eq!(fields(request), [Some("true".into()), Some("tenant".into()), Some("2".into())]);
    }
    assert_eq!(fields(&written[2]), [None, None, None]);
}
