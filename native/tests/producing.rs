//! The producer: queues in turn, other brokers after failures, batches, one-way.

use evenkeel::embedded::EmbeddedBroker;
use evenkeel::embedded::faults::{Rule, Verdict};
use evenkeel::{ErrorKind, MessageQueue, Outgoing, Producer};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use std::collections::BTreeSet;

async fn broker() -> EmbeddedBroker {
    EmbeddedBroker::builder().topic("orders", 2, 2).start().await.unwrap()
}

fn producer(broker: &EmbeddedBroker) -> Producer {
    Producer::builder("p").name_servers(&broker.name_server().to_string()).start().unwrap()
}

async fn stored(broker: &EmbeddedBroker) -> i64 {
    let snapshot = broker.snapshot().await.unwrap();
    let all = snapshot.brokers.iter().flat_map(|broker| &broker.queues);
    all.filter(|(queue, _)| queue.topic.as_str() == "orders").map(|(_, offsets)| offsets.max).sum()
}

#[tokio::test]
async fn queues_are_used_in_turn_and_ids_differ() {
    let broker = broker().await;
    let producer = producer(&broker);
    let (mut queues, mut ids) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..4 {
        let receipt = producer.send(Outgoing::new("orders", "x").tag("t").key("a").key("b")).await.unwrap();
        assert!(receipt.safe && receipt.offset == 0);
        queues.insert(receipt.queue);
        ids.insert(receipt.msg_id);
    }
    assert_eq!((queues.len(), ids.len()), (4, 4));
    broker.shutdown().await;
}

#[tokio::test]
async fn another_broker_is_tried_when_one_is_down() {
    let broker = broker().await;
    let producer = producer(&broker);
    producer.send(Outgoing::new("orders", "x")).await.unwrap();
    broker.stop_broker(1).await.unwrap();
    for _ in 0..4 {
        let receipt = producer.send(Outgoing::new("orders", "x")).await.unwrap();
        assert_eq!(receipt.queue.broker.as_str(), "embedded-a");
    }
    broker.shutdown().await;
}

#[tokio::test]
async fn busy_everywhere_is_an_error_after_three_tries() {
    let broker = broker().await;
    let busy = Verdict::Fail { code: ResponseCode::SYSTEM_BUSY, remark: "too much".to_owned() };
    let fault = broker.install(Rule::on(RequestCode::SEND_MESSAGE_V2, busy)).await.unwrap();
    let error = producer(&broker).send(Outgoing::new("orders", "x")).await.unwrap_err();
    assert!(error.is_retryable() && error.to_string().contains("too much"), "{error}");
    assert_eq!(fault.hits(), 3);
    drop(fault);
    broker.shutdown().await;
}

#[tokio::test]
async fn batches_and_one_way_messages_arrive() {
    let broker = broker().await;
    let producer = producer(&broker);
    let batch = (0..5).map(|number| Outgoing::new("orders", format!("{number}"))).collect();
    assert_eq!(producer.send_batch(batch).await.unwrap().offset_id.split(',').count(), 5);
    assert_eq!(stored(&broker).await, 5);
    for _ in 0..100 {
        producer.send_one_way(Outgoing::new("orders", "x")).await.unwrap();
    }
    producer.close().await;
    for _ in 0..100 {
        if stored(&broker).await == 105 {
            return broker.shutdown().await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{} of 105", stored(&broker).await);
}

#[tokio::test]
async fn a_chosen_queue_is_kept_and_an_absent_one_refused() {
    let broker = broker().await;
    let producer = producer(&broker);
    let receipt = producer.send(Outgoing::new("orders", "x").queue(Some("embedded-b"), 1)).await.unwrap();
    assert_eq!(receipt.queue, MessageQueue::new("orders", "embedded-b", 1));
    let error = producer.send(Outgoing::new("orders", "x").queue(None, 7)).await.unwrap_err();
    assert!(error.to_string().contains("no writable queue 7"), "{error}");
    let error = producer.send_batch(Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    let mixed = vec![Outgoing::new("orders", "x"), Outgoing::new("other", "x")];
    assert!(producer.send_batch(mixed).await.unwrap_err().to_string().contains("one topic"));
    broker.shutdown().await;
}

#[tokio::test]
async fn debug_output_has_no_bodies() {
    let message = Outgoing::new("orders", "a secret");
    assert!(!format!("{message:?}").contains("secret"));
}
