//! The nouns of a consumer group: names, queues, addresses.
//!
//! Names sort as Java sorts them, by UTF-16 code unit: members of one group must put queues and client ids in one
//! common order, and the group's other members may be Java
//! (rocketmq:common/src/main/java/org/apache/rocketmq/common/message/MessageQueue.java, `compareTo`).

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::cmp::Ordering;
use core::fmt;

/// Compares two texts as Java's `String.compareTo` does: by UTF-16 code unit.
///
/// Equal to the order of the bytes unless a character above U+FFFF meets one in U+E000..=U+FFFF: the first is written
/// with surrogates (U+D800..=U+DFFF) and sorts before the second, although its code point is larger.
pub fn java_order(a: &str, b: &str) -> Ordering {
    let (a_bytes, b_bytes) = (a.as_bytes(), b.as_bytes());
    let common = a_bytes.iter().zip(b_bytes).take_while(|(x, y)| x == y).count();
    match (a_bytes.get(common), b_bytes.get(common)) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        // Two-, three- and one-byte characters order alike in both encodings; only a four-byte lead (0xF0..) against
        // a three-byte lead of U+E000.. (0xEE, 0xEF) differs.
        (Some(&x), Some(&y)) if x >= 0xEE || y >= 0xEE => {
            let unit = |lead: u8| if lead >= 0xF0 { 0xED_u16 * 2 + 1 } else { u16::from(lead) * 2 };
            unit(x).cmp(&unit(y)).then(x.cmp(&y))
        }
        (Some(x), Some(y)) => x.cmp(y),
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }
        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }
        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                // The queues of a topic share its name, and those of a broker that broker's.
                if Arc::ptr_eq(&self.0, &other.0) { Ordering::Equal } else { java_order(&self.0, &other.0) }
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }
    };
}

name! {
    /// A consumer group, with its namespace prefix if one is used.
    Group
}
name! {
    /// A member of a group: `ip@instance`, see [`crate::wire::client_id`].
    ClientId
}
name! {
    /// A topic as brokers know it.
    Topic
}
name! {
    /// The logical name of a broker (a master and its slaves share it).
    BrokerName
}
name! {
    /// `host:port` of a name server or broker. IPv6 hosts stand in brackets. Resolved by whoever connects.
    Address
}

/// Prefix of a group's retry topic.
pub const RETRY_PREFIX: &str = "%RETRY%";
/// Prefix of a group's dead-letter topic.
pub const DLQ_PREFIX: &str = "%DLQ%";

impl Group {
    /// `%RETRY%` + group: where messages that failed come back from.
    pub fn retry_topic(&self) -> Topic {
        Topic::from(format!("{RETRY_PREFIX}{self}"))
    }

    /// `%RETRY%` + group + `_` + topic: where popped messages of a topic wait that nobody acknowledged.
    pub fn pop_retry_topic_v1(&self, topic: &Topic) -> Topic {
        Topic::from(format!("{RETRY_PREFIX}{self}_{topic}"))
    }

    /// `%RETRY%` + group + `+` + topic: the same, at brokers whose operator chose the unambiguous names
    /// (`enableRetryTopicV2`).
    pub fn pop_retry_topic_v2(&self, topic: &Topic) -> Topic {
        Topic::from(format!("{RETRY_PREFIX}{self}+{topic}"))
    }

    /// `%DLQ%` + group: where messages go that failed too often.
    pub fn dead_letter_topic(&self) -> Topic {
        Topic::from(format!("{DLQ_PREFIX}{self}"))
    }
}

impl Topic {
    /// Whether this is some group's retry topic.
    pub fn is_retry(&self) -> bool {
        self.0.starts_with(RETRY_PREFIX)
    }
}

/// One queue of a topic on one broker. Sorts by topic, broker name, then queue id as a number.
///
/// Java subtracts the ids, which overflows for distances above `i32::MAX` and is then no order at all; ids that a
/// route gives are never negative, and for those both agree.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageQueue {
    /// The topic.
    pub topic: Topic,
    /// The broker's name.
    pub broker: BrokerName,
    /// Number of the queue on this broker, from 0.
    pub id: i32,
}

impl MessageQueue {
    /// The queue `id` of `topic` on `broker`.
    pub fn new(topic: impl Into<Topic>, broker: impl Into<BrokerName>, id: i32) -> Self {
        Self { topic: topic.into(), broker: broker.into(), id }
    }

    /// Java's `toString`, which the consistent hash uses as its key.
    pub fn java_text(&self) -> String {
        format!("MessageQueue [topic={}, brokerName={}, queueId={}]", self.topic, self.broker, self.id)
    }
}

/// `topic broker/id`
impl fmt::Display for MessageQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.topic, self.broker, self.id)
    }
}
impl fmt::Debug for MessageQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Java's `String.hashCode`: s\[0\]·31^(n-1) + …, over UTF-16 units, wrapping at 32 bits. Tags are filtered by it.
pub fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// One life of a queue in a consumer: every call, delivery and outcome carries it, and what belongs to an ended life
/// changes nothing. Never reused within a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueEpoch(pub u64);

impl QueueEpoch {
    /// No life of any queue: of deliveries that an operator asks for. Lives are numbered from 1.
    pub const NONE: Self = Self(0);
}

/// Identifies a remote call of one consumer; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// Identifies one delivery to a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket {
    /// The life of the queue that the messages belong to, or [`QueueEpoch::NONE`].
    pub epoch: QueueEpoch,
    /// Number of the delivery within that life.
    pub number: u64,
}
