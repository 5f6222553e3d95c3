//! `evenkeel demo`: a group under load, whose members come and go, and the proof that nothing was lost.

mod group;
mod ledger;
mod load;
mod view;

use super::exit::{Code, Failure};
use super::global::Global;
use super::output;
use super::signals::Signals;
use clap::Args;
use evenkeel::allocate::named;
use evenkeel::embedded::EmbeddedBroker;
use evenkeel::settings::values::duration;
use group::{Change, DemoGroup};
use ledger::Ledger;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};
use view::Report;

/// The topic of the demo.
const TOPIC: &str = "demo";
/// The group of the demo.
const GROUP: &str = "demo-group";
/// How long the end may take without any progress.
const PATIENCE: Duration = Duration::from_secs(30);

/// Options of `demo`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Members at the start
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(2..=64))]
    members: u16,
    /// Queues of the topic
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(i32).range(1..=1024))]
    queues: i32,
    /// Messages a second
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=50_000))]
    rate: u32,
    /// How long messages are sent; the changes come at its quarters
    #[arg(long = "for", value_name = "TIME", default_value = "20s", value_parser = duration)]
    time: Duration,
    /// How queues are shared out: avg, circle, hash[:N]
    #[arg(long, default_value = "avg")]
    strategy: String,
}

/// Runs the command.
pub(crate) async fn run(global: &Global, options: Options) -> Result<Code, Failure> {
    if global.namesrv.is_some() || global.no_embedded {
        return Err(Failure::usage("the demo runs on the embedded broker only, since it kills members")
            .with_hint("to look at a real group use `evenkeel consume -n … --events`"));
    }
    named(&options.strategy).map_err(|error| Failure::usage(error.to_string()))?;
    let mut signals = Signals::listen();
    let demo = demo(global, &options);
    tokio::select! {
        ended = global.within_timeout(demo) => ended,
        (_, code) = signals.next() => Ok(code),
    }
}

async fn demo(global: &Global, options: &Options) -> Result<Code, Failure> {
    let brokers = if options.queues % 2 == 0 { 2 } else { 1 };
    let each = options.queues / i32::try_from(brokers).unwrap_or(1);
    let broker = EmbeddedBroker::builder().topic(TOPIC, brokers, each).start().await;
    let broker = Arc::new(
        broker.map_err(|error| Failure::other(format!("cannot start the embedded broker: {error}")))?,
    );
    let ledger = Arc::new(Ledger::default());
    let mut group = DemoGroup::new(&broker, &ledger, &options.strategy, options.queues)?;
    let view = view::View::new(global);
    view.head(options)?;

    for _ in 0..options.members {
        group.join().await?;
    }
    group.settle().await?;
    let began = Instant::now();
    let load = load::start(&broker, &ledger, options.rate, options.time)?;
    view.table(&group, None, began.elapsed(), &ledger).await?;

    let mut changes = Vec::new();
    for (quarter, change) in [(1, Change::Join), (2, Change::Leave), (3, Change::Kill)] {
        sleep_until(began + options.time * quarter / 4).await;
        let changed = group.change(change, began).await?;
        view.table(&group, Some(&changed), began.elapsed(), &ledger).await?;
        changes.push(changed);
    }
    load.await.map_err(|error| Failure::other(format!("the producer broke: {error}")))??;
    let sound = finish(&group, &ledger).await;
    let owners = group.owners();
    let agreed = group.agrees_with_broker().await?;
    let rebalances = group.rebalances();
    let abandoned = group.shutdown().await;
    let tally = ledger.tally();
    let report =
        Report { options, tally, rebalances, changes: &changes, owners: &owners, agreed, sound, abandoned };
    if global.format().is_json() {
        output::json(&report.json())?;
    } else {
        output::line(&report.verdict())?;
    }
    Ok(if report.holds() { Code::Done } else { Code::Other })
}

/// Waits until everything sent is consumed and committed; false if that stops getting nearer.
async fn finish(group: &DemoGroup, ledger: &Ledger) -> bool {
    let (mut best, mut since) = (u64::MAX, Instant::now());
    loop {
        let missing = ledger.tally().missing;
        let lag = group.lag().await.unwrap_or(u64::MAX);
        if missing == 0 && lag == 0 {
            return true;
        }
        let left = missing.saturating_add(lag);
        if left < best {
            (best, since) = (left, Instant::now());
        } else if since.elapsed() > PATIENCE {
            return false;
        }
        sleep(Duration::from_millis(50)).await;
    }
}
