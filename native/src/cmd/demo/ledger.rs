//! Who knows what was sent and what was consumed.

use std::sync::{Mutex, PoisonError};

/// Messages by number.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<Books>);

#[derive(Debug, Default)]
struct Books {
    /// Messages that a broker has confirmed.
    confirmed: Vec<bool>,
    /// How often each was consumed.
    seen: Vec<u32>,
    consumed: u64,
}

/// The sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Messages that a broker has confirmed.
    pub(super) sent: u64,
    /// Messages consumed, repeated ones counted again.
    pub(super) consumed: u64,
    /// Different messages consumed.
    pub(super) distinct: u64,
    /// Messages confirmed, but never consumed.
    pub(super) missing: u64,
    /// Messages consumed again.
    pub(super) duplicates: u64,
}

impl Ledger {
    /// A broker has confirmed message `number`.
    pub(super) fn sent(&self, number: usize) {
        self.books(|books| {
            if books.confirmed.len() <= number {
                books.confirmed.resize(number + 1, false);
            }
            books.confirmed[number] = true;
        });
    }

    /// A member has consumed message `number`.
    pub(super) fn consumed(&self, number: usize) {
        self.books(|books| {
            if books.seen.len() <= number {
                books.seen.resize(number + 1, 0);
            }
            books.seen[number] += 1;
            books.consumed += 1;
        });
    }

    /// The sums so far.
    pub(super) fn tally(&self) -> Tally {
        self.books(|books| {
            let count = |holds: &mut dyn Iterator<Item = bool>| holds.filter(|holds| *holds).count() as u64;
            let seen = |number: usize| books.seen.get(number).is_some_and(|times| *times > 0);
            let distinct = count(&mut books.seen.iter().map(|times| *times > 0));
            Tally {
                sent: count(&mut books.confirmed.iter().copied()),
                consumed: books.consumed,
                distinct,
                missing: count(&mut books.confirmed.iter().enumerate().map(|(at, sent)| *sent && !seen(at))),
                duplicates: books.consumed - distinct,
            }
        })
    }

    fn books<T>(&self, with: impl FnOnce(&mut Books) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_repeated_messages_are_told_apart() {
        let ledger = Ledger::default();
        (0..4).for_each(|number| ledger.sent(number));
        [0, 1, 1, 3].into_iter().for_each(|number| ledger.consumed(number));
        let tally = Tally { sent: 4, consumed: 4, distinct: 3, missing: 1, duplicates: 1 };
        assert_eq!(ledger.tally(), tally);
    }
}
