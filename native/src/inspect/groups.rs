//! All groups of a cluster, in numbers.

use super::Options;
use super::ask::{Asker, address};
use super::group::Kind;
use super::processes::{Process, processes};
use super::progress::{Lag, Progress};
use super::silent::{Silent, SilentOnes, Whom};
use crate::client::NameServers;
use crate::clock;
use crate::error::{Error, ErrorKind, Result};
use evenkeel_core::model::{Address, BrokerName, Group, MessageQueue, RETRY_PREFIX, Topic};
use evenkeel_core::time::WallClock;
use evenkeel_core::wire::bodies::{Connection, ConsumerConnection};
use evenkeel_core::wire::code::LanguageCode;
use evenkeel_core::wire::names::is_system_group;
use evenkeel_core::wire::reply::CallError;
use evenkeel_core::wire::version::release;
use std::collections::{BTreeMap, BTreeSet};

/// Groups that brokers keep for themselves and their tools: nobody's, unless they have members.
const TOOLS: [&str; 10] = [
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_OWNER",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_PULL",
    "DEFAULT_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SCHEDULE_CONSUMER",
    "SELF_TEST_C_GROUP",
    "TOOLS_CONSUMER",
    "__MONITOR_CONSUMER",
];

/// A cluster's groups.
#[derive(Clone, Debug)]
pub struct GroupsSeen {
    /// When they were looked at, by the clock of this machine.
    pub at: WallClock,
    /// The groups that were wanted, by name.
    pub groups: Vec<GroupSummary>,
    /// Who did not answer: if anybody is here, there may be more than what the other fields show.
    pub silent: Vec<Silent>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSummary {
    /// The group.
    pub group: Group,
    /// Its processes; 0 if it is offline.
    pub members: usize,
    /// How it consumes; `None` if it has no member.
    pub kind: Option<Kind>,
    /// Clients that its members run, such as `JAVA 5.3.1`.
    pub clients: BTreeSet<String>,
    /// What it subscribes to, without its retry topic. Without members: what it has committed offsets of.
    pub topics: BTreeSet<Topic>,
    /// Messages that wait, in the queues that brokers told of; the retry topic's count, too.
    pub lag: Lag,
    /// Messages consumed a second, over all brokers that answered.
    pub rate: f64,
}

/// Which groups are read.
#[derive(Clone, Copy)]
pub struct Which<'a> {
    /// Those whose names this takes.
    pub named: &'a (dyn Fn(&Group) -> bool + Sync),
    /// Also those without members.
    pub offline: bool,
}

impl std::fmt::Debug for Which<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Which").field("offline", &self.offline).finish_non_exhaustive()
    }
}

/// Reads groups: those that brokers have settings for, and those that have a retry topic. Groups of the brokers
/// themselves are left out while they have no member.
///
/// # Errors
/// No name server answers, or no broker does.
pub async fn read_groups(servers: &NameServers, which: Which<'_>, options: &Options) -> Result<GroupsSeen> {
    let mut reading = Reading::new(Asker::new(servers, options));
    reading.find_groups(which.named).await?;
    reading.ask_members().await;
    reading.keep(which.offline);
    reading.ask_progress().await;
    Ok(reading.finish())
}

/// One group so far.
#[derive(Default)]
struct Entry {
    connections: BTreeMap<BrokerName, ConsumerConnection>,
    progress: BTreeMap<MessageQueue, Progress>,
    rate: f64,
}

struct Reading {
    asker: Asker,
    /// Brokers that answer.
    brokers: BTreeMap<BrokerName, Address>,
    groups: BTreeMap<Group, Entry>,
    silent: SilentOnes,
}

impl Reading {
    fn new(asker: Asker) -> Self {
        Self { asker, brokers: BTreeMap::new(), groups: BTreeMap::new(), silent: SilentOnes::default() }
    }

    async fn find_groups(&mut self, wanted: &(dyn Fn(&Group) -> bool + Sync)) -> Result<()> {
        let (cluster, topics) = tokio::join!(self.asker.cluster(), self.asker.topics());
        let (cluster, topics) = (cluster?, topics?);
        let asks = cluster.brokers.iter().filter_map(address).map(|(name, address)| {
            let asker = self.asker.clone();
            async move {
                let told = asker.groups(&address).await;
                (name, address, told)
            }
        });
        let asker = self.asker.clone();
        let mut found = BTreeSet::new();
        for (name, address, told) in asker.side_by_side(asks.collect()).await {
            match told {
                Ok(table) => {
                    found.extend(table.groups.into_keys());
                    self.brokers.insert(name, address);
                }
                Err(reason) => self.silent.add(Whom::Broker { broker: name, address }, reason),
            }
        }
        if self.brokers.is_empty() {
            return Err(self.nobody_answers());
        }
        found.extend(
            topics.iter().filter_map(|topic| topic.as_str().strip_prefix(RETRY_PREFIX)).map(Group::from),
        );
        self.groups
            .extend(found.into_iter().filter(|group| wanted(group)).map(|group| (group, Entry::default())));
        Ok(())
    }

