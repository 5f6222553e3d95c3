//! A group that an operator switches between pull and pop (`mqadmin setConsumeMode`), on real brokers.

use evenkeel::{Ack, Consumer, ErrorKind, Event, Message, Outgoing, Position, Producer, StartFrom};
use evenkeel_tests::java::{Cluster, Options, Version};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// When each message was handled, by its number; and with how many retries.
type Seen = Arc<Mutex<BTreeMap<u64, Vec<(Instant, i32)>>>>;

/// Switched before the start and while messages flow, to and fro: nothing is missing.
#[test]
fn switched_before_the_start_and_while_running() {
    let cluster = Cluster::start(Version::V5, &Options::default());
    cluster.create_topic("orders", 4);
    set_mode(&cluster, "POP");
    Runtime::new().expect("a runtime").block_on(async {
        let producer = Producer::builder("p").name_servers(&cluster.namesrv()).start().expect("a producer");
        let (seen, sent) = (Seen::default(), Arc::new(AtomicU64::new(0)));
        let consumer = start(&cluster, &seen, MINUTE, |_, _| true).await;
        wait("the topic is popped", || ids(&consumer) == [-1]).await;

        let stop = Arc::new(AtomicBool::new(false));
        let load = tokio::spawn(produce(producer, sent.clone(), stop.clone()));
        until_more(&seen, 200).await;
        for (mode, wanted) in [("PULL", vec![0, 1, 2, 3]), ("POP", vec![-1]), ("PULL", vec![0, 1, 2, 3])] {
            tokio::task::block_in_place(|| set_mode(&cluster, mode));
            wait(mode, || ids(&consumer) == wanted).await;
            until_more(&seen, 200).await;
        }
        stop.store(true, Ordering::Relaxed);
        load.await.expect("the load ends");
        let count = sent.load(Ordering::Relaxed);
        let missing = || (0..count).filter(|seq| !seen.lock().expect("a lock").contains_key(seq)).count();
        wait("nothing is missing", || missing() == 0).await;
        let times: usize = seen.lock().expect("a lock").values().map(Vec::len).sum();
        println!("three switches under load: {count} messages, {} repeated", times as u64 - count);
        let report = consumer.shutdown(Duration::from_secs(10)).await;
        assert_eq!(report.abandoned, 0);
    });
}

/// A handler that fails gets the message again ten seconds later, with one more retry; one that ends well does not, after
/// the first try or the second: it is looked at until long after the invisible time, which ends for what is not acknowledged.
#[test]
fn failed_messages_come_again_when_they_are_due() {
    let cluster = Cluster::start(Version::V5, &Options::default());
    cluster.create_topic("orders", 2);
    set_mode(&cluster, "POP");
    Runtime::new().expect("a runtime").block_on(async {
        let producer = Producer::builder("p").name_servers(&cluster.namesrv()).start().expect("a producer");
        let seen = Seen::default();
        let consumer = start(&cluster, &seen, 10 * SECOND, |seq, retries| seq % 5 != 0 || retries > 0).await;
        let mut events = consumer.events();
        let failed = tokio::spawn(async move {
            let mut failed = Vec::new();
            while let Some(event) = events.next().await {
                match event {
                    Event::CallFailed { what: "acknowledge a message", .. } | Event::PopExpired { .. } => {
                        failed.push(event);
                    }
                    _ => {}
                }
            }
            failed
        });
        wait("the topic is popped", || ids(&consumer) == [-1]).await;
        let entry = consumer.assignment().queues().next().cloned().expect("an entry");
        let error = consumer.seek(&entry, Position::First).await.expect_err("it has no offset");
        assert!(error.kind() == ErrorKind::NotFound && error.to_string().contains("popped"), "{error}");
        for seq in 0..20 {
            send(&producer, seq).await;
        }
        let tries = |seq: u64| seen.lock().expect("a lock").get(&seq).map_or(0, Vec::len);
        wait("four come again", || (0..20).all(|seq| tries(seq) >= if seq % 5 == 0 { 2 } else { 1 })).await;
        // What failed shows how long this broker takes to give out again what is due.
        let took =
            seen.lock().expect("a lock").values().map(|tries| tries[tries.len() - 1].0 - tries[0].0).max();
        tokio::time::sleep((took.unwrap_or_default() + 5 * SECOND).max(16 * SECOND)).await;
        for (seq, tries) in seen.lock().expect("a lock").iter() {
            let retries: Vec<i32> = tries.iter().map(|(_, retries)| *retries).collect();
            if seq % 5 == 0 {
                assert_eq!(retries, [0, 1], "{seq}");
                let after = tries[1].0 - tries[0].0;
                assert!(after >= Duration::from_millis(9_500), "{seq} came again after {after:?}");
            } else {
                assert_eq!(retries, [0], "{seq}");
            }
        }
        consumer.shutdown(Duration::from_secs(10)).await;
        let failed = failed.await.expect("the events end");
        assert!(failed.is_empty(), "{failed:?}");
    });
}

