//! The only place that reads the system's clocks; `clippy.toml` bans it elsewhere.
//!
//! Core counts time from an epoch of its caller's choosing; here that epoch is the moment a clock was started.
//! Monotonic time comes from tokio, so tests with paused time pause everything.

use evenkeel_core::time::{Instant, WallClock};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::UNIX_EPOCH;

/// Maps between tokio's instants and core's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: tokio::time::Instant,
}

impl Clock {
    /// A clock whose zero is now.
    pub(crate) fn start() -> Self {
        Self { epoch: tokio::time::Instant::now() }
    }

    /// Now, as core counts it.
    pub(crate) fn now(&self) -> Instant {
        Instant::ZERO + self.epoch.elapsed()
    }

    /// A point of core's time as one that tokio can sleep until.
    pub(crate) fn tokio(&self, at: Instant) -> tokio::time::Instant {
        self.epoch + at.since(Instant::ZERO)
    }
}

/// Unix time now.
#[expect(clippy::disallowed_methods, reason = "the one place through which wall time enters")]
pub fn wall() -> WallClock {
    let since = std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    WallClock::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A number that differs between processes and between calls: seeds of core's generators.
pub(crate) fn seed() -> u64 {
    // The standard library keys every such hasher from the operating system's randomness.
    RandomState::new().build_hasher().finish()
}
