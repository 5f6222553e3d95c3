//! Plans as JSON: one set of shapes and one set of answers for the command line, the npm package and the page.
//!
//! | to know | ask | answer |
//! |---|---|---|
//! | what changes do | [`plan`] | [`PlanReport`], `evenkeel.plan/1` |
//! | what is wrong | [`verify`] | [`VerifyReport`], `evenkeel.verify/1` |
//! | who gets what | [`allocate`], [`allocate_for`] | [`Allocation`] |
//! | how to show a group to strangers | [`redact`] | [`Snapshot`], `evenkeel.snapshot/1` |
//! | how to send a plan to somebody | [`link`] | a link |
//!
//! Field names are those of the npm package, in camelCase. Within a schema number fields are only added: readers skip
//! what they do not know in a snapshot. What users write (strategies, changes, options) is refused if it is not
//! understood, since a setting that is skipped would give a wrong plan.
//!
//! ```
//! use evenkeel_core::report::{Change, Options, Snapshot, plan};
//!
//! let snapshot: Snapshot = serde_json::from_str(
//!     r#"{"schema":"evenkeel.snapshot/1","group":"pay-worker",
//!         "topics":[{"topic":"orders","brokers":[{"broker":"broker-a","readQueues":8}]}],
//!         "consumers":[{"id":"c1"},{"id":"c2"}]}"#,
//! )?;
//! let add: Change = serde_json::from_str(r#"{"kind":"add","ids":["c3"]}"#)?;
//! let report = plan(&snapshot, &[add], &Options::default())?;
//! let avg = &report.results[0];
//! assert_eq!((avg.strategy.as_str(), avg.moved.max, avg.floor), ("AVG", 3, 2));
//! let moved: Vec<i32> = avg.moves.iter().map(|moved| moved.queue.id).collect();
//! assert_eq!(moved, [3, 6, 7]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allocation;
mod change;
mod change_fields;
mod check;
mod convert;
mod error;
mod finding;
mod lag;
pub mod link;
mod lists;
mod names;
mod planned;
mod redact;
mod rooms;
mod running;
mod sharing;
mod snapshot;
mod strategy;
mod strategy_fields;
mod verified;
mod work;

pub use allocation::{Allocation, Stats, allocate, allocate_for, diff, moved_by_place};
pub use change::{Change, RollIds, RollWord};
pub use check::MAX_NAME;
pub use error::{Error, ErrorCode};
pub use finding::Finding;
pub use planned::{
    LimitsReport, MemberCount, Move, Options, PerConsumer, PlanReport, PlanResult, Range, Size, Skipped,
    Step, plan,
};
pub use redact::redact;
pub use rooms::RoomRules;
pub use running::Strategies;
pub use sharing::Sharing;
pub use snapshot::{BrokerSeen, ConsumerSeen, Load, Owned, SCHEMA, Snapshot, TopicSeen};
pub use strategy::{DraftRooms, Identity, RingHash, RoomRule, Strategy};
pub use verified::{ConsumerVerdict, DoubledQueue, VerifyReport, verify, verify_in};

pub use crate::model::MessageQueue as QueueRef;
pub use crate::plan::Language;
