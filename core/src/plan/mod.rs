//! What a change does to a group, told before it is made, and what is wrong with a group as it stands.
//!
//! | to know | ask |
//! |---|---|
//! | who owns what, over all topics | [`Plan::new`]; if members differ, [`Plan::of_parties`] |
//! | how even that is | [`Plan::figures`] |
//! | what moves from one to another, and how little would have to | [`Plan::diff`] |
//! | what changes would do | [`preview`] |
//! | where a new id does least harm | [`moved_by_place`] |
//! | what is wrong with a group | [`verify`]; what a code means, [`explain`] |

mod balance;
mod change;
mod codes;
mod diff;
mod error;
mod figures;
mod findings;
mod layout;
mod preview;
mod said;
mod seats;
mod sickness;
mod snapshot;
mod whole;

pub use change::{Change, NewIds};
pub use codes::{Code, EXPLANATIONS, Explanation, Level, explain};
pub use diff::{Counts, Diff, Move, Turnover};
pub use error::PlanError;
pub use figures::Figures;
pub(crate) use findings::no_room;
pub use findings::{Finding, Limits, Verdict, verify};
pub use layout::{BrokerQueues, Layout, Topics};
pub use preview::{Preview, Range, Step, Trials, preview};
pub(crate) use said::said;
pub use said::{Language, Said, UnknownLanguage};
pub use seats::moved_by_place;
pub use snapshot::{MemberSeen, Snapshot};
pub use whole::{Party, Plan, TopicPlan};
