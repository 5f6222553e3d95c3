//! Stored messages of one broker: an index per queue over one log, bounded from the old end.
//!
//! A message is kept in its stored form only; a pull copies slices of it into its answer. Log positions count bytes, as
//! in a real commit log, and are what sending back and looking up by id go by.

use bytes::Bytes;
use evenkeel_core::model::{Topic, java_hash};
use evenkeel_core::time::WallClock;
use evenkeel_core::wire::ids::OffsetId;
use evenkeel_core::wire::message::{Host, Message};
use evenkeel_core::wire::properties::names;
use evenkeel_core::wire::stored::{EncodeError, Limits, decode_batch, encode_stored};
use evenkeel_core::wire::sys_flag::message::COMPRESSED;
use std::collections::{BTreeMap, VecDeque};

/// What the tables around a message take, about.
const OVERHEAD: usize = 192;
/// Where a stored message has its system flags.
const SYS_FLAG_AT: std::ops::Range<usize> = 36..40;

/// The log of one broker.
#[derive(Debug)]
pub(crate) struct Log {
    host: Host,
    queues: BTreeMap<(Topic, i32), Queue>,
    /// Queue and queue offset by log position: the oldest message stands first.
    places: BTreeMap<i64, Place>,
    next: i64,
    bytes: usize,
    limit: usize,
}

#[derive(Debug)]
struct Place {
    topic: Topic,
    queue_id: i32,
    offset: i64,
}

/// One queue: entries in order, the first of them at offset `first`.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    first: i64,
    entries: VecDeque<Entry>,
}

/// One stored message.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its stored form.
    pub(crate) stored: Bytes,
    /// Java's hash of its tag, 0 without one: what subscriptions are compared with.
    pub(crate) tag: i32,
    /// When it was stored.
    pub(crate) at: WallClock,
}

/// Where a message went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) topic: Topic,
    pub(crate) queue_id: i32,
    pub(crate) offset: i64,
    pub(crate) id: OffsetId,
    pub(crate) tag: i32,
}

impl Log {
    /// An empty log that writes `host` into its messages and keeps at most `limit` bytes.
    pub(crate) fn new(host: Host, limit: usize) -> Self {
        Self { host, queues: BTreeMap::new(), places: BTreeMap::new(), next: 0, bytes: 0, limit }
    }

    /// Stores a message at the end of its queue. Its topic and queue id say where; its places and times of storing are
    /// set here.
    pub(crate) fn append(&mut self, mut message: Message, now: WallClock) -> Result<Stored, EncodeError> {
        let key = (message.topic.clone(), message.queue_id);
        let offset = self.queues.get(&key).map_or(0, Queue::max);
        message.queue_offset = offset;
        message.commit_log_offset = self.next;
        message.stored_at = now;
        message.store_host = self.host;
        let mut stored = Vec::with_capacity(256 + message.body.len() + message.properties.as_bytes().len());
        encode_stored(&message, &mut stored)?;

        let tag = message.property(names::TAGS).map_or(0, java_hash);
        let id = OffsetId::new(self.host, self.next);
        let place = Place { topic: key.0.clone(), queue_id: key.1, offset };
        self.places.insert(self.next, place);
        self.next += stored.len() as i64;
        self.bytes += stored.len() + OVERHEAD;
        let entry = Entry { stored: Bytes::from(stored), tag, at: now };
        self.queues.entry(key).or_default().entries.push_back(entry);
        self.drop_old();
        Ok(Stored { topic: message.topic, queue_id: message.queue_id, offset, id, tag })
    }

    /// The queue, if anything was ever stored in it.
    pub(crate) fn queue(&self, topic: &Topic, queue_id: i32) -> Option<&Queue> {
        self.queues.get(&(topic.clone(), queue_id))
    }

    /// One past the last offset of a queue; 0 if nothing was ever stored in it.
    pub(crate) fn max(&self, topic: &Topic, queue_id: i32) -> i64 {
        self.queue(topic, queue_id).map_or(0, Queue::max)
    }

    /// The first offset of a queue; 0 if nothing was ever stored in it.
    pub(crate) fn min(&self, topic: &Topic, queue_id: i32) -> i64 {
        self.queue(topic, queue_id).map_or(0, Queue::min)
    }

    /// The stored form of the message at this log position.
    pub(crate) fn at(&self, position: i64) -> Option<&Bytes> {
        let place = self.places.get(&position)?;
        let queue = self.queue(&place.topic, place.queue_id)?;
        queue.entry(place.offset).map(|entry| &entry.stored)
    }

    /// Forgets everything of a topic.
    pub(crate) fn remove_topic(&mut self, topic: &Topic) {
        self.places.retain(|_, place| place.topic != *topic);
        let mut freed = 0;
        self.queues.retain(|(of, _), queue| {
            let stays = of != topic;
            if !stays {
                freed += queue.entries.iter().map(|entry| entry.stored.len() + OVERHEAD).sum::<usize>();
            }
            stays
        });
        self.bytes = self.bytes.saturating_sub(freed);
    }

    /// Bytes held, tables included.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn drop_old(&mut self) {
        while self.bytes > self.limit {
            let Some((_, place)) = self.places.pop_first() else { return };
            let Some(queue) = self.queues.get_mut(&(place.topic, place.queue_id)) else { continue };
            // The oldest message of the log is the oldest of its queue.
            if let Some(entry) = queue.entries.pop_front() {
                queue.first += 1;
                self.bytes = self.bytes.saturating_sub(entry.stored.len() + OVERHEAD);
            }
        }
    }
}

impl Queue {
    /// The first offset that is still there, or would be.
    pub(crate) fn min(&self) -> i64 {
        self.first
    }

    /// One past the last offset.
    pub(crate) fn max(&self) -> i64 {
        self.first + self.entries.len() as i64
    }

    /// The message at an offset.
    pub(crate) fn entry(&self, offset: i64) -> Option<&Entry> {
        self.entries.get(usize::try_from(offset.checked_sub(self.first)?).ok()?)
    }

    /// The messages from an offset on.
    pub(crate) fn from(&self, offset: i64) -> impl Iterator<Item = &Entry> {
        let skip = usize::try_from(offset.saturating_sub(self.first)).unwrap_or(0);
        self.entries.range(skip.min(self.entries.len())..)
    }

    /// The first offset stored at or after a time (`upper`: one past the last stored at or before it).
    pub(crate) fn offset_at(&self, time: WallClock, upper: bool) -> i64 {
        let earlier =
            self.entries.partition_point(|entry| if upper { entry.at <= time } else { entry.at < time });
        self.first + earlier as i64
    }
}

/// Reads a stored message back without touching its body: one that is compressed stays compressed.
pub(crate) fn read_back(stored: &Bytes) -> Option<Message> {
    let mut raw = stored.to_vec();
    let sys_flag = i32::from_be_bytes(raw.get(SYS_FLAG_AT)?.try_into().ok()?);
    raw[SYS_FLAG_AT].copy_from_slice(&(sys_flag & !COMPRESSED).to_be_bytes());
    let mut message = decode_batch(&Bytes::from(raw), Limits::default()).messages.pop()?;
    message.sys_flag = sys_flag;
    Some(message)
}
