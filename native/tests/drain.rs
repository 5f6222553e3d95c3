//! The order of leaving (C12): finish, commit, unregister, close; and what happens if a handler never ends.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helpers;

use evenkeel::embedded::{Draft, EmbeddedBroker};
use evenkeel::{Ack, Consumer, ConsumerBuilder, Context, Group, Message, MessageQueue, NoHandler, StartFrom};
use helpers::eventually;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

const GROUP: &str = "drain";

async fn broker() -> EmbeddedBroker {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 1).start().await.unwrap();
    for number in 0..100 {
        broker.publish(0, "orders", Draft::new(number.to_string())).await.unwrap().unwrap();
    }
    broker
}

fn builder(broker: &EmbeddedBroker) -> ConsumerBuilder<NoHandler> {
    Consumer::builder(GROUP)
        .name_servers(&broker.name_server().to_string())
        .subscribe("orders", "*")
        .start_from(StartFrom::First)
        .concurrency(1)
}

async fn committed(broker: &EmbeddedBroker) -> Option<i64> {
    let queue = MessageQueue::new("orders", "embedded-a", 0);
    broker.snapshot().await.unwrap().committed(&Group::from(GROUP), &queue)
}

fn number(message: &Message) -> usize {
    std::str::from_utf8(message.body()).unwrap().parse().unwrap()
}

#[tokio::test]
async fn what_is_done_is_committed_and_the_next_member_goes_on_there() {
    let broker = broker().await;
    let finished = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&finished);
    let consumer = builder(&broker).client_id("first").handler(move |_| {
        let counted = Arc::clone(&counted);
        async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(Ack::Done)
        }
    });
    let consumer = consumer.start().await.unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let second = builder(&broker).client_id("second").handler(move |message| {
        noted.lock().unwrap().push(number(&message));
        async { Ok(Ack::Done) }
    });
    let second = second.start().await.unwrap();
    assert!(second.assignment().is_empty());
    eventually("ten messages", || finished.load(Ordering::Relaxed) >= 10).await;

    let began = Instant::now();
    let report = consumer.shutdown(Duration::from_secs(60)).await;
    assert!(began.elapsed() < Duration::from_secs(30), "{:?} of a minute's grace", began.elapsed());
    let count = finished.load(Ordering::Relaxed);
    assert!(count >= 11, "the running one was waited for");
    assert_eq!(committed(&broker).await, Some(i64::try_from(count).unwrap()));
    assert_eq!(report.abandoned, 0);
    eventually("the rest", || seen.lock().unwrap().len() == 100 - count).await;
    assert!(began.elapsed() < Duration::from_secs(15), "not told, it would have looked after 20 s");
    assert_eq!(seen.lock().unwrap().iter().copied().min(), Some(count));
    second.shutdown(Duration::from_secs(1)).await;
    broker.shutdown().await;
}

#[tokio::test]
async fn a_handler_that_never_ends_costs_the_grace_and_its_message_is_not_committed() {
    let broker = broker().await;
    let stuck = Arc::new(AtomicUsize::new(0));
    let noted = Arc::clone(&stuck);
    let consumer = builder(&broker).handler(move |message| {
        let noted = Arc::clone(&noted);
        async move {
            if number(&message) == 10 {
                noted.fetch_add(1, Ordering::Relaxed);
                std::future::pending::<()>().await;
            }
            Ok(Ack::Done)
        }
    });
    let consumer = consumer.start().await.unwrap();
    eventually("message ten", || stuck.load(Ordering::Relaxed) == 1).await;
    let began = Instant::now();
    let report = consumer.shutdown(Duration::from_secs(1)).await;
    let took = began.elapsed();
    assert!((Duration::from_millis(900)..Duration::from_millis(2500)).contains(&took), "{took:?}");
    assert_eq!((committed(&broker).await, report.abandoned), (Some(10), 1));
    assert!(report.into_result().unwrap_err().to_string().contains("drain_timeout"));
    broker.shutdown().await;
}

#[tokio::test]
async fn a_handler_that_listens_is_told_before_the_deadline() {
    let broker = broker().await;
    let consumer = builder(&broker).handler_with(move |_: Message, mut context: Context| async move {
        context.cancelled().await;
        Ok(Ack::RetryLater)
    });
    let consumer = consumer.start().await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let report = consumer.shutdown(Duration::from_secs(1)).await;
    assert_eq!(report.abandoned, 0, "{report:?}");
    broker.shutdown().await;
}

#[tokio::test]
async fn dropping_a_consumer_leaves_the_group_without_blocking() {
    let broker = broker().await;
    let consumer = builder(&broker).handler(|_| async { Ok(Ack::Done) }).start().await.unwrap();
    // If it waited for anything, it would wait for ever: this thread is the only one.
    drop(consumer);
    let group = Group::from(GROUP);
    for _ in 0..200 {
        if broker.snapshot().await.unwrap().brokers[0].members.get(&group).is_none_or(Vec::is_empty) {
            return broker.shutdown().await;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the member is still there");
}
