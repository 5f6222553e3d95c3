//! AVG_BY_CIRCLE: queues dealt like cards.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::{Allocate, AllocateError, Input, Owners, Seat, SortedMembers, SortedQueues, anyone_to_serve};
use crate::model::Group;

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
///     Circle.positions(&Input { group: &group, me: &me, queues: &queues, members: &members, nth: 0 })
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

    fn owners(
        &self,
        _: &Group,
        queues: &SortedQueues,
        members: &SortedMembers,
    ) -> Result<Owners, AllocateError> {
        if !anyone_to_serve(queues, members)? {
            return Ok(Owners::nobody(queues.len()));
        }
        Owners::from_places((0..members.len()).cycle().take(queues.len()).map(Some), members)
    }

    fn kept_by_seat(&self, queues: usize, before: Seat, after: Seat) -> Option<usize> {
        Some(common(queues as u128, before, after).unwrap_or(0) as usize)
    }
}

/// How many numbers below `queues` leave the remainder `before.place` when divided by `before.of`, and `after.place`
/// by `after.of`. Nothing if there is none, or no such seat.
fn common(queues: u128, before: Seat, after: Seat) -> Option<u128> {
    if before.place >= before.of || after.place >= after.of {
        return None;
    }
    let (a, m) = (before.place as u128, before.of as u128);
    let (b, n) = (after.place as u128, after.of as u128);
    let (shared, inverse) = gcd_and_inverse(m, n);
    // x = a + m·k with m·k ≡ b - a (mod n), so k ≡ (b - a)/g · (m/g)⁻¹ (mod n/g).
    let apart = (b + n - a % n) % n;
    if apart % shared != 0 {
        return None;
    }
    let period = n / shared;
    let first = a + m * ((apart / shared % period) * inverse % period);
    (first < queues).then(|| (queues - 1 - first) / (m * period) + 1)
}

/// The greatest common divisor g of m and n, and the inverse of m/g modulo n/g.
fn gcd_and_inverse(m: u128, n: u128) -> (u128, u128) {
    let (mut low, mut high) = ((m, 1_i128), (n, 0_i128));
    while high.0 != 0 {
        let times = low.0 / high.0;
        (low, high) = (high, (low.0 % high.0, low.1 - times as i128 * high.1));
    }
    let period = (n / low.0) as i128;
    (low.0, low.1.rem_euclid(period) as u128)
}
