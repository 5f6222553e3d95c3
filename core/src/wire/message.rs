//! A message as a consumer holds it.
//!
//! Cheap to clone: names are shared, body and properties are slices of the frame they came in. Equal in content to
//! `MessageExt` of the Java library, without its setters: what the client adds at delivery are plain fields.

use core::fmt;
use core::net::IpAddr;

use bytes::Bytes;

use super::ids::OffsetId;
use super::properties::{Properties, names};
use super::sys_flag::message as flags;
use crate::model::{BrokerName, Topic};
use crate::time::WallClock;

/// Address of a sender or broker as it stands in a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host {
    /// 4 or 16 bytes. An IPv4 address written in 16 bytes is held as IPv4, as Java does.
    pub ip: IpAddr,
    /// The port.
    pub port: u16,
}

impl Host {
    /// `ip` and `port`, with the address in its shortest form.
    #[must_use]
    pub fn new(ip: IpAddr, port: u16) -> Self {
        Self { ip: ip.to_canonical(), port }
    }
}

/// `127.0.0.1:10911`, `[2001:db8::1]:10911`
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        core::net::SocketAddr::new(self.ip, self.port).fmt(f)
    }
}
impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// One message.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// The topic it is stored under; for a message that comes back, the group's retry topic until the consumer puts
    /// [`Message::retry_topic`] here.
    pub topic: Topic,
    /// The broker that delivered it; empty before delivery.
    pub broker: BrokerName,
    /// Number of the queue on its broker.
    pub queue_id: i32,
    /// Position in the queue: what offsets count.
    pub queue_offset: i64,
    /// Position in the broker's log: what sending back needs.
    pub commit_log_offset: i64,
    /// Bytes that the stored form says it takes.
    pub store_size: i32,
    /// Bits of [`super::sys_flag::message`].
    pub sys_flag: i32,
    /// Bits that the producer set for itself.
    pub flag: i32,
    /// Checksum of the stored body, as the broker wrote it.
    pub body_crc: i32,
    /// When the producer made it.
    pub born_at: WallClock,
    /// Who produced it.
    pub born_host: Host,
    /// When the broker stored it.
    pub stored_at: WallClock,
    /// The broker's address.
    pub store_host: Host,
    /// How often it came back before.
    pub reconsume_times: i32,
    /// Log position of the first phase of its transaction.
    pub prepared_transaction_offset: i64,
    /// First offset of the queue when this message was pulled; -1 before delivery.
    pub min_offset: i64,
    /// End of the queue when this message was pulled; -1 before delivery.
    pub max_offset: i64,
    /// The body, decompressed.
    pub body: Bytes,
    /// The properties, unparsed.
    pub properties: Properties,
    /// Whether the stored body was compressed, so that `body` is not what the checksum is of.
    pub(super) inflated: bool,
}

impl Message {
    /// A message that is not stored yet: numbers are 0, hosts are unspecified, offsets of the queue unknown.
    #[must_use]
    pub fn new(topic: Topic, body: Bytes) -> Self {
        let nowhere = Host { ip: IpAddr::V4(core::net::Ipv4Addr::UNSPECIFIED), port: 0 };
        Self {
            topic,
            broker: BrokerName::from(""),
            queue_id: 0,
            queue_offset: 0,
            commit_log_offset: 0,
            store_size: 0,
            sys_flag: 0,
            flag: 0,
            body_crc: body_checksum(&body),
            born_at: WallClock::default(),
            born_host: nowhere,
            stored_at: WallClock::default(),
            store_host: nowhere,
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            min_offset: -1,
            max_offset: -1,
            body,
            properties: Properties::default(),
            inflated: false,
        }
    }

    /// The stored property `name`. `MIN_OFFSET` and `MAX_OFFSET` are fields, not properties.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.value(name)
    }

    /// The id that users know: the producer's, or the place where the message is stored.
    #[must_use]
    pub fn msg_id(&self) -> MessageId<'_> {
        self.property(names::UNIQ_KEY)
            .map_or_else(|| MessageId::Offset(self.offset_id()), MessageId::Producer)
    }

    /// Where the message is stored. Messages of one inner batch share it.
    #[must_use]
    pub fn offset_id(&self) -> OffsetId {
        OffsetId {
            host: self.store_host,
            offset: self.commit_log_offset,
            wide: self.sys_flag & flags::STORE_HOST_V6 != 0,
        }
    }

    /// The transaction's id, if the message is part of one.
    #[must_use]
    pub fn transaction_id(&self) -> Option<&str> {
        let in_transaction =
            self.property(names::TRAN_MSG).is_some_and(|text| text.eq_ignore_ascii_case("true"));
        if in_transaction { self.property(names::UNIQ_KEY) } else { None }
    }

    /// The tag.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.property(names::TAGS)
    }

    /// The keys, which are stored with blanks between them.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.property(names::KEYS).unwrap_or_default().split(' ').filter(|key| !key.is_empty())
    }

    /// The delay level, 0 if none is set or it is no number.
    #[must_use]
    pub fn delay_level(&self) -> i32 {
        self.property(names::DELAY).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// The topic that a message from a retry topic had at first.
    #[must_use]
    pub fn retry_topic(&self) -> Option<&str> {
        self.property(names::RETRY_TOPIC)
    }

    /// Id of the first message of a chain of retries.
    #[must_use]
    pub fn origin_message_id(&self) -> Option<&str> {
        self.property(names::ORIGIN_MESSAGE_ID)
    }

    /// Whether the body is what the broker computed its checksum of. None if that cannot be told any more: the checksum
    /// is of the compressed body.
    #[must_use]
    pub fn checksum_matches(&self) -> Option<bool> {
        (!self.inflated).then(|| body_checksum(&self.body) == self.body_crc)
    }
}

/// Everything but the body, of which only the length is shown: bodies do not belong into logs.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("topic", &self.topic)
            .field("broker", &self.broker)
            .field("queue_id", &self.queue_id)
            .field("queue_offset", &self.queue_offset)
            .field("commit_log_offset", &self.commit_log_offset)
            .field("sys_flag", &self.sys_flag)
            .field("born_at", &self.born_at)
            .field("born_host", &self.born_host)
            .field("stored_at", &self.stored_at)
            .field("store_host", &self.store_host)
            .field("reconsume_times", &self.reconsume_times)
            .field("body_length", &self.body.len())
            .field("msg_id", &format_args!("{}", self.msg_id()))
            .finish_non_exhaustive()
    }
}

/// The checksum of a body as it is stored: CRC-32 without its top bit.
#[must_use]
pub fn body_checksum(stored_body: &[u8]) -> i32 {
    // Without the top bit the value is never negative in Java.
    (crc32fast::hash(stored_body) & 0x7FFF_FFFF) as i32
}

/// An id of a message; prints as users know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageId<'a> {
    /// What the producer wrote into `UNIQ_KEY`.
    Producer(&'a str),
    /// Where the message is stored.
    Offset(OffsetId),
}

impl fmt::Display for MessageId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Producer(text) => f.pad(text),
            Self::Offset(id) => id.fmt(f),
        }
    }
}
