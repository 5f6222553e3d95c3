//! What a consumer is doing and what it has counted: for metrics, health checks and status pages.

use crate::assignment::Assignment;
use evenkeel_core::consumer::Snapshot;
use evenkeel_core::consumer::io::{Event, Outcome, RebalanceReason};
use evenkeel_core::model::{MessageQueue, Topic};
use evenkeel_core::time::Instant;
use std::collections::BTreeMap;
use std::time::Duration;

/// Upper bounds of the times of handlers, in milliseconds.
const HANDLER_MILLIS: &[f64] = &[1.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1_000.0, 10_000.0, 60_000.0];
/// Upper bounds of the times of drains, in seconds.
const DRAIN_SECONDS: &[f64] = &[0.01, 0.05, 0.1, 0.5, 1.0, 3.0, 10.0, 30.0, 60.0];

/// A picture of a consumer, as [`Consumer::status`](crate::Consumer::status) takes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// Its queues, with offsets and what is cached.
    pub snapshot: Snapshot,
    /// The queues that are ours.
    pub assignment: Assignment,
    /// What was counted since the start.
    pub tally: Tally,
    /// Whether it pulls nothing although it is a member.
    pub quiet: bool,
    /// Whether it has begun to stop.
    pub stopping: bool,
}

/// What a consumer has counted since its start, by topic. The retry topic is one of them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Tally {
    /// The topics.
    pub topics: BTreeMap<Topic, TopicTally>,
    /// Queues that are ours no longer but have not ended yet, since when.
    leaving: BTreeMap<MessageQueue, Instant>,
}

/// Counts of one topic.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TopicTally {
    /// Rebalance rounds that changed something, by what started them.
    pub rebalances: BTreeMap<RebalanceReason, u64>,
    /// Queues that became ours.
    pub gained: u64,
    /// Queues that we lost to other members.
    pub lost: u64,
    /// Orderly: queue locks that another member held when they were asked for, or took.
    pub lock_failures: u64,
    /// Times of handlers that were content, in milliseconds; a batch counts once.
    pub succeeded: Histogram,
    /// Times of handlers that want their messages again, in milliseconds.
    pub failed: Histogram,
    /// Times from a lost queue, or from the stop, to its last commit, in seconds.
    pub drains: Histogram,
}

impl Default for TopicTally {
    fn default() -> Self {
        Self {
            rebalances: BTreeMap::new(),
            gained: 0,
            lost: 0,
            lock_failures: 0,
            succeeded: Histogram::new(HANDLER_MILLIS),
            failed: Histogram::new(HANDLER_MILLIS),
            drains: Histogram::new(DRAIN_SECONDS),
        }
    }
}

impl Tally {
    pub(crate) fn event(&mut self, now: Instant, event: &Event) {
        match event {
            Event::Rebalanced { topic, reason, gained, lost, .. } => {
                for queue in gained {
                    self.leaving.remove(queue);
                }
                self.leaving.extend(lost.iter().map(|queue| (queue.clone(), now)));
                let tally = self.topic(topic);
                *tally.rebalances.entry(*reason).or_default() += 1;
                tally.gained += gained.len() as u64;
                tally.lost += lost.len() as u64;
            }
            Event::QueueEnded { queue, .. } => {
                if let Some(since) = self.leaving.remove(queue) {
                    self.topic(&queue.topic).drains.add(now.since(since).as_secs_f64());
                }
            }
            Event::LockRefused { queue, .. } | Event::LockLost { queue } => {
                self.topic(&queue.topic).lock_failures += 1;
            }
            _ => {}
        }
    }

