//! The properties of a message: `name \x01 value \x02`, repeated.
//!
//! Equal to `MessageDecoder.string2messageProperties` and `messageProperties2String` of the Java library 5.x:
//! a piece without name, separator or value is skipped, the first `\x01` of a piece separates, the last of several equal
//! names wins. The final `\x02` may be missing (4.9 does not write it).

use alloc::string::String;
use core::fmt;

use bytes::Bytes;

/// Between name and value.
pub const NAME_SEPARATOR: char = '\u{1}';
/// Behind each property.
pub const PROPERTY_SEPARATOR: char = '\u{2}';

/// Names that a consumer meets.
pub mod names {
    /// Keys of the message, blank separated.
    pub const KEYS: &str = "KEYS";
    /// The one tag of the message.
    pub const TAGS: &str = "TAGS";
    /// Whether the producer waits until the message is stored.
    pub const WAIT: &str = "WAIT";
    /// Delay level.
    pub const DELAY: &str = "DELAY";
    /// Original topic of a message that comes back.
    pub const RETRY_TOPIC: &str = "RETRY_TOPIC";
    /// Topic that a message will go to once its delay or transaction ends.
    pub const REAL_TOPIC: &str = "REAL_TOPIC";
    /// Queue that a message will go to once its delay or transaction ends.
    pub const REAL_QID: &str = "REAL_QID";
    /// `true` for messages of a transaction.
    pub const TRAN_MSG: &str = "TRAN_MSG";
    /// The producer's group.
    pub const PGROUP: &str = "PGROUP";
    /// First offset of the queue; see [`crate::wire::message::Message::min_offset`].
    pub const MIN_OFFSET: &str = "MIN_OFFSET";
    /// End of the queue; see [`crate::wire::message::Message::max_offset`].
    pub const MAX_OFFSET: &str = "MAX_OFFSET";
    /// Id of the first message of a chain of retries.
    pub const ORIGIN_MESSAGE_ID: &str = "ORIGIN_MESSAGE_ID";
    /// Times delivered, for a message that a client sends to a retry topic itself.
    pub const RECONSUME_TIME: &str = "RECONSUME_TIME";
    /// Allowed times, for a message that a client sends to a retry topic itself.
    pub const MAX_RECONSUME_TIMES: &str = "MAX_RECONSUME_TIMES";
    /// What names a popped message at its broker, see [`crate::wire::pop`].
    pub const POP_CK: &str = "POP_CK";
    /// When a message was popped first, in Unix ms.
    pub const FIRST_POP_TIME: &str = "1ST_POP_TIME";
    /// The id that the producer gave.
    pub const UNIQ_KEY: &str = "UNIQ_KEY";
    /// When the listener was called, in milliseconds.
    pub const CONSUME_START_TIME: &str = "CONSUME_START_TIME";
    /// Messages in an inner batch.
    pub const INNER_NUM: &str = "INNER_NUM";
    /// First queue offset of an inner batch.
    pub const INNER_BASE: &str = "INNER_BASE";
    /// The region that stored the message.
    pub const MSG_REGION: &str = "MSG_REGION";
    /// Whether the message is traced.
    pub const TRACE_ON: &str = "TRACE_ON";
    /// The cluster that stored the message.
    pub const CLUSTER: &str = "CLUSTER";
    /// What keeps messages of one kind in one queue.
    pub const SHARDING_KEY: &str = "__SHARDINGKEY";
    /// The producer's namespace.
    pub const INSTANCE_ID: &str = "INSTANCE_ID";
    /// Topic of a dead letter before it died.
    pub const DLQ_ORIGIN_TOPIC: &str = "DLQ_ORIGIN_TOPIC";
    /// Id of a dead letter before it died.
    pub const DLQ_ORIGIN_MESSAGE_ID: &str = "DLQ_ORIGIN_MESSAGE_ID";
}

/// The properties of one message, unparsed: a slice of the frame that the message came in.
///
/// Look-ups scan it; most messages have a handful of properties and are asked for one or two.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Properties(Bytes); // always UTF-8

impl Properties {
    /// Properties from their stored bytes. What is not UTF-8 becomes U+FFFD, as in Java.
    #[must_use]
    pub fn from_bytes(bytes: Bytes) -> Self {
        match core::str::from_utf8(&bytes) {
            Ok(_) => Self(bytes),
            Err(_) => Self(Bytes::from(String::from_utf8_lossy(&bytes).into_owned().into_bytes())),
        }
    }

    /// Properties from name and value pairs, in this order.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self(Bytes::from(encode(pairs).into_bytes()))
    }

    /// The stored form.
    #[must_use]
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// The value of `name`; of several, the last.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        let wanted = pieces(&self.0).rev().find(|(key, _)| *key == name.as_bytes());
        wanted.and_then(|(_, value)| core::str::from_utf8(value).ok())
    }

    /// All names and values in stored order, repeated names included.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        pieces(&self.0).filter_map(|(name, value)| {
            Some((core::str::from_utf8(name).ok()?, core::str::from_utf8(value).ok()?))
        })
    }
}

impl From<&str> for Properties {
    fn from(text: &str) -> Self {
        Self(Bytes::copy_from_slice(text.as_bytes()))
    }
}

impl fmt::Debug for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// The names and values in `stored`. Both separators are one byte and never part of another character.
fn pieces(stored: &[u8]) -> impl DoubleEndedIterator<Item = (&[u8], &[u8])> {
    stored.split(|byte| *byte == PROPERTY_SEPARATOR as u8).filter_map(|piece| {
        let split = piece.iter().position(|byte| *byte == NAME_SEPARATOR as u8)?;
        let (name, value) = (&piece[..split], &piece[split + 1..]);
        (!name.is_empty() && !value.is_empty()).then_some((name, value))
    })
}

/// The stored form of `pairs`, in this order, unchecked: see [`check`].
pub fn encode<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, value) in pairs {
        text.push_str(name);
        text.push(NAME_SEPARATOR);
        text.push_str(value);
        text.push(PROPERTY_SEPARATOR);
    }
    text
}

/// A property that would not come back as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PropertyError {
    /// A property without a name is lost.
    #[error("caller: a property needs a name")]
    NoName,
    /// A property without a value is lost.
    #[error("caller: a property needs a value")]
    NoValue,
    /// Separators within a name or value tear it apart.
    #[error("caller: names and values of properties cannot hold the characters U+0001 and U+0002")]
    Separator,
}

impl PropertyError {
    /// Who has to act: who set the property.
    #[must_use]
    pub const fn blame(&self) -> crate::error::Blame {
        crate::error::Blame::Caller
    }
}

/// Whether a property that a user sets comes back as it is.
pub fn check(name: &str, value: &str) -> Result<(), PropertyError> {
    let separators = [NAME_SEPARATOR, PROPERTY_SEPARATOR];
    if name.is_empty() {
        Err(PropertyError::NoName)
    } else if value.is_empty() {
        Err(PropertyError::NoValue)
    } else if name.contains(separators) || value.contains(separators) {
        Err(PropertyError::Separator)
    } else {
        Ok(())
    }
}
