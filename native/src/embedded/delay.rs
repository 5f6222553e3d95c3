//! Messages that wait: stored under the schedule topic at once, and under their own when the delay is over.

use super::broker::Broker;
use super::context::Context;
use super::log::Stored;
use super::request::Refusal;
use super::send::with_properties;
use super::topics::SCHEDULE_TOPIC;
use evenkeel_core::model::Topic;
use evenkeel_core::time::Instant;
use evenkeel_core::wire::message::Message;
use evenkeel_core::wire::properties::names;
use std::collections::BTreeMap;

/// Messages of one broker that wait, by when they are due. Held apart from the log, whose retention may pass them by.
#[derive(Debug, Default)]
pub(crate) struct Delay {
    due: BTreeMap<(Instant, u64), Message>,
    count: u64,
    bytes: usize,
}

impl Delay {
    /// When the next message is due.
    pub(crate) fn wake(&self) -> Option<Instant> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// How many messages wait.
    pub(crate) fn len(&self) -> usize {
        self.due.len()
    }

    fn push(&mut self, at: Instant, message: Message) {
        self.bytes += size(&message);
        self.count += 1;
        self.due.insert((at, self.count), message);
    }

    fn pop_due(&mut self, now: Instant) -> Option<Message> {
        let entry = self.due.first_entry().filter(|entry| entry.key().0 <= now)?;
        let message = entry.remove();
        self.bytes = self.bytes.saturating_sub(size(&message));
        Some(message)
    }
}

impl Broker {
    /// Stores a message once the delay of `level` is over; level 0 means now, a level too high the highest.
    pub(crate) fn store_after(
        &mut self,
        cx: &mut Context<'_>,
        mut message: Message,
        level: i32,
    ) -> Result<Stored, Refusal> {
        let levels = &cx.config.delay_levels;
        let level = usize::try_from(level).unwrap_or(0).min(levels.len());
        let Some(delay) = level.checked_sub(1).and_then(|index| levels.get(index)) else {
            return self.store(cx, message);
        };
        if self.delay.bytes + size(&message) > cx.config.limits.delayed_bytes {
            return Err(Refusal::full("delayed messages"));
        }
        let (level_text, queue) = (level.to_string(), message.queue_id.to_string());
        let hidden = [
            (names::DELAY, level_text.as_str()),
            (names::REAL_TOPIC, message.topic.as_str()),
            (names::REAL_QID, queue.as_str()),
        ];
        message.properties = with_properties(&message.properties, &hidden);
        let mut waiting = message.clone();
        message.topic = Topic::from(SCHEDULE_TOPIC);
        message.queue_id = i32::try_from(level - 1).unwrap_or(0);
        let stored = self.store(cx, message)?;
        waiting.properties = with_properties(&waiting.properties, &[(names::DELAY, "")]);
        self.delay.push(cx.now + *delay, waiting);
        Ok(stored)
    }

    /// Stores what is due under its own topic.
    pub(crate) fn deliver_delayed(&mut self, cx: &mut Context<'_>) {
        while let Some(message) = self.delay.pop_due(cx.now) {
            // A message that could be stored once can be stored again.
            if let Err(refusal) = self.store(cx, message) {
                tracing::warn!(remark = %refusal.remark, "a delayed message is lost");
            }
        }
    }
}

/// What a waiting message takes, about.
fn size(message: &Message) -> usize {
    256 + message.body.len() + message.properties.as_bytes().len()
}
