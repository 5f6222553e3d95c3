//! The line that a Java client logs when its queues change.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::Kind;
use super::found::{Found, Share, beginning};
use super::tables::queue;
use crate::model::{ClientId, RETRY_PREFIX, Topic};
use crate::plan::said;
use crate::report::{ConsumerSeen, MAX_NAME};

const MARK: &str = "rebalanced result changed. ";

/// Whether a line is one of these, whatever its logger writes before it.
pub(super) fn is_one(line: &str) -> bool {
    line.contains(MARK)
}

pub(super) fn read(found: &mut Found, line: &str, number: usize) {
    if line.contains("broker rebalanced result changed. ") {
        let expected = said!(
            "a group whose clients share the queues: here the brokers do",
            "由客户端分配队列的消费组：这里由 Broker 分配"
        );
        found.problem(number, 1, line, expected);
        return;
    }
    let Some((_, fields)) = line.split_once(MARK) else { return };
    let field = |name: &str| {
        let (_, after) = fields.split_once(name)?;
        let value = after.split(", ").next()?;
        (!value.is_empty() && value.len() <= MAX_NAME).then_some(value)
    };
    let told = (
        field("allocateMessageQueueStrategyName="),
        field("group="),
        field("topic="),
        field("clientId="),
        fields.split_once("rebalanceResultSet="),
    );
    let (Some(strategy), Some(group), Some(topic), Some(id), Some((_, set))) = told else {
        let expected = said!(
            "allocateMessageQueueStrategyName, group, topic, clientId and rebalanceResultSet",
            "allocateMessageQueueStrategyName、group、topic、clientId 和 rebalanceResultSet"
        );
        found.problem(number, 1, line, expected);
        return;
    };
    let queues = match queues(set, topic) {
        Some(queues) => queues,
        None => {
            let expected = said!(
                "rebalanceResultSet=[MessageQueue [topic=…, brokerName=…, queueId=…], …], to its last bracket",
                "rebalanceResultSet=[MessageQueue [topic=…, brokerName=…, queueId=…], …]，直到最后一个括号"
            );
            found.problem(number, 1, line, expected);
            return;
        }
    };
    let size = field("rebalanceResultSize=").and_then(|size| size.parse::<usize>().ok());
    if size.is_some_and(|size| size != queues.len()) {
        let there = queues.len();
        let expected = said!(
            "as many queues as rebalanceResultSize says; there are {there}",
            "与 rebalanceResultSize 相同的队列数；这里有 {there} 个"
        );
        found.problem(number, 1, line, expected);
        return;
    }
    found.is_a(Kind::ClientLog);
    found.group(group, number, line);
    found.consumers([ConsumerSeen { strategy: Some(strategy.to_string()), ..ConsumerSeen::new(id) }]);
    let topic = Topic::from(topic);
    queues.iter().for_each(|queue| found.queue(queue));
    found.topics.entry(topic.clone()).or_default();
    if !topic.as_str().starts_with(RETRY_PREFIX) {
        found.subscribed.insert(topic.clone());
    }
    let share = Share {
        paste: 0,
        line: number,
        text: beginning(line),
        queues,
        all_queues: field("mqAllSize=").and_then(|size| size.parse().ok()),
        all_consumers: field("cidAllSize=").and_then(|size| size.parse().ok()),
    };
    found.shares.insert((topic, ClientId::from(id)), share);
}

/// `[MessageQueue [topic=orders, brokerName=broker-a, queueId=0], …]`
fn queues(set: &str, topic: &str) -> Option<Vec<crate::model::MessageQueue>> {
    let inside = set.trim().strip_prefix('[')?.strip_suffix(']')?;
    if inside.is_empty() {
        return Some(Vec::new());
    }
    // Each ends in a bracket, which the last but one of the line is.
    let entries = inside.strip_suffix(']')?.split("], ");
    let one = |entry: &str| {
        let fields = entry.strip_prefix("MessageQueue [topic=")?;
        let (name, fields) = fields.split_once(", brokerName=")?;
        let (broker, id) = fields.rsplit_once(", queueId=")?;
        (name == topic).then(|| queue(name, broker, id)).flatten()
    };
    entries.map(one).collect()
}
