//! Broadcasting: every member has every queue, and keeps its own offsets.
//!
//! The offsets stand in a file of this member ([`Output::Save`]), nowhere else. So:
//!
//! * What is known of a queue stays known when it goes: its broker may be away for a while, and comes back. An entry is
//!   replaced, never removed.
//! * One write is under way at a time, of the whole table. What changes meanwhile follows with the next one.
//! * A queue counts as committed when the file has it. A write that failed is repeated with the next round of commits.
//! * The start of a queue that has no entry is written at once: after a crash it goes on there, and does not start again
//!   behind what came in between.
//!
//! There is nobody to share with: no member list is asked for, no lock, no retry topic. A message whose handler fails is
//! told of and dropped; an orderly consumer tries it again here, as often as `max_retries` says.

use super::Consumer;
use super::io::{Event, Output};
use crate::model::{MessageQueue, QueueEpoch};
use crate::wire::request::MessageModel;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// What the file has, and what it should have.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalOffsets {
    table: BTreeMap<MessageQueue, i64>,
    /// What the file has, as far as it was confirmed.
    saved: BTreeMap<MessageQueue, i64>,
    /// What is being written.
    saving: Option<BTreeMap<MessageQueue, i64>>,
    /// The table is to be written as soon as may be.
    due: bool,
    failures: u32,
}

impl LocalOffsets {
    pub(super) fn of(&self, queue: &MessageQueue) -> Option<i64> {
        self.table.get(queue).copied()
    }

    pub(super) fn is_saving(&self) -> bool {
        self.saving.is_some()
    }
}

impl Consumer {
    pub(super) fn is_broadcasting(&self) -> bool {
        self.config.model == MessageModel::Broadcasting
    }

    /// What the file had.
    pub(super) fn on_local_offsets(&mut self, table: BTreeMap<MessageQueue, i64>) {
        self.local.saved.clone_from(&table);
        self.local.table = table;
    }

    /// Takes the commit point of a queue into the table.
    pub(super) fn note_locally(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        let Some(point) = life.commit_point() else { return };
        if self.local.table.insert(life.queue.clone(), point) != Some(point) {
            self.local.due = true;
        }
    }

    /// What has failed before is tried again.
    pub(super) fn save_soon(&mut self) {
        self.local.due |= self.local.table != self.local.saved;
    }

    pub(super) fn decide_saving(&mut self) {
        if !self.local.due || self.local.is_saving() {
            return;
        }
        self.local.due = false;
        if self.local.table != self.local.saved {
            let offsets = self.local.table.clone();
            self.local.saving = Some(offsets.clone());
            self.out.push_back(Output::Save { offsets });
        }
    }

    pub(super) fn on_saved(&mut self, result: Result<(), String>) {
        let Some(offsets) = self.local.saving.take() else { return self.late() };
        if let Err(why) = result {
            self.local.failures += 1;
            let attempt = self.local.failures;
            return self.event(Event::SaveFailed { why, attempt });
        }
        self.local.failures = 0;
        let mut committed = Vec::new();
        for life in self.queues.lives.values_mut() {
            let saved = offsets.get(&life.queue).copied();
            if life.is_located() && saved.is_some() && saved != life.committed {
                life.committed = saved;
                committed.push((life.queue.clone(), saved.unwrap_or_default()));
            }
        }
        self.local.saved = offsets;
        for (queue, offset) in committed {
            self.event(Event::Committed { queue, offset });
        }
    }

    /// Nobody takes a message back.
    pub(super) fn drop_message(&mut self, epoch: QueueEpoch, offset: i64) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        if life.window.complete(offset) {
            let queue = life.queue.clone();
            self.event(Event::Dropped { queue, offset });
        }
    }
}
