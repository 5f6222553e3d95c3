//! The harness itself: real servers of both versions boot, Java produces and consumes, `mqadmin` tells the same.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::mqadmin;
use evenkeel_tests::payload::{self, Kind};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn java_consumes_what_java_produced_on_4_9() {
    round_trip(Version::V4);
}

#[test]
fn java_consumes_what_java_produced_on_5() {
    round_trip(Version::V5);
}

fn round_trip(version: Version) {
    const COUNT: u64 = 1_000;
    const QUEUES: u64 = 8;
    let begin = Instant::now();
    let cluster = Cluster::start(version, &Options::default());
    cluster.create_topic("orders", QUEUES as u32);
    println!("{version}: route visible after {:?}", begin.elapsed());

    let mut peer = Peer::start(version);
    let namesrv = cluster.namesrv();
    let done = peer.call(
        json!({"cmd": "produce", "namesrv": namesrv, "topic": "orders", "count": COUNT, "kind": "mixed", "seed": 7}),
        MINUTE,
    );
    assert_eq!(done["sent"], COUNT, "{done}");
    assert_eq!(done["retried"], 0, "{done}");
    for queue in 0..QUEUES {
        assert_eq!(cluster.max_offset("orders", 0, queue as i32), (COUNT / QUEUES) as i64);
        let unread = if version == Version::V4 { Some(0) } else { None };
        assert_eq!(cluster.committed("readers", "orders", 0, queue as i32), unread);
    }

    let consumer = peer.send(json!({
        "cmd": "consume", "namesrv": namesrv, "group": "readers", "topic": "orders", "seed": 7, "kind": "mixed", "threads": 4,
    }));
    peer.answer(consumer, MINUTE).expect("a started consumer");
    let mut seen = BTreeSet::new();
    let mut owned = 0;
    while (seen.len() as u64) < COUNT {
        let line = peer.read_line(MINUTE).expect("a line before the minute is over");
        match line["type"].as_str() {
            Some("message") => {
                check_message(&line, QUEUES);
                assert!(seen.insert(line["seq"].as_u64()), "twice: {line}");
            }
            Some("assigned") => owned = owned_of(&line, "orders"),
            _ => panic!("unexpected {line}"),
        }
    }
    assert_eq!(owned as u64, QUEUES);
    for queue in 0..QUEUES {
        cluster.until_committed("readers", "orders", 0, queue as i32, (COUNT / QUEUES) as i64);
    }
    peer.call(json!({"cmd": "stop", "consumer": consumer}), MINUTE);

    let rows = mqadmin::consumer_progress(&cluster.mqadmin(&["consumerProgress", "-g", "readers"]));
    let progress: BTreeMap<_, _> = rows
        .iter()
        .filter(|row| row.topic == "orders")
        .map(|row| ((row.broker.as_str(), row.queue as u64), (row.broker_offset, row.consumer_offset)))
        .collect();
    let expected: BTreeMap<_, _> = (0..QUEUES).map(|queue| (("broker-a", queue), (125, 125))).collect();
    assert_eq!(progress, expected);
    peer.shutdown();
    println!("{version}: all done after {:?}", begin.elapsed());
    cluster.stop();
    println!("{version}: servers ended after {:?}", begin.elapsed());
}

/// Number of queues of `topic`; the retry topic's comes when the client learns its route.
fn owned_of(assigned: &Value, topic: &str) -> usize {
    let queues = assigned["queues"].as_array().expect("a list");
    queues.iter().filter(|queue| queue["topic"] == topic).count()
}

fn check_message(line: &Value, queues: u64) {
    let seq = line["seq"].as_u64().expect("a number");
    let shape = Kind::Mixed.shape(seq);
    assert_eq!(line["ok"], true, "{line}");
    assert_eq!(line["queue"], seq % queues, "{line}");
    assert_eq!(line["offset"], seq / queues, "each queue holds its messages in the order of seq: {line}");
    assert_eq!(line["tags"].as_str(), shape.tag(seq), "{line}");
    assert_eq!(line["keys"].as_str(), shape.keys(seq).as_deref(), "{line}");
    assert_eq!(line["reconsumeTimes"], 0, "{line}");
}

#[test]
fn bodies_are_the_same_in_java_and_rust() {
    let mut peer = Peer::start(Version::V5);
    for kind in [Kind::Mixed, Kind::Text, Kind::Batch, Kind::Bulk] {
        for seq in [0, 1, 63, 64, 127, 128, 192, 256, 320, 99_999, 1 << 40] {
            let command =
                json!({"cmd": "payload", "seed": 0x1234_5678_9ABC_u64, "kind": kind.name(), "seq": seq});
            let answer = peer.call(command, MINUTE);
            let ours = base64(&payload::body(0x1234_5678_9ABC, kind, seq));
            assert_eq!(answer["body"], ours, "{kind:?} {seq}");
        }
    }
}

#[test]
fn two_brokers_survive_a_kill_and_retries_come_back() {
    let options =
        Options { brokers: 2, delay_levels: Some("1s 1s 1s 1s 2s".to_owned()), ..Options::default() };
    let mut cluster = Cluster::start(Version::V5, &options);
    assert_eq!(cluster.broker_names(), ["broker-a", "broker-b"]);
    cluster.create_topic("events", 2);
    cluster.create_topic("%RETRY%retriers", 1);
    let mut peer = Peer::start(Version::V5);
    let namesrv = cluster.namesrv();
    let consumer = peer.send(json!({
        "cmd": "consume", "namesrv": namesrv, "group": "retriers", "topic": "events", "seed": 1, "kind": "text", "failEvery": 10,
    }));
    peer.answer(consumer, MINUTE).expect("a started consumer");
    let produce = |first: u64| json!({"cmd": "produce", "namesrv": namesrv, "topic": "events", "first": first, "count": 40, "kind": "text", "seed": 1});
    let done = peer.call(produce(0), MINUTE);
    assert_eq!(done["queues"].as_array().map(Vec::len), Some(4));
    // Four of the 40 messages fail once, and come back.
    let begin = Instant::now();
    let tries = read_messages(&mut peer, 44);
    println!("retries came back after {:?}", begin.elapsed());
    assert_eq!(tries.iter().filter(|line| line["reconsumeTimes"] == 1).count(), 4);

    let begin = Instant::now();
    cluster.kill_broker(1);
    cluster.start_broker(1);
    println!("broker killed and back after {:?}", begin.elapsed());
    peer.call(produce(40), MINUTE);
    let after = read_messages(&mut peer, 44);
    let seen: BTreeSet<_> = after.iter().filter_map(|line| line["seq"].as_u64()).collect();
    assert!((40..80).all(|seq| seen.contains(&seq)), "{seen:?}");
}

fn read_messages(peer: &mut Peer, count: usize) -> Vec<Value> {
    let mut messages = Vec::new();
    while messages.len() < count {
        let line = peer.read_line(MINUTE).unwrap_or_else(|| panic!("{} of {count} messages", messages.len()));
        if line["type"] == "message" {
            assert_eq!(line["ok"], true, "{line}");
            messages.push(line);
        }
    }
    messages
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0_u32, |word, at| word << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * at)) as usize & 63];
            text.push(if at > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    text
}
