//! Why there is no report.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use core::fmt;

use serde::Serialize;

use crate::allocate::AllocateError;
use crate::error::Blame;
use crate::plan::PlanError;

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{}{text}", At(.field.as_deref()))]
#[non_exhaustive]
pub struct Error {
    /// What kind it is of, for programs.
    pub code: ErrorCode,
    /// Where in the input, such as `topics[2].brokers[0].readQueues`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What is wrong.
    pub text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Cow<'static, str>>,
}

/// Kinds of errors; their names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ErrorCode {
    /// There are no queues that can be read.
    EmptyQueues,
    /// There is nobody in the group.
    EmptyConsumers,
    /// Someone is named who is not in the group.
    UnknownConsumer,
    /// No machine room is known for a broker or a member.
    NoRoom,
    /// There is no such strategy, or its settings do not fit.
    BadStrategy,
    /// More than a plan takes on.
    TooLarge,
    /// A link to the planner cannot be read.
    BadLink,
    /// A snapshot cannot be read.
    BadSnapshot,
    /// A change does not fit the group.
    BadChange,
    /// The group does not share queues out, so there is nothing to plan.
    NotShared,
}

impl ErrorCode {
    /// The code as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmptyQueues => "EMPTY_QUEUES",
            Self::EmptyConsumers => "EMPTY_CONSUMERS",
            Self::UnknownConsumer => "UNKNOWN_CONSUMER",
            Self::NoRoom => "NO_ROOM",
            Self::BadStrategy => "BAD_STRATEGY",
            Self::TooLarge => "TOO_LARGE",
            Self::BadLink => "BAD_LINK",
            Self::BadSnapshot => "BAD_SNAPSHOT",
            Self::BadChange => "BAD_CHANGE",
            Self::NotShared => "NOT_SHARED",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Error {
    /// An error without a place or a hint. For readers of JSON, too: the message of the reader is the text.
    pub fn new(code: ErrorCode, text: impl Into<String>) -> Self {
        Self { code, field: None, text: text.into(), hint: None }
    }

    /// The same, with the place in the input.
    #[must_use]
    pub fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, further down in the input: `within("topics[0]")` makes `topics[0].topic` of `topic`.
    #[must_use]
    pub(super) fn within(mut self, outer: &str) -> Self {
        self.field = Some(match self.field {
            Some(inner) => alloc::format!("{outer}.{inner}"),
            None => outer.into(),
        });
        self
    }

    /// Who has to act.
    pub fn blame(&self) -> Blame {
        Blame::Caller
    }
}

/// `topics[0].topic: `, or nothing.
struct At<'a>(Option<&'a str>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |field| write!(f, "{field}: "))
    }
}

impl From<AllocateError> for Error {
    fn from(error: AllocateError) -> Self {
        let (code, hint) = match &error {
            AllocateError::NoQueues => {
                (ErrorCode::EmptyQueues, "give at least one topic with a readable queue")
            }
            AllocateError::NoMembers => (ErrorCode::EmptyConsumers, "give at least one consumer"),
            AllocateError::NoMember => (ErrorCode::UnknownConsumer, "give the consumer's client id"),
            AllocateError::NoRoom { .. } => {
                (ErrorCode::NoRoom, "name the room of each broker and each consumer")
            }
            _ => (ErrorCode::BadStrategy, "look at the settings of the strategy"),
        };
        Self::new(code, error.to_string()).with_hint(hint)
    }
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        let (code, hint) = match error {
            PlanError::Strategy(error) => return error.into(),
            PlanError::TooManyQueues { .. } => (ErrorCode::TooLarge, "plan fewer topics at a time"),
            PlanError::TooManyMembers { .. } => (ErrorCode::TooLarge, "plan fewer consumers"),
            PlanError::NoSuchMember(_) => (ErrorCode::UnknownConsumer, "ids are compared letter by letter"),
            PlanError::AlreadyMember(_) => (ErrorCode::BadChange, "two processes need two client ids"),
            PlanError::TooFewMembers { .. } => (ErrorCode::BadChange, "remove fewer consumers"),
            PlanError::WrongNumberOfIds { .. } => (ErrorCode::BadChange, "give one id for each consumer"),
            PlanError::NoSuchBroker(_) | PlanError::NoSuchTopic(_) => {
                (ErrorCode::BadChange, "names are compared letter by letter")
            }
        };
        Self::new(code, error.to_string()).with_hint(hint)
    }
}
