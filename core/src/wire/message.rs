//! Stored messages.

use crate::model::{BrokerName, Topic};
use crate::time::WallClock;
use alloc::string::String;
use bytes::Bytes;

/// A message as a broker stores it. (Stub: replaced by the codec's own.)
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The topic.
    pub topic: Topic,
    /// Broker it was pulled from.
    pub broker: BrokerName,
    /// Queue number.
    pub queue_id: i32,
    /// Position in the queue.
    pub queue_offset: i64,
    /// Position in the broker's log.
    pub commit_log_offset: i64,
    /// Tries so far.
    pub reconsume_times: i32,
    /// When it was stored.
    pub stored_at: WallClock,
    /// The body, decompressed.
    pub body: Bytes,
}

impl Message {
    /// UNIQ_KEY, or the offset id.
    pub fn msg_id(&self) -> String {
        String::new()
    }
    /// The tag.
    pub fn tag(&self) -> Option<&str> {
        None
    }
    /// A property.
    pub fn property(&self, _name: &str) -> Option<&str> {
        None
    }
}
