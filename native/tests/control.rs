//! Pause, resume and seek through the handle; core's tests have the races.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helpers;

use evenkeel::embedded::{Draft, EmbeddedBroker};
use evenkeel::{Ack, Consumer, ErrorKind, Event, MessageQueue, Position, StartFrom, Topic};
use helpers::eventually;
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Seen = Arc<Mutex<Vec<i64>>>;

/// A consumer of one queue with the messages 0 to 4, all of which it has seen.
async fn started() -> (EmbeddedBroker, Consumer, Seen, MessageQueue) {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 1).start().await.unwrap();
    publish(&broker, 5).await;
    let seen = Seen::default();
    let noted = Arc::clone(&seen);
    let builder =
        Consumer::builder("pay").embedded(&broker).subscribe("orders", "*").start_from(StartFrom::First);
    // A seek waits for the pull that waits at the broker.
    let builder = builder.option("suspend", "200ms").concurrency(1).handler(move |message| {
        noted.lock().unwrap().push(message.offset());
        async { Ok(Ack::Done) }
    });
    let consumer = builder.start().await.unwrap();
    eventually("five messages", || seen.lock().unwrap().len() == 5).await;
    let queue =
        consumer.assignment().queues().find(|queue| queue.topic.as_str() == "orders").unwrap().clone();
    (broker, consumer, seen, queue)
}

async fn publish(broker: &EmbeddedBroker, count: usize) {
    for _ in 0..count {
        broker.publish(0, "orders", Draft::new("x")).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_paused_topic_waits_and_goes_on_where_it_was() {
    let (broker, consumer, seen, queue) = started().await;
    consumer.pause(Topic::from("orders")).await.unwrap();
    publish(&broker, 2).await;
    // A queue that was not paused would have them within milliseconds.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(seen.lock().unwrap().len(), 5);
    let snapshot = consumer.snapshot().await.unwrap();
    assert!(snapshot.queues.iter().find(|view| view.queue == queue).unwrap().paused);
    consumer.resume(Topic::from("orders")).await.unwrap();
    eventually("the others", || *seen.lock().unwrap() == [0, 1, 2, 3, 4, 5, 6]).await;
    consumer.shutdown(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn a_seek_back_brings_messages_again_and_a_restart_goes_on_there() {
    let (_broker, consumer, seen, queue) = started().await;
    let mut events = consumer.events();
    consumer.seek(&queue, Position::Offset(3)).await.unwrap();
    eventually("3 and 4 again", || seen.lock().unwrap()[5..] == [3, 4]).await;
    consumer.seek(&queue, Position::First).await.unwrap();
    eventually("all again", || seen.lock().unwrap()[7..] == [0, 1, 2, 3, 4]).await;
    consumer.pause(queue.clone()).await.unwrap();
    consumer.seek(&queue, Position::Offset(1)).await.unwrap();
    let report = consumer.shutdown(Duration::from_secs(5)).await;
    assert!(report.committed.contains(&(queue, 1)), "{report:?}");
    let mut places = Vec::new();
    while let Some(event) = events.next().await {
        if let Event::OffsetReset { to, .. } = event {
            places.push(to);
        }
    }
    assert_eq!(places, [3, 0, 1]);
}

#[tokio::test]
async fn a_seek_that_cannot_be_says_why() {
    let (_broker, consumer, _seen, queue) = started().await;
    let error = consumer.seek(&queue, Position::Offset(-2)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    let elsewhere = MessageQueue::new("orders", "embedded-a", 9);
    let error = consumer.seek(&elsewhere, Position::First).await.unwrap_err();
    assert!(error.kind() == ErrorKind::NotFound && error.to_string().contains("not ours"), "{error}");
    let control = consumer.control();
    consumer.shutdown(Duration::from_secs(5)).await;
    assert_eq!(control.seek(&queue, Position::First).await.unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(control.pause(queue).await.unwrap_err().kind(), ErrorKind::Closed);
}
