//! `TopicRouteData` (105), `ClusterInfo` (106), `TopicList` (206) and the member list (38).

use super::{Body, bad_number, entries, int, items, missing, optional_text, text};
use crate::model::{Address, BrokerName, ClientId, Topic};
use crate::wire::error::WireError;
use crate::wire::json::{Value, object};
use crate::wire::reply::{BrokerData, ClusterInfo, QueueData, TopicRoute};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Body for TopicRoute {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        Ok(Self {
            queues: items(value, "queueDatas")?.iter().map(read_queue_data).collect::<Result<_, _>>()?,
            brokers: items(value, "brokerDatas")?.iter().map(read_broker_data).collect::<Result<_, _>>()?,
            order_conf: optional_text(value, "orderTopicConf"),
        })
    }
    fn to_value(&self) -> Value<'_> {
        route_value(self, Form { quoted_keys: true, acting_master: false })
    }
}

/// The route as name servers write it to clients of a version before 4.9.4: broker ids as keys without quotes.
pub fn old_route_text(route: &TopicRoute) -> String {
    route_value(route, Form { quoted_keys: false, acting_master: false }).to_text()
}

/// The route as a name server of 5.x answers it: each broker says that no slave acts as its master. `quoted_keys` is
/// false for clients of a version before 4.9.4.
pub fn served_route_text(route: &TopicRoute, quoted_keys: bool) -> String {
    route_value(route, Form { quoted_keys, acting_master: true }).to_text()
}

/// The clusters as a name server of 5.x answers them, see [`served_route_text`].
pub fn served_cluster_text(cluster: &ClusterInfo) -> String {
    cluster_value(cluster, Form { quoted_keys: false, acting_master: true }).to_text()
}

/// How brokers are written.
#[derive(Clone, Copy)]
struct Form {
    /// Whether their ids as keys have quotes.
    quoted_keys: bool,
    /// Whether `enableActingMaster` is there (5.x).
    acting_master: bool,
}

fn route_value(route: &TopicRoute, form: Form) -> Value<'_> {
    object([
        ("brokerDatas", Value::list(route.brokers.iter().map(|broker| broker_value(broker, form)))),
        ("filterServerTable", Value::Map(Vec::new())),
        ("orderTopicConf", Value::text_or_null(route.order_conf.as_deref())),
        ("queueDatas", Value::list(route.queues.iter().map(queue_data_value))),
    ])
}

fn broker_value(broker: &BrokerData, form: Form) -> Value<'_> {
    let key = |id: i64| match form.quoted_keys {
        true => Value::Text(Cow::Owned(id.to_string())),
        false => Value::from(id),
    };
    let addresses = broker.addresses.iter().map(|(&id, address)| (key(id), Value::text(address.as_str())));
    object([
        ("brokerAddrs", Value::Map(addresses.collect())),
        ("brokerName", broker.broker.as_str().into()),
        ("cluster", broker.cluster.as_str().into()),
        ("enableActingMaster", if form.acting_master { false.into() } else { Value::Null }),
    ])
}

fn read_broker_data(value: &Value<'_>) -> Result<BrokerData, WireError> {
    let mut addresses = BTreeMap::new();
    for (id, address) in entries(value, "brokerAddrs")? {
        let id = id.to_i64().ok_or(bad_number("brokerAddrs"))?;
        addresses.insert(id, Address::from(address.as_str().ok_or(missing("brokerAddrs"))?));
    }
    Ok(BrokerData {
        cluster: optional_text(value, "cluster").unwrap_or_default(),
        broker: BrokerName::from(text(value, "brokerName")?),
        addresses,
    })
}

fn queue_data_value(queues: &QueueData) -> Value<'_> {
    object([
        ("brokerName", queues.broker.as_str().into()),
        ("perm", queues.perm.into()),
        ("readQueueNums", queues.read_queues.into()),
        ("topicSysFlag", queues.sys_flag.into()),
        ("writeQueueNums", queues.write_queues.into()),
    ])
}

fn read_queue_data(value: &Value<'_>) -> Result<QueueData, WireError> {
    Ok(QueueData {
        broker: BrokerName::from(text(value, "brokerName")?),
        read_queues: int(value, "readQueueNums")?,
        write_queues: int(value, "writeQueueNums")?,
        perm: int(value, "perm")?,
        sys_flag: int(value, "topicSysFlag")?,
    })
}

impl Body for ClusterInfo {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let brokers = entries(value, "brokerAddrTable")?;
        let mut clusters = BTreeMap::new();
        for (cluster, names) in entries(value, "clusterAddrTable")? {
            let names = names.items().iter().filter_map(Value::as_str).map(BrokerName::from).collect();
            clusters.insert(cluster.to_java_text().ok_or(missing("clusterAddrTable"))?, names);
        }
        Ok(Self {
            brokers: brokers.iter().map(|(_, broker)| read_broker_data(broker)).collect::<Result<_, _>>()?,
            clusters,
        })
    }

    /// Broker ids are keys without quotes here, as every name server writes them.
    fn to_value(&self) -> Value<'_> {
        cluster_value(self, Form { quoted_keys: false, acting_master: false })
    }
}

fn cluster_value(cluster: &ClusterInfo, form: Form) -> Value<'_> {
    let brokers = cluster.brokers.iter();
    let brokers = brokers.map(|broker| (broker.broker.as_str().into(), broker_value(broker, form)));
    let clusters = cluster
        .clusters
        .iter()
        .map(|(cluster, names)| (cluster.as_str().into(), Value::list(names.iter().map(BrokerName::as_str))));
    object([
        ("brokerAddrTable", Value::Map(brokers.collect())),
        ("clusterAddrTable", Value::Map(clusters.collect())),
    ])
}

/// `TopicList` (206).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicList(pub Vec<Topic>);

impl Body for TopicList {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let topics = items(value, "topicList")?.iter();
        topics
            .map(|topic| topic.as_str().map(Topic::from).ok_or(missing("topicList")))
            .collect::<Result<_, _>>()
            .map(Self)
    }
    fn to_value(&self) -> Value<'_> {
        object([("topicList", Value::list(self.0.iter().map(Topic::as_str)))])
    }
}

/// `GetConsumerListByGroupResponseBody` (38): in the order of the answer, repeated ids kept. Java members skip the
/// round when the list is missing (an error here), so that is not the same as an empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members(pub Vec<ClientId>);

impl Body for Members {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let name = "consumerIdList";
        if value.field(name).is_null() {
            return Err(missing(name));
        }
        let ids = items(value, name)?.iter();
        ids.map(|id| id.as_str().map(ClientId::from).ok_or(missing(name))).collect::<Result<_, _>>().map(Self)
    }
    fn to_value(&self) -> Value<'_> {
        object([("consumerIdList", Value::list(self.0.iter().map(ClientId::as_str)))])
    }
}
