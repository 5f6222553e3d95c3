//! `HeartbeatData` (34) as brokers take it.

use super::heartbeat::{consumer_value, read_model, read_subscription};
use super::kinds::{ConsumeType, StartRule};
use super::{Body, optional_text, truth};
use crate::model::{ClientId, Group};
use crate::wire::error::WireError;
use crate::wire::json::{Value, object};
use crate::wire::request::{MessageModel, SubscriptionData};
use alloc::vec::Vec;

/// A heartbeat of any client: with the values that [`Heartbeat`](crate::wire::request::Heartbeat) has no room for, and
/// with what 5.x adds to it (the second form). Reading it never fails: what is missing or of another type counts as
/// empty, and subscriptions that cannot be read are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The sender.
    pub client: ClientId,
    /// Its consumer groups.
    pub consumers: Vec<AnnouncedGroup>,
    /// Its producer groups.
    pub producers: Vec<Group>,
    /// Stands for all subscriptions of the sender; 0 if it knows nothing of fingerprints.
    pub fingerprint: i32,
    /// Whether subscriptions are left out because they have not changed.
    pub without_sub: bool,
}

/// A consumer group in an [`Announcement`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncedGroup {
    /// The group.
    pub group: Group,
    /// How its members get their messages.
    pub consume_type: ConsumeType,
    /// Clustering or broadcasting.
    pub model: MessageModel,
    /// Where queues without a committed offset start.
    pub start_from: StartRule,
    /// What it subscribes to, the codes as they were sent.
    pub subscriptions: Vec<SubscriptionData>,
    /// Unit mode.
    pub unit_mode: bool,
}

impl Body for Announcement {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let producers = value.field("producerDataSet").items().iter();
        Ok(Self {
            client: ClientId::from(optional_text(value, "clientID").unwrap_or_default()),
            consumers: value.field("consumerDataSet").items().iter().map(read_group).collect(),
            producers: producers.map(group_name).collect(),
            fingerprint: value.field("heartbeatFingerprint").to_i32().unwrap_or(0),
            without_sub: truth(value, "withoutSub", false),
        })
    }
    fn to_value(&self) -> Value<'_> {
        let producers = self.producers.iter().map(|group| object([("groupName", group.as_str().into())]));
        let consumers = self.consumers.iter().map(|data| {
            let AnnouncedGroup { group, consume_type, model, start_from, subscriptions, unit_mode } = data;
            consumer_value(group, *consume_type, *model, start_from.name(), subscriptions, *unit_mode)
        });
        object([
            ("clientID", self.client.as_str().into()),
            ("consumerDataSet", Value::list(consumers)),
            ("heartbeatFingerprint", self.fingerprint.into()),
            ("producerDataSet", Value::list(producers)),
            ("withoutSub", self.without_sub.into()),
        ])
    }
}

fn read_group(value: &Value<'_>) -> AnnouncedGroup {
    let subscriptions = value.field("subscriptionDataSet").items().iter();
    AnnouncedGroup {
        group: group_name(value),
        consume_type: ConsumeType::read(value.field("consumeType")),
        model: read_model(value.field("messageModel")),
        start_from: StartRule::read(value.field("consumeFromWhere")),
        subscriptions: subscriptions.filter_map(|data| read_subscription(data).ok()).collect(),
        unit_mode: truth(value, "unitMode", false),
    }
}

fn group_name(value: &Value<'_>) -> Group {
    Group::from(optional_text(value, "groupName").unwrap_or_default())
}
