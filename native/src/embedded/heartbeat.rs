//! The body of a heartbeat, as brokers read it: missing and `null` fields count as empty.

use super::request::or_default;
use serde::Deserialize;

/// A client and its groups.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Heartbeat {
    #[serde(rename = "clientID", deserialize_with = "or_default")]
    pub(crate) client: String,
    #[serde(rename = "consumerDataSet", deserialize_with = "or_default")]
    pub(crate) consumers: Vec<Consumer>,
    #[serde(rename = "producerDataSet", deserialize_with = "or_default")]
    pub(crate) producers: Vec<Producer>,
    /// 0 if the client knows nothing of fingerprints.
    #[serde(rename = "heartbeatFingerprint", deserialize_with = "or_default")]
    pub(crate) fingerprint: i32,
    /// Whether subscriptions are left out because they have not changed.
    #[serde(deserialize_with = "or_default")]
    pub(crate) without_sub: bool,
}

/// A producer group.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Producer {
    #[serde(rename = "groupName", deserialize_with = "or_default")]
    pub(crate) group: String,
}

/// A consumer group.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Consumer {
    #[serde(rename = "groupName", deserialize_with = "or_default")]
    pub(crate) group: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) consume_type: Choice,
    #[serde(deserialize_with = "or_default")]
    pub(crate) message_model: Choice,
    #[serde(deserialize_with = "or_default")]
    pub(crate) consume_from_where: Choice,
    #[serde(rename = "subscriptionDataSet", deserialize_with = "or_default")]
    pub(crate) subscriptions: Vec<Subscribed>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) unit_mode: bool,
}

/// What a group wants of one topic, as its members said it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Subscribed {
    #[serde(deserialize_with = "or_default")]
    pub(crate) topic: String,
    #[serde(rename = "subString", deserialize_with = "or_default")]
    pub(crate) expression: String,
    #[serde(rename = "expressionType", deserialize_with = "or_default")]
    pub(crate) expression_type: String,
    #[serde(rename = "tagsSet", deserialize_with = "or_default")]
    pub(crate) tags: Vec<String>,
    #[serde(rename = "codeSet", deserialize_with = "or_default")]
    pub(crate) codes: Vec<i32>,
    #[serde(rename = "subVersion", deserialize_with = "or_default")]
    pub(crate) version: i64,
    #[serde(deserialize_with = "or_default")]
    pub(crate) class_filter_mode: bool,
}

/// The name of an enum's value, or its place in the list of values.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Choice {
    Name(String),
    Ordinal(u32),
}

impl Default for Choice {
    fn default() -> Self {
        Self::Name(String::new())
    }
}

/// Kinds of consumption, in the protocol's order.
pub(crate) const CONSUME_TYPES: [&str; 3] = ["CONSUME_ACTIVELY", "CONSUME_PASSIVELY", "CONSUME_POP"];
/// Models, in the protocol's order.
pub(crate) const MODELS: [&str; 2] = ["BROADCASTING", "CLUSTERING"];
/// Places to start, in the protocol's order.
pub(crate) const STARTS: [&str; 6] = [
    "CONSUME_FROM_LAST_OFFSET",
    "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
    "CONSUME_FROM_MIN_OFFSET",
    "CONSUME_FROM_MAX_OFFSET",
    "CONSUME_FROM_FIRST_OFFSET",
    "CONSUME_FROM_TIMESTAMP",
];

impl Choice {
    /// The value of `names` that is meant; the one at `default` if none is.
    pub(crate) fn among(&self, names: &'static [&'static str], default: usize) -> &'static str {
        let place = match self {
            Self::Name(name) => names.iter().position(|known| known == name),
            Self::Ordinal(ordinal) => usize::try_from(*ordinal).ok().filter(|place| *place < names.len()),
        };
        names[place.unwrap_or(default)]
    }
}
