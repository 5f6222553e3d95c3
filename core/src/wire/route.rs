//! Queues that follow from a route. (Stub until the codec lands.)

use super::reply::TopicRoute;
use crate::model::{MessageQueue, Topic};
use alloc::vec::Vec;

/// Readable queues.
pub fn subscribe_queues(route: &TopicRoute, topic: &Topic) -> Vec<MessageQueue> {
    let readable = route.queues.iter().filter(|data| data.perm & 4 != 0);
    readable
        .flat_map(|data| {
            (0..data.read_queues).map(|id| MessageQueue::new(topic.clone(), data.broker.clone(), id))
        })
        .collect()
}
