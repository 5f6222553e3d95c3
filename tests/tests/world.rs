//! Whole groups in virtual time: some hundred seeds, a run-twice check, and planted faults that must be found.

use evenkeel_tests::world::mutant::Mutant;
use evenkeel_tests::world::{Plan, Report, run};
use std::fmt::Write;

/// Seeds of the fixed set. `EVENKEEL_SEEDS=20000` runs more.
fn seeds() -> u64 {
    std::env::var("EVENKEEL_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(400)
}

fn failure(seed: u64, report: &Report) -> String {
    let mut text = format!("seed {seed}: {} verdicts\n", report.verdicts.len());
    for verdict in report.verdicts.iter().take(5) {
        let _ = writeln!(text, "  {verdict}");
    }
    let _ = writeln!(
        text,
        "again: EVENKEEL_SEED={seed} cargo test -p evenkeel-tests --test world one_seed -- --nocapture"
    );
    text
}

/// One owner after quiet, nothing lost, no commit past unfinished work, bounded memory, no life after an epoch's end.
#[test]
fn groups_keep_their_invariants_through_trouble() {
    let (mut sent, mut duplicates, mut steps) = (0, 0, 0);
    let mut failures = String::new();
    let mut failed = 0;
    for seed in 0..seeds() {
        let report = run(&Plan::of(seed));
        (sent, duplicates, steps) =
            (sent + report.sent, duplicates + report.duplicates, steps + report.steps);
        if !report.verdicts.is_empty() {
            failed += 1;
            if failed <= 10 {
                failures += &failure(seed, &report);
            }
        }
    }
    println!("{} seeds, {sent} messages, {duplicates} completed again, {steps} steps", seeds());
    assert!(failed == 0, "{failed} seeds failed\n{failures}");
}

/// The same with slow handlers and a group that hardly ever stands still.
#[test]
fn rough_groups_keep_them_too() {
    for seed in 0..seeds() / 4 {
        let report = run(&Plan { rough: true, ..Plan::of(seed) });
        assert!(report.verdicts.is_empty(), "rough {}", failure(seed, &report));
    }
}

/// Under locks: besides all that, one worker for each queue, and nothing begins while something before it is open.
#[test]
fn orderly_groups_keep_their_order() {
    let (mut sent, mut duplicates) = (0, 0);
    for seed in 0..seeds() / 2 {
        let report = run(&Plan { orderly: true, ..Plan::of(seed) });
        (sent, duplicates) = (sent + report.sent, duplicates + report.duplicates);
        assert!(report.verdicts.is_empty(), "orderly {}", failure(seed, &report));
    }
    println!("{} seeds, {sent} messages, {duplicates} completed again", seeds() / 2);
}

/// Joins, leaves, cut connections, lost and refused answers: nothing comes twice.
#[test]
fn groups_that_hand_over_exclusively_have_no_message_twice() {
    let mut sent = 0;
    for seed in 0..seeds() / 2 {
        for rough in [false, true] {
            let plan = Plan { exclusive_handover: true, graceful: true, rough, ..Plan::of(seed) };
            let report = run(&plan);
            sent += report.sent;
            assert!(
                report.verdicts.is_empty(),
                "graceful, exclusive, rough {rough}, {}",
                failure(seed, &report)
            );
            assert_eq!(report.duplicates, 0);
        }
    }
    println!("{sent} messages, none twice");
}

/// Control for the above: the same worlds with the option off.
#[test]
fn without_it_messages_come_twice() {
    let (mut sent, mut duplicates) = (0, 0);
    for seed in 0..seeds() / 8 {
        for rough in [false, true] {
            let report = run(&Plan { graceful: true, rough, ..Plan::of(seed) });
            assert!(report.verdicts.is_empty(), "graceful, rough {rough}, {}", failure(seed, &report));
            (sent, duplicates) = (sent + report.sent, duplicates + report.duplicates);
        }
    }
    println!("{sent} messages, {duplicates} completed again");
    assert!(duplicates > 0);
}

/// Kills and all: one member for each queue, and nothing lost.
#[test]
fn groups_that_hand_over_exclusively_keep_their_invariants() {
    let (mut sent, mut duplicates) = (0, 0);
    for seed in 0..seeds() / 4 {
        for rough in [false, true] {
            let report = run(&Plan { exclusive_handover: true, rough, ..Plan::of(seed) });
            assert!(report.verdicts.is_empty(), "exclusive, rough {rough}, {}", failure(seed, &report));
            (sent, duplicates) = (sent + report.sent, duplicates + report.duplicates);
        }
    }
    println!("{sent} messages, {duplicates} completed again");
}

/// The seed of the day: a little new ground each day, printed so that it can be run again.
#[test]
fn the_seed_of_the_day() {
    let day = std::time::UNIX_EPOCH.elapsed().expect("a clock after 1970").as_secs() / 86_400;
    let seed = 1_000_000 + day;
    println!("seed {seed}");
    let report = run(&Plan::of(seed));
    assert!(report.verdicts.is_empty(), "{}", failure(seed, &report));
}

#[test]
fn same_seed_same_log() {
    for seed in [1, 7, 42, 99] {
        let (first, second) = (run(&Plan::of(seed)), run(&Plan::of(seed)));
        assert_eq!(first.hash, second.hash, "seed {seed} gave two different logs");
        assert_ne!(first.hash, 0);
    }
    assert_ne!(run(&Plan::of(1)).hash, run(&Plan::of(2)).hash, "the log does not depend on the seed");
}

/// Replays one seed with its log: `EVENKEEL_SEED=42`, and `EVENKEEL_ROUGH=1`, `EVENKEEL_ORDERLY=1`, `EVENKEEL_EXCLUSIVE=1`,
/// `EVENKEEL_GRACEFUL=1` if it was such a one.
#[test]
fn one_seed() {
    let Some(seed) = std::env::var("EVENKEEL_SEED").ok().and_then(|text| text.parse().ok()) else { return };
    let set = |name: &str| std::env::var(name).is_ok();
    let plan = Plan {
        keep_log: true,
        rough: set("EVENKEEL_ROUGH"),
        orderly: set("EVENKEEL_ORDERLY"),
        exclusive_handover: set("EVENKEEL_EXCLUSIVE"),
        graceful: set("EVENKEEL_GRACEFUL"),
        ..Plan::of(seed)
    };
    let report = run(&plan);
    for line in &report.log {
        println!("{line}");
    }
    println!("{plan:#?}");
    assert!(report.verdicts.is_empty(), "{}", failure(seed, &report));
}

/// Controls: each planted fault has to be found by some of a few seeds.
fn assert_found(mutant: Mutant, says: &str) {
    assert_found_in(mutant, says, |seed| Plan { rough: true, ..Plan::of(seed) });
}

fn assert_found_in(mutant: Mutant, says: &str, plan: fn(u64) -> Plan) {
    let found = (0..400).find_map(|seed| {
        let report = run(&Plan { mutant: Some(mutant), ..plan(seed) });
        report.verdicts.into_iter().find(|verdict| verdict.what.contains(says)).map(|verdict| (seed, verdict))
    });
    match found {
        Some((seed, verdict)) => println!("{mutant:?} was found by seed {seed}: {verdict}"),
        None => panic!("{mutant:?} went unnoticed"),
    }
}

#[test]
fn an_ignored_epoch_is_found() {
    assert_found(Mutant::IgnoredEpoch, "is not done");
}

#[test]
fn a_commit_of_the_maximum_is_found() {
    assert_found(Mutant::CommitOfTheMaximum, "is not done");
}

#[test]
fn a_deaf_member_is_found() {
    assert_found(Mutant::DeafMember, "has the owners");
}

#[test]
fn an_imagined_lock_is_found() {
    assert_found_in(Mutant::ImaginedLock, "works on", |seed| Plan { orderly: true, ..Plan::of(seed) });
    let exclusive = |seed| Plan { exclusive_handover: true, graceful: true, rough: true, ..Plan::of(seed) };
    assert_found_in(Mutant::ImaginedLock, "works on", exclusive);
    assert_found_in(Mutant::ImaginedLock, "came twice", exclusive);
}

#[test]
fn a_swallowed_message_is_found() {
    assert_found(Mutant::SwallowedMessage, "is not done");
    assert_found_in(Mutant::SwallowedMessage, "is open", |seed| Plan { orderly: true, ..Plan::of(seed) });
}
