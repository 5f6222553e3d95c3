//! Sharing out by the broker (400, 401), and acknowledgements of many popped messages at once (200151).

use super::queue::{queue_value, read_queue};
use super::{Body, int, items, long, missing, optional_text, text};
use crate::model::{BrokerName, ClientId, Group, MessageQueue, Topic};
use crate::wire::error::{WireError, WireErrorKind};
use crate::wire::json::{Value, object};
use crate::wire::pop::OffsetBits;
use crate::wire::request::MessageModel;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// How the members of a group get the messages of a topic, as an operator set it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestMode {
    /// Each queue has one owner, who pulls from an offset.
    #[default]
    Pull,
    /// Messages are taken for a while and acknowledged one by one.
    Pop,
}

impl RequestMode {
    /// The protocol's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pull => "PULL",
            Self::Pop => "POP",
        }
    }

    fn read(value: &Value<'_>, field: &'static str) -> Result<Self, WireError> {
        match value.field(field).to_java_text().as_deref() {
            None | Some("PULL") => Ok(Self::Pull),
            Some("POP") => Ok(Self::Pop),
            Some(_) => Err(WireError::new(WireErrorKind::Unsupported, 0, field)),
        }
    }
}

/// `QueryAssignmentRequestBody` (400).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignmentQuery {
    /// The group.
    pub group: Group,
    /// The member.
    pub client: ClientId,
    /// The topic.
    pub topic: Topic,
    /// Name of the strategy; brokers know `AVG` and `AVG_BY_CIRCLE`.
    pub strategy: String,
    /// Whether the members share the queues.
    pub model: MessageModel,
}

impl Body for AssignmentQuery {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let model = optional_text(value, "messageModel");
        let broadcasting = model.as_deref() == Some(MessageModel::Broadcasting.name());
        Ok(Self {
            group: Group::from(text(value, "consumerGroup")?),
            client: ClientId::from(text(value, "clientId")?),
            topic: Topic::from(text(value, "topic")?),
            strategy: optional_text(value, "strategyName").unwrap_or_default(),
            model: if broadcasting { MessageModel::Broadcasting } else { MessageModel::Clustering },
        })
    }
    fn to_value(&self) -> Value<'_> {
        object([
            ("clientId", self.client.as_str().into()),
            ("consumerGroup", self.group.as_str().into()),
            ("messageModel", self.model.name().into()),
            ("strategyName", self.strategy.as_str().into()),
            ("topic", self.topic.as_str().into()),
        ])
    }
}

/// `QueryAssignmentResponseBody`: what a broker says is the member's. `None` is no answer (it does not know the topic, the
/// group or the strategy); an empty table takes everything away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignments(pub Option<BTreeMap<MessageQueue, RequestMode>>);

impl Body for Assignments {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        if value.field("messageQueueAssignments").is_null() {
            return Ok(Self(None));
        }
        let read = |item: &Value<'_>| {
            Ok((read_queue(item.field("messageQueue"))?, RequestMode::read(item, "mode")?))
        };
        items(value, "messageQueueAssignments")?
            .iter()
            .map(read)
            .collect::<Result<_, _>>()
            .map(|it| Self(Some(it)))
    }
    fn to_value(&self) -> Value<'_> {
        let row = |(queue, mode): (_, &RequestMode)| {
            object([("messageQueue", queue_value(queue)), ("mode", mode.name().into())])
        };
        let list = self.0.as_ref().map(|table| Value::list(table.iter().map(row)));
        object([("messageQueueAssignments", list.unwrap_or(Value::Null))])
    }
}

/// `SetMessageRequestModeRequestBody` (401).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeSetting {
    /// The group.
    pub group: Group,
    /// The topic.
    pub topic: Topic,
    /// How its messages are got.
    pub mode: RequestMode,
    /// For pop: how many members share each queue; 0 and below all.
    pub share: i32,
}

impl Body for ModeSetting {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        Ok(Self {
            group: Group::from(text(value, "consumerGroup")?),
            topic: Topic::from(text(value, "topic")?),
            mode: RequestMode::read(value, "mode")?,
            share: int(value, "popShareQueueNum")?,
        })
    }
    fn to_value(&self) -> Value<'_> {
        object([
            ("consumerGroup", self.group.as_str().into()),
            ("mode", self.mode.name().into()),
            ("popShareQueueNum", self.share.into()),
            ("topic", self.topic.as_str().into()),
        ])
    }
}

/// `BatchAckMessageRequestBody` (200151).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchAck {
    /// The broker that the messages were popped from.
    pub broker: BrokerName,
    /// One entry for each queue of each pop.
    pub acks: Vec<AckSet>,
}

/// `BatchAck`: messages of one queue of one pop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckSet {
    /// The group.
    pub group: Group,
    /// The topic that was popped.
    pub topic: Topic,
    /// The mark of where the messages are stored, see [`PopSource`](crate::wire::pop::PopSource).
    pub source: String,
    /// First offset of the pop in this queue.
    pub start: i64,
    /// Number of the queue.
    pub queue_id: i32,
    /// The queue in which the broker keeps the pop.
    pub revive_queue: i32,
    /// When it was popped.
    pub pop_time: i64,
    /// How long it is hidden, in ms.
    pub invisible_ms: i64,
    /// Which offsets.
    pub offsets: OffsetBits,
}

impl Body for BatchAck {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let acks = items(value, "acks")?.iter().map(read_ack).collect::<Result<_, _>>()?;
        Ok(Self { broker: BrokerName::from(text(value, "brokerName")?), acks })
    }
    fn to_value(&self) -> Value<'_> {
        object([
            ("acks", Value::list(self.acks.iter().map(ack_value))),
            ("brokerName", self.broker.as_str().into()),
        ])
    }
}

fn read_ack(value: &Value<'_>) -> Result<AckSet, WireError> {
    let bits = STANDARD.decode(text(value, "b")?);
    Ok(AckSet {
        group: Group::from(text(value, "c")?),
        topic: Topic::from(text(value, "t")?),
        source: text(value, "r")?,
        start: long(value, "so")?,
        queue_id: int(value, "q")?,
        revive_queue: int(value, "rq")?,
        pop_time: long(value, "pt")?,
        invisible_ms: long(value, "it")?,
        offsets: OffsetBits(bits.map_err(|_| missing("b"))?),
    })
}

fn ack_value(ack: &AckSet) -> Value<'_> {
    object([
        ("b", STANDARD.encode(&ack.offsets.0).into()),
        ("c", ack.group.as_str().into()),
        ("it", ack.invisible_ms.into()),
        ("pt", ack.pop_time.into()),
        ("q", ack.queue_id.into()),
        ("r", ack.source.as_str().into()),
        ("rq", ack.revive_queue.into()),
        ("so", ack.start.into()),
        ("t", ack.topic.as_str().into()),
    ])
}
