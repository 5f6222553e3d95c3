//! Check points: messages that were popped and are not settled yet. Requests 200051, 200151 and 200053 settle them; what
//! nobody settles in time is stored again, for its group alone.
//!
//! A check point is a name and a time, not a message: what retention has dropped by then does not come again, as at a
//! real broker.

use super::broker::Broker;
use super::context::Context;
use super::log::read_back;
use super::request::{Handled, Refusal, header, json, success, unreadable_body};
use super::send::with_properties;
use evenkeel_core::model::{Group, RETRY_PREFIX, Topic};
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::bodies::{AckSet, BatchAck, Body};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::headers::consume::{AckMessage, ChangeInvisibleTime, ChangeInvisibleTimeResponse};
use evenkeel_core::wire::json::Value;
use evenkeel_core::wire::message::Message;
use evenkeel_core::wire::pop::{CheckPoint, PopSource};
use evenkeel_core::wire::properties::names;
use std::collections::BTreeMap;

/// Longest time that a message is hidden, as brokers' timers have it.
pub(crate) const LONGEST_HIDDEN: Duration = Duration::from_secs(3 * 24 * 3600);
/// What cannot be stored again now is tried again after this time.
const REVIVE_AGAIN: Duration = Duration::from_secs(10);
/// Where brokers keep what was popped in order.
const ORDER_REVIVE_QUEUE: i32 = 999;

/// Names a message that was popped: where it is stored, and when it was popped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) group: Group,
    /// The retry topic, if the message came from there.
    pub(crate) topic: Topic,
    pub(crate) queue_id: i32,
    pub(crate) offset: i64,
    pub(crate) pop_time: i64,
}

/// The check points of one broker, and when each message is shown again.
#[derive(Debug, Default)]
pub(crate) struct Popped {
    due: BTreeMap<Place, (Instant, u64)>,
    in_order: BTreeMap<(Instant, u64), Place>,
    count: u64,
}

/// How long a message is hidden that shall be hidden for so many ms: not at all below 0. `None` if it is too long.
pub(crate) fn hidden_for(millis: i64) -> Option<Duration> {
    let hidden = Duration::from_millis(u64::try_from(millis).unwrap_or(0));
    (hidden <= LONGEST_HIDDEN).then_some(hidden)
}

impl Popped {
    /// How many messages are popped and not settled.
    pub(crate) fn len(&self) -> usize {
        self.due.len()
    }

    /// When the next message is shown again.
    pub(crate) fn wake(&self) -> Option<Instant> {
        self.in_order.first_key_value().map(|((at, _), _)| *at)
    }

    /// Hides a message until then.
    pub(crate) fn hide(&mut self, place: Place, until: Instant) {
        self.settle(&place);
        self.count += 1;
        self.due.insert(place.clone(), (until, self.count));
        self.in_order.insert((until, self.count), place);
    }

    /// The message is done, or hidden under another name. Nothing happens if it is not known (any more).
    fn settle(&mut self, place: &Place) {
        if let Some(at) = self.due.remove(place) {
            self.in_order.remove(&at);
        }
    }

    fn take_due(&mut self, now: Instant) -> Vec<Place> {
        let due = self.in_order.iter().take_while(|((at, _), _)| *at <= now);
        let due: Vec<Place> = due.map(|(_, place)| place.clone()).collect();
        for place in &due {
            self.settle(place);
        }
        due
    }
}

impl Broker {
    /// Request 200051: done. Also for a message that is not popped any more; it may be on its way to somebody again.
    pub(crate) fn ack(&mut self, request: &Command) -> Handled {
        let ack: AckMessage = header(request, &[])?;
        self.check_queue(&ack.topic, ack.queue_id)?;
        let (min, max) = self.range(&ack.topic, ack.queue_id);
        if !(min..=max).contains(&ack.offset) {
            return Err(no_message(ack.offset, min, max));
        }
        let pop_time = check_point(&ack.extra_info)?.pop_time;
        let AckMessage { group, topic, queue_id, offset, .. } = ack;
        self.popped.settle(&Place { group, topic, queue_id, offset, pop_time });
        Ok(Some(success(request)))
    }

    /// Request 200151: many messages are done. Those that cannot be are passed over.
    pub(crate) fn batch_ack(&mut self, cx: &Context<'_>, request: &Command) -> Handled {
        let nothing = || Refusal::new(ResponseCode::NO_MESSAGE, "the body names no messages");
        if request.body.is_empty() {
            return Err(nothing());
        }
        let body = json(&request.body, cx.config.limits.json)?;
        if matches!(body.field("acks"), Value::Null) {
            return Err(nothing());
        }
        let BatchAck { acks, .. } = BatchAck::from_value(&body).map_err(unreadable_body)?;
        if acks.is_empty() {
            return Err(nothing());
        }
        for set in acks {
            self.ack_set(&set)?;
        }
        Ok(Some(success(request)))
    }

    fn ack_set(&mut self, set: &AckSet) -> Result<(), Refusal> {
        let source = [PopSource::Topic, PopSource::RetryV1, PopSource::RetryV2];
        let source = source.into_iter().find(|source| source.mark() == set.source);
        let source = source.ok_or_else(|| unreadable(&format!("`{}` names no kind of topic", set.source)))?;
        let topic = source.stored_topic(&set.topic, &set.group);
        if set.revive_queue == ORDER_REVIVE_QUEUE {
            return Err(in_order());
        }
        if self.check_queue(&topic, set.queue_id).is_err() {
            return Ok(());
        }
        let (min, max) = self.range(&topic, set.queue_id);
        let offsets = set.offsets.distances().map(|distance| set.start.saturating_add(distance));
        for offset in offsets.skip_while(|offset| *offset < min).take_while(|offset| *offset < max) {
            let (group, topic) = (set.group.clone(), topic.clone());
            let place = Place { group, topic, queue_id: set.queue_id, offset, pop_time: set.pop_time };
            self.popped.settle(&place);
        }
        Ok(())
    }

