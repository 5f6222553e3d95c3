//! AVG: consecutive runs of queues. The default of RocketMQ.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use core::iter;
use core::ops::Range;

use super::{Allocate, AllocateError, Input, Owners, Seat, SortedMembers, SortedQueues, anyone_to_serve};
use crate::model::Group;

/// Cuts the queue list into one run for each member, in order. Each run has ⌊n/m⌋ queues, and the first n mod m members
/// have one more. With more members than queues, the first n members have one queue each and the others none.
///
/// Equals Java's `AllocateMessageQueueAveragely`
/// (rocketmq:client/src/main/java/org/apache/rocketmq/client/consumer/rebalance/AllocateMessageQueueAveragely.java).
///
/// Queues of one broker stand together in the list, so a member often gets all its queues from one broker; and with
/// many topics that have few queues each, the members that sort last stay idle in all of them.
///
/// # Example
///
/// Ten queues and four members: two members have three queues, two have two.
///
/// ```
/// use evenkeel_core::allocate::{Allocate, Average, Input, SortedMembers, SortedQueues};
/// use evenkeel_core::model::{ClientId, Group, MessageQueue};
///
/// let queues = SortedQueues::new((0..10).map(|id| MessageQueue::new("T", "b", id)));
/// let members = SortedMembers::new(["c1", "c2", "c3", "c4"].map(ClientId::from));
/// let group = Group::from("g");
/// let share = |me: &str| {
///     let me = ClientId::from(me);
///     Average.positions(&Input { group: &group, me: &me, queues: &queues, members: &members, nth: 0 })
/// };
/// assert_eq!(share("c1")?, [0, 1, 2]);
/// assert_eq!(share("c2")?, [3, 4, 5]);
/// assert_eq!(share("c3")?, [6, 7]);
/// assert_eq!(share("c4")?, [8, 9]);
/// assert!(share("stranger")?.is_empty());
/// # Ok::<(), evenkeel_core::allocate::AllocateError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Average;

impl Allocate for Average {
    fn name(&self) -> Cow<'_, str> {
        "AVG".into()
    }

    fn positions(&self, input: &Input<'_>) -> Result<Vec<usize>, AllocateError> {
        let Some(place) = input.place()? else {
            return Ok(Vec::new());
        };
        Ok(run(input.queues.len(), Seat { place, of: input.members.len() }).collect())
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
        let of = members.len();
        let runs = (0..of).map(|place| (place, run(queues.len(), Seat { place, of })));
        Owners::from_places(runs.flat_map(|(place, run)| iter::repeat_n(Some(place), run.len())), members)
    }

    fn kept_by_seat(&self, queues: usize, before: Seat, after: Seat) -> Option<usize> {
        let (before, after) = (run(queues, before), run(queues, after));
        Some(before.end.min(after.end).saturating_sub(before.start.max(after.start)))
    }
}

/// The positions that go with a seat; none if there are no seats.
fn run(queues: usize, Seat { place, of }: Seat) -> Range<usize> {
    if place >= of {
        return 0..0;
    }
    let (least, with_one_more) = (queues / of, queues % of);
    let start = place * least + place.min(with_one_more);
    start..start + least + usize::from(place < with_one_more)
}
