//! The name server: routes over the brokers of this machine and over those that registered from outside.

use super::broker::Broker;
use super::config::{LONGEST_NAME, MOST_QUEUES, is_legal_name};
use super::context::Context;
use super::output::ConnId;
use super::request::{Handled, Refusal, body, header, success};
use evenkeel_core::model::{Address, BrokerName, MessageQueue, Topic};
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::bodies::{
    Body, RegisteredBroker, TopicConfig, TopicList, served_cluster_text, served_route_text,
};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::headers::admin::{RegisterBroker, UnregisterBroker};
use evenkeel_core::wire::headers::consume::GetRouteInfo;
use evenkeel_core::wire::reply::{BrokerData, ClusterInfo, QueueData, TopicRoute};
use evenkeel_core::wire::route::{MASTER_ID, PERM_READ};
use std::collections::{BTreeMap, BTreeSet};

/// From this protocol version on clients get map keys in quotes.
const QUOTED_KEYS_SINCE: i32 = 401;

/// What registered from outside. Brokers of this machine need not: their own tables are read.
#[derive(Debug, Default)]
pub(crate) struct Names {
    outside: BTreeMap<(BrokerName, i64), Registration>,
}

#[derive(Debug)]
struct Registration {
    cluster: String,
    address: Address,
    topics: BTreeMap<Topic, TopicConfig>,
    conn: ConnId,
    expires: Instant,
}

impl Names {
    /// Whether this request is one for a name server.
    pub(crate) fn knows(code: RequestCode) -> bool {
        matches!(
            code,
            RequestCode::GET_KV_CONFIG
                | RequestCode::REGISTER_BROKER
                | RequestCode::UNREGISTER_BROKER
                | RequestCode::GET_ROUTEINFO_BY_TOPIC
                | RequestCode::GET_BROKER_CLUSTER_INFO
                | RequestCode::GET_ALL_TOPIC_LIST_FROM_NAMESERVER
                | RequestCode::DELETE_TOPIC_IN_NAMESRV
        )
    }

    /// Answers a request that [`Self::knows`].
    pub(crate) fn handle(
        &mut self,
        cx: &mut Context<'_>,
        brokers: &[Broker],
        conn: ConnId,
        request: &Command,
    ) -> Handled {
        match request.request_code() {
            RequestCode::REGISTER_BROKER => self.register(cx, conn, request),
            RequestCode::UNREGISTER_BROKER => self.unregister(request),
            RequestCode::GET_ROUTEINFO_BY_TOPIC => self.route(brokers, request),
            RequestCode::GET_BROKER_CLUSTER_INFO => Ok(Some(self.cluster_info(brokers, request))),
            RequestCode::GET_ALL_TOPIC_LIST_FROM_NAMESERVER => Ok(Some(self.topic_list(brokers, request))),
            // The brokers' tables are the truth here; there is nothing of its own to delete.
            RequestCode::DELETE_TOPIC_IN_NAMESRV => Ok(Some(success(request))),
            RequestCode::GET_KV_CONFIG => {
                Err(Refusal::new(ResponseCode::QUERY_NOT_FOUND, "this name server keeps no key-value table"))
            }
            _ => Err(Refusal::unsupported(request)),
        }
    }

    /// A broker that registered over this connection is gone.
    pub(crate) fn disconnected(&mut self, conn: ConnId) {
        self.outside.retain(|_, registration| registration.conn != conn);
    }

