//! Putting messages in without a producer: for demos, tests and standard input.

use super::output::ConnId;
use super::state::State;
use super::topics::AUTO_CREATE_TOPIC;
use bytes::Bytes;
use evenkeel_core::model::{MessageQueue, Topic};
use evenkeel_core::time::{Instant, WallClock};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::fields::Header;
use evenkeel_core::wire::headers::produce::{SendMessageResponse, SendMessageV2};
use evenkeel_core::wire::properties::Properties;
use std::net::{Ipv4Addr, SocketAddr};

/// A message to [publish](State::publish).
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The queue's number; `None` lets the broker choose.
    pub queue: Option<i32>,
    /// Properties, such as `TAGS` and `KEYS`.
    pub properties: Properties,
    /// The body.
    pub body: Bytes,
}

impl Draft {
    /// A message without properties for any queue.
    pub fn new(body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }

    /// The same message for one queue.
    #[must_use]
    pub fn queue(self, queue: i32) -> Self {
        Self { queue: Some(queue), ..self }
    }

    /// The same message with one tag and no other property.
    #[must_use]
    pub fn tag(self, tag: &str) -> Self {
        Self { properties: Properties::from_pairs([("TAGS", tag)]), ..self }
    }
}

/// Where a published message went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The queue.
    pub queue: MessageQueue,
    /// Its offset there.
    pub offset: i64,
    /// The id of its place in the broker's log.
    pub id: String,
}

/// A message that the broker does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the embedded broker refused a message with {code}: {remark}")]
pub struct PublishError {
    /// Why, in the protocol's terms.
    pub code: ResponseCode,
    /// Why, in words.
    pub remark: String,
}

impl State {
    /// Stores a message on the broker with this index, as if a producer had sent it. Faults are not asked.
    pub fn publish(
        &mut self,
        now: Instant,
        wall: WallClock,
        broker: usize,
        topic: &Topic,
        draft: Draft,
    ) -> Result<Published, PublishError> {
        let header = SendMessageV2 {
            group: "EMBEDDED".into(),
            topic: topic.clone(),
            default_topic: AUTO_CREATE_TOPIC.into(),
            default_queues: 4,
            queue_id: draft.queue.unwrap_or(-1),
            sys_flag: 0,
            born: wall.as_millis(),
            flag: 0,
            properties: Some(String::from_utf8_lossy(draft.properties.as_bytes()).into_owned()),
            reconsume_times: None,
            unit_mode: None,
            max_reconsume_times: None,
            batch: None,
            broker: None,
        };
        let code = RequestCode::SEND_MESSAGE_V2;
        let send = Command::request(code).with_header(&header).with_body(draft.body);
        // No connection has this number: nobody gets an answer, which a send returns anyhow.
        let nobody = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let handled = self.ask_broker(now, wall, broker, ConnId(u64::MAX), nobody, &send);
        self.flush(now, wall);
        let answer = match handled {
            Ok(answer) => answer.unwrap_or_else(|| Command::response(ResponseCode::SUCCESS, None)),
            Err(refusal) => return Err(PublishError { code: refusal.code, remark: refusal.remark }),
        };
        let sent = SendMessageResponse::from_fields(&answer.fields)
            .map_err(|error| PublishError { code: ResponseCode::SYSTEM_ERROR, remark: error.to_string() })?;
        let name = self.brokers.get(broker).map(|broker| broker.name.clone());
        Ok(Published {
            queue: MessageQueue::new(topic.clone(), name.unwrap_or_else(|| "".into()), sent.queue_id),
            offset: sent.queue_offset,
            id: sent.msg_id,
        })
    }
}
