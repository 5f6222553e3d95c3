//! Failed messages come again through the retry topic, later each time, and end in the dead-letter topic.

use evenkeel::{Ack, Consumer, Message, StartFrom};
use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::Members;
use evenkeel_tests::payload::{self, Kind};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

const COUNT: u64 = 60;
const SEED: u64 = 21;
const MINUTE: Duration = Duration::from_secs(60);
const DEAD: &str = "%DLQ%failing";

#[test]
fn errors_and_panics_come_again_and_end_as_dead_letters_on_4_9() {
    scenario(Version::V4);
}

#[test]
fn errors_and_panics_come_again_and_end_as_dead_letters_on_5() {
    scenario(Version::V5);
}

/// What the handler does with a message, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Always fails: by an error, a panic, or asking for it.
    Dies(u64),
    /// Fails at its first two tries.
    Recovers,
    Fine,
}

const fn fate(seq: u64) -> Fate {
    match seq % 10 {
        0..3 => Fate::Dies(seq % 10),
        3 => Fate::Recovers,
        _ => Fate::Fine,
    }
}

/// One call of the handler.
struct Try {
    seq: u64,
    retries: u32,
    body: Vec<u8>,
    topic: String,
    /// When the broker stored this copy.
    stored: i64,
    /// When the handler had it.
    at: i64,
}

fn scenario(version: Version) {
    be_quiet_about_handlers();
    // Level 3 is the first retry's.
    let levels = Some("1s 1s 1s 3s 5s".to_owned());
    let cluster = Cluster::start(version, &Options { delay_levels: levels, ..Options::default() });
    cluster.create_topic("orders", 4);
    let mut peer = Peer::start(version);
    let done = peer.call(
        json!({"cmd": "produce", "namesrv": cluster.namesrv(), "topic": "orders", "count": COUNT, "kind": "text", "seed": SEED}),
        MINUTE,
    );
    assert_eq!((&done["sent"], &done["retried"]), (&json!(COUNT), &json!(0)), "{done}");

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let begin = Instant::now();
    let tries = runtime.expect("a runtime").block_on(consume(&cluster));
    println!(
        "{version}: {} tries of {COUNT} messages in {:?}",
        tries.values().map(Vec::len).sum::<usize>(),
        begin.elapsed()
    );
    check(version, &tries);
    dead_letters(&cluster);
    peer.shutdown();
}

/// Panics of handlers are wanted here: dozens of backtraces would hide those that are not.
fn be_quiet_about_handlers() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>();
        if !text.is_some_and(|text| text.ends_with("no good at all")) {
            usual(panic);
        }
    }));
}

/// Consumes with the library until every message has had all its tries.
async fn consume(cluster: &Cluster) -> BTreeMap<u64, Vec<Try>> {
    let (tell, mut told) = mpsc::unbounded_channel();
    let consumer = Consumer::builder("failing")
        .name_servers(&cluster.namesrv())
        .subscribe("orders", "*")
        .start_from(StartFrom::First)
        .max_retries(2)
        .handler(move |message: Message| {
            let tell = tell.clone();
            async move {
                let seq = number(message.body());
                let retries = message.retries();
                let tried = Try {
                    seq,
                    retries: u32::try_from(retries).unwrap_or(u32::MAX),
                    body: message.body().to_vec(),
                    topic: message.topic().to_owned(),
                    stored: message.stored_at().as_millis(),
                    at: evenkeel::clock::wall().as_millis(),
                };
                // An error only says that the test is over.
                let _ = tell.send(tried);
                match fate(seq) {
                    Fate::Dies(0) => Err(format!("message {seq} is no good").into()),
                    Fate::Dies(1) => panic!("message {seq} is no good at all"),
                    Fate::Dies(_) => Ok(Ack::RetryLater),
                    Fate::Recovers if retries < 2 => Err("not yet".into()),
                    Fate::Recovers | Fate::Fine => Ok(Ack::Done),
                }
            }
        });
    let consumer = consumer.start().await.expect("a started consumer");
    let wanted: u64 = (0..COUNT).map(|seq| if fate(seq) == Fate::Fine { 1 } else { 3 }).sum();
    let mut tries: BTreeMap<u64, Vec<Try>> = BTreeMap::new();
    for number in 0..wanted {
        let tried = tokio::time::timeout(2 * MINUTE, told.recv()).await;
        let tried = tried
            .unwrap_or_else(|_| panic!("only {number} of {wanted} tries came"))
            .expect("a living handler");
        tries.entry(tried.seq).or_default().push(tried);
    }
    let report = consumer.shutdown(MINUTE).await;
    assert_eq!(report.abandoned, 0, "{report:?}");
    let more = told.try_recv().ok().map(|tried| tried.seq);
    assert_eq!(more, None, "a message came a time too often");
    tries
}

