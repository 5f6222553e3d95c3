//! A hundred thousand messages of the Java producer arrive, every byte of them, while members join and leave.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::Members;
use evenkeel_tests::mqadmin;
use evenkeel_tests::payload::Kind;
use evenkeel_tests::tally::Tally;
use serde_json::json;
use std::time::{Duration, Instant};

const COUNT: u64 = 100_000;
const QUEUES: u32 = 16;
const SEED: u64 = 11;
const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn all_arrive_while_members_join_and_leave_on_4_9() {
    scenario(Version::V4);
}

#[test]
fn all_arrive_while_members_join_and_leave_on_5() {
    scenario(Version::V5);
}

fn scenario(version: Version) {
    let begin = Instant::now();
    let cluster = Cluster::start(version, &Options::default());
    cluster.create_topic("orders", QUEUES);
    let mut peer = Peer::start(version);
    let mut members = Members::new(&cluster.namesrv(), "readers", "orders");
    members.start(&[]);
    assert!(members.settle(MINUTE, |owners| owners[&0].len() == QUEUES as usize), "{}", members.tails());
    println!("{version}: servers, producer and the first member are up after {:?}", begin.elapsed());

    let producing = peer.send(json!({
        "cmd": "produce", "namesrv": cluster.namesrv(), "topic": "orders", "count": COUNT, "kind": "bulk", "seed": SEED,
        // So that there is a load to join and leave under.
        "rate": 8000,
    }));
    // What happens when so many have arrived; the last change is well before the end.
    let mut changes: Vec<(u64, &str)> =
        vec![(55, "1 leaves"), (40, "2 leaves"), (25, "2 joins"), (10, "1 joins")];
    let mut tally = Tally::new(SEED, Kind::Bulk, COUNT);
    let mut by_member = [0_u64; 3];
    let start = Instant::now();
    while tally.missing() > 0 {
        let Some((member, line)) = members.next(MINUTE) else {
            panic!("{} are missing: {:?}; {}", tally.missing(), tally.absent(), members.tails());
        };
        match line["type"].as_str() {
            Some("message") => {
                let seq = tally.take_ours(&line);
                by_member[member] += 1;
                assert_eq!(line["queueId"], seq % u64::from(QUEUES), "{line}");
                assert_eq!(line["queueOffset"], seq / u64::from(QUEUES), "nothing was sent twice: {line}");
                assert_eq!(line["reconsumeTimes"], 0, "{line}");
            }
            Some("rebalance") => println!(
                "{version}: {:>6} ms, {:>6} messages: member {member} has {:>2} queues ({})",
                start.elapsed().as_millis(),
                tally.distinct(),
                line["assigned"],
                line["reason"].as_str().unwrap_or_default(),
            ),
            _ => {}
        }
        if changes.last().is_some_and(|(percent, _)| tally.distinct() * 100 >= percent * COUNT) {
            match changes.pop() {
                Some((_, "1 joins" | "2 joins")) => drop(members.start(&[])),
                Some((_, change)) => {
                    let ended = members.stop(if change == "1 leaves" { 1 } else { 2 });
                    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
                    println!("{version}: {change}: {}", ended.shutdown.unwrap_or_default());
                }
                None => {}
            }
        }
    }
    let took = start.elapsed();
    let done = peer.answer(producing, MINUTE).expect("a producer that has sent everything");
    assert_eq!((&done["sent"], &done["retried"]), (&json!(COUNT), &json!(0)), "{done}");
    assert!(by_member.iter().all(|count| *count > 0), "every member had its share: {by_member:?}");

    let ended = members.stop(0);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    while let Some((_, line)) = members.next(Duration::ZERO) {
        assert_ne!(line["type"], "message", "nothing comes after the end: {line}");
    }
    println!(
        "{version}: {COUNT} messages, {} bytes equal, in {took:?}: {:.0}/s (sent in {} ms); {} duplicates; {by_member:?}",
        tally.bytes(),
        COUNT as f64 / took.as_secs_f64(),
        done["elapsedMs"],
        tally.duplicates(),
    );

    let rows = mqadmin::consumer_progress(&cluster.mqadmin(&["consumerProgress", "-g", "readers"]));
    let rows: Vec<_> = rows.into_iter().filter(|row| row.topic == "orders").collect();
    assert_eq!(rows.len(), QUEUES as usize, "{rows:?}");
    for row in rows {
        let end = cluster.max_offset("orders", 0, row.queue);
        assert_eq!((row.broker_offset, row.consumer_offset), (end, end), "{row:?}");
        assert_eq!(end, (COUNT / u64::from(QUEUES)) as i64);
        assert_eq!(cluster.committed("readers", "orders", 0, row.queue), Some(end));
    }
    peer.shutdown();
    println!("{version}: all done after {:?}", begin.elapsed());
}
