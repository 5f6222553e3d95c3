//! `evenkeel broker`: the embedded name server and broker for other processes.

use super::exit::{Code, Failure};
use super::global::Global;
use super::output;
use super::signals::Signals;
use clap::Args;
use evenkeel::embedded::faults::{Rule, Verdict};
use evenkeel::embedded::{EmbeddedBroker, TopicSpec};
use evenkeel::settings::values::duration;
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use serde_json::json;
use std::time::Duration;

/// Options of `broker`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Where the name server listens; brokers take free ports of the same host
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9876")]
    listen: String,
    /// Topics: NAME, NAME:QUEUES or NAME:BROKERSxQUEUES
    #[arg(short, long, value_name = "TOPIC", value_parser = str::parse::<TopicSpec>)]
    topic: Vec<TopicSpec>,
    /// How long every answer takes
    #[arg(long, value_name = "TIME", value_parser = duration)]
    latency: Option<Duration>,
    /// Requests that fail, with their share: send=0.1, pull, lock, heartbeat, members, commit, route, send-back
    #[arg(long, value_name = "WHAT=SHARE")]
    fail: Vec<String>,
    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = duration)]
    duration: Option<Duration>,
}

/// Runs the command.
pub(crate) async fn run(global: &Global, options: Options) -> Result<Code, Failure> {
    let rules = options.fail.iter().map(|text| rule(text)).collect::<Result<Vec<_>, _>>()?;
    let mut signals = Signals::listen();
    let mut builder = EmbeddedBroker::builder().listen(options.listen.as_str());
    for topic in options.topic {
        builder = builder.topic_spec(topic);
    }
    if let Some(latency) = options.latency {
        builder = builder.latency(latency);
    }
    let broker = builder.start().await.map_err(|error| {
        Failure::other(format!("cannot listen at {}: {error}", options.listen))
            .with_hint("is another name server running there? --listen 127.0.0.1:0 takes a free port")
    })?;
    for rule in rules {
        let installed = broker.install(rule).await.map_err(|error| Failure::other(error.to_string()))?;
        installed.keep();
    }
    let (address, brokers) = (broker.name_server(), broker.broker_addresses());
    if global.format().is_json() {
        let brokers: Vec<String> = brokers.iter().map(ToString::to_string).collect();
        output::json(&json!({
            "type": "start", "schema": "evenkeel.broker/1", "nameServer": address.to_string(), "brokers": brokers,
        }))?;
    } else {
        output::line(&format!("NAMESRV_ADDR={address}"))?;
    }
    global.say("evenkeel: the embedded broker is up; messages vanish when this process ends (Ctrl-C).");
    let end = options.duration.or(global.timeout).unwrap_or_default();
    tokio::select! {
        _ = signals.next() => {}
        () = tokio::time::sleep(end), if options.duration.or(global.timeout).is_some() => {}
    }
    tokio::select! {
        () = broker.shutdown() => Ok(Code::Done),
        (_, code) = signals.next() => Ok(code),
    }
}

/// `lock=0.1`: a tenth of the lock requests is refused.
fn rule(text: &str) -> Result<Rule, Failure> {
    let wrong = |why: &str| Failure::usage(format!("--fail {text}: {why}"));
    let (what, share) = text.split_once('=').unwrap_or((text, "1"));
    let code = match what {
        "send" => RequestCode::SEND_MESSAGE_V2,
        "pull" => RequestCode::PULL_MESSAGE,
        "lock" => RequestCode::LOCK_BATCH_MQ,
        "heartbeat" => RequestCode::HEART_BEAT,
        "members" => RequestCode::GET_CONSUMER_LIST_BY_GROUP,
        "commit" => RequestCode::UPDATE_CONSUMER_OFFSET,
        "route" => RequestCode::GET_ROUTEINFO_BY_TOPIC,
        "send-back" => RequestCode::CONSUMER_SEND_MSG_BACK,
        _ => {
            return Err(wrong("there are send, pull, lock, heartbeat, members, commit, route and send-back"));
        }
    };
    let share: f64 = share.parse().map_err(|_| wrong("the share is a number from 0 to 1"))?;
    if !(0.0..=1.0).contains(&share) {
        return Err(wrong("the share is a number from 0 to 1"));
    }
    let busy =
        Verdict::Fail { code: ResponseCode::SYSTEM_BUSY, remark: "a fault that --fail asked for".to_owned() };
    Ok(Rule::on(code, busy).per_mille((share * 1000.0).round() as u64))
}
