//! Reading groups of a live cluster, as an operator sees them: who is connected, who owns which queue, how far each
//! queue is. Only questions are asked; nothing is written, and no consumer is disturbed.
//!
//! | to know | ask |
//! |---|---|
//! | one group, with what its members say of themselves | [`read_group`] |
//! | all groups, in numbers | [`read_groups`] |
//!
//! Brokers and members that do not answer do not spoil the rest: what was told is given, with the list of who was
//! [silent](Silent).
//!
//! ```no_run
//! use evenkeel::client::{Client, NameServers};
//! use evenkeel::inspect::{Options, read_group};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let servers = NameServers::parse(Client::start(), "mq-1:9876", "my settings")?;
//! let seen = read_group(&servers, &"pay-worker".into(), &Options::default()).await?;
//! println!("{} members, {:?}", seen.members.len(), seen.lag());
//! let verdict = evenkeel_core::plan::verify(&seen.snapshot())?;
//! # Ok(())
//! # }
//! ```

mod answers;
mod ask;
mod group;
mod groups;
mod processes;
mod progress;
mod reading;
mod silent;

pub use answers::strategy_told;
pub use group::{GroupSeen, Kind, Member};
pub use groups::{GroupSummary, GroupsSeen, Which, read_groups};
pub use progress::{Lag, Progress};
pub use reading::read_group;
pub use silent::{Silent, Whom};

use std::time::Duration;

/// How long to wait, and how much to ask at once.
#[derive(Clone, Debug)]
pub struct Options {
    /// Deadline of a call to a server, the time to connect included. Default 3 s.
    pub call: Duration,
    /// Deadline of a question that a broker passes on to a member. Default 5 s. A broker keeps one of its threads for
    /// operators busy with it for up to ten seconds.
    pub member: Duration,
    /// Most questions on their way to one broker. Default 8: half the threads that a broker has for operators.
    pub per_broker: usize,
    /// Most questions on their way in all. Default 64.
    pub at_once: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { call: Duration::from_secs(3), member: Duration::from_secs(5), per_broker: 8, at_once: 64 }
    }
}
