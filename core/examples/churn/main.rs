//! How much moves: AVG, AVG_BY_CIRCLE, CONSISTENT_HASH and AVG_BY_DRAFT in random groups, held against the targets.
//!
//! ```text
//! cargo run --release -p evenkeel-core --example churn            # everything, about a minute
//! cargo run --release -p evenkeel-core --example churn -- quick   # fewer groups
//! cargo run --release -p evenkeel-core --example churn -- times   # nothing but the times
//! ```
//!
//! Prints tables in Markdown, and at the end each target with `ok` or `FAIL`; ends with 1 if one failed. The groups
//! follow from a fixed seed, so that only the times differ from run to run.

mod even;
mod groups;
mod moves;
mod targets;

use std::process::ExitCode;

use evenkeel_core::allocate::{Allocate, Average, Circle, ConsistentHash, Draft};

use crate::groups::Size;
use crate::moves::Churn;
use crate::targets::Targets;

fn main() -> ExitCode {
    let asked = |word: &str| std::env::args().any(|argument| argument == word);
    let quick = asked("quick");
    let few = if quick { 10 } else { 1 };
    let sizes = [
        (Size { queues: 8, per_broker: 4, members: 3 }, 600),
        (Size { queues: 16, per_broker: 8, members: 5 }, 600),
        (Size { queues: 64, per_broker: 8, members: 10 }, 400),
        (Size { queues: 128, per_broker: 16, members: 16 }, 300),
        (Size { queues: 1024, per_broker: 16, members: 64 }, 60),
        (Size { queues: 1024, per_broker: 16, members: 100 }, 60),
        (Size { queues: 10_000, per_broker: 100, members: 300 }, 10),
    ];
    let rings = ConsistentHash::default();
    let draft = Draft::default();
    let strategies: [&dyn Allocate; 4] = [&Average, &Circle, &rings, &draft];
    let mut targets = Targets::default();
    if asked("times") {
        even::times(&strategies, &mut targets);
        return targets.print();
    }
    let churn: Vec<[Churn; 4]> = sizes
        .iter()
        .map(|&(size, groups)| {
            strategies.map(|strategy| moves::measure(strategy, size, (groups / few).max(2)))
        })
        .collect();
    let sizes = sizes.map(|(size, _)| size);

    moves::print(&strategies, &sizes, &churn);
    targets.churn(&sizes, &churn);
    even::over_remainders(&mut targets, if quick { 2 } else { 10 });
    even::over_topics(&strategies, &mut targets);
    even::always(&mut targets, 100_000 / few);
    even::in_rooms(&mut targets, 5_000 / few);
    even::times(&strategies, &mut targets);
    targets.print()
}
