//! What a consumer looks like from outside: for status pages, tests, and brokers that ask.

use super::pop::PopLife;
use super::queue::{AssignedQueue, Phase};
use super::{Consumer, Run};
use crate::config::OPTIONS;
use crate::model::{MessageQueue, Topic};
use crate::time::Instant;
use crate::wire::code::PROTOCOL_VERSION_NAME;
use crate::wire::peer::{PopQueueInfo, ProcessQueueInfo, RunningInfo};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

/// A read-only picture of a consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Rebalance rounds that changed something.
    pub generation: u64,
    /// Queues in the table, in Java's order, those on their way out included.
    pub queues: Vec<QueueView>,
    /// Deliveries whose outcome is awaited.
    pub delivered: usize,
    /// Calls in flight.
    pub calls: usize,
    /// Whether it has stopped.
    pub stopped: bool,
}

/// One queue of a [`Snapshot`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueView {
    /// The queue.
    pub queue: MessageQueue,
    /// `locking`, `locating`, `fetching`, `draining` or `closing`; of an entry that is popped `popping` or `draining`.
    pub phase: &'static str,
    /// Everything below it is done; `None` while the start is being found out.
    pub commit_point: Option<i64>,
    /// What the broker confirmed.
    pub committed: Option<i64>,
    /// First offset not pulled yet.
    pub next: i64,
    /// One past the broker's last offset, as of the last pull.
    pub max: i64,
    /// Messages held.
    pub cached: usize,
    /// Body bytes held.
    pub cached_bytes: u64,
    /// Deliveries with handlers.
    pub running: usize,
    /// Whether it is paused: nothing of it is pulled or handed out.
    pub paused: bool,
    /// Whether its lock is ours now; always false where no locks are needed.
    pub locked: bool,
}

impl Consumer {
    /// A picture of now.
    pub fn snapshot(&self) -> Snapshot {
        let view = |life: &AssignedQueue| QueueView {
            queue: life.queue.clone(),
            phase: match life.phase {
                Phase::Locating { .. } if !self.is_licensed(life) => "locking",
                Phase::Locating { .. } => "locating",
                Phase::Fetching => "fetching",
                Phase::Draining => "draining",
                Phase::Closing => "closing",
            },
            commit_point: life.commit_point(),
            committed: life.committed,
            next: life.window.next(),
            max: life.max,
            cached: life.window.count(),
            cached_bytes: life.window.bytes(),
            running: life.running.len(),
            paused: self.paused.has(&life.queue),
            locked: self.has_lock(life),
        };
        let mut queues: Vec<QueueView> = self.in_order().map(view).collect();
        queues.extend(self.pops.in_order().map(|life| self.pop_view(life)));
        queues.sort_by(|a, b| a.queue.cmp(&b.queue));
        Snapshot {
            generation: self.rebalance.generation,
            queues,
            delivered: self.delivered.len(),
            calls: self.calls.len(),
            stopped: matches!(self.run, Run::Stopped),
        }
    }

    fn pop_view(&self, life: &PopLife) -> QueueView {
        QueueView {
            queue: life.queue.clone(),
            phase: if life.leaving { "draining" } else { "popping" },
            commit_point: None,
            committed: None,
            next: -1,
            max: -1,
            cached: life.held(),
            cached_bytes: life.bytes(),
            running: life.running(),
            paused: self.paused.has(&life.queue),
            locked: false,
        }
    }

    fn in_order(&self) -> impl Iterator<Item = &AssignedQueue> {
        self.queues.table.values().filter_map(|epoch| self.queues.lives.get(epoch))
    }

    /// Commit points of one topic's queues, or of all.
    pub(super) fn offsets_of(&self, topic: Option<&Topic>) -> BTreeMap<MessageQueue, i64> {
        self.in_order()
            .filter(|life| topic.is_none_or(|topic| life.queue.topic == *topic))
            .filter_map(|life| Some((life.queue.clone(), life.commit_point()?)))
            .collect()
    }

    pub(super) fn running_info(&self) -> RunningInfo {
        let mut properties: BTreeMap<String, String> = OPTIONS
            .iter()
            .map(|row| {
                let name = if row.java.is_empty() { row.name } else { row.java };
                (name.to_string(), row.text(&self.config.limits))
            })
            .collect();
        let mut name_servers = String::new();
        for address in self.routes.name_servers() {
            // Writing to a String cannot fail.
            let _ = write!(name_servers, "{address};");
        }
        properties.extend(
            [
                ("PROP_CONSUMEORDERLY", self.config.orderly.to_string()),
                ("PROP_CONSUME_TYPE", "CONSUME_PASSIVELY".to_string()),
                ("PROP_CLIENT_VERSION", PROTOCOL_VERSION_NAME.to_string()),
                ("PROP_THREADPOOL_CORE_SIZE", self.config.limits.concurrency.to_string()),
                ("PROP_CONSUMER_START_TIMESTAMP", self.wall.as_millis().to_string()),
                ("PROP_NAMESERVER_ADDR", name_servers),
                ("consumerGroup", self.config.group.to_string()),
                ("messageModel", self.config.model.name().to_string()),
                ("consumeFromWhere", self.config.start_from.name().to_string()),
                ("allocateMessageQueueStrategy", self.config.strategy.name().to_string()),
            ]
            .map(|(name, value)| (name.to_string(), value)),
        );
        let wall = |at: Option<Instant>| at.map_or(0, |at| (self.wall + at.since(self.started)).as_millis());
        let info = |life: &AssignedQueue| {
            let (cached_min, cached_max) = life.window.ends().unwrap_or((0, 0));
            let info = ProcessQueueInfo {
                commit_offset: life.commit_point().unwrap_or(-1),
                cached_min,
                cached_max,
                cached_count: i32::try_from(life.window.count()).unwrap_or(i32::MAX),
                cached_mib: i32::try_from(life.window.bytes() >> 20).unwrap_or(i32::MAX),
                dropped: !life.is_held(),
                locked: self.has_lock(life),
                last_lock: wall(life.lease.granted),
                last_pull: wall(life.last_pull),
                last_consume: wall(life.last_outcome),
            };
            (life.queue.clone(), info)
        };
        let popped = |life: &PopLife| {
            let waiting_ack = i32::try_from(life.held()).unwrap_or(i32::MAX);
            let info = PopQueueInfo { dropped: life.leaving, last_pop: wall(life.last_pop), waiting_ack };
            (life.queue.clone(), info)
        };
        RunningInfo {
            properties,
            subscriptions: self.subscription_data(),
            queues: self.in_order().map(info).collect(),
            popped: self.pops.in_order().map(popped).collect(),
            status: self.consume_status(),
        }
    }
}
