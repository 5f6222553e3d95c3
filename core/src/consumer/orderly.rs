//! Orderly consumption: one delivery of a queue after the other, under its lock (`locks`).
//!
//! One delivery of a queue is with a handler at a time, and the next one waits until the messages of the last one are
//! done, put back or sent back; also over the lives of a queue, when it was reset or lost and regained. A handler that
//! gives up puts its messages back: the same ones come again, after a pause, and nothing behind them overtakes.

use super::Consumer;
use super::io::Failure;
use super::queue::AssignedQueue;
use super::timers::Timer;
use crate::model::{QueueEpoch, Ticket};
use crate::time::Duration;

/// To a delay level below zero a broker answers with the dead-letter topic.
const DEAD_LETTER: i32 = -1;

impl Consumer {
    /// Whether nothing before it keeps a queue from its next delivery.
    pub(super) fn is_in_turn(&self, life: &AssignedQueue) -> bool {
        !self.config.orderly
            || life.is_at_rest()
                && life.stuck.is_empty()
                && !life.suspended
                && !self.strays.values().any(|queue| *queue == life.queue)
    }

    /// A handler of an earlier life of a queue has ended: its present life may hand out.
    pub(super) fn on_stray_outcome(&mut self, ticket: Ticket) {
        let queue = self.strays.remove(&ticket);
        self.attention.extend(queue.and_then(|queue| self.queues.table.get(&queue)));
    }

    /// A handler gave up a moment: `done` messages from the front are done, the others are tried again here.
    ///
    /// 1. A message that has been tried as often as it may be goes to the dead-letter topic, once (broadcasting: it is
    ///    dropped); those behind it wait until the broker has confirmed that.
    /// 2. The others stay in their places, one try older.
    /// 3. The queue rests. Nothing of it is handed out before the pause is over.
    pub(super) fn suspend(
        &mut self,
        epoch: QueueEpoch,
        offsets: &[i64],
        done: usize,
        pause: Option<Duration>,
        why: Failure,
    ) {
        let again = self.partly_done(epoch, offsets, done, why);
        let most = self.config.max_retries();
        let (least, longest) = (Duration::from_millis(10), Duration::from_secs(30));
        let pause = pause.unwrap_or(self.config.limits.orderly_pause).clamp(least, longest);
        for offset in again {
            let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
            let tries = life.window.message(*offset).map_or(0, |message| message.reconsume_times);
            if tries >= most {
                match self.is_broadcasting() {
                    true => self.drop_message(epoch, *offset),
                    false => self.send_back(epoch, *offset, DEAD_LETTER, self.config.max_retries()),
                }
            } else if life.window.put_back(*offset, 1) {
                life.suspended = true;
                self.timers.set(Timer::Suspended(epoch), self.now + pause);
            }
        }
    }

    pub(super) fn on_pause_over(&mut self, epoch: QueueEpoch) {
        if let Some(life) = self.queues.lives.get_mut(&epoch) {
            life.suspended = false;
            self.attention.insert(epoch);
        }
    }
}
