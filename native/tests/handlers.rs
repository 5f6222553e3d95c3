//! Handlers that fail, panic, block, or change their own consumer (C18).

mod helpers;

use evenkeel::embedded::{Draft, EmbeddedBroker};
use evenkeel::{Ack, BatchAck, Consumer, Context, Event, Failure, Message, StartFrom};
use helpers::eventually;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

async fn broker(messages: usize) -> EmbeddedBroker {
    let broker = EmbeddedBroker::builder()
        .topic("orders", 1, 1)
        .configure(|config| config.delay_levels = vec![Duration::from_millis(50); 18])
        .start()
        .await
        .unwrap();
    for number in 0..messages {
        broker.publish(0, "orders", Draft::new(number.to_string())).await.unwrap().unwrap();
    }
    broker
}

fn builder(broker: &EmbeddedBroker) -> evenkeel::ConsumerBuilder<evenkeel::NoHandler> {
    Consumer::builder("handlers")
        .name_servers(&broker.name_server().to_string())
        .subscribe("orders", "*")
        .start_from(StartFrom::First)
        .option("commit_interval", "50ms")
}

#[tokio::test]
async fn a_panic_is_told_the_message_comes_again_and_the_queue_goes_on() {
    let broker = broker(3).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let consumer = builder(&broker).handler(move |message| {
        let noted = Arc::clone(&noted);
        async move {
            noted.lock().unwrap().push((message.body().to_vec(), message.retries()));
            assert!(message.body() != "1" || message.retries() > 0, "message one is bad");
            Ok(Ack::Done)
        }
    });
    let consumer = consumer.start().await.unwrap();
    let mut events = consumer.events();
    eventually("all and the repeated one", || seen.lock().unwrap().len() == 4).await;
    assert!(seen.lock().unwrap().contains(&(b"1".to_vec(), 1)));
    let told = async {
        while let Some(event) = events.next().await {
            if let Event::HandlerFailed { why: Failure::Panic(text), .. } = event {
                return text;
            }
        }
        String::new()
    };
    // The event may have come before we listened.
    if let Ok(text) = tokio::time::timeout(Duration::from_millis(200), told).await {
        assert_eq!(text, "message one is bad");
    }
    let report = consumer.shutdown(Duration::from_secs(5)).await;
    assert_eq!(report.abandoned, 0);
    broker.shutdown().await;
}

#[tokio::test]
async fn an_error_brings_the_message_again_and_skip_does_not() {
    let broker = broker(2).await;
    let (tries, counted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (tried, skipped) = (Arc::clone(&tries), Arc::clone(&counted));
    let consumer = builder(&broker).handler(move |message: Message| {
        let (tried, skipped) = (Arc::clone(&tried), Arc::clone(&skipped));
        async move {
            if message.body() == "0" {
                skipped.fetch_add(1, Ordering::Relaxed);
                return Ok(Ack::Skip);
            }
            assert_eq!(message.topic(), "orders");
            match tried.fetch_add(1, Ordering::Relaxed) {
                0 => Err("not yet".into()),
                1 => Ok(Ack::RetryLater),
                _ => Ok(Ack::Done),
            }
        }
    });
    let consumer = consumer.start().await.unwrap();
    eventually("three tries", || tries.load(Ordering::Relaxed) == 3).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!((tries.load(Ordering::Relaxed), counted.load(Ordering::Relaxed)), (3, 1));
    consumer.shutdown(Duration::from_secs(1)).await;
    broker.shutdown().await;
}

#[tokio::test]
async fn a_handler_that_takes_too_long_is_broken_off() {
    let broker = broker(1).await;
    let tries = Arc::new(AtomicUsize::new(0));
    let tried = Arc::clone(&tries);
    let consumer = builder(&broker).handler_timeout(Duration::from_millis(100)).handler(move |_| {
        let first = tried.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            Ok(Ack::Done)
        }
    });
    let consumer = consumer.start().await.unwrap();
    eventually("a second try", || tries.load(Ordering::Relaxed) == 2).await;
    let report = consumer.shutdown(Duration::from_secs(5)).await;
    assert_eq!(report.abandoned, 0);
    broker.shutdown().await;
}

#[tokio::test]
async fn handlers_may_subscribe_unsubscribe_and_stop_their_consumer() {
    let broker = broker(1).await;
    broker.visit(|_, _, _| ()).await.unwrap();
    let done = Arc::new(AtomicUsize::new(0));
    let noted = Arc::clone(&done);
    let consumer = builder(&broker).handler_with(move |_: Message, context: Context| {
        let noted = Arc::clone(&noted);
        async move {
            let consumer = context.consumer();
            consumer.quiet(true).await?;
            consumer.quiet(false).await?;
            consumer.unsubscribe("other").await?;
            consumer.subscribe("orders", "a || b").await?;
            noted.fetch_add(1, Ordering::Relaxed);
            consumer.stop().await?;
            Ok(Ack::Done)
        }
    });
    let consumer = consumer.start().await.unwrap();
    eventually("the handler", || done.load(Ordering::Relaxed) == 1).await;
    let ended =
        tokio::time::timeout(Duration::from_secs(5), consumer.run_until(std::future::pending())).await;
    assert!(ended.expect("the consumer stops").is_err());
    broker.shutdown().await;
}

#[tokio::test]
async fn batches_have_what_was_asked_for_and_may_be_done_in_part() {
    let broker = broker(10).await;
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&sizes);
    let consumer = builder(&broker).batch_max(4).batch_handler(move |batch| {
        let noted = Arc::clone(&noted);
        async move {
            let again = batch[0].retries() > 0;
            noted.lock().unwrap().push((batch.len(), again));
            Ok(if again { BatchAck::Done } else { BatchAck::First(batch.len().min(3)) })
        }
    });
    let consumer = consumer.start().await.unwrap();
    eventually("all", || {
        let sizes = sizes.lock().unwrap();
        let first: usize = sizes.iter().filter(|(_, again)| !again).map(|(size, _)| size).sum();
        let again: usize = sizes.iter().filter(|(_, again)| *again).map(|(size, _)| size).sum();
        let left: usize =
            sizes.iter().filter(|(_, again)| !again).map(|(size, _)| size - (*size).min(3)).sum();
        first == 10 && again == left
    })
    .await;
    assert!(sizes.lock().unwrap().iter().all(|(size, _)| *size <= 4));
    consumer.shutdown(Duration::from_secs(1)).await;
    let error = builder(&broker).batch_max(4).handler(|_| async { Ok(Ack::Done) }).start().await.unwrap_err();
    assert!(error.to_string().contains("batch_handler"));
    broker.shutdown().await;
}
