//! Time as core sees it: a number that the caller gives.
//!
//! [`Instant`] is monotonic, counted in nanoseconds from an epoch of the caller's choosing (process start in the
//! tokio shell, zero in simulations). [`WallClock`] is Unix time in milliseconds, the unit of the RocketMQ protocol;
//! it enters once, at start, and is carried forward by instants.

use core::ops::{Add, Sub};
pub use core::time::Duration;

/// A point on the caller's monotonic clock, in nanoseconds since the caller's epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The caller's epoch.
    pub const ZERO: Self = Self(0);

    /// The instant `nanos` nanoseconds after the caller's epoch.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The instant `millis` milliseconds after the caller's epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the caller's epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole milliseconds since the caller's epoch.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Time since `earlier`, zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    /// Saturates at the far end: 584 years after the epoch there is no "later".
    fn add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        self.since(earlier)
    }
}

/// Unix time in milliseconds, as the protocol writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallClock(i64);

impl WallClock {
    /// Unix time `millis` milliseconds after 1970-01-01T00:00Z.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds after 1970-01-01T00:00Z.
    pub const fn as_millis(self) -> i64 {
        self.0
    }
}

impl Add<Duration> for WallClock {
    type Output = Self;
    fn add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }
}
