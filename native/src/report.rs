//! How a consumer stopped.

use crate::error::{Error, ErrorKind, Result};
use evenkeel_core::model::MessageQueue;
use std::time::Duration;

/// What [`Consumer::shutdown`](crate::Consumer::shutdown) achieved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Running handlers that ended in time.
    pub drained: usize,
    /// Messages that were fetched but not done; other members get them.
    pub handed_back: usize,
    /// Handlers that still ran at the deadline and were broken off.
    pub abandoned: usize,
    /// The committed offset of each queue that was ours.
    pub committed: Vec<(MessageQueue, i64)>,
    /// How long it took.
    pub elapsed: Duration,
}

impl ShutdownReport {
    /// The report, or an error if handlers had to be broken off.
    ///
    /// # Errors
    /// [`ErrorKind::DrainDeadline`].
    pub fn into_result(self) -> Result<()> {
        if self.abandoned == 0 {
            return Ok(());
        }
        let (count, after) = (self.abandoned, self.elapsed);
        Err(Error::new(
            ErrorKind::DrainDeadline,
            format!("{count} handlers still ran {} ms after the stop and were broken off", after.as_millis()),
        )
        .with_hint("their messages will be delivered again; a longer drain_timeout gives handlers more time"))
    }
}
