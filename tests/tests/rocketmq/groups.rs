//! `evenkeel groups` and `evenkeel group` on real servers say what `mqadmin consumerConnection` and `consumerProgress`
//! say, and besides what those cannot tell: who owns what, and who does not answer.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::{Members, evenkeel};
use evenkeel_tests::{mqadmin, trio};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);
const GROUP: &str = "readers";

#[test]
fn numbers_are_those_of_mqadmin_on_4_9() {
    scenarios(Version::V4);
}

#[test]
fn numbers_are_those_of_mqadmin_on_5() {
    scenarios(Version::V5);
}

/// Two brokers with four queues each, two of our members and a Java one.
fn scenarios(version: Version) {
    let begin = Instant::now();
    let cluster = Cluster::start(version, &Options { brokers: 2, ..Options::default() });
    cluster.create_topic("orders", 4);
    let (code, _, err) = run(&cluster, &["group", GROUP]);
    assert_eq!(code, 4, "{err}");

    let mut peer = Peer::start(version);
    produce(&mut peer, &cluster, 80);
    let (mut members, consumer) = trio::start(&cluster, &mut peer, GROUP);
    wait_for_lag(&cluster, 0);

    same_members(&cluster);
    same_progress(&cluster);
    same_list(&cluster, 3);
    owners_are_the_members_own(&cluster);
    a_frozen_member_is_named(&cluster, &mut members);

    for member in 0..2 {
        assert_eq!(members.stop(member).code, Some(0));
    }
    peer.call(json!({"cmd": "stop", "consumer": consumer}), MINUTE);
    produce(&mut peer, &cluster, 40);
    wait_for_lag(&cluster, 40);
    let (code, shown, err) = group(&cluster, &["--retry"]);
    assert_eq!((code, &shown["online"], err.as_str()), (0, &json!(false), ""));
    same_progress(&cluster);
    same_list(&cluster, 0);
    peer.shutdown();
    println!("{version}: done after {:?}", begin.elapsed());
}

/// Messages `count`, spread evenly over the eight queues.
fn produce(peer: &mut Peer, cluster: &Cluster, count: u32) {
    let sent = peer.call(
        json!({"cmd": "produce", "namesrv": cluster.namesrv(), "topic": "orders", "count": count, "kind": "text", "seed": 1}),
        MINUTE,
    );
    assert_eq!(sent["sent"], count);
}

/// Exit code, stdout and stderr of our command.
fn run(cluster: &Cluster, args: &[&str]) -> (i32, String, String) {
    let output = evenkeel(args).args(["-n", &cluster.namesrv()]).output().expect("the built command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn group(cluster: &Cluster, args: &[&str]) -> (i32, Value, String) {
    let (code, out, err) = run(cluster, &[&["group", GROUP, "--json"], args].concat());
    let shown = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out} {err}"));
    (code, shown, err)
}

