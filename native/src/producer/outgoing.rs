//! A message on its way to a broker.

use super::Wanted;
use crate::error::{Error, Result};
use crate::handler::DelayLevel;
use crate::identity::MessageIds;
use bytes::Bytes;
use evenkeel_core::model::{BrokerName, Topic};
use evenkeel_core::wire::batch::BatchItem;
use evenkeel_core::wire::names::{validate_topic, wrap_namespace};
use evenkeel_core::wire::properties::{self, Properties, names};
use std::collections::BTreeMap;
use std::fmt;

/// Most bytes of a body, as brokers have it by default.
const BODY_MAX: usize = 4 * 1024 * 1024;

/// A message to send.
#[derive(Clone)]
#[must_use = "a message is sent by a producer"]
pub struct Outgoing {
    pub(super) topic: Topic,
    pub(super) queue: Option<Wanted>,
    body: Bytes,
    flag: i32,
    properties: BTreeMap<String, String>,
}

impl Outgoing {
    /// A message of this topic.
    pub fn new(topic: impl Into<Topic>, body: impl Into<Bytes>) -> Self {
        Self { topic: topic.into(), queue: None, body: body.into(), flag: 0, properties: BTreeMap::new() }
    }

    /// Sets its tag.
    pub fn tag(self, tag: &str) -> Self {
        self.property(names::TAGS, tag)
    }

    /// Adds a key, by which tools can find it.
    pub fn key(mut self, key: &str) -> Self {
        let keys = self.properties.entry(names::KEYS.to_owned()).or_default();
        if !keys.is_empty() {
            keys.push(' ');
        }
        keys.push_str(key);
        self
    }

    /// Sets a property.
    pub fn property(mut self, name: &str, value: &str) -> Self {
        self.properties.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Has the broker hold it back.
    pub fn delay(self, level: DelayLevel) -> Self {
        self.property(names::DELAY, &level.level().to_string())
    }

    /// Sends it to this queue number, on any broker or on one.
    pub fn queue(mut self, broker: Option<&str>, id: i32) -> Self {
        self.queue = Some(Wanted { broker: broker.map(BrokerName::from), id });
        self
    }

    /// Sets the user's flag.
    pub fn flag(mut self, flag: i32) -> Self {
        self.flag = flag;
        self
    }

    /// The same message as servers see it.
    pub(super) fn within(mut self, namespace: &str) -> Self {
        if namespace.is_empty() {
            return self;
        }
        self.topic = Topic::from(wrap_namespace(namespace, self.topic.as_str()));
        self.property(names::INSTANCE_ID, namespace)
    }

    /// The message's id and what is sent of it.
    pub(super) fn into_item(mut self, ids: &MessageIds) -> Result<(String, BatchItem)> {
        validate_topic(self.topic.as_str())
            .map_err(|error| Error::config(format!("topic {}: {error}", self.topic)).with_source(error))?;
        if self.body.len() > BODY_MAX {
            return Err(Error::config(format!(
                "the body has {} bytes, brokers take {BODY_MAX}",
                self.body.len()
            )));
        }
        for (name, value) in &self.properties {
            properties::check(name, value)
                .map_err(|error| Error::config(format!("property {name:?}: {error}")).with_source(error))?;
        }
        let id = self.properties.entry(names::UNIQ_KEY.to_owned()).or_insert_with(|| ids.next()).clone();
        let pairs = self.properties.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let properties = Properties::from_pairs(pairs);
        Ok((id, BatchItem { flag: self.flag, body: self.body, properties }))
    }
}

/// Everything but the body, which may be confidential: its length.
impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("topic", &self.topic)
            .field("queue", &self.queue)
            .field("properties", &self.properties)
            .field("body_len", &self.body.len())
            .finish()
    }
}
