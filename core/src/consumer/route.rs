//! Topic routes: which queues a topic has, where its brokers are, which name server to ask.
//!
//! A failed look-up keeps the old route (Java: `MQClientInstance.updateTopicRouteInfoFromNameServer`). Unlike Java a
//! changed route starts a rebalance round at once instead of waiting for the next periodic one.

use super::Consumer;
use super::calls::Purpose;
use super::io::{Event, Output, RebalanceReason};
use super::timers::Timer;
use crate::model::{Address, BrokerName, MessageQueue, Topic};
use crate::time::Duration;
use crate::wire::code::ResponseCode;
use crate::wire::reply::{CallError, Refusal, TopicRoute};
use crate::wire::request::Request;
use crate::wire::route::subscribe_queues;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::ToString;
use alloc::vec::Vec;

/// Waits between look-ups of a topic that has no route yet, by failed cycles so far.
const FIRST_WAITS: [Duration; 4] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(5)];

#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    pub(super) topics: BTreeMap<Topic, TopicState>,
    /// Addresses by broker id (0 is the master), of every broker in any route.
    brokers: BTreeMap<BrokerName, BTreeMap<i64, Address>>,
    name_servers: Vec<Address>,
    current: usize,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct TopicState {
    route: Option<TopicRoute>,
    /// Readable queues, sorted, without repeats.
    queues: Vec<MessageQueue>,
    due: bool,
    asking: bool,
    /// Name servers that failed in a row.
    failures: u32,
}

impl Routes {
    pub(super) fn new(name_servers: Vec<Address>, start: u64) -> Self {
        let current = usize::try_from(start).unwrap_or_default() % name_servers.len().max(1);
        Self { name_servers, current, ..Self::default() }
    }

    /// A topic to know the route of, from now on.
    pub(super) fn want(&mut self, topic: &Topic) {
        self.topics.entry(topic.clone()).or_default().due = true;
    }

    /// A topic's route is to be read as soon as may be.
    pub(super) fn due(&mut self, topic: &Topic) {
        if let Some(state) = self.topics.get_mut(topic) {
            state.due = true;
        }
    }

    pub(super) fn forget(&mut self, topic: &Topic) {
        self.topics.remove(topic);
    }

    /// Whether the topic was found at least once.
    pub(super) fn known(&self, topic: &Topic) -> bool {
        self.topics.get(topic).is_some_and(|state| state.route.is_some())
    }

    /// Readable queues of a topic, in Java's order.
    pub(super) fn queues(&self, topic: &Topic) -> &[MessageQueue] {
        self.topics.get(topic).map_or(&[], |state| &state.queues)
    }

    /// The name servers, for running info.
    pub(super) fn name_servers(&self) -> &[Address] {
        &self.name_servers
    }

    /// Address of a broker's master: the only one that locks, takes send-backs, and knows a queue's last message.
    pub(super) fn master(&self, broker: &BrokerName) -> Option<&Address> {
        self.brokers.get(broker)?.get(&0)
    }

    /// Where a broker's offsets are read and committed: at its master, while it has none at a slave.
    pub(super) fn offset_keeper(&self, broker: &BrokerName) -> Option<&Address> {
        self.brokers.get(broker)?.first_key_value().map(|(_, address)| address)
    }

    /// Where to pull from: the broker id the last answer suggested, else the next one, else any.
    pub(super) fn pull_address(&self, broker: &BrokerName, suggested: i64) -> Option<&Address> {
        let ids = self.brokers.get(broker)?;
        let next = suggested.saturating_add(i64::from(suggested != 0));
        ids.get(&suggested).or_else(|| ids.get(&next)).or_else(|| ids.values().next())
    }

    /// Addresses that can tell the group's members for a topic: of each of its brokers the master, else any slave.
    pub(super) fn member_sources(&self, topic: &Topic) -> Vec<Address> {
        let Some(route) = self.topics.get(topic).and_then(|state| state.route.as_ref()) else {
            return Vec::new();
        };
        route.brokers.iter().filter_map(|data| self.offset_keeper(&data.broker).cloned()).collect()
    }

    /// Every broker address in any route.
    pub(super) fn addresses(&self) -> BTreeSet<Address> {
        self.brokers.values().flat_map(BTreeMap::values).cloned().collect()
    }

    /// Takes a new route in. Gives what changed: the topic's queues, and the addresses nobody uses any more.
    /// Brokers in `leaving` are kept: last commits still go there.
    fn learn(
        &mut self,
        topic: &Topic,
        route: TopicRoute,
        leaving: &BTreeSet<BrokerName>,
    ) -> Option<(bool, BTreeSet<Address>)> {
        let before = self.addresses();
        for data in &route.brokers {
            self.brokers.insert(data.broker.clone(), data.addresses.clone());
        }
        let state = self.topics.get_mut(topic)?;
        let mut queues = subscribe_queues(&route, topic);
        queues.sort();
        queues.dedup();
        let changed = state.route.is_none() || state.queues != queues;
        state.queues = queues;
        state.route = Some(route);
        self.drop_unused_brokers(leaving);
        let after = self.addresses();
        Some((changed, before.difference(&after).cloned().collect()))
    }

