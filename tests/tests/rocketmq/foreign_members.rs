//! AVG_BY_DRAFT in a group with a Java member, on real brokers: refused at the start, a warning by setting, and told when
//! the Java member comes later.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::Members;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_java_member_is_noticed_on_4_9() {
    noticed(Version::V4);
}

#[test]
fn a_java_member_is_noticed_on_5() {
    noticed(Version::V5);
}

fn noticed(version: Version) {
    let cluster = Cluster::start(version, &Options::default());
    cluster.create_topic("orders", 4);
    let mut java = Peer::start(version);
    let mut members = Members::new(&cluster.namesrv(), "drafting", "orders");

    // Alone, it starts; the second of its kind does as well.
    let first = members.start(&["--strategy", "draft"]);
    assert!(members.settle(MINUTE, |owned| owned[&first].len() == 4), "{}", members.tails());
    let second = members.start(&["--strategy", "draft"]);
    let even = |owned: &std::collections::BTreeMap<usize, std::collections::BTreeSet<String>>| {
        owned.values().all(|queues| queues.len() == 2) && owned.len() == 2
    };
    assert!(members.settle(MINUTE, even), "{}", members.tails());

    // A Java member comes: both say so, and go on.
    let consumer = java.send(json!({
        "cmd": "consume", "namesrv": cluster.namesrv(), "group": "drafting", "topic": "orders",
    }));
    let started = java.answer(consumer, MINUTE).expect("a started Java consumer");
    let client = started["clientId"].as_str().expect("its client id").to_owned();
    for (member, told) in foreign(&mut members, 2) {
        let expected = json!([{"clientId": client, "what": "a JAVA client"}]);
        assert_eq!((&told["members"], &told["refused"]), (&expected, &json!(false)), "member {member}");
    }

    // With it there, a third is refused, and leaves nothing behind; by setting it is warned.
    let third = members.start(&["--strategy", "draft"]);
    let ended = members.ended(third, MINUTE);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let said = format!("{client}: a JAVA client");
    assert!(
        ended.stderr.contains(&said) && ended.stderr.contains("foreign_members=warn"),
        "{}",
        ended.stderr
    );
    let fourth = members.start(&["--strategy", "draft", "-X", "foreign_members=warn"]);
    assert!(members.settle(MINUTE, |owned| !owned[&fourth].is_empty()), "{}", members.tails());
    for member in [first, second, fourth] {
        assert_eq!(members.stop(member).code, Some(0));
    }
    java.shutdown();
}

/// The first word of so many members about foreign ones.
fn foreign(members: &mut Members, count: usize) -> Vec<(usize, Value)> {
    let (end, mut told) = (Instant::now() + MINUTE, Vec::<(usize, Value)>::new());
    while told.len() < count {
        let left = end.saturating_duration_since(Instant::now());
        assert!(!left.is_zero(), "{} of {count} told of foreign members;{}", told.len(), members.tails());
        if let Some((member, line)) = members.next(left) {
            if line["type"] == "foreign-members" && told.iter().all(|(known, _)| *known != member) {
                told.push((member, line));
            }
        }
    }
    told
}
