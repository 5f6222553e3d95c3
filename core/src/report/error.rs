//! Why there is no report.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use serde::{Serialize, Serializer};

use crate::allocate::{AllocateError, NameError};
use crate::error::Blame;
use crate::plan::{Change, Layout, PlanError, Said, no_room, said};

/// Why there is no report. It displays, and is written as JSON, in English.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{}{}", At(.field.as_deref()), .text.en)]
#[non_exhaustive]
pub struct Error {
    /// What kind it is of, for programs.
    pub code: ErrorCode,
    /// Where in the input, such as `topics[2].brokers[0].readQueues`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What is wrong.
    #[serde(serialize_with = "english")]
    pub text: Said,
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
    /// An error without a place or a hint. For readers of JSON, too: the message of the reader is the text, by
    /// [`Said::same`].
    pub fn new(code: ErrorCode, text: Said) -> Self {
        Self { code, field: None, text, hint: None }
    }

    /// Where and what in both languages; in English, as it displays.
    pub fn said(&self) -> Said {
        match (&self.field, &self.text) {
            (Some(field), text) => said!("{field}: {text}", "{field}：{text}", text),
            (None, text) => text.clone(),
        }
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
            Some(inner) => format!("{outer}.{inner}"),
            None => outer.into(),
        });
        self
    }

    /// Who has to act.
    pub fn blame(&self) -> Blame {
        Blame::Caller
    }
}

/// There is nothing to share.
pub(super) fn empty_queues() -> Error {
    let text = said!("no topic has a queue that can be read", "没有主题有可读的队列");
    Error::new(ErrorCode::EmptyQueues, text).at("topics")
}

/// There is nobody to share it.
pub(super) fn empty_consumers() -> Error {
    let text = said!("the group has no consumers", "消费组没有消费者");
    Error::new(ErrorCode::EmptyConsumers, text).at("consumers")
}

fn english<S: Serializer>(text: &Said, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text.en)
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
        Self::new(code, of_strategy(&error)).with_hint(hint)
    }
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        let text = of_plan(&error);
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
        Self::new(code, text).with_hint(hint)
    }
}

impl From<NameError> for Error {
    fn from(error: NameError) -> Self {
        let zh = match &error {
            NameError::Unknown { name } => format!("没有策略 {name:?}；可用：{NAMES}"),
            NameError::NeedsSettings { name, .. } => {
                format!("策略 {name:?} 还需要名称之外的参数；只凭名称可用：{NAMES}")
            }
            NameError::NotACount { text } => format!("{text:?} 不是虚拟节点数：请写 hash:N，N 从 1 起"),
            NameError::Refused(error) => of_strategy(error).zh,
        };
        Self::new(ErrorCode::BadStrategy, Said { en: error.to_string(), zh })
    }
}

/// What a name alone can say.
const NAMES: &str = "avg、circle、hash、hash:N、draft";

fn of_strategy(error: &AllocateError) -> Said {
    let zh = match error {
        AllocateError::NoMember => "发起请求的消费者没有客户端 ID".into(),
        AllocateError::NoQueues => "没有可分配的队列".into(),
        AllocateError::NoMembers => "消费组没有消费者".into(),
        AllocateError::BadParameter { name, what } => format!("策略的参数 {name}：{what}"),
        AllocateError::RoomsNotSet => "没有设置要消费的机房".into(),
        AllocateError::NoRoom { of } => return no_room(of),
        AllocateError::NotAPosition { at } => format!("策略选择了第 {at} 个队列，超出了列表"),
        AllocateError::Other(text) => text.clone(),
    };
    Said { en: error.to_string(), zh }
}

fn of_plan(error: &PlanError) -> Said {
    let zh = match error {
        PlanError::Strategy(error) => return of_strategy(error),
        PlanError::TooManyQueues { count } => {
            format!("{count} 个队列；一次规划最多 {} 个", Layout::MAX_QUEUES)
        }
        PlanError::TooManyMembers { count } => {
            format!("{count} 个消费者；一次规划最多 {} 个", Change::MAX_MEMBERS)
        }
        PlanError::NoSuchMember(id) => format!("消费组没有消费者 {:?}", id.as_str()),
        PlanError::AlreadyMember(id) => format!("消费组已有消费者 {:?}", id.as_str()),
        PlanError::TooFewMembers { leaving, members } => {
            format!("{leaving} 个消费者无法离开只有 {members} 个消费者的消费组")
        }
        PlanError::WrongNumberOfIds { ids, members } => {
            format!("{members} 个消费者滚动重启需要同样多的新 ID，而不是 {ids} 个")
        }
        PlanError::NoSuchBroker(broker) => {
            format!("消费组没有主题在 Broker {:?} 上有队列", broker.as_str())
        }
        PlanError::NoSuchTopic(topic) => format!("消费组没有主题 {:?}", topic.as_str()),
    };
    Said { en: error.to_string(), zh }
}
