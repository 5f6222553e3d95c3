//! The Java producer and push consumer on the embedded broker: the same messages, the same checks as on a real one.

use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Group, MessageQueue};
use evenkeel_tests::java::{Peer, Version};
use evenkeel_tests::payload::Kind;
use evenkeel_tests::tally::Tally;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const COUNT: u64 = 6_000;
const SEED: u64 = 51;
const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn the_client_of_4_9_works_on_the_embedded_broker() {
    scenarios(Version::V4);
}

#[test]
fn the_client_of_5_works_on_the_embedded_broker() {
    scenarios(Version::V5);
}

fn scenarios(version: Version) {
    let runtime = Runtime::new().expect("a runtime");
    let broker = EmbeddedBroker::builder()
        .brokers(2)
        .topic("orders", 2, 4)
        .topic("events", 2, 1)
        // A Java client learns of a retry topic half a minute after it was made.
        .topic("%RETRY%retriers", 2, 1)
        .configure(|config| config.delay_levels = [1, 1, 1, 2, 3].map(Duration::from_secs).to_vec());
    let broker = runtime.block_on(broker.start()).expect("a listening broker");
    let mut peer = Peer::start(version);
    two_members(version, &runtime, &broker, &mut peer);
    failures_come_back(version, &broker, &mut peer);
    peer.shutdown();
    runtime.block_on(broker.shutdown());
}

/// What the consumers of a peer have said.
struct Heard {
    tally: Tally,
    owns: BTreeMap<i64, BTreeSet<String>>,
}

impl Heard {
    fn read(&mut self, peer: &mut Peer, wanted: impl Fn(&Self) -> bool) {
        let mut last = Instant::now();
        while !wanted(self) {
            if let Some(line) = peer.read_line(Duration::from_millis(100)) {
                last = Instant::now();
                self.take(&line);
            }
            assert!(last.elapsed() < MINUTE, "{} are missing; owned: {:?}", self.tally.missing(), self.owns);
        }
    }

    fn take(&mut self, line: &Value) {
        match line["type"].as_str() {
            Some("message") => {
                let seq = self.tally.take_java(line);
                let shape = Kind::Mixed.shape(seq);
                assert_eq!(line["tags"].as_str(), shape.tag(seq), "{line}");
                assert_eq!(line["keys"].as_str(), shape.keys(seq).as_deref(), "{line}");
                assert_eq!(line["queue"], seq % 8 % 4, "{line}");
                assert_eq!(line["offset"], seq / 8, "{line}");
            }
            Some("assigned") => {
                let queues = line["queues"].as_array().into_iter().flatten();
                let own = queues.filter(|queue| queue["topic"] == "orders");
                let names = own.map(|queue| format!("{}/{}", queue["broker"], queue["queue"])).collect();
                self.owns.insert(line["id"].as_i64().unwrap_or_default(), names);
            }
            _ => {}
        }
    }

    fn sizes(&self) -> Vec<usize> {
        assert!(self.owns.values().flatten().collect::<BTreeSet<_>>().len() <= 8, "{:?}", self.owns);
        self.owns.values().map(BTreeSet::len).collect()
    }
}

fn two_members(version: Version, runtime: &Runtime, broker: &EmbeddedBroker, peer: &mut Peer) {
    let begin = Instant::now();
    let namesrv = broker.name_server().to_string();
    let consume = json!({
        "cmd": "consume", "namesrv": namesrv, "group": "readers", "topic": "orders", "seed": SEED, "kind": "mixed", "threads": 4,
    });
    let produce = |first: u64, rate: u64| {
        json!({
            "cmd": "produce", "namesrv": namesrv, "topic": "orders", "first": first, "count": COUNT / 3, "kind": "mixed",
            "seed": SEED, "rate": rate,
        })
    };
    let mut heard = Heard { tally: Tally::new(SEED, Kind::Mixed, COUNT), owns: BTreeMap::new() };
    let first = peer.send(consume.clone());
    peer.answer(first, MINUTE).expect("a started consumer");
    heard.read(peer, |heard| heard.sizes() == [8]);
    peer.call(produce(0, 0), MINUTE);
    heard.read(peer, |heard| heard.tally.distinct() == COUNT / 3);

    let producing = peer.send(produce(COUNT / 3, 500));
    let second = peer.send(consume);
    peer.answer(second, MINUTE).expect("a started consumer");
    heard.read(peer, |heard| heard.sizes() == [4, 4]);
    println!("{version}: two members share the queues {:?} after the beginning", begin.elapsed());
    heard.read(peer, |heard| heard.tally.distinct() >= COUNT / 2);
    peer.call(json!({"cmd": "stop", "consumer": first}), MINUTE);
    heard.read(peer, |heard| heard.owns.get(&second).is_some_and(|queues| queues.len() == 8));
    heard.read(peer, |heard| heard.tally.distinct() == 2 * COUNT / 3);
    peer.answer(producing, MINUTE).expect("a producer that has sent everything");
    let done = peer.call(produce(2 * COUNT / 3, 0), MINUTE);
    assert_eq!((&done["sent"], &done["retried"]), (&json!(COUNT / 3), &json!(0)), "{done}");
    heard.read(peer, |heard| heard.tally.missing() == 0);

    let queues =
        || ["embedded-a", "embedded-b"].into_iter().flat_map(|name| (0..4).map(move |id| (name, id)));
    // Java does not wait for its commits to be stored, and one that stops now may leave out the last message.
    let end = Instant::now() + MINUTE;
    loop {
        let snapshot = runtime.block_on(broker.snapshot()).expect("a running broker");
        let open: Vec<_> = queues()
            .map(|(name, id)| MessageQueue::new("orders", name, id))
            .map(|queue| (snapshot.max_offset(&queue), snapshot.committed(&Group::from("readers"), &queue)))
            .filter(|offsets| *offsets != (COUNT as i64 / 8, Some(COUNT as i64 / 8)))
            .collect();
        if open.is_empty() {
            break;
        }
        assert!(Instant::now() < end, "stored and committed: {open:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    peer.call(json!({"cmd": "stop", "consumer": second}), MINUTE);
    println!("{version}: {COUNT} messages, {} duplicates, {:?}", heard.tally.duplicates(), begin.elapsed());
}

fn failures_come_back(version: Version, broker: &EmbeddedBroker, peer: &mut Peer) {
    let begin = Instant::now();
    let namesrv = broker.name_server().to_string();
    let consumer = peer.send(json!({
        "cmd": "consume", "namesrv": namesrv, "group": "retriers", "topic": "events", "seed": 1, "kind": "text", "failEvery": 10,
    }));
    peer.answer(consumer, MINUTE).expect("a started consumer");
    let produce = json!({"cmd": "produce", "namesrv": namesrv, "topic": "events", "count": 40, "kind": "text", "seed": 1});
    peer.call(produce, MINUTE);
    let mut tries: Vec<Value> = Vec::new();
    while tries.len() < 44 {
        let line = peer.read_line(MINUTE).unwrap_or_else(|| panic!("{} of 44 tries", tries.len()));
        if line["type"] == "message" {
            assert_eq!(line["ok"], true, "{line}");
            tries.push(line);
        }
    }
    let again: BTreeSet<_> = tries
        .iter()
        .filter(|line| line["reconsumeTimes"] == 1)
        .filter_map(|line| line["seq"].as_u64())
        .collect();
    assert_eq!(again, BTreeSet::from([0, 10, 20, 30]));
    peer.call(json!({"cmd": "stop", "consumer": consumer}), MINUTE);
    println!("{version}: four failures came back, {:?}", begin.elapsed());
}
