//! The first minute: a broker, a consumer and a producer in one process.
//!
//! `cargo run --example first_steps`

use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Ack, Consumer, Outgoing, Producer, StartFrom};
use std::time::Duration;
use tokio::sync::mpsc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Instead of this, a real program says `.name_servers_from_env()` twice below.
    let broker = EmbeddedBroker::builder().topic("orders", 1, 4).start().await?;
    let servers = broker.name_server().to_string();

    let (seen, mut all_seen) = mpsc::unbounded_channel();
    let consumer = Consumer::builder("pay-worker")
        .name_servers(&servers)
        .subscribe("orders", "paid || refunded")
        .start_from(StartFrom::First)
        .handler(move |message| {
            let seen = seen.clone();
            async move {
                println!("{} {:?}", message.queue(), message.body());
                seen.send(())?;
                Ok(Ack::Done)
            }
        })
        .start()
        .await?;
    println!("our queues: {:?}", consumer.assignment().queues().collect::<Vec<_>>());

    let producer = Producer::builder("order-service").name_servers(&servers).start()?;
    for (tag, body) in
        [("paid", "order 1"), ("new", "order 2, which nobody asked for"), ("refunded", "order 3")]
    {
        let receipt = producer.send(Outgoing::new("orders", body).tag(tag)).await?;
        println!("sent {} to {}", receipt.msg_id, receipt.queue);
    }
    for _ in 0..2 {
        all_seen.recv().await;
    }

    // A service says `consumer.run_until(evenkeel::signal::terminate()).await?.into_result()?` instead.
    let report = consumer.shutdown(Duration::from_secs(5)).await;
    println!("left the group: {report:?}");
    broker.shutdown().await;
    Ok(())
}
