//! What `/metrics` shows: one table, from which the OpenMetrics text follows.
//!
//! Names that RocketMQ's own clients use mean the same here. Series are per topic, not per queue, so that their number
//! stays small; the queues stand in `/assignment`.

use crate::status::{Histogram, Status, TopicTally};
use evenkeel_core::model::{ClientId, Group};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::fmt;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Metric {
    /// The name of its samples; those of a histogram have a suffix.
    pub name: &'static str,
    /// What kind of number it is.
    pub kind: Kind,
    /// Its labels behind `consumer_group` and `client_id`, which all have.
    pub labels: &'static [&'static str],
    /// What it says.
    pub meaning: &'static str,
    samples: fn(&Status) -> Vec<Sample>,
}

/// Kinds of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only goes up.
    Counter,
    /// Counts values between bounds.
    Histogram,
}

/// Values of the row's labels, and the number.
type Sample = (Vec<String>, Number);

enum Number {
    Whole(u64),
    Times(Histogram),
}

/// All metrics of a consumer.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "evenkeel_assigned_queues",
        kind: Kind::Gauge,
        labels: &["topic"],
        meaning: "Queues that this member owns.",
        samples: |status| {
            let mut counts: BTreeMap<&str, u64> =
                status.tally.topics.keys().map(|topic| (topic.as_str(), 0)).collect();
            for queue in status.assignment.all_queues() {
                *counts.entry(queue.topic.as_str()).or_default() += 1;
            }
            whole(counts)
        },
    },
    Metric {
        name: "evenkeel_rebalance_total",
        kind: Kind::Counter,
        labels: &["topic", "reason"],
        meaning: "Rebalance rounds that changed something, by what started them.",
        samples: |status| {
            let by_topic = status.tally.topics.iter();
            let rounds =
                by_topic.flat_map(|(topic, tally)| tally.rebalances.iter().map(move |round| (topic, round)));
            rounds
                .map(|(topic, (reason, count))| {
                    (vec![topic.to_string(), reason.name().to_owned()], Number::Whole(*count))
                })
                .collect()
        },
    },
    Metric {
        name: "evenkeel_queues_gained_total",
        kind: Kind::Counter,
        labels: &["topic"],
        meaning: "Queues that became this member's.",
        samples: |status| topics(status, |tally| Number::Whole(tally.gained)),
    },
    Metric {
        name: "evenkeel_queues_lost_total",
        kind: Kind::Counter,
        labels: &["topic"],
        meaning: "Queues that went to other members.",
        samples: |status| topics(status, |tally| Number::Whole(tally.lost)),
    },
    Metric {
        name: "evenkeel_queue_lock_failures_total",
        kind: Kind::Counter,
        labels: &["topic"],
        meaning: "Orderly: queue locks that another member held when they were asked for, or took.",
        samples: |status| topics(status, |tally| Number::Whole(tally.lock_failures)),
    },
    Metric {
        name: "evenkeel_drain_seconds",
        kind: Kind::Histogram,
        labels: &["topic"],
        meaning: "Time from a lost queue, or from the stop, to its last commit.",
        samples: |status| topics(status, |tally| Number::Times(tally.drains.clone())),
    },
    Metric {
        name: "rocketmq_process_time",
        kind: Kind::Histogram,
        labels: &["topic", "invocation_status"],
        meaning: "Time that handlers took, in milliseconds; a batch counts once.",
        samples: |status| {
            let by_topic = status.tally.topics.iter();
            by_topic
                .flat_map(|(topic, tally)| {
                    [("success", &tally.succeeded), ("failure", &tally.failed)].map(|(how, times)| {
                        (vec![topic.to_string(), how.to_owned()], Number::Times(times.clone()))
                    })
                })
                .collect()
        },
    },
    Metric {
        name: "rocketmq_consumer_cached_messages",
        kind: Kind::Gauge,
        labels: &["topic"],
        meaning: "Messages that were fetched and are not done.",
        samples: |status| whole(cached(status, |messages, _bytes| messages)),
    },
    Metric {
        name: "rocketmq_consumer_cached_bytes",
        kind: Kind::Gauge,
        labels: &["topic"],
        meaning: "Bytes of the bodies of messages that were fetched and are not done.",
        samples: |status| whole(cached(status, |_messages, bytes| bytes)),
    },
];

/// Media type of [`text`].
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The metrics of one consumer as OpenMetrics text.
pub fn text(group: &Group, client: &ClientId, status: &Status) -> String {
    let values = METRICS.iter().map(|metric| (metric, (metric.samples)(status))).collect();
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Reading {
        group: group.to_string(),
        client: client.to_string(),
        values,
    }));
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = encode(&mut text, &registry);
    text
}

/// Values at one moment.
struct Reading {
    group: String,
    client: String,
    values: Vec<(&'static Metric, Vec<Sample>)>,
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading")
            .field("group", &self.group)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

impl Collector for Reading {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (metric, samples) in &self.values {
            let kind = match metric.kind {
                Kind::Gauge => MetricType::Gauge,
                Kind::Counter => MetricType::Counter,
                Kind::Histogram => MetricType::Histogram,
            };
            // The format has the suffix with the samples, not with the name of the family.
            let family = metric.name.strip_suffix("_total").unwrap_or(metric.name);
            let mut family = encoder.encode_descriptor(family, metric.meaning, None, kind)?;
            for (values, number) in samples {
                let mut labels =
                    vec![("consumer_group", self.group.as_str()), ("client_id", self.client.as_str())];
                labels.extend(metric.labels.iter().copied().zip(values.iter().map(String::as_str)));
                let mut sample = family.encode_family(&labels)?;
                match number {
                    Number::Whole(number) if metric.kind == Kind::Counter => {
                        sample.encode_counter::<NoLabelSet, u64, f64>(number, None)?;
                    }
                    Number::Whole(number) => sample.encode_gauge(number)?,
                    Number::Times(times) => {
                        let buckets: Vec<(f64, u64)> = times.buckets().collect();
                        sample.encode_histogram::<NoLabelSet>(times.sum(), times.count(), &buckets, None)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn topics(status: &Status, number: fn(&TopicTally) -> Number) -> Vec<Sample> {
    status.tally.topics.iter().map(|(topic, tally)| (vec![topic.to_string()], number(tally))).collect()
}

fn cached(status: &Status, which: fn(u64, u64) -> u64) -> BTreeMap<&str, u64> {
    let mut sums: BTreeMap<&str, u64> = status.tally.topics.keys().map(|topic| (topic.as_str(), 0)).collect();
    for view in &status.snapshot.queues {
        *sums.entry(view.queue.topic.as_str()).or_default() += which(view.cached as u64, view.cached_bytes);
    }
    sums
}

fn whole(counts: BTreeMap<&str, u64>) -> Vec<Sample> {
    counts.into_iter().map(|(topic, count)| (vec![topic.to_owned()], Number::Whole(count))).collect()
}
