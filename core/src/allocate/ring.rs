//! What hash rings have in common: each knows who stands where for all queues at once, and the answers follow from that.

use alloc::vec::Vec;

use super::{AllocateError, Input, Owners, SortedMembers, SortedQueues, anyone_to_serve};

/// A strategy that finds the owner of every queue on a ring of points.
pub(super) trait Ring {
    /// The owner of each queue, as a place in the member list; the first place of an id that is repeated.
    fn places(&self, queues: &SortedQueues, members: &SortedMembers) -> Vec<Option<usize>>;

    /// One member's share.
    fn share(&self, input: &Input<'_>) -> Result<Vec<usize>, AllocateError> {
        let Some(place) = input.place()? else {
            return Ok(Vec::new());
        };
        let places = self.places(input.queues, input.members);
        Ok((0..).zip(places).filter(|&(_, owner)| owner == Some(place)).map(|(at, _)| at).collect())
    }

    /// The shares of all.
    fn shares(&self, queues: &SortedQueues, members: &SortedMembers) -> Result<Owners, AllocateError> {
        if !anyone_to_serve(queues, members)? {
            return Ok(Owners::nobody(queues.len()));
        }
        Owners::from_places(self.places(queues, members), members)
    }
}
