//! Core's strategies against Java's own classes, live: thousands of random groups with odd names, and every answer equal.
//!
//! Both sides are given the same lists in a random order and sort them themselves, so that the order is compared too.
//! For each member what it is given is compared, in order; and what the whole group gets at once. Java's errors have to
//! be errors of core, of the matching kind.
//!
//! ```text
//! EVENKEEL_SEED=42 EVENKEEL_CASES=100000 cargo test -p evenkeel-tests --profile proof --test rocketmq allocations
//! ```

mod cases;
mod compare;
mod names;

use cases::{Case, Rule};
use compare::{Tally, differences};
use evenkeel_core::rng::Rng;
use evenkeel_tests::java::{Allocator, Version};

#[test]
fn core_answers_as_java_4_9_does() {
    agree(Version::V4);
}

#[test]
fn core_answers_as_java_5_does() {
    agree(Version::V5);
}

/// `EVENKEEL_SEED`, or the seed of the day; printed in any case.
fn seed() -> u64 {
    number("EVENKEEL_SEED")
        .unwrap_or_else(|| std::time::UNIX_EPOCH.elapsed().expect("a clock after 1970").as_secs() / 86_400)
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}")))
}

fn agree(version: Version) {
    let (seed, count) = (seed(), number("EVENKEEL_CASES").unwrap_or(11_000));
    println!("{version}: {count} cases of seed {seed}");
    let (mut java, mut tally) = (Allocator::start(version), Tally::default());
    for number in 0..count {
        let case = Case::of(seed, number);
        let found = differences(&case, &java.ask(&case.for_java()), &mut tally);
        assert!(
            found.is_empty(),
            "Java {version} and core differ in case {number} of EVENKEEL_SEED={seed}:\n{}\n{}",
            found.join("\n"),
            case.for_java()
        );
    }
    println!("{version}: {tally:#?}");
    // What a run is to have met; less says that the generator has lost a kind of case.
    assert_eq!(tally.cases, count);
    if count >= 10_000 {
        tally.assert_varied();
    }
}

/// Control: another strategy on Java's side is noticed, whichever it is, in nearly every group that can tell.
#[test]
fn another_strategy_is_noticed() {
    let mut java = Allocator::start(Version::V5);
    let others = [Rule::Average, Rule::Circle, Rule::Hash { virtual_nodes: 10 }];
    for mine in &others {
        for theirs in others.iter().filter(|theirs| *theirs != mine) {
            let noticed = (0..100).filter(|&number| {
                let case = Case::sound(&mut Rng::new(number), mine.clone());
                let answer = java.ask(&Case { rule: theirs.clone(), ..case.clone() }.for_java());
                let found = differences(&case, &answer, &mut Tally::default());
                // The names alone would tell: only shares count here.
                found.iter().any(|difference| difference.contains("is given"))
            });
            let noticed = noticed.count();
            assert!(noticed > 90, "{theirs:?} in Java for {mine:?} was noticed in {noticed} of 100 groups");
        }
    }
}

/// Control: one queue that Java gives to one member more, or one less, is noticed.
#[test]
fn a_single_queue_is_noticed() {
    let mut java = Allocator::start(Version::V5);
    for number in 0..50 {
        let case = Case::sound(&mut Rng::new(number), Rule::Average);
        let answer = java.ask(&case.for_java());
        assert_eq!(differences(&case, &answer, &mut Tally::default()), [""; 0]);
        let mut changed = answer.clone();
        let share = changed["shares"][0].as_array_mut().expect("a share");
        if share.pop().is_none() {
            share.push(0.into());
        }
        assert!(!differences(&case, &changed, &mut Tally::default()).is_empty(), "{changed}");
    }
}
