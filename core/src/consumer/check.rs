//! Subscriptions in a language that brokers evaluate (SQL92): can they?
//!
//! A broker takes any heartbeat, also one with an expression that it cannot read or whose language it has switched off,
//! and then refuses the pulls: the consumer would be there, own queues, and stand still. So one broker of the topic is
//! asked (code 46), and until it says yes nobody hears of us:
//!
//! | answer | consequence |
//! |---|---|
//! | yes | the first heartbeats go |
//! | it does not know the question (code 3) | as if it had said yes: pulls will tell |
//! | no | it is told; asked again after a while. The native library ends its start with it |
//! | none | the topic's next broker is asked after a while |
//!
//! Once a member, we stay one: a subscription that comes later is asked about beside the heartbeat that carries it.

use super::calls::Purpose;
use super::io::Event;
use super::timers::Timer;
use super::{Consumer, Subscribed};
use crate::model::{Address, Topic};
use crate::time::Duration;
use crate::wire::code::ResponseCode;
use crate::wire::reply::CallError;
use crate::wire::request::Request;
use crate::wire::subscription::ExpressionType;
use alloc::string::ToString;
use alloc::vec::Vec;

const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Where a subscription stands with the broker that has to evaluate it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Check {
    Due {
        failures: u32,
    },
    /// Asked, or waiting to ask again.
    Open {
        failures: u32,
    },
    Passed,
}

impl Check {
    pub(super) fn of(expression: &ExpressionType) -> Self {
        match expression {
            // We compare tags ourselves; every broker has them.
            ExpressionType::Tag => Self::Passed,
            ExpressionType::Sql92 | ExpressionType::Other(_) => Self::Due { failures: 0 },
        }
    }
}

impl Consumer {
    pub(super) fn decide_checks(&mut self) {
        let due = |entry: &Subscribed| match entry.check {
            Check::Due { failures } => Some(failures),
            Check::Open { .. } | Check::Passed => None,
        };
        let due: Vec<(Topic, u32)> = self
            .subscriptions
            .iter()
            .filter_map(|(topic, entry)| Some((topic.clone(), due(entry)?)))
            .collect();
        for (topic, failures) in due {
            let brokers = self.routes.member_sources(&topic);
            // No route yet, or a topic without brokers: the next route is followed by another `decide`.
            let Some(broker) = brokers.get(failures as usize % brokers.len().max(1)) else {
                continue;
            };
            let Some(entry) = self.subscriptions.get_mut(&topic) else { continue };
            entry.check = Check::Open { failures };
            let version = entry.version;
            let request = Request::CheckSubscription {
                client: self.config.client.clone(),
                group: self.config.group.clone(),
                subscription: entry.data(),
            };
            self.call(
                Purpose::Check(topic, version),
                broker.clone(),
                request,
                self.config.limits.call_timeout,
            );
        }
    }

    /// Whether the first heartbeat has to wait.
    pub(super) fn checks_first(&self) -> bool {
        !self.membership.began() && self.subscriptions.values().any(|entry| entry.check != Check::Passed)
    }

    pub(super) fn on_checked(
        &mut self,
        topic: &Topic,
        version: i64,
        to: &Address,
        result: Result<(), CallError>,
    ) {
        // What was asked about is not subscribed any more.
        let Some(entry) = self.subscriptions.get_mut(topic).filter(|entry| entry.version == version) else {
            return self.late();
        };
        let Check::Open { failures } = entry.check else { return };
        match result {
            Err(CallError::Refused(refusal)) if refusal.code == ResponseCode::REQUEST_CODE_NOT_SUPPORTED => {
                entry.check = Check::Passed;
            }
            Ok(()) => entry.check = Check::Passed,
            Err(error) => {
                let attempt = failures + 1;
                entry.check = Check::Open { failures: attempt };
                let wait = FIRST_WAIT.saturating_mul(1 << failures.min(6)).min(LONGEST_WAIT);
                self.timers.set(Timer::Check(topic.clone()), self.now + wait);
                let (to, about) = (to.clone(), topic.to_string());
                self.event(Event::CallFailed { to, what: "check the filter", about, error, attempt });
            }
        }
    }

    pub(super) fn on_check_timer(&mut self, topic: &Topic) {
        let Some(entry) = self.subscriptions.get_mut(topic) else { return };
        if let Check::Open { failures } = entry.check {
            entry.check = Check::Due { failures };
        }
    }
}
