//! The body of a heartbeat, as brokers read it: missing and `null` fields count as empty.

use super::request::text;
use evenkeel_core::wire::json::Value;

/// A client and its groups.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    pub(crate) client: String,
    pub(crate) consumers: Vec<Consumer>,
    pub(crate) producers: Vec<String>,
    /// 0 if the client knows nothing of fingerprints.
    pub(crate) fingerprint: i32,
    /// Whether subscriptions are left out because they have not changed.
    pub(crate) without_sub: bool,
}

/// A consumer group.
#[derive(Debug)]
pub(crate) struct Consumer {
    pub(crate) group: String,
    pub(crate) consume_type: &'static str,
    pub(crate) model: &'static str,
    pub(crate) start_from: &'static str,
    pub(crate) subscriptions: Vec<Subscribed>,
    pub(crate) unit_mode: bool,
}

/// What a group wants of one topic, as its members said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Subscribed {
    pub(crate) topic: String,
    pub(crate) expression: String,
    pub(crate) expression_type: String,
    pub(crate) tags: Vec<String>,
    pub(crate) codes: Vec<i32>,
    pub(crate) version: i64,
    pub(crate) class_filter_mode: bool,
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

impl Heartbeat {
    /// Reads the body.
    pub(crate) fn read(body: &Value<'_>) -> Self {
        let producers = body.field("producerDataSet").items().iter();
        Self {
            client: text(body, "clientID").to_owned(),
            consumers: body.field("consumerDataSet").items().iter().map(Consumer::read).collect(),
            producers: producers.map(|producer| text(producer, "groupName").to_owned()).collect(),
            fingerprint: body.field("heartbeatFingerprint").to_i32().unwrap_or(0),
            without_sub: body.field("withoutSub").to_bool().unwrap_or(false),
        }
    }
}

impl Consumer {
    fn read(data: &Value<'_>) -> Self {
        Self {
            group: text(data, "groupName").to_owned(),
            consume_type: choice(data.field("consumeType"), &CONSUME_TYPES, 1),
            model: choice(data.field("messageModel"), &MODELS, 1),
            start_from: choice(data.field("consumeFromWhere"), &STARTS, 0),
            subscriptions: data.field("subscriptionDataSet").items().iter().map(Subscribed::read).collect(),
            unit_mode: data.field("unitMode").to_bool().unwrap_or(false),
        }
    }
}

impl Subscribed {
    /// What it takes, about.
    pub(crate) fn size(&self) -> usize {
        let tags = self.tags.iter().map(|tag| 24 + tag.len()).sum::<usize>();
        256 + self.topic.len()
            + self.expression.len()
            + self.expression_type.len()
            + tags
            + 4 * self.codes.len()
    }

    fn read(data: &Value<'_>) -> Self {
        let tags = data.field("tagsSet").items().iter();
        Self {
            topic: text(data, "topic").to_owned(),
            expression: text(data, "subString").to_owned(),
            expression_type: text(data, "expressionType").to_owned(),
            tags: tags.filter_map(Value::as_str).map(str::to_owned).collect(),
            codes: data.field("codeSet").items().iter().filter_map(Value::to_i32).collect(),
            version: data.field("subVersion").to_i64().unwrap_or(0),
            class_filter_mode: data.field("classFilterMode").to_bool().unwrap_or(false),
        }
    }
}

/// An enum's value: its name, or its place in the list of values. What is neither is the one at `default`.
fn choice<const N: usize>(value: &Value<'_>, names: &[&'static str; N], default: usize) -> &'static str {
    let place = match value.as_str() {
        Some(name) => names.iter().position(|known| *known == name),
        None => value.to_i64().and_then(|ordinal| usize::try_from(ordinal).ok()).filter(|place| *place < N),
    };
    names[place.unwrap_or(default)]
}
