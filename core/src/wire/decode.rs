//! From commands to values: what servers answer and what brokers ask.

use super::bodies::{
    Assignments, Body, ConsumeStats, ConsumerConnection, GroupTable, Locked, Members, ResetTable, TopicList,
    TopicStats,
};
use super::code::{RequestCode, ResponseCode};
use super::command::Command;
use super::error::{WireError, WireErrorKind};
use super::fields::Header;
use super::headers::{admin, consume, peer, produce};
use super::message::Message;
use super::peer::{PeerRequest, RunningInfo};
use super::pop::{self, CheckPoint};
use super::reply::{
    CallError, ClusterInfo, GroupPage, PopReply, PopStatus, PullStatus, Pulled, Refusal, Reply, Sent,
    TopicRoute,
};
use super::request::{Pop, Popped, Request};
use super::stored;
use alloc::boxed::Box;
use bytes::Bytes;

impl Reply {
    /// Reads the response to this request.
    ///
    /// Errors: [`CallError::Refused`] for a response code that is not one of the request's good ones,
    /// [`CallError::Garbled`] for a good one whose header or body cannot be read.
    pub fn parse(request: &Request, command: Command) -> Result<Self, CallError> {
        let code = command.response_code();
        if !is_good(request, code) {
            let remark = command.remark.unwrap_or_default();
            return Err(Refusal { request: request.code(), code, remark }.into());
        }
        Ok(match request {
            Request::Route { .. } => Self::Route(TopicRoute::decode(&command.body)?),
            Request::Heartbeat(_) => Self::Heartbeat { version: command.version },
            Request::Members { .. } => Self::Members(Members::decode(&command.body)?.0),
            Request::QueryOffset { .. } if code == ResponseCode::QUERY_NOT_FOUND => Self::Offset(None),
            Request::QueryOffset { .. }
            | Request::MaxOffset { .. }
            | Request::MinOffset { .. }
            | Request::OffsetAt { .. } => {
                // The four answers have the same one field.
                let header = consume::QueryConsumerOffsetResponse::from_fields(&command.fields)?;
                Self::Offset(Some(header.offset))
            }
            Request::Lock(_) => Self::Locked(Locked::decode(&command.body)?.0),
            Request::Pull(_) => Self::Pulled(pulled(&command)?),
            Request::QueryAssignment(_) => Self::Assigned(Assignments::decode(&command.body)?),
            Request::Pop(pop) => Self::Popped(popped(pop, &command)?),
            Request::Ack(_) | Request::BatchAck(_) => Self::Acked(code == ResponseCode::SUCCESS),
            Request::ChangeInvisible { popped, .. } => Self::Hidden(hidden(popped, &command)?),
            Request::Send(_) => Self::Sent(sent(&command)?),
            Request::ClusterInfo => Self::Cluster(ClusterInfo::decode(&command.body)?),
            Request::TopicList => Self::Topics(TopicList::decode(&command.body)?.0),
            Request::Connections { .. } if code == ResponseCode::CONSUMER_NOT_ONLINE => {
                Self::Connections(None)
            }
            Request::Connections { .. } => {
                Self::Connections(Some(ConsumerConnection::decode(&command.body)?))
            }
            Request::RunningInfo { .. } => Self::RunningInfo(RunningInfo::decode(&command.body)?),
            Request::ConsumeStats { .. } => Self::ConsumeStats(ConsumeStats::decode(&command.body)?),
            Request::TopicStats { .. } => Self::TopicStats(TopicStats::decode(&command.body)?),
            Request::GroupConfigs { .. } => Self::Groups(GroupPage {
                table: GroupTable::decode(&command.body)?,
                total: admin::GetAllGroupConfigsResponse::from_fields(&command.fields)?.total,
            }),
            Request::Unregister { .. }
            | Request::CommitOffset { .. }
            | Request::Unlock(_)
            | Request::SetRequestMode(_)
            | Request::SendBack(_)
            | Request::CheckSubscription { .. }
            | Request::CreateTopic { .. } => Self::Done,
        })
    }
}

/// Whether the code answers the request (as opposed to refusing it).
fn is_good(request: &Request, code: ResponseCode) -> bool {
    match request {
        Request::QueryOffset { .. } => {
            matches!(code, ResponseCode::SUCCESS | ResponseCode::QUERY_NOT_FOUND)
        }
        Request::Connections { .. } => {
            matches!(code, ResponseCode::SUCCESS | ResponseCode::CONSUMER_NOT_ONLINE)
        }
        Request::Pull(_) => pull_status(code).is_some(),
        Request::Pop(_) => pop_status(code).is_some(),
        Request::Ack(_) | Request::BatchAck(_) | Request::ChangeInvisible { .. } => {
            matches!(code, ResponseCode::SUCCESS | ResponseCode::NO_MESSAGE)
        }
        Request::Send(_) => matches!(
            code,
            ResponseCode::SUCCESS
                | ResponseCode::FLUSH_DISK_TIMEOUT
                | ResponseCode::SLAVE_NOT_AVAILABLE
                | ResponseCode::FLUSH_SLAVE_TIMEOUT
        ),
        _ => code == ResponseCode::SUCCESS,
    }
}

fn pull_status(code: ResponseCode) -> Option<PullStatus> {
    match code {
        ResponseCode::SUCCESS => Some(PullStatus::Found),
        ResponseCode::PULL_NOT_FOUND => Some(PullStatus::NoNew),
        ResponseCode::PULL_RETRY_IMMEDIATELY => Some(PullStatus::NoMatch),
        ResponseCode::PULL_OFFSET_MOVED => Some(PullStatus::OffsetIllegal),
        _ => None,
    }
}

