//! The name server: routes over the brokers of this machine and over those that registered from outside.

use super::broker::Broker;
use super::config::{LONGEST_NAME, is_legal_name};
use super::context::Context;
use super::output::ConnId;
use super::request::{Handled, Header, Refusal, json, success};
use super::text::{array, object, quoted};
use super::topics::{PERM_READ, PERM_WRITE, TopicConfig};
use evenkeel_core::model::{Address, BrokerName, Topic};
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::json::Value;
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
        let key = (BrokerName::from(request.text("brokerName")?), request.i64("brokerId")?);
        for name in ["brokerName", "clusterName", "brokerAddr"] {
            if request.text(name)?.len() > LONGEST_NAME {
                return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, format!("{name} is too long")));
            }
        }
        if request.flag("compressed") == Some(true) {
            let remark = "the embedded name server does not read compressed registrations";
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
        }
        let topics = if request.body.is_empty() {
            BTreeMap::new()
        } else {
            registered_topics(&json(&request.body, cx.config.limits.json)?, cx.config.limits.topics)
        };
        if self.outside.len() >= cx.config.limits.registrations && !self.outside.contains_key(&key) {
            return Err(Refusal::full("registered brokers"));
        }
        let life = request.some_i64("heartbeatTimeoutMillis").and_then(|millis| u64::try_from(millis).ok());
        let life = Duration::from_millis(life.filter(|millis| *millis > 0).unwrap_or(120_000));
        let registration = Registration {
            cluster: request.text("clusterName")?.to_owned(),
            address: Address::from(request.text("brokerAddr")?),
            topics,
            conn,
            expires: cx.now + life,
        };
        tracing::debug!(broker = %key.0, address = %registration.address, "registered");
        self.outside.insert(key, registration);
        Ok(Some(success(request)))
    }

    fn unregister(&mut self, request: &Command) -> Handled {
        let key = (BrokerName::from(request.text("brokerName")?), request.i64("brokerId")?);
        self.outside.remove(&key);
        Ok(Some(success(request)))
    }

    fn route(&self, brokers: &[Broker], request: &Command) -> Handled {
        let topic = request.topic()?;
        let with_topic: Vec<_> =
            self.all(brokers).into_iter().filter(|broker| broker.topics.contains(&topic)).collect();
        let queues: BTreeMap<_, _> = self.queues(brokers, &topic);
        if queues.is_empty() {
            let remark = format!("no broker has registered topic {topic}");
            return Err(Refusal::new(ResponseCode::TOPIC_NOT_EXIST, remark));
        }
        let quoted_keys =
            request.version >= QUOTED_KEYS_SINCE || request.flag("acceptStandardJsonOnly").unwrap_or(false);
        let queues = queues.into_iter().map(|(broker, topic)| {
            let name = quoted(broker.as_str());
            let TopicConfig { read, write, perm, sys_flag, .. } = topic;
            format!(
                r#"{{"brokerName":{name},"perm":{perm},"readQueueNums":{read},"topicSysFlag":{sys_flag},"writeQueueNums":{write}}}"#
            )
        });
        let body = format!(
            r#"{{"brokerDatas":{},"filterServerTable":{{}},"queueDatas":{}}}"#,
            array(with_topic.iter().map(|broker| broker.json(quoted_keys))),
            array(queues)
        );
        Ok(Some(success(request).with_body(body)))
    }

    fn cluster_info(&self, brokers: &[Broker], request: &Command) -> Command {
        let all = self.all(brokers);
        let mut clusters = BTreeMap::<&str, BTreeSet<&BrokerName>>::new();
        for broker in &all {
            clusters.entry(broker.cluster).or_default().insert(broker.name);
        }
        let addresses = object(all.iter().map(|broker| (quoted(broker.name.as_str()), broker.json(false))));
        let clusters = object(clusters.into_iter().map(|(cluster, names)| {
            (quoted(cluster), array(names.into_iter().map(|name| quoted(name.as_str()))))
        }));
        success(request)
            .with_body(format!(r#"{{"brokerAddrTable":{addresses},"clusterAddrTable":{clusters}}}"#))
    }

    fn topic_list(&self, brokers: &[Broker], request: &Command) -> Command {
        let topics: BTreeSet<_> = self.all(brokers).into_iter().flat_map(|broker| broker.topics).collect();
        let topics = array(topics.into_iter().map(|topic| quoted(topic.as_str())));
        success(request).with_body(format!(r#"{{"topicList":{topics}}}"#))
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
            known.addresses.entry(0).or_insert(&broker.address);
            known.topics.extend(broker.topics.iter().map(|(topic, _)| topic));
        }
        for ((name, id), registration) in &self.outside {
            let known = all.entry(name).or_insert_with(|| Known::new(&registration.cluster, name));
            known.addresses.entry(*id).or_insert(&registration.address);
            known.topics.extend(registration.topics.keys());
        }
        all.into_values().collect()
    }
}

/// A broker name with its addresses.
struct Known<'a> {
    cluster: &'a str,
    name: &'a BrokerName,
    addresses: BTreeMap<i64, &'a Address>,
    topics: BTreeSet<&'a Topic>,
}

impl<'a> Known<'a> {
    fn new(cluster: &'a str, name: &'a BrokerName) -> Self {
        Self { cluster, name, addresses: BTreeMap::new(), topics: BTreeSet::new() }
    }

    /// Written by hand: old clients expect the broker ids without quotes.
    fn json(&self, quoted_keys: bool) -> String {
        let addresses = object(self.addresses.iter().map(|(id, address)| {
            let key = if quoted_keys { format!("\"{id}\"") } else { id.to_string() };
            (key, quoted(address.as_str()))
        }));
        let (name, cluster) = (quoted(self.name.as_str()), quoted(self.cluster));
        format!(
            r#"{{"brokerAddrs":{addresses},"brokerName":{name},"cluster":{cluster},"enableActingMaster":false}}"#
        )
    }
}

/// The topics in the body of a registration, `most` at most.
fn registered_topics(body: &Value<'_>, most: usize) -> BTreeMap<Topic, TopicConfig> {
    let table = body.field("topicConfigSerializeWrapper").field("topicConfigTable");
    let topic = |(name, topic): &(Value<'_>, Value<'_>)| {
        let number = |field: &str, default: i32| topic.field(field).to_i32().unwrap_or(default);
        let config = TopicConfig {
            read: number("readQueueNums", 16),
            write: number("writeQueueNums", 16),
            perm: number("perm", PERM_READ | PERM_WRITE),
            sys_flag: number("topicSysFlag", 0),
            order: topic.field("order").to_bool().unwrap_or(false),
        };
        Some((Topic::from(name.as_str().filter(|name| is_legal_name(name))?), config))
    };
    table.entries().iter().filter_map(topic).take(most).collect()
}
