//! Plans against real groups: `plan` foretells queue by queue what the group then does, and `verify` finds nothing in a
//! sound group and names what was made sick on purpose.
//!
//! Who owns what is never taken from evenkeel's own reader: Java consumers tell what their rebalance holds, ours print it.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::{Members, evenkeel};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);
/// Queues of each topic on the two brokers: 16 and 5.
const TOPICS: [(&str, [u32; 2]); 2] = [("bills", [3, 2]), ("orders", [8, 8])];
const QUEUES: usize = 21;

#[test]
fn plans_come_true_on_4_9() {
    plans_come_true(Version::V4);
}

#[test]
fn plans_come_true_on_5() {
    plans_come_true(Version::V5);
}

#[test]
fn sickness_is_named_on_4_9() {
    sickness_is_named(Version::V4);
}

#[test]
fn sickness_is_named_on_5() {
    sickness_is_named(Version::V5);
}

fn cluster(version: Version) -> Cluster {
    let cluster = Cluster::start(version, &Options { brokers: 2, ..Options::default() });
    for (topic, queues) in TOPICS {
        cluster.create_topic_spread(topic, &queues);
    }
    cluster
}

/// Three Java members and one of ours; then one more of each kind joins, as foretold.
fn plans_come_true(version: Version) {
    let cluster = cluster(version);
    for (java, ours) in [("AVG", "avg"), ("AVG_BY_CIRCLE", "circle"), ("CONSISTENT_HASH", "hash")] {
        let mut group = Group::new(&cluster, &format!("foretold-{ours}"), 1);
        for name in ["b", "d", "h"] {
            group.start_java(0, name, json!({"strategy": java}));
        }
        group.start_ours("f", ours);
        group.settle("four members");
        group.is_sound();
        group.joins_as_foretold(java, "127.0.0.1@e", |group| {
            group.start_java(0, "e", json!({"strategy": java}))
        });
        group.joins_as_foretold(java, "127.0.0.1@c", |group| {
            group.start_ours("c", ours);
        });
        group.is_sound();
        group.end();
    }
}

fn sickness_is_named(version: Version) {
    let cluster = cluster(version);
    one_id_twice(&cluster);
    one_strategy_differs(&cluster);
    one_subscription_differs(&cluster);
    dead_and_not_yet_noticed(&cluster);
}

/// A second process with the id of another: the broker lists both, and each counts both.
fn one_id_twice(cluster: &Cluster) {
    let mut group = Group::new(cluster, "twins", 2);
    group.four_members();
    group.start_java(1, "d", json!({}));
    group.settle_sick();
    let owners = group.owners();
    let verdict = group.verify(7);
    let finding = verdict.finding("R101");
    assert_eq!(finding["consumers"], json!(["127.0.0.1@d"]), "{}", verdict.text);
    assert!(finding["text"].as_str().is_some_and(|text| text.contains("2 ")), "{finding}");
    let (doubled, orphaned) = (doubled(&owners), orphaned(&owners));
    assert!(!doubled.is_empty() && !orphaned.is_empty(), "{owners:#?}");
    assert_eq!(verdict.queues("R101"), doubled.union(&orphaned).cloned().collect(), "{owners:#?}");
    assert_eq!((verdict.queues("R102"), verdict.queues("R103")), (doubled, orphaned), "{owners:#?}");
    group.end();
}

/// One member on AVG_BY_CIRCLE among members on AVG.
fn one_strategy_differs(cluster: &Cluster) {
    let mut group = Group::new(cluster, "mixed", 1);
    for (name, strategy) in [("b", "AVG"), ("d", "AVG_BY_CIRCLE"), ("h", "AVG")] {
        group.start_java(0, name, json!({"strategy": strategy}));
    }
    group.start_ours("f", "avg");
    group.settle_sick();
    let owners = group.owners();
    let verdict = group.verify(7);
    let finding = verdict.finding("R104");
    assert_eq!(finding["consumers"], json!(["127.0.0.1@d"]), "{}", verdict.text);
    let text = finding["text"].as_str().unwrap_or_default();
    assert!(text.contains("AVG on 3 members") && text.contains("AVG_BY_CIRCLE on 1 member"), "{finding}");
    let (doubled, orphaned) = (doubled(&owners), orphaned(&owners));
    assert!(!doubled.is_empty() && !orphaned.is_empty(), "{owners:#?}");
    assert_eq!(verdict.queues("R104"), doubled.union(&orphaned).cloned().collect(), "{owners:#?}");
    assert_eq!((verdict.queues("R102"), verdict.queues("R103")), (doubled, orphaned), "{owners:#?}");
    group.end();
}

