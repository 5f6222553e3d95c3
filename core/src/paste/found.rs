//! What pastes have told so far, before names are matched.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use super::{Kind, MAX_PROBLEMS, Problem};
use crate::model::{BrokerName, ClientId, Group, MessageQueue, Topic};
use crate::plan::{Language, Said, said};
use crate::report::{ConsumerSeen, Snapshot, Strategy};

/// A [`Problem`] in both languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) paste: usize,
    pub(super) line: usize,
    pub(super) lines: usize,
    pub(super) text: Said,
    pub(super) expected: Said,
}

impl Noted {
    pub(super) fn told(self, language: Language) -> Problem {
        Problem {
            paste: self.paste,
            line: self.line,
            lines: self.lines,
            text: self.text.into_language(language),
            expected: self.expected.into_language(language),
        }
    }
}

/// The queues of a topic on a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queues {
    pub(super) read: i64,
    pub(super) readable: bool,
    /// Whether the number was told, or is only the highest queue that was seen.
    pub(super) told: bool,
}

pub(super) type Brokers = BTreeMap<BrokerName, Queues>;

/// Queues of a topic whose name was not told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unnamed {
    pub(super) paste: usize,
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) brokers: Brokers,
}

/// What a client logged last about a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) paste: usize,
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) queues: Vec<MessageQueue>,
    /// How many queues and consumers it reckoned with.
    pub(super) all_queues: Option<usize>,
    pub(super) all_consumers: Option<usize>,
}

impl Share {
    /// Later lines have higher ones.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.paste, self.line)
    }
}

/// Who owns a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Nobody, or someone who did not say so.
    Nobody,
    /// These ids.
    Ids(Vec<ClientId>),
    /// Someone on this host.
    Host(String),
}

/// Everything that was told.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    pub(super) kinds: Vec<Kind>,
    pub(super) lines: usize,
    /// How many texts it comes from.
    pub(super) pastes: usize,
    pub(super) group: Option<Group>,
    pub(super) taken_at: Option<String>,
    pub(super) redacted: bool,
    pub(super) topics: BTreeMap<Topic, Brokers>,
    pub(super) unnamed: Vec<Unnamed>,
    /// Topics that the group subscribes to.
    pub(super) subscribed: BTreeSet<Topic>,
    /// Names that fill the width of their column, and may be cut.
    pub(super) cut_topics: BTreeMap<Topic, (usize, usize)>,
    pub(super) cut_brokers: BTreeMap<BrokerName, (usize, usize)>,
    pub(super) consumers: Vec<ConsumerSeen>,
    /// Where each client id stands among them.
    places: BTreeMap<ClientId, Vec<usize>>,
    pub(super) strategy: Option<Strategy>,
    pub(super) owners: BTreeMap<MessageQueue, Owner>,
    /// Topics of which every owner was told: a queue that is missing has none.
    pub(super) owners_told: BTreeSet<Topic>,
    pub(super) shares: BTreeMap<(Topic, ClientId), Share>,
    pub(super) load: BTreeMap<MessageQueue, (Option<i64>, Option<f64>)>,
    pub(super) problems: Vec<Noted>,
    /// Problems beyond the limit.
    pub(super) more_problems: usize,
}

impl Found {
    /// Of one text of so many lines, nothing yet.
    pub(super) fn of_one(lines: usize) -> Self {
        Self { pastes: 1, lines, ..Self::default() }
    }

