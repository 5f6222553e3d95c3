//! What happens to the machine, as JSON.

use std::collections::BTreeMap;

use bytes::Bytes;
use evenkeel_core::consumer::{Failure, Input, Outcome};
use evenkeel_core::model::{Address, CallId, MessageQueue, QueueEpoch, Ticket, Topic};
use evenkeel_core::time::{Duration, Instant, WallClock};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::{Command, FLAG_ONE_WAY};
use evenkeel_core::wire::inspect::Digits;
use evenkeel_core::wire::json::Value;
use evenkeel_core::wire::peer::PeerRequest;
use evenkeel_core::wire::reply::{CallError, Reply};
use evenkeel_core::wire::request::Request;
use evenkeel_core::wire::subscription::{Filter, Subscription};

use crate::error::Refusal;

/// One input and its time.
pub(super) struct Step {
    pub(super) at: Instant,
    pub(super) input: Input,
    /// The call that it ends.
    pub(super) ends: Option<u64>,
}

impl Step {
    pub(super) fn read(value: &Value<'_>, calls: &BTreeMap<u64, Request>) -> Result<Self, Refusal> {
        let at = Instant::from_millis(number(value, "at")?);
        let mut ends = None;
        let input = match value.field("type").as_str().unwrap_or_default() {
            "start" => Input::Start { wall: WallClock::from_millis(signed(value, "wall")?) },
            "tick" => Input::Tick,
            "localOffsets" => Input::LocalOffsets(offsets(value)?),
            "saved" => Input::Saved {
                result: value.field("failed").as_str().map_or(Ok(()), |why| Err(why.to_owned())),
            },
            "reply" => {
                let call = number(value, "call")?;
                let Some(request) = calls.get(&call) else {
                    return Err(Refusal::bad_input(format!("no call {call} is open")).at("call"));
                };
                ends = Some(call);
                Input::Reply { call: CallId(call), result: result(value, request)? }
            }
            "peer" => Input::Peer { from: address(value, "from")?, request: peer(value.field("command"))? },
            "link" => Input::Link { address: address(value, "address")?, up: truth(value, "up")? },
            "outcome" => Input::Outcome { ticket: ticket(value)?, outcome: outcome(value)? },
            "subscribe" => Input::Subscribe { subscription: subscription(value)? },
            "unsubscribe" => Input::Unsubscribe { topic: Topic::from(text(value, "topic")?) },
            "quiet" => Input::Quiet(truth(value, "on")?),
            "nameServers" => {
                let servers = value.field("addresses").items().iter().filter_map(Value::as_str);
                Input::NameServers(servers.map(Address::from).collect())
            }
            "stop" => Input::Stop { grace: Duration::from_millis(number(value, "grace")?) },
            other => return Err(Refusal::bad_input(format!("{other:?} is no kind of input")).at("type")),
        };
        Ok(Self { at, input, ends })
    }
}

pub(super) fn text<'a>(value: &'a Value<'_>, name: &'static str) -> Result<&'a str, Refusal> {
    value.field(name).as_str().ok_or_else(|| Refusal::bad_input("is no text").at(name))
}

fn signed(value: &Value<'_>, name: &'static str) -> Result<i64, Refusal> {
    value.field(name).to_i64().ok_or_else(|| Refusal::bad_input("is no whole number").at(name))
}

fn number(value: &Value<'_>, name: &'static str) -> Result<u64, Refusal> {
    let number = signed(value, name)?;
    u64::try_from(number).map_err(|_| Refusal::bad_input(format!("{number} is negative")).at(name))
}

fn truth(value: &Value<'_>, name: &'static str) -> Result<bool, Refusal> {
    value.field(name).to_bool().ok_or_else(|| Refusal::bad_input("is neither true nor false").at(name))
}

fn address(value: &Value<'_>, name: &'static str) -> Result<Address, Refusal> {
    text(value, name).map(Address::from)
}

