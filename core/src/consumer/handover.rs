//! Exclusive hand-over: a group that is not orderly moves its queues so that nothing is delivered twice.
//!
//! For groups whose members all run Evenkeel and have it on (`foreign` looks). Queues are worked on under their locks
//! (`locks`), as many deliveries at a time as ever. When one moves:
//!
//! 1. Its old owner hands out nothing more of it, and what was pulled and not begun is dropped (`queue`, `revoke`).
//! 2. What its handlers have under way they finish, for `unlock_delay` at most. The lock is renewed meanwhile.
//! 3. Messages that were tried, or put back, and have something done behind them would keep the commit point down, and
//!    what is done behind them would come again: they go back to their broker ([`Consumer::fill_gaps`]).
//! 4. The commit point now stands before the first message that nobody has begun. It is committed, and tried again
//!    while the patience of step 2 lasts if the broker does not confirm it.
//! 5. The lock is given back. The new owner has asked for it every 50 to 500 ms; under it, it reads the offset of step 4,
//!    and only then pulls.
//!
//! A consumer that stops does the same with all its queues, within its grace.
//!
//! Handlers that outlast step 2 are given up: the lock goes, their outcomes change nothing, and
//! [`Event::QueueEnded`](super::Event::QueueEnded) counts them. Their messages come again, and so do those behind them.

use super::Consumer;
use super::queue::Phase;
use crate::model::QueueEpoch;
use alloc::vec::Vec;

/// The broker takes its usual delay.
const USUAL: i32 = 0;

impl Consumer {
    /// Sends back what keeps the commit point of a queue down although no handler has it, if there is something done
    /// behind it. Whether there is anything to wait for.
    ///
    /// Its handler failed and so did its send-back, or the handler put it back. It is not handed out here again, and the
    /// next owner cannot have it without what lies behind it.
    pub(super) fn fill_gaps(&mut self, epoch: QueueEpoch) -> bool {
        if !self.config.hands_over() {
            return false;
        }
        let Some(life) = self.queues.lives.get(&epoch) else { return false };
        let gaps = life.window.gaps();
        let due: Vec<i64> = gaps.iter().copied().filter(|offset| !life.stuck.contains_key(offset)).collect();
        for offset in due {
            let Some(life) = self.queues.lives.get(&epoch) else { continue };
            if life.sending_back.contains(&offset) {
                continue;
            }
            // Brokers bury a message that comes back at the most retries. One that has a try left has not had it.
            let retries = self.config.max_retries();
            let tried = life.window.message(offset).map_or(0, |message| message.reconsume_times);
            let most = if tried > retries { retries } else { retries.saturating_add(1) };
            self.send_back(epoch, offset, USUAL, most);
        }
        !gaps.is_empty()
    }

    /// As [`Consumer::fill_gaps`], of every queue that has begun: the consumer stops.
    pub(super) fn fill_all_gaps(&mut self) -> bool {
        let begun =
            self.queues.lives.iter().filter(|(_, life)| {
                matches!(life.phase, Phase::Fetching | Phase::Draining) && life.is_at_rest()
            });
        let begun: Vec<QueueEpoch> = begun.map(|(epoch, _)| *epoch).collect();
        let mut open = 0;
        for epoch in begun {
            open += usize::from(self.fill_gaps(epoch));
        }
        open > 0
    }
}
