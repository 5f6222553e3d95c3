//! Why there is no plan.

use crate::allocate::AllocateError;
use crate::error::Blame;
use crate::model::{BrokerName, ClientId, Topic};

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The strategy does not work with these names or settings.
    #[error(transparent)]
    Strategy(#[from] AllocateError),
    /// More queues than a plan takes on.
    #[error("{count} queues; a plan takes at most {}", super::Layout::MAX_QUEUES)]
    TooManyQueues {
        /// How many there are.
        count: u64,
    },
    /// More members than a plan takes on.
    #[error("{count} members; a plan takes at most {}", super::Change::MAX_MEMBERS)]
    TooManyMembers {
        /// How many there would be.
        count: usize,
    },
    /// Someone leaves who is not there.
    #[error("the group has no member {:?}", .0.as_str())]
    NoSuchMember(ClientId),
    /// Someone joins who is there already: two processes with one client id, which is a fault and no plan.
    #[error("the group already has a member {:?}", .0.as_str())]
    AlreadyMember(ClientId),
    /// More members leave than there are.
    #[error("{leaving} members cannot leave a group of {members}")]
    TooFewMembers {
        /// How many leave.
        leaving: usize,
        /// How many there are.
        members: usize,
    },
    /// A rolling restart was given more or fewer new ids than there are members.
    #[error("a rolling restart of {members} members needs as many new ids, not {ids}")]
    WrongNumberOfIds {
        /// How many ids were given.
        ids: usize,
        /// How many members there are.
        members: usize,
    },
    /// No topic of the group has queues on the broker.
    #[error("no topic of the group has queues on broker {:?}", .0.as_str())]
    NoSuchBroker(BrokerName),
    /// The group has no such topic.
    #[error("the group has no topic {:?}", .0.as_str())]
    NoSuchTopic(Topic),
}

impl PlanError {
    /// Who has to act.
    pub fn blame(&self) -> Blame {
        Blame::Caller
    }

    /// A word for programs that does not change with the text.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Strategy(error) => error.kind(),
            Self::TooManyQueues { .. } => "too-many-queues",
            Self::TooManyMembers { .. } => "too-many-members",
            Self::NoSuchMember(_) => "no-such-member",
            Self::AlreadyMember(_) => "already-member",
            Self::TooFewMembers { .. } => "too-few-members",
            Self::WrongNumberOfIds { .. } => "wrong-number-of-ids",
            Self::NoSuchBroker(_) => "no-such-broker",
            Self::NoSuchTopic(_) => "no-such-topic",
        }
    }
}
