//! MACHINE_ROOM: only queues of allowed rooms, shared by all members.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::{Allocate, AllocateError, Input, Owners, Room, SortedMembers, SortedQueues, anyone_to_serve};
use crate::model::Group;
use crate::order;

/// Shares the queues whose brokers are called `room@name`, with an allowed room, among all members; queues of other
/// brokers go to nobody. The member in place i of m gets the i-th run of ⌊n/m⌋ queues; the n mod m queues left at the
/// end of the list go one each to the first members, so a share has a gap.
///
/// A name fits if it has exactly two parts around a single `@`, where `@`s at the very end do not count: `r@b` and
/// `r@b@` fit, `r`, `r@` and `r@b@c` do not, and in `@b` the room is the empty text.
///
/// Equals Java's `AllocateMessageQueueByMachineRoom`
/// (rocketmq:client/src/main/java/org/apache/rocketmq/client/consumer/rebalance/AllocateMessageQueueByMachineRoom.java).
/// The allowed rooms are each member's own setting. Where they differ within a group, queues have two owners or none.
///
/// # Example
///
/// ```
/// use evenkeel_core::allocate::{Allocate, Input, MachineRoom, SortedMembers, SortedQueues};
/// use evenkeel_core::model::{ClientId, Group, MessageQueue};
///
/// let brokers = ["room1@a", "room2@b", "room3@c"];
/// let queues: SortedQueues =
///     brokers.iter().flat_map(|&broker| (0..4).map(move |id| MessageQueue::new("T", broker, id))).collect();
/// let members = SortedMembers::new(["c1", "c2", "c3"].map(ClientId::from));
/// let strategy = MachineRoom::new(["room1", "room2"]);
/// let group = Group::from("g");
/// let share = |me: &str| {
///     let me = ClientId::from(me);
///     let mine = strategy.allocate(&Input { group: &group, me: &me, queues: &queues, members: &members, nth: 0 })?;
///     Ok::<_, evenkeel_core::allocate::AllocateError>(mine.iter().map(|q| format!("{}:{}", q.broker, q.id)).collect::<Vec<_>>())
/// };
/// assert_eq!(share("c1")?, ["room1@a:0", "room1@a:1", "room2@b:2"]);
/// assert_eq!(share("c2")?, ["room1@a:2", "room1@a:3", "room2@b:3"]);
/// assert_eq!(share("c3")?, ["room2@b:0", "room2@b:1"]);
/// # Ok::<(), evenkeel_core::allocate::AllocateError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineRoom {
    /// `None`: never set.
    rooms: Option<BTreeSet<Room>>,
}

impl MachineRoom {
    /// Consumes from these rooms only. With none, nobody gets anything. A [`MachineRoom::default`] that was never told
    /// its rooms is an error as soon as a queue is in a room.
    pub fn new<R: Into<Room>>(rooms: impl IntoIterator<Item = R>) -> Self {
        Self { rooms: Some(order::set(rooms.into_iter().map(Into::into))) }
    }
}

impl Allocate for MachineRoom {
    fn name(&self) -> Cow<'_, str> {
        "MACHINE_ROOM".into()
    }

    fn positions(&self, input: &Input<'_>) -> Result<Vec<usize>, AllocateError> {
        let Some(place) = input.place()? else {
            return Ok(Vec::new());
        };
        let allowed = self.allowed(input.queues)?;
        let members = input.members.len();
        let (least, left) = (allowed.len() / members, allowed.len() % members);
        let run = allowed.iter().skip(place * least).take(least);
        let extra = allowed.iter().skip(place + members * least).take(usize::from(place < left));
        Ok(run.chain(extra).copied().collect())
    }

    fn owners(
        &self,
        _: &Group,
        queues: &SortedQueues,
        members: &SortedMembers,
    ) -> Result<Owners, AllocateError> {
        if !anyone_to_serve(queues, members)? {
            return Ok(Owners::nobody(queues.len()));
        }
        let allowed = self.allowed(queues)?;
        let in_runs = allowed.len() / members.len() * members.len();
        let mut places = vec![None; queues.len()];
        for (number, &at) in allowed.iter().enumerate() {
            let place = if number < in_runs { number / (in_runs / members.len()) } else { number - in_runs };
            places[at] = Some(place);
        }
        Owners::from_places(places, members)
    }
}

impl MachineRoom {
    /// Positions of the queues in allowed rooms.
    fn allowed(&self, queues: &SortedQueues) -> Result<Vec<usize>, AllocateError> {
        let mut allowed = Vec::new();
        for (at, queue) in queues.iter().enumerate() {
            if let Some(room) = room_of(queue.broker.as_str()) {
                let rooms = self.rooms.as_ref().ok_or(AllocateError::RoomsNotSet)?;
                if rooms.contains(&Room::from(room)) {
                    allowed.push(at);
                }
            }
        }
        Ok(allowed)
    }
}

/// The part before the `@`, if the name has exactly two parts.
fn room_of(broker: &str) -> Option<&str> {
    let (room, name) = broker.trim_end_matches('@').split_once('@')?;
    (!name.contains('@')).then_some(room)
}
