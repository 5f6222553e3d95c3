//! Which member of a group gets which queue.
//!
//! Nobody hands queues out in RocketMQ: every member takes the same two lists, runs the same rule over them and keeps
//! what the rule gives to itself. The group is sound only while all members compute one answer, and the others may be
//! Java. So the lists are a type of their own, [`Sorted`], that cannot hold any order but Java's, and each rule here
//! gives the answers of the Java class that its file names, for every vector in `tests/golden/allocate-*.json`.
//!
//! | strategy | name | rule in short |
//! |---|---|---|
//! | [`Average`] | `AVG` | consecutive runs of queues, the first members one more |
//! | [`Circle`] | `AVG_BY_CIRCLE` | queues dealt like cards |
//! | [`ConsistentHash`] | `CONSISTENT_HASH` | the next point on a hash ring |
//! | [`MachineRoom`] | `MACHINE_ROOM` | only queues of allowed rooms, shared by all members |
//! | [`Nearby`] | `MACHINE_ROOM_NEARBY-` + inner | each room for its own members, rooms without members for all |
//! | [`ByConfig`] | `CONFIG` | a list written down beforehand |
//! | [`Draft`] | `AVG_BY_DRAFT` | ours: members pick favourites in turn; even, and little moves |
//!
//! # Example
//!
//! ```
//! use evenkeel_core::allocate::{Allocate, Average, Input, SortedMembers, SortedQueues};
//! use evenkeel_core::model::{ClientId, Group, MessageQueue};
//!
//! let queues = SortedQueues::new((0..8).rev().map(|id| MessageQueue::new("orders", "broker-a", id)));
//! let members = SortedMembers::new(["c3", "c1", "c2"].map(ClientId::from));
//! let (group, me) = (Group::from("pay"), ClientId::from("c3"));
//! let mine = Average.allocate(&Input { group: &group, me: &me, queues: &queues, members: &members, nth: 0 })?;
//! assert_eq!(mine, [MessageQueue::new("orders", "broker-a", 6), MessageQueue::new("orders", "broker-a", 7)]);
//! # Ok::<(), evenkeel_core::allocate::AllocateError>(())
//! ```

mod average;
mod circle;
mod config;
mod consistent_hash;
mod draft;
mod error;
mod go_ring;
mod machine_room;
mod named;
mod nearby;
mod owners;
mod ring;
mod room;
mod sorted;

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Debug;

pub use average::Average;
pub use circle::Circle;
pub use config::ByConfig;
pub use consistent_hash::{ConsistentHash, md5_hash};
pub use draft::{Draft, Identity, RoomRule};
pub use error::{AllocateError, Roomless};
pub use go_ring::GoRing;
pub use machine_room::MachineRoom;
pub use named::{AVAILABLE, NameError, named};
pub use nearby::Nearby;
pub use owners::Owners;
pub use room::{Room, RoomOf, RoomPrefix, RoomTable};
pub use sorted::{JavaOrder, Sorted, SortedMembers, SortedQueues};

use crate::model::{ClientId, Group, MessageQueue};

/// A rule that shares queues among the members of a group. Implement it to bring a rule of your own.
///
/// # Contract
///
/// A strategy is a pure function of its settings and its input: no clock, no randomness, no memory. Members with equal
/// settings must come to answers that fit together without talking, so whatever else it looks at splits the group.
///
/// A strategy answers with positions in the list it was given; it cannot hand out a queue that is not there.
///
/// # Example
///
/// ```
/// use evenkeel_core::allocate::{Allocate, AllocateError, Input};
/// use std::borrow::Cow;
///
/// /// Everything for the member that sorts first; the others stand by.
/// #[derive(Debug)]
/// struct Leader;
///
/// impl Allocate for Leader {
///     fn name(&self) -> Cow<'_, str> {
///         "LEADER".into()
///     }
///     fn positions(&self, input: &Input<'_>) -> Result<Vec<usize>, AllocateError> {
///         Ok(match input.place()? {
///             Some(0) => (0..input.queues.len()).collect(),
///             _ => Vec::new(),
///         })
///     }
/// }
/// ```
pub trait Allocate: Debug + Send + Sync {
    /// The name that all members of a group have to agree on; Java's `getName`.
    fn name(&self) -> Cow<'_, str>;

