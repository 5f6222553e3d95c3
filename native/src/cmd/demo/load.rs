//! The producer of the demo.

use super::TOPIC;
use super::ledger::Ledger;
use crate::cmd::exit::Failure;
use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Outgoing, Producer};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval};

/// Messages on their way at one time.
const IN_FLIGHT: usize = 64;

/// Sends numbered messages at a rate for a time.
pub(super) fn start(
    broker: &EmbeddedBroker,
    ledger: &Arc<Ledger>,
    rate: u32,
    time: Duration,
) -> Result<JoinHandle<Result<(), Failure>>, Failure> {
    let servers = broker.name_server().to_string();
    let producer = Producer::builder("demo-producer").name_servers_of(&servers, "embedded").start()?;
    Ok(tokio::spawn(run(producer, Arc::clone(ledger), rate, time)))
}

async fn run(producer: Producer, ledger: Arc<Ledger>, rate: u32, time: Duration) -> Result<(), Failure> {
    let began = Instant::now();
    let mut ticks = interval(Duration::from_millis(10));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut sending = JoinSet::new();
    let mut next = 0_usize;
    while began.elapsed() < time {
        ticks.tick().await;
        let due = (began.elapsed().min(time).as_secs_f64() * f64::from(rate)) as usize;
        while next < due {
            if sending.len() >= IN_FLIGHT {
                taken(sending.join_next().await)?;
            }
            let (producer, ledger, number) = (producer.clone(), Arc::clone(&ledger), next);
            sending.spawn(async move {
                producer.send(Outgoing::new(TOPIC, number.to_string())).await?;
                ledger.sent(number);
                Ok(())
            });
            next += 1;
        }
    }
    while !sending.is_empty() {
        taken(sending.join_next().await)?;
    }
    Ok(())
}

fn taken(ended: Option<Result<evenkeel::Result<()>, tokio::task::JoinError>>) -> Result<(), Failure> {
    match ended {
        Some(Ok(sent)) => Ok(sent?),
        Some(Err(error)) => Err(Failure::other(error.to_string())),
        None => Ok(()),
    }
}
