//! Several members and their ids (C15).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helpers;
#[path = "helpers/process.rs"]
mod process;

use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Ack, Consumer, ConsumerBuilder, ErrorKind, Event, NoHandler};
use helpers::eventually;
use process::Running;
use std::time::Duration;

fn builder(broker: &EmbeddedBroker) -> ConsumerBuilder<NoHandler> {
    Consumer::builder("c15").name_servers(&broker.name_server().to_string()).subscribe("orders", "*")
}

async fn start(builder: ConsumerBuilder<NoHandler>) -> Consumer {
    builder.handler(|_| async { Ok(Ack::Done) }).start().await.unwrap()
}

#[tokio::test]
async fn members_of_one_process_have_different_ids_and_share_the_queues() {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 8).start().await.unwrap();
    let (a, b) = (start(builder(&broker)).await, start(builder(&broker)).await);
    assert_ne!(a.client_id(), b.client_id());
    assert!(a.client_id().as_str().starts_with("127.0.0.1@"), "{:?}", a.client_id());
    eventually("an even share", || a.assignment().len() == 4 && b.assignment().len() == 4).await;
    assert!(a.assignment().queues().all(|queue| !b.assignment().contains(queue)));
    let mut watch = a.watch_assignment();
    watch.mark_unchanged();
    b.shutdown(Duration::from_secs(1)).await;
    tokio::time::timeout(Duration::from_secs(5), watch.wait_for(|now| now.len() == 8))
        .await
        .unwrap()
        .unwrap();
    a.shutdown(Duration::from_secs(1)).await;
    broker.shutdown().await;
}

/// To the broker both would be one member.
#[tokio::test]
async fn an_id_that_is_used_twice_in_one_process_is_refused() {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 8).start().await.unwrap();
    let twice = || builder(&broker).client_id("172.17.0.1@1");
    let a = start(twice()).await;
    let error = twice().handler(|_| async { Ok(Ack::Done) }).start().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains("172.17.0.1@1") && error.hint().is_some(), "{error}");

    // A start that failed is no member.
    let nobody = || {
        Consumer::builder("c15")
            .name_servers("127.0.0.1:1")
            .subscribe("orders", "*")
            .client_id("172.17.0.1@1")
    };
    for _ in 0..2 {
        let error = nobody().handler(|_| async { Ok(Ack::Done) }).start().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unreachable);
    }

    // Another group, and the same one when its consumer is gone.
    let other = Consumer::builder("c15-other").name_servers(&broker.name_server().to_string());
    let other = start(other.subscribe("orders", "*").client_id("172.17.0.1@1")).await;
    a.shutdown(Duration::ZERO).await;
    start(twice()).await.shutdown(Duration::ZERO).await;
    other.shutdown(Duration::ZERO).await;
    broker.shutdown().await;
}

#[tokio::test]
async fn an_id_that_another_process_uses_is_told() {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 8).start().await.unwrap();
    let a = start(builder(&broker).client_id("172.17.0.1@1")).await;
    let mut events = a.events();
    let servers = broker.name_server().to_string();
    let _b = Running::start(&[
        "consume",
        "-n",
        &servers,
        "-g",
        "c15",
        "-t",
        "orders",
        "--client-id",
        "172.17.0.1@1",
    ]);
    let told = async {
        while let Some(event) = events.next().await {
            if let Event::DuplicateClientId { client, times } = event {
                return Some((client.to_string(), times));
            }
        }
        None
    };
    let told = tokio::time::timeout(Duration::from_secs(10), told).await.unwrap();
    assert_eq!(told, Some(("172.17.0.1@1".to_owned(), 2)));
    a.shutdown(Duration::ZERO).await;
    broker.shutdown().await;
}
