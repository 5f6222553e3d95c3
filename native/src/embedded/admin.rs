//! What operators ask a broker: who is connected, how far a group is, what a topic holds, new offsets.

use super::broker::Broker;
use super::config::Generation;
use super::context::Context;
use super::groups::Member;
use super::heartbeat::Subscribed;
use super::output::ConnId;
use super::pull::is_tag_type;
use super::request::{Handled, Header, Refusal, json, success, text};
use super::text::{array, object, queue, quoted};
use evenkeel_core::model::{Group, MessageQueue, Topic};
use evenkeel_core::time::WallClock;
use evenkeel_core::wire::code::{PROTOCOL_VERSION_NAME, RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use std::collections::{BTreeMap, BTreeSet};

/// Clients below this version do not understand an offset reset.
const RESET_SINCE: i32 = 28;

impl Broker {
    /// Requests of operators, and the refusal of those that nobody knows.
    pub(crate) fn admin(&mut self, cx: &mut Context<'_>, request: &Command) -> Handled {
        match request.request_code() {
            RequestCode::GET_CONSUMER_CONNECTION_LIST => self.consumer_connections(request),
            RequestCode::GET_PRODUCER_CONNECTION_LIST => self.producer_connections(request),
            RequestCode::GET_CONSUME_STATS => self.consume_stats(request),
            RequestCode::GET_TOPIC_STATS_INFO => self.topic_stats(request),
            RequestCode::QUERY_TOPIC_CONSUME_BY_WHO => self.groups_of_topic(request),
            RequestCode::INVOKE_BROKER_TO_RESET_OFFSET => self.reset_offsets(cx, request),
            RequestCode::VIEW_MESSAGE_BY_ID => self.view_message(request),
            RequestCode::DELETE_TOPIC_IN_BROKER => self.delete_topic(request),
            RequestCode::GET_BROKER_RUNTIME_INFO => Ok(Some(self.runtime_info(request))),
            _ => Err(Refusal::unsupported(request)),
        }
    }

    /// Request 46: property filters are off, so every expression that is not one of tags fails.
    pub(crate) fn check_client(&self, cx: &Context<'_>, request: &Command) -> Handled {
        let body = json(&request.body, cx.config.limits.json)?;
        if is_tag_type(text(body.field("subscriptionData"), "expressionType")) {
            return Ok(Some(success(request)));
        }
        Err(Refusal::new(ResponseCode::SYSTEM_ERROR, "the embedded broker does not filter by properties"))
    }

    /// Request 203.
    fn consumer_connections(&self, request: &Command) -> Handled {
        let group = request.consumer_group()?;
        let entry = self.groups.find(&group).ok_or_else(|| not_online(&group))?;
        let subscriptions =
            entry.subscriptions.iter().map(|(topic, data)| (quoted(topic.as_str()), subscription(data)));
        let body = format!(
            r#"{{"connectionSet":{},"consumeFromWhere":"{}","consumeType":"{}","messageModel":"{}","subscriptionTable":{}}}"#,
            connections(&entry.members),
            entry.start_from,
            entry.consume_type,
            entry.model,
            object(subscriptions)
        );
        Ok(Some(success(request).with_body(body)))
    }

    /// Request 204.
    fn producer_connections(&self, request: &Command) -> Handled {
        let group = Group::from(request.text("producerGroup")?);
        let Some(members) = self.groups.producers(&group) else {
            let remark = format!("the producer group {group} does not exist");
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
        };
        let body = format!(r#"{{"connectionSet":{}}}"#, connections(members));
        Ok(Some(success(request).with_body(body)))
    }

    /// Request 208: end and committed offset of every queue of a group.
    fn consume_stats(&self, request: &Command) -> Handled {
        let group = request.consumer_group()?;
        let topics: BTreeSet<Topic> = match request.fields.get("topic").filter(|topic| !topic.is_empty()) {
            Some(topic) => BTreeSet::from([Topic::from(topic)]),
            None => {
                let committed = self.offsets.topics_of(&group).into_iter().cloned();
                let subscribed =
                    self.groups.find(&group).into_iter().flat_map(|group| group.subscriptions.keys());
                committed.chain(subscribed.cloned()).collect()
            }
        };
        let mut table = Vec::new();
        for (topic, queue_id) in topics.iter().flat_map(|topic| self.queues_of(topic)) {
            let committed = self.offsets.committed(&group, topic, queue_id).unwrap_or(0).max(0);
            let last = self.log.queue(topic, queue_id).and_then(|queue| queue.entry(committed - 1));
            let last = last.map_or(0, |entry| entry.at.as_millis());
            let max = self.log.max(topic, queue_id);
            let figures = format!(
                r#"{{"brokerOffset":{max},"consumerOffset":{committed},"lastTimestamp":{last},"pullOffset":{committed}}}"#
            );
            table.push((self.queue_key(topic, queue_id), figures));
        }
        let body = format!(r#"{{"consumeTps":0.0,"offsetTable":{}}}"#, object(table));
        Ok(Some(success(request).with_body(body)))
    }

    /// Request 202: first and last offset of every queue of a topic.
    fn topic_stats(&self, request: &Command) -> Handled {
        let topic = request.topic()?;
        self.topics.existing(&topic)?;
        let figures = |(topic, queue_id): (&Topic, i32)| {
            let (min, max) = (self.log.min(topic, queue_id), self.log.max(topic, queue_id));
            let last = self.log.queue(topic, queue_id).and_then(|queue| queue.entry(max - 1));
            let last = last.map_or(0, |entry| entry.at.as_millis());
            let figures = format!(r#"{{"lastUpdateTimestamp":{last},"maxOffset":{max},"minOffset":{min}}}"#);
            (self.queue_key(topic, queue_id), figures)
        };
        let table = object(self.queues_of(&topic).map(figures));
        Ok(Some(success(request).with_body(format!(r#"{{"offsetTable":{table}}}"#))))
    }

    /// Request 300.
    fn groups_of_topic(&self, request: &Command) -> Handled {
        let topic = request.topic()?;
        let subscribed = self.groups.iter().filter(|(_, entry)| entry.subscriptions.contains_key(&topic));
        let mut groups: BTreeSet<&Group> = subscribed.map(|(group, _)| group).collect();
        groups.extend(self.offsets.groups_of(&topic));
        let groups = array(groups.into_iter().map(|group| quoted(group.as_str())));
        Ok(Some(success(request).with_body(format!(r#"{{"groupList":{groups}}}"#))))
    }

    /// Request 222: a group shall go on from a time or an offset. Kept here until the next pull, or pushed to the
    /// members.
    fn reset_offsets(&mut self, cx: &mut Context<'_>, request: &Command) -> Handled {
        let (topic, group) = (request.topic()?, Group::from(request.text("group")?));
        let time = request.some_i64("timestamp").unwrap_or(-1);
        let force = request.flag("isForce").unwrap_or(false);
        self.topics.existing(&topic)?;
        let only = request.some_i32("queueId").filter(|queue_id| *queue_id >= 0);
        let wanted = only.and(request.some_i64("offset").filter(|offset| *offset >= 0));
        let queues: Vec<i32> = self.queues_of(&topic).map(|(_, queue_id)| queue_id).collect();

        let server_side = cx.config.generation == Generation::V5 && cx.config.server_side_reset;
        let mut offsets = BTreeMap::new();
        for queue_id in queues.into_iter().filter(|queue_id| only.is_none_or(|only| only == *queue_id)) {
            let target = wanted.unwrap_or_else(|| match self.log.queue(&topic, queue_id) {
                Some(queue) if time >= 0 => queue.offset_at(WallClock::from_millis(time), false),
                Some(queue) => queue.max(),
                None => 0,
            });
            let committed = self.offsets.committed(&group, &topic, queue_id);
            let goes_back = committed.is_some_and(|committed| target < committed);
            let target = if server_side || force || goes_back { target } else { committed.unwrap_or(target) };
            offsets.insert(queue_id, target);
        }
        let table =
            object(offsets.iter().map(|(id, offset)| (self.queue_key(&topic, *id), offset.to_string())));
        let body = format!(r#"{{"offsetTable":{table}}}"#);
        if server_side {
            for (queue_id, offset) in &offsets {
                self.offsets.reset(&group, &topic, *queue_id, *offset, cx.config.limits.offsets)?;
            }
        } else {
            self.push_reset(cx, request, &topic, &group, &body)?;
        }
        Ok(Some(success(request).with_body(body)))
    }

    fn push_reset(
        &self,
        cx: &mut Context<'_>,
        request: &Command,
        topic: &Topic,
        group: &Group,
        body: &str,
    ) -> Result<(), Refusal> {
        let entry = self.groups.find(group).ok_or_else(|| not_online(group))?;
        for (conn, member) in &entry.members {
            if member.version >= RESET_SINCE {
                let reset = Command::request(RequestCode::RESET_CONSUMER_CLIENT_OFFSET)
                    .with_field("topic", topic)
                    .with_field("group", group)
                    .with_field("timestamp", request.some_i64("timestamp").unwrap_or(-1))
                    .with_field("isForce", request.flag("isForce").unwrap_or(false))
                    .with_body(body.to_owned())
                    .one_way();
                cx.send(*conn, reset);
            }
        }
        Ok(())
    }

    /// Request 33.
    fn view_message(&self, request: &Command) -> Handled {
        let position = request.i64("offset")?;
        let Some(stored) = self.log.at(position) else {
            let remark = format!("there is no message at log position {position}");
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
        };
        Ok(Some(success(request).with_body(stored.clone())))
    }

    /// Request 215.
    fn delete_topic(&mut self, request: &Command) -> Handled {
        let topic = request.topic()?;
        self.topics.remove(&topic);
        self.log.remove_topic(&topic);
        Ok(Some(success(request)))
    }

    /// Request 28: what a list of clusters shows of a broker. Rates are not measured.
    fn runtime_info(&self, request: &Command) -> Command {
        let (waiting, bytes) = (self.held.len().to_string(), self.log.bytes().to_string());
        let figures = [
            ("brokerActive", "true"),
            ("brokerVersionDesc", PROTOCOL_VERSION_NAME),
            ("commitLogDiskRatio", "0.0"),
            ("getTransferredTps", "0.0 0.0 0.0"),
            ("logBytes", &bytes),
            ("pageCacheLockTimeMills", "0"),
            ("pullThreadPoolQueueHeadWaitTimeMills", "0"),
            ("pullThreadPoolQueueSize", &waiting),
            ("putTps", "0.0 0.0 0.0"),
            ("sendThreadPoolQueueHeadWaitTimeMills", "0"),
            ("sendThreadPoolQueueSize", "0"),
        ];
        let table = object(figures.map(|(name, figure)| (quoted(name), quoted(figure))));
        success(request).with_body(format!(r#"{{"table":{table}}}"#))
    }

    fn queues_of<'a>(&self, topic: &'a Topic) -> impl Iterator<Item = (&'a Topic, i32)> + use<'a> {
        let queues = self.topics.find(topic).map_or(0, |topic| topic.read);
        (0..queues).map(move |queue_id| (topic, queue_id))
    }

    fn queue_key(&self, topic: &Topic, queue_id: i32) -> String {
        queue(&MessageQueue::new(topic.clone(), self.name.clone(), queue_id))
    }
}

fn not_online(group: &Group) -> Refusal {
    let remark = format!("the consumer group {group} is not online");
    Refusal::new(ResponseCode::CONSUMER_NOT_ONLINE, remark)
}

fn connections(members: &BTreeMap<ConnId, Member>) -> String {
    array(members.values().map(|member| {
        let language = member.language.and_then(|language| language.name()).unwrap_or("OTHER");
        let (address, client) = (quoted(&member.remote.to_string()), quoted(member.client.as_str()));
        let version = member.version;
        format!(
            r#"{{"clientAddr":{address},"clientId":{client},"language":"{language}","version":{version}}}"#
        )
    }))
}

fn subscription(data: &Subscribed) -> String {
    format!(
        r#"{{"classFilterMode":{},"codeSet":{},"expressionType":{},"subString":{},"subVersion":{},"tagsSet":{},"topic":{}}}"#,
        data.class_filter_mode,
        array(data.codes.iter().map(i32::to_string)),
        quoted(if data.expression_type.is_empty() { "TAG" } else { &data.expression_type }),
        quoted(&data.expression),
        data.version,
        array(data.tags.iter().map(|tag| quoted(tag))),
        quoted(&data.topic)
    )
}
