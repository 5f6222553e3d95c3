//! A message as handlers see it.

use bytes::Bytes;
use evenkeel_core::model::MessageQueue;
use evenkeel_core::time::WallClock;
use evenkeel_core::wire::message::Message as Stored;
use std::fmt;

/// A message from a broker. Cheap to clone: the body is shared.
#[derive(Clone, PartialEq)]
pub struct Message {
    queue: MessageQueue,
    stored: Stored,
}

impl Message {
    pub(crate) fn new(queue: MessageQueue, stored: Stored) -> Self {
        Self { queue, stored }
    }

    /// The topic it was sent to; for a message that comes again, not the retry topic but the first one.
    pub fn topic(&self) -> &str {
        self.stored.topic.as_str()
    }

    /// The queue it was pulled from; for a message that comes again, one of the retry topic.
    pub fn queue(&self) -> &MessageQueue {
        &self.queue
    }

    /// Its position in the queue.
    pub fn offset(&self) -> i64 {
        self.stored.queue_offset
    }

    /// Its id: the one its producer gave, else the one that says where it is stored.
    pub fn msg_id(&self) -> String {
        self.stored.msg_id().to_string()
    }

    /// Its keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.stored.property("KEYS").unwrap_or_default().split(' ').filter(|key| !key.is_empty())
    }

    /// Its tag.
    pub fn tag(&self) -> Option<&str> {
        self.stored.tag()
    }

    /// Its body, decompressed.
    pub fn body(&self) -> &Bytes {
        &self.stored.body
    }

    /// One of its properties, the producer's own or one of the protocol.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.stored.property(name)
    }

    /// All of its properties, in the order they are stored.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &str)> {
        self.stored.properties.iter()
    }

    /// How often it was tried before.
    pub fn retries(&self) -> i32 {
        self.stored.reconsume_times
    }

    /// When the broker stored it.
    pub fn stored_at(&self) -> WallClock {
        self.stored.stored_at
    }

    /// When its producer made it.
    pub fn born_at(&self) -> WallClock {
        self.stored.born_at
    }
}

/// Everything but the body, which may be confidential: its length.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("topic", &self.topic())
            .field("queue", &self.queue)
            .field("offset", &self.offset())
            .field("msg_id", &self.msg_id())
            .field("tag", &self.tag())
            .field("retries", &self.retries())
            .field("body_len", &self.body().len())
            .finish()
    }
}
