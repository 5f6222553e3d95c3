//! Rates of the last minute, by topic: what `mqadmin consumerStatus -i` and the consoles show of a member.
//!
//! Java takes a sample of its counters every ten seconds and compares the last with the one a minute ago. Here what happens
//! is counted into slots of ten seconds, and the last six and the present one are summed up when somebody asks. Times are
//! means over the same minute; failures are also counted over the last hour.

use super::Consumer;
use crate::model::Topic;
use crate::time::{Duration, Instant};
use crate::wire::peer::ConsumeStatus;
use alloc::collections::{BTreeMap, VecDeque};

/// One slot of the minute.
const SLOT: Duration = Duration::from_secs(10);
/// Whole slots that are looked back at.
const SLOTS: u64 = 6;
/// One slot of the hour.
const LONG_SLOT: Duration = Duration::from_secs(60);
/// Whole slots that are looked back at.
const LONG_SLOTS: u64 = 60;

/// Counts of all topics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates {
    topics: BTreeMap<Topic, Counts>,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    minute: VecDeque<(u64, Slot)>,
    /// Failed messages.
    hour: VecDeque<(u64, u64)>,
}

/// What happened within ten seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    pulls: u64,
    pulled: u64,
    pull_time: Duration,
    deliveries: u64,
    handler_time: Duration,
    done: u64,
    failed: u64,
}

impl Slot {
    fn add(&mut self, other: &Self) {
        self.pulls += other.pulls;
        self.pulled += other.pulled;
        self.pull_time += other.pull_time;
        self.deliveries += other.deliveries;
        self.handler_time += other.handler_time;
        self.done += other.done;
        self.failed += other.failed;
    }
}

fn number(at: Instant, slot: Duration) -> u64 {
    u64::try_from(at.since(Instant::ZERO).as_nanos() / slot.as_nanos().max(1)).unwrap_or(u64::MAX)
}

/// The present slot, after those that nobody looks back at any more are gone.
fn present<T: Default>(slots: &mut VecDeque<(u64, T)>, now: u64, keep: u64) -> &mut T {
    while slots.front().is_some_and(|(number, _)| number + keep < now) {
        slots.pop_front();
    }
    if slots.back().is_none_or(|(number, _)| *number != now) {
        slots.push_back((now, T::default()));
    }
    let last = slots.len() - 1;
    &mut slots[last].1
}

impl Rates {
    /// A pull was answered with messages.
    pub(super) fn pulled(&mut self, now: Instant, topic: &Topic, messages: usize, took: Duration) {
        let slot = self.slot(now, topic);
        slot.pulls += 1;
        slot.pulled += messages as u64;
        slot.pull_time += took;
    }

    /// A handler has ended.
    pub(super) fn handled(
        &mut self,
        now: Instant,
        topic: &Topic,
        done: usize,
        failed: usize,
        took: Duration,
    ) {
        let slot = self.slot(now, topic);
        slot.deliveries += 1;
        slot.handler_time += took;
        slot.done += done as u64;
        slot.failed += failed as u64;
        if failed > 0 {
            let counts = self.topics.entry(topic.clone()).or_default();
            *present(&mut counts.hour, number(now, LONG_SLOT), LONG_SLOTS) += failed as u64;
        }
    }

    fn slot(&mut self, now: Instant, topic: &Topic) -> &mut Slot {
        let counts = self.topics.entry(topic.clone()).or_default();
        present(&mut counts.minute, number(now, SLOT), SLOTS)
    }

    pub(super) fn forget(&mut self, topic: &Topic) {
        self.topics.remove(topic);
    }

    fn status(&self, now: Instant, started: Instant, topic: &Topic) -> ConsumeStatus {
        let Some(counts) = self.topics.get(topic) else { return ConsumeStatus::default() };
        let (this, this_long) = (number(now, SLOT), number(now, LONG_SLOT));
        let mut sum = Slot::default();
        for (_, slot) in counts.minute.iter().filter(|(number, _)| number + SLOTS >= this) {
            sum.add(slot);
        }
        let failed = counts.hour.iter().filter(|(number, _)| number + LONG_SLOTS >= this_long);
        // What is looked back at begins with a slot, and not before the consumer did.
        let begin = SLOT.saturating_mul(u32::try_from(this.saturating_sub(SLOTS)).unwrap_or(u32::MAX));
        let span = now.since(started.max(Instant::ZERO + begin)).as_secs_f64().max(1.0);
        let rate = |count: u64| count as f64 / span;
        let mean = |time: Duration, count: u64| time.as_secs_f64() * 1_000.0 / count.max(1) as f64;
        ConsumeStatus {
            pull_rt: mean(sum.pull_time, sum.pulls),
            pull_tps: rate(sum.pulled),
            consume_rt: mean(sum.handler_time, sum.deliveries),
            consume_ok_tps: rate(sum.done),
            consume_failed_tps: rate(sum.failed),
            consume_failed_msgs: failed.map(|(_, count)| i64::try_from(*count).unwrap_or(i64::MAX)).sum(),
        }
    }
}

impl Consumer {
    /// Of every topic that is subscribed to, the retry topic included.
    pub(super) fn consume_status(&self) -> BTreeMap<Topic, ConsumeStatus> {
        let status = |topic: &Topic| (topic.clone(), self.rates.status(self.now, self.started, topic));
        self.subscriptions.keys().map(status).collect()
    }
}
