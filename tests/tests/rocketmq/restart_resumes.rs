//! A restart goes on where the group has committed: nothing is skipped, and after a clean stop nothing comes again.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::Members;
use evenkeel_tests::payload::Kind;
use evenkeel_tests::tally::Tally;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

const COUNT: u64 = 100;
const SEED: u64 = 5;
const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_restart_goes_on_at_the_committed_offset_on_4_9() {
    scenarios(Version::V4);
}

#[test]
fn a_restart_goes_on_at_the_committed_offset_on_5() {
    scenarios(Version::V5);
}

fn scenarios(version: Version) {
    let cluster = Cluster::start(version, &Options::default());
    cluster.create_topic("orders", 1);
    let mut peer = Peer::start(version);
    let done = peer.call(
        json!({"cmd": "produce", "namesrv": cluster.namesrv(), "topic": "orders", "count": COUNT, "kind": "text", "seed": SEED}),
        MINUTE,
    );
    assert_eq!((&done["sent"], &done["retried"]), (&json!(COUNT), &json!(0)), "{done}");
    c12_finish_commit_leave(&cluster);
    c12_a_handler_that_never_ends(&cluster);
    restarts_under_load(&cluster, &mut peer);
    peer.shutdown();
}

/// C12, first run: one message takes 200 ms, the stop comes while offset 10 is with its handler, and a second member
/// waits for the only queue.
fn c12_finish_commit_leave(cluster: &Cluster) {
    let version = cluster.version();
    let mut members = Members::new(&cluster.namesrv(), "c12", "orders");
    // What the program prints goes to the command's stdout: one line before and one after the work.
    let told = r#"printf '{"type":"%s","offset":%s}\n'"#;
    let work = format!("{told} begun $RMQ_OFFSET; sleep 0.2; {told} done $RMQ_OFFSET");
    let slow = members.start(&["--client-id", "a", "--concurrency", "1", "--exec", &work]);
    assert!(members.settle(MINUTE, |owners| owners[&slow].len() == 1), "{}", members.tails());
    // One at a time as well: of handlers side by side any may be the first to print.
    let second = members.start(&["--client-id", "b", "--concurrency", "1"]);

    let mut finished = 0;
    wait_for(&mut members, |_, line| {
        finished += i64::from(line["type"] == "done");
        (line["type"] == "begun" && line["offset"] == 10).then_some(())
    });
    let stop = Instant::now();
    members.terminate(slow);
    let mut tally = Tally::new(SEED, Kind::Text, COUNT);
    let first = wait_for(&mut members, |member, line| {
        finished += i64::from(line["type"] == "done");
        assert!(line["type"] != "message" || member == second, "{line}");
        (line["type"] == "message").then(|| line.clone())
    });
    let taken_over = stop.elapsed();
    assert_eq!(first["queueOffset"], finished, "the second member begins where the first one ended: {first}");
    let ended = members.ended(slow, MINUTE);
    let shutdown = ended.shutdown.unwrap_or_default();
    assert_eq!((ended.code, &shutdown["abandoned"]), (Some(0), &json!(0)), "{}", ended.stderr);

    tally.take_ours(&first);
    let rest = COUNT - finished as u64;
    while tally.distinct() < rest {
        let line = wait_for(&mut members, |_, line| (line["type"] == "message").then(|| line.clone()));
        tally.take_ours(&line);
    }
    assert_eq!((tally.duplicates(), tally.missing()), (0, finished as u64));
    println!(
        "{version}: stopped at {finished} of {COUNT}, the next member's first message {taken_over:?} after SIGTERM; {shutdown}"
    );
    let ended = members.stop(second);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(cluster.committed("c12", "orders", 0, 0), Some(COUNT as i64));

    // Nothing is left: a third life of the group sees only what is new.
    let third = members.start(&["--exit-at-end"]);
    let ended = members.ended(third, MINUTE);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    while let Some((_, line)) = members.next(Duration::ZERO) {
        assert_ne!(line["type"], "message", "{line}");
    }
}