    /// Positions in `input.queues` of what `input.me` gets, in the order in which the rule gives it. A member that is
    /// not in the list gets nothing, which is no error.
    ///
    /// # Errors
    ///
    /// Whatever the strategy cannot work with. The caller leaves the topic as it is.
    fn positions(&self, input: &Input<'_>) -> Result<Vec<usize>, AllocateError>;

    /// The answers of all members at once. What is given here equals asking each distinct client id in turn; the rules
    /// of this crate come to it in one pass instead. With nobody in the group, nobody owns anything; a member without
    /// a client id cannot ask and owns nothing.
    ///
    /// # Errors
    ///
    /// As for `positions` and `allocate`: the first error that any member would meet.
    fn owners(
        &self,
        group: &Group,
        queues: &SortedQueues,
        members: &SortedMembers,
    ) -> Result<Owners, AllocateError> {
        Owners::from_answers(queues.len(), members, |place| {
            self.positions(&Input { group, me: &members[place], queues, members, nth: 0 })
        })
    }

    /// Whether no client but this one knows the rule. Then every member of the group has to be one of ours that runs it,
    /// and a consumer looks who is there before it takes queues
    /// ([`foreign_members`](crate::config::Limits::foreign_members)).
    fn is_ours_alone(&self) -> bool {
        false
    }

    /// For rules that look at nothing but numbers and places: how many of a topic's `queues` a member keeps that had
    /// one seat and now has another. `None`, if it is not said, for rules that look at names.
    fn kept_by_seat(&self, _queues: usize, _before: Seat, _after: Seat) -> Option<usize> {
        None
    }

    /// The queues at [`Allocate::positions`].
    ///
    /// # Errors
    ///
    /// As for `positions`; and [`AllocateError::NotAPosition`] if a strategy names a position beyond the list.
    fn allocate(&self, input: &Input<'_>) -> Result<Vec<MessageQueue>, AllocateError> {
        self.positions(input)?
            .into_iter()
            .map(|at| input.queues.get(at).cloned().ok_or(AllocateError::NotAPosition { at }))
            .collect()
    }
}

impl<A: Allocate + ?Sized> Allocate for Arc<A> {
    fn name(&self) -> Cow<'_, str> {
        (**self).name()
    }

    fn positions(&self, input: &Input<'_>) -> Result<Vec<usize>, AllocateError> {
        (**self).positions(input)
    }

    fn owners(
        &self,
        group: &Group,
        queues: &SortedQueues,
        members: &SortedMembers,
    ) -> Result<Owners, AllocateError> {
        (**self).owners(group, queues, members)
    }

    fn is_ours_alone(&self) -> bool {
        (**self).is_ours_alone()
    }

    fn kept_by_seat(&self, queues: usize, before: Seat, after: Seat) -> Option<usize> {
        (**self).kept_by_seat(queues, before, after)
    }

    fn allocate(&self, input: &Input<'_>) -> Result<Vec<MessageQueue>, AllocateError> {
        (**self).allocate(input)
    }
}

/// Where a member stands in the sorted list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Its place, from 0.
    pub place: usize,
    /// How many members there are.
    pub of: usize,
}

/// What one member asks a strategy.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The group. None of Java's strategies looks at it.
    pub group: &'a Group,
    /// The member that asks.
    pub me: &'a ClientId,
    /// All readable queues of one topic.
    pub queues: &'a SortedQueues,
    /// All members of the group, with the one that asks.
    pub members: &'a SortedMembers,
    /// Which of its places the member asks for, from 0. Above 0 only for a client id that the list has more than once;
    /// rules that look at no places do not look at this.
    pub nth: usize,
}

impl Input<'_> {
    /// The check that every strategy but CONFIG begins with: where the member stands in the list, counted from 0.
    /// `None` if it is not there (or not so often). Java's members ask for the first place alone: of a client id that
    /// occurs twice the second place, and the queues that go with it, belong to nobody.
    ///
    /// # Errors
    ///
    /// In this order: no client id, no queues, no members.
    pub fn place(&self) -> Result<Option<usize>, AllocateError> {
        if self.me.as_str().is_empty() {
            return Err(AllocateError::NoMember);
        }
        if self.queues.is_empty() {
            return Err(AllocateError::NoQueues);
        }
        if self.members.is_empty() {
            return Err(AllocateError::NoMembers);
        }
        let place = self.members.position(self.me).map(|first| first + self.nth);
        Ok(place.filter(|place| self.members.get(*place) == Some(self.me)))
    }
}

/// What rules that need both ask before they share for all: nobody there is no error, no queues is one.
fn anyone_to_serve(queues: &SortedQueues, members: &SortedMembers) -> Result<bool, AllocateError> {
    match (queues.is_empty(), members.iter().any(|id| !id.as_str().is_empty())) {
        (true, true) => Err(AllocateError::NoQueues),
        (_, anyone) => Ok(anyone),
    }
}
