//! Questions that an operator asks a member through its broker: sent on, waited for, answered.

use super::broker::Broker;
use super::context::Context;
use super::output::ConnId;
use super::request::{Handled, Refusal, header, unreadable_field};
use evenkeel_core::model::Group;
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::{Command, FLAG_RESPONSE, Fields};
use evenkeel_core::wire::error::{WireError, WireErrorKind};
use evenkeel_core::wire::headers::peer::{ConsumeMessageDirectly, GetConsumerRunningInfo};
use evenkeel_core::wire::ids::OffsetId;
use std::collections::BTreeMap;

/// How long a member has to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Questions on their way, by the member's connection and the opaque they were sent on under.
#[derive(Debug, Default)]
pub(crate) struct Relays {
    pending: BTreeMap<(ConnId, i32), Pending>,
    count: i32,
}

#[derive(Debug)]
struct Pending {
    asker: ConnId,
    question: Command,
    until: Instant,
}

impl Relays {
    /// Whether this request is for a member of a group rather than for the broker.
    pub(crate) fn knows(code: RequestCode) -> bool {
        matches!(code, RequestCode::GET_CONSUMER_RUNNING_INFO | RequestCode::CONSUME_MESSAGE_DIRECTLY)
    }

    /// An opaque that no request to a client had before, until it wraps.
    pub(crate) fn next_opaque(&mut self) -> i32 {
        self.count = self.count.wrapping_add(1);
        self.count
    }

    /// Sends a question on to the member it names.
    pub(crate) fn ask(
        &mut self,
        cx: &mut Context<'_>,
        broker: &Broker,
        asker: ConnId,
        question: &Command,
    ) -> Handled {
        // Both questions name the member alike.
        let GetConsumerRunningInfo { group, client, .. } = header(question, &[])?;
        let Some((member, _)) = broker.groups.member(&group, &client) else {
            let remark = format!("the consumer {group} {client} is not online");
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
        };
        if self.pending.len() >= cx.config.limits.in_flight {
            return Err(Refusal::full("questions to members"));
        }
        let mut sent = Command { opaque: Some(self.next_opaque()), flag: 0, ..question.clone() };
        if question.request_code() == RequestCode::CONSUME_MESSAGE_DIRECTLY {
            let ConsumeMessageDirectly { msg_id, .. } = header(question, &[])?;
            let missing = WireError::new(WireErrorKind::MissingField, 0, "msgId");
            let id = msg_id.ok_or_else(|| unreadable_field(missing))?;
            let stored = message_of(broker, &id, &group)?;
            sent = sent.with_field("brokerName", &broker.name).with_body(stored);
        }
        let pending = Pending {
            asker,
            question: Command { fields: Fields::default(), body: bytes::Bytes::new(), ..question.clone() },
            until: cx.now + PATIENCE,
        };
        self.pending.insert((member, self.count), pending);
        cx.send(member, sent);
        Ok(None)
    }

    /// A client's answer; one that nobody waits for is dropped.
    pub(crate) fn answered(&mut self, cx: &mut Context<'_>, member: ConnId, answer: Command) {
        let pending = answer.opaque.and_then(|opaque| self.pending.remove(&(member, opaque)));
        if let Some(Pending { asker, question, .. }) = pending {
            cx.send(asker, Command { opaque: question.opaque, flag: FLAG_RESPONSE, ..answer });
        }
    }

    /// A connection is gone: what it was asked stays unanswered, what it asked needs no answer.
    pub(crate) fn disconnected(&mut self, cx: &mut Context<'_>, conn: ConnId) {
        self.pending.retain(|_, pending| pending.asker != conn);
        self.give_up(cx, |member, _| member == conn);
    }

    /// Gives up on members that do not answer.
    pub(crate) fn tick(&mut self, cx: &mut Context<'_>) {
        let now = cx.now;
        self.give_up(cx, |_, pending| pending.until <= now);
    }

    /// When [`Self::tick`] has something to do.
    pub(crate) fn wake(&self) -> Option<Instant> {
        self.pending.values().map(|pending| pending.until).min()
    }

    fn give_up(&mut self, cx: &mut Context<'_>, on: impl Fn(ConnId, &Pending) -> bool) {
        self.pending.retain(|(member, _), pending| {
            let ends = on(*member, pending);
            if ends {
                let remark = "the consumer does not answer";
                let refusal = Refusal::new(ResponseCode::CONSUME_MSG_TIMEOUT, remark);
                cx.send(pending.asker, refusal.answer(&pending.question));
            }
            !ends
        });
    }
}

/// The stored form of the message with this id.
fn message_of(broker: &Broker, id: &str, group: &Group) -> Result<bytes::Bytes, Refusal> {
    let missing = || {
        let remark = format!("there is no message {id} for {group}");
        Refusal::new(ResponseCode::SYSTEM_ERROR, remark)
    };
    let offset = OffsetId::parse(id).map_err(|_| missing())?.offset;
    broker.log.at(offset).cloned().ok_or_else(missing)
}