    /// Request 200053: a message is hidden for another time, from now on, and has a new name by that.
    pub(crate) fn change_invisible(&mut self, cx: &Context<'_>, request: &Command) -> Handled {
        let change: ChangeInvisibleTime = header(request, &[])?;
        self.check_queue(&change.topic, change.queue_id)?;
        let (min, max) = self.range(&change.topic, change.queue_id);
        if !(min..max).contains(&change.offset) {
            return Err(no_message(change.offset, min, max));
        }
        let old = check_point(&change.extra_info)?;
        let Some(hidden) = hidden_for(change.invisible_ms) else {
            let remark = format!("{} ms is too long to hide a message", change.invisible_ms);
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
        };
        let ChangeInvisibleTime { group, topic, queue_id, offset, .. } = change;
        let old_place = Place { group, topic, queue_id, offset, pop_time: old.pop_time };
        let is_known = self.popped.due.contains_key(&old_place);
        if !is_known && self.popped.len() >= cx.config.limits.popped {
            return Err(Refusal::full("popped messages"));
        }
        self.popped.settle(&old_place);
        // The new name has to be another one even within the same millisecond.
        let pop_time = cx.wall.as_millis().max(old.pop_time.saturating_add(1));
        // Also a message that is not known any more comes again, as at real brokers.
        self.popped.hide(Place { pop_time, ..old_place }, cx.now + hidden);
        let header = ChangeInvisibleTimeResponse {
            pop_time,
            invisible_ms: change.invisible_ms,
            revive_queue: old.revive_queue,
        };
        Ok(Some(success(request).with_header(&header)))
    }

    /// Stores again what was not settled in time.
    pub(crate) fn revive_popped(&mut self, cx: &mut Context<'_>) {
        for place in self.popped.take_due(cx.now) {
            if let Err(refusal) = self.revive(cx, &place) {
                tracing::warn!(remark = %refusal.remark, "a popped message cannot be stored again yet");
                self.popped.hide(place, cx.now + REVIVE_AGAIN);
            }
        }
    }

    fn revive(&mut self, cx: &mut Context<'_>, place: &Place) -> Result<(), Refusal> {
        let Place { group, topic, queue_id, offset, pop_time } = place;
        let popped_as = popped_as(topic, group);
        if self.topics.find(&popped_as).is_none() || self.settings.find(group).is_none() {
            return Ok(());
        }
        let entry = self.log.queue(topic, *queue_id).and_then(|queue| queue.entry(*offset));
        let Some(message) = entry.and_then(|entry| read_back(&entry.stored)) else { return Ok(()) };
        let retry = if topic.is_retry() { topic.clone() } else { group.pop_retry_topic_v1(topic) };
        self.topics.ensure_retry(&retry, 1, false)?;
        if self.offsets.committed(group, &retry, 0).is_none() {
            self.offsets.commit(group, &retry, 0, 0, cx.config.limits.offsets)?;
        }
        let stored = self.store(cx, shown_again(message, retry, *pop_time))?;
        self.wake_pops(cx, &popped_as, None, Some(group), stored.tag);
        Ok(())
    }

    fn check_queue(&self, topic: &Topic, queue_id: i32) -> Result<(), Refusal> {
        let config = self.topics.existing(topic)?;
        if !(0..config.read_queues).contains(&queue_id) {
            let remark = format!("topic {topic} has no queue {queue_id}");
            return Err(Refusal::new(ResponseCode::MESSAGE_ILLEGAL, remark));
        }
        Ok(())
    }

    fn range(&self, topic: &Topic, queue_id: i32) -> (i64, i64) {
        (self.log.min(topic, queue_id), self.log.max(topic, queue_id))
    }
}

/// A message as it comes again: with one more try, and with the time of its first pop.
fn shown_again(mut message: Message, retry: Topic, pop_time: i64) -> Message {
    if message.reconsume_times == 0 || message.property(names::FIRST_POP_TIME).is_none() {
        let time = pop_time.to_string();
        message.properties = with_properties(&message.properties, &[(names::FIRST_POP_TIME, time.as_str())]);
    }
    message.topic = retry;
    message.queue_id = 0;
    message.reconsume_times = message.reconsume_times.saturating_add(1);
    message
}

/// The topic under which messages of this one are popped.
fn popped_as(topic: &Topic, group: &Group) -> Topic {
    let rest = topic.as_str().strip_prefix(RETRY_PREFIX).and_then(|rest| rest.strip_prefix(group.as_str()));
    rest.and_then(|rest| rest.strip_prefix(['_', '+'])).map_or_else(|| topic.clone(), Topic::from)
}

fn check_point(text: &str) -> Result<CheckPoint, Refusal> {
    let point: CheckPoint = text.parse().map_err(|error| unreadable(&format!("{error}")))?;
    if point.revive_queue == ORDER_REVIVE_QUEUE {
        return Err(in_order());
    }
    Ok(point)
}

fn unreadable(why: &str) -> Refusal {
    Refusal::new(ResponseCode::SYSTEM_ERROR, format!("unreadable check point: {why}"))
}

fn in_order() -> Refusal {
    Refusal::new(ResponseCode::SYSTEM_ERROR, "the embedded broker does not pop in order")
}

fn no_message(offset: i64, min: i64, max: i64) -> Refusal {
    let remark = format!("offset {offset} is outside of what is stored, {min} to {max}");
    Refusal::new(ResponseCode::NO_MESSAGE, remark)
}
