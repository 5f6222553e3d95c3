//! Committed offsets of one broker, and the resets that operators ordered.

use super::broker::Broker;
use super::config::{Generation, LONGEST_NAME, YoungGroup};
use super::context::Context;
use super::request::{Handled, Refusal, header, success, unreadable_field};
use evenkeel_core::model::{Group, Topic};
use evenkeel_core::time::WallClock;
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::fields::Header;
use evenkeel_core::wire::headers::consume::{
    GetMaxOffset, GetMaxOffsetResponse, GetMinOffset, GetMinOffsetResponse, QueryConsumerOffset,
    QueryConsumerOffsetResponse, SearchOffset, SearchOffsetResponse, UpdateConsumerOffset,
};
use std::collections::{BTreeMap, BTreeSet};

type Key = (Group, Topic, i32);

/// What groups have committed.
#[derive(Debug, Default)]
pub(crate) struct Offsets {
    committed: BTreeMap<Key, i64>,
    resets: BTreeMap<Key, i64>,
}

impl Offsets {
    /// The offset that counts: an ordered reset before a commit.
    pub(crate) fn committed(&self, group: &Group, topic: &Topic, queue_id: i32) -> Option<i64> {
        let key = (group.clone(), topic.clone(), queue_id);
        self.resets.get(&key).or_else(|| self.committed.get(&key)).copied()
    }

    /// Stores an offset, also a smaller one, unless a reset waits to be noticed.
    pub(crate) fn commit(
        &mut self,
        group: &Group,
        topic: &Topic,
        queue_id: i32,
        offset: i64,
        most: usize,
    ) -> Result<(), Refusal> {
        let key = (group.clone(), topic.clone(), queue_id);
        if self.resets.contains_key(&key) {
            return Ok(());
        }
        self.put(key, offset, most)
    }

    /// An operator orders a new offset: the next pull of the queue is told, commits until then are ignored.
    pub(crate) fn reset(
        &mut self,
        group: &Group,
        topic: &Topic,
        queue_id: i32,
        offset: i64,
        most: usize,
    ) -> Result<(), Refusal> {
        let key = (group.clone(), topic.clone(), queue_id);
        self.put(key.clone(), offset, most)?;
        self.resets.insert(key, offset);
        Ok(())
    }

    /// The reset that a pull of this queue has to be told, which ends it.
    pub(crate) fn take_reset(&mut self, group: &Group, topic: &Topic, queue_id: i32) -> Option<i64> {
        if self.resets.is_empty() {
            return None;
        }
        self.resets.remove(&(group.clone(), topic.clone(), queue_id))
    }

    /// Topics that a group has committed offsets of.
    pub(crate) fn topics_of(&self, group: &Group) -> BTreeSet<&Topic> {
        self.committed.keys().filter(|(of, _, _)| of == group).map(|(_, topic, _)| topic).collect()
    }

    /// Groups that have committed offsets of a topic.
    pub(crate) fn groups_of(&self, topic: &Topic) -> BTreeSet<&Group> {
        self.committed.keys().filter(|(_, of, _)| of == topic).map(|(group, _, _)| group).collect()
    }

    /// Every committed offset: group, topic, queue id, offset.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Group, &Topic, i32, i64)> {
        self.committed.iter().map(|((group, topic, queue_id), offset)| (group, topic, *queue_id, *offset))
    }

    fn put(&mut self, key: Key, offset: i64, most: usize) -> Result<(), Refusal> {
        let is_full = self.committed.len() >= most && !self.committed.contains_key(&key);
        if is_full || key.0.as_str().len().max(key.1.as_str().len()) > LONGEST_NAME {
            return Err(Refusal::full("offsets"));
        }
        self.committed.insert(key, offset);
        Ok(())
    }
}

impl Broker {
    /// Request 14.
    pub(crate) fn query_offset(&self, cx: &Context<'_>, request: &Command) -> Handled {
        let QueryConsumerOffset { group, topic, queue_id, set_zero_if_not_found, .. } = header(request, &[])?;
        let answer =
            |offset: i64| Ok(Some(success(request).with_header(&QueryConsumerOffsetResponse { offset })));
        if let Some(offset) = self.offsets.committed(&group, &topic, queue_id) {
            return answer(offset);
        }
        // The first message is still there, or (4.9) nothing ever was.
        let young = match (cx.config.generation, self.log.queue(&topic, queue_id)) {
            (Generation::V5, queue) => queue.is_some_and(|queue| queue.min() <= 0 && queue.max() > 0),
            (Generation::V4_9, queue) => queue.is_none_or(|queue| queue.min() <= 0),
        };
        let insists = cx.config.generation == Generation::V5 && set_zero_if_not_found == Some(false);
        if young && !insists && cx.config.young_group == YoungGroup::StartsAtZero {
            return answer(0);
        }
        let remark = format!("group {group} has committed nothing for queue {queue_id} of {topic}");
        Err(Refusal::new(ResponseCode::QUERY_NOT_FOUND, remark))
    }

    /// Request 15.
    pub(crate) fn commit_offset(&mut self, cx: &Context<'_>, request: &Command) -> Handled {
        let commit = UpdateConsumerOffset::from_fields_or(&request.fields, &[]);
        let UpdateConsumerOffset { group, topic, queue_id, commit_offset, .. } = commit.map_err(|error| {
            let refusal = unreadable_field(error);
            match error.expected {
                "queueId" | "commitOffset" => Refusal { code: ResponseCode::INVALID_PARAMETER, ..refusal },
                _ => refusal,
            }
        })?;
        if cx.config.generation == Generation::V5 {
            self.settings.existing(&group)?;
            self.topics.existing(&topic)?;
        }
        self.offsets.commit(&group, &topic, queue_id, commit_offset, cx.config.limits.offsets)?;
        Ok(Some(success(request)))
    }

    /// Request 30.
    pub(crate) fn max_offset(&self, request: &Command) -> Handled {
        let GetMaxOffset { topic, queue_id, .. } = header(request, &[])?;
        let offset = self.log.max(&topic, queue_id);
        Ok(Some(success(request).with_header(&GetMaxOffsetResponse { offset })))
    }

    /// Request 31. A queue that never had a message begins at 0, one that does not exist at -1.
    pub(crate) fn min_offset(&self, request: &Command) -> Handled {
        let GetMinOffset { topic, queue_id, .. } = header(request, &[])?;
        let exists = self.topics.find(&topic).is_some_and(|topic| (0..topic.read_queues).contains(&queue_id));
        let offset = if exists { self.log.min(&topic, queue_id) } else { -1 };
        Ok(Some(success(request).with_header(&GetMinOffsetResponse { offset })))
    }

    /// Request 29.
    pub(crate) fn offset_at(&self, request: &Command) -> Handled {
        let SearchOffset { topic, queue_id, timestamp, boundary, .. } = header(request, &[])?;
        let time = WallClock::from_millis(timestamp);
        let upper = boundary.is_some_and(|text| text.eq_ignore_ascii_case("upper"));
        let offset = self.log.queue(&topic, queue_id).map_or(0, |queue| queue.offset_at(time, upper));
        Ok(Some(success(request).with_header(&SearchOffsetResponse { offset })))
    }
}
