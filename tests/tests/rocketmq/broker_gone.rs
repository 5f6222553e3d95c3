//! Servers go and come back: the consumer keeps trying, says so, and goes on without loss.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::Members;
use evenkeel_tests::payload::Kind;
use evenkeel_tests::tally::Tally;
use serde_json::json;
use std::time::{Duration, Instant};

const COUNT: u64 = 6_000;
const SEED: u64 = 41;
const QUEUES: u32 = 4;
const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn servers_go_and_come_back_on_4_9() {
    scenario(Version::V4);
}

#[test]
fn servers_go_and_come_back_on_5() {
    scenario(Version::V5);
}

struct Reading {
    members: Members,
    tally: Tally,
}

fn scenario(version: Version) {
    let mut cluster = Cluster::start(version, &Options::default());
    cluster.create_topic("orders", QUEUES);
    let mut peer = Peer::start(version);
    let mut reading = Reading {
        members: Members::new(&cluster.namesrv(), "readers", "orders"),
        tally: Tally::new(SEED, Kind::Text, COUNT),
    };
    for _ in 0..2 {
        reading.members.start(&[]);
    }
    assert!(
        reading.members.settle(MINUTE, |owners| owners.values().all(|queues| queues.len() == 2)),
        "{}",
        reading.members.tails()
    );
    let produce = |first: u64, count: u64, rate: u64| {
        json!({
            "cmd": "produce", "namesrv": cluster.namesrv(), "topic": "orders", "first": first, "count": count,
            "kind": "text", "seed": SEED, "rate": rate,
        })
    };
    let [first, second, third] = [produce(0, 2_000, 0), produce(2_000, 2_000, 0), produce(4_000, 2_000, 400)];

    // Everything is gone.
    peer.call(first, MINUTE);
    reading.until(2_000);
    assert!(!reading.said(&cluster.broker(0)), "{}", reading.members.tails());
    let gone = Instant::now();
    cluster.kill_namesrv();
    cluster.stop_broker(0);
    reading.until_it_is_said(&cluster.broker(0));
    println!("{version}: told {:?} after it began", gone.elapsed());
    cluster.start_namesrv();
    cluster.start_broker(0);
    let back = Instant::now();
    peer.call(second, 2 * MINUTE);
    reading.until(4_000);
    println!("{version}: all is read {:?} after name server and broker came back", back.elapsed());

    // Only the broker, without a word, while messages come and go.
    let producing = peer.send(third);
    reading.until(4_500);
    cluster.kill_broker(0);
    std::thread::sleep(Duration::from_secs(1));
    cluster.start_broker(0);
    let back = Instant::now();
    reading.until(5_000);
    println!("{version}: goes on {:?} after a killed broker is back on its store", back.elapsed());
    reading.until(COUNT);
    let done = peer.answer(producing, 2 * MINUTE).expect("a producer that has sent everything");

    reading.rest();
    println!(
        "{version}: {COUNT} messages, none missing, {} duplicates, {} sends repeated",
        reading.tally.duplicates(),
        done["retried"]
    );
    for member in 0..2 {
        let ended = reading.members.stop(member);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    for queue in 0..QUEUES as i32 {
        let end = cluster.max_offset("orders", 0, queue);
        assert_eq!(cluster.committed("readers", "orders", 0, queue), Some(end));
    }
    peer.shutdown();
}

impl Reading {
    /// Reads until so many different messages have come.
    fn until(&mut self, distinct: u64) {
        while self.tally.distinct() < distinct {
            let Some((_, line)) = self.members.next(2 * MINUTE) else {
                panic!("{} of {distinct} came; {}", self.tally.distinct(), self.members.tails());
            };
            if line["type"] == "message" {
                self.tally.take_ours(&line);
            }
        }
    }

    /// Reads what comes again.
    fn rest(&mut self) {
        while let Some((_, line)) = self.members.next(Duration::from_secs(1)) {
            if line["type"] == "message" {
                self.tally.take_ours(&line);
            }
        }
    }

    /// Waits until each member has complained of this address on stderr.
    fn until_it_is_said(&mut self, address: &str) {
        let end = Instant::now() + 2 * MINUTE;
        while !self.said(address) {
            assert!(Instant::now() < end, "nobody says a word; {}", self.members.tails());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn said(&self, address: &str) -> bool {
        (0..2).all(|member| self.members.stderr(member).contains(address))
    }
}
