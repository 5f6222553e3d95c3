//! Java and Rust members in one group, under load, while members join, leave and are killed.

use evenkeel::allocate::{Input, SortedMembers, SortedQueues, named};
use evenkeel::{ClientId, Group as GroupName, MessageQueue};
use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::Members;
use evenkeel_tests::payload::Kind;
use evenkeel_tests::tally::Tally;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

const COUNT: u64 = 4_800;
const RATE: u64 = 800;
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
    let mut java_members = Peer::start(version);
    for (java, ours) in [("AVG", "avg"), ("AVG_BY_CIRCLE", "circle"), ("CONSISTENT_HASH", "hash")] {
        Group::new(&cluster, &mut java_members, java, ours).run(&mut producer);
    }
    producer.shutdown();
    java_members.shutdown();
}

/// One group with one strategy.
struct Group<'a> {
    cluster: &'a Cluster,
    strategy: (&'a str, &'a str),
    topic: String,
    java: &'a mut Peer,
    members: Members,
    /// What each Java consumer owns, by its number.
    java_owns: BTreeMap<i64, BTreeSet<String>>,
    java_clients: BTreeMap<i64, String>,
    tally: Tally,
}

impl<'a> Group<'a> {
    fn new(cluster: &'a Cluster, peer: &'a mut Peer, java: &'a str, ours: &'a str) -> Self {
        let topic = format!("orders-{ours}");
        cluster.create_topic(&topic, QUEUES);
        Self {
            cluster,
            strategy: (java, ours),
            java: peer,
            members: Members::new(&cluster.namesrv(), ours, &topic),
            topic,
            java_owns: BTreeMap::new(),
            java_clients: BTreeMap::new(),
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
        for broker in 0..2 {
            for queue in 0..QUEUES as i32 {
                let end = self.cluster.max_offset(&self.topic, broker, queue);
                self.cluster.until_committed(self.strategy.1, &self.topic, broker, queue, end);
            }
        }
        self.java.call(json!({"cmd": "stop", "consumer": second_java}), MINUTE);
        println!(
            "{} {}: {COUNT} messages, none missing, {} duplicates, {:?}",
            self.cluster.version(),
            self.strategy.0,
            self.tally.duplicates(),
            begin.elapsed()
        );
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
        let answer = self.java.answer(id, MINUTE).expect("a started Java consumer");
        self.java_clients.insert(id, answer["clientId"].as_str().unwrap_or_default().to_owned());
        id
    }

    /// Waits until each queue has exactly the owner that the strategy gives it.
    fn settle(&mut self, what: &str) {
        let begin = Instant::now();
        // It has to stay so for a moment: at first nobody has heard of the change.
        let mut good_since: Option<Instant> = None;
        while good_since.is_none_or(|since| since.elapsed() < Duration::from_millis(500)) {
            self.pump();
            if !self.each_queue_has_its_owner() {
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

    fn each_queue_has_its_owner(&self) -> bool {
        let ours = self.members.owners().into_iter();
        let ours = ours.map(|(member, queues)| (self.members.client(member).to_owned(), queues));
        let java = self.java_owns.iter().map(|(id, queues)| (self.java_clients[id].clone(), queues.clone()));
        let owned: BTreeMap<String, BTreeSet<String>> = ours.chain(java).collect();
        owned == self.strategys_answer(owned.keys())
    }

    /// What our strategy says of these members now.
    fn strategys_answer<'b>(
        &self,
        clients: impl Iterator<Item = &'b String>,
    ) -> BTreeMap<String, BTreeSet<String>> {
        let clients: Vec<ClientId> = clients.map(|client| ClientId::from(client.as_str())).collect();
        let names = self.cluster.broker_names();
        let queues = names.iter().flat_map(|broker| {
            (0..QUEUES as i32).map(|id| MessageQueue::new(self.topic.as_str(), broker.as_str(), id))
        });
        let (queues, members) = (SortedQueues::new(queues), SortedMembers::new(clients.clone()));
        let strategy = named(self.strategy.1).expect("a strategy of ours");
        let group = GroupName::from(self.strategy.1);
        let share = |me: &ClientId| {
            let mine =
                strategy.allocate(&Input { group: &group, me, queues: &queues, members: &members, nth: 0 });
            let mine = mine.expect("an allocation").into_iter();
            (me.to_string(), mine.map(|queue| format!("{}/{}", queue.broker, queue.id)).collect())
        };
        clients.iter().map(share).collect()
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