    fn nobody_answers(&self) -> Error {
        match self.silent.first() {
            Some(Silent { whom: Whom::Broker { address, .. }, reason }) => {
                Error::call("list the groups", address.as_str(), reason.clone())
            }
            _ => Error::new(ErrorKind::Unreachable, "cannot list the groups: there is no broker")
                .with_hint("brokers register at the name server within half a minute of their start"),
        }
    }

    /// Each group at each broker: a broker without members of the group answers at once, and a list of who is where
    /// does not exist.
    fn pairs(&self) -> Vec<(Group, BrokerName, Address)> {
        let brokers = || self.brokers.iter();
        let pairs = self.groups.keys().flat_map(|group| brokers().map(move |(name, to)| (group, name, to)));
        pairs.map(|(group, name, to)| (group.clone(), name.clone(), to.clone())).collect()
    }

    async fn ask_members(&mut self) {
        let asks = self.pairs().into_iter().map(|(group, broker, address)| {
            let asker = self.asker.clone();
            async move {
                let told = asker.connections(&address, &group).await;
                (group, broker, address, told)
            }
        });
        let asker = self.asker.clone();
        for (group, broker, address, told) in asker.side_by_side(asks.collect()).await {
            match told {
                Ok(Some(connections)) => {
                    self.groups.entry(group).or_default().connections.insert(broker, connections);
                }
                Ok(None) => {}
                Err(reason) => self.fell_silent(broker, address, reason),
            }
        }
    }

    /// Drops the groups that are not wanted without members.
    fn keep(&mut self, offline: bool) {
        self.groups.retain(|group, entry| {
            let own = TOOLS.contains(&group.as_str()) || is_system_group(group.as_str());
            !entry.connections.is_empty() || (offline && !own)
        });
    }

    async fn ask_progress(&mut self) {
        let asks = self.pairs().into_iter().map(|(group, broker, address)| {
            let asker = self.asker.clone();
            async move {
                let told = asker.progress(&address, &group).await;
                (group, broker, address, told)
            }
        });
        let asker = self.asker.clone();
        for (group, broker, address, told) in asker.side_by_side(asks.collect()).await {
            match told {
                Ok(stats) => {
                    let entry = self.groups.entry(group).or_default();
                    entry.rate += stats.tps;
                    let rows = stats.queues.iter();
                    entry.progress.extend(rows.map(|(queue, told)| (queue.clone(), Progress::new(told))));
                }
                Err(reason) => self.fell_silent(broker, address, reason),
            }
        }
    }

    /// A broker that answered before and now does not is not asked any more.
    fn fell_silent(&mut self, broker: BrokerName, address: Address, reason: CallError) {
        if !matches!(reason, CallError::Refused(_)) {
            self.brokers.remove(&broker);
        }
        self.silent.add(Whom::Broker { broker, address }, reason);
    }

    fn finish(self) -> GroupsSeen {
        let groups = self.groups.into_iter().map(|(group, entry)| entry.summary(group));
        GroupsSeen { at: clock::wall(), groups: groups.collect(), silent: self.silent.into_sorted() }
    }
}

impl Entry {
    fn summary(self, group: Group) -> GroupSummary {
        let connections = self.connections.iter();
        let connections: BTreeMap<BrokerName, Vec<Connection>> =
            connections.map(|(broker, told)| (broker.clone(), told.connections.clone())).collect();
        let processes = processes(&connections);
        let subscribed = self.connections.values().flat_map(|told| told.subscriptions.keys().cloned());
        let committed = self.progress.keys().map(|queue| queue.topic.clone());
        let retry = group.retry_topic();
        GroupSummary {
            members: processes.len(),
            kind: self.connections.values().next().map(Kind::of),
            clients: processes.iter().map(client).collect(),
            topics: subscribed.chain(committed).filter(|topic| *topic != retry).collect(),
            lag: self.progress.values().map(Progress::lag).collect(),
            rate: self.rate,
            group,
        }
    }
}

/// Language and version of a client.
fn client(process: &Process) -> String {
    let language = process.language.and_then(LanguageCode::name).unwrap_or("OTHER");
    release(process.version).map_or_else(|| language.to_owned(), |version| format!("{language} {version}"))
}
