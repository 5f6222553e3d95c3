//! Several members and their ids (C15).

mod helpers;

use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Ack, Consumer, ConsumerBuilder, Event, NoHandler};
use helpers::eventually;
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

#[tokio::test]
async fn an_id_that_is_used_twice_is_told() {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 8).start().await.unwrap();
    let a = start(builder(&broker).client_id("172.17.0.1@1")).await;
    let mut events = a.events();
    let b = start(builder(&broker).client_id("172.17.0.1@1")).await;
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
    b.shutdown(Duration::ZERO).await;
    a.shutdown(Duration::ZERO).await;
    broker.shutdown().await;
}
