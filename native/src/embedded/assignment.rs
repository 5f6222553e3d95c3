//! Requests 400 and 401: the broker says which queues a member pulls, or what it pops, by the mode that an operator set.

use super::broker::Broker;
use super::config::LONGEST_NAME;
use super::context::Context;
use super::request::{Handled, Refusal, body, success};
use evenkeel_core::allocate::{Allocate, AllocateError, Average, Circle, Input, SortedMembers, SortedQueues};
use evenkeel_core::model::{Group, MessageQueue, Topic};
use evenkeel_core::wire::bodies::{AssignmentQuery, Assignments, Body, ModeSetting, RequestMode};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::request::MessageModel;
use std::collections::BTreeMap;

/// The queue number that means all queues of a broker.
const ANY_QUEUE: i32 = -1;

/// Topics that operators switched to pop, by group. All others are pulled. The number says how many further members pop
/// a member's queues; 0 and below all do.
#[derive(Debug, Default)]
pub(crate) struct Modes(BTreeMap<(Topic, Group), i32>);

impl Broker {
    /// Request 401. As at a real broker the members are not told: they ask in their next round.
    pub(crate) fn set_mode(&mut self, cx: &Context<'_>, request: &Command) -> Handled {
        let setting: ModeSetting = body(request, cx.config.limits.json)?;
        if setting.topic.is_retry() {
            let remark = "a retry topic is always pulled";
            return Err(Refusal::new(ResponseCode::NO_PERMISSION, remark));
        }
        self.topics.existing(&setting.topic)?;
        self.settings.ensure(cx.config, &setting.group)?;
        let key = (setting.topic, setting.group);
        if setting.mode == RequestMode::Pull {
            self.modes.0.remove(&key);
            return Ok(Some(success(request)));
        }
        if key.1.pop_retry_topic_v1(&key.0).as_str().len() > LONGEST_NAME {
            let remark = "the names of group and topic are too long for a retry topic of both";
            return Err(Refusal::new(ResponseCode::INVALID_PARAMETER, remark));
        }
        if self.modes.0.len() >= cx.config.limits.modes && !self.modes.0.contains_key(&key) {
            return Err(Refusal::full("modes"));
        }
        self.modes.0.insert(key, setting.share);
        Ok(Some(success(request)))
    }

    /// Request 400. `queues` are the topic's readable ones at all brokers, `None` if there is no such topic. What cannot
    /// be shared out is answered without a table, so that the member keeps what it has.
    pub(crate) fn query_assignment(
        &self,
        request: &Command,
        query: &AssignmentQuery,
        queues: Option<Vec<MessageQueue>>,
    ) -> Handled {
        let share = self.modes.0.get(&(query.topic.clone(), query.group.clone())).copied();
        let mode = if share.is_some() { RequestMode::Pop } else { RequestMode::Pull };
        let assigned = queues.and_then(|queues| match query.model {
            MessageModel::Broadcasting => Some(queues),
            MessageModel::Clustering => self.share_out(query, queues, share),
        });
        let table = assigned.map(|queues| queues.into_iter().map(|queue| (queue, mode)).collect());
        Ok(Some(success(request).with_body(Assignments(table).encode())))
    }

    fn share_out(
        &self,
        query: &AssignmentQuery,
        queues: Vec<MessageQueue>,
        share: Option<i32>,
    ) -> Option<Vec<MessageQueue>> {
        let strategy: &dyn Allocate = match query.strategy.as_str() {
            "AVG" => &Average,
            "AVG_BY_CIRCLE" => &Circle,
            _ => return None,
        };
        let members = self.groups.find(&query.group)?.members.values().map(|member| member.client.clone());
        let (queues, members) = (SortedQueues::new(queues), SortedMembers::new(members));
        let input =
            Input { group: &query.group, me: &query.client, queues: &queues, members: &members, nth: 0 };
        let assigned = match share {
            Some(share) => entries(strategy, &input, share),
            None => strategy.allocate(&input),
        };
        assigned.inspect_err(|error| tracing::debug!(group = %query.group, %error, "not shared out")).ok()
    }
}

impl Modes {
    /// The topic is gone.
    pub(crate) fn forget_topic(&mut self, topic: &Topic) {
        self.0.retain(|(of, _), _| of != topic);
    }
}

/// What a member pops: all queues of every broker; or, if only some members share each queue, its own queues and those of
/// the `share` members after it.
fn entries(
    strategy: &dyn Allocate,
    input: &Input<'_>,
    share: i32,
) -> Result<Vec<MessageQueue>, AllocateError> {
    let Input { queues, members, .. } = *input;
    let share = usize::try_from(share).unwrap_or(0);
    if share == 0 || share + 1 >= members.len() {
        let any =
            |queue: &MessageQueue| MessageQueue::new(queue.topic.clone(), queue.broker.clone(), ANY_QUEUE);
        return Ok(queues.iter().map(any).collect());
    }
    let Some(place) = input.place()? else { return Ok(Vec::new()) };
    if members.len() > queues.len() {
        return Ok(vec![queues[place % queues.len()].clone()]);
    }
    let mut shared = Vec::new();
    for next in 0..=share {
        let me = &members[(place + next) % members.len()];
        shared.extend(strategy.allocate(&Input { me, ..*input })?);
    }
    Ok(shared)
}
