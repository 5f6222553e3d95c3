//! Lists that are in Java's order because they cannot be in any other.

use alloc::vec::Vec;
use core::ops::Deref;

use crate::model::{ClientId, MessageQueue};

/// The queues of a topic by topic, broker name (as text) and queue id (as number).
pub type SortedQueues = Sorted<MessageQueue>;

/// The members of a group by client id, as text: `10.0.0.10@1` comes before `10.0.0.9@1`.
pub type SortedMembers = Sorted<ClientId>;

/// A list in Java's order. Every constructor sorts; repeated entries stay, because Java's members act on them too.
///
/// ```
/// use evenkeel_core::allocate::SortedMembers;
/// use evenkeel_core::model::ClientId;
///
/// let members = SortedMembers::new(["10.0.0.9@1", "10.0.0.10@1", "10.0.0.9@1"].map(ClientId::from));
/// assert_eq!(members[0].as_str(), "10.0.0.10@1");
/// assert_eq!(members.len(), 3);
/// assert_eq!(members.repeated().collect::<Vec<_>>(), [&ClientId::from("10.0.0.9@1")]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorted<T>(Vec<T>);

/// What [`Sorted`] can hold: types whose `Ord` is the order that Java's members sort by.
pub trait JavaOrder: Ord + sealed::Sealed {}
impl JavaOrder for MessageQueue {}
impl JavaOrder for ClientId {}

impl<T: JavaOrder> Sorted<T> {
    /// Sorts what it is given.
    pub fn new(entries: impl IntoIterator<Item = T>) -> Self {
        let mut entries: Vec<T> = entries.into_iter().collect();
        // Equal entries are the same in every respect, so an unstable sort cannot be told from a stable one.
        entries.sort_unstable();
        Self(entries)
    }

    /// Where `entry` stands; the first place if it occurs more than once.
    pub fn position(&self, entry: &T) -> Option<usize> {
        let at = self.0.partition_point(|other| other < entry);
        (self.0.get(at) == Some(entry)).then_some(at)
    }

    /// Each entry that occurs more than once, once. For members this means a split group: all who share an id take the
    /// same queues, and in Java the queues of the other places go to nobody.
    pub fn repeated(&self) -> impl Iterator<Item = &T> {
        self.0.chunk_by(|a, b| a == b).filter_map(|run| if run.len() > 1 { run.first() } else { None })
    }
}

impl<T: JavaOrder + Clone> Sorted<T> {
    /// The entries at `positions`, which have to ascend.
    pub(super) fn subset(&self, positions: &[usize]) -> Self {
        debug_assert!(positions.is_sorted(), "a subset keeps the order");
        Self(positions.iter().filter_map(|&at| self.0.get(at).cloned()).collect())
    }
}

impl<T> Deref for Sorted<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: JavaOrder> From<Vec<T>> for Sorted<T> {
    fn from(entries: Vec<T>) -> Self {
        Self::new(entries)
    }
}

impl<T: JavaOrder> FromIterator<T> for Sorted<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        Self::new(entries)
    }
}

impl<'a, T> IntoIterator for &'a Sorted<T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::model::MessageQueue {}
    impl Sealed for crate::model::ClientId {}
}
