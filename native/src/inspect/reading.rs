//! How a group is read: brokers tell members, members tell topics, topics lead to brokers, until nothing is new.

use super::Options;
use super::answers::{self, member_seen};
use super::ask::{Asker, address};
use super::group::{GroupSeen, Kind, Member};
use super::processes::{Process, processes};
use super::progress::Progress;
use super::silent::{Silent, SilentOnes, Whom};
use crate::client::NameServers;
use crate::clock;
use crate::error::{Error, ErrorKind, Result};
use evenkeel_core::model::{Address, BrokerName, ClientId, Group, MessageQueue, Topic};
use evenkeel_core::plan::BrokerQueues;
use evenkeel_core::wire::bodies::{Connection, ConsumeStats, ConsumerConnection};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::peer::RunningInfo;
use evenkeel_core::wire::reply::{CallError, TopicRoute};
use evenkeel_core::wire::route::PERM_READ;
use std::collections::{BTreeMap, BTreeSet};

/// Reads a group: its members from every broker that has one, what each says of itself, its queues and how far they are.
///
/// # Errors
/// No name server or no broker answers; all brokers refuse; or there is no such group
/// ([`ErrorKind::NotFound`]): no retry topic, no member, no committed offset, no settings.
pub async fn read_group(servers: &NameServers, group: &Group, options: &Options) -> Result<GroupSeen> {
    let mut reading = Reading::new(Asker::new(servers, options), group);
    reading.find_brokers().await?;
    // Brokers tell members, members tell topics, and the routes of topics tell brokers.
    loop {
        let topics = reading.follow_topics().await;
        let members = reading.ask_members().await;
        if !topics && !members {
            break;
        }
    }
    reading.check_existence().await?;
    Ok(reading.finish())
}

/// What is known so far.
struct Reading {
    asker: Asker,
    group: Group,
    /// Routes asked for; `None` if nobody knows the topic.
    routes: BTreeMap<Topic, Option<TopicRoute>>,
    /// Brokers asked.
    brokers: BTreeMap<BrokerName, Address>,
    connections: BTreeMap<BrokerName, ConsumerConnection>,
    progress: BTreeMap<MessageQueue, Progress>,
    rate: f64,
    /// Members asked, and their answers.
    told: BTreeMap<ClientId, Option<RunningInfo>>,
    silent: SilentOnes,
    /// Brokers that answered.
    heard: usize,
}

impl Reading {
    fn new(asker: Asker, group: &Group) -> Self {
        Self {
            asker,
            group: group.clone(),
            routes: BTreeMap::new(),
            brokers: BTreeMap::new(),
            connections: BTreeMap::new(),
            progress: BTreeMap::new(),
            rate: 0.0,
            told: BTreeMap::new(),
            silent: SilentOnes::default(),
            heard: 0,
        }
    }

    /// Begins with the brokers of the retry topic, which each broker makes for a group that comes to it. If there is
    /// none (yet), with all.
    async fn find_brokers(&mut self) -> Result<()> {
        let retry = self.group.retry_topic();
        let route = self.asker.route(&retry).await?;
        let data = match &route {
            Some(route) => route.brokers.clone(),
            None => self.asker.cluster().await?.brokers,
        };
        self.routes.insert(retry, route);
        self.ask_brokers(data.iter().filter_map(address).collect()).await;
        if self.heard == 0 {
            return Err(self.nobody_answers());
        }
        Ok(())
    }

    fn nobody_answers(&self) -> Error {
        let what = format!("read group {}", self.group);
        match self.silent.first() {
            Some(Silent { whom: Whom::Broker { address, .. }, reason }) => {
                Error::call(&what, address.as_str(), reason.clone())
            }
            _ => Error::new(ErrorKind::Unreachable, format!("cannot {what}: there is no broker"))
                .with_hint("brokers register at the name server within half a minute of their start"),
        }
    }

