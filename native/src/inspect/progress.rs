//! How far a group is.

use evenkeel_core::time::WallClock;
use evenkeel_core::wire::bodies::QueueProgress;
use std::ops::AddAssign;

/// How far a group is on one queue, as the queue's broker tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// One past the last stored message.
    pub end: i64,
    /// The committed offset. 0 may also stand for "nothing committed yet": brokers do not tell the two apart.
    pub committed: i64,
    /// When the message before the committed offset was stored, by the broker's clock. `None` if there is none, or it
    /// is gone already.
    pub last_consumed: Option<WallClock>,
}

impl Progress {
    pub(super) fn new(told: &QueueProgress) -> Self {
        let last_consumed = Some(told.last_timestamp).filter(|at| *at > 0).map(WallClock::from_millis);
        Self { end: told.broker_offset, committed: told.consumer_offset, last_consumed }
    }

    /// Messages that wait: stored, but not committed. `None` if the numbers do not fit: no commit (a negative one), or
    /// one behind the end, as after a broker lost its disk.
    pub fn lag(&self) -> Option<u64> {
        if self.committed < 0 { None } else { u64::try_from(self.end.checked_sub(self.committed)?).ok() }
    }
}

/// Messages that wait in several queues. What is not known is counted apart, not as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lag {
    /// In the queues whose lag is known.
    pub messages: u64,
    /// Queues whose lag is known.
    pub known: usize,
    /// Queues whose lag is not known.
    pub unknown: usize,
}

impl Lag {
    /// The sum, if all of it is known.
    pub fn total(&self) -> Option<u64> {
        (self.unknown == 0).then_some(self.messages)
    }
}

/// One more queue.
impl AddAssign<Option<u64>> for Lag {
    fn add_assign(&mut self, lag: Option<u64>) {
        match lag {
            Some(messages) => {
                self.messages = self.messages.saturating_add(messages);
                self.known += 1;
            }
            None => self.unknown += 1,
        }
    }
}

impl FromIterator<Option<u64>> for Lag {
    fn from_iter<I: IntoIterator<Item = Option<u64>>>(queues: I) -> Self {
        let mut sum = Self::default();
        queues.into_iter().for_each(|lag| sum += lag);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(end: i64, committed: i64) -> Progress {
        Progress { end, committed, last_consumed: None }
    }

    #[test]
    fn lag_is_a_number_only_if_the_offsets_fit() {
        assert_eq!(at(10, 4).lag(), Some(6));
        assert_eq!(at(10, 10).lag(), Some(0));
        assert_eq!(at(0, 7).lag(), None, "the broker has lost messages");
        assert_eq!(at(10, -1).lag(), None, "nothing committed");
        assert_eq!(at(i64::MIN, i64::MAX).lag(), None);
    }

    #[test]
    fn what_is_not_known_is_not_counted_as_nothing() {
        let sum: Lag = [Some(3), None, Some(4)].into_iter().collect();
        assert_eq!(sum, Lag { messages: 7, known: 2, unknown: 1 });
        assert_eq!((sum.total(), Lag::default().total()), (None, Some(0)));
    }
}
