//! MACHINE_ROOM_NEARBY: each room for its own members, rooms without members for all.

use alloc::borrow::Cow;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::room::by_room;
use super::{Allocate, AllocateError, Input, Owners, RoomOf, SortedMembers, SortedQueues, anyone_to_serve};
use crate::model::Group;

/// Shares the queues of each machine room among the members in that room, by an inner strategy. A room that has queues
/// and no members at all is shared, by the same strategy, among all members of the group. Rooms come in the order of
/// their names: first the member's own, then those without members.
///
/// Equals Java's `AllocateMachineRoomNearby`
/// (rocketmq:client/src/main/java/org/apache/rocketmq/client/consumer/rebalance/AllocateMachineRoomNearby.java). With
/// [`ByConfig`](super::ByConfig) inside, each room is given only those queues of the list that it has.
///
/// # Example
///
/// Three rooms; nobody is in r3, so its queues are shared by all.
///
/// ```
/// use evenkeel_core::allocate::{Allocate, Average, Input, Nearby, RoomPrefix, SortedMembers, SortedQueues};
/// use evenkeel_core::model::{ClientId, Group, MessageQueue};
///
/// let brokers = ["r1-a", "r2-a", "r3-a"];
/// let queues: SortedQueues =
///     brokers.iter().flat_map(|&broker| (0..3).map(move |id| MessageQueue::new("T", broker, id))).collect();
/// let members = SortedMembers::new(["r1-c1", "r1-c2", "r2-c1"].map(ClientId::from));
/// let strategy = Nearby::new(Average, RoomPrefix { separator: '-' });
/// assert_eq!(strategy.name(), "MACHINE_ROOM_NEARBY-AVG");
///
/// let group = Group::from("g");
/// let share = |me: &str| {
///     let me = ClientId::from(me);
///     let mine = strategy.allocate(&Input { group: &group, me: &me, queues: &queues, members: &members, nth: 0 })?;
///     Ok::<_, evenkeel_core::allocate::AllocateError>(mine.iter().map(|q| format!("{}:{}", q.broker, q.id)).collect::<Vec<_>>())
/// };
/// assert_eq!(share("r1-c1")?, ["r1-a:0", "r1-a:1", "r3-a:0"]);
/// assert_eq!(share("r1-c2")?, ["r1-a:2", "r3-a:1"]);
/// assert_eq!(share("r2-c1")?, ["r2-a:0", "r2-a:1", "r2-a:2", "r3-a:2"]);
/// # Ok::<(), evenkeel_core::allocate::AllocateError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Nearby {
    inner: Arc<dyn Allocate>,
    rooms: Arc<dyn RoomOf>,
}

impl Nearby {
    /// Shares each room by `inner`; `rooms` says who is where. An `Arc<dyn Allocate>` is an inner strategy too.
    pub fn new(inner: impl Allocate + 'static, rooms: impl RoomOf + 'static) -> Self {
        Self { inner: Arc::new(inner), rooms: Arc::new(rooms) }
    }
}

impl Allocate for Nearby {
    fn name(&self) -> Cow<'_, str> {
        format!("MACHINE_ROOM_NEARBY-{}", self.inner.name()).into()
    }

    fn is_ours_alone(&self) -> bool {
        self.inner.is_ours_alone()
    }

    fn positions(&self, input: &Input<'_>) -> Result<Vec<usize>, AllocateError> {
        let Some(place) = input.place()? else {
            return Ok(Vec::new());
        };
        let (queues, members) = by_room(&*self.rooms, input.queues, input.members)?;

        let mut mine = Vec::new();
        let own = members.iter().find(|(_, places)| places.contains(&place));
        if let Some((there, places)) = own.and_then(|(room, places)| Some((queues.get(room)?, places))) {
            let neighbours = input.members.subset(places);
            self.share(there, &Input { members: &neighbours, ..*input }, &mut mine)?;
        }
        for (_, there) in queues.iter().filter(|(room, _)| !members.contains_key(room)) {
            self.share(there, input, &mut mine)?;
        }
        Ok(mine)
    }

    fn owners(
        &self,
        group: &Group,
        queues: &SortedQueues,
        members: &SortedMembers,
    ) -> Result<Owners, AllocateError> {
        if !anyone_to_serve(queues, members)? {
            return Ok(Owners::nobody(queues.len()));
        }
        let (queue_rooms, member_rooms) = by_room(&*self.rooms, queues, members)?;
        let everybody: Vec<usize> = (0..members.len()).collect();
        let mut owners = Owners::nobody(queues.len());
        for (room, there) in &queue_rooms {
            let places = member_rooms.get(room).unwrap_or(&everybody);
            let part = self.inner.owners(group, &queues.subset(there), &members.subset(places))?;
            for (at, place) in part.pairs() {
                let queue = there.get(at).ok_or(AllocateError::NotAPosition { at })?;
                if let Some(&place) = places.get(place) {
                    owners.give(*queue, place)?;
                }
            }
        }
        Ok(owners)
    }
}

impl Nearby {
    /// Adds to `mine` what the inner strategy gives of the queues at `there`.
    fn share(&self, there: &[usize], input: &Input<'_>, mine: &mut Vec<usize>) -> Result<(), AllocateError> {
        let queues = input.queues.subset(there);
        for at in self.inner.positions(&Input { queues: &queues, ..*input })? {
            mine.push(*there.get(at).ok_or(AllocateError::NotAPosition { at })?);
        }
        Ok(())
    }
}
