//! Where a producer may write, remembered for a while.

use crate::client::NameServers;
use crate::error::{Error, ErrorKind, Result};
use evenkeel_core::model::{Address, BrokerName, MessageQueue, Topic};
use evenkeel_core::wire::reply::{Reply, TopicRoute};
use evenkeel_core::wire::request::Request;
use evenkeel_core::wire::route::publish_queues;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// As Java's `pollNameServerInterval`.
const FRESH: Duration = Duration::from_secs(30);
/// The topic whose route says which brokers create topics by themselves.
const TEMPLATE: &str = "TBW102";
/// Queues of a topic that a broker creates by itself, as Java asks for.
const CREATED_QUEUES: i32 = 4;

/// Writable queues of a topic and the masters to reach them.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) queues: Vec<MessageQueue>,
    masters: BTreeMap<BrokerName, Address>,
    read_at: Instant,
}

impl Route {
    fn new(topic: &Topic, route: &TopicRoute) -> Self {
        let master = |broker: &evenkeel_core::wire::reply::BrokerData| {
            Some((broker.broker.clone(), broker.addresses.get(&0)?.clone()))
        };
        Self {
            queues: publish_queues(route, topic),
            masters: route.brokers.iter().filter_map(master).collect(),
            read_at: Instant::now(),
        }
    }

    pub(super) fn master(&self, broker: &BrokerName) -> Result<&Address> {
        self.masters.get(broker).ok_or_else(|| {
            Error::new(ErrorKind::Unreachable, format!("broker {broker} has no master"))
                .with_hint("is it registered at the name server? a broker takes some seconds after its start")
        })
    }
}

/// Routes by topic.
#[derive(Debug)]
pub(super) struct Routes {
    servers: NameServers,
    timeout: Duration,
    known: Mutex<BTreeMap<Topic, Arc<Route>>>,
}

impl Routes {
    pub(super) fn new(servers: NameServers, timeout: Duration) -> Self {
        Self { servers, timeout, known: Mutex::default() }
    }

    /// The route of a topic: the remembered one while it is fresh; an old one if no name server can be reached.
    pub(super) async fn route(&self, topic: &Topic) -> Result<Arc<Route>> {
        let known = self.locked(|known| known.get(topic).cloned());
        if let Some(route) = known.as_ref().filter(|route| route.read_at.elapsed() < FRESH) {
            return Ok(Arc::clone(route));
        }
        match (self.read(topic).await, known) {
            (Ok(route), _) => {
                let route = Arc::new(route);
                self.locked(|known| known.insert(topic.clone(), Arc::clone(&route)));
                Ok(route)
            }
            (Err(error), Some(old)) if error.is_retryable() => {
                tracing::warn!(event = "route-stale", %topic, "{error:#}");
                Ok(old)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// The next [`Routes::route`] reads it again.
    pub(super) fn forget(&self, topic: &Topic) {
        self.locked(|known| known.remove(topic));
    }

    async fn read(&self, topic: &Topic) -> Result<Route> {
        match self.ask(topic).await {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // Brokers that create topics by themselves show it by the template topic.
                let Ok(mut template) = self.ask(&Topic::from(TEMPLATE)).await else { return Err(error) };
                for queues in &mut template.queues {
                    queues.write_queues = queues.write_queues.min(CREATED_QUEUES);
                }
                Ok(Route::new(topic, &template))
            }
            route => Ok(Route::new(topic, &route?)),
        }
    }

    async fn ask(&self, topic: &Topic) -> Result<TopicRoute> {
        let what = format!("find topic {topic}");
        match self.servers.call(&what, Request::Route { topic: topic.clone() }, self.timeout).await? {
            Reply::Route(route) => Ok(route),
            other => Err(Error::new(ErrorKind::Protocol, format!("cannot {what}: not a route: {other:?}"))),
        }
    }

    /// The lock is held for the call of `with` only, never over an await.
    fn locked<T>(&self, with: impl FnOnce(&mut BTreeMap<Topic, Arc<Route>>) -> T) -> T {
        with(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
