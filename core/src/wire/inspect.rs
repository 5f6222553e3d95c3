//! Bytes of the protocol as JSON that people read: what `evenkeel decode` prints and the npm package returns.
//!
//! The field names are those of the files in `tests/golden/`:
//!
//! | kind | answer | what the input is |
//! |---|---|---|
//! | [`Kind::Frame`] | `{"frames":[…]}` | whole frames, one behind the other |
//! | [`Kind::Body`] | `{"value":…}` | a JSON body of the Java class that is named |
//! | [`Kind::Message`] | `{"messages":[…]}` | the body of a pull response |
//! | [`Kind::Properties`] | `{"properties":{…}}` | encoded properties |
//! | [`Kind::MessageId`] | `{"offsetId":{…},"uniqueKey":{…}}` | an id as text; its digits do not tell which of the two it is |
//!
//! Input that cannot be read gives `{"error":{"kind":…,"at":…,"text":…}}`, beside what could be read before the fault.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use core::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::bodies::{class_names, normalise};
use super::command::{Command, HeaderEncoding};
use super::error::{WireError, WireErrorKind};
use super::frame::Framer;
use super::ids::{OffsetId, UniqueKey, hex_encode};
use super::json::{Value, parse_with_references_kept};
use super::message::{Host, Message};
use super::properties::Properties;
use super::stored::{Limits, decode_batch};

/// What the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Frames of the remoting protocol.
    Frame,
    /// A JSON body, by the name of its Java class.
    Body(&'static str),
    /// Stored messages.
    Message,
    /// Encoded properties of a message.
    Properties,
    /// Ids of messages.
    MessageId,
}

/// `frame`, `message`, `properties`, `msgid`, or `body NAME`.
impl FromStr for Kind {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let (kind, name) = (words.next(), words.next());
        match (kind, name, words.next()) {
            (Some("frame"), None, _) => Ok(Self::Frame),
            (Some("message"), None, _) => Ok(Self::Message),
            (Some("properties"), None, _) => Ok(Self::Properties),
            (Some("msgid"), None, _) => Ok(Self::MessageId),
            (Some("body"), Some(name), None) => match class_names().find(|known| *known == name) {
                Some(known) => Ok(Self::Body(known)),
                None => Err(format!("no body is called {name}; known: {}", known_bodies())),
            },
            (Some("body"), None, _) => Err(format!("body needs a name: {}", known_bodies())),
            _ => Err(format!("`{text}` is none of frame, message, body NAME, properties, msgid")),
        }
    }
}

fn known_bodies() -> String {
    class_names().collect::<Vec<_>>().join(", ")
}

/// How text stands for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// Two hexadecimal digits a byte.
    Hex,
    /// Standard Base64 with padding.
    Base64,
}

impl Digits {
    /// The bytes that a text stands for. White space between digits is allowed.
    ///
    /// # Errors
    /// [`WireErrorKind::BadText`] where a digit should be, [`WireErrorKind::Truncated`] for half a byte.
    pub fn bytes(self, text: &[u8]) -> Result<Bytes, WireError> {
        let places = text.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_whitespace());
        if self == Self::Base64 {
            let text: Vec<u8> = places.map(|(_, byte)| *byte).collect();
            let decoded = STANDARD.decode(text);
            return decoded
                .map(Bytes::from)
                .map_err(|_| WireError::new(WireErrorKind::BadText, 0, "standard Base64 with padding"));
        }
        let digits = places.map(|(at, &byte)| match char::from(byte).to_digit(16) {
            Some(digit) => Ok(digit as u8),
            None => Err(WireError::new(WireErrorKind::BadText, at, "a hexadecimal digit")),
        });
        let digits = digits.collect::<Result<Vec<u8>, _>>()?;
        if digits.len() % 2 == 1 {
            return Err(WireError::new(WireErrorKind::Truncated, text.len(), "an even number of digits"));
        }
        Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
    }
}

