//! Namespaces on the embedded broker: two tenants with the same names do not meet.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Ack, Consumer, Message, Outgoing, Producer, StartFrom};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

const WAIT: Duration = Duration::from_secs(30);

struct Tenant {
    consumer: Consumer,
    producer: Producer,
    heard: UnboundedReceiver<Message>,
}

impl Tenant {
    async fn start(broker: &EmbeddedBroker, namespace: &str) -> Self {
        let (tell, heard) = unbounded_channel();
        let consumer = Consumer::builder("pay")
            .embedded(broker)
            .namespace(namespace)
            .subscribe("orders", "*")
            .start_from(StartFrom::First)
            .handler(move |message: Message| {
                let tell = tell.clone();
                async move {
                    let again = message.body().as_ref() == b"twice" && message.retries() == 0;
                    tell.send(message).unwrap();
                    Ok(if again { Ack::RetryLater } else { Ack::Done })
                }
            })
            .start()
            .await
            .unwrap();
        let producer = Producer::builder("shop").embedded(broker).namespace(namespace).start().unwrap();
        Self { consumer, producer, heard }
    }

    async fn next(&mut self) -> Message {
        tokio::time::timeout(WAIT, self.heard.recv()).await.expect("a message comes").unwrap()
    }

    async fn stop(mut self) {
        self.producer.close().await;
        self.consumer.shutdown(WAIT).await;
        assert!(self.heard.try_recv().is_err(), "nothing of anybody else");
    }
}

#[tokio::test]
async fn tenants_with_the_same_names_do_not_meet() {
    let broker =
        EmbeddedBroker::builder().topic("one%orders", 1, 2).topic("two%orders", 1, 2).start().await.unwrap();
    let (mut one, mut two) = (Tenant::start(&broker, "one").await, Tenant::start(&broker, "two").await);
    assert!(one.consumer.assignment().queues().all(|queue| queue.topic.as_str() == "one%orders"));

    let receipt = one.producer.send(Outgoing::new("orders", "for one")).await.unwrap();
    assert_eq!(receipt.queue.topic.as_str(), "one%orders");
    two.producer.send_batch(vec![Outgoing::new("orders", "for two")]).await.unwrap();
    for (tenant, body, namespace) in [(&mut one, "for one", "one"), (&mut two, "for two", "two")] {
        let message = tenant.next().await;
        assert_eq!((message.topic(), message.body().as_ref()), ("orders", body.as_bytes()));
        assert_eq!(message.property("INSTANCE_ID"), Some(namespace));
    }
    one.stop().await;
    two.stop().await;
    broker.shutdown().await;
}

/// By way of `%RETRY%one%pay`.
#[tokio::test]
async fn a_failed_message_comes_again_under_its_own_name() {
    let soon = evenkeel_core::time::Duration::from_millis(50);
    let broker = EmbeddedBroker::builder()
        .topic("one%orders", 1, 1)
        .configure(|config| config.delay_levels = vec![soon; 18])
        .start()
        .await
        .unwrap();
    let mut one = Tenant::start(&broker, "one").await;
    one.producer.send(Outgoing::new("orders", "twice")).await.unwrap();
    for retries in 0..2 {
        let message = one.next().await;
        assert_eq!((message.topic(), message.retries()), ("orders", retries));
    }
    one.stop().await;
    broker.shutdown().await;
}
