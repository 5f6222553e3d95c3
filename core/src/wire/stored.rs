//! Stored messages, one behind the other: the body of a pull response.
//!
//! Equal to `MessageDecoder.decodesBatch` of the Java library 5.x. Decoding goes field by field: the total size and the
//! checksum are not looked at, and the first message that cannot be decoded ends the list. Java drops the rest without
//! a word; here the fault is part of the answer.
//!
//! ```text
//! total size 4 | magic 4 | body checksum 4 | queue id 4 | flag 4 | queue offset 8 | log offset 8 | sys flag 4
//! | born at 8 | born host 4 or 16, port 4 | stored at 8 | store host 4 or 16, port 4 | reconsume times 4
//! | prepared transaction offset 8 | body 4 + n | topic 1 + n (V1) or 2 + n (V2) | properties 2 + n
//! ```

use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::Bytes;

use super::error::{WireError, WireErrorKind};
use super::inflate::inflate;
use super::message::{Host, Message};
use super::properties::Properties;
use super::reader::Reader;
use super::sys_flag::message as flags;
use crate::error::Blame;
use crate::model::{BrokerName, Topic};
use crate::time::WallClock;

/// First form: the topic's length is one byte.
pub const MAGIC_V1: i32 = 0xDAA3_20A7_u32 as i32;
/// Second form, since 5.0: the topic's length is two bytes.
pub const MAGIC_V2: i32 = 0xDAA3_20AB_u32 as i32;
/// The longest topic of the first form.
const TOPIC_V1: usize = i8::MAX as usize;
/// The longest topic of the second form, and the longest properties.
const SHORT: usize = i16::MAX as usize;
/// The smallest message: first form, IPv4, nothing in it.
const SMALLEST: usize = 91;

/// How much a receiver is willing to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one decompressed body.
    pub body: usize,
    /// Bytes of all decompressed bodies of one batch.
    pub batch: usize,
}

/// 32 MiB a body, 128 MiB a batch: far above what a broker stores (4 MiB), far below what hurts.
impl Default for Limits {
    fn default() -> Self {
        Self { body: 32 * 1024 * 1024, batch: 128 * 1024 * 1024 }
    }
}

/// What a pull response's body holds.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct DecodedBatch {
    /// The messages up to the first that cannot be decoded.
    pub messages: Vec<Message>,
    /// Why decoding ended early, if it did. What follows this byte position is lost.
    pub damaged: Option<WireError>,
}

/// Decodes the body of a pull response. Never fails as a whole: see [`DecodedBatch::damaged`].
pub fn decode_batch(body: &Bytes, limits: Limits) -> DecodedBatch {
    let mut reader = Reader::new(body);
    // Room for a usual batch, and never for more messages than there can be.
    let mut messages = Vec::with_capacity((body.len() / SMALLEST).min(32));
    let mut shared = Shared { topic: None, broker: BrokerName::from(""), room: limits.batch };
    while !reader.is_empty() {
        match decode_one(&mut reader, limits, &mut shared) {
            Ok(message) => messages.push(message),
            Err(error) => return DecodedBatch { messages, damaged: Some(error) },
        }
    }
    DecodedBatch { messages, damaged: None }
}

/// What the messages of one batch have in common.
struct Shared {
    /// The last message's topic: nearly always the next one's, too.
    topic: Option<Topic>,
    broker: BrokerName,
    /// Bytes of decompressed bodies that are still allowed.
    room: usize,
}

