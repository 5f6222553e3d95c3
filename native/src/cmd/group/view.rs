//! What of a group is shown, and the figures of each part of it.

use evenkeel::inspect::{GroupSeen, Lag, Member};
use evenkeel::{ClientId, MessageQueue, Topic};
use evenkeel_core::model::BrokerName;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A group, and which part of it is wanted.
pub(super) struct View<'a> {
    pub(super) seen: &'a GroupSeen,
    /// One topic, or all.
    pub(super) topic: Option<Topic>,
    /// Whether the retry topic is among them.
    pub(super) retry: bool,
    queues: BTreeSet<MessageQueue>,
    owners: BTreeMap<&'a MessageQueue, Vec<&'a ClientId>>,
}

/// Figures of several queues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    pub(super) lag: Lag,
    pub(super) oldest: Oldest,
}

/// How long the oldest message waits.
///
/// Brokers tell when the message was stored that was consumed last; whatever waits came after it, so this is the most
/// that it can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Oldest {
    /// Nothing waits.
    Nothing,
    /// No longer than this.
    AtMost(Duration),
    /// Something waits, or may.
    Unknown,
}

impl<'a> View<'a> {
    /// `topic` shows that one only, the retry topic included if it is meant.
    pub(super) fn new(seen: &'a GroupSeen, topic: Option<Topic>, retry: bool) -> Self {
        let retry = retry || topic.as_ref().is_some_and(Topic::is_retry);
        let mut owners: BTreeMap<&MessageQueue, Vec<&ClientId>> = BTreeMap::new();
        for member in &seen.members {
            for queue in member.seen.owned.iter().flatten() {
                owners.entry(queue).or_default().push(&member.seen.id);
            }
        }
        let mut view = Self { seen, topic, retry, queues: BTreeSet::new(), owners };
        let queues = seen.queues().chain(seen.progress.keys().cloned());
        view.queues = queues.filter(|queue| view.shows(&queue.topic)).collect();
        view
    }

    /// Whether this topic is wanted.
    pub(super) fn shows(&self, topic: &Topic) -> bool {
        self.topic.as_ref().is_none_or(|wanted| wanted == topic) && (self.retry || !topic.is_retry())
    }

    /// The queues that are wanted.
    pub(super) fn queues(&self) -> &BTreeSet<MessageQueue> {
        &self.queues
    }

    /// The topics that are wanted and have queues.
    pub(super) fn topics(&self) -> Vec<&Topic> {
        self.seen.topics.keys().filter(|topic| self.shows(topic)).collect()
    }

    /// The queues of a member that are wanted; `None` if it did not say.
    pub(super) fn owned(&self, member: &'a Member) -> Option<Vec<&'a MessageQueue>> {
        let owned = member.seen.owned.as_ref()?;
        Some(owned.iter().filter(|queue| self.shows(&queue.topic)).collect())
    }

    /// Who says to own a queue.
    pub(super) fn owners(&self, queue: &MessageQueue) -> &[&'a ClientId] {
        self.owners.get(queue).map_or(&[], Vec::as_slice)
    }

    /// Whether every member has said what it owns, so that a queue without owner has none.
    pub(super) fn owners_are_known(&self) -> bool {
        self.seen.members.iter().all(|member| member.seen.owned.is_some())
    }

    /// The queues of a broker that are wanted.
    pub(super) fn on(&self, broker: &BrokerName) -> Vec<&MessageQueue> {
        self.queues.iter().filter(|queue| queue.broker == *broker).collect()
    }

    /// Figures of all that is asked about: one topic, or the group with its retry topic, shown or not.
    pub(super) fn total(&self) -> Figures {
        match &self.topic {
            Some(_) => self.figures(self.queues.iter()),
            None => {
                let all: BTreeSet<MessageQueue> =
                    self.seen.queues().chain(self.seen.progress.keys().cloned()).collect();
                self.figures(all.iter())
            }
        }
    }

    /// What waits in retry topics that are not shown.
    pub(super) fn hidden_lag(&self) -> Lag {
        let hidden = |queue: &&MessageQueue| queue.topic.is_retry() && !self.retry && self.topic.is_none();
        self.seen.progress.keys().filter(hidden).map(|queue| self.seen.lag_of(queue)).collect()
    }

    /// Figures of these queues.
    pub(super) fn figures<'q>(&self, queues: impl IntoIterator<Item = &'q MessageQueue>) -> Figures {
        let mut figures = Figures { lag: Lag::default(), oldest: Oldest::Nothing };
        for queue in queues {
            figures.lag += self.seen.lag_of(queue);
            figures.oldest = figures.oldest.max(self.oldest(queue));
        }
        figures
    }

    fn oldest(&self, queue: &MessageQueue) -> Oldest {
        let Some(progress) = self.seen.progress.get(queue) else { return Oldest::Unknown };
        match (progress.lag(), progress.last_consumed) {
            (Some(0), _) => Oldest::Nothing,
            (Some(_), Some(at)) => {
                // The clocks of two machines: what comes from the future is new.
                let age = self.seen.at.as_millis().saturating_sub(at.as_millis());
                Oldest::AtMost(Duration::from_millis(u64::try_from(age).unwrap_or(0)))
            }
            _ => Oldest::Unknown,
        }
    }

    /// The strategies that members run, with how many do. Those that did not say are under `None`.
    pub(super) fn strategies(&self) -> BTreeMap<Option<String>, usize> {
        let mut counts = BTreeMap::new();
        for member in &self.seen.members {
            *counts.entry(member.seen.strategy_name()).or_default() += 1;
        }
        counts
    }
}
