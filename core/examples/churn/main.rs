//! How much moves: AVG, AVG_BY_CIRCLE, CONSISTENT_HASH and AVG_BY_DRAFT in random groups, held against the targets.
//!
//! ```text
//! cargo run --release -p evenkeel-core --example churn                 # everything, about a minute
//! cargo run --release -p evenkeel-core --example churn -- quick        # fewer groups
//! cargo run --release -p evenkeel-core --example churn -- times        # nothing but the times
//! cargo run --release -p evenkeel-core --example churn -- --markdown   # all but the times, as the manual has it
//! ```
//!
//! Prints tables in Markdown, and at the end each target with `ok` or `FAIL`; ends with 1 if one failed. The groups
//! follow from a fixed seed, so that only the times differ from run to run. `core/src/manual/churn.md` is what
//! `--markdown` prints; `core/tests/churn` holds the file to it.

mod even;
mod groups;
mod moves;
mod targets;

use std::process::ExitCode;

use evenkeel_core::allocate::{Allocate, Average, Circle, ConsistentHash, Draft};

use crate::moves::{Churn, SIZES};
use crate::targets::Targets;

/// The head of the manual's page.
const HEAD: &str = "# How much moves

Made by `cargo run --release -p evenkeel-core --example churn -- --markdown`, not by hand: random groups with names like
those of real ones, the same for every strategy, from a fixed seed. [`draft`](crate::manual::draft) says what follows from it,
[`figures`](crate::manual::figures) what it takes in time.

Columns: queues, members. Floor: the fewest moves to an even result from the same start. A ring is not even, so that the
floor says nothing about it.";

fn main() -> ExitCode {
    let asked = |word: &str| std::env::args().any(|argument| argument == word);
    let (quick, markdown) = (asked("quick"), asked("--markdown"));
    let few = if quick { 10 } else { 1 };
    let rings = ConsistentHash::default();
    let draft = Draft::default();
    let strategies: [&dyn Allocate; 4] = [&Average, &Circle, &rings, &draft];
    let mut targets = Targets::default();
    if asked("times") {
        even::times(&strategies, &mut targets);
        return end(targets);
    }
    println!("{HEAD}");
    let churn: Vec<[Churn; 4]> = SIZES
        .iter()
        .map(|&(size, groups)| {
            strategies.map(|strategy| moves::measure(strategy, size, (groups / few).max(2)))
        })
        .collect();
    let sizes = SIZES.map(|(size, _)| size);

    print!("{}", moves::tables(&strategies, &sizes, &churn));
    targets.churn(&sizes, &churn);
    print!("{}", even::over_remainders(&mut targets, if quick { 2 } else { 10 }));
    print!("{}", even::over_topics(&strategies, &mut targets));
    even::always(&mut targets, 100_000 / few);
    even::in_rooms(&mut targets, 5_000 / few);
    if !markdown {
        even::times(&strategies, &mut targets);
    }
    end(targets)
}

fn end(targets: Targets) -> ExitCode {
    let (table, code) = targets.table();
    print!("{table}");
    code
}
