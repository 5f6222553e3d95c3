//! Several messages in one body: what a producer sends with SEND_BATCH_MESSAGE, and what an inner batch holds.
//!
//! Equal to `MessageDecoder.encodeMessages`, `decodeMessages` and `decodeMessage` of the Java library. Items stand one
//! behind the other; the size of an item, its mark and its checksum are written but not looked at.
//!
//! ```text
//! size 4 | mark 4 = 0 | checksum 4 = 0 | flag 4 | body 4 + n | properties 2 + n
//! ```

use alloc::vec::Vec;

use bytes::Bytes;

use super::error::{WireError, WireErrorKind};
use super::message::Message;
use super::properties::Properties;
use super::reader::Reader;
use super::stored::{EncodeError, check};

/// Bytes of an item without body and properties.
const FIXED: usize = 22;
/// Items that one batch may have: an empty item takes 22 bytes on the wire, but much more as a message.
const MOST_ITEMS: usize = 65_536;

/// One message of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchItem {
    /// Bits that the producer set for itself.
    pub flag: i32,
    /// The body, never compressed.
    pub body: Bytes,
    /// The properties.
    pub properties: Properties,
}

/// The body of a batch.
pub fn encode_items<'a>(items: impl IntoIterator<Item = &'a BatchItem>) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    for item in items {
        let properties = item.properties.as_bytes();
        check("properties", properties.len(), i16::MAX as usize)?;
        check("body", item.body.len(), i32::MAX as usize - i16::MAX as usize - FIXED)?;
        let size = FIXED + item.body.len() + properties.len();
        out.extend_from_slice(&(size as u32).to_be_bytes());
        out.extend_from_slice(&[0; 8]); // mark and checksum
        out.extend_from_slice(&item.flag.to_be_bytes());
        out.extend_from_slice(&(item.body.len() as u32).to_be_bytes());
        out.extend_from_slice(&item.body);
        out.extend_from_slice(&(properties.len() as u16).to_be_bytes());
        out.extend_from_slice(properties);
    }
    Ok(out)
}

/// The items of a batch: all of them or an error.
pub fn decode_items(body: &Bytes) -> Result<Vec<BatchItem>, WireError> {
    let mut reader = Reader::new(body);
    let mut items = Vec::new();
    while !reader.is_empty() {
        if items.len() == MOST_ITEMS {
            return Err(reader.error(WireErrorKind::TooLarge, "at most 65536 messages in a batch"));
        }
        items.push(decode_item(&mut reader)?);
    }
    Ok(items)
}

fn decode_item(reader: &mut Reader<'_>) -> Result<BatchItem, WireError> {
    reader.view(12, "size, mark and checksum of a batch item")?;
    let flag = reader.i32("user flags")?;
    let at = reader.position();
    let length = reader.i32("the length of a body")?;
    let length = usize::try_from(length)
        .map_err(|_| WireError::new(WireErrorKind::BadLength, at, "a body length that is not negative"))?;
    let body = reader.take(length, "a body of the length given")?;
    let at = reader.position();
    let length = reader.i16("the length of properties")?;
    let length = usize::try_from(length).map_err(|_| {
        WireError::new(WireErrorKind::BadLength, at, "a properties length that is not negative")
    })?;
    let properties = Properties::from_bytes(reader.take(length, "properties of the length given")?);
    Ok(BatchItem { flag, body, properties })
}

/// The messages in an inner batch: each is at the wrapper's place, one queue offset further than the one before, and
/// has neither size nor checksum of its own.
pub fn unwrap(wrapper: &Message) -> Result<Vec<Message>, WireError> {
    if wrapper.body.is_empty() {
        return Err(WireError::new(WireErrorKind::MissingField, 0, "a body in an inner batch"));
    }
    let items = decode_items(&wrapper.body)?;
    let messages = items.into_iter().zip(0_i64..).map(|(item, index)| Message {
        queue_offset: wrapper.queue_offset.wrapping_add(index),
        store_size: 0,
        flag: item.flag,
        body_crc: 0,
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body: item.body,
        properties: item.properties,
        inflated: true, // no checksum to compare with
        ..wrapper.clone()
    });
    Ok(messages.collect())
}