/// One member has subscribed to one topic only.
fn one_subscription_differs(cluster: &Cluster) {
    let mut group = Group::new(cluster, "partial", 1);
    group.start_java(0, "b", json!({}));
    group.start_java(0, "d", json!({"topics": ["orders"]}));
    group.start_java(0, "h", json!({}));
    group.start_ours("f", "avg");
    group.settle_sick();
    let owners = group.owners();
    let verdict = group.verify(7);
    let finding = verdict.finding("R106");
    assert_eq!(finding["consumers"], json!(["127.0.0.1@d"]), "{}", verdict.text);
    assert!(finding["text"].as_str().is_some_and(|text| text.contains("lacks bills")), "{finding}");
    let unread = orphaned(&owners);
    assert!(!unread.is_empty() && unread.iter().all(|queue| queue.starts_with("bills ")), "{owners:#?}");
    assert_eq!((verdict.queues("R106"), verdict.queues("R103")), (unread.clone(), unread), "{owners:#?}");
    group.end();
}

/// Stopped processes keep their connections, as after a power cut: the broker lists them for two more minutes.
fn dead_and_not_yet_noticed(cluster: &Cluster) {
    let mut group = Group::new(cluster, "frozen", 2);
    group.start_java(0, "b", json!({}));
    group.start_java(1, "d", json!({}));
    group.start_java(0, "h", json!({}));
    let ours = group.start_ours("f", "avg");
    group.settle("four members");
    let owners = group.owners();
    group.members.freeze(ours);
    group.peers[1].freeze();
    let verdict = group.verify(7);
    group.members.thaw(ours);
    group.peers[1].thaw();
    let finding = verdict.finding("R110");
    assert_eq!(finding["consumers"], json!(["127.0.0.1@d", "127.0.0.1@f"]), "{}", verdict.text);
    // By reckoning they own what they do own, and AVG gives the second of four one of the retry topic's two queues.
    for (id, of_retry) in [("127.0.0.1@d", 1), ("127.0.0.1@f", 0)] {
        let mut consumers = verdict.json["consumers"].as_array().into_iter().flatten();
        let member = consumers.find(|member| member["id"] == id).expect("a member");
        let own = owners.values().filter(|by| *by == &[id]).count();
        assert_eq!(
            (&member["answered"], &member["actual"]),
            (&json!(false), &json!(own + of_retry)),
            "{owners:#?}"
        );
    }
    group.end();
}

/// A group of Java consumers and members of ours, over both topics.
struct Group<'a> {
    cluster: &'a Cluster,
    name: String,
    peers: Vec<Peer>,
    java: Vec<JavaMember>,
    members: Members,
}

struct JavaMember {
    peer: usize,
    number: i64,
    client: String,
    owned: BTreeSet<String>,
}

/// The clients that own each queue, `topic broker/number`.
type Owners = BTreeMap<String, Vec<String>>;

impl<'a> Group<'a> {
    fn new(cluster: &'a Cluster, name: &str, processes: usize) -> Self {
        // Members hear at once of a retry topic that is there before them; of one that they make, after half a minute.
        cluster.create_topic(&format!("%RETRY%{name}"), 1);
        let peers = (0..processes).map(|_| Peer::start(cluster.version())).collect();
        let members = Members::new(&cluster.namesrv(), name, "orders");
        Self { cluster, name: name.to_owned(), peers, java: Vec::new(), members }
    }

    fn four_members(&mut self) {
        for name in ["b", "d", "h"] {
            self.start_java(0, name, json!({}));
        }
        self.start_ours("f", "avg");
        self.settle("four members");
    }

