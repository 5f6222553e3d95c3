//! What operators ask a broker: who is connected, how far a group is, what a topic holds, new offsets.

use super::broker::Broker;
use super::config::Generation;
use super::context::Context;
use super::groups::Member;
use super::output::ConnId;
use super::pull::is_tag_type;
use super::request::{Handled, Refusal, header, json, success};
use bytes::Bytes;
use evenkeel_core::model::{Group, MessageQueue, Topic};
use evenkeel_core::time::WallClock;
use evenkeel_core::wire::bodies::{
    Body, Connection, ConsumeStats, ConsumerConnection, GroupList, KvTable, ProducerConnection,
    QueueProgress, QueueRange, ResetTable, TopicStats,
};
use evenkeel_core::wire::code::{LanguageCode, PROTOCOL_VERSION_NAME, RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::headers::admin::{
    DeleteTopic, GetConsumeStats, GetConsumerConnections, GetProducerConnections, GetTopicStats,
    InvokeResetOffset, QueryTopicConsumers,
};
use evenkeel_core::wire::headers::peer::ResetOffset;
use evenkeel_core::wire::headers::produce::ViewMessage;
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
        let kind = body.field("subscriptionData").field("expressionType");
        if is_tag_type(kind.as_str().unwrap_or_default()) {
            return Ok(Some(success(request)));
        }
        Err(Refusal::new(ResponseCode::SYSTEM_ERROR, "the embedded broker does not filter by properties"))
    }

    /// Request 203.
    fn consumer_connections(&self, request: &Command) -> Handled {
        let GetConsumerConnections { group } = header(request, &[])?;
        let entry = self.groups.find(&group).ok_or_else(|| not_online(&group))?;
        let body = ConsumerConnection {
            connections: connections(&entry.members),
            subscriptions: entry.subscriptions.clone(),
            consume_type: entry.consume_type,
            model: entry.model,
            start_from: entry.start_from,
        };
        Ok(Some(success(request).with_body(body.encode())))
    }

    /// Request 204.
    fn producer_connections(&self, request: &Command) -> Handled {
        let GetProducerConnections { group } = header(request, &[])?;
        let Some(members) = self.groups.producers(&group) else {
            let remark = format!("the producer group {group} does not exist");
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
        };
        Ok(Some(success(request).with_body(ProducerConnection(connections(members)).encode())))
    }

    /// Request 208: end and committed offset of every queue of a group.
    fn consume_stats(&self, request: &Command) -> Handled {
        let GetConsumeStats { group, topic } = header(request, &[])?;
        let topics: BTreeSet<Topic> = match topic {
            Some(topic) => BTreeSet::from([topic]),
            None => self.offsets.topics_of(&group).into_iter().cloned().collect(),
        };
        // While the group has members, only what they subscribe to.
        let subscribed = self.groups.find(&group).map(|group| &group.subscriptions);
        let is_shown =
            |topic: &&Topic| subscribed.is_none_or(|topics| topics.is_empty() || topics.contains_key(*topic));
        let mut stats = ConsumeStats::default();
        for (topic, queue_id) in topics.iter().filter(is_shown).flat_map(|topic| self.queues_of(topic)) {
            let committed = self.offsets.committed(&group, topic, queue_id).unwrap_or(0).max(0);
            let last = self.log.queue(topic, queue_id).and_then(|queue| queue.entry(committed - 1));
            let last = last.map_or(0, |entry| entry.at.as_millis());
            let progress = QueueProgress {
                broker_offset: self.log.max(topic, queue_id),
                consumer_offset: committed,
                pull_offset: committed,
                last_timestamp: last,
            };
            stats.queues.insert(self.queue(topic, queue_id), progress);
        }
        Ok(Some(success(request).with_body(stats.encode())))
    }

    /// Request 202: first and last offset of every queue of a topic.
    fn topic_stats(&self, request: &Command) -> Handled {
        let GetTopicStats { topic } = header(request, &[])?;
        self.topics.existing(&topic)?;
        let range = |(topic, queue_id): (&Topic, i32)| {
            let (min_offset, max_offset) = (self.log.min(topic, queue_id), self.log.max(topic, queue_id));
            let last = self.log.queue(topic, queue_id).and_then(|queue| queue.entry(max_offset - 1));
            let last_update = last.map_or(0, |entry| entry.at.as_millis());
            (self.queue(topic, queue_id), QueueRange { min_offset, max_offset, last_update })
        };
        let stats = TopicStats(self.queues_of(&topic).map(range).collect());
        Ok(Some(success(request).with_body(stats.encode())))
    }

    /// Request 300.
    fn groups_of_topic(&self, request: &Command) -> Handled {
        let QueryTopicConsumers { topic } = header(request, &[])?;
        let subscribed = self.groups.iter().filter(|(_, entry)| entry.subscriptions.contains_key(&topic));
        let mut groups: BTreeSet<&Group> = subscribed.map(|(group, _)| group).collect();
        groups.extend(self.offsets.groups_of(&topic));
        let groups = GroupList(groups.into_iter().cloned().collect());
        Ok(Some(success(request).with_body(groups.encode())))
    }

    /// Request 222: a group shall go on from a time or an offset. Kept here until the next pull, or pushed to the
    /// members.
    fn reset_offsets(&mut self, cx: &mut Context<'_>, request: &Command) -> Handled {
        let wanted: InvokeResetOffset = header(request, &[("timestamp", "-1")])?;
        let (group, topic) = (&wanted.group, &wanted.topic);
        self.topics.existing(topic)?;
        let only = Some(wanted.queue_id).filter(|queue_id| *queue_id >= 0);
        let fixed = only.and(wanted.offset.filter(|offset| *offset >= 0));

        let server_side = cx.config.generation == Generation::V5 && cx.config.server_side_reset;
        let mut offsets = BTreeMap::new();
        let queues = self.queues_of(topic).map(|(_, queue_id)| queue_id);
        for queue_id in queues.filter(|queue_id| only.is_none_or(|only| only == *queue_id)) {
            let target = fixed.unwrap_or_else(|| match self.log.queue(topic, queue_id) {
                Some(queue) if wanted.timestamp >= 0 => {
                    queue.offset_at(WallClock::from_millis(wanted.timestamp), false)
                }
                Some(queue) => queue.max(),
                None => 0,
            });
            let committed = self.offsets.committed(group, topic, queue_id);
            let goes_back = committed.is_some_and(|committed| target < committed);
            let moves = server_side || wanted.force || goes_back;
            offsets.insert(queue_id, if moves { target } else { committed.unwrap_or(target) });
        }
        let table = offsets.iter().map(|(queue_id, offset)| (self.queue(topic, *queue_id), *offset));
        let body = ResetTable(table.collect()).encode();
        if server_side {
            for (queue_id, offset) in &offsets {
                self.offsets.reset(group, topic, *queue_id, *offset, cx.config.limits.offsets)?;
            }
        } else {
            self.push_reset(cx, &wanted, &body)?;
        }
        Ok(Some(success(request).with_body(body)))
    }

    fn push_reset(
        &self,
        cx: &mut Context<'_>,
        wanted: &InvokeResetOffset,
        body: &Bytes,
    ) -> Result<(), Refusal> {
        let entry = self.groups.find(&wanted.group).ok_or_else(|| not_online(&wanted.group))?;
        let header = ResetOffset {
            topic: wanted.topic.clone(),
            group: wanted.group.clone(),
            queue_id: -1,
            offset: None,
            timestamp: wanted.timestamp,
            force: wanted.force,
            broker: None,
        };
        for (conn, member) in &entry.members {
            if member.version >= RESET_SINCE {
                let reset = Command::request(RequestCode::RESET_CONSUMER_CLIENT_OFFSET)
                    .with_header(&header)
                    .with_body(body.clone())
                    .one_way();
                cx.send(*conn, reset);
            }
        }
        Ok(())
    }

    /// Request 33.
    fn view_message(&self, request: &Command) -> Handled {
        let ViewMessage { offset: position, .. } = header(request, &[])?;
        let Some(stored) = self.log.at(position) else {
            let remark = format!("there is no message at log position {position}");
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
        };
        Ok(Some(success(request).with_body(stored.clone())))
    }

    /// Request 215.
    fn delete_topic(&mut self, request: &Command) -> Handled {
        let DeleteTopic { topic } = header(request, &[])?;
        self.topics.remove(&topic);
        self.log.remove_topic(&topic);
        self.modes.forget_topic(&topic);
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
        let table = KvTable(figures.map(|(name, figure)| (name.to_owned(), figure.to_owned())).into());
        success(request).with_body(table.encode())
    }

    fn queues_of<'a>(&self, topic: &'a Topic) -> impl Iterator<Item = (&'a Topic, i32)> + use<'a> {
        let queues = self.topics.find(topic).map_or(0, |topic| topic.read_queues);
        (0..queues).map(move |queue_id| (topic, queue_id))
    }

    fn queue(&self, topic: &Topic, queue_id: i32) -> MessageQueue {
        MessageQueue::new(topic.clone(), self.name.clone(), queue_id)
    }
}

fn not_online(group: &Group) -> Refusal {
    let remark = format!("the consumer group {group} is not online");
    Refusal::new(ResponseCode::CONSUMER_NOT_ONLINE, remark)
}

fn connections(members: &BTreeMap<ConnId, Member>) -> Vec<Connection> {
    let shown = members.values().map(|member| Connection {
        client: member.client.clone(),
        address: member.remote.to_string(),
        language: member.language.or(Some(LanguageCode::OTHER)),
        version: member.version,
    });
    shown.collect()
}
