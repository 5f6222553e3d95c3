//! Java members and ours in one group under a namespace: they share the queues, and each reads what the other sends.

use evenkeel::{Outgoing, Producer};
use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::Members;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);
/// Messages of each producer.
const COUNT: usize = 100;

#[test]
fn java_and_ours_meet_in_a_namespace_on_4_9() {
    meet(Version::V4);
}

#[test]
fn java_and_ours_meet_in_a_namespace_on_5() {
    meet(Version::V5);
}

fn meet(version: Version) {
    let cluster = Cluster::start(version, &Options::default());
    cluster.create_topic("inst%orders", 4);
    let mut peer = Peer::start(version);
    let java = peer.send(json!({
        "cmd": "consume", "namesrv": cluster.namesrv(), "namespace": "inst", "group": "pay", "topic": "orders",
    }));
    peer.answer(java, MINUTE).expect("a started Java member");
    // Names may have the namespace already; the assignment has it always.
    let mut members = Members::new(&cluster.namesrv(), "pay", "inst%orders");
    let ours = members.start(&["-X", "namespace=inst"]);
    assert!(members.settle(MINUTE, |owners| owners[&ours].len() == 2), "{}", members.tails());

    peer.call(
        json!({
            "cmd": "produce", "namesrv": cluster.namesrv(), "namespace": "inst", "topic": "orders", "count": COUNT,
            "kind": "text", "seed": 1,
        }),
        MINUTE,
    );
    send(&cluster.namesrv());

    let mut seen = BTreeSet::new();
    let (mut by_java, mut by_ours) = (0, 0);
    let end = Instant::now() + MINUTE;
    while seen.len() < 2 * COUNT {
        assert!(Instant::now() < end, "{} of {}; {}", seen.len(), 2 * COUNT, members.tails());
        if let Some(line) = peer.read_line(Duration::from_millis(20)) {
            if line["type"] == "message" && seen.insert(line["msgId"].to_string()) {
                assert_eq!(line["topic"], "orders", "{line}");
                by_java += 1;
            }
        }
        while let Some((_, line)) = members.next(Duration::from_millis(20)) {
            if line["type"] == "message" && seen.insert(line["msgId"].to_string()) {
                assert_eq!(line["topic"], "orders", "{line}");
                by_ours += 1;
            }
        }
    }
    println!("{version}: {by_java} by Java, {by_ours} by ours");
    assert!(by_java > 0 && by_ours > 0);
    assert_eq!(members.stop(ours).code, Some(0));
    for queue in 0..4 {
        let end = cluster.max_offset("inst%orders", 0, queue);
        cluster.until_committed("inst%pay", "inst%orders", 0, queue, end);
    }
    peer.call(json!({"cmd": "stop", "consumer": java}), MINUTE);
    peer.shutdown();
}

fn send(namesrv: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let producer = Producer::builder("shop").name_servers(namesrv).namespace("inst").start();
        let producer = producer.expect("a producer");
        for number in 0..COUNT {
            producer.send(Outgoing::new("orders", format!("{number}"))).await.expect("stored");
        }
        producer.close().await;
    });
}
