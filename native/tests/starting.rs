//! What can go wrong when a consumer starts, and how it is told.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use evenkeel::embedded::EmbeddedBroker;
use evenkeel::embedded::faults::{Rule, Verdict};
use evenkeel::{Ack, Consumer, ConsumerBuilder, ErrorKind, Event, NoHandler};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use std::time::Duration;

async fn broker() -> EmbeddedBroker {
    EmbeddedBroker::builder().topic("orders", 1, 4).start().await.unwrap()
}

fn builder(broker: &EmbeddedBroker) -> ConsumerBuilder<NoHandler> {
    Consumer::builder("starting").name_servers(&broker.name_server().to_string())
}

async fn failure(builder: ConsumerBuilder<NoHandler>) -> evenkeel::Error {
    builder.handler(|_| async { Ok(Ack::Done) }).start().await.unwrap_err()
}

#[tokio::test]
async fn an_unknown_topic_is_named() {
    let broker = broker().await;
    let error = failure(builder(&broker).subscribe("odrers", "*")).await;
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("odrers") && error.hint().is_some(), "{error}");
    broker.shutdown().await;
}

#[tokio::test]
async fn a_refusal_keeps_the_brokers_words() {
    let broker = broker().await;
    let verdict = Verdict::Fail { code: ResponseCode::NO_PERMISSION, remark: "not you".to_owned() };
    let fault = broker.install(Rule::on(RequestCode::HEART_BEAT, verdict)).await.unwrap();
    let error = failure(builder(&broker).subscribe("orders", "*")).await;
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("not you") && !error.is_retryable(), "{error}");
    drop(fault);
    broker.shutdown().await;
}

/// Both ways in which a broker refuses to evaluate a filter end the start; the group never had a member.
#[tokio::test]
async fn c23_a_filter_that_the_broker_cannot_use_ends_the_start() {
    let broker = broker().await;
    let error = failure(builder(&broker).subscribe_sql("orders", "amount > 5")).await;
    assert_eq!(error.kind(), ErrorKind::Refused);
    let text = format!("{error:#}");
    assert!(text.contains("filter of orders") && text.contains("does not filter by properties"), "{text}");
    assert!(error.hint().is_some_and(|hint| hint.contains("enablePropertyFilter")), "{error}");

    let verdict =
        Verdict::Fail { code: ResponseCode::SUBSCRIPTION_PARSE_FAILED, remark: "at line 1".to_owned() };
    let fault = broker.install(Rule::on(RequestCode::CHECK_CLIENT_CONFIG, verdict)).await.unwrap();
    let error = failure(builder(&broker).subscribe_sql("orders", "amount >")).await;
    assert!(error.to_string().contains("at line 1"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("cannot read it")), "{error}");
    drop(fault);
    broker.shutdown().await;
}

#[tokio::test]
async fn settings_are_checked_before_anything_is_sent() {
    let broker = broker().await;
    for (builder, said) in [
        (builder(&broker), "subscription"),
        (Consumer::builder("g").subscribe("orders", "*"), "name_servers"),
        (builder(&broker).subscribe("orders", "||"), "separators"),
        (builder(&broker).subscribe("orders", "*").option("pullBatchSiz", "3"), "did you mean pullBatchSize"),
        (builder(&broker).subscribe("orders", "*").concurrency(0), "concurrency"),
        (builder(&broker).subscribe("orders", "*").strategy_named("averge"), "circle"),
        (builder(&broker).subscribe("or ders", "*"), "topic"),
    ] {
        let error = failure(builder).await;
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.to_string().contains(said), "{error}");
    }
    broker.shutdown().await;
}

#[tokio::test]
async fn a_start_that_nobody_waits_for_leaves_nothing_behind() {
    let broker = broker().await;
    let starting = builder(&broker).subscribe("orders", "*").handler(|_| async { Ok(Ack::Done) }).start();
    let _ = tokio::time::timeout(Duration::from_millis(1), starting).await;
    for _ in 0..300 {
        if broker.snapshot().await.unwrap().brokers[0].members.values().all(Vec::is_empty) {
            return broker.shutdown().await;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the member is still there");
}

#[tokio::test]
async fn the_first_listener_hears_of_the_first_assignment() {
    let broker = broker().await;
    let consumer = builder(&broker).subscribe("orders", "*").handler(|_| async { Ok(Ack::Done) });
    let consumer = consumer.start().await.unwrap();
    let mut events = consumer.events();
    consumer.shutdown(Duration::ZERO).await;
    let mut gained = 0;
    while let Some(event) = events.next().await {
        if let Event::Rebalanced { gained: queues, topic, .. } = event {
            gained += if topic.is_retry() { 0 } else { queues.len() };
        }
    }
    assert_eq!((gained, events.missed()), (4, 0));
    broker.shutdown().await;
}
