//! `-e`: the end of the queues.

use super::sink::Stop;
use super::{Options, feed};
use crate::cmd::cluster::Cluster;
use crate::cmd::exit::Failure;
use crate::cmd::route;
use evenkeel::client::{Client, NameServers};
use evenkeel::{Consumer, MessageQueue, Topic};
use evenkeel_core::wire::reply::Reply;
use evenkeel_core::wire::request::Request;
use evenkeel_core::wire::route::subscribe_queues;
use std::collections::BTreeMap;
use std::time::Duration;

/// Deadline of one call.
const CALL: Duration = Duration::from_secs(5);

/// Publishes stdin if that is asked for; then, with `-e`, waits until the queues of this member are consumed to where
/// they end now. Without `-e` it never comes back.
pub(super) async fn wait(
    consumer: &Consumer,
    cluster: &Cluster,
    topics: &[String],
    options: &Options,
) -> Result<Stop, Failure> {
    if let (true, Some(broker), Some(topic)) = (options.send_stdin, cluster.embedded(), topics.first()) {
        let queues = consumer.assignment().queues().filter(|queue| queue.topic.as_str() == topic).count();
        feed::publish_stdin(broker, topic, i32::try_from(queues).unwrap_or(0)).await?;
    }
    if !options.exit_at_end {
        return std::future::pending().await;
    }
    let (client, servers) = cluster.connect()?;
    let mut ends = BTreeMap::new();
    for topic in topics {
        ends.extend(ends_of(&client, &servers, &Topic::from(topic.as_str())).await?);
    }
    loop {
        let Ok(snapshot) = consumer.snapshot().await else { return Ok(Stop::Broken) };
        let reached = |queue: &MessageQueue| {
            let end = ends.get(queue).copied().unwrap_or(0);
            let view = snapshot.queues.iter().find(|view| view.queue == *queue);
            end == 0 || view.and_then(|view| view.commit_point).is_some_and(|point| point >= end)
        };
        if consumer.assignment().queues().all(reached) {
            return Ok(Stop::End);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Where the queues of a topic end now.
async fn ends_of(
    client: &Client,
    servers: &NameServers,
    topic: &Topic,
) -> Result<BTreeMap<MessageQueue, i64>, Failure> {
    let route = route::read(servers, topic, CALL).await?;
    let mut ends = BTreeMap::new();
    for queue in subscribe_queues(&route, topic) {
        let master = route.brokers.iter().find(|data| data.broker == queue.broker);
        let Some(address) = master.and_then(|data| data.addresses.get(&0)) else { continue };
        let request = Request::MaxOffset { queue: queue.clone() };
        if let Reply::Offset(Some(end)) = client.call(address, request, CALL).await.map_err(|error| {
            Failure::other(format!("cannot ask {address} for the end of {queue}: {error}"))
        })? {
            ends.insert(queue, end);
        }
    }
    Ok(ends)
}