/// What a line of text says: digits of bytes, or an id.
pub fn inspect_text(kind: Kind, text: &[u8], digits: Digits) -> Value<'static> {
    match kind {
        Kind::MessageId => inspect(kind, Bytes::copy_from_slice(text)),
        _ => digits.bytes(text).map_or_else(refused, |bytes| inspect(kind, bytes)),
    }
}

/// What bytes say.
pub fn inspect(kind: Kind, bytes: Bytes) -> Value<'static> {
    match kind {
        Kind::Frame => frames(&bytes),
        Kind::Body(name) => body(name, &bytes).unwrap_or_else(refused),
        Kind::Message => messages(&bytes),
        Kind::Properties => fields([("properties", properties(&Properties::from_bytes(bytes)))]),
        Kind::MessageId => message_id(&String::from_utf8_lossy(&bytes)).unwrap_or_else(refused),
    }
}

/// An object with these fields, in this order, nulls among them.
pub fn fields<const N: usize>(fields: [(&'static str, Value<'static>); N]) -> Value<'static> {
    Value::Map(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

fn refused(error: WireError) -> Value<'static> {
    fields([("error", shown_error(error))])
}

fn shown_error(error: WireError) -> Value<'static> {
    let at = i64::try_from(error.at).unwrap_or(i64::MAX);
    fields([("kind", error.kind.name().into()), ("at", at.into()), ("text", error.to_string().into())])
}

fn text_or_null(text: Option<impl Into<Cow<'static, str>>>) -> Value<'static> {
    text.map_or(Value::Null, Value::text)
}

fn body(name: &str, bytes: &[u8]) -> Result<Value<'static>, WireError> {
    let text = normalise(name, bytes)?;
    // What has just been written has no references left, and a text that looks like one is a text.
    Ok(fields([("value", parse_with_references_kept(text.as_bytes())?.to_owned_value())]))
}

/// All frames up to the first fault; a frame that has not all come is a fault here.
fn frames(bytes: &[u8]) -> Value<'static> {
    let mut framer = Framer::default();
    framer.push(bytes);
    let mut read = Vec::new();
    let mut at = 0;
    let fault = loop {
        let command = match framer.next() {
            Ok(None) if framer.pending() == 0 => break None,
            Ok(None) => break Some(WireError::new(WireErrorKind::Truncated, bytes.len(), "a whole frame")),
            Ok(Some(frame)) => {
                let length = frame.len();
                let command = Command::decode(frame).map_err(|error| error.shifted(at));
                at += length;
                command
            }
            Err(error) => Err(error.shifted(at)),
        };
        match command {
            Ok((command, encoding)) => read.push(command_value(&command, encoding)),
            Err(error) => break Some(error),
        }
    };
    with_fault("frames", read, fault)
}

fn with_fault(name: &'static str, read: Vec<Value<'static>>, fault: Option<WireError>) -> Value<'static> {
    let read = (Value::from(name), Value::List(read));
    let fault = fault.map(|error| ("error".into(), shown_error(error)));
    Value::Map([read].into_iter().chain(fault).collect())
}

/// A command: its header, and its body as hexadecimal digits.
pub fn command_value(command: &Command, encoding: HeaderEncoding) -> Value<'static> {
    fields([
        ("code", command.code.into()),
        ("language", text_or_null(command.language.and_then(|language| language.name()))),
        ("version", command.version.into()),
        ("opaque", command.opaque.map_or(Value::Null, Value::from)),
        ("flag", command.flag.into()),
        ("remark", text_or_null(command.remark.as_ref().map(|remark| remark.to_string()))),
        ("extFields", if command.fields.is_empty() { Value::Null } else { texts(command.fields.iter()) }),
        (
            "serializeType",
            match encoding {
                HeaderEncoding::Json => "JSON",
                HeaderEncoding::Binary => "ROCKETMQ",
            }
            .into(),
        ),
        ("body", if command.body.is_empty() { Value::Null } else { small_hex(&command.body) }),
    ])
}