fn pulled(command: &Command) -> Result<Pulled, WireError> {
    let header = consume::PullMessageResponse::from_fields(&command.fields)?;
    let status = pull_status(command.response_code()).unwrap_or(PullStatus::NoNew);
    // Only an answer with messages has a body; what a server might put into others is not messages.
    let (messages, damaged) = match status {
        PullStatus::Found => {
            let batch = stored::decode_batch(&command.body, stored::Limits::default());
            (batch.messages, batch.damaged)
        }
        PullStatus::NoNew | PullStatus::NoMatch | PullStatus::OffsetIllegal => Default::default(),
    };
    Ok(Pulled {
        status,
        next: header.next_offset,
        min: header.min_offset,
        max: header.max_offset,
        offset_delta: header.offset_delta.unwrap_or(0),
        suggested_broker: header.suggested_broker,
        messages,
        damaged,
    })
}

fn pop_status(code: ResponseCode) -> Option<PopStatus> {
    match code {
        ResponseCode::SUCCESS => Some(PopStatus::Found),
        ResponseCode::PULL_NOT_FOUND | ResponseCode::POLLING_TIMEOUT => Some(PopStatus::NoNew),
        ResponseCode::POLLING_FULL => Some(PopStatus::Full),
        _ => None,
    }
}

fn popped(request: &Pop, command: &Command) -> Result<PopReply, WireError> {
    let status = pop_status(command.response_code()).unwrap_or(PopStatus::NoNew);
    if status != PopStatus::Found {
        // Some of these answers have no header.
        return Ok(PopReply { status, rest: 0, messages: Default::default(), damaged: None });
    }
    let header = consume::PopMessageResponse::from_fields(&command.fields)?;
    let batch = stored::decode_batch(&command.body, stored::Limits::default());
    let messages = pop::with_check_points(batch.messages, &header, &request.queue.broker)?;
    Ok(PopReply { status, rest: header.rest, messages, damaged: batch.damaged })
}

/// The new name of a message that is hidden anew: it counts as a pop of its own, of this message alone.
fn hidden(popped: &Popped, command: &Command) -> Result<Option<CheckPoint>, WireError> {
    if command.response_code() != ResponseCode::SUCCESS {
        return Ok(None);
    }
    let header = consume::ChangeInvisibleTimeResponse::from_fields(&command.fields)?;
    Ok(Some(CheckPoint {
        start: popped.check_point.offset,
        pop_time: header.pop_time,
        invisible_ms: header.invisible_ms,
        revive_queue: header.revive_queue,
        ..popped.check_point.clone()
    }))
}

fn sent(command: &Command) -> Result<Sent, WireError> {
    let header = produce::SendMessageResponse::from_fields(&command.fields)?;
    Ok(Sent {
        code: command.response_code(),
        msg_id: header.msg_id,
        queue_id: header.queue_id,
        queue_offset: header.queue_offset,
    })
}

impl PeerRequest {
    /// Reads a request that a broker sent. A code that this client does not serve is [`PeerRequest::Unknown`], no
    /// error.
    ///
    /// Errors: the request is known but its header or body cannot be read, or one that wants an answer has no opaque.
    pub fn parse(command: &Command) -> Result<Self, WireError> {
        let fields = &command.fields;
        Ok(match command.request_code() {
            RequestCode::NOTIFY_CONSUMER_IDS_CHANGED => {
                Self::MembersChanged { group: peer::NotifyConsumerIdsChanged::from_fields(fields)?.group }
            }
            RequestCode::RESET_CONSUMER_CLIENT_OFFSET => {
                let header = peer::ResetOffset::from_fields(fields)?;
                let offsets = ResetTable::decode(&command.body)?.0;
                Self::ResetOffsets { group: header.group, topic: header.topic, offsets }
            }
            RequestCode::GET_CONSUMER_STATUS_FROM_CLIENT => {
                let header = peer::GetConsumerStatus::from_fields(fields)?;
                let topic = header.topic.filter(|topic| !topic.as_str().trim().is_empty());
                Self::Status { reply: opaque(command)?, group: header.group, topic }
            }
            RequestCode::GET_CONSUMER_RUNNING_INFO => {
                let header = peer::GetConsumerRunningInfo::from_fields(fields)?;
                Self::RunningInfo { reply: opaque(command)?, group: header.group, client: header.client }
            }
            RequestCode::CONSUME_MESSAGE_DIRECTLY => {
                let header = peer::ConsumeMessageDirectly::from_fields(fields)?;
                let message = Box::new(one_message(&command.body)?);
                Self::ConsumeDirectly {
                    reply: opaque(command)?,
                    group: header.group,
                    broker: header.broker,
                    message,
                }
            }
            _ => Self::Unknown {
                reply: if command.is_one_way() { None } else { command.opaque },
                code: command.code,
            },
        })
    }
}

/// A body that holds one stored message.
fn one_message(body: &Bytes) -> Result<Message, WireError> {
    let batch = stored::decode_batch(body, stored::Limits::default());
    match (batch.damaged, <[Message; 1]>::try_from(batch.messages)) {
        (Some(error), _) => Err(error),
        (None, Ok([message])) => Ok(message),
        (None, Err(_)) => Err(WireError::new(WireErrorKind::BadLength, 0, "one message")),
    }
}

fn opaque(command: &Command) -> Result<i32, WireError> {
    command.opaque.ok_or(WireError::new(WireErrorKind::MissingField, 0, "opaque"))
}
