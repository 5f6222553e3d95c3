//! The messages of one queue between the broker and the commit: what Java calls the process queue.
//!
//! A window starts at one offset and only moves up. Every offset below [`Window::commit_point`] is done: consumed,
//! sent back, or passed over by the filter; the offset at it is not. That is the only number that is ever committed.
//!
//! ```text
//!        commit_point                              next
//!             |                                      |
//!   … done    | running  done  ready  waiting  ready | not yet pulled …
//! ```
//!
//! Slots behind an unfinished one keep their place but not their message once they are done, so a slow message holds
//! back the commit point, not memory; how far the two ends may drift apart is limited by `offset_span_max`.

use crate::wire::message::Message;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Offsets in flight of one queue. Ascending, without repeats.
#[derive(Clone, Debug)]
pub struct Window {
    /// First offset not yet pulled.
    next: i64,
    slots: VecDeque<Slot>,
    /// Messages held: ready, running and waiting.
    count: usize,
    /// Body bytes of these.
    bytes: u64,
    /// Slots that are ready.
    ready: usize,
    /// Where to look for the first ready slot; everything before it is not ready.
    cursor: usize,
}

#[derive(Clone, Debug)]
struct Slot {
    offset: i64,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Ready(Message),
    /// With a handler.
    Running(Message),
    /// Being sent back, or waiting to be tried again here because that failed.
    Waiting(Message),
    Done,
}

impl State {
    fn message(&self) -> Option<&Message> {
        match self {
            Self::Ready(message) | Self::Running(message) | Self::Waiting(message) => Some(message),
            Self::Done => None,
        }
    }
}

impl Window {
    /// An empty window: everything below `start` is done, `start` is pulled first.
    pub fn new(start: i64) -> Self {
        Self { next: start, slots: VecDeque::new(), count: 0, bytes: 0, ready: 0, cursor: 0 }
    }

    /// First offset not yet pulled.
    pub fn next(&self) -> i64 {
        self.next
    }

    /// The smallest offset that is not done. Never falls.
    pub fn commit_point(&self) -> i64 {
        self.slots.front().map_or(self.next, |slot| slot.offset)
    }

    /// Messages held.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Body bytes held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Distance between the first unfinished and the last pulled offset, 0 if at most one is held.
    pub fn span(&self) -> u64 {
        match (self.slots.front(), self.slots.back()) {
            (Some(first), Some(last)) => last.offset.abs_diff(first.offset),
            _ => 0,
        }
    }

    /// Messages that can be taken.
    pub fn ready(&self) -> usize {
        self.ready
    }

    /// First and last offset held, if any.
    pub fn ends(&self) -> Option<(i64, i64)> {
        Some((self.slots.front()?.offset, self.slots.back()?.offset))
    }

    /// Puts a pulled message in. Offsets below [`Window::next`] are known already and change nothing (false). Neither
    /// does the largest number there is: nothing could follow it.
    pub fn insert(&mut self, message: Message) -> bool {
        let offset = message.queue_offset;
        if offset < self.next || offset == i64::MAX {
            return false;
        }
        self.count += 1;
        self.ready += 1;
        self.bytes += message.body.len() as u64;
        self.slots.push_back(Slot { offset, state: State::Ready(message) });
        self.next = offset + 1;
        true
    }

    /// Records that everything below `next` has been pulled, although not all of it was for us.
    pub fn pulled_to(&mut self, next: i64) {
        self.next = self.next.max(next);
    }

    /// Hands out up to `most` ready messages, lowest offsets first.
    pub fn take(&mut self, most: usize) -> Vec<Message> {
        let mut taken = Vec::with_capacity(most.min(self.ready));
        while self.ready > 0 && taken.len() < most {
            let Some(slot) = self.slots.get_mut(self.cursor) else { break };
            self.cursor += 1;
            if let State::Ready(message) = &slot.state {
                taken.push(message.clone());
                slot.state = State::Running(message.clone());
                self.ready -= 1;
            }
        }
        taken
    }

    /// A running or waiting message is done. False (and nothing changes) for any other offset.
    pub fn complete(&mut self, offset: i64) -> bool {
        let Some(index) = self.index(offset) else { return false };
        let state = &mut self.slots[index].state;
        match core::mem::replace(state, State::Done) {
            State::Running(message) | State::Waiting(message) => {
                self.count -= 1;
                self.bytes -= message.body.len() as u64;
            }
            other => {
                *state = other;
                return false;
            }
        }
        while self.slots.front().is_some_and(|slot| matches!(slot.state, State::Done)) {
            self.slots.pop_front();
            self.cursor = self.cursor.saturating_sub(1);
        }
        true
    }

    /// A message waits: to be sent back, or to be tried again here. Gives the message.
    pub fn suspend(&mut self, offset: i64) -> Option<&Message> {
        let index = self.index(offset)?;
        let state = &mut self.slots[index].state;
        match core::mem::replace(state, State::Done) {
            State::Running(message) => *state = State::Waiting(message),
            State::Ready(message) => {
                *state = State::Waiting(message);
                self.ready -= 1;
            }
            other => *state = other,
        }
        match &self.slots[index].state {
            State::Waiting(message) => Some(message),
            _ => None,
        }
    }

    /// A running or waiting message becomes ready again, as if tried `tries` times more.
    pub fn put_back(&mut self, offset: i64, tries: i32) -> bool {
        let Some(index) = self.index(offset) else { return false };
        let state = &mut self.slots[index].state;
        match core::mem::replace(state, State::Done) {
            State::Running(mut message) | State::Waiting(mut message) => {
                message.reconsume_times = message.reconsume_times.saturating_add(tries);
                *state = State::Ready(message);
                self.ready += 1;
                self.cursor = self.cursor.min(index);
                true
            }
            other => {
                *state = other;
                false
            }
        }
    }

    /// Offsets that are neither done nor with a handler, and have something done behind them.
    pub fn gaps(&self) -> Vec<i64> {
        let done = self.slots.iter().rposition(|slot| matches!(slot.state, State::Done)).unwrap_or(0);
        let open = |slot: &&Slot| matches!(slot.state, State::Ready(_) | State::Waiting(_));
        self.slots.iter().take(done).filter(open).map(|slot| slot.offset).collect()
    }

    /// The message at an offset, if it is held.
    pub fn message(&self, offset: i64) -> Option<&Message> {
        self.slots[self.index(offset)?].state.message()
    }

    fn index(&self, offset: i64) -> Option<usize> {
        self.slots.binary_search_by_key(&offset, |slot| slot.offset).ok()
    }
}