/// C12, second run: the handler of offset 10 never ends, the grace is a second.
fn c12_a_handler_that_never_ends(cluster: &Cluster) {
    let version = cluster.version();
    let gate = std::env::temp_dir().join(format!("evenkeel-gate-{}-{version}", std::process::id()));
    let mut members = Members::new(&cluster.namesrv(), "c12-stuck", "orders");
    let work = format!(
        "if [ $RMQ_OFFSET = 10 ]; then echo '{{\"type\":\"stuck\"}}'; exec >/dev/null 2>&1; \
         while [ ! -e {} ]; do sleep 0.1; done; fi",
        gate.display()
    );
    let stuck = members.start(&["--concurrency", "1", "--drain-timeout", "1s", "--exec", &work]);
    wait_for(&mut members, |_, line| (line["type"] == "stuck").then_some(()));
    let stop = Instant::now();
    members.terminate(stuck);
    // The handler would be there for minutes.
    let ended = members.ended(stuck, MINUTE);
    let took = stop.elapsed();
    fs::write(&gate, "").expect("the file that ends the handler");
    assert_eq!(ended.code, Some(9), "{}", ended.stderr);
    assert_eq!(ended.shutdown.unwrap_or_default()["abandoned"], 1);
    assert_eq!(cluster.committed("c12-stuck", "orders", 0, 0), Some(10), "not beyond what is done");
    println!("{version}: a stuck handler and a grace of 1 s: left after {took:?}");
    let again = members.start(&["--count", "1", "--concurrency", "1"]);
    let first = wait_for(&mut members, |_, line| (line["type"] == "message").then(|| line.clone()));
    assert_eq!(first["queueOffset"], 10, "{first}");
    assert_eq!(members.ended(again, MINUTE).code, Some(0));
    // The script looks for it ten times a second.
    std::thread::sleep(Duration::from_millis(500));
    fs::remove_file(&gate).expect("the file that ended the handler");
}

/// Members come and go one after the other while messages are sent; between them nobody is there.
fn restarts_under_load(cluster: &Cluster, peer: &mut Peer) {
    const LOAD: u64 = 4_000;
    cluster.create_topic("bills", 4);
    let mut members = Members::new(&cluster.namesrv(), "restarts", "bills");
    let producing = peer.send(json!({
        "cmd": "produce", "namesrv": cluster.namesrv(), "topic": "bills", "count": LOAD, "kind": "text", "seed": SEED, "rate": 1000,
    }));
    let mut tally = Tally::new(SEED, Kind::Text, LOAD);
    let mut lives = 0;
    while tally.missing() > 0 {
        let member = members.start(&[]);
        lives += 1;
        let enough = (tally.distinct() + 700).min(LOAD);
        while tally.distinct() < enough {
            let line = wait_for(&mut members, |_, line| (line["type"] == "message").then(|| line.clone()));
            tally.take_ours(&line);
        }
        let ended = members.stop(member);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        while let Some((_, line)) = members.next(Duration::ZERO) {
            if line["type"] == "message" {
                tally.take_ours(&line);
            }
        }
    }
    let done = peer.answer(producing, MINUTE).expect("a producer that has sent everything");
    assert_eq!((&done["retried"], tally.duplicates()), (&json!(0), 0), "a clean stop repeats nothing");
    println!("{}: {LOAD} messages in {lives} lives, none twice", cluster.version());
}

/// The first line of which `wanted` makes something.
fn wait_for<T>(members: &mut Members, mut wanted: impl FnMut(usize, &Value) -> Option<T>) -> T {
    let end = Instant::now() + MINUTE;
    while let Some((member, line)) = members.next(end.saturating_duration_since(Instant::now())) {
        if let Some(found) = wanted(member, &line) {
            return found;
        }
    }
    panic!("it did not come within {MINUTE:?}; {}", members.tails());
}
