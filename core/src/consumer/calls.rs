//! Calls in flight and what each is for.
//!
//! A reply is looked up by its call, and the call names the life of the queue it serves. An ended life is not in the
//! table any more, so a late reply finds nothing to change: that is the whole defence, and it needs no flags.

use crate::model::{Address, CallId, ClientId, MessageQueue, QueueEpoch, Topic};
use crate::time::Instant;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// What a call is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Route(Topic),
    /// Whether a broker can evaluate the subscription of that version.
    Check(Topic, i64),
    Heartbeat,
    Members,
    /// What the broker gives us of one topic.
    Assignment,
    /// Who is connected, where all members have to do as we do.
    Connections,
    /// What a member runs.
    Settings(ClientId),
    /// First step of locating: the committed offset.
    Locate(QueueEpoch),
    /// Second step, if there is none: the start policy's offset.
    StartPolicy(QueueEpoch),
    Pull(QueueEpoch),
    Pop(QueueEpoch),
    /// What became of a popped message, by its number in its life.
    Settle(QueueEpoch, u64),
    Commit(QueueEpoch, i64),
    /// Before the last commit of a queue that went away: has its new owner committed more already?
    LastLook(QueueEpoch),
    SendBack(QueueEpoch, i64),
    /// Locks of these lives, all of one broker.
    Lock(Vec<QueueEpoch>),
    Unlock(BTreeSet<MessageQueue>),
    Unregister,
}

#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) purpose: Purpose,
    pub(crate) to: Address,
    pub(crate) sent: Instant,
}

/// Calls in flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    last: u64,
    pending: BTreeMap<CallId, Pending>,
}

impl Calls {
    pub(crate) fn open(&mut self, purpose: Purpose, to: Address, sent: Instant) -> CallId {
        self.last += 1;
        let call = CallId(self.last);
        self.pending.insert(call, Pending { purpose, to, sent });
        call
    }

    pub(crate) fn close(&mut self, call: CallId) -> Option<Pending> {
        self.pending.remove(&call)
    }

    /// The calls to an address, oldest first.
    pub(crate) fn to(&self, to: &Address) -> Vec<CallId> {
        self.pending.iter().filter(|(_, pending)| pending.to == *to).map(|(call, _)| *call).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.pending.len()
    }

    pub(crate) fn clear(&mut self) {
        self.pending.clear();
    }
}
