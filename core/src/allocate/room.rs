//! Machine rooms: their names, and who stands in which.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt::{self, Debug};

use super::{AllocateError, Roomless, SortedMembers, SortedQueues};
use crate::model::{BrokerName, ClientId, MessageQueue, java_order};

/// The name of a machine room. Sorts as Java sorts text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Room(Arc<str>);

impl Room {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Knows the room of every broker and every member. Members of one group need to agree on it.
pub trait RoomOf: Debug + Send + Sync {
    /// The room of the queue's broker. `None` and an empty name both mean that it is not known.
    fn queue(&self, queue: &MessageQueue) -> Option<Room>;

    /// The room of a member. `None` and an empty name both mean that it is not known.
    fn member(&self, id: &ClientId) -> Option<Room>;
}

/// Rooms by naming convention: the text before the first `separator` of the broker's name and of the client id.
///
/// ```
/// use evenkeel_core::allocate::{Room, RoomOf, RoomPrefix};
/// use evenkeel_core::model::ClientId;
///
/// let rooms = RoomPrefix { separator: '-' };
/// assert_eq!(rooms.member(&ClientId::from("hz-10.0.0.1@1")), Some(Room::from("hz")));
/// assert_eq!(rooms.member(&ClientId::from("10.0.0.1@1")), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomPrefix {
    /// What ends the room's name.
    pub separator: char,
}

/// Rooms by a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomTable {
    /// Room of each broker.
    pub brokers: BTreeMap<BrokerName, Room>,
    /// Room of each member.
    pub members: BTreeMap<ClientId, Room>,
}

impl RoomOf for RoomPrefix {
    fn queue(&self, queue: &MessageQueue) -> Option<Room> {
        self.before_separator(queue.broker.as_str())
    }

    fn member(&self, id: &ClientId) -> Option<Room> {
        self.before_separator(id.as_str())
    }
}

impl RoomPrefix {
    fn before_separator(&self, name: &str) -> Option<Room> {
        name.split_once(self.separator).map(|(room, _)| Room::from(room))
    }
}

impl RoomOf for RoomTable {
    fn queue(&self, queue: &MessageQueue) -> Option<Room> {
        self.brokers.get(&queue.broker).cloned()
    }

    fn member(&self, id: &ClientId) -> Option<Room> {
        self.members.get(id).cloned()
    }
}

/// The positions in each room, ascending.
pub(super) type ByRoom = BTreeMap<Room, Vec<usize>>;

/// The queues and the members in each room, as positions.
pub(super) fn by_room(
    rooms: &dyn RoomOf,
    queues: &SortedQueues,
    members: &SortedMembers,
) -> Result<(ByRoom, ByRoom), AllocateError> {
    let queues = grouped(queues, |queue| rooms.queue(queue), |queue| Roomless::Queue(queue.clone()))?;
    let members = grouped(members, |id| rooms.member(id), |id| Roomless::Member(id.clone()))?;
    Ok((queues, members))
}

fn grouped<T>(
    entries: &[T],
    room_of: impl Fn(&T) -> Option<Room>,
    roomless: impl Fn(&T) -> Roomless,
) -> Result<ByRoom, AllocateError> {
    let mut rooms: ByRoom = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let known = room_of(entry).filter(|room| !room.as_str().is_empty());
        let room = known.ok_or_else(|| AllocateError::NoRoom { of: roomless(entry) })?;
        rooms.entry(room).or_default().push(at);
    }
    Ok(rooms)
}

impl From<&str> for Room {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}
impl From<String> for Room {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}
impl PartialOrd for Room {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Room {
    fn cmp(&self, other: &Self) -> Ordering {
        java_order(&self.0, &other.0)
    }
}
impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}
