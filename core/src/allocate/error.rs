//! Why a strategy gave no answer.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

use crate::error::Blame;
use crate::model::{ClientId, MessageQueue};

/// Why a strategy gave no answer. The caller leaves the topic as it is: nothing is gained and nothing is lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocateError {
    /// The member that asks has an empty client id.
    #[error("the member that asks has no client id")]
    NoMember,
    /// There is nothing to share.
    #[error("there are no queues to share")]
    NoQueues,
    /// There is nobody to share among.
    #[error("the group has no members")]
    NoMembers,
    /// A setting of the strategy is out of range.
    #[error("setting {name} of the strategy: {what}")]
    BadParameter {
        /// The setting.
        name: &'static str,
        /// What is wrong with it.
        what: Cow<'static, str>,
    },
    /// MACHINE_ROOM was never told its rooms, and there are queues in rooms.
    #[error("the rooms to consume from were never set")]
    RoomsNotSet,
    /// The resolver knows no room, or an empty one, for a queue or a member.
    #[error("no machine room is known for {of}")]
    NoRoom {
        /// What has no room.
        of: Roomless,
    },
    /// A strategy gave a position that the queue list does not have.
    #[error("the strategy chose queue number {at}, which is beyond the list")]
    NotAPosition {
        /// The position, from 0.
        at: usize,
    },
    /// For strategies from outside this crate.
    #[error("{0}")]
    Other(String),
}

impl AllocateError {
    /// Who has to act.
    pub fn blame(&self) -> Blame {
        Blame::Caller
    }

    /// A word for programs that does not change with the text.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoMember => "no-client-id",
            Self::NoQueues => "no-queues",
            Self::NoMembers => "no-members",
            Self::BadParameter { .. } => "bad-parameter",
            Self::RoomsNotSet => "rooms-not-set",
            Self::NoRoom { .. } => "no-room",
            Self::NotAPosition { .. } => "not-a-position",
            Self::Other(_) => "other",
        }
    }
}

/// What a room was asked for and not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roomless {
    /// A queue, by its broker.
    Queue(MessageQueue),
    /// A member.
    Member(ClientId),
}

impl fmt::Display for Roomless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queue(queue) => write!(f, "broker {:?} of queue {queue}", queue.broker.as_str()),
            Self::Member(id) => write!(f, "member {:?}", id.as_str()),
        }
    }
}
