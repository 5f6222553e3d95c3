//! `HeartbeatData` (34), `SubscriptionData` and `CheckClientRequestBody` (46).

use super::kinds::ConsumeType;
use super::{Body, items, long, missing, optional_text, text, truth};
use crate::model::{ClientId, Group, Topic};
use crate::time::WallClock;
use crate::wire::error::WireError;
use crate::wire::json::{Value, object};
use crate::wire::request::{ConsumeFrom, ConsumerData, Heartbeat, MessageModel, SubscriptionData};
use crate::wire::subscription::{ALL, Subscription};
use alloc::string::{String, ToString};

impl Body for Heartbeat {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let producers = items(value, "producerDataSet")?.iter();
        let consumers = items(value, "consumerDataSet")?.iter();
        Ok(Self {
            client: ClientId::from(text(value, "clientID")?),
            consumers: consumers.map(read_consumer).collect::<Result<_, _>>()?,
            producers: producers
                .map(|producer| text(producer, "groupName").map(Group::from))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The first form of the heartbeat, which all servers take: without the fingerprint of 5.x.
    fn to_value(&self) -> Value<'_> {
        let producers = self.producers.iter().map(|group| object([("groupName", group.as_str().into())]));
        let consumers = self.consumers.iter().map(|data| {
            let ConsumerData { group, model, start_from, subscriptions, unit_mode } = data;
            consumer_value(
                group,
                ConsumeType::Passively,
                *model,
                start_from.name(),
                subscriptions,
                *unit_mode,
            )
        });
        object([
            ("clientID", self.client.as_str().into()),
            ("consumerDataSet", Value::list(consumers)),
            ("producerDataSet", Value::list(producers)),
        ])
    }
}

pub(super) fn consumer_value<'a>(
    group: &'a Group,
    consume_type: ConsumeType,
    model: MessageModel,
    start_from: &'static str,
    subscriptions: &'a [SubscriptionData],
    unit_mode: bool,
) -> Value<'a> {
    object([
        ("consumeFromWhere", start_from.into()),
        ("consumeType", consume_type.name().into()),
        ("groupName", group.as_str().into()),
        ("messageModel", model.name().into()),
        ("subscriptionDataSet", Value::list(subscriptions.iter().map(subscription_value))),
        ("unitMode", unit_mode.into()),
    ])
}

fn read_consumer(value: &Value<'_>) -> Result<ConsumerData, WireError> {
    Ok(ConsumerData {
        group: Group::from(text(value, "groupName")?),
        model: read_model(value.field("messageModel")),
        start_from: read_start(value.field("consumeFromWhere")),
        subscriptions: items(value, "subscriptionDataSet")?
            .iter()
            .map(read_subscription)
            .collect::<Result<_, _>>()?,
        unit_mode: truth(value, "unitMode", false),
    })
}

/// By name or ordinal; what is neither is the default.
pub(super) fn read_model(value: &Value<'_>) -> MessageModel {
    match value {
        Value::Text(name) if name.eq_ignore_ascii_case(MessageModel::Broadcasting.name()) => {
            MessageModel::Broadcasting
        }
        Value::Number(number) if number.to_i64() == Some(0) => MessageModel::Broadcasting,
        _ => MessageModel::Clustering,
    }
}

/// By name or ordinal. The names that Java has deprecated mean what they are closest to; the time that belongs to
/// `CONSUME_FROM_TIMESTAMP` is not part of a heartbeat.
pub(super) fn read_start(value: &Value<'_>) -> ConsumeFrom {
    let ordinal = match value.as_str() {
        Some("CONSUME_FROM_MIN_OFFSET" | "CONSUME_FROM_FIRST_OFFSET") => Some(4),
        Some("CONSUME_FROM_TIMESTAMP") => Some(5),
        _ => value.to_i64(),
    };
    match ordinal {
        Some(2 | 4) => ConsumeFrom::First,
        Some(5) => ConsumeFrom::Timestamp(WallClock::from_millis(0)),
        _ => ConsumeFrom::Last,
    }
}

/// Both sets are written in their own order; they are not paired.
pub(super) fn subscription_value(data: &SubscriptionData) -> Value<'_> {
    object([
        ("classFilterMode", data.class_filter_mode.into()),
        ("codeSet", Value::list(data.subscription.codes.iter().copied())),
        ("expressionType", data.subscription.expression_type.as_str().into()),
        ("subString", data.subscription.sub_string.as_str().into()),
        ("subVersion", data.version.into()),
        ("tagsSet", Value::list(data.subscription.tags.iter().map(String::as_str))),
        ("topic", data.subscription.topic.as_str().into()),
    ])
}

/// A broker compares the codes it was sent, so they are read and not computed again.
pub(super) fn read_subscription(value: &Value<'_>) -> Result<SubscriptionData, WireError> {
    let tags = items(value, "tagsSet")?.iter().filter_map(Value::as_str);
    let codes = items(value, "codeSet")?.iter().filter_map(Value::to_i64);
    let kind = value.field("expressionType").as_str();
    Ok(SubscriptionData {
        subscription: Subscription {
            topic: Topic::from(text(value, "topic")?),
            sub_string: optional_text(value, "subString").unwrap_or_else(|| ALL.to_string()),
            tags: tags.map(ToString::to_string).collect(),
            codes: codes.filter_map(|code| i32::try_from(code).ok()).collect(),
            expression_type: kind.filter(|name| !name.is_empty()).unwrap_or("TAG").into(),
        },
        version: long(value, "subVersion")?,
        class_filter_mode: truth(value, "classFilterMode", false),
    })
}

/// `CheckClientRequestBody` (46).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckSubscription {
    /// Who asks.
    pub client: ClientId,
    /// The group.
    pub group: Group,
    /// The subscription.
    pub subscription: SubscriptionData,
}

impl Body for CheckSubscription {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let subscription = value.field("subscriptionData");
        if subscription.is_null() {
            return Err(missing("subscriptionData"));
        }
        Ok(Self {
            client: ClientId::from(text(value, "clientId")?),
            group: Group::from(text(value, "group")?),
            subscription: read_subscription(subscription)?,
        })
    }
    fn to_value(&self) -> Value<'_> {
        check_value(&self.client, &self.group, &self.subscription)
    }
}

/// The body of a check, without owning its parts.
pub(in crate::wire) fn check_value<'a>(
    client: &'a ClientId,
    group: &'a Group,
    subscription: &'a SubscriptionData,
) -> Value<'a> {
    object([
        ("clientId", client.as_str().into()),
        ("group", group.as_str().into()),
        ("subscriptionData", subscription_value(subscription)),
    ])
}
