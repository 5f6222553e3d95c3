//! Groups to plan with, in few words.

use evenkeel_core::model::ClientId;
use evenkeel_core::plan::Layout;

/// Client ids `c01`, `c02` and so on.
pub(crate) fn members(count: usize) -> Vec<ClientId> {
    (1..=count).map(|n| ClientId::from(format!("c{n:02}"))).collect()
}

/// One topic on one broker.
pub(crate) fn one_topic(queues: u32, count: usize) -> Layout {
    Layout::new("g", members(count)).with_queues("T", "broker-a", queues)
}

/// So many topics, each with its queues on one broker.
pub(crate) fn many_topics(topics: usize, queues: u32, count: usize) -> Layout {
    (0..topics).fold(Layout::new("g", members(count)), |layout, topic| {
        layout.with_queues(format!("T{topic:02}"), "broker-a", queues)
    })
}
