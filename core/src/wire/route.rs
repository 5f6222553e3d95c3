//! Which queues follow from a route.

use crate::model::{BrokerName, MessageQueue, Topic};
use crate::wire::reply::{QueueData, TopicRoute};
use alloc::vec::Vec;

/// Permission bit of a topic on a broker: consumers may read.
pub const PERM_READ: i32 = 4;
/// Permission bit of a topic on a broker: producers may write.
pub const PERM_WRITE: i32 = 2;
/// Broker id of a master.
pub const MASTER_ID: i64 = 0;

/// Queues that consumers of the topic share, sorted, each once.
///
/// Every broker with the read bit counts, even one without a master or without any address
/// (rocketmq:client/src/main/java/org/apache/rocketmq/client/impl/factory/MQClientInstance.java,
/// `topicRouteData2TopicSubscribeInfo`).
pub fn subscribe_queues(route: &TopicRoute, topic: &Topic) -> Vec<MessageQueue> {
    let readable = route.queues.iter().filter(|queues| queues.perm & PERM_READ != 0);
    let mut queues: Vec<_> =
        readable.flat_map(|queues| numbered(topic, &queues.broker, queues.read_queues)).collect();
    queues.sort();
    queues.dedup();
    queues
}

/// Queues that a producer sends to, in its order of turns.
///
/// The order configuration (`brokerA:4;brokerB:4`) decides if there is one; else each broker, by name, that has the
/// write bit and a master (same source, `topicRouteData2TopicPublishInfo`).
pub fn publish_queues(route: &TopicRoute, topic: &Topic) -> Vec<MessageQueue> {
    if let Some(conf) = route.order_conf.as_deref().filter(|conf| !conf.is_empty()) {
        return conf.split(';').flat_map(|entry| ordered(topic, entry)).collect();
    }
    let mut writable: Vec<&QueueData> =
        route.queues.iter().filter(|queues| queues.perm & PERM_WRITE != 0).collect();
    writable.sort_by(|a, b| a.broker.cmp(&b.broker));
    writable
        .into_iter()
        .filter(|queues| has_master(route, &queues.broker))
        .flat_map(|queues| numbered(topic, &queues.broker, queues.write_queues))
        .collect()
}

fn has_master(route: &TopicRoute, name: &BrokerName) -> bool {
    let broker = route.brokers.iter().find(|broker| broker.broker == *name);
    broker.is_some_and(|broker| broker.addresses.contains_key(&MASTER_ID))
}

/// The queues of one entry `broker:count` of the order configuration; none if it has no count.
fn ordered(topic: &Topic, entry: &str) -> impl Iterator<Item = MessageQueue> {
    let (broker, count) = entry.split_once(':').unwrap_or((entry, ""));
    numbered(topic, &BrokerName::from(broker), count.parse().unwrap_or(0))
}

/// Most queues of one topic on one broker that are taken from a route: a hostile number must not fill the memory.
const MAX_QUEUES: i32 = 65_536;

fn numbered(topic: &Topic, broker: &BrokerName, count: i32) -> impl Iterator<Item = MessageQueue> + use<> {
    let (topic, broker) = (topic.clone(), broker.clone());
    (0..count.min(MAX_QUEUES)).map(move |id| MessageQueue {
        topic: topic.clone(),
        broker: broker.clone(),
        id,
    })
}