    pub(super) fn is_a(&mut self, kind: Kind) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }

    /// Names lines that were not understood.
    pub(super) fn problem(&mut self, line: usize, lines: usize, text: &str, expected: Said) {
        let text = Said::same(beginning(text));
        self.add_problem(Noted { paste: 0, line, lines, text, expected });
    }

    fn add_problem(&mut self, problem: Noted) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.more_problems += problem.lines;
        }
    }

    /// A topic has so many queues on a broker, or at least as many.
    pub(super) fn queues(&mut self, topic: &Topic, broker: &BrokerName, queues: Queues) {
        put(self.topics.entry(topic.clone()).or_default(), broker.clone(), queues);
    }

    /// A queue was seen.
    pub(super) fn queue(&mut self, queue: &MessageQueue) {
        let queues = Queues { read: i64::from(queue.id) + 1, readable: true, told: false };
        self.queues(&queue.topic, &queue.broker, queues);
    }

    pub(super) fn group(&mut self, group: &str, line: usize, text: &str) {
        match &self.group {
            Some(known) if known.as_str() != group => {
                let expected = said!(
                    "more of group {known}; this is of group {group}",
                    "消费组 {known} 的更多内容；这里是消费组 {group} 的"
                );
                self.problem(line, 1, text, expected);
            }
            Some(_) => {}
            None => self.group = Some(Group::from(group)),
        }
    }

    /// Consumers that were listed together: an id twice if two processes have it.
    pub(super) fn consumers(&mut self, listed: impl IntoIterator<Item = ConsumerSeen>) {
        // What was known before, of the ids that are listed now, and is not listed yet.
        let mut free: BTreeMap<ClientId, VecDeque<usize>> = BTreeMap::new();
        for seen in listed {
            let known = self.places.entry(seen.id.clone()).or_default();
            let free = free.entry(seen.id.clone()).or_insert_with(|| known.iter().copied().collect());
            let same =
                |place: &usize| self.consumers.get(*place).is_some_and(|known| known.address == seen.address);
            let place = free.iter().position(same).or_else(|| (!free.is_empty()).then_some(0));
            match place.and_then(|at| free.remove(at)).and_then(|place| self.consumers.get_mut(place)) {
                Some(known) => refresh(known, seen),
                None => {
                    known.push(self.consumers.len());
                    self.consumers.push(seen);
                }
            }
        }
    }

    pub(super) fn snapshot(&mut self, snapshot: Snapshot) {
        if let Some(group) = &snapshot.group {
            self.group = Some(group.clone());
        }
        self.taken_at = snapshot.taken_at.or(self.taken_at.take());
        self.redacted |= snapshot.redacted;
        for seen in &snapshot.topics {
            self.topics.entry(seen.topic.clone()).or_default();
            for on in &seen.brokers {
                let queues = Queues { read: on.read_queues, readable: on.readable, told: true };
                self.queues(&seen.topic, &on.broker, queues);
            }
        }
        self.consumers(snapshot.consumers);
        self.strategy = snapshot.strategy.or(self.strategy.take());
        if let Some(owned) = snapshot.owned {
            self.owners_told.extend(snapshot.topics.into_iter().map(|seen| seen.topic));
            self.owners.extend(owned.into_iter().map(|entry| (entry.queue, Owner::Ids(entry.owners))));
        }
        for entry in snapshot.load.into_iter().flatten() {
            self.load.insert(entry.queue, (entry.lag, entry.tps));
        }
    }

    /// Adds what was pasted later.
    pub(super) fn add(&mut self, later: Self) {
        let shift = self.pastes;
        self.pastes += later.pastes;
        self.lines += later.lines;
        later.kinds.into_iter().for_each(|kind| self.is_a(kind));
        if let Some(group) = later.group {
            if self.group.as_ref().is_some_and(|known| *known != group) {
                let expected = said!(
                    "the same group as before; this is of group {group}",
                    "与之前相同的消费组；这里是消费组 {group} 的"
                );
                self.add_problem(Noted { paste: shift, line: 1, lines: 1, text: Said::default(), expected });
            }
            self.group = Some(group);
        }
        self.taken_at = later.taken_at.or(self.taken_at.take());
        self.redacted |= later.redacted;
        for (topic, brokers) in later.topics {
            let known = self.topics.entry(topic).or_default();
            brokers.into_iter().for_each(|(broker, queues)| put(known, broker, queues));
        }
        let unnamed = later.unnamed.into_iter().map(|one| Unnamed { paste: one.paste + shift, ..one });
        self.unnamed.extend(unnamed);
        self.subscribed.extend(later.subscribed);
        let moved = |(paste, line): (usize, usize)| (paste + shift, line);
        self.cut_topics.extend(later.cut_topics.into_iter().map(|(name, at)| (name, moved(at))));
        self.cut_brokers.extend(later.cut_brokers.into_iter().map(|(name, at)| (name, moved(at))));
        self.consumers(later.consumers);
        self.strategy = later.strategy.or(self.strategy.take());
        self.owners.extend(later.owners);
        self.owners_told.extend(later.owners_told);
        let shares =
            later.shares.into_iter().map(|(of, share)| (of, Share { paste: share.paste + shift, ..share }));
        self.shares.extend(shares);
        for (queue, (lag, tps)) in later.load {
            let known = self.load.entry(queue).or_default();
            *known = (lag.or(known.0), tps.or(known.1));
        }
        for problem in later.problems {
            self.add_problem(Noted { paste: problem.paste + shift, ..problem });
        }
        self.more_problems += later.more_problems;
    }
}

/// A number that was told counts more than one that was seen; of two that were told, the later.
pub(super) fn put(brokers: &mut Brokers, broker: BrokerName, queues: Queues) {
    let known = brokers.entry(broker).or_insert(queues);
    if queues.told {
        *known = queues;
    } else if !known.told {
        known.read = known.read.max(queues.read);
    }
}

/// What is known of a consumer, with what is seen later.
fn refresh(known: &mut ConsumerSeen, seen: ConsumerSeen) {
    *known = ConsumerSeen {
        id: seen.id,
        address: seen.address.or(known.address.take()),
        language: seen.language.or(known.language.take()),
        version: seen.version.or(known.version.take()),
        strategy: seen.strategy.or(known.strategy.take()),
        topics: seen.topics.or(known.topics.take()),
        subscriptions: seen.subscriptions.or(known.subscriptions.take()),
        answered: seen.answered.or(known.answered),
        listed: seen.listed.or(known.listed.take()),
    };
}

/// As much of a text as a message needs.
pub(super) fn beginning(text: &str) -> String {
    const SHOWN: usize = 120;
    let line = text.lines().next().unwrap_or_default().trim();
    let end = line.char_indices().nth(SHOWN).map_or(line.len(), |(at, _)| at);
    let mut shown = String::from(line.get(..end).unwrap_or(line));
    if end < line.len() || text.trim().lines().count() > 1 {
        shown.push('…');
    }
    shown
}
