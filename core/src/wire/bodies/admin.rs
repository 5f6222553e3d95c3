//! What tools ask of brokers: connections, progress, ranges, groups, key-value tables.

use super::heartbeat::{read_model, read_subscription, subscription_value};
use super::kinds::{ConsumeType, StartRule};
use super::queue::{queue_table, read_queue_table};
use super::register::DataVersion;
use super::{Body, double, entries, int, int_if_any, items, long, missing, optional_text, text, truth};
use crate::model::{ClientId, Group, MessageQueue, Topic};
use crate::wire::code::LanguageCode;
use crate::wire::error::WireError;
use crate::wire::json::{Value, object};
use crate::wire::request::{MessageModel, SubscriptionData};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// `ConsumerConnection` (203): members of a group as one broker knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsumerConnection {
    /// The members.
    pub connections: Vec<Connection>,
    /// What the group subscribes to, by topic.
    pub subscriptions: BTreeMap<Topic, SubscriptionData>,
    /// How its members get their messages.
    pub consume_type: ConsumeType,
    /// Clustering or broadcasting.
    pub model: MessageModel,
    /// Where queues without a committed offset start.
    pub start_from: StartRule,
}

/// One member's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The member.
    pub client: ClientId,
    /// Its address as the broker sees it.
    pub address: String,
    /// Its language.
    pub language: Option<LanguageCode>,
    /// Its protocol version.
    pub version: i32,
}

impl Body for ConsumerConnection {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let mut subscriptions = BTreeMap::new();
        for (_, subscription) in entries(value, "subscriptionTable")? {
            let subscription = read_subscription(subscription)?;
            subscriptions.insert(subscription.subscription.topic.clone(), subscription);
        }
        Ok(Self {
            connections: read_connections(value)?,
            subscriptions,
            consume_type: ConsumeType::read(value.field("consumeType")),
            model: read_model(value.field("messageModel")),
            start_from: StartRule::read(value.field("consumeFromWhere")),
        })
    }
    fn to_value(&self) -> Value<'_> {
        let subscriptions = self.subscriptions.iter();
        object([
            ("connectionSet", connection_list(&self.connections)),
            ("consumeFromWhere", self.start_from.name().into()),
            ("consumeType", self.consume_type.name().into()),
            ("messageModel", self.model.name().into()),
            (
                "subscriptionTable",
                Value::Map(
                    subscriptions
                        .map(|(topic, data)| (topic.as_str().into(), subscription_value(data)))
                        .collect(),
                ),
            ),
        ])
    }
}

/// `ProducerConnection` (204): members of a producer group as one broker knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProducerConnection(pub Vec<Connection>);

impl Body for ProducerConnection {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        read_connections(value).map(Self)
    }
    fn to_value(&self) -> Value<'_> {
        object([("connectionSet", connection_list(&self.0))])
    }
}

fn connection_list(connections: &[Connection]) -> Value<'_> {
    Value::list(connections.iter().map(|connection| {
        object([
            ("clientAddr", connection.address.as_str().into()),
            ("clientId", connection.client.as_str().into()),
            ("language", Value::text_or_null(connection.language.and_then(LanguageCode::name))),
            ("version", connection.version.into()),
        ])
    }))
}

fn read_connections(value: &Value<'_>) -> Result<Vec<Connection>, WireError> {
    items(value, "connectionSet")?.iter().map(read_connection).collect()
}

fn read_connection(value: &Value<'_>) -> Result<Connection, WireError> {
    Ok(Connection {
        client: ClientId::from(text(value, "clientId")?),
        address: optional_text(value, "clientAddr").unwrap_or_default(),
        language: value.field("language").as_str().and_then(LanguageCode::from_name),
        version: int(value, "version")?,
    })
}

/// `ConsumeStats` (208): how far a group is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumeStats {
    /// By queue.
    pub queues: BTreeMap<MessageQueue, QueueProgress>,
    /// Messages consumed a second.
    pub tps: f64,
}

/// How far a group is on one queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueProgress {
    /// One past the last stored offset.
    pub broker_offset: i64,
    /// The committed offset.
    pub consumer_offset: i64,
    /// 5.x: where the group pulled last.
    pub pull_offset: i64,
    /// Unix ms at which the message before the committed offset was stored.
    pub last_timestamp: i64,
}

impl Body for ConsumeStats {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let read = |row: &Value<'_>| {
            Ok(QueueProgress {
                broker_offset: long(row, "brokerOffset")?,
                consumer_offset: long(row, "consumerOffset")?,
                pull_offset: long(row, "pullOffset")?,
                last_timestamp: long(row, "lastTimestamp")?,
            })
        };
        Ok(Self { queues: read_queue_table(value, "offsetTable", read)?, tps: double(value, "consumeTps")? })
    }
    fn to_value(&self) -> Value<'_> {
        let row = |progress: &QueueProgress| {
            object([
                ("brokerOffset", progress.broker_offset.into()),
                ("consumerOffset", progress.consumer_offset.into()),
                ("lastTimestamp", progress.last_timestamp.into()),
                ("pullOffset", progress.pull_offset.into()),
            ])
        };
        object([("consumeTps", self.tps.into()), ("offsetTable", queue_table(&self.queues, row))])
    }
}