    /// All of these queues will end.
    pub(crate) fn stop<'a>(&mut self, now: Instant, queues: impl Iterator<Item = &'a MessageQueue>) {
        for queue in queues {
            self.leaving.entry(queue.clone()).or_insert(now);
        }
    }

    /// A handler has ended. One that put its messages back has not worked on them.
    pub(crate) fn handled(&mut self, topic: &Topic, outcome: &Outcome, took: Duration) {
        let tally = self.topic(topic);
        let times = match outcome {
            Outcome::Done => &mut tally.succeeded,
            Outcome::Retry { .. } | Outcome::Suspend { .. } => &mut tally.failed,
            Outcome::PutBack => return,
        };
        times.add(took.as_secs_f64() * 1_000.0);
    }

    fn topic(&mut self, topic: &Topic) -> &mut TopicTally {
        self.topics.entry(topic.clone()).or_default()
    }
}

/// How often values fell between fixed bounds.
#[derive(Clone, Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    /// One more than bounds: the last is for what lies above all of them.
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len() + 1], sum: 0.0 }
    }

    fn add(&mut self, value: f64) {
        let at = self.bounds.iter().position(|bound| value <= *bound).unwrap_or(self.bounds.len());
        if let Some(count) = self.counts.get_mut(at) {
            *count += 1;
        }
        self.sum += value;
    }

    /// Each upper bound, the last infinite, with the number of values between it and the one before.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        self.bounds.iter().copied().chain([f64::INFINITY]).zip(self.counts.iter().copied())
    }

    /// How many values there were.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all values.
    pub fn sum(&self) -> f64 {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_core::consumer::io::Failure;

    fn queue(id: i32) -> MessageQueue {
        MessageQueue::new("orders", "a", id)
    }

    fn rebalanced(gained: Vec<MessageQueue>, lost: Vec<MessageQueue>) -> Event {
        let (topic, reason) = (Topic::from("orders"), RebalanceReason::MembersChanged);
        Event::Rebalanced {
            generation: 1,
            topic,
            reason,
            members: 2,
            queues: 4,
            assigned: vec![],
            gained,
            lost,
        }
    }

    fn ended(queue: MessageQueue) -> Event {
        Event::QueueEnded { queue, commit_point: 0, abandoned: 0 }
    }

    #[test]
    fn a_drain_lasts_from_the_loss_to_the_end_of_the_queue() {
        let mut tally = Tally::default();
        let at = Instant::from_millis;
        tally.event(at(0), &rebalanced(vec![queue(0), queue(1), queue(2)], vec![]));
        tally.event(at(1_000), &rebalanced(vec![], vec![queue(0), queue(1)]));
        tally.event(at(1_200), &ended(queue(0)));
        tally.event(at(1_300), &rebalanced(vec![queue(1)], vec![]));
        tally.event(at(1_400), &ended(queue(1))); // the life before, which is not drained any more
        tally.stop(at(2_000), [queue(2)].iter());
        tally.event(at(2_600), &ended(queue(2)));
        let topic = &tally.topics[&Topic::from("orders")];
        assert_eq!((topic.gained, topic.lost, topic.rebalances[&RebalanceReason::MembersChanged]), (4, 2, 3));
        assert_eq!(topic.drains.count(), 2);
        assert!((topic.drains.sum() - 0.8).abs() < 1e-9);
    }

    #[test]
    fn handlers_are_counted_by_how_they_ended() {
        let mut tally = Tally::default();
        let retry = Outcome::Retry { done: 0, delay_level: 0, why: Failure::Asked };
        for (outcome, millis) in
            [(Outcome::Done, 5), (Outcome::Done, 70_000), (retry, 6), (Outcome::PutBack, 1)]
        {
            tally.handled(&Topic::from("orders"), &outcome, Duration::from_millis(millis));
        }
        let topic = &tally.topics[&Topic::from("orders")];
        let filled =
            |histogram: &Histogram| histogram.buckets().filter(|(_, count)| *count > 0).collect::<Vec<_>>();
        assert_eq!(filled(&topic.succeeded), [(5.0, 1), (f64::INFINITY, 1)]);
        assert_eq!(filled(&topic.failed), [(10.0, 1)]);
    }
}
