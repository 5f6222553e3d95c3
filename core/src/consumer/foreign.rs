//! Foreign members: who in the group does not do as we do, where all have to.
//!
//! Java's strategies are common to all clients. With one that only we know
//! ([`is_ours_alone`](crate::allocate::Allocate::is_ours_alone)) a member of another client, or one of ours that runs
//! something else, is no harmless guest: queues have two owners or none for as long as it is there. So it is with the
//! exclusive hand-over (`handover`): a member without it pulls queues that others hold the lock of.
//!
//! 1. Before the first round, a broker that accepted our heartbeat is asked who is connected; it knows their languages.
//! 2. Members in another language are foreign. Those in ours, and those whose language an old broker does not know, are
//!    asked, through the broker, for their settings.
//! 3. By `foreign_members` the consumer leaves again, or says so and goes on.
//! 4. Each later round looks at members that are new in its list in the same way. They are told, and nothing else
//!    happens: what we have is being consumed.
//!
//! Who gives no answer, be it the broker or a member, is not foreign for that: it is told, and the start goes on. A list
//! that cannot be read must not keep a group from working.

use super::Consumer;
use super::calls::Purpose;
use super::io::{Common, Event};
use crate::allocate::SortedMembers;
use crate::config::ForeignMembers;
use crate::model::{Address, ClientId};
use crate::time::Duration;
use crate::wire::bodies::ConsumerConnection;
use crate::wire::code::LanguageCode;
use crate::wire::peer::RunningInfo;
use crate::wire::reply::CallError;
use crate::wire::request::Request;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Members asked for their settings in one look: of a larger group the rest follows with the next rounds.
const MOST_ASKED: usize = 100;
/// Where a member's running info has its strategy; the name of the field in Java.
const STRATEGY: &str = "allocateMessageQueueStrategy";
/// And whether it hands over exclusively: our option's name.
const HANDOVER: &str = "exclusive_handover";

#[derive(Clone, Debug, Default)]
pub(crate) struct Foreign {
    /// The look before the first round is over.
    looked: bool,
    /// Who has been looked at, as far as it is still there.
    known: BTreeSet<ClientId>,
    /// A broker whose list has somebody new.
    newcomers_at: Option<Address>,
    look: Option<Look>,
    /// The broker does not tell us: it is not asked again.
    refused: bool,
}

#[derive(Clone, Debug, Default)]
struct Look {
    /// Members whose answers are awaited.
    asked: BTreeSet<ClientId>,
    found: Vec<(ClientId, String)>,
}

impl Consumer {
    /// Whether the first round has to wait.
    pub(super) fn looks_first(&self) -> bool {
        self.common().is_some() && !self.foreign.looked
    }

    /// What all members have to do.
    fn common(&self) -> Option<Common> {
        let strategy = self.config.strategy.is_ours_alone() && !self.is_broadcasting();
        match (strategy, self.config.hands_over()) {
            (true, true) => Some(Common::StrategyAndHandover),
            (true, false) => Some(Common::Strategy),
            (false, true) => Some(Common::Handover),
            (false, false) => None,
        }
    }

    pub(super) fn decide_foreign(&mut self) {
        if self.foreign.look.is_some() {
            return;
        }
        let broker = match self.looks_first() {
            true if self.rebalance.dirty.is_some() => self.a_broker_that_knows_us(),
            true => None,
            false => self.foreign.newcomers_at.take(),
        };
        let Some(broker) = broker else { return };
        self.foreign.look = Some(Look::default());
        let request = Request::Connections { group: self.config.group.clone() };
        self.call(Purpose::Connections, broker, request, self.config.limits.call_timeout);
    }

    fn a_broker_that_knows_us(&self) -> Option<Address> {
        let brokers = self.subscriptions.keys().flat_map(|topic| self.routes.member_sources(topic));
        brokers.into_iter().find(|address| self.membership.registered(address))
    }