fn check(version: Version, tries: &BTreeMap<u64, Vec<Try>>) {
    let mut waits: [Vec<i64>; 2] = [Vec::new(), Vec::new()];
    for (seq, tries) in tries {
        let numbers: Vec<u32> = tries.iter().map(|tried| tried.retries).collect();
        let expected: &[u32] = if fate(*seq) == Fate::Fine { &[0] } else { &[0, 1, 2] };
        assert_eq!(numbers, expected, "message {seq}");
        for tried in tries {
            assert_eq!(tried.body, payload::body(SEED, Kind::Text, *seq), "message {seq}");
            assert_eq!(tried.topic, "orders", "it comes again under its own name");
        }
        for (pair, waits) in tries.windows(2).zip(&mut waits) {
            if let [before, after] = pair {
                waits.push(after.stored - before.at);
            }
        }
    }
    for (waits, least) in waits.iter().zip([1_000, 3_000]) {
        let (shortest, longest) = (waits.iter().min(), waits.iter().max());
        println!("{version}: told to wait {least} ms, came again after {shortest:?} to {longest:?} ms");
        // The broker's clock and ours are the same; its timer may round a little.
        assert!(shortest.is_some_and(|wait| *wait >= least - 100), "{waits:?}");
    }
}

/// The dead letters are on the broker, and a group of their own can read them.
fn dead_letters(cluster: &Cluster) {
    let dead: BTreeSet<u64> = (0..COUNT).filter(|seq| matches!(fate(*seq), Fate::Dies(_))).collect();
    assert_eq!(cluster.max_offset(DEAD, 0, 0), dead.len() as i64);
    let status = cluster.mqadmin(&["topicStatus", "-t", DEAD]);
    let row: Vec<&str> =
        status.lines().filter(|line| line.starts_with("broker-a")).flat_map(str::split_whitespace).collect();
    let max = dead.len().to_string();
    assert_eq!(row.get(..4), Some(&["broker-a", "0", "0", &max][..]), "{status}");

    let mut members = Members::new(&cluster.namesrv(), "undertakers", DEAD);
    let reader = members.start(&["--exit-at-end"]);
    let ended = members.ended(reader, MINUTE);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut read = BTreeSet::new();
    while let Some((_, line)) = members.next(Duration::ZERO) {
        if line["type"] == "message" {
            let body = line["body"].as_str().unwrap_or_default().as_bytes();
            let seq = number(body);
            assert_eq!(body, payload::body(SEED, Kind::Text, seq), "{line}");
            assert!(read.insert(seq), "twice: {line}");
        }
    }
    assert_eq!(read, dead);
    for queue in 0..4 {
        assert_eq!(cluster.committed("failing", "orders", 0, queue), Some(COUNT as i64 / 4));
    }
    let retries = cluster.max_offset("%RETRY%failing", 0, 0);
    assert_eq!(cluster.committed("failing", "%RETRY%failing", 0, 0), Some(retries), "nothing is left to try");
    println!("{}: {} dead letters, {retries} retries", cluster.version(), read.len());
}

fn number(body: &[u8]) -> u64 {
    let text = std::str::from_utf8(body).ok().and_then(|text| text.split(' ').next()?.parse().ok());
    text.unwrap_or_else(|| panic!("no number in {body:?}"))
}
