//! Java and Rust members in one group, under load, while members join, leave and are killed.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::Members;
use evenkeel_tests::payload::Kind;
use evenkeel_tests::tally::Tally;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

const COUNT: u64 = 8_000;
const RATE: u64 = 1_000;
const SEED: u64 = 31;
const MINUTE: Duration = Duration::from_secs(60);
/// Two brokers with this many queues each.
const QUEUES: u32 = 4;

#[test]
fn java_and_rust_share_a_group_on_4_9() {
    scenarios(Version::V4);
}

#[test]
fn java_and_rust_share_a_group_on_5() {
    scenarios(Version::V5);
}

fn scenarios(version: Version) {
    let cluster = Cluster::start(version, &Options { brokers: 2, ..Options::default() });
    let mut producer = Peer::start(version);
    for (java, ours) in [("AVG", "avg"), ("AVG_BY_CIRCLE", "circle"), ("CONSISTENT_HASH", "hash")] {
        Group::new(&cluster, java, ours).run(&mut producer);
    }
    producer.shutdown();
}

/// One group with one strategy.
struct Group<'a> {
    cluster: &'a Cluster,
    strategy: (&'a str, &'a str),
    topic: String,
    java: Peer,
    members: Members,
    /// What each Java consumer owns, by its number.
    java_owns: BTreeMap<i64, BTreeSet<String>>,
    tally: Tally,
}

impl<'a> Group<'a> {
    fn new(cluster: &'a Cluster, java: &'a str, ours: &'a str) -> Self {
        let topic = format!("orders-{ours}");
        cluster.create_topic(&topic, QUEUES);
        Self {
            cluster,
            strategy: (java, ours),
            java: Peer::start(cluster.version()),
            members: Members::new(&cluster.namesrv(), ours, &topic),
            topic,
            java_owns: BTreeMap::new(),
            tally: Tally::new(SEED, Kind::Text, COUNT),
        }
    }

    fn run(mut self, producer: &mut Peer) {
        let begin = Instant::now();
        let rust = self.start_rust();
        let java = self.start_java();
        self.settle("two members");
        let producing = producer.send(json!({
            "cmd": "produce", "namesrv": self.cluster.namesrv(), "topic": self.topic, "count": COUNT, "kind": "text",
            "seed": SEED, "rate": RATE,
        }));
        self.read_until(COUNT / 8);
        let second = self.start_rust();
        self.settle("a Rust member joined");
        self.read_until(COUNT * 2 / 8);
        let second_java = self.start_java();
        self.settle("a Java member joined");
        self.read_until(COUNT * 3 / 8);
        self.members.kill(rust);
        self.settle("a Rust member was killed");
        self.read_until(COUNT * 4 / 8);
        self.java.call(json!({"cmd": "stop", "consumer": java}), MINUTE);
        self.take_java();
        self.java_owns.remove(&java);
        self.settle("a Java member left");
        self.read_until(COUNT * 5 / 8);
        let ended = self.members.stop(second);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        self.settle("a Rust member left");
        let last = self.start_rust();
        self.settle("a Rust member came");
        self.read_until(COUNT);

        let done = producer.answer(producing, MINUTE).expect("a producer that has sent everything");
        assert_eq!((&done["sent"], &done["retried"]), (&json!(COUNT), &json!(0)), "{done}");
        assert_eq!(self.members.stop(last).code, Some(0));
        self.java.call(json!({"cmd": "stop", "consumer": second_java}), MINUTE);
        for broker in 0..2 {
            for queue in 0..QUEUES as i32 {
                let end = self.cluster.max_offset(&self.topic, broker, queue);
                let committed = self.cluster.committed(self.strategy.1, &self.topic, broker, queue);
                assert_eq!(committed, Some(end), "{} {broker}/{queue}", self.topic);
            }
        }
        println!(
            "{} {}: {COUNT} messages, none missing, {} duplicates, {:?}",
            self.cluster.version(),
            self.strategy.0,
            self.tally.duplicates(),
            begin.elapsed()
        );
        self.java.shutdown();
    }