/// Commits come every few seconds; numbers can be compared once they stand still.
fn wait_for_lag(cluster: &Cluster, lag: u64) {
    let end = Instant::now() + MINUTE;
    loop {
        let (_, shown, err) = group(cluster, &["--topic", "orders"]);
        if shown["lag"] == lag && shown["queues"].as_array().is_some_and(|queues| queues.len() == 8) {
            return;
        }
        assert!(Instant::now() < end, "the lag is not {lag}: {shown} {err}");
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// Ids, languages and versions are mqadmin's; its addresses, which are those of one broker, are among ours.
fn same_members(cluster: &Cluster) {
    let text = cluster.mqadmin(&["consumerConnection", "-g", GROUP]);
    let theirs = mqadmin::connections(&text);
    let (code, shown, err) = group(cluster, &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    let ours = shown["members"].as_array().expect("members");
    assert_eq!((theirs.len(), ours.len()), (3, 3), "{text} {shown}");
    for (theirs, ours) in theirs.iter().zip(ours) {
        assert_eq!(
            (ours["id"].as_str(), ours["language"].as_str()),
            (Some(&*theirs.client), Some(&*theirs.language))
        );
        let version = theirs.version.trim_start_matches('V').replace('_', ".");
        assert_eq!(ours["version"].as_str(), Some(version.as_str()));
        let connections = ours["connections"].as_object().expect("connections");
        assert_eq!(connections.len(), 2, "one to each broker: {ours}");
        assert!(connections.values().any(|address| *address == *theirs.address), "{} {ours}", theirs.address);
        assert_eq!((&ours["strategy"], &ours["answered"]), (&json!("AVG"), &json!(true)), "{ours}");
        assert_eq!(ours["subscriptions"]["orders"], "*");
    }
    assert_eq!((&shown["model"], &shown["type"]), (&json!("CLUSTERING"), &json!("push")));
}

/// A queue's topic, broker and number; the end, the group's offset and the lag.
type Rows = BTreeMap<(String, String, i64), (i64, i64, i64)>;

/// Queue by queue, the retry topic's included. Its first offsets come after the others', perhaps between one look and the
/// other: then both look again.
fn same_progress(cluster: &Cluster) {
    let end = Instant::now() + MINUTE;
    loop {
        let (text, theirs) = their_progress(cluster);
        let (shown, ours) = our_progress(cluster);
        if ours != theirs && Instant::now() < end {
            continue;
        }
        assert_eq!(ours, theirs, "{text}");
        assert!(theirs.len() >= 8, "{text}");
        assert_eq!(shown["lagKnown"].as_i64(), Some(theirs.values().map(|(_, _, lag)| lag).sum()), "{shown}");
        return;
    }
}

fn their_progress(cluster: &Cluster) -> (String, Rows) {
    let text = cluster.mqadmin(&["consumerProgress", "-g", GROUP]);
    let rows = mqadmin::consumer_progress(&text).into_iter().map(|row| {
        let lag = row.lag();
        ((row.topic, row.broker, i64::from(row.queue)), (row.broker_offset, row.consumer_offset, lag))
    });
    let rows = rows.collect();
    (text, rows)
}

fn our_progress(cluster: &Cluster) -> (Value, Rows) {
    let (_, shown, _) = group(cluster, &["--retry"]);
    let number = |value: &Value| value.as_i64().unwrap_or_else(|| panic!("a number: {value} in {shown}"));
    let word = |value: &Value| value.as_str().expect("a text").to_owned();
    // mqadmin leaves out queues of topics of which nothing was ever committed.
    let queues = shown["queues"].as_array().expect("queues").iter().filter(|queue| !queue["end"].is_null());
    let rows = queues.map(|queue| {
        let name = (word(&queue["topic"]), word(&queue["broker"]), number(&queue["id"]));
        (name, (number(&queue["end"]), number(&queue["committed"]), number(&queue["lag"])))
    });
    let rows = rows.collect();
    (shown, rows)
}

/// The line of the group among all.
fn same_list(cluster: &Cluster, members: u64) {
    let text = cluster.mqadmin(&["consumerProgress"]);
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(GROUP));
    let words: Vec<&str> =
        line.unwrap_or_else(|| panic!("no {GROUP} in {text}")).split_whitespace().collect();
    let (count, lag) = (words[1], words[words.len() - 1]);
    let (code, out, err) = run(cluster, &["groups", "--offline", "--json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let all: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    let own = all["groups"].as_array().into_iter().flatten().find(|group| group["group"] == GROUP);
    let own = own.unwrap_or_else(|| panic!("no {GROUP} in {all}"));
    assert_eq!(
        (own["members"].to_string().as_str(), own["lag"].to_string().as_str()),
        (count, lag),
        "{text}"
    );
    assert_eq!(own["members"], members);
    let (_, out, _) = run(cluster, &["groups", "--json"]);
    assert_eq!(out.contains(GROUP), members > 0, "without --offline only groups with members: {out}");
}

fn owners_are_the_members_own(cluster: &Cluster) {
    let (_, shown, _) = group(cluster, &[]);
    let queues = shown["queues"].as_array().expect("queues");
    let owners: Vec<&str> =
        queues.iter().map(|queue| queue["owners"][0].as_str().expect("an owner")).collect();
    let wanted = ["a", "a", "a", "b", "b", "b", "c", "c"].map(|letter| match letter {
        "b" => "127.0.0.1@b-java",
        "a" => "127.0.0.1@a-rust",
        _ => "127.0.0.1@c-rust",
    });
    assert_eq!(owners, wanted);
    assert!(queues.iter().all(|queue| queue["owners"].as_array().is_some_and(|owners| owners.len() == 1)));
    let own: BTreeSet<u64> = shown["members"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|member| member["queues"].as_u64())
        .collect();
    assert_eq!(own, BTreeSet::from([2, 3]));
}

/// The broker still lists it; asked, it says nothing.
fn a_frozen_member_is_named(cluster: &Cluster, members: &mut Members) {
    members.freeze(1);
    let (code, shown, err) = group(cluster, &[]);
    members.thaw(1);
    assert_eq!(code, 6, "{err}");
    assert!(
        err.starts_with("evenkeel: no answer from member 127.0.0.1@c-rust, asked through broker-"),
        "{err}"
    );
    assert_eq!(shown["members"][2]["answered"], false);
    let answered =
        shown["members"].as_array().into_iter().flatten().filter(|member| member["answered"] == true);
    assert_eq!(answered.count(), 2);
}
