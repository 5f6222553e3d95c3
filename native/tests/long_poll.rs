//! Pulls that are held, lost, cut off or answered with nonsense (C11), with shorter times than the real ones.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helpers;

use bytes::Bytes;
use evenkeel::embedded::faults::{Rule, Verdict};
use evenkeel::embedded::{Draft, EmbeddedBroker};
use evenkeel::{Ack, Consumer, Event, StartFrom};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use helpers::eventually;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A consumer of two queues; the first pull of queue 0 meets this verdict. Both queues must go on.
async fn survives(verdict: Verdict) {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 2).start().await.unwrap();
    let rule = Rule::on(RequestCode::PULL_MESSAGE, verdict).topic("orders").queue(0).times(1);
    let fault = broker.install(rule).await.unwrap();
    let seen = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let counted = seen.clone();
    let consumer = Consumer::builder("c11")
        .name_servers(&broker.name_server().to_string())
        .subscribe("orders", "*")
        .start_from(StartFrom::First)
        .option("suspend", "200ms")
        .option("pull_timeout", "600ms")
        .option("pull_retry_delay", "100ms")
        .handler(move |message| {
            counted[usize::try_from(message.queue().id).unwrap()].fetch_add(1, Ordering::Relaxed);
            async { Ok(Ack::Done) }
        })
        .start()
        .await
        .unwrap();
    for queue in [0, 1] {
        broker.publish(0, "orders", Draft::new("x").queue(queue)).await.unwrap().unwrap();
    }
    eventually("the other queue", || seen[1].load(Ordering::Relaxed) >= 1).await;
    eventually("the queue with the fault", || seen[0].load(Ordering::Relaxed) >= 1).await;
    assert_eq!(fault.hits(), 1);
    // The retry topic's queue may come a little later than those of the topic.
    let all_fetching = async {
        while !consumer.snapshot().await.unwrap().queues.iter().all(|queue| queue.phase == "fetching") {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), all_fetching).await.expect("every queue is being pulled");
    consumer.shutdown(Duration::from_secs(1)).await;
    broker.shutdown().await;
}

#[tokio::test]
async fn a_pull_that_is_never_answered_is_made_again() {
    survives(Verdict::Drop).await;
}

#[tokio::test]
async fn a_connection_that_closes_under_a_pull_is_made_again() {
    survives(Verdict::CloseConnection).await;
}

#[tokio::test]
async fn an_unknown_answer_is_no_end() {
    survives(Verdict::Fail { code: ResponseCode(9999), remark: "from the future".to_owned() }).await;
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_no_end() {
    survives(Verdict::Garble(Bytes::from_static(b"\x00\x00\x00\x10garbage"))).await;
}

#[tokio::test]
async fn polls_of_an_empty_queue_are_no_errors() {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 1).start().await.unwrap();
    let consumer = Consumer::builder("c11")
        .name_servers(&broker.name_server().to_string())
        .subscribe("orders", "*")
        .option("suspend", "100ms")
        .option("pull_timeout", "6s")
        .handler(|_| async { Ok(Ack::Done) })
        .start()
        .await
        .unwrap();
    let mut events = consumer.events();
    tokio::time::sleep(Duration::from_secs(1)).await;
    consumer.shutdown(Duration::from_secs(1)).await;
    while let Some(event) = events.next().await {
        assert!(!matches!(event, Event::CallFailed { .. }), "{event:?}");
    }
    broker.shutdown().await;
}