    /// Forgets brokers that did not register for too long.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.outside.retain(|_, registration| now < registration.expires);
    }

    /// When [`Self::tick`] has something to do.
    pub(crate) fn wake(&self) -> Option<Instant> {
        self.outside.values().map(|registration| registration.expires).min()
    }

    fn register(&mut self, cx: &mut Context<'_>, conn: ConnId, request: &Command) -> Handled {
        let broker: RegisterBroker = header(request, &[("haServerAddr", "")])?;
        let names = [
            ("brokerName", broker.broker.as_str()),
            ("clusterName", &broker.cluster),
            ("brokerAddr", &broker.address),
        ];
        if let Some((name, _)) = names.iter().find(|(_, text)| text.len() > LONGEST_NAME) {
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, format!("{name} is too long")));
        }
        if broker.compressed {
            let remark = "the embedded name server does not read compressed registrations";
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
        }
        let RegisteredBroker { topics, .. } = if request.body.is_empty() {
            RegisteredBroker::default()
        } else {
            body(request, cx.config.limits.json)?
        };
        let topics = topics.into_iter().filter(|(topic, _)| is_legal_name(topic.as_str()));
        let key = (broker.broker, broker.broker_id);
        if self.outside.len() >= cx.config.limits.registrations && !self.outside.contains_key(&key) {
            return Err(Refusal::full("registered brokers"));
        }
        let life = broker.heartbeat_timeout_ms.and_then(|millis| u64::try_from(millis).ok());
        let life = Duration::from_millis(life.filter(|millis| *millis > 0).unwrap_or(120_000));
        let registration = Registration {
            cluster: broker.cluster,
            address: Address::from(broker.address),
            topics: topics.take(cx.config.limits.topics).collect(),
            conn,
            expires: cx.now + life,
        };
        tracing::debug!(broker = %key.0, address = %registration.address, "registered");
        self.outside.insert(key, registration);
        Ok(Some(success(request)))
    }

    fn unregister(&mut self, request: &Command) -> Handled {
        let gone: UnregisterBroker = header(request, &[("brokerAddr", ""), ("clusterName", "")])?;
        self.outside.remove(&(gone.broker, gone.broker_id));
        Ok(Some(success(request)))
    }

    fn route(&self, brokers: &[Broker], request: &Command) -> Handled {
        let GetRouteInfo { topic, accept_standard_json_only } = header(request, &[])?;
        let queues = self.queues(brokers, &topic).into_iter().map(|(broker, topic)| QueueData {
            broker: broker.clone(),
            read_queues: topic.read_queues,
            write_queues: topic.write_queues,
            perm: topic.perm,
            sys_flag: topic.sys_flag,
        });
        let with_topic = self.all(brokers).into_iter().filter(|known| known.topics.contains(&topic));
        let route = TopicRoute {
            queues: queues.collect(),
            brokers: with_topic.map(|known| known.broker).collect(),
            order_conf: None,
        };
        if route.queues.is_empty() {
            let remark = format!("no broker has registered topic {topic}");
            return Err(Refusal::new(ResponseCode::TOPIC_NOT_EXIST, remark));
        }
        let quoted_keys = request.version >= QUOTED_KEYS_SINCE || accept_standard_json_only == Some(true);
        Ok(Some(success(request).with_body(served_route_text(&route, quoted_keys))))
    }

    fn cluster_info(&self, brokers: &[Broker], request: &Command) -> Command {
        let mut info = ClusterInfo::default();
        for Known { broker, .. } in self.all(brokers) {
            info.clusters.entry(broker.cluster.clone()).or_default().push(broker.broker.clone());
            info.brokers.push(broker);
        }
        success(request).with_body(served_cluster_text(&info))
    }

    fn topic_list(&self, brokers: &[Broker], request: &Command) -> Command {
        let topics: BTreeSet<_> = self.all(brokers).into_iter().flat_map(|known| known.topics).collect();
        success(request).with_body(TopicList(topics.into_iter().cloned().collect()).encode())
    }

    /// The readable queues of a topic at all brokers; `None` if no broker has it.
    pub(crate) fn readable(&self, brokers: &[Broker], topic: &Topic) -> Option<Vec<MessageQueue>> {
        let known = self.queues(brokers, topic);
        let readable = known.iter().filter(|(_, config)| config.perm & PERM_READ != 0);
        let queues = readable.flat_map(|(broker, config)| {
            (0..config.read_queues.min(MOST_QUEUES))
                .map(|id| MessageQueue::new(topic.clone(), (*broker).clone(), id))
        });
        (!known.is_empty()).then(|| queues.collect())
    }

    /// Queue counts of `topic` by broker name; masters speak before slaves.
    fn queues<'a>(
        &'a self,
        brokers: &'a [Broker],
        topic: &Topic,
    ) -> BTreeMap<&'a BrokerName, &'a TopicConfig> {
        let mut queues = BTreeMap::new();
        for broker in brokers.iter().filter(|broker| broker.up) {
            if let Some(config) = broker.topics.find(topic) {
                queues.insert(&broker.name, config);
            }
        }
        for ((name, _), registration) in &self.outside {
            if let Some(config) = registration.topics.get(topic) {
                queues.entry(name).or_insert(config);
            }
        }
        queues
    }

    /// Every broker that is up, one entry a name.
    fn all<'a>(&'a self, brokers: &'a [Broker]) -> Vec<Known<'a>> {
        let mut all = BTreeMap::<&BrokerName, Known<'a>>::new();
        for broker in brokers.iter().filter(|broker| broker.up) {
            let known = all.entry(&broker.name).or_insert_with(|| Known::new(&broker.cluster, &broker.name));
            known.broker.addresses.entry(MASTER_ID).or_insert_with(|| broker.address.clone());
            known.topics.extend(broker.topics.iter().map(|(topic, _)| topic));
        }
        for ((name, id), registration) in &self.outside {
            let known = all.entry(name).or_insert_with(|| Known::new(&registration.cluster, name));
            known.broker.addresses.entry(*id).or_insert_with(|| registration.address.clone());
            known.topics.extend(registration.topics.keys());
        }
        all.into_values().collect()
    }
}

/// A broker name with its addresses, and the topics there.
struct Known<'a> {
    broker: BrokerData,
    topics: BTreeSet<&'a Topic>,
}

impl Known<'_> {
    fn new(cluster: &str, name: &BrokerName) -> Self {
        let (cluster, broker) = (cluster.to_owned(), name.clone());
        Self { broker: BrokerData { cluster, broker, addresses: BTreeMap::new() }, topics: BTreeSet::new() }
    }
}