fn small_hex(bytes: &[u8]) -> Value<'static> {
    hex_encode(bytes).to_lowercase().into()
}

/// An object of texts. A name that comes twice stands where it came first, with the value that came last.
fn texts<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Value<'static> {
    let mut entries: Vec<(Value<'static>, Value<'static>)> = Vec::new();
    let mut places = BTreeMap::new();
    for (name, value) in pairs {
        match places.get(name).and_then(|&place| entries.get_mut::<usize>(place)) {
            Some(entry) => entry.1 = value.to_string().into(),
            None => {
                places.insert(name, entries.len());
                entries.push((name.to_string().into(), value.to_string().into()));
            }
        }
    }
    Value::Map(entries)
}

fn properties(properties: &Properties) -> Value<'static> {
    texts(properties.iter())
}

fn messages(body: &Bytes) -> Value<'static> {
    let batch = decode_batch(body, Limits::default());
    with_fault("messages", batch.messages.iter().map(message_value).collect(), batch.damaged)
}

/// A message: what the broker stored of it, its body as hexadecimal digits.
pub fn message_value(message: &Message) -> Value<'static> {
    fields([
        ("topic", message.topic.to_string().into()),
        ("queueId", message.queue_id.into()),
        ("queueOffset", message.queue_offset.into()),
        ("commitLogOffset", message.commit_log_offset.into()),
        ("storeSize", message.store_size.into()),
        ("sysFlag", message.sys_flag.into()),
        ("flag", message.flag.into()),
        ("bodyCRC", message.body_crc.into()),
        ("bornTimestamp", message.born_at.as_millis().into()),
        ("bornHost", shown_host(message.born_host)),
        ("storeTimestamp", message.stored_at.as_millis().into()),
        ("storeHost", shown_host(message.store_host)),
        ("reconsumeTimes", message.reconsume_times.into()),
        ("preparedTransactionOffset", message.prepared_transaction_offset.into()),
        ("body", small_hex(&message.body)),
        ("properties", properties(&message.properties)),
        ("msgId", message.msg_id().to_string().into()),
        ("offsetMsgId", message.offset_id().to_string().into()),
    ])
}

fn shown_host(host: Host) -> Value<'static> {
    fields([("ip", ip_hex(host.ip)), ("port", i32::from(host.port).into())])
}

fn ip_hex(ip: IpAddr) -> Value<'static> {
    match ip {
        IpAddr::V4(ip) => small_hex(&ip.octets()),
        IpAddr::V6(ip) => small_hex(&ip.octets()),
    }
}

fn message_id(text: &str) -> Result<Value<'static>, WireError> {
    if let Some(at) = text.bytes().position(|byte| !byte.is_ascii_hexdigit()) {
        return Err(WireError::new(WireErrorKind::BadText, at, "a hexadecimal digit"));
    }
    if ![32, 56].contains(&text.len()) {
        return Err(WireError::new(WireErrorKind::BadLength, text.len(), "32 or 56 digits"));
    }
    let key = UniqueKey::parse(text)?;
    // Four bytes of a unique key are rarely a port: then it is no offset id.
    let offset_id = OffsetId::parse(text).ok().map_or(Value::Null, |id| {
        let port = i32::from(id.host.port);
        fields([("ip", ip_hex(id.host.ip)), ("port", port.into()), ("offset", id.offset.into())])
    });
    let key = fields([
        ("ip", ip_hex(key.ip)),
        ("pid", i64::from(key.process).into()),
        ("classLoaderHash", i64::from(key.random).into()),
        ("millisSinceStartOfMonth", i64::from(key.millis).into()),
        ("counter", i64::from(key.counter).into()),
    ]);
    Ok(fields([("offsetId", offset_id), ("uniqueKey", key)]))
}