    /// Mutates only; [`Consumer::decide_foreign`] asks.
    pub(super) fn look_for_newcomers(&mut self, from: &Address, members: &SortedMembers) {
        if self.common().is_none() || self.foreign.refused {
            return;
        }
        self.foreign.known.retain(|client| members.position(client).is_some());
        let is_new =
            |client: &ClientId| *client != self.config.client && !self.foreign.known.contains(client);
        if members.iter().any(is_new) {
            self.foreign.newcomers_at = Some(from.clone());
        }
    }

    pub(super) fn on_connections(
        &mut self,
        from: &Address,
        result: Result<Option<ConsumerConnection>, CallError>,
    ) {
        if !self.is_running() || self.foreign.look.is_none() {
            return;
        }
        match result {
            Ok(connections) => self.look_at(from, connections.unwrap_or_default()),
            Err(error) => {
                self.foreign.refused |= matches!(error, CallError::Refused(_));
                self.unanswered(from, "look for other clients in the group", String::new(), error);
            }
        }
        self.end_look();
    }

    fn look_at(&mut self, broker: &Address, connections: ConsumerConnection) {
        for connection in connections.connections {
            let client = connection.client;
            if client == self.config.client || self.foreign.known.contains(&client) {
                continue;
            }
            let Some(look) = &mut self.foreign.look else { return };
            match connection.language {
                None | Some(LanguageCode::RUST) if look.asked.len() >= MOST_ASKED => continue,
                None | Some(LanguageCode::RUST) => {
                    look.asked.insert(client.clone());
                    let request =
                        Request::RunningInfo { group: self.config.group.clone(), client: client.clone() };
                    let timeout = self.config.limits.call_timeout;
                    self.call(Purpose::Settings(client.clone()), broker.clone(), request, timeout);
                }
                Some(language) => {
                    let name = language.name().unwrap_or("foreign");
                    look.found.push((client.clone(), format!("a {name} client")));
                }
            }
            self.foreign.known.insert(client);
        }
    }

    pub(super) fn on_settings(
        &mut self,
        client: ClientId,
        from: &Address,
        result: Result<RunningInfo, CallError>,
    ) {
        if !self.is_running() {
            return;
        }
        let foreign = match result {
            Ok(info) => self.what_is_foreign(&info),
            Err(error) => {
                self.unanswered(from, "ask a member for its settings", client.to_string(), error);
                None
            }
        };
        let Some(look) = &mut self.foreign.look else { return };
        look.asked.remove(&client);
        look.found.extend(foreign.map(|what| (client, what)));
        self.end_look();
    }

    fn what_is_foreign(&self, info: &RunningInfo) -> Option<String> {
        let told = |setting| info.properties.get(setting).map(String::as_str);
        let strategy = &self.config.strategy;
        if strategy.is_ours_alone() && told(STRATEGY) != Some(&*strategy.name()) {
            return Some(match told(STRATEGY) {
                Some(strategy) => format!("runs {strategy}"),
                None => "does not say which strategy it runs".to_string(),
            });
        }
        let hands_over = told(HANDOVER) == Some("true");
        (self.config.hands_over() && !hands_over)
            .then(|| "does not hand its queues over exclusively".to_string())
    }

    /// Ends the look under way unless answers are awaited.
    fn end_look(&mut self) {
        let Some(common) = self.common() else { return };
        let Some(look) = self.foreign.look.take_if(|look| look.asked.is_empty()) else { return };
        let first = !core::mem::replace(&mut self.foreign.looked, true);
        if look.found.is_empty() {
            return;
        }
        let refused = first && self.config.limits.foreign_members == ForeignMembers::Refuse;
        self.event(Event::ForeignMembers { common, members: look.found, refused });
        if refused {
            self.on_stop(Duration::ZERO);
        }
    }

    fn unanswered(&mut self, to: &Address, what: &'static str, about: String, error: CallError) {
        self.event(Event::CallFailed { to: to.clone(), what, about, error, attempt: 1 });
    }
}
