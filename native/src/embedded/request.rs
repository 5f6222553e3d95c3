//! Reading a request: its header, its body, and the refusal that a broken one gets.

use bytes::Bytes;
use evenkeel_core::wire::bodies::Body;
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::error::{WireError, WireErrorKind};
use evenkeel_core::wire::fields::Header;
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

/// The typed header of a request. `spare` has texts that stand in for fields which others need and this broker does not.
pub(crate) fn header<H: Header>(request: &Command, spare: &[(&str, &str)]) -> Result<H, Refusal> {
    H::from_fields_or(&request.fields, spare).map_err(unreadable_field)
}

/// A field that is missing or no number.
pub(crate) fn unreadable_field(error: WireError) -> Refusal {
    let name = error.expected;
    let remark = match error.kind {
        WireErrorKind::MissingField => format!("the field {name} is missing"),
        _ => format!("the field {name} is not a number in range"),
    };
    Refusal::new(ResponseCode::SYSTEM_ERROR, remark)
}

/// The typed body of a request, of at most `limit` bytes.
pub(crate) fn body<B: Body>(request: &Command, limit: usize) -> Result<B, Refusal> {
    B::from_value(&json(&request.body, limit)?).map_err(unreadable_body)
}

/// A body that is not what it should be.
pub(crate) fn unreadable_body(error: WireError) -> Refusal {
    Refusal::new(ResponseCode::SYSTEM_ERROR, format!("unreadable body: {error}"))
}

/// Reads a JSON body of at most `limit` bytes, fastjson's habits included.
pub(crate) fn json(body: &Bytes, limit: usize) -> Result<Value<'_>, Refusal> {
    if body.len() > limit {
        let remark = format!("a body of {} bytes is over the limit of {limit}", body.len());
        return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
    }
    parse(body).map_err(unreadable_body)
}