fn decode_one(reader: &mut Reader<'_>, limits: Limits, shared: &mut Shared) -> Result<Message, WireError> {
    let store_size = reader.i32("the size of a message")?;
    let magic_at = reader.position();
    let magic = reader.i32("the format mark of a message")?;
    if magic != MAGIC_V1 && magic != MAGIC_V2 {
        let expected = "the mark of a message, 0xDAA320A7 or 0xDAA320AB";
        return Err(WireError::new(WireErrorKind::BadMagic, magic_at, expected));
    }
    let body_crc = reader.i32("a body checksum")?;
    let queue_id = reader.i32("a queue id")?;
    let flag = reader.i32("user flags")?;
    let queue_offset = reader.i64("a queue offset")?;
    let commit_log_offset = reader.i64("a log offset")?;
    let stored_flag = reader.i32("system flags")?;
    let born_at = WallClock::from_millis(reader.i64("the time of birth")?);
    let born_host = host(reader, stored_flag & flags::BORN_HOST_V6 != 0)?;
    let stored_at = WallClock::from_millis(reader.i64("the time of storing")?);
    let store_host = host(reader, stored_flag & flags::STORE_HOST_V6 != 0)?;
    let reconsume_times = reader.i32("the times consumed")?;
    let prepared_transaction_offset = reader.i64("a transaction offset")?;
    let (body, sys_flag) = body(reader, stored_flag, limits, shared)?;
    let topic = topic(reader, magic, shared)?;
    let properties = match usize::try_from(reader.i16("the length of properties")?) {
        Ok(length) => Properties::from_bytes(reader.take(length, "properties of the length given")?),
        Err(_) => Properties::default(), // a negative length counts as none
    };
    Ok(Message {
        topic,
        broker: shared.broker.clone(),
        queue_id,
        queue_offset,
        commit_log_offset,
        store_size,
        sys_flag,
        flag,
        body_crc,
        born_at,
        born_host,
        stored_at,
        store_host,
        reconsume_times,
        prepared_transaction_offset,
        min_offset: -1,
        max_offset: -1,
        body,
        properties,
        inflated: sys_flag != stored_flag,
    })
}

fn host(reader: &mut Reader<'_>, wide: bool) -> Result<Host, WireError> {
    let ip = if wide {
        IpAddr::V6(Ipv6Addr::from(reader.array::<16>("an IPv6 address")?))
    } else {
        IpAddr::V4(Ipv4Addr::from(reader.array::<4>("an IPv4 address")?))
    };
    let at = reader.position();
    let port = u16::try_from(reader.i32("a port")?);
    let port = port.map_err(|_| WireError::new(WireErrorKind::BadNumber, at, "a port from 0 to 65535"))?;
    Ok(Host::new(ip, port))
}

/// The body, and the system flags that say what was done to it.
fn body(
    reader: &mut Reader<'_>,
    stored_flag: i32,
    limits: Limits,
    shared: &mut Shared,
) -> Result<(Bytes, i32), WireError> {
    let length = match usize::try_from(reader.i32("the length of a body")?) {
        Ok(length) if length > 0 => length,
        _ => return Ok((Bytes::new(), stored_flag)), // a negative length counts as none
    };
    let at = reader.position();
    let stored = reader.take(length, "a body of the length given")?;
    if stored_flag & flags::COMPRESSED == 0 {
        return Ok((stored, stored_flag));
    }
    let Some(compression) = flags::compression(stored_flag) else {
        return Err(WireError::new(WireErrorKind::Unsupported, at, "zlib, LZ4 or zstd as compression type"));
    };
    let body = inflate(&stored, compression, limits.body.min(shared.room))
        .map_err(|error| WireError { at: at + error.at, ..error })?;
    shared.room -= body.len();
    Ok((Bytes::from(body), flags::without_compressed(stored_flag)))
}

fn topic(reader: &mut Reader<'_>, magic: i32, shared: &mut Shared) -> Result<Topic, WireError> {
    let at = reader.position();
    let length = if magic == MAGIC_V1 {
        // One signed byte.
        i16::from(reader.u8("the length of a topic")?.cast_signed())
    } else {
        reader.i16("the length of a topic")?
    };
    let length = usize::try_from(length)
        .map_err(|_| WireError::new(WireErrorKind::BadLength, at, "a topic length that is not negative"))?;
    let bytes = reader.view(length, "a topic of the length given")?;
    match &shared.topic {
        Some(topic) if topic.as_str().as_bytes() == bytes => Ok(topic.clone()),
        _ => {
            let topic = Topic::from(&*String::from_utf8_lossy(bytes));
            shared.topic = Some(topic.clone());
            Ok(topic)
        }
    }
}