    /// Asks brokers that were not asked yet for the group's members and progress.
    async fn ask_brokers(&mut self, mut brokers: BTreeMap<BrokerName, Address>) {
        brokers.retain(|name, _| !self.brokers.contains_key(name));
        let asks = brokers.iter().map(|(name, address)| {
            let (asker, group, name, to) =
                (self.asker.clone(), self.group.clone(), name.clone(), address.clone());
            async move {
                let (connections, progress) =
                    tokio::join!(asker.connections(&to, &group), asker.progress(&to, &group));
                (name, to, connections, progress)
            }
        });
        let asker = self.asker.clone();
        for (name, address, connections, progress) in asker.side_by_side(asks.collect()).await {
            match connections {
                Ok(connections) => {
                    self.heard += 1;
                    self.connections.extend(connections.map(|connections| (name.clone(), connections)));
                }
                Err(error) => self.silent_broker(&name, &address, error),
            }
            match progress {
                Ok(stats) => self.take_progress(&stats),
                Err(error) => self.silent_broker(&name, &address, error),
            }
        }
        self.brokers.extend(brokers);
    }

    fn silent_broker(&mut self, broker: &BrokerName, address: &Address, reason: CallError) {
        self.silent.add(Whom::Broker { broker: broker.clone(), address: address.clone() }, reason);
    }

    fn take_progress(&mut self, stats: &ConsumeStats) {
        self.rate += stats.tps;
        self.progress.extend(stats.queues.iter().map(|(queue, told)| (queue.clone(), Progress::new(told))));
    }

    /// Topics that brokers and members have told of so far.
    fn topics(&self) -> BTreeSet<Topic> {
        let subscribed = self.connections.values().flat_map(|connections| connections.subscriptions.keys());
        let answers = self.told.values().flatten().flat_map(|info| answers::topics(info).into_keys());
        let committed = self.progress.keys().map(|queue| queue.topic.clone());
        subscribed.cloned().chain(answers).chain(committed).collect()
    }

    /// Reads the routes of new topics, and asks the brokers that they lead to. Gives whether there was a new topic.
    async fn follow_topics(&mut self) -> bool {
        let topics: Vec<Topic> =
            self.topics().into_iter().filter(|topic| !self.routes.contains_key(topic)).collect();
        let asks = topics.iter().map(|topic| {
            let (asker, topic) = (self.asker.clone(), topic.clone());
            async move {
                let route = asker.route(&topic).await;
                (topic, route)
            }
        });
        let asker = self.asker.clone();
        let mut brokers = BTreeMap::new();
        for (topic, route) in asker.side_by_side(asks.collect()).await {
            let route = route.unwrap_or_else(|error| {
                let reason = error.to_string();
                self.silent.add(Whom::Route { topic: topic.clone() }, CallError::LinkLost { reason });
                None
            });
            brokers.extend(route.iter().flat_map(|route| &route.brokers).filter_map(address));
            self.routes.insert(topic, route);
        }
        self.ask_brokers(brokers).await;
        !topics.is_empty()
    }

    fn processes(&self) -> Vec<Process> {
        let connections = self.connections.iter();
        let connections: BTreeMap<BrokerName, Vec<Connection>> =
            connections.map(|(broker, told)| (broker.clone(), told.connections.clone())).collect();
        processes(&connections)
    }

    /// Asks members that were not asked yet, each id once. Gives whether there was one.
    async fn ask_members(&mut self) -> bool {
        let mut ways: BTreeMap<ClientId, Vec<(BrokerName, Address)>> = BTreeMap::new();
        for process in self.processes().into_iter().filter(|process| !self.told.contains_key(&process.client))
        {
            let brokers = process.connections.into_keys();
            let ways = ways.entry(process.client).or_default();
            ways.extend(brokers.filter_map(|name| Some((name.clone(), self.brokers.get(&name)?.clone()))));
        }
        // Spread over the brokers.
        let asks = ways.into_iter().enumerate().map(|(place, (client, mut ways))| {
            let turn = place % ways.len().max(1);
            ways.rotate_left(turn);
            let (asker, group) = (self.asker.clone(), self.group.clone());
            async move {
                let told = ask_member(&asker, &group, &client, ways).await;
                (client, told)
            }
        });
        let asker = self.asker.clone();
        let answers = asker.side_by_side(asks.collect()).await;
        let any = !answers.is_empty();
        for (client, told) in answers {
            let told = match told {
                Ok(info) => Some(info),
                Err((broker, reason)) => {
                    self.silent.add(Whom::Member { client: client.clone(), broker }, reason);
                    None
                }
            };
            self.told.insert(client, told);
        }
        any
    }

