//! `ConsumerRunningInfo` (307).

use super::heartbeat::{read_subscription, subscription_value};
use super::queue::{queue_table, read_queue_table};
use super::{Body, double, entries, int, items, long, missing, truth};
use crate::model::{MessageQueue, Topic};
use crate::wire::error::WireError;
use crate::wire::json::{Value, object};
use crate::wire::peer::{ConsumeStatus, PopQueueInfo, ProcessQueueInfo, RunningInfo};
use alloc::collections::BTreeMap;

impl Body for RunningInfo {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let mut info = Self::default();
        for (name, setting) in entries(value, "properties")? {
            if let (Some(name), Some(setting)) = (name.to_java_text(), setting.to_java_text()) {
                info.properties.insert(name, setting);
            }
        }
        for subscription in items(value, "subscriptionSet")? {
            info.subscriptions.push(read_subscription(subscription)?);
        }
        info.queues = read_queue_table(value, "mqTable", read_queue_info)?;
        info.popped = read_queue_table(value, "mqPopTable", read_pop_info)?;
        for (topic, status) in entries(value, "statusTable")? {
            let topic = Topic::from(topic.to_java_text().ok_or(missing("statusTable"))?);
            info.status.insert(topic, read_status(status)?);
        }
        Ok(info)
    }

    fn to_value(&self) -> Value<'_> {
        let properties = self.properties.iter();
        let status = self.status.iter();
        object([
            ("mqPopTable", pop_table(&self.popped)),
            ("mqTable", queue_table(&self.queues, queue_info_value)),
            (
                "properties",
                Value::Map(
                    properties.map(|(name, value)| (name.as_str().into(), value.as_str().into())).collect(),
                ),
            ),
            (
                "statusTable",
                Value::Map(
                    status.map(|(topic, status)| (topic.as_str().into(), status_value(status))).collect(),
                ),
            ),
            ("subscriptionSet", Value::list(self.subscriptions.iter().map(subscription_value))),
        ])
    }
}

/// Nothing if there is none, as from clients that know no pop.
fn pop_table(popped: &BTreeMap<MessageQueue, PopQueueInfo>) -> Value<'_> {
    if popped.is_empty() { Value::Null } else { queue_table(popped, pop_info_value) }
}

fn pop_info_value(info: &PopQueueInfo) -> Value<'_> {
    object([
        ("droped", info.dropped.into()),
        ("lastPopTimestamp", info.last_pop.into()),
        ("waitAckCount", info.waiting_ack.into()),
    ])
}

fn read_pop_info(value: &Value<'_>) -> Result<PopQueueInfo, WireError> {
    Ok(PopQueueInfo {
        dropped: truth(value, "droped", false),
        last_pop: long(value, "lastPopTimestamp")?,
        waiting_ack: int(value, "waitAckCount")?,
    })
}

/// Transactions are not this consumer's: their fields are written as Java's zeros.
fn queue_info_value(info: &ProcessQueueInfo) -> Value<'_> {
    object([
        ("cachedMsgCount", info.cached_count.into()),
        ("cachedMsgMaxOffset", info.cached_max.into()),
        ("cachedMsgMinOffset", info.cached_min.into()),
        ("cachedMsgSizeInMiB", info.cached_mib.into()),
        ("commitOffset", info.commit_offset.into()),
        ("droped", info.dropped.into()),
        ("lastConsumeTimestamp", info.last_consume.into()),
        ("lastLockTimestamp", info.last_lock.into()),
        ("lastPullTimestamp", info.last_pull.into()),
        ("locked", info.locked.into()),
        ("transactionMsgCount", 0.into()),
        ("transactionMsgMaxOffset", 0.into()),
        ("transactionMsgMinOffset", 0.into()),
        ("tryUnlockTimes", 0.into()),
    ])
}

fn read_queue_info(value: &Value<'_>) -> Result<ProcessQueueInfo, WireError> {
    Ok(ProcessQueueInfo {
        commit_offset: long(value, "commitOffset")?,
        cached_min: long(value, "cachedMsgMinOffset")?,
        cached_max: long(value, "cachedMsgMaxOffset")?,
        cached_count: int(value, "cachedMsgCount")?,
        cached_mib: int(value, "cachedMsgSizeInMiB")?,
        dropped: truth(value, "droped", false),
        locked: truth(value, "locked", false),
        last_lock: long(value, "lastLockTimestamp")?,
        last_pull: long(value, "lastPullTimestamp")?,
        last_consume: long(value, "lastConsumeTimestamp")?,
    })
}

fn status_value(status: &ConsumeStatus) -> Value<'_> {
    object([
        ("consumeFailedMsgs", status.consume_failed_msgs.into()),
        ("consumeFailedTPS", status.consume_failed_tps.into()),
        ("consumeOKTPS", status.consume_ok_tps.into()),
        ("consumeRT", status.consume_rt.into()),
        ("pullRT", status.pull_rt.into()),
        ("pullTPS", status.pull_tps.into()),
    ])
}

fn read_status(value: &Value<'_>) -> Result<ConsumeStatus, WireError> {
    Ok(ConsumeStatus {
        pull_rt: double(value, "pullRT")?,
        pull_tps: double(value, "pullTPS")?,
        consume_rt: double(value, "consumeRT")?,
        consume_ok_tps: double(value, "consumeOKTPS")?,
        consume_failed_tps: double(value, "consumeFailedTPS")?,
        consume_failed_msgs: long(value, "consumeFailedMsgs")?,
    })
}
