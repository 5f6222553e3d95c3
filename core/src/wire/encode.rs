//! From values to commands: what this client sends.

use super::bodies::{Body, ConsumerStatus, check_value};
use super::code::ResponseCode;
use super::command::Command;
use super::headers::{admin, consume, peer, produce};
use super::peer::Answer;
use super::request::{Pop, Popped, Pull, Request, Send, SendBack};
use crate::model::{BrokerName, MessageQueue, Topic};
use alloc::string::ToString;
use bytes::Bytes;

/// Topic whose settings a topic gets that is made by its first message.
const DEFAULT_TOPIC: &str = "TBW102";
/// Queues that such a topic gets, unless the broker is set otherwise.
const DEFAULT_QUEUES: i32 = 4;

/// Bits of a pull's flag.
mod pull_flag {
    pub(super) const COMMIT: i32 = 1;
    pub(super) const SUSPEND: i32 = 1 << 1;
    pub(super) const SUBSCRIPTION: i32 = 1 << 2;
}

impl Request {
    /// The request as a command; the connection adds the opaque.
    pub fn to_command(&self) -> Command {
        let command = Command::request(self.code());
        match self {
            Self::Route { topic } => command.with_header(&consume::GetRouteInfo {
                topic: topic.clone(),
                accept_standard_json_only: None,
            }),
            Self::Heartbeat(heartbeat) => command.with_body(heartbeat.encode()),
            Self::Unregister { client, group } => command.with_header(&consume::UnregisterClient {
                client: client.clone(),
                producer_group: None,
                consumer_group: Some(group.clone()),
                broker: None,
            }),
            Self::Members { group } => {
                command.with_header(&consume::GetConsumerList { group: group.clone(), broker: None })
            }
            Self::QueryOffset { group, queue } => {
                let (topic, queue_id, broker) = parts(queue);
                let header = consume::QueryConsumerOffset {
                    group: group.clone(),
                    topic,
                    queue_id,
                    set_zero_if_not_found: None,
                    broker,
                };
                command.with_header(&header)
            }
            Self::CommitOffset { group, queue, offset } => {
                let (topic, queue_id, broker) = parts(queue);
                let header = consume::UpdateConsumerOffset {
                    group: group.clone(),
                    topic,
                    queue_id,
                    commit_offset: *offset,
                    broker,
                };
                command.with_header(&header)
            }
            Self::MaxOffset { queue } => {
                let (topic, queue_id, broker) = parts(queue);
                command.with_header(&consume::GetMaxOffset { topic, queue_id, committed: true, broker })
            }
            Self::MinOffset { queue } => {
                let (topic, queue_id, broker) = parts(queue);
                command.with_header(&consume::GetMinOffset { topic, queue_id, broker })
            }
            Self::OffsetAt { queue, at } => {
                let (topic, queue_id, broker) = parts(queue);
                let header = consume::SearchOffset {
                    topic,
                    queue_id,
                    timestamp: at.as_millis(),
                    boundary: None,
                    lite_topic: None,
                    broker,
                };
                command.with_header(&header)
            }
            Self::Lock(queues) | Self::Unlock(queues) => command.with_body(queues.encode()),
            Self::Pull(pull) => command.with_header(&pull_header(pull)),
            Self::QueryAssignment(query) => command.with_body(query.encode()),
            Self::SetRequestMode(setting) => command.with_body(setting.encode()),
            Self::Pop(pop) => command.with_header(&pop_header(pop)),
            Self::Ack(popped) => command.with_header(&ack_header(popped)),
            Self::BatchAck(acks) => command.with_body(acks.encode()),
            Self::ChangeInvisible { popped, invisible_ms } => {
                command.with_header(&invisible_header(popped, *invisible_ms))
            }
            Self::SendBack(send_back) => command.with_header(&send_back_header(send_back)),
            Self::Send(send) => command.with_header(&send_header(send)).with_body(send.body.clone()),
            Self::CheckSubscription { client, group, subscription } => {
                command.with_body(Bytes::from(check_value(client, group, subscription).to_text()))
            }
            Self::CreateTopic { topic, queues, perm } => {
                command.with_header(&create_topic_header(topic, *queues, *perm))
            }
            Self::ClusterInfo | Self::TopicList => command,
            Self::Connections { group } => {
                command.with_header(&admin::GetConsumerConnections { group: group.clone() })
            }
            Self::RunningInfo { group, client } => command.with_header(&peer::GetConsumerRunningInfo {
                group: group.clone(),
                client: client.clone(),
                jstack: false,
                broker: None,
            }),
            Self::ConsumeStats { group, topic } => {
                command.with_header(&admin::GetConsumeStats { group: group.clone(), topic: topic.clone() })
            }
            Self::TopicStats { topic } => command.with_header(&admin::GetTopicStats { topic: topic.clone() }),
            Self::GroupConfigs { skip, version } => command.with_header(&admin::GetAllGroupConfigs {
                skip: *skip,
                version: version.as_ref().map(|version| version.to_value().to_text()),
                most: None,
            }),
        }
    }
}

