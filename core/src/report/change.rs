//! Changes as JSON.

use alloc::format;
use alloc::vec::Vec;

use serde::Serialize;

use super::{Error, ErrorCode, Strategy, check};
use crate::model::{BrokerName, ClientId, Topic};
use crate::plan::{self, NewIds, said};

/// Something that happens to a group: `{"kind":"add","ids":["c4"]}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Change {
    /// Consumers join, all at once: `ids`, or a `count` if the ids are not known.
    Add {
        /// Their client ids.
        #[serde(skip_serializing_if = "Option::is_none")]
        ids: Option<Vec<ClientId>>,
        /// How many.
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<i64>,
    },
    /// Consumers leave, all at once: `ids`, or a `count` if it is not known which.
    Remove {
        /// Their client ids; one that two processes have leaves once for each time that it is named.
        #[serde(skip_serializing_if = "Option::is_none")]
        ids: Option<Vec<ClientId>>,
        /// How many.
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<i64>,
    },
    /// A topic has so many readable queues on a broker, be it more or less than before, or the first there.
    Queues {
        /// The topic.
        topic: Topic,
        /// The broker.
        broker: BrokerName,
        /// How many queues can be read then.
        read_queues: i64,
    },
    /// A broker is gone, with its queues of all topics.
    DropBroker {
        /// The broker.
        broker: BrokerName,
    },
    /// A broker's queues cannot be read any longer.
    PermissionLost {
        /// The topic; all of them without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        topic: Option<Topic>,
        /// The broker.
        broker: BrokerName,
    },
    /// All consumers change to another strategy, at once.
    Strategy {
        /// The new one.
        to: Strategy,
    },
    /// The consumers are restarted one by one, in the order of their ids.
    Roll {
        /// What ids they have then.
        ids: RollIds,
    },
}

/// What ids consumers have after a restart: `"stable"`, `"new"`, or a list of the new ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RollIds {
    /// The same, or new ones that are not known.
    Word(RollWord),
    /// New ones, in the order in which the consumers are restarted.
    Given(Vec<ClientId>),
}

/// See [`RollIds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RollWord {
    /// The same as before.
    Stable,
    /// New ones, not known yet.
    New,
}

/// The most consumers that can join without ids. Every trial draws as many.
const MOST_UNKNOWN: usize = 1_000;

impl Change {
    /// The change as plans know it.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::BadChange`] or [`ErrorCode::TooLarge`], with the field.
    pub fn build(&self) -> Result<plan::Change, Error> {
        const BAD: ErrorCode = ErrorCode::BadChange;
        Ok(match self {
            Self::Add { ids, count } => match who(ids.as_deref(), *count)? {
                Who::Known(ids) => plan::Change::Join(ids),
                Who::Unknown(count) if count > MOST_UNKNOWN => {
                    let text = said!(
                        "{count} consumers without ids; at most {MOST_UNKNOWN} can be tried",
                        "{count} 个没有 ID 的消费者；最多可尝试 {MOST_UNKNOWN} 个"
                    );
                    return Err(Error::new(ErrorCode::TooLarge, text)
                        .at("count")
                        .with_hint("give their ids"));
                }
                Who::Unknown(count) => plan::Change::JoinUnknown(count),
            },
            Self::Remove { ids, count } => match who(ids.as_deref(), *count)? {
                Who::Known(ids) => plan::Change::Leave(ids),
                Who::Unknown(count) => plan::Change::LeaveUnknown(count),
            },
            Self::Queues { topic, broker, read_queues } => {
                check::name(BAD, topic.as_str(), || "topic".into())?;
                check::name(BAD, broker.as_str(), || "broker".into())?;
                let read = check::queues(BAD, *read_queues, || "readQueues".into())?;
                plan::Change::Queues { topic: topic.clone(), broker: broker.clone(), read }
            }
            Self::DropBroker { broker } => plan::Change::BrokerLost(broker.clone()),
            Self::PermissionLost { topic, broker } => {
                plan::Change::PermissionLost { topic: topic.clone(), broker: broker.clone() }
            }
            Self::Strategy { to } => plan::Change::Strategy(to.build().map_err(|error| error.within("to"))?),
            Self::Roll { ids } => plan::Change::Roll(match ids {
                RollIds::Word(RollWord::Stable) => NewIds::Stable,
                RollIds::Word(RollWord::New) => NewIds::Unknown,
                RollIds::Given(ids) => {
                    known(ids)?;
                    NewIds::Given(ids.clone())
                }
            }),
        })
    }

    /// How many consumers join by it, at most.
    pub(super) fn joining(&self) -> usize {
        match self {
            Self::Add { ids: Some(ids), .. } => ids.len(),
            Self::Add { count, .. } => count.and_then(|count| usize::try_from(count).ok()).unwrap_or(0),
            _ => 0,
        }
    }
}

enum Who {
    Known(Vec<ClientId>),
    Unknown(usize),
}

fn who(ids: Option<&[ClientId]>, count: Option<i64>) -> Result<Who, Error> {
    let bad = |text| Error::new(ErrorCode::BadChange, text);
    match (ids, count) {
        (Some(ids), None) => {
            known(ids)?;
            Ok(Who::Known(ids.to_vec()))
        }
        (None, Some(count)) => match usize::try_from(count) {
            Ok(count) if count <= plan::Change::MAX_MEMBERS => Ok(Who::Unknown(count)),
            Ok(count) => Err(check::too_many_consumers(count).at("count")),
            Err(_) => Err(check::negative(ErrorCode::BadChange, count, "count".into())),
        },
        (None, None) => Err(bad(said!("says neither who nor how many", "既没有说明是谁，也没有说明数量"))
            .with_hint("give ids or a count")),
        (Some(_), Some(_)) => {
            Err(bad(said!("has ids and a count", "同时有 ID 和数量")).with_hint("give one of the two"))
        }
    }
}

fn known(ids: &[ClientId]) -> Result<(), Error> {
    ids.iter()
        .enumerate()
        .try_for_each(|(at, id)| check::name(ErrorCode::BadChange, id.as_str(), || format!("ids[{at}]")))
}