    fn drop_unused_brokers(&mut self, leaving: &BTreeSet<BrokerName>) {
        let topics = &self.topics;
        self.brokers.retain(|broker, _| {
            let routes = topics.values().filter_map(|state| state.route.as_ref());
            leaving.contains(broker)
                || routes.flat_map(|route| &route.brokers).any(|data| data.broker == *broker)
        });
    }
}

impl Consumer {
    /// Sends the look-ups that are due.
    pub(super) fn decide_routes(&mut self) {
        let due: Vec<Topic> = self
            .routes
            .topics
            .iter()
            .filter(|(_, s)| s.due && !s.asking)
            .map(|(topic, _)| topic.clone())
            .collect();
        for topic in due {
            let Some(server) = self.routes.name_servers.get(self.routes.current).cloned() else { return };
            if let Some(state) = self.routes.topics.get_mut(&topic) {
                (state.due, state.asking) = (false, true);
            }
            let request = Request::Route { topic: topic.clone() };
            self.call(Purpose::Route(topic), server, request, self.config.limits.call_timeout);
        }
    }

    pub(super) fn on_route(
        &mut self,
        topic: &Topic,
        server: &Address,
        result: Result<TopicRoute, CallError>,
    ) {
        let Some(state) = self.routes.topics.get_mut(topic) else { return };
        state.asking = false;
        match result {
            Ok(route) => {
                state.failures = 0;
                self.timers.set(Timer::Route(topic.clone()), self.now + self.config.limits.route_interval);
                let leaving = self.queues.lives.values().filter(|life| !life.is_held());
                let popped = self.pops.in_order().map(|life| &life.queue);
                let leaving = leaving.map(|life| &life.queue).chain(popped);
                let leaving = leaving.map(|queue| queue.broker.clone()).collect();
                let Some((changed, gone)) = self.routes.learn(topic, route, &leaving) else { return };
                self.on_addresses_gone(gone);
                self.know_brokers();
                if changed {
                    if self.routes.queues(topic).is_empty() && !topic.is_retry() {
                        self.event(Event::NothingToRead { topic: topic.clone() });
                    }
                    self.rebalance_soon(RebalanceReason::RouteChanged, None);
                }
            }
            Err(error) => self.on_route_failed(topic, server, error),
        }
    }

    /// A name server that cannot be reached is passed over at once; one that answers "no such topic" is believed
    /// until the next look-up.
    ///
    /// 1. The connection fails, or nothing comes until the deadline: the next name server is asked now. A dead address
    ///    costs one deadline, not the whole start.
    /// 2. All have failed: wait, longer each time, and begin again.
    /// 3. "No such topic": wait. The retry topic has no route until the first heartbeat made it, so there it is no
    ///    event at all.
    fn on_route_failed(&mut self, topic: &Topic, server: &Address, error: CallError) {
        let servers = u32::try_from(self.routes.name_servers.len()).unwrap_or(u32::MAX).max(1);
        let not_found = matches!(&error, CallError::Refused(Refusal { code, .. }) if *code == ResponseCode::TOPIC_NOT_EXIST);
        if !not_found && self.routes.name_servers.get(self.routes.current) == Some(server) {
            self.routes.current = (self.routes.current + 1) % servers as usize;
        }
        let Some(state) = self.routes.topics.get_mut(topic) else { return };
        state.failures += 1;
        let (attempt, known) = (state.failures, state.route.is_some());
        if !not_found && attempt % servers != 0 {
            state.due = true;
        } else {
            let cycle = if not_found { attempt } else { attempt / servers };
            let wait = match FIRST_WAITS.get(cycle.saturating_sub(1) as usize) {
                Some(wait) if !known => *wait,
                _ => self.config.limits.route_interval,
            };
            self.timers
                .set(Timer::Route(topic.clone()), self.now + wait.min(self.config.limits.route_interval));
        }
        if !(not_found && topic.is_retry()) {
            let (to, about) = (server.clone(), topic.to_string());
            self.event(Event::CallFailed { to, what: "read the route", about, error, attempt });
        }
    }

    /// New name servers replace the old ones: those that are gone are not called any more.
    pub(super) fn on_name_servers(&mut self, servers: Vec<Address>) {
        if servers.is_empty() {
            return;
        }
        let brokers = self.routes.addresses();
        for gone in core::mem::take(&mut self.routes.name_servers) {
            if !servers.contains(&gone) && !brokers.contains(&gone) {
                self.drop_calls(&gone);
                self.out.push_back(Output::HangUp { address: gone });
            }
        }
        (self.routes.name_servers, self.routes.current) = (servers, 0);
        for state in self.routes.topics.values_mut().filter(|state| state.route.is_none()) {
            state.due = true;
        }
    }

    /// Brokers that no route names any more: their connections close, their calls are forgotten.
    fn on_addresses_gone(&mut self, gone: BTreeSet<Address>) {
        for address in gone {
            self.membership.forget(&address);
            self.timers.clear(&Timer::Heartbeat(address.clone()));
            self.drop_calls(&address);
            if !self.routes.name_servers.contains(&address) {
                self.out.push_back(Output::HangUp { address });
            }
        }
    }
}