fn parts(queue: &MessageQueue) -> (Topic, i32, Option<BrokerName>) {
    (queue.topic.clone(), queue.id, Some(queue.broker.clone()))
}

fn pull_header(pull: &Pull) -> consume::PullMessage {
    let (topic, queue_id, broker) = parts(&pull.queue);
    let mut sys_flag = 0;
    if pull.commit.is_some() {
        sys_flag |= pull_flag::COMMIT;
    }
    if pull.suspend_ms > 0 {
        sys_flag |= pull_flag::SUSPEND;
    }
    if pull.expression.is_some() {
        sys_flag |= pull_flag::SUBSCRIPTION;
    }
    consume::PullMessage {
        group: pull.group.clone(),
        topic,
        queue_id,
        queue_offset: pull.offset,
        max_messages: pull.max_messages,
        sys_flag,
        commit_offset: pull.commit.unwrap_or(0),
        suspend_ms: pull.suspend_ms,
        subscription: pull.expression.clone(),
        subscription_version: pull.subscription_version,
        expression_type: Some(pull.expression_type.clone()),
        max_bytes: None,
        request_source: None,
        proxy_forward_client: None,
        lite_topic: None,
        broker,
    }
}

fn pop_header(pop: &Pop) -> consume::PopMessage {
    let (topic, queue_id, broker) = parts(&pop.queue);
    consume::PopMessage {
        group: pop.group.clone(),
        topic,
        queue_id,
        max_messages: pop.max_messages,
        invisible_ms: pop.invisible_ms,
        poll_ms: pop.suspend_ms,
        born: pop.born,
        init_mode: i32::from(pop.from_end),
        expression_type: Some(pop.expression_type.clone()),
        expression: Some(pop.expression.clone()),
        order: false,
        attempt: None,
        broker,
    }
}

fn ack_header(popped: &Popped) -> consume::AckMessage {
    let Popped { group, topic, check_point } = popped;
    consume::AckMessage {
        group: group.clone(),
        topic: check_point.source.stored_topic(topic, group),
        queue_id: check_point.queue_id,
        extra_info: check_point.to_string(),
        offset: check_point.offset,
        lite_topic: None,
        broker: Some(check_point.broker.clone()),
    }
}

fn invisible_header(popped: &Popped, invisible_ms: i64) -> consume::ChangeInvisibleTime {
    let ack = ack_header(popped);
    consume::ChangeInvisibleTime {
        group: ack.group,
        topic: ack.topic,
        queue_id: ack.queue_id,
        extra_info: ack.extra_info,
        offset: ack.offset,
        invisible_ms,
        lite_topic: None,
        suspend: false,
        broker: ack.broker,
    }
}

fn send_back_header(send_back: &SendBack) -> consume::SendMessageBack {
    consume::SendMessageBack {
        commit_log_offset: send_back.commit_log_offset,
        group: send_back.group.clone(),
        delay_level: send_back.delay_level,
        origin_msg_id: Some(send_back.msg_id.clone()),
        origin_topic: Some(send_back.origin_topic.clone()),
        unit_mode: false,
        max_reconsume_times: Some(send_back.max_reconsume_times),
        broker: Some(send_back.broker.clone()),
    }
}

fn send_header(send: &Send) -> produce::SendMessageV2 {
    let (topic, queue_id, broker) = parts(&send.queue);
    produce::SendMessageV2 {
        group: send.group.clone(),
        topic,
        default_topic: Topic::from(DEFAULT_TOPIC),
        default_queues: DEFAULT_QUEUES,
        queue_id,
        sys_flag: send.sys_flag,
        born: send.born.as_millis(),
        flag: send.flag,
        properties: Some(send.properties.clone()),
        reconsume_times: Some(send.reconsume_times),
        unit_mode: Some(false),
        max_reconsume_times: send.max_reconsume_times,
        batch: Some(send.batch),
        broker,
    }
}

fn create_topic_header(topic: &Topic, queues: i32, perm: i32) -> admin::CreateTopic {
    admin::CreateTopic {
        topic: topic.clone(),
        default_topic: Topic::from(DEFAULT_TOPIC),
        read_queues: queues,
        write_queues: queues,
        perm,
        filter_type: "SINGLE_TAG".to_string(),
        sys_flag: Some(0),
        order: false,
        attributes: None,
        force: None,
    }
}

impl Answer {
    /// The answer as a response to the request with this opaque.
    pub fn to_command(&self, opaque: i32) -> Command {
        let success = || Command::response(ResponseCode::SUCCESS, Some(opaque));
        match self {
            Self::Status(offsets) => success().with_body(ConsumerStatus(offsets.clone()).encode()),
            Self::RunningInfo(info) => success().with_body(info.encode()),
            Self::ConsumedDirectly(ended) => success().with_body(ended.encode()),
            Self::Refused { code, remark } => {
                Command::response(ResponseCode(*code), Some(opaque)).with_remark(remark.clone())
            }
        }
    }
}
