//! `mqadmin resetOffsetByTime` against running members: consumption begins again at the offset of that time.
//!
//! 4.9 pushes the new offsets to the members (request 220); 5.x keeps them and answers the next pull with them.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::Members;
use evenkeel_tests::payload::Kind;
use evenkeel_tests::tally::Tally;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const HALF: u64 = 2_000;
const QUEUES: u64 = 4;
const SEED: u64 = 8;
const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn an_operator_resets_running_members_on_4_9() {
    scenario(Version::V4);
}

#[test]
fn an_operator_resets_running_members_on_5() {
    scenario(Version::V5);
}

fn scenario(version: Version) {
    let cluster = Cluster::start(version, &Options::default());
    cluster.create_topic("orders", QUEUES as u32);
    let mut peer = Peer::start(version);
    let mut produce = |first: u64| {
        let done = peer.call(
            json!({"cmd": "produce", "namesrv": cluster.namesrv(), "topic": "orders", "first": first, "count": HALF, "kind": "mixed", "seed": SEED}),
            MINUTE,
        );
        assert_eq!((&done["sent"], &done["retried"]), (&json!(HALF), &json!(0)), "{done}");
    };
    let mut members = Members::new(&cluster.namesrv(), "readers", "orders");
    for _ in 0..2 {
        members.start(&[]);
    }
    assert!(
        members.settle(MINUTE, |owners| owners.values().all(|queues| queues.len() == 2)),
        "{}",
        members.tails()
    );
    // What is sent after the members agree answers the pulls that the first one left with the broker before it gave two
    // queues away. On 5.x one of those could take the reset, and nobody would hear of it (manual, `races`).
    produce(0);
    std::thread::sleep(Duration::from_secs(1));
    let between = evenkeel::clock::wall().as_millis();
    std::thread::sleep(Duration::from_secs(1));
    produce(HALF);

    let mut tally = Tally::new(SEED, Kind::Mixed, 2 * HALF);
    while tally.missing() > 0 {
        let Some((_, line)) = members.next(MINUTE) else {
            panic!("{:?}; {}", tally.absent(), members.tails())
        };
        if line["type"] == "message" {
            tally.take_ours(&line);
        }
    }
    assert_eq!(tally.duplicates(), 0);

    let begin = Instant::now();
    let text =
        cluster.mqadmin(&["resetOffsetByTime", "-g", "readers", "-t", "orders", "-s", &between.to_string()]);
    println!("{version}: mqadmin said after {:?}:\n{text}", begin.elapsed());
    let starts: BTreeMap<u64, u64> = text.lines().filter_map(row).collect();
    // 4.9 takes the message whose time is nearest, which may be the last one before.
    let near = |start: &u64| (HALF / QUEUES - 1..=HALF / QUEUES).contains(start);
    assert!(starts.len() as u64 == QUEUES && starts.values().all(near), "{text}");
    let expected: u64 = starts.values().map(|start| 2 * HALF / QUEUES - start).sum();
    let mut again = Tally::new(SEED, Kind::Mixed, 2 * HALF);
    let mut first_offsets = BTreeMap::new();
    while again.distinct() < expected {
        let Some((member, line)) = members.next(MINUTE) else {
            panic!("{} came again; {}", again.distinct(), members.tails());
        };
        match line["type"].as_str() {
            Some("message") => {
                again.take_ours(&line);
                // Handlers run side by side, so the first one is not always the first to print.
                let first = first_offsets.entry(line["queueId"].as_u64().unwrap_or(99)).or_insert(u64::MAX);
                *first = line["queueOffset"].as_u64().unwrap_or_default().min(*first);
            }
            Some("offset-reset") => println!("{version}: {:?}: member {member}: {line}", begin.elapsed()),
            _ => {}
        }
    }
    let took = begin.elapsed();
    assert_eq!(first_offsets, starts);
    while let Some((_, line)) = members.next(Duration::from_secs(1)) {
        assert_ne!(line["type"], "message", "once is enough: {line}");
    }
    assert_eq!(again.duplicates(), 0);
    println!("{version}: {expected} messages came again {took:?} after the command began");
    for member in 0..2 {
        assert_eq!(members.stop(member).code, Some(0));
    }
    for queue in 0..QUEUES as i32 {
        let end = cluster.max_offset("orders", 0, queue);
        assert_eq!(cluster.committed("readers", "orders", 0, queue), Some(end));
    }
    peer.shutdown();
}

/// Queue and offset, if the line is a row of the table that the command prints.
fn row(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split_whitespace();
    let (_broker, queue, offset) = (words.next()?, words.next()?, words.next()?);
    Some((queue.parse().ok()?, offset.parse().ok()?))
}
