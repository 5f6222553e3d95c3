//! `evenkeel decode KIND`: bytes of the protocol as JSON, one line each.
//!
//! A line of input is bytes in hexadecimal (or Base64); for `msgid` it is the id itself. Each line is answered by one
//! line, with the field names of the files in `tests/golden/`:
//!
//! | kind | answer | what a line is |
//! |---|---|---|
//! | `frame` | `{"frames":[…]}` | whole frames, one behind the other |
//! | `body NAME` | `{"value":…}` | a JSON body of the Java class NAME |
//! | `message` | `{"messages":[…]}` | the body of a pull response |
//! | `properties` | `{"properties":{…}}` | encoded properties |
//! | `msgid` | `{"offsetId":{…},"uniqueKey":{…}}` | an id; its digits do not tell which of the two it is |
//!
//! A line that cannot be read gives `{"error":{"kind":…,"at":…,"text":…}}`, beside what could be read before the
//! fault, and the run goes on. Empty lines are skipped.

use std::io::{self, BufRead, Write};
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use evenkeel_core::wire::bodies::{class_names, normalise};
use evenkeel_core::wire::command::{Command, HeaderEncoding};
use evenkeel_core::wire::error::{WireError, WireErrorKind};
use evenkeel_core::wire::frame::Framer;
use evenkeel_core::wire::ids::{OffsetId, UniqueKey, hex_encode};
use evenkeel_core::wire::message::{Host, Message};
use evenkeel_core::wire::properties::Properties;
use evenkeel_core::wire::stored::{Limits, decode_batch};
use serde_json::{Map, Value, json};

/// What the lines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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

/// Answers every line of `input`. Fails only if reading or writing does.
pub(crate) fn run(
    kind: Kind,
    mut input: impl BufRead,
    mut output: impl Write,
    base64: bool,
) -> io::Result<()> {
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let text = line.trim_ascii();
        if !text.is_empty() {
            let answer = answer(kind, text, base64);
            writeln!(output, "{answer}")?;
        }
        line.clear();
    }
    output.flush()
}

/// One line for one line.
fn answer(kind: Kind, line: &[u8], base64: bool) -> String {
    let answer = match kind {
        Kind::MessageId => message_id(&String::from_utf8_lossy(line)),
        _ => bytes_of(line, base64).and_then(|bytes| read(kind, bytes)),
    };
    answer.unwrap_or_else(|error| json!({"error": shown_error(error)}).to_string())
}

fn read(kind: Kind, bytes: Bytes) -> Result<String, WireError> {
    match kind {
        Kind::Frame => Ok(frames(&bytes).to_string()),
        // As text: numbers beyond 2^53 and doubles stay as they were written.
        Kind::Body(name) => Ok(format!("{{\"value\":{}}}", normalise(name, &bytes)?)),
        Kind::Message => Ok(messages(&bytes).to_string()),
        Kind::Properties => Ok(json!({"properties": properties(&Properties::from_bytes(bytes))}).to_string()),
        Kind::MessageId => message_id(&String::from_utf8_lossy(&bytes)),
    }
}

/// The bytes that a line stands for. White space between digits is allowed.
fn bytes_of(line: &[u8], base64: bool) -> Result<Bytes, WireError> {
    let places = line.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_whitespace());
    if base64 {
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
        return Err(WireError::new(WireErrorKind::Truncated, line.len(), "an even number of digits"));
    }
    Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn shown_error(error: WireError) -> Value {
    json!({"kind": error.kind.name(), "at": error.at, "text": error.to_string()})
}

/// All frames up to the first fault; a frame that has not all come is a fault here.
fn frames(bytes: &[u8]) -> Value {
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
            Ok((command, encoding)) => read.push(shown_command(&command, encoding)),
            Err(error) => break Some(error),
        }
    };
    with_fault(json!({"frames": read}), fault)
}

fn with_fault(mut answer: Value, fault: Option<WireError>) -> Value {
    if let Some(fault) = fault {
        answer["error"] = shown_error(fault);
    }
    answer
}

fn shown_command(command: &Command, encoding: HeaderEncoding) -> Value {
    let fields: Map<String, Value> =
        command.fields.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
    json!({
        "code": command.code,
        "language": command.language.and_then(|language| language.name()),
        "version": command.version,
        "opaque": command.opaque,
        "flag": command.flag,
        "remark": command.remark,
        "extFields": if fields.is_empty() { Value::Null } else { Value::Object(fields) },
        "serializeType": match encoding {
            HeaderEncoding::Json => "JSON",
            HeaderEncoding::Binary => "ROCKETMQ",
        },
        "body": if command.body.is_empty() { Value::Null } else { json!(small_hex(&command.body)) },
    })
}

fn small_hex(bytes: &[u8]) -> String {
    hex_encode(bytes).to_lowercase()
}

fn messages(body: &Bytes) -> Value {
    let batch = decode_batch(body, Limits::default());
    let shown: Vec<Value> = batch.messages.iter().map(shown_message).collect();
    with_fault(json!({"messages": shown}), batch.damaged)
}

fn shown_message(message: &Message) -> Value {
    json!({
        "topic": message.topic.as_str(),
        "queueId": message.queue_id,
        "queueOffset": message.queue_offset,
        "commitLogOffset": message.commit_log_offset,
        "storeSize": message.store_size,
        "sysFlag": message.sys_flag,
        "flag": message.flag,
        "bodyCRC": message.body_crc,
        "bornTimestamp": message.born_at.as_millis(),
        "bornHost": shown_host(message.born_host),
        "storeTimestamp": message.stored_at.as_millis(),
        "storeHost": shown_host(message.store_host),
        "reconsumeTimes": message.reconsume_times,
        "preparedTransactionOffset": message.prepared_transaction_offset,
        "body": small_hex(&message.body),
        "properties": properties(&message.properties),
        "msgId": message.msg_id().to_string(),
        "offsetMsgId": message.offset_id().to_string(),
    })
}

fn shown_host(host: Host) -> Value {
    json!({"ip": ip_hex(host.ip), "port": host.port})
}

fn ip_hex(ip: std::net::IpAddr) -> String {
    match ip {
        std::net::IpAddr::V4(ip) => small_hex(&ip.octets()),
        std::net::IpAddr::V6(ip) => small_hex(&ip.octets()),
    }
}

fn properties(properties: &Properties) -> Map<String, Value> {
    properties.iter().map(|(name, value)| (name.to_string(), json!(value))).collect()
}

fn message_id(text: &str) -> Result<String, WireError> {
    if let Some(at) = text.bytes().position(|byte| !byte.is_ascii_hexdigit()) {
        return Err(WireError::new(WireErrorKind::BadText, at, "a hexadecimal digit"));
    }
    if ![32, 56].contains(&text.len()) {
        return Err(WireError::new(WireErrorKind::BadLength, text.len(), "32 or 56 digits"));
    }
    let key = UniqueKey::parse(text)?;
    // Four bytes of a unique key are rarely a port: then it is no offset id.
    let offset_id = OffsetId::parse(text).ok();
    let offset_id =
        offset_id.map(|id| json!({"ip": ip_hex(id.host.ip), "port": id.host.port, "offset": id.offset}));
    let key = json!({
        "ip": ip_hex(key.ip),
        "pid": key.process,
        "classLoaderHash": key.random,
        "millisSinceStartOfMonth": key.millis,
        "counter": key.counter,
    });
    Ok(json!({"offsetId": offset_id, "uniqueKey": key}).to_string())
}