    fn start_rust(&mut self) -> usize {
        self.members.start(&["--strategy", self.strategy.1])
    }

    fn start_java(&mut self) -> i64 {
        let id = self.java.send(json!({
            "cmd": "consume", "namesrv": self.cluster.namesrv(), "group": self.strategy.1, "topic": self.topic,
            "strategy": self.strategy.0, "seed": SEED, "kind": "text", "threads": 4,
        }));
        self.java_owns.insert(id, BTreeSet::new());
        self.java.answer(id, MINUTE).expect("a started Java consumer");
        id
    }

    /// Waits until each queue has exactly one owner, and every member has queues unless the strategy gave it none.
    fn settle(&mut self, what: &str) {
        let begin = Instant::now();
        // It has to stay so for a moment: at first nobody has heard of the change.
        let mut good_since: Option<Instant> = None;
        while good_since.is_none_or(|since| since.elapsed() < Duration::from_millis(500)) {
            self.pump();
            if !self.each_queue_has_one_owner() {
                good_since = None;
            } else if good_since.is_none() {
                good_since = Some(Instant::now());
            }
            assert!(
                begin.elapsed() < MINUTE,
                "{what}: not settled; Java owns {:?}; {}",
                self.java_owns,
                self.members.tails()
            );
        }
        let settled = good_since.map_or(Duration::ZERO, |since| since - begin);
        println!(
            "{} {}: {what}: one owner each after {settled:?}: {:?}",
            self.cluster.version(),
            self.strategy.0,
            self.sizes()
        );
    }

    fn sizes(&self) -> Vec<usize> {
        self.members.owners().values().chain(self.java_owns.values()).map(BTreeSet::len).collect()
    }

    fn each_queue_has_one_owner(&self) -> bool {
        let owned: Vec<String> =
            self.members.owners().into_values().chain(self.java_owns.values().cloned()).flatten().collect();
        let distinct: BTreeSet<&String> = owned.iter().collect();
        // A hash may leave a member without queues; the others share out evenly.
        let sizes = self.sizes();
        let even = sizes.iter().max().zip(sizes.iter().min()).is_some_and(|(most, least)| most - least <= 1);
        owned.len() == 2 * QUEUES as usize
            && distinct.len() == owned.len()
            && (even || self.strategy.0 == "CONSISTENT_HASH")
    }

    fn read_until(&mut self, distinct: u64) {
        let mut last = (self.tally.distinct(), Instant::now());
        while self.tally.distinct() < distinct {
            self.pump();
            if self.tally.distinct() > last.0 {
                last = (self.tally.distinct(), Instant::now());
            }
            assert!(
                last.1.elapsed() < MINUTE,
                "{} are missing: {:?}; Java owns {:?}; {}",
                self.tally.missing(),
                self.tally.absent(),
                self.java_owns,
                self.members.tails()
            );
        }
    }

    /// Takes in what has come.
    fn pump(&mut self) {
        for _ in 0..200 {
            let Some((_, line)) = self.members.next(Duration::from_millis(5)) else { break };
            if line["type"] == "message" {
                self.tally.take_ours(&line);
            }
        }
        self.take_java();
    }

    fn take_java(&mut self) {
        for _ in 0..200 {
            let Some(line) = self.java.read_line(Duration::from_millis(5)) else { break };
            match line["type"].as_str() {
                Some("message") => drop(self.tally.take_java(&line)),
                Some("assigned") => self.assigned(&line),
                _ => {}
            }
        }
    }

    fn assigned(&mut self, line: &Value) {
        let queues = line["queues"].as_array().into_iter().flatten();
        let own = queues.filter(|queue| queue["topic"] == *self.topic);
        let names =
            own.map(|queue| format!("{}/{}", queue["broker"].as_str().unwrap_or_default(), queue["queue"]));
        if let Some(owned) = line["id"].as_i64().and_then(|id| self.java_owns.get_mut(&id)) {
            *owned = names.collect();
        }
    }
}
