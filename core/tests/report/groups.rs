//! Groups to report on, in few words.

use evenkeel_core::model::Group;
use evenkeel_core::report::{BrokerSeen, Change, ConsumerSeen, QueueRef, Snapshot, TopicSeen};

/// A topic with so many queues on each broker.
pub(crate) fn topic(name: &str, brokers: &[(&str, i64)]) -> TopicSeen {
    let on = |&(broker, read_queues): &(&str, i64)| BrokerSeen {
        broker: broker.into(),
        read_queues,
        readable: true,
    };
    TopicSeen { topic: name.into(), brokers: brokers.iter().map(on).collect() }
}

/// A group of these consumers.
pub(crate) fn group(topics: Vec<TopicSeen>, ids: &[&str]) -> Snapshot {
    Snapshot {
        topics,
        consumers: ids.iter().map(|&id| ConsumerSeen::new(id)).collect(),
        ..Snapshot::new(Some(Group::from("pay-worker")))
    }
}

/// The group of the transcripts: 16 queues on two brokers, three consumers.
pub(crate) fn pay_worker() -> Snapshot {
    group(
        vec![topic("orders", &[("broker-a", 8), ("broker-b", 8)])],
        &["10.0.3.11@7#812", "10.0.3.12@7#944", "10.0.3.13@7#377"],
    )
}

/// A change, as it is written.
pub(crate) fn change(json: &str) -> Change {
    serde_json::from_str(json).expect(json)
}

/// `broker/id`
pub(crate) fn short(queue: &QueueRef) -> String {
    format!("{}/{}", queue.broker, queue.id)
}
