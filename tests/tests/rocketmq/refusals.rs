//! What cannot work is said clearly: with an exit code where waiting is of no use, on stderr where it may be.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::{Members, evenkeel};
use serde_json::json;
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn refusals_are_told_on_4_9() {
    scenarios(Version::V4);
}

#[test]
fn refusals_are_told_on_5() {
    scenarios(Version::V5);
}

fn scenarios(version: Version) {
    let cluster = Cluster::start(version, &Options::default());
    cluster.create_topic("orders", 4);
    unknown_topic(&cluster);
    nobody_there(version);
    a_topic_that_cannot_be_read(&cluster);
    a_group_that_is_switched_off(&cluster);
    filters_by_properties(&cluster);
}

fn unknown_topic(cluster: &Cluster) {
    let mut members = Members::new(&cluster.namesrv(), "readers", "odrers");
    let member = members.start(&[]);
    let ended = members.ended(member, MINUTE);
    println!("{}: {}", cluster.version(), ended.stderr);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(ended.stderr.contains("odrers") && ended.stderr.contains(&cluster.namesrv()), "{}", ended.stderr);
}

fn nobody_there(version: Version) {
    // A port that was free a moment ago.
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = listener.expect("a free port").to_string();
    let mut members = Members::new(&address, "readers", "orders");
    let member = members.start(&[]);
    let ended = members.ended(member, MINUTE);
    println!("{version}: {}", ended.stderr);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains(&address) && ended.stderr.contains("refused"), "{}", ended.stderr);
}

/// Permission 2: write only. The member stays, as the permission may come, and says what it lacks.
fn a_topic_that_cannot_be_read(cluster: &Cluster) {
    cluster.create_topic_with("drop-box", 4, 2);
    let mut members = Members::new(&cluster.namesrv(), "readers", "drop-box");
    let member = members.start(&["-X", "route_interval=2s"]);
    until_said(&members, member, &["drop-box", "read"]);
    println!("{}: {}", cluster.version(), members.stderr(member));
    cluster.create_topic_with("drop-box", 4, 6);
    let begin = Instant::now();
    assert!(members.settle(2 * MINUTE, |owners| owners[&member].len() == 4), "{}", members.tails());
    println!("{}: owns the queues {:?} after they became readable", cluster.version(), begin.elapsed());
    assert_eq!(members.stop(member).code, Some(0));
}

/// `consumeEnable=false`: the group may not consume. It may become so while a member runs, and back again.
fn a_group_that_is_switched_off(cluster: &Cluster) {
    let enable = |on: &str| {
        let text = cluster.mqadmin(&["updateSubGroup", "-b", &cluster.broker(0), "-g", "off", "-s", on]);
        assert!(text.contains("success"), "{text}");
    };
    enable("false");
    let mut members = Members::new(&cluster.namesrv(), "off", "orders");
    let member = members.start(&[]);
    until_said(&members, member, &["off", "permission"]);
    println!("{}: {}", cluster.version(), members.stderr(member));
    enable("true");
    let begin = Instant::now();
    let mut peer = Peer::start(cluster.version());
    let produce = json!({"cmd": "produce", "namesrv": cluster.namesrv(), "topic": "orders", "count": 40, "kind": "text", "seed": 1});
    peer.call(produce, MINUTE);
    peer.shutdown();
    let mut read = 0;
    while read < 40 {
        let Some((_, line)) = members.next(MINUTE) else { panic!("{read} of 40 came; {}", members.tails()) };
        read += usize::from(line["type"] == "message");
    }
    println!("{}: consumed what came {:?} after it was allowed to", cluster.version(), begin.elapsed());
    assert_eq!(members.stop(member).code, Some(0));
}

/// What the broker cannot evaluate ends the start: an expression that it cannot read, and any while SQL is switched off.
fn filters_by_properties(cluster: &Cluster) {
    let refused = |expression: &str, words: [&str; 2]| {
        let mut members = Members::new(&cluster.namesrv(), "askers", "orders");
        let member = members.start(&["--sql", expression]);
        let ended = members.ended(member, MINUTE);
        println!("{}: {}", cluster.version(), ended.stderr);
        assert_eq!(ended.code, Some(5), "{}", ended.stderr);
        assert!(words.iter().all(|word| ended.stderr.contains(word)), "{}", ended.stderr);
    };
    refused("amount >", ["filter of orders", "cannot read it"]);

    let switch = |on: &str| {
        let broker = cluster.broker(0);
        let text =
            cluster.mqadmin(&["updateBrokerConfig", "-b", &broker, "-k", "enablePropertyFilter", "-v", on]);
        assert!(text.contains("success"), "{text}");
    };
    switch("false");
    refused("amount > 5", ["filter of orders", "enablePropertyFilter=true"]);
    switch("true");

    cluster.create_topic("amounts", 4);
    let mut members = Members::new(&cluster.namesrv(), "askers", "amounts");
    let member = members.start(&["--sql", "amount > 5"]);
    assert!(members.settle(MINUTE, |owners| owners[&member].len() == 4), "{}", members.tails());
    for (amount, body) in [("3", "small"), ("7", "large"), ("x", "none"), ("6", "last")] {
        let property = format!("amount={amount}");
        let sent =
            evenkeel(&["send", "-n", &cluster.namesrv(), "-t", "amounts", "--property", &property, body])
                .output();
        let sent = sent.expect("the command runs");
        assert!(sent.status.success(), "{sent:?}");
    }
    let mut bodies = BTreeSet::new();
    while bodies.len() < 2 {
        let Some((_, line)) = members.next(MINUTE) else { panic!("{bodies:?}; {}", members.tails()) };
        if line["type"] == "message" {
            bodies.insert(line["body"].as_str().expect("a text").to_owned());
        }
    }
    assert_eq!(bodies, ["large", "last"].map(str::to_owned).into());
    assert_eq!(members.stop(member).code, Some(0));
}

fn until_said(members: &Members, member: usize, words: &[&str]) {
    let end = Instant::now() + MINUTE;
    while !words.iter().all(|word| members.stderr(member).contains(word)) {
        assert!(Instant::now() < end, "{words:?} is not said; {}", members.tails());
        std::thread::sleep(Duration::from_millis(50));
    }
}
