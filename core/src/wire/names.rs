//! Names of groups and topics: which are allowed, which belong to the system, and how a namespace goes into them.
//!
//! Equal to `Validators`, `NamespaceUtil` and (for system names) `TopicValidator` and `MixAll` of the Java library 5.x.
//! [`crate::model::Group`] makes the names of retry and dead-letter topics.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use crate::error::Blame;
use crate::model::{DLQ_PREFIX, RETRY_PREFIX};

/// The longest group name, so that its retry topic is no longer than a topic may be.
pub const GROUP_MAX: usize = 120;
/// The longest topic name.
pub const TOPIC_MAX: usize = 127;
/// The group of consumers that were not given one; consumers may not start with it.
pub const DEFAULT_CONSUMER: &str = "DEFAULT_CONSUMER";

/// Between a namespace and what it holds.
const NAMESPACE_SEPARATOR: char = '%';
const SYSTEM_TOPIC_PREFIX: &str = "rmq_sys_";
const SYSTEM_GROUP_PREFIX: &str = "CID_RMQ_SYS_";
const SYSTEM_TOPICS: [&str; 10] = [
    "TBW102",
    "SCHEDULE_TOPIC_XXXX",
    "BenchmarkTest",
    "RMQ_SYS_TRANS_HALF_TOPIC",
    "RMQ_SYS_TRACE_TOPIC",
    "RMQ_SYS_TRANS_OP_HALF_TOPIC",
    "TRANS_CHECK_MAX_TIME_TOPIC",
    "SELF_TEST_TOPIC",
    "OFFSET_MOVED_EVENT",
    "CHECKPOINT_TOPIC",
];

/// A name that brokers would refuse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("caller: the {what} {name:?} {problem}")]
pub struct NameError {
    /// `group` or `topic`.
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// What is wrong with it.
    pub problem: NameProblem,
}

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameProblem {
    /// Nothing there.
    #[error("is blank")]
    Blank,
    /// Too many characters.
    #[error("is {length} characters long, allowed are {most}")]
    TooLong {
        /// Its length.
        length: usize,
        /// The most allowed.
        most: usize,
    },
    /// A character outside the allowed ones.
    #[error("contains {0:?}, allowed are letters, digits and % | _ -")]
    Character(char),
    /// A name that stands for "no name chosen".
    #[error("is the default name: choose your own")]
    Reserved,
}

impl NameError {
    /// Who has to act: who chose the name.
    #[must_use]
    pub const fn blame(&self) -> Blame {
        Blame::Caller
    }
}

/// Whether a group may be called so.
pub fn validate_group(group: &str) -> Result<(), NameError> {
    validate("group", group, GROUP_MAX)
}

/// Whether a consumer may start with this group: [`validate_group`], and not the default.
pub fn validate_consumer_group(group: &str) -> Result<(), NameError> {
    validate_group(group)?;
    if group == DEFAULT_CONSUMER {
        return Err(NameError { what: "group", name: group.to_owned(), problem: NameProblem::Reserved });
    }
    Ok(())
}

/// Whether a topic may be called so.
pub fn validate_topic(topic: &str) -> Result<(), NameError> {
    validate("topic", topic, TOPIC_MAX)
}

fn validate(what: &'static str, name: &str, most: usize) -> Result<(), NameError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '%' | '|' | '_' | '-');
    let length = name.encode_utf16().count();
    let problem = if name.trim().is_empty() {
        NameProblem::Blank
    } else if length > most {
        NameProblem::TooLong { length, most }
    } else if let Some(wrong) = name.chars().find(|c| !allowed(*c)) {
        NameProblem::Character(wrong)
    } else {
        return Ok(());
    };
    Err(NameError { what, name: name.to_owned(), problem })
}

/// Whether a topic belongs to the brokers themselves.
#[must_use]
pub fn is_system_topic(topic: &str) -> bool {
    SYSTEM_TOPICS.contains(&topic) || topic.starts_with(SYSTEM_TOPIC_PREFIX)
}

/// Whether a group belongs to the brokers themselves.
#[must_use]
pub fn is_system_group(group: &str) -> bool {
    group.starts_with(SYSTEM_GROUP_PREFIX)
}

/// `resource` (a group, a topic, a retry or dead-letter topic) within `namespace`. What belongs to the system or is in
/// the namespace already stays as it is, and so does everything if one of the two is empty.
#[must_use]
pub fn wrap_namespace(namespace: &str, resource: &str) -> String {
    let (prefix, rest) = split_prefix(resource);
    if namespace.is_empty() || resource.is_empty() || is_system(resource) || within(rest, namespace) {
        return resource.to_owned();
    }
    format!("{prefix}{namespace}{NAMESPACE_SEPARATOR}{rest}")
}

/// The retry topic of `group` within `namespace`, none for an empty group.
#[must_use]
pub fn wrap_retry(namespace: &str, group: &str) -> Option<String> {
    (!group.is_empty()).then(|| format!("{RETRY_PREFIX}{}", wrap_namespace(namespace, group)))
}

/// `resource` as users of `namespace` know it: without that namespace, if it is in it.
#[must_use]
pub fn unwrap_namespace(resource: &str, namespace: &str) -> String {
    if !namespace.is_empty() && within(split_prefix(resource).1, namespace) {
        without_namespace(resource)
    } else {
        resource.to_owned()
    }
}

/// `resource` without its namespace, whichever that is: up to the first separator.
#[must_use]
pub fn without_namespace(resource: &str) -> String {
    let (prefix, rest) = split_prefix(resource);
    match split_namespace(rest) {
        Some((_, inner)) if !is_system(resource) => format!("{prefix}{inner}"),
        _ => resource.to_owned(),
    }
}

/// The namespace of `resource`, empty if it has none.
#[must_use]
pub fn namespace_of(resource: &str) -> &str {
    match split_namespace(split_prefix(resource).1) {
        Some((namespace, _)) if !is_system(resource) => namespace,
        _ => "",
    }
}

fn is_system(resource: &str) -> bool {
    is_system_topic(resource) || is_system_group(resource)
}

/// The prefix of a retry or dead-letter topic, and what follows it.
fn split_prefix(resource: &str) -> (&str, &str) {
    [RETRY_PREFIX, DLQ_PREFIX]
        .into_iter()
        .find_map(|prefix| Some((prefix, resource.strip_prefix(prefix)?)))
        .unwrap_or(("", resource))
}

fn split_namespace(rest: &str) -> Option<(&str, &str)> {
    rest.split_once(NAMESPACE_SEPARATOR).filter(|(namespace, _)| !namespace.is_empty())
}

fn within(rest: &str, namespace: &str) -> bool {
    rest.strip_prefix(namespace).is_some_and(|inner| inner.starts_with(NAMESPACE_SEPARATOR))
}
