//! Strategies by name, as users write them.

use alloc::string::String;
use alloc::sync::Arc;

use super::{Allocate, AllocateError, Average, Circle, ConsistentHash, Draft};
use crate::error::Blame;

/// What [`named`] understands, for help texts.
pub const AVAILABLE: &str = "avg (or AVG, AllocateMessageQueueAveragely), \
    circle (or AVG_BY_CIRCLE, AllocateMessageQueueAveragelyByCircle), \
    hash or hash:N with N virtual nodes (or CONSISTENT_HASH, AllocateMessageQueueConsistentHash), \
    draft (or AVG_BY_DRAFT; for groups in which every member runs it)";

/// The strategy of a name: ours, the one that members agree on, or Java's class with or without its package. Strategies
/// that need more than a number have constructors only.
///
/// ```
/// use evenkeel_core::allocate::named;
///
/// assert_eq!(named("hash:32")?.name(), "CONSISTENT_HASH");
/// assert_eq!(named("org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely")?.name(), "AVG");
/// assert!(named("averge").unwrap_err().to_string().contains("circle"));
/// # Ok::<(), evenkeel_core::allocate::NameError>(())
/// ```
///
/// # Errors
///
/// If there is no such strategy, it needs settings that a name cannot hold, or the number of virtual nodes is not one.
pub fn named(name: &str) -> Result<Arc<dyn Allocate>, NameError> {
    let name = name.trim();
    let plain = name.strip_prefix(JAVA_PACKAGE).unwrap_or(name);
    match plain {
        "avg" | "AVG" | "AllocateMessageQueueAveragely" => Ok(Arc::new(Average)),
        "circle" | "AVG_BY_CIRCLE" | "AllocateMessageQueueAveragelyByCircle" => Ok(Arc::new(Circle)),
        "hash" | "CONSISTENT_HASH" | "AllocateMessageQueueConsistentHash" => {
            Ok(Arc::new(ConsistentHash::default()))
        }
        "draft" | "AVG_BY_DRAFT" => Ok(Arc::new(Draft::default())),
        "rooms" | "MACHINE_ROOM" | "AllocateMessageQueueByMachineRoom" => {
            Err(NameError::NeedsSettings { name: name.into(), what: "the rooms to consume from" })
        }
        "nearby" | "MACHINE_ROOM_NEARBY" | "AllocateMachineRoomNearby" => Err(NameError::NeedsSettings {
            name: name.into(),
            what: "an inner strategy and the room of each name",
        }),
        "config" | "CONFIG" | "AllocateMessageQueueByConfig" => {
            Err(NameError::NeedsSettings { name: name.into(), what: "a list of queues" })
        }
        _ => match plain.strip_prefix("hash:") {
            Some(count) => ring(count),
            None => Err(NameError::Unknown { name: name.into() }),
        },
    }
}

const JAVA_PACKAGE: &str = "org.apache.rocketmq.client.consumer.rebalance.";

/// Java accepts a ring without points; asked for by name, it can only be a mistake.
fn ring(count: &str) -> Result<Arc<dyn Allocate>, NameError> {
    match count.parse::<i32>() {
        Ok(points) if points != 0 => Ok(Arc::new(ConsistentHash::new(points)?)),
        _ => Err(NameError::NotACount { text: count.into() }),
    }
}

/// Why a name is no strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// There is none of that name.
    #[error("there is no strategy {name:?}; there are: {AVAILABLE}")]
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// There is one, but it needs more than its name.
    #[error(
        "strategy {name:?} needs {what}, which a name cannot give; with a name alone there are: {AVAILABLE}"
    )]
    NeedsSettings {
        /// The name asked for.
        name: String,
        /// What it needs.
        what: &'static str,
    },
    /// What follows `hash:` is not a number from 1.
    #[error("{text:?} is not a number of virtual nodes: write hash:N with N from 1")]
    NotACount {
        /// What follows the colon.
        text: String,
    },
    /// The strategy does not accept the number.
    #[error(transparent)]
    Refused(#[from] AllocateError),
}

impl NameError {
    /// Who has to act.
    pub fn blame(&self) -> Blame {
        Blame::Caller
    }

    /// A word for programs that does not change with the text.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown-strategy",
            Self::NeedsSettings { .. } => "strategy-needs-settings",
            Self::NotACount { .. } => "bad-parameter",
            Self::Refused(error) => error.kind(),
        }
    }
}
