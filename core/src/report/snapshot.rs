//! A group as it was seen, as JSON: what `evenkeel snapshot` writes and the planner reads.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Sharing, Strategy, lag};
use crate::model::{BrokerName, ClientId, Group, MessageQueue, Topic};

/// The schema that [`Snapshot`] has.
pub const SCHEMA: &str = "evenkeel.snapshot/1";

/// A group at one moment. Nothing is checked while it is read; that is done when it becomes a
/// [`plan::Snapshot`](crate::plan::Snapshot), with errors that name the field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// [`SCHEMA`].
    #[serde(default)]
    pub schema: String,
    /// The group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Group>,
    /// When it was seen, as RFC 3339. For people; nothing follows from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_at: Option<String>,
    /// What it consumes. Its retry topic may be among them.
    #[serde(default)]
    pub topics: Vec<TopicSeen>,
    /// The processes that brokers list, in any order: a client id twice if two processes have it.
    #[serde(default)]
    pub consumers: Vec<ConsumerSeen>,
    /// Who decides which consumer reads which queue. Default: the consumers, by their strategy.
    #[serde(default, skip_serializing_if = "Sharing::is_by_consumers")]
    pub sharing: Sharing,
    /// The strategy that all members run, with its settings. Without it, what most consumers say, and AVG if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// Who owns each queue by the consumers' own answers. A queue that is missing has no owner; without the list,
    /// owners are not known. An id that two processes have stands as often as they say that they own the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owned: Option<Vec<Owned>>,
    /// What is waiting in queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Vec<Load>>,
    /// Whether names are pseudonyms, see [`redact`](super::redact).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub redacted: bool,
}

/// A topic and where its queues are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TopicSeen {
    /// The topic.
    pub topic: Topic,
    /// Each broker once.
    #[serde(default)]
    pub brokers: Vec<BrokerSeen>,
}

/// The queues of a topic on one broker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BrokerSeen {
    /// The broker.
    pub broker: BrokerName,
    /// How many queues can be read: those from 0 up to one less than this.
    pub read_queues: i64,
    /// Whether the topic may be read there. Default true; if not, the queues do not count.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub readable: bool,
}

/// A consumer of the group. What is not known is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsumerSeen {
    /// Its client id.
    pub id: ClientId,
    /// Where it connects from, `host:port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The language of its client, as brokers write it: `JAVA`, `GO`, `RUST`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The version of its client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its strategy as it calls it: a name or a Java class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// The topics that it has subscribed to. Read only if there are no `subscriptions`, and then as if each expression
    /// were `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics: Option<Vec<Topic>>,
    /// The topics that it has subscribed to, each with its expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscriptions: Option<BTreeMap<Topic, String>>,
    /// Whether it told what it runs and owns. Default true if the snapshot has `owned`, and of no meaning if not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<bool>,
    /// The queues that its CONFIG strategy lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<Vec<MessageQueue>>,
}

/// A queue and its owners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owned {
    /// The queue.
    pub queue: MessageQueue,
    /// Their client ids; none if nobody owns it.
    pub owners: Vec<ClientId>,
}

/// What is waiting in a queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The queue.
    pub queue: MessageQueue,
    /// How many messages; left out if it is not known. A number, or a decimal text beyond 2^53.
    #[serde(default, deserialize_with = "lag::deserialize", skip_serializing_if = "Option::is_none")]
    pub lag: Option<i64>,
    /// How many messages a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tps: Option<f64>,
}

impl Snapshot {
    /// A group without topics and consumers.
    pub fn new(group: Option<Group>) -> Self {
        Self {
            schema: SCHEMA.into(),
            group,
            taken_at: None,
            topics: Vec::new(),
            consumers: Vec::new(),
            sharing: Sharing::default(),
            strategy: None,
            owned: None,
            load: None,
            redacted: false,
        }
    }
}

impl ConsumerSeen {
    /// A consumer of which nothing but the id is known.
    pub fn new(id: impl Into<ClientId>) -> Self {
        Self {
            id: id.into(),
            address: None,
            language: None,
            version: None,
            strategy: None,
            topics: None,
            subscriptions: None,
            answered: None,
            listed: None,
        }
    }
}

fn yes() -> bool {
    true
}

fn is_yes(readable: &bool) -> bool {
    *readable
}
