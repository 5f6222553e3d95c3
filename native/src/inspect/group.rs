//! One group, as brokers and members told of it.

use super::progress::{Lag, Progress};
use super::silent::Silent;
use evenkeel_core::model::{Address, BrokerName, Group, MessageQueue, Topic};
use evenkeel_core::plan::{MemberSeen, Snapshot, Topics};
use evenkeel_core::time::WallClock;
use evenkeel_core::wire::bodies::{ConsumeType, ConsumerConnection, StartRule};
use evenkeel_core::wire::peer::RunningInfo;
use evenkeel_core::wire::request::MessageModel;
use std::collections::{BTreeMap, BTreeSet};

/// A group as brokers and members told of it.
#[derive(Clone, Debug)]
pub struct GroupSeen {
    /// The group.
    pub group: Group,
    /// When it was looked at, by the clock of this machine.
    pub at: WallClock,
    /// How it consumes; `None` if it has no member.
    pub kind: Option<Kind>,
    /// What its members subscribe to, its retry topic included, and where that lies. Without members: what it has
    /// committed offsets of.
    pub topics: Topics,
    /// The brokers that were asked, and where.
    pub brokers: BTreeMap<BrokerName, Address>,
    /// Topics of the group that no name server knows.
    pub unrouted: BTreeSet<Topic>,
    /// Its processes, by client id.
    pub members: Vec<Member>,
    /// How far it is on each queue that brokers told of.
    pub progress: BTreeMap<MessageQueue, Progress>,
    /// Messages consumed a second, over all brokers that answered.
    pub rate: f64,
    /// Who did not answer: if anybody is here, there may be more than what the other fields show.
    pub silent: Vec<Silent>,
}

/// How a group consumes, as its members announced it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Clustering or broadcasting.
    pub model: MessageModel,
    /// Pushed to (passively) or pulling (actively).
    pub consume_type: ConsumeType,
    /// Where queues without a committed offset start.
    pub start_from: StartRule,
}

impl Kind {
    pub(super) fn of(told: &ConsumerConnection) -> Self {
        Self { model: told.model, consume_type: told.consume_type, start_from: told.start_from }
    }
}

/// One process of a group.
#[derive(Clone, Debug)]
pub struct Member {
    /// What plans look at. Without an answer of the member, its strategy, subscriptions and queues are not known.
    ///
    /// Of two processes with one client id a broker asks one, and always the same. Both are taken to have given its
    /// answer: they compute with the same id, so they own the same.
    pub seen: MemberSeen,
    /// Where each broker sees it.
    pub connections: BTreeMap<BrokerName, String>,
    /// What it said of itself.
    pub running: Option<RunningInfo>,
}

impl Member {
    /// Whether it takes messages by pop (5.x): then the broker shares out, and what it owns is at most its retry topic.
    pub fn pops(&self) -> bool {
        self.running.as_ref().is_some_and(|info| !info.popped.is_empty())
    }

    /// Messages that it holds and has not finished with; `None` if it did not say.
    pub fn in_flight(&self) -> Option<u64> {
        let cached = |info: &RunningInfo| {
            let counts = info.queues.values().map(|queue| u64::try_from(queue.cached_count).unwrap_or(0));
            counts.sum()
        };
        self.running.as_ref().map(cached)
    }
}

impl GroupSeen {
    /// What plans and examinations take, all topics included. They are about members that share queues out: of a group
    /// that broadcasts, each member has all queues, and of one that [pops](Member::pops) none has.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            group: self.group.clone(),
            topics: self.topics.clone(),
            members: self.members.iter().map(|member| member.seen.clone()).collect(),
            strategy: None,
        }
    }

    /// The queues that can be read.
    pub fn queues(&self) -> impl Iterator<Item = MessageQueue> + '_ {
        let brokers =
            self.topics.iter().flat_map(|(topic, on)| on.iter().map(move |(name, of)| (topic, name, of)));
        brokers.filter(|(_, _, of)| of.readable).flat_map(|(topic, broker, of)| {
            let ids = 0..i32::try_from(of.read).unwrap_or(i32::MAX);
            ids.map(|id| MessageQueue { topic: topic.clone(), broker: broker.clone(), id })
        })
    }

    /// Messages that wait in one queue; `None` if that is not known.
    pub fn lag_of(&self, queue: &MessageQueue) -> Option<u64> {
        self.progress.get(queue)?.lag()
    }

    /// Messages that wait, in all queues that can be read or that brokers told of.
    pub fn lag(&self) -> Lag {
        let queues: BTreeSet<MessageQueue> = self.queues().chain(self.progress.keys().cloned()).collect();
        queues.iter().map(|queue| self.lag_of(queue)).collect()
    }

    /// Messages that members hold; `None` if one did not say.
    pub fn in_flight(&self) -> Option<u64> {
        self.members.iter().map(Member::in_flight).sum()
    }
}
