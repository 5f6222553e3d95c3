//! `evenkeel send`: a small producer for trying things.

use super::cluster::Cluster;
use super::consume::stdin_lines;
use super::exit::{Code, Failure};
use super::global::Global;
use super::output::{self, Format};
use clap::Args;
use evenkeel::{Outgoing, Producer, Receipt};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// Options of `send`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The topic
    #[arg(short, long)]
    topic: String,
    /// Producer group
    #[arg(short, long, default_value = "evenkeel-send")]
    group: String,
    /// The body; without it and without files each line of stdin is one
    #[arg(value_name = "BODY", conflicts_with = "file")]
    body: Option<String>,
    /// Files, each of which is a body
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Tag
    #[arg(long)]
    tag: Option<String>,
    /// Keys
    #[arg(long, value_name = "KEY")]
    key: Vec<String>,
    /// Properties
    #[arg(long, value_name = "NAME=VALUE")]
    property: Vec<String>,
    /// Queue to send to, on any broker or on one
    #[arg(long, value_name = "[BROKER/]N")]
    queue: Option<String>,
    /// Messages a second
    #[arg(long, value_name = "N")]
    rate: Option<u32>,
    /// Do not wait for answers
    #[arg(long)]
    one_way: bool,
}

/// Runs the command.
pub(crate) async fn run(global: &Global, options: Options) -> Result<Code, Failure> {
    let settings = global.settings(&[])?;
    // Wrong options are told before a broker is started for them.
    drop(options.outgoing(Vec::new())?);
    let cluster = Cluster::choose(global, &settings, &[settings.outside(&options.topic)]).await?;
    let (servers, origin) = cluster.servers();
    let producer = Producer::builder(options.group.as_str())
        .namespace(settings.namespace())
        .namespace_v2(settings.namespace_v2())
        .name_servers_of(&servers, &origin)
        .security(cluster.security())
        .start()?;
    let mut pace = options.rate.map(|rate| {
        let mut ticks = interval(Duration::from_secs_f64(1.0 / f64::from(rate.max(1))));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        ticks
    });
    let mut sent = 0_u64;
    let mut put = async |body: Vec<u8>| -> Result<(), Failure> {
        if let Some(ticks) = &mut pace {
            ticks.tick().await;
        }
        let message = options.outgoing(body)?;
        if options.one_way {
            producer.send_one_way(message).await?;
        } else {
            print(global, &producer.send(message).await?)?;
        }
        sent += 1;
        Ok(())
    };
    if global.format() == Format::Csv {
        output::line("topic,broker,queueId,queueOffset,msgId,offsetId")?;
    }
    if let Some(body) = &options.body {
        put(body.clone().into_bytes()).await?;
    } else if options.file.is_empty() {
        let mut lines = stdin_lines();
        while let Some(line) = lines.recv().await {
            put(line?).await?;
        }
    } else {
        for path in &options.file {
            let body = std::fs::read(path)
                .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
            put(body).await?;
        }
    }
    producer.close().await;
    cluster.close().await;
    global.say(&format!("evenkeel: {sent} messages sent to {}", options.topic));
    Ok(Code::Done)
}

impl Options {
    fn outgoing(&self, body: Vec<u8>) -> Result<Outgoing, Failure> {
        let mut message = Outgoing::new(self.topic.as_str(), body);
        if let Some(tag) = &self.tag {
            message = message.tag(tag);
        }
        for key in &self.key {
            message = message.key(key);
        }
        for pair in &self.property {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| Failure::usage(format!("--property {pair}: not NAME=VALUE")))?;
            message = message.property(name, value);
        }
        if let Some(queue) = &self.queue {
            let (broker, id) = match queue.rsplit_once('/') {
                Some((broker, id)) => (Some(broker), id),
                None => (None, queue.as_str()),
            };
            let id = id.parse().map_err(|_| {
                Failure::usage(format!("--queue {queue}: not a queue number, or BROKER/NUMBER"))
            })?;
            message = message.queue(broker, id);
        }
        Ok(message)
    }
}

fn print(global: &Global, receipt: &Receipt) -> Result<(), Failure> {
    let queue = &receipt.queue;
    match global.format() {
        Format::Text => {
            output::line(&format!("{} {}/{}@{}", queue.topic, queue.broker, queue.id, receipt.offset))
        }
        Format::Wide => {
            let id = &receipt.msg_id;
            output::line(&format!("{} {}/{}@{} {id}", queue.topic, queue.broker, queue.id, receipt.offset))
        }
        Format::Csv => output::line(&format!(
            "{},{},{},{},{},{}",
            queue.topic, queue.broker, queue.id, receipt.offset, receipt.msg_id, receipt.offset_id
        )),
        Format::Json | Format::Ndjson => output::json(&value(receipt)),
    }
}

fn value(receipt: &Receipt) -> Value {
    json!({
        "type": "sent",
        "topic": receipt.queue.topic.as_str(),
        "broker": receipt.queue.broker.as_str(),
        "queueId": receipt.queue.id,
        "queueOffset": receipt.offset,
        "msgId": receipt.msg_id,
        "offsetId": receipt.offset_id,
        "safe": receipt.safe,
    })
}
