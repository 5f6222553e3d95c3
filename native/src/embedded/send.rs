//! Storing what producers send: one message or a batch, by long or short field names.

use super::broker::Broker;
use super::config::Generation;
use super::context::Context;
use super::log::Stored;
use super::request::{Handled, Refusal, header, success};
use bytes::Bytes;
use evenkeel_core::model::{Group, RETRY_PREFIX, Topic};
use evenkeel_core::time::WallClock;
use evenkeel_core::wire::batch::decode_items;
use evenkeel_core::wire::bodies::TopicConfig;
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::headers::produce::{SendMessage, SendMessageResponse, SendMessageV2};
use evenkeel_core::wire::message::{Host, Message};
use evenkeel_core::wire::properties::{Properties, names};
use evenkeel_core::wire::route::PERM_WRITE;
use evenkeel_core::wire::sys_flag::message::{TRANSACTION_PREPARED, transaction};
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// Region that messages and answers carry.
const REGION: &str = "DefaultRegion";
/// Longest topic that can be sent to, but for retry and dead-letter topics.
const LONGEST_TOPIC: usize = 127;
/// From this client version on, its own limit of tries counts.
const OWN_LIMIT_SINCE: i32 = 121;
/// Properties of messages that are due at a time of their own choosing.
const TIMER_PROPERTIES: [&str; 3] = ["TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS"];

impl Broker {
    /// Requests 10, 310 and 320.
    pub(crate) fn send(&mut self, cx: &mut Context<'_>, remote: SocketAddr, request: &Command) -> Handled {
        let send = send_header(request)?;
        let is_batch = request.request_code() == RequestCode::SEND_BATCH_MESSAGE || send.batch == Some(true);
        check(cx, request, &send, is_batch)?;
        let topic = self.topics.for_send(&send.topic, Some(&send.default_topic), send.default_queues)?;
        if topic.perm & PERM_WRITE == 0 {
            let remark = format!("sending to topic {} is forbidden", send.topic);
            return Err(Refusal::new(ResponseCode::NO_PERMISSION, remark));
        }
        let queue_id = choose_queue(cx, &send, &topic)?;
        let (to, queue_id) = self.or_dead_letter(cx, request, &send, queue_id)?;
        let message = |flag: i32, body: Bytes, properties: Properties| {
            let mut message = Message::new(to.clone(), body);
            message.queue_id = queue_id;
            message.flag = flag;
            message.sys_flag = send.sys_flag;
            message.born_at = WallClock::from_millis(send.born);
            message.born_host = Host::new(remote.ip(), remote.port());
            message.reconsume_times = send.reconsume_times.unwrap_or(0);
            message.properties = properties;
            message
        };
        let stored = if is_batch {
            self.store_batch(cx, request, message)?
        } else {
            let properties = Properties::from(send.properties.as_deref().unwrap_or_default());
            let message = message(send.flag, request.body.clone(), properties);
            vec![self.store_new(cx, message)?]
        };
        answer(request, &stored)
    }

    /// Stores a message that is new to the cluster, after its delay if it has one.
    fn store_new(&mut self, cx: &mut Context<'_>, mut message: Message) -> Result<Stored, Refusal> {
        let level = message.property(names::DELAY).and_then(|level| level.parse().ok()).unwrap_or(0);
        self.complete_properties(cx, &mut message)?;
        self.store_after(cx, message, level)
    }

    /// Stores a message at once and wakes the pulls and pops that wait for it.
    pub(crate) fn store(&mut self, cx: &mut Context<'_>, message: Message) -> Result<Stored, Refusal> {
        let stored = self.log.append(message, cx.wall).map_err(|error| illegal(error.to_string()))?;
        self.wake_held(cx, &stored);
        self.wake_pops(cx, &stored.topic, Some(stored.queue_id), None, stored.tag);
        Ok(stored)
    }

    fn store_batch(
        &mut self,
        cx: &mut Context<'_>,
        request: &Command,
        message: impl Fn(i32, Bytes, Properties) -> Message,
    ) -> Result<Vec<Stored>, Refusal> {
        let items =
            decode_items(&request.body).map_err(|error| illegal(format!("unreadable batch: {error}")))?;
        if items.is_empty() {
            return Err(illegal("a batch without messages"));
        }
        if items.iter().any(|item| item.properties.value(names::DELAY).is_some()) {
            return Err(illegal("a batch cannot be delayed"));
        }
        let mut messages = Vec::with_capacity(items.len());
        for item in items {
            let mut message = message(item.flag, item.body, item.properties);
            self.complete_properties(cx, &mut message)?;
            messages.push(message);
        }
        messages.into_iter().map(|message| self.store(cx, message)).collect()
    }

    /// Where a send really goes: a message that comes back too often goes to the group's dead letters. An orderly
    /// group (it holds locks) sends back only what it has given up on, says 5.x.
    fn or_dead_letter(
        &mut self,
        cx: &Context<'_>,
        request: &Command,
        send: &SendMessage,
        queue_id: i32,
    ) -> Result<(Topic, i32), Refusal> {
        let Some(group) = send.topic.as_str().strip_prefix(RETRY_PREFIX).map(Group::from) else {
            return Ok((send.topic.clone(), queue_id));
        };
        let settings = self.settings.ensure(cx.config, &group)?;
        let most = limit_of_tries(request, send.max_reconsume_times, settings.retry_max_times);
        let tries = send.reconsume_times.unwrap_or(0);
        let is_dead = match cx.config.generation {
            Generation::V5 => tries > most || self.locks.any(cx, &group),
            Generation::V4_9 => tries >= most,
        };
        if !is_dead {
            return Ok((send.topic.clone(), queue_id));
        }
        let topic = group.dead_letter_topic();
        self.topics.for_send(&topic, None, 1)?;
        Ok((topic, 0))
    }

