//! Check points: what names one popped message at its broker.
//!
//! A pop takes messages for a while without moving any offset that the client knows of. Acknowledging one, or hiding it
//! for longer, needs its check point, a text of eight fields that Java keeps in the property `POP_CK`:
//!
//! ```text
//! start popTime invisibleTime reviveQueue retry broker queue offset
//! 100 1700000000000 60000 3 0 broker-a 2 104
//! ```
//!
//! The broker sends it with messages that come from a retry topic. For all others the client builds it from the answer's
//! header: `startOffsetInfo` has `retry queue start;…`, `msgOffsetInfo` has `retry queue o1,o2,…;…`
//! (rocketmq:remoting/src/main/java/org/apache/rocketmq/remoting/protocol/header/ExtraInfoUtil.java).

use super::error::{WireError, WireErrorKind};
use super::headers::consume::PopMessageResponse;
use super::message::Message;
use super::properties::names;
use crate::model::{BrokerName, Group, Topic};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// Which topic a popped message is stored in: the one asked for, or where failed ones of the group wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PopSource {
    /// The topic itself.
    #[default]
    Topic,
    /// `%RETRY%group_topic`
    RetryV1,
    /// `%RETRY%group+topic`
    RetryV2,
}

impl PopSource {
    /// Where a message of this topic is stored.
    pub fn of(topic: &Topic) -> Self {
        match topic.is_retry() {
            true if topic.as_str().contains('+') => Self::RetryV2,
            true => Self::RetryV1,
            false => Self::Topic,
        }
    }

    /// The stored topic of messages that were popped as `topic`.
    pub fn stored_topic(self, topic: &Topic, group: &Group) -> Topic {
        match self {
            Self::Topic => topic.clone(),
            Self::RetryV1 => group.pop_retry_topic_v1(topic),
            Self::RetryV2 => group.pop_retry_topic_v2(topic),
        }
    }

    /// The protocol's mark.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Topic => "0",
            Self::RetryV1 => "1",
            Self::RetryV2 => "2",
        }
    }

    fn read(mark: &str) -> Option<Self> {
        [Self::Topic, Self::RetryV1, Self::RetryV2].into_iter().find(|source| source.mark() == mark)
    }
}

/// What names one popped message at its broker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckPoint {
    /// First offset of the pop in this queue.
    pub start: i64,
    /// When it was popped, in Unix ms of the broker.
    pub pop_time: i64,
    /// How long it is hidden from others, in ms.
    pub invisible_ms: i64,
    /// The queue in which the broker keeps the pop.
    pub revive_queue: i32,
    /// Where the message is stored.
    pub source: PopSource,
    /// The broker.
    pub broker: BrokerName,
    /// Number of the message's queue.
    pub queue_id: i32,
    /// Offset of the message there.
    pub offset: i64,
}

impl fmt::Display for CheckPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, pop_time, invisible_ms, revive_queue, source, broker, queue_id, offset } = self;
        let mark = source.mark();
        write!(f, "{start} {pop_time} {invisible_ms} {revive_queue} {mark} {broker} {queue_id} {offset}")
    }
}

impl FromStr for CheckPoint {
    type Err = WireError;

    /// Errors: [`WireErrorKind::MissingField`] for fewer than eight fields, [`WireErrorKind::BadNumber`].
    fn from_str(text: &str) -> Result<Self, WireError> {
        let mut fields = text.split(' ');
        let mut next =
            || fields.next().ok_or(WireError::new(WireErrorKind::MissingField, 0, "a check point"));
        Ok(Self {
            start: number(next()?)?,
            pop_time: number(next()?)?,
            invisible_ms: number(next()?)?,
            revive_queue: number(next()?)?,
            source: PopSource::read(next()?).ok_or(BAD)?,
            broker: BrokerName::from(next()?),
            queue_id: number(next()?)?,
            offset: number(next()?)?,
        })
    }
}

const BAD: WireError = WireError::new(WireErrorKind::BadNumber, 0, "a number of a check point");

fn number<T: FromStr>(text: &str) -> Result<T, WireError> {
    text.parse().map_err(|_| BAD)
}

