//! AVG_BY_CIRCLE: queues dealt like cards.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::{Allocate, AllocateError, Input};

/// Deals the queues out one by one, in order, going round the members until none is left: the member in place i has
/// queues i, i+m, i+2m and so on.
///
/// Equals Java's `AllocateMessageQueueAveragelyByCircle`
/// (rocketmq:client/src/main/java/org/apache/rocketmq/client/consumer/rebalance/AllocateMessageQueueAveragelyByCircle.java).
///
/// Each member gets queues of all brokers. The price: when a member joins or leaves, most queues change hands.
///
/// # Example
///
/// ```
/// use evenkeel_core::allocate::{Allocate, Circle, Input, SortedMembers, SortedQueues};
/// use evenkeel_core::model::{ClientId, Group, MessageQueue};
///
/// let queues = SortedQueues::new((0..8).map(|id| MessageQueue::new("T", "b", id)));
/// let members = SortedMembers::new(["c1", "c2", "c3"].map(ClientId::from));
/// let group = Group::from("g");
/// let share = |me: &str| {
///     let me = ClientId::from(me);
///     Circle.positions(&Input { group: &group, me: &me, queues: &queues, members: &members })
/// };
/// assert_eq!(share("c1")?, [0, 3, 6]);
/// assert_eq!(share("c2")?, [1, 4, 7]);
/// assert_eq!(share("c3")?, [2, 5]);
/// # Ok::<(), evenkeel_core::allocate::AllocateError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Circle;

impl Allocate for Circle {
    fn name(&self) -> Cow<'_, str> {
        "AVG_BY_CIRCLE".into()
    }

    fn positions(&self, input: &Input<'_>) -> Result<Vec<usize>, AllocateError> {
        let Some(place) = input.place()? else {
            return Ok(Vec::new());
        };
        Ok((place..input.queues.len()).step_by(input.members.len()).collect())
    }
}
