//! Request 36: a consumer could not handle a message. It is stored again for the group alone, later, or, having failed
//! too often, as a dead letter.

use super::broker::Broker;
use super::context::Context;
use super::log::read_back;
use super::request::{Handled, Refusal, header, success};
use super::send::{limit_of_tries, with_properties};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::headers::consume::SendMessageBack;
use evenkeel_core::wire::properties::names;

/// A first failure waits as long as this level says, each further one a level longer.
const FIRST_LEVEL: i32 = 3;

impl Broker {
    /// Request 36.
    pub(crate) fn send_back(&mut self, cx: &mut Context<'_>, request: &Command) -> Handled {
        // The group is judged before the rest is looked at.
        let spare = [("offset", "-1"), ("delayLevel", "0")];
        let SendMessageBack { group, .. } = header(request, &spare)?;
        let settings = self.settings.ensure(cx.config, &group)?;
        if settings.retry_queues <= 0 {
            return Ok(Some(success(request)));
        }
        self.topics.ensure_retry(&group.retry_topic(), settings.retry_queues, false)?;
        let back: SendMessageBack = header(request, &[])?;
        let position = back.commit_log_offset;
        let Some(mut message) = self.log.at(position).and_then(read_back) else {
            let remark = format!("there is no message at log position {position}");
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
        };

        let origin = message.property(names::RETRY_TOPIC).unwrap_or(message.topic.as_str()).to_owned();
        let id = message.offset_id().to_string();
        let id = message.property(names::ORIGIN_MESSAGE_ID).map_or(id, str::to_owned);
        let set =
            [(names::RETRY_TOPIC, origin.as_str()), (names::ORIGIN_MESSAGE_ID, &id), (names::WAIT, "false")];
        message.properties = with_properties(&message.properties, &set);

        let most = limit_of_tries(request, back.max_reconsume_times, settings.retry_max_times);
        let wanted = back.delay_level;
        let level = if message.reconsume_times >= most || wanted < 0 {
            message.topic = group.dead_letter_topic();
            message.queue_id = 0;
            self.topics.for_send(&message.topic, None, 1)?;
            message.properties = with_properties(&message.properties, &[(names::DELAY, "")]);
            0
        } else {
            message.topic = group.retry_topic();
            let queues = u64::try_from(settings.retry_queues).unwrap_or(1);
            message.queue_id = i32::try_from(cx.rng.below(queues)).unwrap_or(0);
            if wanted == 0 { FIRST_LEVEL.saturating_add(message.reconsume_times) } else { wanted }
        };
        message.reconsume_times = message.reconsume_times.saturating_add(1);
        self.store_after(cx, message, level)?;
        Ok(Some(success(request)))
    }
}
