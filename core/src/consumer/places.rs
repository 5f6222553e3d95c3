//! What is ours by a list of members: the queues of each of our places in it.
//!
//! A list has a member twice if two processes have its id, or for up to two minutes if a broker was slow:
//!
//! 1. The member's heartbeat waits in the broker for its turn.
//! 2. The member gives up on the connection and hangs up; the broker forgets it.
//! 3. The heartbeat has its turn and makes the ended connection a member. Nobody will ever say that it ended.
//! 4. The member comes back over another connection and stands there twice, until the first is 120 s without a heartbeat.
//!
//! All others, Java's too, leave both places their queues, and a Java member takes those of the first alone: for so long
//! nobody reads the others. Here both are ours. Of two processes with one id each takes them, so these queues are read
//! twice, and none is left unread.

use super::Consumer;
use super::io::Event;
use crate::allocate::{AllocateError, Input, SortedMembers, SortedQueues};
use crate::model::{Address, MessageQueue};
use alloc::collections::BTreeSet;

impl Consumer {
    /// Whether the list has us, once. Acting on a list without us is right (the broker has given our share to others),
    /// and so is acting on one that has us twice, but both are worth telling.
    pub(super) fn look_for_ourselves(&mut self, from: &Address, members: &SortedMembers) {
        let times = self.places(members);
        if times == 0 {
            self.membership.unregistered(from);
            self.event(Event::NotAMember { broker: from.clone() });
        }
        if times > 1 && !self.rebalance.duplicate {
            self.event(Event::DuplicateClientId { client: self.config.client.clone(), times });
        }
        self.rebalance.duplicate = times > 1;
    }

    /// What the strategy gives us of a topic's queues, which are not none.
    pub(super) fn share(
        &self,
        queues: &SortedQueues,
        members: &SortedMembers,
    ) -> Result<BTreeSet<MessageQueue>, AllocateError> {
        let (group, me) = (&self.config.group, &self.config.client);
        let mut mine = BTreeSet::new();
        for nth in 0..self.places(members) {
            let given = self.config.strategy.allocate(&Input { group, me, queues, members, nth })?;
            mine.extend(given.into_iter().filter(|queue| queues.position(queue).is_some()));
        }
        Ok(mine)
    }

    fn places(&self, members: &SortedMembers) -> usize {
        members.iter().filter(|member| **member == self.config.client).count()
    }
}
