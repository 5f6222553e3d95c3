//! Heartbeats: being a member of the group at every broker.
//!
//! A broker knows a member by its connection. When that breaks, the broker tells the others that the member left, so
//! the first thing on a new connection is a heartbeat. A broker serves pulls and lists us as a member only after it
//! accepted one: until then ([`Broker::registered`]) it is asked for nothing else
//! (Java pulls at once and lives with code 24 until the next round).

use super::calls::Purpose;
use super::io::{Event, RebalanceReason};
use super::timers::Timer;
use super::{Consumer, Subscribed};
use crate::model::Address;
use crate::time::Duration;
use crate::wire::reply::CallError;
use crate::wire::request::{ConsumerData, Heartbeat, Request, SubscriptionData};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, Default)]
pub(crate) struct Membership {
    brokers: BTreeMap<Address, Broker>,
}

#[derive(Clone, Debug, Default)]
struct Broker {
    /// It accepted a heartbeat with the present subscriptions over the present connection.
    registered: bool,
    /// It accepted some heartbeat once.
    heard: bool,
    /// It was sent a heartbeat, and may know us although its answer was lost: it must hear of our leaving.
    told: bool,
    due: bool,
    asking: bool,
    failures: u32,
}

impl Membership {
    pub(super) fn registered(&self, address: &Address) -> bool {
        self.brokers.get(address).is_some_and(|broker| broker.registered)
    }

    /// Whether the last heartbeat that has ended was refused or got no answer.
    pub(super) fn refused(&self, address: &Address) -> bool {
        self.brokers.get(address).is_some_and(|broker| broker.failures > 0)
    }

    pub(super) fn forget(&mut self, address: &Address) {
        self.brokers.remove(address);
    }

    /// Brokers that have to hear of our leaving.
    pub(super) fn told(&self) -> Vec<Address> {
        self.brokers.iter().filter(|(_, broker)| broker.told).map(|(address, _)| address.clone()).collect()
    }

    /// Whether any broker was told of us.
    pub(super) fn began(&self) -> bool {
        self.brokers.values().any(|broker| broker.told)
    }

    /// The subscriptions have changed: no broker knows the present ones.
    pub(super) fn outdated(&mut self) {
        for broker in self.brokers.values_mut() {
            (broker.registered, broker.due) = (false, true);
        }
    }

    pub(super) fn due(&mut self, address: &Address) {
        if let Some(broker) = self.brokers.get_mut(address) {
            broker.due = true;
        }
    }

    /// The broker says it does not know us, or knows older subscriptions than the pull's.
    pub(super) fn unregistered(&mut self, address: &Address) {
        if let Some(broker) = self.brokers.get_mut(address) {
            (broker.registered, broker.due) = (false, true);
        }
    }
}

impl Consumer {
    /// Every broker of any route is to hear of us.
    pub(super) fn know_brokers(&mut self) {
        for address in self.routes.addresses() {
            self.membership.brokers.entry(address).or_insert(Broker { due: true, ..Broker::default() });
        }
    }

    pub(super) fn decide_heartbeats(&mut self) {
        if self.checks_first() {
            return;
        }
        let due = |broker: &Broker| broker.due && !broker.asking;
        let addresses: Vec<Address> = self
            .membership
            .brokers
            .iter()
            .filter(|(_, b)| due(b))
            .map(|(address, _)| address.clone())
            .collect();
        if addresses.is_empty() {
            return;
        }
        let heartbeat = self.heartbeat();
        for address in addresses {
            if let Some(broker) = self.membership.brokers.get_mut(&address) {
                (broker.due, broker.asking, broker.told) = (false, true, true);
            }
            let request = Request::Heartbeat(heartbeat.clone());
            self.call(Purpose::Heartbeat, address, request, self.config.limits.call_timeout);
        }
    }

    fn heartbeat(&self) -> Heartbeat {
        let consumer = ConsumerData {
            group: self.config.group.clone(),
            model: self.config.model,
            start_from: self.config.start_from,
            subscriptions: self.subscription_data(),
            unit_mode: self.config.limits.unit_mode,
        };
        Heartbeat { client: self.config.client.clone(), consumers: vec![consumer], producers: Vec::new() }
    }

    /// The subscriptions as brokers and tools see them, sorted by topic.
    pub(super) fn subscription_data(&self) -> Vec<SubscriptionData> {
        self.subscriptions.values().map(Subscribed::data).collect()
    }

    pub(super) fn on_heartbeat(&mut self, to: &Address, result: Result<(), CallError>) {
        let Some(broker) = self.membership.brokers.get_mut(to) else { return };
        broker.asking = false;
        match result {
            Ok(()) if broker.due => {
                // Sent before the subscriptions changed or the link broke: the next one counts.
                broker.heard = true;
            }
            Ok(()) => {
                let new = !broker.registered;
                let again = broker.heard;
                (broker.registered, broker.heard, broker.failures) = (true, true, 0);
                self.timers
                    .set(Timer::Heartbeat(to.clone()), self.now + self.config.limits.heartbeat_interval);
                if new {
                    self.look_at_all_queues();
                    // The broker has made the retry topic by now.
                    let retry = self.config.group.retry_topic();
                    if !self.routes.known(&retry) {
                        self.routes.due(&retry);
                    }
                    let reason = if again { RebalanceReason::Reconnected } else { RebalanceReason::Started };
                    self.rebalance_soon(reason, Some(to));
                }
            }
            Err(error) => {
                broker.failures += 1;
                let attempt = broker.failures;
                let wait = FIRST_WAIT.saturating_mul(1 << attempt.min(6)).min(LONGEST_WAIT);
                self.timers.set(Timer::Heartbeat(to.clone()), self.now + wait);
                let (to, about) = (to.clone(), String::new());
                self.event(Event::CallFailed { to, what: "send the heartbeat", about, error, attempt });
            }
        }
    }

    /// A connection to a broker broke: for that broker we have left the group.
    ///
    /// 1. It tells the other members, who share out our queues among themselves.
    /// 2. We go on with the messages we have; our pulls fail and wait.
    /// 3. The heartbeat goes out at once (it makes the connection) and again with growing waits.
    /// 4. Accepted, it brings us back: the others are told again, and we ask for the members again.
    pub(super) fn on_link(&mut self, address: &Address, up: bool) {
        if !up {
            self.directs.link_down(address);
            self.may_share_out_again(address);
            self.doubt_commits(address);
        }
        let Some(broker) = self.membership.brokers.get_mut(address) else { return };
        if !up && broker.registered {
            (broker.registered, broker.due) = (false, true);
        }
    }
}
