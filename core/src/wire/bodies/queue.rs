//! Queues as values and as keys: the tables that the Java side keys by `MessageQueue` objects.

use super::{Body, bad_number, int, items, missing, text};
use crate::model::MessageQueue;
use crate::wire::error::{WireError, WireErrorKind};
use crate::wire::json::{self, Value, object};
use alloc::collections::{BTreeMap, BTreeSet};

/// `{"brokerName":s,"queueId":i,"topic":s}`
pub(super) fn queue_value(queue: &MessageQueue) -> Value<'_> {
    object([
        ("brokerName", queue.broker.as_str().into()),
        ("queueId", queue.id.into()),
        ("topic", queue.topic.as_str().into()),
    ])
}

/// A queue without a number is number 0, as Java's default has it.
pub(super) fn read_queue(value: &Value<'_>) -> Result<MessageQueue, WireError> {
    Ok(MessageQueue::new(text(value, "topic")?, text(value, "brokerName")?, int(value, "queueId")?))
}

/// A list field of queues as a set.
pub(super) fn read_queue_set(
    value: &Value<'_>,
    name: &'static str,
) -> Result<BTreeSet<MessageQueue>, WireError> {
    items(value, name)?.iter().map(read_queue).collect()
}

pub(super) fn queue_list<'a>(queues: impl IntoIterator<Item = &'a MessageQueue>) -> Value<'a> {
    Value::list(queues.into_iter().map(queue_value))
}

/// A table keyed by queues. A key is an object, or (from clients that write standard JSON) a text that holds one.
pub(super) fn read_queue_table<T>(
    table: &Value<'_>,
    name: &'static str,
    read: impl Fn(&Value<'_>) -> Result<T, WireError>,
) -> Result<BTreeMap<MessageQueue, T>, WireError> {
    let entries = super::entries(table, name)?;
    entries.iter().map(|(key, value)| Ok((read_key(key)?, read(value)?))).collect()
}

fn read_key(key: &Value<'_>) -> Result<MessageQueue, WireError> {
    match key {
        Value::Text(text) => read_queue(&json::parse(text.as_bytes())?),
        Value::Map(_) => read_queue(key),
        _ => Err(WireError::new(WireErrorKind::BadJson, 0, "a queue as key")),
    }
}

/// The table with its keys as objects: the form that Java and its tools read.
pub(super) fn queue_table<'a, T>(
    table: &'a BTreeMap<MessageQueue, T>,
    value: impl Fn(&'a T) -> Value<'a>,
) -> Value<'a> {
    Value::Map(table.iter().map(|(queue, entry)| (queue_value(queue), value(entry))).collect())
}

fn read_offset(value: &Value<'_>) -> Result<i64, WireError> {
    value.to_i64().ok_or(bad_number("an offset"))
}

/// `OffsetSerializeWrapper`: the file in which a broadcasting Java consumer keeps its offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffsetTable(pub BTreeMap<MessageQueue, i64>);

impl Body for OffsetTable {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        read_queue_table(value, "offsetTable", read_offset).map(Self)
    }
    fn to_value(&self) -> Value<'_> {
        object([("offsetTable", queue_table(&self.0, |&offset| offset.into()))])
    }
}

/// `ResetOffsetBody` (220), and `ResetOffsetBodyForC`, its form for C++ clients: a list in place of the table. A
/// queue whose offset is null is not reset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResetTable(pub BTreeMap<MessageQueue, i64>);

impl ResetTable {
    /// The form for C++ clients.
    pub fn to_list_value(&self) -> Value<'_> {
        let rows = self.0.iter().map(|(queue, &offset)| {
            object([
                ("brokerName", queue.broker.as_str().into()),
                ("offset", offset.into()),
                ("queueId", queue.id.into()),
                ("topic", queue.topic.as_str().into()),
            ])
        });
        object([("offsetTable", Value::list(rows))])
    }
}

impl Body for ResetTable {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        if let Value::List(rows) = value.field("offsetTable") {
            let read = |row: &Value<'_>| match row.field("offset") {
                Value::Null => Err(missing("offset")),
                offset => Ok((read_queue(row)?, read_offset(offset)?)),
            };
            return rows.iter().map(read).collect::<Result<_, _>>().map(Self);
        }
        let read =
            |offset: &Value<'_>| if offset.is_null() { Ok(None) } else { read_offset(offset).map(Some) };
        let table = read_queue_table(value, "offsetTable", read)?;
        Ok(Self(table.into_iter().filter_map(|(queue, offset)| Some((queue, offset?))).collect()))
    }
    fn to_value(&self) -> Value<'_> {
        object([("offsetTable", queue_table(&self.0, |&offset| offset.into()))])
    }
}

/// `GetConsumerStatusBody` (221): the offsets that a member holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsumerStatus(pub BTreeMap<MessageQueue, i64>);

impl Body for ConsumerStatus {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        read_queue_table(value, "messageQueueTable", read_offset).map(Self)
    }
    fn to_value(&self) -> Value<'_> {
        object([
            ("consumerTable", Value::Map(alloc::vec::Vec::new())),
            ("messageQueueTable", queue_table(&self.0, |&offset| offset.into())),
        ])
    }
}
