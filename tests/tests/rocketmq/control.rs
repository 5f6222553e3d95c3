//! Pause, resume and seek on real brokers.

use evenkeel::{Ack, Consumer, Event, MessageQueue, Outgoing, Position, Producer, StartFrom, Topic, clock};
use evenkeel_tests::java::{Cluster, Options, Version};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn queues_are_paused_and_sought_on_4_9() {
    scenario(Version::V4);
}

#[test]
fn queues_are_paused_and_sought_on_5() {
    scenario(Version::V5);
}

/// Offsets that handlers saw, by queue, in the order of their ends.
type Seen = Arc<Mutex<BTreeMap<i32, Vec<i64>>>>;

fn scenario(version: Version) {
    let cluster = Cluster::start(version, &Options::default());
    cluster.create_topic("orders", 2);
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let producer = Producer::builder("p").name_servers(&cluster.namesrv()).start().expect("a producer");
        send(&producer, 20).await;
        let between = clock::wall();
        let seen = Seen::default();
        let consumer = start(&cluster, &seen).await;
        wait("ten of each", || (0..2).all(|id| count(&seen, id) == 10)).await;

        let (topic, queue) = (Topic::from("orders"), MessageQueue::new("orders", "broker-a", 0));
        consumer.pause(topic.clone()).await.expect("a running consumer");
        send(&producer, 20).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!((count(&seen, 0), count(&seen, 1)), (10, 10), "{version}: paused");
        consumer.resume(topic).await.expect("a running consumer");
        wait("twenty of each", || (0..2).all(|id| count(&seen, id) == 20)).await;

        consumer.seek(&queue, Position::Offset(15)).await.expect("a queue of ours");
        wait("five again", || count(&seen, 0) == 25).await;
        consumer.seek(&queue, Position::First).await.expect("a queue of ours");
        wait("all again", || count(&seen, 0) == 45).await;
        consumer.seek(&queue, Position::At(between)).await.expect("a queue of ours");
        // The broker knows times to the millisecond and 4.9 takes the nearest message: one more is right, too.
        wait("the second half again", || count(&seen, 0) >= 55).await;
        let mut events = consumer.events();
        consumer.seek(&queue, Position::Last).await.expect("a queue of ours");
        let sought = |event| matches!(event, Event::OffsetReset { to: 20, .. });
        while !sought(events.next().await.expect("the consumer has not ended")) {}
        let report = consumer.shutdown(Duration::from_secs(10)).await;
        let offsets: BTreeMap<i32, i64> = report
            .committed
            .iter()
            .filter(|(of, _)| of.topic == queue.topic)
            .map(|(of, at)| (of.id, *at))
            .collect();
        assert!(offsets[&1] == 20, "the other queue was left alone: {offsets:?}");
        assert_eq!(count(&seen, 1), 20);
        for id in 0..2 {
            assert_eq!(cluster.committed("readers", "orders", 0, id), offsets.get(&id).copied());
        }
        producer.close().await;
    });
}

async fn start(cluster: &Cluster, seen: &Seen) -> Consumer {
    let noted = Arc::clone(seen);
    let builder = Consumer::builder("readers")
        .name_servers(&cluster.namesrv())
        .subscribe("orders", "*")
        .start_from(StartFrom::First)
        // A seek waits for the pull that waits at the broker, and brokers look at those every 5 s.
        .option("suspend", "1s");
    let builder = builder.handler(move |message| {
        let mut seen = noted.lock().expect("no test has panicked with it");
        seen.entry(message.queue().id).or_default().push(message.offset());
        async { Ok(Ack::Done) }
    });
    builder.start().await.expect("a started member")
}

/// By turns into both queues.
async fn send(producer: &Producer, count: usize) {
    for number in 0..count {
        let message = Outgoing::new("orders", "x").queue(None, (number % 2) as i32);
        producer.send(message).await.expect("a stored message");
    }
}

fn count(seen: &Seen, id: i32) -> usize {
    seen.lock().expect("no test has panicked with it").get(&id).map_or(0, Vec::len)
}

async fn wait(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < MINUTE, "still waiting for {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
