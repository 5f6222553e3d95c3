//! CONFIG for a whole group: every member has a list of its own.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::allocate::{Allocate, AllocateError, ByConfig, Input, Owners, SortedMembers, SortedQueues};
use crate::model::{ClientId, Group, MessageQueue};
use crate::order;

/// The lists of all members. Who has no list gets nothing, as a member whose list is empty.
#[derive(Clone, Debug)]
pub(super) struct Lists(BTreeMap<ClientId, ByConfig>);

impl Lists {
    pub(super) fn new(lists: &BTreeMap<ClientId, Vec<MessageQueue>>) -> Self {
        Self(order::map(lists.iter().map(|(id, list)| (id.clone(), ByConfig::new(list.iter().cloned())))))
    }
}

impl Allocate for Lists {
    fn name(&self) -> Cow<'_, str> {
        "CONFIG".into()
    }

    fn positions(&self, input: &Input<'_>) -> Result<Vec<usize>, AllocateError> {
        self.0.get(input.me).map_or_else(|| Ok(Vec::new()), |list| list.positions(input))
    }

    fn owners(
        &self,
        _: &Group,
        queues: &SortedQueues,
        members: &SortedMembers,
    ) -> Result<Owners, AllocateError> {
        let mut owners = Owners::nobody(queues.len());
        for (place, id) in members.iter().enumerate() {
            for queue in self.0.get(id).map(ByConfig::listed).unwrap_or_default() {
                if let Some(at) = queues.position(queue) {
                    owners.give(at, place)?;
                }
            }
        }
        Ok(owners)
    }
}
