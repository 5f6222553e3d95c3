//! A name server and two brokers in this process, for any RocketMQ client: `cargo run --example embedded_cluster`.

use evenkeel::embedded::EmbeddedBroker;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listen = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let broker = EmbeddedBroker::builder().listen(listen).topic("orders", 2, 8).start().await?;
    println!("NAMESRV_ADDR={}", broker.name_server());
    tokio::signal::ctrl_c().await?;
    broker.shutdown().await;
    Ok(())
}