/// A message and what names it at its broker.
#[derive(Clone, Debug, PartialEq)]
pub struct PoppedMessage {
    /// The message, its topic as stored.
    pub message: Message,
    /// What to acknowledge it by.
    pub check_point: CheckPoint,
}

/// A queue within an answer.
type Key = (PopSource, i32);

/// Gives each message of an answer its check point.
///
/// The `n`th message of a queue has the `n`th offset that the header lists for the queue. (They are equal but for logical
/// queues.) A queue that the header does not name starts with its first message, as where the header names none.
///
/// Errors: header texts, or check points within the messages, that cannot be read. Nothing of such an answer can be
/// acknowledged.
pub(super) fn with_check_points(
    messages: Vec<Message>,
    header: &PopMessageResponse,
    broker: &BrokerName,
) -> Result<Vec<PoppedMessage>, WireError> {
    let starts: BTreeMap<Key, i64> = table(header.start_offsets.as_deref(), number)?;
    let offsets: BTreeMap<Key, Vec<i64>> =
        table(header.message_offsets.as_deref(), |text| text.split(',').map(number).collect())?;
    let mut seen: BTreeMap<Key, (i64, usize)> = BTreeMap::new();
    let check_point = |message: &Message| {
        let sent = message.property(names::POP_CK);
        let sent = sent.map(CheckPoint::from_str).transpose()?;
        let source = sent.as_ref().map_or_else(|| PopSource::of(&message.topic), |sent| sent.source);
        let key = (source, message.queue_id);
        let (first, count) = seen.entry(key).or_insert((message.queue_offset, 0));
        let (first, place) = (*first, *count);
        *count += 1;
        Ok(sent.unwrap_or_else(|| CheckPoint {
            start: starts.get(&key).copied().unwrap_or(first),
            pop_time: header.pop_time,
            invisible_ms: header.invisible_ms,
            revive_queue: header.revive_queue,
            source,
            broker: broker.clone(),
            queue_id: message.queue_id,
            offset: offsets
                .get(&key)
                .and_then(|offsets| offsets.get(place))
                .copied()
                .unwrap_or(message.queue_offset),
        }))
    };
    let points: Vec<CheckPoint> = messages.iter().map(check_point).collect::<Result<_, WireError>>()?;
    Ok(messages
        .into_iter()
        .zip(points)
        .map(|(message, check_point)| PoppedMessage { message, check_point })
        .collect())
}

/// `retry queue value;…`, keyed by the first two.
fn table<T>(
    text: Option<&str>,
    value: impl Fn(&str) -> Result<T, WireError>,
) -> Result<BTreeMap<Key, T>, WireError> {
    let rows = text.unwrap_or_default().split(';').filter(|row| !row.is_empty());
    rows.map(|row| {
        let mut fields = row.splitn(3, ' ');
        let mut next =
            || fields.next().ok_or(WireError::new(WireErrorKind::MissingField, 0, "offsets of a pop"));
        let source = PopSource::read(next()?).ok_or(BAD)?;
        Ok(((source, number(next()?)?), value(next()?)?))
    })
    .collect()
}

/// The bits of a batch acknowledgement: bit `n` is offset `start + n`, the lowest bit of the first byte first, without
/// empty bytes at the end (Java's `BitSet`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffsetBits(pub Vec<u8>);

/// Farthest offset from the start that a batch names; a pop has at most 32 messages, but gaps are not bounded.
pub const OFFSET_BITS_MAX: i64 = 1 << 16;

impl OffsetBits {
    /// Adds an offset by its distance from the start; false if it is too far away or before it.
    pub fn add(&mut self, distance: i64) -> bool {
        let Ok(distance) = usize::try_from(distance) else { return false };
        if distance >= OFFSET_BITS_MAX as usize {
            return false;
        }
        let at = distance / 8;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] |= 1 << (distance % 8);
        true
    }

    /// The distances, ascending.
    pub fn distances(&self) -> impl Iterator<Item = i64> + '_ {
        let bits = self.0.iter().enumerate().flat_map(|(at, byte)| {
            (0..8).filter(move |bit| byte & (1 << bit) != 0).map(move |bit| at * 8 + bit)
        });
        bits.filter_map(|bit| i64::try_from(bit).ok())
    }
}