    /// Adds what brokers add.
    fn complete_properties(&self, cx: &mut Context<'_>, message: &mut Message) -> Result<(), Refusal> {
        if TIMER_PROPERTIES.iter().any(|name| message.property(name).is_some()) {
            return Err(illegal("the embedded broker has no timer messages: use delay levels"));
        }
        let unique = (message.property(names::UNIQ_KEY).is_none() && cx.config.generation == Generation::V5)
            .then(|| format!("{:016X}{:016X}", cx.rng.next_u64(), cx.rng.next_u64()));
        let mut added = vec![(names::CLUSTER, cx.config.cluster.as_str())];
        if let Some(unique) = &unique {
            added.push((names::UNIQ_KEY, unique));
        }
        if cx.config.generation == Generation::V5 {
            added.extend([(names::MSG_REGION, REGION), (names::TRACE_ON, "true")]);
        }
        message.properties = with_properties(&message.properties, &added);
        if message.properties.as_bytes().len() > i16::MAX as usize {
            return Err(illegal("the properties are longer than 32767 bytes"));
        }
        Ok(())
    }
}

/// How often a message may come back: the client's own limit if it is new enough to have one.
pub(crate) fn limit_of_tries(request: &Command, own: Option<i32>, of_group: i32) -> i32 {
    own.filter(|_| request.version >= OWN_LIMIT_SINCE).unwrap_or(of_group)
}

/// `properties` with these values instead of what stood under these names.
pub(crate) fn with_properties(properties: &Properties, set: &[(&str, &str)]) -> Properties {
    let replaced: BTreeSet<&str> = set.iter().map(|(name, _)| *name).collect();
    let kept = properties.iter().filter(|(name, _)| !replaced.contains(name));
    Properties::from_pairs(kept.chain(set.iter().copied().filter(|(_, value)| !value.is_empty())))
}

/// The response must have fields: the Java client reads two of them without asking whether there are any.
fn answer(request: &Command, stored: &[Stored]) -> Handled {
    let Some(first) = stored.first() else { return Err(illegal("nothing to store")) };
    let ids: Vec<String> = stored.iter().map(|stored| stored.id.to_string()).collect();
    let sent = SendMessageResponse {
        msg_id: ids.join(","),
        queue_id: first.queue_id,
        queue_offset: first.offset,
        transaction_id: None,
        batch_id: None,
        recall_handle: None,
    };
    let answer = success(request)
        .with_header(&sent)
        .with_field(names::MSG_REGION, REGION)
        .with_field(names::TRACE_ON, true);
    Ok(Some(answer))
}

fn choose_queue(cx: &mut Context<'_>, send: &SendMessage, topic: &TopicConfig) -> Result<i32, Refusal> {
    if send.queue_id < 0 {
        let queues = u64::try_from(topic.write_queues).unwrap_or(0);
        return Ok(i32::try_from(cx.rng.below(queues)).unwrap_or(0));
    }
    if send.queue_id >= topic.read_queues.max(topic.write_queues) {
        let remark = format!("topic {} has no queue {}", send.topic, send.queue_id);
        return Err(Refusal::new(no_such_queue(cx), remark));
    }
    Ok(send.queue_id)
}

/// The code for a queue id that does not exist.
pub(crate) fn no_such_queue(cx: &Context<'_>) -> ResponseCode {
    match cx.config.generation {
        Generation::V5 => ResponseCode::INVALID_PARAMETER,
        Generation::V4_9 => ResponseCode::SYSTEM_ERROR,
    }
}

fn illegal(remark: impl Into<String>) -> Refusal {
    Refusal::new(ResponseCode::MESSAGE_ILLEGAL, remark)
}

/// The header of a send, whichever names its fields had. Only sends to new topics need to say how those are made.
fn send_header(request: &Command) -> Result<SendMessage, Refusal> {
    if request.request_code() == RequestCode::SEND_MESSAGE {
        let spare = [("producerGroup", ""), ("defaultTopic", ""), ("defaultTopicQueueNums", "4")];
        return header(request, &spare);
    }
    header::<SendMessageV2>(request, &[("a", ""), ("c", ""), ("d", "4")]).map(SendMessage::from)
}

fn check(cx: &Context<'_>, request: &Command, send: &SendMessage, is_batch: bool) -> Result<(), Refusal> {
    if request.body.len() > cx.config.limits.body {
        return Err(illegal(format!("a body of {} bytes is too large", request.body.len())));
    }
    if send.topic.as_str().len() > LONGEST_TOPIC && !send.topic.is_retry() {
        return Err(illegal("the topic is longer than 127 bytes"));
    }
    if is_batch && send.topic.is_retry() {
        return Err(illegal("a batch cannot go to a retry topic"));
    }
    if transaction(send.sys_flag) == TRANSACTION_PREPARED {
        let remark = "the embedded broker has no transactions";
        return Err(Refusal::new(ResponseCode::NO_PERMISSION, remark));
    }
    Ok(())
}
