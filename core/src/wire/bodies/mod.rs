//! JSON bodies. Field names and shapes are those of the Java classes named beside each type; field order when
//! writing is alphabetical and absent values are left out, as the Java side writes them. Unknown fields are ignored,
//! missing ones get Java's defaults, numbers may be texts.

mod admin;
mod announcement;
mod assignment;
mod classes;
mod direct;
mod heartbeat;
mod kinds;
mod lock;
mod queue;
mod register;
mod route;
mod running_info;
mod shapes;

pub use admin::{
    Connection, ConsumeStats, ConsumerConnection, GroupConfig, GroupList, GroupTable, KvTable,
    ProducerConnection, QueueProgress, QueueRange, TopicStats,
};
pub use announcement::{AnnouncedGroup, Announcement};
pub use assignment::{AckSet, AssignmentQuery, Assignments, BatchAck, ModeSetting, RequestMode};
pub use heartbeat::CheckSubscription;
pub(super) use heartbeat::check_value;
pub use kinds::{ConsumeType, StartRule};
pub use lock::{Locked, QueueSet};
pub use queue::{ConsumerStatus, OffsetTable, ResetTable};
pub use register::{DataVersion, RegisteredBroker, TopicConfig};
pub use route::{Members, TopicList, old_route_text, served_cluster_text, served_route_text};
pub use shapes::{class_names, normalise};

use super::error::{WireError, WireErrorKind};
use super::json::{self, Value};
use alloc::string::String;
use bytes::Bytes;

/// A body that is a JSON object.
pub trait Body: Sized {
    /// Reads it from the parsed text.
    ///
    /// Errors: [`WireErrorKind::MissingField`], [`WireErrorKind::BadNumber`], [`WireErrorKind::BadJson`] with the
    /// field's name as what was expected; the position is always 0.
    fn from_value(value: &Value<'_>) -> Result<Self, WireError>;

    /// The object.
    fn to_value(&self) -> Value<'_>;

    /// Reads it from the bytes of a command's body.
    ///
    /// Errors: those of [`json::parse`] and of [`Body::from_value`]; [`WireErrorKind::BadJson`] if the text is no
    /// object.
    fn decode(body: &[u8]) -> Result<Self, WireError> {
        let value = json::parse(body)?;
        match value {
            Value::Map(_) => Self::from_value(&value),
            _ => Err(WireError::new(WireErrorKind::BadJson, 0, "an object")),
        }
    }

    /// The bytes for a command's body.
    fn encode(&self) -> Bytes {
        Bytes::from(self.to_value().to_text())
    }
}

const fn missing(name: &'static str) -> WireError {
    WireError::new(WireErrorKind::MissingField, 0, name)
}

const fn bad_number(name: &'static str) -> WireError {
    WireError::new(WireErrorKind::BadNumber, 0, name)
}

/// A text that must be there.
fn text(value: &Value<'_>, name: &'static str) -> Result<String, WireError> {
    value.field(name).to_java_text().ok_or(missing(name))
}

/// A text, or none.
fn optional_text(value: &Value<'_>, name: &'static str) -> Option<String> {
    value.field(name).to_java_text()
}

/// A 32-bit number, 0 if absent.
fn int(value: &Value<'_>, name: &'static str) -> Result<i32, WireError> {
    match value.field(name) {
        Value::Null => Ok(0),
        number => number.to_i32().ok_or(bad_number(name)),
    }
}

/// A 32-bit number, `default` if absent or none.
fn int_if_any(value: &Value<'_>, name: &str, default: i32) -> i32 {
    value.field(name).to_i32().unwrap_or(default)
}

/// A 64-bit number, 0 if absent.
fn long(value: &Value<'_>, name: &'static str) -> Result<i64, WireError> {
    match value.field(name) {
        Value::Null => Ok(0),
        number => number.to_i64().ok_or(bad_number(name)),
    }
}

/// A double, 0 if absent.
fn double(value: &Value<'_>, name: &'static str) -> Result<f64, WireError> {
    match value.field(name) {
        Value::Null => Ok(0.0),
        number => number.to_f64().ok_or(bad_number(name)),
    }
}

/// A truth value, `default` if absent.
fn truth(value: &Value<'_>, name: &'static str, default: bool) -> bool {
    value.field(name).to_bool().unwrap_or(default)
}

/// The members of a list field; none if it is absent. Anything but a list is an error.
fn items<'v, 'a>(value: &'v Value<'a>, name: &'static str) -> Result<&'v [Value<'a>], WireError> {
    match value.field(name) {
        Value::Null => Ok(&[]),
        Value::List(items) => Ok(items),
        _ => Err(WireError::new(WireErrorKind::BadJson, 0, name)),
    }
}

/// The entries of a map field; none if it is absent. Anything but an object is an error.
fn entries<'v, 'a>(
    value: &'v Value<'a>,
    name: &'static str,
) -> Result<&'v [(Value<'a>, Value<'a>)], WireError> {
    match value.field(name) {
        Value::Null => Ok(&[]),
        Value::Map(entries) => Ok(entries),
        _ => Err(WireError::new(WireErrorKind::BadJson, 0, name)),
    }
}
