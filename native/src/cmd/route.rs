//! `evenkeel route`: what a name server knows of a topic.

use super::cluster::Cluster;
use super::exit::{Code, Failure};
use super::global::Global;
use super::output::{self, Format};
use clap::Args;
use evenkeel::Topic;
use evenkeel::client::NameServers;
use evenkeel_core::wire::reply::{Reply, TopicRoute};
use evenkeel_core::wire::request::Request;
use serde_json::json;
use std::time::Duration;

/// Deadline of the call.
const CALL: Duration = Duration::from_secs(3);

/// Options of `route`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The topic
    #[arg(value_name = "TOPIC", required_unless_present = "topic")]
    name: Option<String>,
    /// The topic, as mqadmin has it
    #[arg(short, long, value_name = "TOPIC", hide = true, conflicts_with = "name")]
    topic: Option<String>,
}

/// Runs the command.
pub(crate) async fn run(global: &Global, options: Options) -> Result<Code, Failure> {
    let settings = global.settings(&[])?;
    let servers = Cluster::servers_named(global, &settings)?;
    let name = options.name.or(options.topic).unwrap_or_default();
    let topic = Topic::from(settings.outside(&name));
    let route = read(&servers, &topic, CALL).await?;
    match global.format() {
        Format::Text | Format::Wide => print(global, &topic, &route)?,
        Format::Json => output::json(&json!({
            "schema": "evenkeel.route/1",
            "topic": topic.as_str(),
            "queues": rows(&route),
            "order": route.order_conf,
        }))?,
        Format::Csv => output::rows(global, "evenkeel.route/1", "queues", &flat(rows(&route)))?,
        Format::Ndjson => output::rows(global, "evenkeel.route/1", "queues", &rows(&route))?,
    }
    Ok(Code::Done)
}

/// Reads a route.
pub(super) async fn read(
    servers: &NameServers,
    topic: &Topic,
    timeout: Duration,
) -> Result<TopicRoute, Failure> {
    let request = Request::Route { topic: topic.clone() };
    match servers.call(&format!("find topic {topic}"), request, timeout).await? {
        Reply::Route(route) => Ok(route),
        other => Err(Failure::other(format!("the name server answered no route: {other:?}"))),
    }
}

fn rows(route: &TopicRoute) -> Vec<serde_json::Value> {
    let row = |queues: &evenkeel_core::wire::reply::QueueData| {
        let broker = route.brokers.iter().find(|data| data.broker == queues.broker);
        let addresses: Vec<_> = broker
            .into_iter()
            .flat_map(|data| &data.addresses)
            .map(|(id, address)| json!({"id": id, "address": address.as_str()}))
            .collect();
        json!({
            "broker": queues.broker.as_str(),
            "cluster": broker.map(|data| data.cluster.as_str()),
            "readQueues": queues.read_queues,
            "writeQueues": queues.write_queues,
            "perm": queues.perm,
            "addresses": addresses,
        })
    };
    route.queues.iter().map(row).collect()
}

/// Rows whose addresses are two cells of text: the master, and the slaves with blanks between.
fn flat(mut rows: Vec<serde_json::Value>) -> Vec<serde_json::Value> {
    for row in &mut rows {
        let addresses = row["addresses"].take();
        let of = |master: bool| {
            let all = addresses.as_array().into_iter().flatten();
            let all = all.filter(|address| (address["id"] == 0) == master);
            all.filter_map(|address| address["address"].as_str()).collect::<Vec<_>>().join(" ")
        };
        let (master, slaves) = (of(true), of(false));
        if let Some(row) = row.as_object_mut() {
            row.remove("addresses");
            row.extend([("master".to_owned(), master.into()), ("slaves".to_owned(), slaves.into())]);
        }
    }
    rows
}

fn print(global: &Global, topic: &Topic, route: &TopicRoute) -> Result<(), Failure> {
    let readable: i32 =
        route.queues.iter().filter(|data| data.perm & 4 != 0).map(|data| data.read_queues).sum();
    let writable: i32 =
        route.queues.iter().filter(|data| data.perm & 2 != 0).map(|data| data.write_queues).sum();
    let brokers = route.brokers.len();
    output::line(&format!("{topic} · {readable} queues to read, {writable} to write, on {brokers} brokers"))?;
    output::line("")?;
    let head = ["BROKER", "CLUSTER", "READ", "WRITE", "PERM", "MASTER", "SLAVES"].map(str::to_owned);
    let rows: Vec<Vec<String>> = route
        .queues
        .iter()
        .map(|queues| {
            let broker = route.brokers.iter().find(|data| data.broker == queues.broker);
            let address = |master: bool| {
                let all = broker.into_iter().flat_map(|data| &data.addresses);
                let all: Vec<&str> = all
                    .filter(|(id, _)| (**id == 0) == master)
                    .map(|(_, address)| address.as_str())
                    .collect();
                if all.is_empty() { "–".to_owned() } else { all.join(" ") }
            };
            let perm = format!(
                "{}{}",
                if queues.perm & 4 != 0 { "r" } else { "-" },
                if queues.perm & 2 != 0 { "w" } else { "-" }
            );
            vec![
                queues.broker.to_string(),
                broker.map(|data| data.cluster.clone()).unwrap_or_default(),
                queues.read_queues.to_string(),
                queues.write_queues.to_string(),
                perm,
                address(true),
                address(false),
            ]
        })
        .collect();
    output::table(global, &head, &rows)
}