/// A message that has no stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("caller: the {field} of a message takes {length} bytes, and only {limit} can be written")]
pub struct EncodeError {
    /// The field that is too long.
    pub field: &'static str,
    /// Its length in bytes.
    pub length: usize,
    /// The most that the format can hold.
    pub limit: usize,
}

impl EncodeError {
    /// Who has to act: whoever made the message.
    #[must_use]
    pub const fn blame(&self) -> Blame {
        Blame::Caller
    }
}

/// Appends the stored form of `message` to `out` and returns its size, the message's new `store_size`.
///
/// The body is written as it is; its checksum is computed. Address bits follow the addresses: an IPv4 address under a bit
/// for IPv6 is written in 16 bytes. The second form is used for topics above 127 bytes, as brokers of 5.x do.
pub fn encode_stored(message: &Message, out: &mut Vec<u8>) -> Result<i32, EncodeError> {
    let topic = message.topic.as_str().as_bytes();
    let properties = message.properties.as_bytes();
    check("topic", topic.len(), SHORT)?;
    check("properties", properties.len(), SHORT)?;
    // The largest body leaves room for the largest rest within a signed size.
    check("body", message.body.len(), i32::MAX as usize - 2 * SHORT - 200)?;

    let mut sys_flag = message.sys_flag;
    for (host, bit) in [(message.born_host, flags::BORN_HOST_V6), (message.store_host, flags::STORE_HOST_V6)]
    {
        if host.ip.is_ipv6() {
            sys_flag |= bit;
        }
    }
    let start = out.len();
    let magic = if topic.len() > TOPIC_V1 { MAGIC_V2 } else { MAGIC_V1 };
    put(out, &[0; 4]); // the size, when it is known
    put(out, &magic.to_be_bytes());
    put(out, &super::message::body_checksum(&message.body).to_be_bytes());
    put(out, &message.queue_id.to_be_bytes());
    put(out, &message.flag.to_be_bytes());
    put(out, &message.queue_offset.to_be_bytes());
    put(out, &message.commit_log_offset.to_be_bytes());
    put(out, &sys_flag.to_be_bytes());
    put(out, &message.born_at.as_millis().to_be_bytes());
    put_host(out, message.born_host, sys_flag & flags::BORN_HOST_V6 != 0);
    put(out, &message.stored_at.as_millis().to_be_bytes());
    put_host(out, message.store_host, sys_flag & flags::STORE_HOST_V6 != 0);
    put(out, &message.reconsume_times.to_be_bytes());
    put(out, &message.prepared_transaction_offset.to_be_bytes());
    put(out, &(message.body.len() as u32).to_be_bytes());
    put(out, &message.body);
    if magic == MAGIC_V1 {
        put(out, &[topic.len() as u8]);
    } else {
        put(out, &(topic.len() as u16).to_be_bytes());
    }
    put(out, topic);
    put(out, &(properties.len() as u16).to_be_bytes());
    put(out, properties);
    let size = (out.len() - start) as i32;
    out[start..start + 4].copy_from_slice(&size.to_be_bytes());
    Ok(size)
}

/// Fails if `field` is longer than its length field can say.
pub(super) const fn check(field: &'static str, length: usize, limit: usize) -> Result<(), EncodeError> {
    if length > limit { Err(EncodeError { field, length, limit }) } else { Ok(()) }
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
}

fn put_host(out: &mut Vec<u8>, host: Host, wide: bool) {
    match host.ip {
        IpAddr::V4(ip) if wide => put(out, &ip.to_ipv6_mapped().octets()),
        IpAddr::V4(ip) => put(out, &ip.octets()),
        IpAddr::V6(ip) => put(out, &ip.octets()),
    }
    put(out, &i32::from(host.port).to_be_bytes());
}