/// A topic and what is wanted of it: tags, or everything.
pub(super) fn subscription(value: &Value<'_>) -> Result<Subscription, Refusal> {
    let filter = match value.field("tags").as_str() {
        Some(tags) => Filter::Tags(tags.to_owned()),
        None => Filter::All,
    };
    filter.subscribe(Topic::from(text(value, "topic")?)).map_err(|error| Refusal::bad_input(error).at("tags"))
}

fn offsets(value: &Value<'_>) -> Result<BTreeMap<MessageQueue, i64>, Refusal> {
    let row = |row: &Value<'_>| {
        let queue = row.field("queue");
        let id = queue.field("id").to_i32().ok_or_else(|| Refusal::bad_input("is no number").at("id"))?;
        let queue = MessageQueue::new(text(queue, "topic")?, text(queue, "broker")?, id);
        Ok((queue, signed(row, "offset")?))
    };
    value.field("offsets").items().iter().map(row).collect()
}

fn ticket(value: &Value<'_>) -> Result<Ticket, Refusal> {
    let ticket = value.field("ticket");
    Ok(Ticket { epoch: QueueEpoch(number(ticket, "epoch")?), number: number(ticket, "number")? })
}

fn outcome(value: &Value<'_>) -> Result<Outcome, Refusal> {
    match value.field("outcome").as_str() {
        Some("done") => Ok(Outcome::Done),
        Some("putBack") => Ok(Outcome::PutBack),
        Some("retry") => Ok(Outcome::Retry {
            done: usize::try_from(value.field("done").to_i64().unwrap_or(0)).unwrap_or(0),
            delay_level: value.field("delayLevel").to_i32().unwrap_or(0),
            why: Failure::Asked,
        }),
        _ => Err(Refusal::bad_input("is none of done, retry, putBack").at("outcome")),
    }
}

/// How a call ended: an answer, or in words why none came.
fn result(value: &Value<'_>, request: &Request) -> Result<Result<Reply, CallError>, Refusal> {
    if let Some(reason) = value.field("lost").as_str() {
        return Ok(Err(CallError::LinkLost { reason: reason.to_owned() }));
    }
    if let Some(after_ms) = value.field("expired").to_i64() {
        return Ok(Err(CallError::Expired { after_ms: after_ms.unsigned_abs() }));
    }
    let code = value.field("command").field("code").to_i32().unwrap_or_default();
    let response = Command::response(ResponseCode(code), Some(0));
    Ok(Reply::parse(request, filled(response, value.field("command"))?))
}

fn peer(value: &Value<'_>) -> Result<PeerRequest, Refusal> {
    let code = value.field("code").to_i32().ok_or_else(|| Refusal::bad_input("is no number").at("code"))?;
    let mut request = Command::request(RequestCode(code));
    request.opaque = value.field("opaque").to_i32();
    if request.opaque.is_none() {
        request.flag |= FLAG_ONE_WAY;
    }
    PeerRequest::parse(&filled(request, value)?).map_err(|error| Refusal::bad_input(error).at("command"))
}

/// Remark, fields and body. A body is hexadecimal digits, as outputs have them, or a `text`.
fn filled(mut command: Command, value: &Value<'_>) -> Result<Command, Refusal> {
    if let Some(remark) = value.field("remark").as_str() {
        command.remark = Some(remark.to_owned());
    }
    for (name, field) in value.field("extFields").entries() {
        if let (Some(name), Some(field)) = (name.as_str(), field.to_java_text()) {
            command.fields.set(name, field);
        }
    }
    command.body = match (value.field("body").as_str(), value.field("text").as_str()) {
        (Some(digits), None) => {
            Digits::Hex.bytes(digits.as_bytes()).map_err(|error| Refusal::bad_input(error).at("body"))?
        }
        (None, Some(text)) => Bytes::copy_from_slice(text.as_bytes()),
        (None, None) => Bytes::new(),
        (Some(_), Some(_)) => return Err(Refusal::bad_input("stands beside a text").at("body")),
    };
    Ok(command)
}