/// `TopicStatsTable` (202): what a broker stores of a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicStats(pub BTreeMap<MessageQueue, QueueRange>);

/// What a broker stores of one queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueRange {
    /// First stored offset.
    pub min_offset: i64,
    /// One past the last stored offset.
    pub max_offset: i64,
    /// Unix ms of the last message.
    pub last_update: i64,
}

impl Body for TopicStats {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let read = |row: &Value<'_>| {
            Ok(QueueRange {
                min_offset: long(row, "minOffset")?,
                max_offset: long(row, "maxOffset")?,
                last_update: long(row, "lastUpdateTimestamp")?,
            })
        };
        read_queue_table(value, "offsetTable", read).map(Self)
    }
    fn to_value(&self) -> Value<'_> {
        let row = |range: &QueueRange| {
            object([
                ("lastUpdateTimestamp", range.last_update.into()),
                ("maxOffset", range.max_offset.into()),
                ("minOffset", range.min_offset.into()),
            ])
        };
        object([("offsetTable", queue_table(&self.0, row))])
    }
}

/// `GroupList` (300): groups that subscribe to a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupList(pub Vec<Group>);

impl Body for GroupList {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let groups = items(value, "groupList")?.iter();
        let read = |group: &Value<'_>| group.as_str().map(Group::from).ok_or(missing("groupList"));
        groups.map(read).collect::<Result<_, _>>().map(Self)
    }
    fn to_value(&self) -> Value<'_> {
        object([("groupList", Value::list(self.0.iter().map(Group::as_str)))])
    }
}

/// `KVTable`: `{"table":{name:text}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KvTable(pub BTreeMap<String, String>);

impl Body for KvTable {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let rows = entries(value, "table")?.iter();
        Ok(Self(rows.filter_map(|(key, value)| Some((key.to_java_text()?, value.to_java_text()?))).collect()))
    }
    fn to_value(&self) -> Value<'_> {
        let rows = self.0.iter().map(|(key, value)| (key.as_str().into(), value.as_str().into()));
        object([("table", Value::Map(rows.collect()))])
    }
}

/// `SubscriptionGroupConfig` (200): how brokers treat a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupConfig {
    /// The group.
    pub group: Group,
    /// Whether it may consume.
    pub consume_enabled: bool,
    /// Whether it may broadcast.
    pub broadcast_enabled: bool,
    /// Whether a group without offset starts at the first stored one.
    pub from_min_enabled: bool,
    /// Queues of its retry topic.
    pub retry_queues: i32,
    /// Tries until the dead-letter topic.
    pub retry_max_times: i32,
    /// Whether members are told of changes.
    pub notify_changes: bool,
}

impl GroupConfig {
    /// The settings of a group that nobody set.
    pub fn new(group: Group) -> Self {
        Self {
            group,
            consume_enabled: true,
            broadcast_enabled: true,
            from_min_enabled: true,
            retry_queues: 1,
            retry_max_times: 16,
            notify_changes: true,
        }
    }
}

impl Body for GroupConfig {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        Ok(Self {
            group: Group::from(text(value, "groupName")?),
            consume_enabled: truth(value, "consumeEnable", true),
            broadcast_enabled: truth(value, "consumeBroadcastEnable", true),
            from_min_enabled: truth(value, "consumeFromMinEnable", true),
            retry_queues: int_if_any(value, "retryQueueNums", 1),
            retry_max_times: int_if_any(value, "retryMaxTimes", 16),
            notify_changes: truth(value, "notifyConsumerIdsChangedEnable", true),
        })
    }
    fn to_value(&self) -> Value<'_> {
        object([
            ("brokerId", 0.into()),
            ("consumeBroadcastEnable", self.broadcast_enabled.into()),
            ("consumeEnable", self.consume_enabled.into()),
            ("consumeFromMinEnable", self.from_min_enabled.into()),
            ("groupName", self.group.as_str().into()),
            ("notifyConsumerIdsChangedEnable", self.notify_changes.into()),
            ("retryMaxTimes", self.retry_max_times.into()),
            ("retryQueueNums", self.retry_queues.into()),
            ("whichBrokerWhenConsumeSlowly", 1.into()),
        ])
    }
}

/// `SubscriptionGroupWrapper` (201): the settings of all groups on a broker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupTable {
    /// Changes with the table.
    pub version: DataVersion,
    /// By name.
    pub groups: BTreeMap<Group, GroupConfig>,
}

impl Body for GroupTable {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let mut groups = BTreeMap::new();
        for (_, config) in entries(value, "subscriptionGroupTable")? {
            let config = GroupConfig::from_value(config)?;
            groups.insert(config.group.clone(), config);
        }
        Ok(Self { version: DataVersion::from_value(value.field("dataVersion"))?, groups })
    }
    fn to_value(&self) -> Value<'_> {
        let groups = self.groups.iter().map(|(group, config)| (group.as_str().into(), config.to_value()));
        object([
            ("dataVersion", self.version.to_value()),
            ("subscriptionGroupTable", Value::Map(groups.collect())),
        ])
    }
}