    fn start_java(&mut self, peer: usize, name: &str, more: Value) {
        let mut command = json!({
            "cmd": "consume", "namesrv": self.cluster.namesrv(), "group": self.name, "instance": name, "threads": 1,
            "topics": ["bills", "orders"],
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            command[key] = value.clone();
        }
        let number = self.peers[peer].send(command);
        let client = format!("127.0.0.1@{name}");
        self.java.push(JavaMember { peer, number, client: client.clone(), owned: BTreeSet::new() });
        let answer = self.peers[peer].answer(number, MINUTE).expect("a started Java consumer");
        assert_eq!(answer["clientId"], *client);
    }

    fn start_ours(&mut self, name: &str, strategy: &str) -> usize {
        let client = format!("127.0.0.1@{name}");
        self.members.start(&["-t", "bills", "--client-id", &client, "--strategy", strategy])
    }

    fn owners(&self) -> Owners {
        let mut owners = Owners::new();
        for member in &self.java {
            for queue in &member.owned {
                owners.entry(queue.clone()).or_default().push(member.client.clone());
            }
        }
        for (topic, _) in TOPICS {
            for (member, queues) in self.members.owners_of(topic) {
                for queue in queues {
                    let owner = self.members.client(member).to_owned();
                    owners.entry(format!("{topic} {queue}")).or_default().push(owner);
                }
            }
        }
        owners.values_mut().for_each(|by| by.sort());
        owners
    }

    /// Waits until the owners are as wanted and stay so for a second.
    fn wait(&mut self, what: &str, wanted: impl Fn(&Owners) -> bool) {
        let begin = Instant::now();
        let mut good: Option<(Owners, Instant)> = None;
        loop {
            self.pump();
            let owners = self.owners();
            let since = match &good {
                Some((before, since)) if *before == owners => *since,
                _ => Instant::now(),
            };
            if wanted(&owners) {
                if since.elapsed() >= Duration::from_secs(1) {
                    return;
                }
                good = Some((owners, since));
            } else {
                good = None;
                assert!(
                    begin.elapsed() < MINUTE,
                    "{} {what}: {owners:#?}; {}",
                    self.name,
                    self.members.tails()
                );
            }
        }
    }

    fn settle(&mut self, what: &str) {
        self.wait(what, |owners| owners.len() == QUEUES && owners.values().all(|by| by.len() == 1));
    }

    /// Waits until nothing has changed for as long as it takes members to hear of each other.
    fn settle_sick(&mut self) {
        let end = Instant::now() + Duration::from_secs(8);
        let mut last = (self.owners(), Instant::now());
        while Instant::now() < end || last.1.elapsed() < Duration::from_secs(3) {
            self.pump();
            let owners = self.owners();
            if owners != last.0 {
                last = (owners, Instant::now());
            }
        }
    }

    fn pump(&mut self) {
        while self.members.next(Duration::from_millis(5)).is_some() {}
        for (at, peer) in self.peers.iter_mut().enumerate() {
            while let Some(line) = peer.read_line(Duration::from_millis(5)) {
                if line["type"] != "assigned" {
                    continue;
                }
                let member =
                    self.java.iter_mut().find(|member| member.peer == at && line["id"] == member.number);
                let queues = line["queues"].as_array().into_iter().flatten();
                let queues = queues.map(name).filter(|queue| !queue.starts_with('%'));
                if let Some(member) = member {
                    member.owned = queues.collect();
                }
            }
        }
    }

    /// Asks what a new member would do, lets it join, and compares.
    fn joins_as_foretold(&mut self, strategy: &str, id: &str, start: impl FnOnce(&mut Self)) {
        let before = self.owners();
        let answer = self.evenkeel(&["plan", &self.name, "--add", id, "--strategy", strategy]);
        assert_eq!(answer.code, 0, "{}", answer.text);
        let plan = &answer.json;
        assert_eq!(plan["schema"], "evenkeel.plan/1");
        assert_eq!(plan["results"].as_array().map(Vec::len), Some(1), "{plan}");
        let result = &plan["results"][0];
        assert_eq!((&result["strategy"], &result["running"]), (&json!(strategy), &json!(true)), "{plan}");
        let moves = result["moves"].as_array().expect("moves");
        assert!(!moves.is_empty(), "{plan}");
        let all = moves.len() as u64 + result["hiddenMoves"].as_u64().unwrap_or(0);
        assert_eq!(result["moved"], json!({"min": all, "typical": all, "max": all, "exact": true}));
        let mut foretold = before.clone();
        for step in moves {
            let queue = name(&step["queue"]);
            let owner =
                foretold.get_mut(&queue).unwrap_or_else(|| panic!("{queue} is nobody's: {before:#?}"));
            assert_eq!(json!(owner), json!([step["from"]]), "{queue}: {plan}");
            *owner = vec![step["to"].as_str().expect("a new owner").to_owned()];
        }
        assert!(foretold.values().flatten().any(|owner| owner == id), "{id} gets nothing: {plan}");
        start(self);
        self.wait(&format!("{id} is not as foretold in {foretold:#?}"), |owners| *owners == foretold);
        println!(
            "{} {strategy}: {id} joins, {} of {QUEUES} queues move, each as foretold",
            self.cluster.version(),
            moves.len()
        );
    }

    /// `verify` finds nothing, and `snapshot` tells what members themselves tell.
    fn is_sound(&mut self) {
        self.verify(0);
        let answer = self.evenkeel(&["snapshot", &self.name]);
        assert_eq!(answer.code, 0, "{}", answer.text);
        assert_eq!(answer.json["schema"], "evenkeel.snapshot/1");
        let rows = answer.json["owned"].as_array().into_iter().flatten();
        let seen = rows.map(|row| {
            let owners = row["owners"].as_array().into_iter().flatten();
            (name(&row["queue"]), owners.filter_map(|owner| owner.as_str().map(str::to_owned)).collect())
        });
        let seen: Owners = seen.filter(|(queue, _)| !queue.starts_with('%')).collect();
        assert_eq!(seen, self.owners());
    }

    fn verify(&self, code: i32) -> Verdict {
        let answer = self.evenkeel(&["verify", &self.name]);
        assert_eq!(answer.code, code, "{}: {}", self.name, answer.text);
        assert_eq!(answer.json["schema"], "evenkeel.verify/1");
        Verdict { json: answer.json, text: answer.text }
    }

    fn evenkeel(&self, arguments: &[&str]) -> Answer {
        let mut command = evenkeel(arguments);
        command.args(["--json", "-n", &self.cluster.namesrv()]);
        let output = command.output().expect("the built command runs");
        let (out, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let text = format!("{arguments:?} printed {out}\nand said {said}");
        let json = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {text}"));
        Answer { code: output.status.code().unwrap_or(-1), json, text }
    }

    fn end(self) {
        self.peers.into_iter().for_each(Peer::shutdown);
    }
}

struct Answer {
    code: i32,
    json: Value,
    text: String,
}

struct Verdict {
    json: Value,
    text: String,
}

impl Verdict {
    fn finding(&self, code: &str) -> &Value {
        let findings = self.json["findings"].as_array().into_iter().flatten();
        let mut of_code = findings.filter(|finding| finding["code"] == code);
        of_code.next().unwrap_or_else(|| panic!("no {code}: {}", self.text))
    }

    /// Without those of the retry topic, which our members do not tell of.
    fn queues(&self, code: &str) -> BTreeSet<String> {
        let queues = self.finding(code)["queues"].as_array().into_iter().flatten();
        queues.map(name).filter(|queue| !queue.starts_with('%')).collect()
    }
}

/// The queues that have several owners.
fn doubled(owners: &Owners) -> BTreeSet<String> {
    owners.iter().filter(|(_, by)| by.len() > 1).map(|(queue, _)| queue.clone()).collect()
}

/// The queues that have none.
fn orphaned(owners: &Owners) -> BTreeSet<String> {
    all_queues().filter(|queue| !owners.contains_key(queue)).collect()
}

/// `topic broker/number` of a queue in JSON: ours says `id`, the peer `queue`.
fn name(queue: &Value) -> String {
    let text = |key: &str| queue[key].as_str().unwrap_or_default().to_owned();
    let id = queue["id"].as_i64().or(queue["queue"].as_i64()).unwrap_or(-1);
    format!("{} {}/{id}", text("topic"), text("broker"))
}

fn all_queues() -> impl Iterator<Item = String> {
    let of_broker = |topic: &'static str, broker: &'static str, queues: u32| {
        (0..queues).map(move |id| format!("{topic} {broker}/{id}"))
    };
    TOPICS.into_iter().flat_map(move |(topic, [a, b])| {
        of_broker(topic, "broker-a", a).chain(of_broker(topic, "broker-b", b))
    })
}
