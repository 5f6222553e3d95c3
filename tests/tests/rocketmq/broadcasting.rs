//! Broadcasting beside a Java member on real brokers: each member gets every message, alone with its offset file, and ours
//! goes on from a file that Java wrote, as Java does from one of ours.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::Members;
use evenkeel_tests::payload::Kind;
use evenkeel_tests::tally::Tally;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const SEED: u64 = 16;
const FIRST: u64 = 400;
const MORE: u64 = 200;
const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn c16_members_of_two_languages_get_everything_and_read_each_others_offsets_on_4_9() {
    scenario(Version::V4);
}

#[test]
fn c16_members_of_two_languages_get_everything_and_read_each_others_offsets_on_5() {
    scenario(Version::V5);
}

/// Removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn scenario(version: Version) {
    let folder = std::env::temp_dir().join(format!("evenkeel-broadcast-{}-{version}", std::process::id()));
    let folder = Folder(folder);
    let path = folder.0.to_str().expect("a plain path").to_owned();
    let cluster = Cluster::start(version, &Options { brokers: 2, ..Options::default() });
    cluster.create_topic("prices", 2);
    let mut peer = Peer::start_with(version, &[&format!("-Drocketmq.client.localOffsetStoreDir={path}")]);
    produce(&mut peer, &cluster, 0, FIRST);

    let mut members = Members::new(&cluster.namesrv(), "caches", "prices");
    let java = consume(&mut peer, &cluster, "java");
    for client in ["127.0.0.1@one", "127.0.0.1@two"] {
        members.start(&["--broadcast", "--offset-dir", &path, "--client-id", client]);
    }
    for tally in ours(&mut members, 2, 0..FIRST) {
        assert_eq!(tally.duplicates(), 0);
    }
    assert_eq!(theirs(&mut peer, 0..FIRST).duplicates(), 0);
    for member in 0..2 {
        assert_eq!(members.stop(member).code, Some(0));
    }
    peer.call(json!({"cmd": "stop", "consumer": java}), MINUTE);

    // Each takes the other's place.
    produce(&mut peer, &cluster, FIRST, MORE);
    let mut heirs = Members::new(&cluster.namesrv(), "caches", "prices");
    heirs.start(&["--broadcast", "--offset-dir", &path, "--client-id", "127.0.0.1@java"]);
    consume(&mut peer, &cluster, "one");
    for tally in ours(&mut heirs, 1, FIRST..FIRST + MORE) {
        assert_eq!(tally.duplicates(), 0);
    }
    assert_eq!(theirs(&mut peer, FIRST..FIRST + MORE).duplicates(), 0);
    assert_eq!(heirs.stop(0).code, Some(0));
    peer.shutdown();
}

fn produce(peer: &mut Peer, cluster: &Cluster, first: u64, count: u64) {
    let done = peer.call(
        json!({"cmd": "produce", "namesrv": cluster.namesrv(), "topic": "prices", "first": first, "count": count, "kind": "text", "seed": SEED}),
        MINUTE,
    );
    assert_eq!(done["sent"], count, "{done}");
}

fn consume(peer: &mut Peer, cluster: &Cluster, instance: &str) -> i64 {
    let id = peer.send(json!({
        "cmd": "consume", "namesrv": cluster.namesrv(), "group": "caches", "topic": "prices", "instance": instance,
        "broadcast": true, "seed": SEED, "kind": "text",
    }));
    let started = peer.answer(id, MINUTE).expect("a started Java consumer");
    assert_eq!(started["clientId"], format!("127.0.0.1@{instance}"));
    id
}

/// Reads until each of our members has these messages; no others may come.
fn ours(members: &mut Members, count: usize, wanted: std::ops::Range<u64>) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = (0..count).map(|_| Tally::new(SEED, Kind::Text, wanted.end)).collect();
    let complete = |tally: &Tally| tally.distinct() == wanted.end - wanted.start;
    while !tallies.iter().all(complete) {
        let Some((member, line)) = members.next(MINUTE) else {
            panic!("{:?} came; {}", tallies.iter().map(Tally::distinct).collect::<Vec<_>>(), members.tails());
        };
        if line["type"] == "message" {
            let seq = tallies[member].take_ours(&line);
            assert!(wanted.contains(&seq), "member {member} has consumed {seq} before: {line}");
        }
    }
    tallies
}

/// As [`ours`], of the Java member.
fn theirs(peer: &mut Peer, wanted: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::new(SEED, Kind::Text, wanted.end);
    let end = Instant::now() + MINUTE;
    while tally.distinct() < wanted.end - wanted.start {
        assert!(Instant::now() < end, "the Java member has {} messages", tally.distinct());
        let Some(line) = peer.read_line(Duration::from_secs(1)) else { continue };
        if line["type"] == "message" {
            let seq = tally.take_java(&line);
            assert!(wanted.contains(&seq), "the Java member has consumed {seq} before: {line}");
        }
    }
    tally
}
