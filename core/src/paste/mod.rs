//! What people paste: outputs of `mqadmin`, responses of the dashboard, lines of a client's log, plain lists.
//!
//! ```
//! use evenkeel_core::paste::{Kind, parse};
//!
//! let parsed = parse("orders: broker-a=8, broker-b=8\n10.0.3.11@7\n10.0.3.12@7\n10.0.3.13 7\n");
//! assert_eq!(parsed.kinds, [Kind::List]);
//! assert_eq!(parsed.snapshot.topics[0].brokers.len(), 2);
//! assert_eq!(parsed.snapshot.consumers.len(), 2);
//! assert_eq!((parsed.problems.len(), parsed.problems[0].line), (1, 4));
//! ```
//!
//! | kind | made by | gives |
//! |---|---|---|
//! | [`Kind::TopicRoute`] | `mqadmin topicRoute`, also with `-l` | brokers and queues of a topic |
//! | [`Kind::TopicStatus`] | `mqadmin topicStatus` | the same, as far as queues have offsets |
//! | [`Kind::ConsumerProgress`] | `mqadmin consumerProgress -g`, also with `-s true` | topics, queues, lag; owners by host |
//! | [`Kind::ConsumerConnection`] | `mqadmin consumerConnection` | consumers, topics |
//! | [`Kind::AllocateMq`] | `mqadmin allocateMQ` | consumers, queues; not its allocation, which is not that of a group |
//! | [`Kind::Dashboard`] | `route.query`, `consumerConnection.query`, `queryTopicByConsumer.query` | as the above, and owners |
//! | [`Kind::Snapshot`] | `evenkeel snapshot` | everything |
//! | [`Kind::ClientLog`] | a Java client: `rebalanced result changed` | strategy and queues of a consumer |
//! | [`Kind::List`] | people: a client id a line, `TOPIC: BROKER=N, …`, `group: NAME`, `strategy: NAME` | these |
//!
//! Several of them may stand in one text, in any order, with blank lines between them or without. A line such as
//! `$ mqadmin topicRoute -t orders` tells the name of the topic, which the output itself does not. Every line that is
//! not blank is understood or named in a [`Problem`]; nothing fails as a whole. Problems are told in English by [`parse`],
//! and in the language that is named by [`parse_in`].
//!
//! An id that stands twice in one list or table is two processes; in two of them, it is one that was seen twice.
//!
//! Bounds: [`MAX_BYTES`] and [`MAX_LINES`] of text, [`MAX_PROBLEMS`] problems; what is beyond them is a problem too.

mod cursor;
mod finish;
mod found;
mod lists;
mod log;
mod objects;
mod reader;
mod tables;

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use self::found::Found;
use crate::plan::Language;
use crate::report::Snapshot;

/// The most text that is read, in bytes.
pub const MAX_BYTES: usize = 4 << 20;

/// The most lines that are read.
pub const MAX_LINES: usize = 100_000;

/// The most problems that are named one by one.
pub const MAX_PROBLEMS: usize = 1_000;

/// What a text was recognised as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Kind {
    /// `mqadmin topicRoute`
    TopicRoute,
    /// `mqadmin topicStatus`
    TopicStatus,
    /// `mqadmin consumerProgress`
    ConsumerProgress,
    /// `mqadmin consumerConnection`
    ConsumerConnection,
    /// `mqadmin allocateMQ`
    #[serde(rename = "allocateMQ")]
    AllocateMq,
    /// A response of rocketmq-dashboard.
    Dashboard,
    /// A snapshot of ours.
    Snapshot,
    /// Lists written by people.
    List,
    /// A Java client's log.
    ClientLog,
}

/// Something that was not understood, or that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Which of several merged pastes, from 0.
    #[serde(skip_serializing_if = "is_first")]
    pub paste: usize,
    /// The line, from 1; 0 if it is about no line, but about all of it.
    pub line: usize,
    /// How many lines it is about; left out in JSON if it is one.
    #[serde(skip_serializing_if = "is_one")]
    pub lines: usize,
    /// The beginning of what stands there.
    pub text: String,
    /// What was expected instead, or what else is needed.
    pub expected: String,
}

/// What a text, or several, say about a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parsed {
    /// What was recognised, each once, in the order in which it came.
    pub kinds: Vec<Kind>,
    /// What is known. Topics, consumers, or both may be missing yet.
    pub snapshot: Snapshot,
    /// What was not understood, by paste and line, and then what is missing.
    pub problems: Vec<Problem>,
    /// How many lines there are that are not blank.
    pub lines: usize,
    #[serde(skip)]
    found: Found,
    #[serde(skip)]
    language: Language,
}

/// Reads a text. Never fails: what is not understood is a [`Problem`].
pub fn parse(text: &str) -> Parsed {
    parse_in(text, Language::default())
}

/// The same with problems in another language.
pub fn parse_in(text: &str, language: Language) -> Parsed {
    Parsed::of(reader::read(text), language)
}

impl Parsed {
    /// Adds what was pasted later. Where the two differ, the later one counts; names that one of them lacks may come
    /// from the other. Its problems are told in the language of the earlier one.
    #[must_use]
    pub fn merge(self, later: Self) -> Self {
        let mut found = self.found;
        found.add(later.found);
        Self::of(found, self.language)
    }

    fn of(found: Found, language: Language) -> Self {
        let (snapshot, problems) = finish::finish(&found);
        let problems = problems.into_iter().map(|noted| noted.told(language)).collect();
        Self { kinds: found.kinds.clone(), snapshot, problems, lines: found.lines, found, language }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_one(count: &usize) -> bool {
    *count == 1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_first(paste: &usize) -> bool {
    *paste == 0
}
