//! `LockBatchRequestBody`, `UnlockBatchRequestBody` (41, 42) and the answer to a lock.

use super::queue::{queue_list, read_queue_set};
use super::{Body, optional_text, truth};
use crate::model::{ClientId, Group, MessageQueue};
use crate::wire::error::WireError;
use crate::wire::json::{Value, object};
use alloc::collections::BTreeSet;

/// Queues that a member locks or unlocks. Read as brokers do: names that are missing are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSet {
    /// The group.
    pub group: Group,
    /// The member.
    pub client: ClientId,
    /// 5.x: whether the broker may answer without asking its replicas.
    pub only_this_broker: bool,
    /// The queues.
    pub queues: BTreeSet<MessageQueue>,
}

impl Body for QueueSet {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let name = |value, field| optional_text(value, field).unwrap_or_default();
        let queue = |queue| {
            let id = Value::field(queue, "queueId").to_i32().unwrap_or(0);
            MessageQueue::new(name(queue, "topic"), name(queue, "brokerName"), id)
        };
        Ok(Self {
            group: Group::from(name(value, "consumerGroup")),
            client: ClientId::from(name(value, "clientId")),
            only_this_broker: truth(value, "onlyThisBroker", false),
            queues: value.field("mqSet").items().iter().map(queue).collect(),
        })
    }
    fn to_value(&self) -> Value<'_> {
        object([
            ("clientId", self.client.as_str().into()),
            ("consumerGroup", self.group.as_str().into()),
            ("mqSet", queue_list(&self.queues)),
            ("onlyThisBroker", self.only_this_broker.into()),
        ])
    }
}

/// `LockBatchResponseBody`: the queues that are the member's now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locked(pub BTreeSet<MessageQueue>);

impl Body for Locked {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        read_queue_set(value, "lockOKMQSet").map(Self)
    }
    fn to_value(&self) -> Value<'_> {
        object([("lockOKMQSet", queue_list(&self.0))])
    }
}
