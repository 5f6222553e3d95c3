//! `RegisterBrokerBody` (103): the topics that a broker announces to name servers.

use super::{Body, int_if_any, long, missing, text, truth};
use crate::model::Topic;
use crate::wire::error::{WireError, WireErrorKind};
use crate::wire::json::{self, Value, object};
use crate::wire::route::{PERM_READ, PERM_WRITE};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A broker's topics, and the version of that table. Of the plain form everything is taken that can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisteredBroker {
    /// Changes with the table.
    pub version: DataVersion,
    /// By name.
    pub topics: BTreeMap<Topic, TopicConfig>,
}

/// `DataVersion`: counts changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataVersion {
    /// Changes so far.
    pub counter: i64,
    /// Unix ms of the last one.
    pub timestamp: i64,
    /// 5.x: the master's term.
    pub state_version: i64,
}

/// `TopicConfig`: a topic on one broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicConfig {
    /// The topic.
    pub topic: Topic,
    /// Queues to read.
    pub read_queues: i32,
    /// Queues to write.
    pub write_queues: i32,
    /// 4 read, 2 write.
    pub perm: i32,
    /// 1 unit, 2 has unit subscription.
    pub sys_flag: i32,
    /// Whether its queue numbers are fixed by the order configuration.
    pub order: bool,
}

impl TopicConfig {
    /// A topic that can be read and written.
    pub fn new(topic: Topic, queues: i32) -> Self {
        let perm = PERM_READ | PERM_WRITE;
        Self { topic, read_queues: queues, write_queues: queues, perm, sys_flag: 0, order: false }
    }
}

impl Body for RegisteredBroker {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let wrapper = value.field("topicConfigSerializeWrapper");
        let mut topics = BTreeMap::new();
        for (name, topic) in wrapper.field("topicConfigTable").entries() {
            if let Some(name) = name.as_str().map(Topic::from) {
                topics.insert(name.clone(), read_topic(name, topic));
            }
        }
        let version = DataVersion::from_value(wrapper.field("dataVersion"));
        Ok(Self { version: version.unwrap_or_default(), topics })
    }

    /// Without the mapping tables of 5.x, whose absence 5.x reads as "none".
    fn to_value(&self) -> Value<'_> {
        let topics = self.topics.iter().map(|(topic, config)| (topic.as_str().into(), config.to_value()));
        object([
            ("filterServerList", Value::List(Vec::new())),
            (
                "topicConfigSerializeWrapper",
                object([
                    ("dataVersion", self.version.to_value()),
                    ("topicConfigTable", Value::Map(topics.collect())),
                ]),
            ),
        ])
    }
}

impl Body for DataVersion {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        Ok(Self {
            counter: long(value, "counter")?,
            timestamp: long(value, "timestamp")?,
            state_version: long(value, "stateVersion")?,
        })
    }
    fn to_value(&self) -> Value<'_> {
        object([
            ("counter", self.counter.into()),
            ("stateVersion", self.state_version.into()),
            ("timestamp", self.timestamp.into()),
        ])
    }
}

impl Body for TopicConfig {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        Ok(read_topic(Topic::from(text(value, "topicName")?), value))
    }
    fn to_value(&self) -> Value<'_> {
        object([
            ("attributes", Value::Map(Vec::new())),
            ("order", self.order.into()),
            ("perm", self.perm.into()),
            ("readQueueNums", self.read_queues.into()),
            ("topicFilterType", "SINGLE_TAG".into()),
            ("topicName", self.topic.as_str().into()),
            ("topicSysFlag", self.sys_flag.into()),
            ("writeQueueNums", self.write_queues.into()),
        ])
    }
}

/// The rest of a topic whose name is known: tables have it as the key.
fn read_topic(topic: Topic, value: &Value<'_>) -> TopicConfig {
    TopicConfig {
        topic,
        read_queues: int_if_any(value, "readQueueNums", 16),
        write_queues: int_if_any(value, "writeQueueNums", 16),
        perm: int_if_any(value, "perm", PERM_READ | PERM_WRITE),
        sys_flag: int_if_any(value, "topicSysFlag", 0),
        order: truth(value, "order", false),
    }
}

/// Most bytes that a compressed registration may have once it is unpacked.
const UNPACKED_LIMIT: usize = 16 * 1024 * 1024;

impl RegisteredBroker {
    /// Reads the compressed form: a zlib stream of `length, dataVersion as JSON, count of topics`, for each topic
    /// `length, "name read write perm filterType…"`; what follows concerns filter servers and static topics.
    ///
    /// Errors: [`WireErrorKind::BadCompression`], [`WireErrorKind::Truncated`], [`WireErrorKind::BadNumber`],
    /// [`WireErrorKind::BadText`] and those of the JSON inside; positions are in the unpacked bytes.
    pub fn decode_compressed(body: &[u8]) -> Result<Self, WireError> {
        let unpacked = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(body, UNPACKED_LIMIT)
            .map_err(|_| WireError::new(WireErrorKind::BadCompression, 0, "a zlib stream"))?;
        let mut reader = Reader { bytes: &unpacked, at: 0 };
        let version_length = reader.length()?;
        let version_text = reader.take(version_length)?;
        let version = DataVersion::from_value(&json::parse(version_text)?)?;
        let mut topics = BTreeMap::new();
        for _ in 0..reader.length()? {
            let length = reader.length()?;
            let topic = read_topic_line(reader.take(length)?)?;
            topics.insert(topic.topic.clone(), topic);
        }
        Ok(Self { version, topics })
    }
}

/// `name read write perm filterType` and, in 5.x, attributes.
fn read_topic_line(line: &[u8]) -> Result<TopicConfig, WireError> {
    let line = core::str::from_utf8(line).map_err(|_| WireError::new(WireErrorKind::BadText, 0, "UTF-8"))?;
    let mut words = line.split(' ');
    let topic = words.next().filter(|name| !name.is_empty()).ok_or(missing("topicName"))?;
    let mut number = |name| {
        let word: Option<i32> = words.next().and_then(|word| word.parse().ok());
        word.ok_or(super::bad_number(name))
    };
    Ok(TopicConfig {
        topic: Topic::from(topic),
        read_queues: number("readQueueNums")?,
        write_queues: number("writeQueueNums")?,
        perm: number("perm")?,
        sys_flag: 0,
        order: false,
    })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let taken = self.bytes[self.at..].get(..length);
        self.at += taken.map_or(0, <[u8]>::len);
        taken.ok_or(WireError::new(WireErrorKind::Truncated, self.bytes.len(), "more of the registration"))
    }

    fn length(&mut self) -> Result<usize, WireError> {
        let at = self.at;
        let bytes = self.take(4)?;
        let word: [u8; 4] = bytes.try_into().unwrap_or_default();
        usize::try_from(i32::from_be_bytes(word))
            .map_err(|_| WireError::new(WireErrorKind::BadLength, at, "a length that is not negative"))
    }
}