    /// A group of which there is no sign at all does not exist, unless somebody did not answer.
    async fn check_existence(&mut self) -> Result<()> {
        let retry = self.routes.get(&self.group.retry_topic()).is_some_and(Option::is_some);
        if retry || !self.connections.is_empty() || !self.progress.is_empty() {
            return Ok(());
        }
        if let Some(silent) = self.silent.first() {
            let at = match &silent.whom {
                Whom::Broker { address, .. } => address.to_string(),
                other => other.to_string(),
            };
            return Err(Error::call(&format!("find group {}", self.group), &at, silent.reason.clone()));
        }
        let asks = self.brokers.values().cloned().map(|address| {
            let asker = self.asker.clone();
            async move { asker.groups(&address).await }
        });
        let tables = self.asker.side_by_side(asks.collect()).await;
        if tables.into_iter().flatten().any(|table| table.groups.contains_key(&self.group)) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotFound, format!("there is no group {}", self.group)).with_hint(
            "check its spelling and its namespace; `evenkeel groups --offline` lists all that there are",
        ))
    }

    fn finish(self) -> GroupSeen {
        let member = |process: Process| {
            let running = self.told.get(&process.client).cloned().flatten();
            let seen = member_seen(&process, running.as_ref());
            Member { seen, connections: process.connections, running }
        };
        let members = self.processes().into_iter().map(member).collect();
        let kind = self.connections.values().next().map(Kind::of);
        let routed = self.routes.iter().filter_map(|(topic, route)| Some((topic, route.as_ref()?)));
        let retry = self.group.retry_topic();
        let unrouted = self.routes.iter().filter(|(topic, route)| {
            let lost = Whom::Route { topic: (*topic).clone() };
            route.is_none() && **topic != retry && !self.silent.has(&lost)
        });
        GroupSeen {
            at: clock::wall(),
            kind,
            topics: routed.map(|(topic, route)| (topic.clone(), readable_queues(route))).collect(),
            unrouted: unrouted.map(|(topic, _)| topic.clone()).collect(),
            members,
            brokers: self.brokers,
            progress: self.progress,
            rate: self.rate,
            silent: self.silent.into_sorted(),
            group: self.group,
        }
    }
}

/// Asks one member through the brokers it is connected to. A broker that cannot be reached, or has lost it, is no reason
/// not to ask the next; a member that hangs would do so there, too.
async fn ask_member(
    asker: &Asker,
    group: &Group,
    client: &ClientId,
    ways: Vec<(BrokerName, Address)>,
) -> Result<RunningInfo, (BrokerName, CallError)> {
    let mut failure = None;
    for (broker, address) in ways {
        match asker.running_info(&address, group, client).await {
            Ok(info) if answers::says_something(&info) => return Ok(info),
            Ok(_) => return Err((broker, answers::said_nothing())),
            Err(error) if hangs(&error) => return Err((broker, error)),
            Err(error) => failure = Some((broker, error)),
        }
    }
    Err(failure.unwrap_or_else(|| {
        let reason = "none of the brokers that list it can be asked".to_owned();
        (BrokerName::from(""), CallError::LinkLost { reason })
    }))
}

/// Whether the member was asked and did not answer in our time, or in the broker's.
fn hangs(error: &CallError) -> bool {
    match error {
        CallError::Expired { .. } => true,
        CallError::Refused(refusal) => refusal.code == ResponseCode::CONSUME_MSG_TIMEOUT,
        _ => false,
    }
}

fn readable_queues(route: &TopicRoute) -> BTreeMap<BrokerName, BrokerQueues> {
    let queues = route.queues.iter().map(|data| {
        let (read, readable) = (u32::try_from(data.read_queues).unwrap_or(0), data.perm & PERM_READ != 0);
        (data.broker.clone(), BrokerQueues { read, readable })
    });
    queues.collect()
}
