//! `LockBatchRequestBody`, `UnlockBatchRequestBody` (41, 42) and the answer to a lock.

use super::queue::{queue_list, read_queue_set};
use super::{Body, text, truth};
use crate::model::{ClientId, Group, MessageQueue};
use crate::wire::error::WireError;
use crate::wire::json::{Value, object};
use alloc::collections::BTreeSet;

/// Queues that a member locks or unlocks.
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
        Ok(Self {
            group: Group::from(text(value, "consumerGroup")?),
            client: ClientId::from(text(value, "clientId")?),
            only_this_broker: truth(value, "onlyThisBroker", false),
            queues: read_queue_set(value, "mqSet")?,
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
