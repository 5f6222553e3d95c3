//! Reading a request: typed fields, JSON bodies, and the refusal that a broken one gets.

use bytes::Bytes;
use evenkeel_core::model::{Group, Topic};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::json::{Value, parse};

/// Why a request is not done: becomes a response with this code and remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: ResponseCode,
    pub(crate) remark: String,
}

impl Refusal {
    pub(crate) fn new(code: ResponseCode, remark: impl Into<String>) -> Self {
        Self { code, remark: remark.into() }
    }

    /// The request's code is not known here.
    pub(crate) fn unsupported(request: &Command) -> Self {
        let remark = format!(" request type {} not supported", request.code);
        Self::new(ResponseCode::REQUEST_CODE_NOT_SUPPORTED, remark)
    }

    /// One of the [limits](super::Limits) is reached.
    pub(crate) fn full(what: &str) -> Self {
        Self::new(ResponseCode::SYSTEM_BUSY, format!("the embedded broker holds no more {what}"))
    }

    /// The response to `request`.
    pub(crate) fn answer(self, request: &Command) -> Command {
        Command::response(self.code, request.opaque).with_remark(self.remark)
    }
}

/// What a handler gives back: a response now, or nothing yet.
pub(crate) type Handled = Result<Option<Command>, Refusal>;

/// A success that will be the response to `request`.
pub(crate) fn success(request: &Command) -> Command {
    Command::response(ResponseCode::SUCCESS, request.opaque)
}

/// Typed reading of a request's fields.
pub(crate) trait Header {
    /// The text of a required field.
    fn text(&self, name: &str) -> Result<&str, Refusal>;
    /// The number in a required field.
    fn i32(&self, name: &str) -> Result<i32, Refusal>;
    /// The number in a required field.
    fn i64(&self, name: &str) -> Result<i64, Refusal>;
    /// The number in an optional field; what is no number counts as absent.
    fn some_i32(&self, name: &str) -> Option<i32>;
    /// The number in an optional field; what is no number counts as absent.
    fn some_i64(&self, name: &str) -> Option<i64>;
    /// The truth in an optional field: only `true`, in any case of letters, is true.
    fn flag(&self, name: &str) -> Option<bool>;
    /// A required topic.
    fn topic(&self) -> Result<Topic, Refusal>;
    /// A required group, under the name that most requests give it.
    fn consumer_group(&self) -> Result<Group, Refusal>;
}

impl Header for Command {
    fn text(&self, name: &str) -> Result<&str, Refusal> {
        let missing = || Refusal::new(ResponseCode::SYSTEM_ERROR, format!("the field {name} is missing"));
        self.fields.get(name).filter(|text| !text.is_empty()).ok_or_else(missing)
    }

    fn i32(&self, name: &str) -> Result<i32, Refusal> {
        self.text(name)?.parse().map_err(|_| not_a_number(name))
    }

    fn i64(&self, name: &str) -> Result<i64, Refusal> {
        self.text(name)?.parse().map_err(|_| not_a_number(name))
    }

    fn some_i32(&self, name: &str) -> Option<i32> {
        self.fields.get(name)?.parse().ok()
    }

    fn some_i64(&self, name: &str) -> Option<i64> {
        self.fields.get(name)?.parse().ok()
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.fields.get(name).map(|text| text.eq_ignore_ascii_case("true"))
    }

    fn topic(&self) -> Result<Topic, Refusal> {
        self.text("topic").map(Topic::from)
    }

    fn consumer_group(&self) -> Result<Group, Refusal> {
        self.text("consumerGroup").map(Group::from)
    }
}

fn not_a_number(name: &str) -> Refusal {
    Refusal::new(ResponseCode::SYSTEM_ERROR, format!("the field {name} is not a number in range"))
}

/// Reads a JSON body of at most `limit` bytes, fastjson's habits included.
pub(crate) fn json(body: &Bytes, limit: usize) -> Result<Value<'_>, Refusal> {
    if body.len() > limit {
        let remark = format!("a body of {} bytes is over the limit of {limit}", body.len());
        return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
    }
    parse(body).map_err(|error| Refusal::new(ResponseCode::SYSTEM_ERROR, format!("unreadable body: {error}")))
}

/// The text in a field of an object; empty if there is none.
pub(crate) fn text<'a>(value: &'a Value<'_>, field: &str) -> &'a str {
    value.field(field).as_str().unwrap_or_default()
}
