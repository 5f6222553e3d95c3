//! Writes what `mqadmin` and a Java client of each version really print into the fixtures of core's paste tests:
//! `cargo test -p evenkeel-tests --test rocketmq paste_fixtures -- --ignored`. Each file begins with the command that
//! made it.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// Longer than the 64 characters that tables show of a topic.
const LONG: &str = "audit-of-everything-that-was-ever-ordered-paid-refunded-or-returned-eu";

#[test]
#[ignore = "writes fixtures; run it when a version is added"]
fn of_4_9() {
    write(Version::V4, "4.9.7");
}

#[test]
#[ignore = "writes fixtures; run it when a version is added"]
fn of_5() {
    write(Version::V5, "5.5.0");
}

fn write(version: Version, folder: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/paste/fixtures").join(folder);
    fs::create_dir_all(&folder).expect("a folder for fixtures");
    let cluster = Cluster::start(version, &Options { brokers: 2, ..Options::default() });
    cluster.create_topic_spread("orders", &[8, 4]);
    cluster.create_topic_spread(LONG, &[3, 2]);
    cluster.create_topic("%RETRY%pay-worker", 1);

    let logs = std::env::temp_dir().join(format!("evenkeel-fixtures-{}", std::process::id()));
    let mut settings = ["rocketmq.log.root", "rocketmq.client.logRoot"]
        .map(|key| format!("-D{key}={}", logs.display()))
        .to_vec();
    // The jars of servers bring settings for logs too, which would come first.
    let of = ["logback", "rmq.logback"];
    settings.extend(of.map(|of| format!("-D{of}.configurationFile=rmq.client.logback.xml")));
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let mut peers: Vec<Peer> = Vec::new();
    for (ip, instance) in [("10.0.3.11", "7#812"), ("10.0.3.12", "7#944"), ("10.0.3.13", "7#377")] {
        let mut peer = Peer::start_with(version, &settings);
        let consumer = peer.send(json!({
            "cmd": "consume", "namesrv": cluster.namesrv(), "group": "pay-worker", "topics": ["orders", LONG],
            "expression": "paid || refunded", "clientIp": ip, "instance": instance,
        }));
        peer.answer(consumer, MINUTE).expect("a started consumer");
        peers.push(peer);
    }
    let produced = peers[0].send(json!({
        "cmd": "produce", "namesrv": cluster.namesrv(), "topic": "orders", "count": 100,
    }));
    peers[0].answer(produced, MINUTE).expect("sent messages");
    // Two rounds of rebalance, and a commit of every offset.
    std::thread::sleep(Duration::from_secs(40));

    for (name, command) in [
        ("topicRoute", "topicRoute -t orders"),
        ("topicRoute-list", "topicRoute -t orders -l"),
        ("topicStatus", "topicStatus -t orders"),
        ("consumerProgress", "consumerProgress -g pay-worker"),
        ("consumerProgress-clients", "consumerProgress -g pay-worker -s true"),
        ("consumerProgress-all", "consumerProgress"),
        ("consumerConnection", "consumerConnection -g pay-worker"),
        ("consumerStatus", "consumerStatus -g pay-worker"),
        ("allocateMQ", "allocateMQ -t orders -i 10.0.3.11@7#812,10.0.3.12@7#944,10.0.3.13@7#377"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let text = cluster.mqadmin(&words);
        save(&folder, name, &format!("mqadmin {command}"), &text);
    }
    let mut lines = Vec::new();
    for file in files(&logs) {
        let text = fs::read_to_string(file).unwrap_or_default();
        lines.extend(
            text.lines().filter(|line| line.contains("rebalanced result changed")).map(str::to_owned),
        );
    }
    lines.push(String::new());
    save(&folder, "client-log", "grep 'rebalanced result changed' rocketmq_client.log", &lines.join("\n"));
    peers.into_iter().for_each(Peer::shutdown);
    assert!(lines.len() > 3, "no log in {:?}", files(&logs));
    let _ = fs::remove_dir_all(&logs);
}

fn save(folder: &Path, name: &str, command: &str, text: &str) {
    println!("== {command}\n{text}");
    fs::write(folder.join(format!("{name}.txt")), format!("$ {command}\n{text}")).expect("a written fixture");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