/// 4.9 does not share out: the members do, and say so.
#[test]
fn on_4_9_the_members_share_out() {
    let cluster = Cluster::start(Version::V4, &Options::default());
    cluster.create_topic("orders", 4);
    Runtime::new().expect("a runtime").block_on(async {
        let producer = Producer::builder("p").name_servers(&cluster.namesrv()).start().expect("a producer");
        let seen = Seen::default();
        let consumer = start(&cluster, &seen, MINUTE, |_, _| true).await;
        wait("all queues are ours", || ids(&consumer) == [0, 1, 2, 3]).await;
        for seq in 0..20 {
            send(&producer, seq).await;
        }
        wait("all are handled", || seen.lock().expect("a lock").len() == 20).await;
        consumer.shutdown(Duration::from_secs(10)).await;
    });
}

fn set_mode(cluster: &Cluster, mode: &str) {
    let broker = cluster.broker(0);
    let group = cluster.mqadmin(&["updateSubGroup", "-b", &broker, "-g", "switched"]);
    assert!(group.contains("success"), "{group}");
    let said =
        cluster.mqadmin(&["setConsumeMode", "-b", &broker, "-t", "orders", "-g", "switched", "-m", mode]);
    assert!(said.contains("success"), "{said}");
}

async fn start(
    cluster: &Cluster,
    seen: &Seen,
    invisible: Duration,
    good: impl Fn(u64, i32) -> bool + Send + Sync + 'static,
) -> Consumer {
    let seen = seen.clone();
    Consumer::builder("switched")
        .name_servers(&cluster.namesrv())
        .subscribe("orders", "*")
        .start_from(StartFrom::First)
        .option("rebalance", "broker")
        .option("rebalance_interval", "1s")
        .option("pop_invisible", &format!("{}s", invisible.as_secs()))
        .handler(move |message: Message| {
            let seq: u64 = String::from_utf8_lossy(message.body()).parse().expect("a number");
            let retries = message.retries();
            assert_eq!(message.topic(), "orders");
            seen.lock().expect("a lock").entry(seq).or_default().push((Instant::now(), retries));
            let ack = if good(seq, retries) { Ack::Done } else { Ack::RetryLater };
            async move { Ok(ack) }
        })
        .start()
        .await
        .expect("the consumer starts")
}

/// Numbers of the entries and queues that are ours.
fn ids(consumer: &Consumer) -> Vec<i32> {
    consumer.assignment().queues().map(|queue| queue.id).collect()
}

async fn produce(producer: Producer, sent: Arc<AtomicU64>, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        send(&producer, sent.fetch_add(1, Ordering::Relaxed)).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn send(producer: &Producer, seq: u64) {
    producer.send(Outgoing::new("orders", seq.to_string())).await.expect("a stored message");
}

async fn until_more(seen: &Seen, more: usize) {
    let before = seen.lock().expect("a lock").len();
    wait("messages flow", || seen.lock().expect("a lock").len() >= before + more).await;
}

async fn wait(what: &str, done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < 3 * MINUTE, "{what}: not within three minutes");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
