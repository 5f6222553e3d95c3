//! Questions to servers: typed, and never too many at a time.

use super::Options;
use crate::client::NameServers;
use crate::error::{Error, ErrorKind, Result};
use evenkeel_core::model::{Address, BrokerName, ClientId, Group, Topic};
use evenkeel_core::wire::bodies::{ConsumeStats, ConsumerConnection, GroupTable};
use evenkeel_core::wire::error::{WireError, WireErrorKind};
use evenkeel_core::wire::peer::RunningInfo;
use evenkeel_core::wire::reply::{BrokerData, CallError, ClusterInfo, Reply, TopicRoute};
use evenkeel_core::wire::request::Request;
use evenkeel_core::wire::route::MASTER_ID;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Pages of groups that are read before the answer is held to be endless.
const MOST_PAGES: usize = 1000;

/// Asks servers. Cheap to clone; the limits are common to all clones.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    pub(super) servers: NameServers,
    pub(super) options: Options,
    /// Permits of each broker.
    doors: Arc<Mutex<BTreeMap<Address, Arc<Semaphore>>>>,
}

impl Asker {
    pub(super) fn new(servers: &NameServers, options: &Options) -> Self {
        Self { servers: servers.clone(), options: options.clone(), doors: Arc::default() }
    }

    /// The route of a topic; `None` if no name server knows the topic.
    pub(super) async fn route(&self, topic: &Topic) -> Result<Option<TopicRoute>> {
        let (what, request) = (format!("find topic {topic}"), Request::Route { topic: topic.clone() });
        match self.servers.call(&what, request, self.options.call).await {
            Ok(Reply::Route(route)) => Ok(Some(route)),
            Ok(other) => Err(stranger(&what, &other)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All brokers.
    pub(super) async fn cluster(&self) -> Result<ClusterInfo> {
        let what = "list the brokers";
        match self.servers.call(what, Request::ClusterInfo, self.options.call).await? {
            Reply::Cluster(cluster) => Ok(cluster),
            other => Err(stranger(what, &other)),
        }
    }

    /// All topics.
    pub(super) async fn topics(&self) -> Result<Vec<Topic>> {
        let what = "list the topics";
        match self.servers.call(what, Request::TopicList, self.options.call).await? {
            Reply::Topics(topics) => Ok(topics),
            other => Err(stranger(what, &other)),
        }
    }

    /// The members of a group at one broker; `None` if there are none.
    pub(super) async fn connections(
        &self,
        to: &Address,
        group: &Group,
    ) -> Result<Option<ConsumerConnection>, CallError> {
        let request = Request::Connections { group: group.clone() };
        match self.broker(to, request, self.options.call).await? {
            Reply::Connections(connections) => Ok(connections),
            _ => Err(other_reply()),
        }
    }

    /// How far a group is on the queues of one broker.
    pub(super) async fn progress(&self, to: &Address, group: &Group) -> Result<ConsumeStats, CallError> {
        let request = Request::ConsumeStats { group: group.clone(), topic: None };
        match self.broker(to, request, self.options.call).await? {
            Reply::ConsumeStats(stats) => Ok(stats),
            _ => Err(other_reply()),
        }
    }

    /// What a member says of itself, through a broker.
    pub(super) async fn running_info(
        &self,
        to: &Address,
        group: &Group,
        client: &ClientId,
    ) -> Result<RunningInfo, CallError> {
        let request = Request::RunningInfo { group: group.clone(), client: client.clone() };
        match self.broker(to, request, self.options.member).await? {
            Reply::RunningInfo(info) => Ok(info),
            _ => Err(other_reply()),
        }
    }

    /// The groups that a broker knows, all pages of them.
    pub(super) async fn groups(&self, to: &Address) -> Result<GroupTable, CallError> {
        let mut all = GroupTable::default();
        let mut skip = 0;
        for page in 0..MOST_PAGES {
            let version = (page > 0).then_some(all.version);
            let request = Request::GroupConfigs { skip, version };
            let Reply::Groups(told) = self.broker(to, request, self.options.call).await? else {
                return Err(other_reply());
            };
            if told.table.version != all.version {
                // The first page, or the table changed meanwhile and this is the first page again.
                all = GroupTable { version: told.table.version, ..GroupTable::default() };
                skip = 0;
            }
            let count = i32::try_from(told.table.groups.len()).unwrap_or(i32::MAX);
            skip = skip.saturating_add(count);
            all.groups.extend(told.table.groups);
            if count == 0 || told.total.is_none_or(|total| skip >= total) {
                break;
            }
        }
        Ok(all)
    }

    async fn broker(&self, to: &Address, request: Request, timeout: Duration) -> Result<Reply, CallError> {
        let door = {
            let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
            let door = doors.entry(to.clone()).or_insert_with(|| {
                Arc::new(Semaphore::new(self.options.per_broker.clamp(1, Semaphore::MAX_PERMITS)))
            });
            Arc::clone(door)
        };
        // Nobody closes it; if somebody did, there would be no limit.
        let _permit = door.acquire().await.ok();
        self.servers.client().call(to, request, timeout).await
    }

    /// Runs these futures, no more than the options say at a time. Gives their outputs in the same order.
    ///
    /// A list and no iterator: one that closures make would be a part of the caller's future, which then could not be
    /// sent to another thread.
    pub(super) async fn side_by_side<T, F>(&self, futures: Vec<F>) -> Vec<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let mut waiting = futures.into_iter().enumerate();
        let mut running = JoinSet::new();
        let mut ended = BTreeMap::new();
        loop {
            while running.len() < self.options.at_once.max(1) {
                let Some((place, future)) = waiting.next() else { break };
                running.spawn(async move { (place, future.await) });
            }
            match running.join_next().await {
                Some(Ok((place, output))) => {
                    ended.insert(place, output);
                }
                Some(Err(_panicked)) => {}
                None => return ended.into_values().collect(),
            }
        }
    }
}

/// Where to ask a broker: its master, or the first of its slaves.
pub(super) fn address(broker: &BrokerData) -> Option<(BrokerName, Address)> {
    let master = broker.addresses.get(&MASTER_ID).or_else(|| broker.addresses.values().next());
    Some((broker.broker.clone(), master?.clone()))
}

fn stranger(what: &str, reply: &Reply) -> Error {
    Error::new(ErrorKind::Protocol, format!("cannot {what}: not an answer to that: {reply:?}"))
}

/// Cannot happen: a reply is read as what was asked for.
fn other_reply() -> CallError {
    CallError::Garbled(WireError::new(WireErrorKind::BadJson, 0, "the answer to what was asked"))
}
