//! Lists of name servers of which some are dead (C21).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helpers;

use evenkeel::client::{Client, NameServers};
use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Ack, Consumer, ErrorKind, StartFrom, Topic};
use evenkeel_core::wire::request::Request;
use helpers::eventually;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::time::Instant;

/// A listener that takes connections, counts them, and never answers.
async fn black_hole() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, count) = (listener.local_addr().unwrap().to_string(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move { stream.read_to_end(&mut Vec::new()).await });
        }
    });
    (address, count)
}

async fn broker() -> EmbeddedBroker {
    EmbeddedBroker::builder().topic("orders", 1, 4).start().await.unwrap()
}

fn route() -> Request {
    Request::Route { topic: Topic::from("orders") }
}

#[tokio::test]
async fn a_silent_name_server_does_not_eat_the_time_of_a_good_one() {
    let (broker, (hole, _)) = (broker().await, black_hole().await);
    for list in [format!("{hole};{}", broker.name_server()), format!("{};{hole};", broker.name_server())] {
        for _ in 0..4 {
            let servers = NameServers::parse(Client::start(), &list, "test").unwrap();
            let began = Instant::now();
            servers.call("find orders", route(), Duration::from_secs(9)).await.unwrap();
            assert!(began.elapsed() < Duration::from_secs(6), "{:?} of 9 s", began.elapsed());
        }
    }
    broker.shutdown().await;
}

#[tokio::test]
async fn a_consumer_starts_beside_a_silent_name_server() {
    let (broker, (hole, _)) = (broker().await, black_hole().await);
    let began = Instant::now();
    let consumer = Consumer::builder("c21")
        .name_servers(&format!("{hole};{}", broker.name_server()))
        .subscribe("orders", "*")
        .handler(|_| async { Ok(Ack::Done) })
        .start()
        .await
        .unwrap();
    // One connect time-out and a round trip.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    consumer.shutdown(Duration::ZERO).await;
    broker.shutdown().await;
}

#[tokio::test]
async fn all_dead_is_an_error_that_lists_every_address() {
    let dead: Vec<String> = [0, 0]
        .map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap())
        .iter()
        .map(|listener| listener.local_addr().unwrap().to_string())
        .collect();
    let error = Consumer::builder("c21")
        .name_servers(&dead.join(";"))
        .subscribe("orders", "*")
        .handler(|_| async { Ok(Ack::Done) })
        .start()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreachable);
    assert!(error.is_retryable());
    for address in &dead {
        assert!(
            error.to_string().contains(&format!("tried {address} (builder): connection refused")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn consumption_goes_on_while_all_name_servers_are_down() {
    // The name server's door is also one of the brokers'; a second broker has the topic's other queues.
    let broker = EmbeddedBroker::builder().topic("orders", 2, 2).start().await.unwrap();
    let (hole, _) = black_hole().await;
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let consumer = Consumer::builder("c21")
        .name_servers(&broker.name_server().to_string())
        .subscribe("orders", "*")
        .start_from(StartFrom::First)
        .option("route_interval", "100ms")
        .handler(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            async { Ok(Ack::Done) }
        })
        .start()
        .await
        .unwrap();
    // From now on routes are asked of somebody who never answers.
    consumer.control().name_servers(&hole).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    for index in [0, 1] {
        broker.publish(index, "orders", evenkeel::embedded::Draft::new("x")).await.unwrap().unwrap();
    }
    eventually("both messages", || seen.load(Ordering::Relaxed) == 2).await;
    assert_eq!(consumer.assignment().len(), 4);
    consumer.shutdown(Duration::from_secs(1)).await;
    broker.shutdown().await;
}

#[tokio::test]
async fn a_shorter_list_is_taken_without_asking_removed_servers_again() {
    let (broker, (one, calls_of_one), (two, _)) = (broker().await, black_hole().await, black_hole().await);
    let good = broker.name_server().to_string();
    let consumer = Consumer::builder("c21")
        .name_servers(&format!("{one};{two};{good}"))
        .subscribe("orders", "*")
        .option("route_interval", "100ms")
        .handler(|_| async { Ok(Ack::Done) })
        .start()
        .await
        .unwrap();
    consumer.control().name_servers(&good).await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = calls_of_one.load(Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(calls_of_one.load(Ordering::Relaxed), before);
    assert!(consumer.control().name_servers(" ; ").await.unwrap_err().to_string().contains("empty"));
    consumer.shutdown(Duration::ZERO).await;
    broker.shutdown().await;
}

#[tokio::test]
async fn an_empty_list_is_refused_at_the_start() {
    let error = Consumer::builder("c21").name_servers(" ; ").subscribe("orders", "*");
    let error = error.handler(|_| async { Ok(Ack::Done) }).start().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
}
