//! The manual's page on churn is what the program of that name prints.
//!
//! The whole takes a minute of optimised code; here the program's own modules make the columns of the smallest groups
//! again, with all their groups, and every cell has to be on the page.

#[path = "../../examples/churn/groups.rs"]
mod groups;
#[path = "../../examples/churn/moves.rs"]
mod moves;

use evenkeel_core::allocate::{Allocate, Average, Circle, ConsistentHash, Draft};
use moves::{Churn, SIZES};

/// Sizes that an unoptimised build gets through in some seconds.
const SMALL: usize = 2;

const PAGE: &str = include_str!("../../src/manual/churn.md");

fn small_tables(groups_of: impl Fn(usize) -> usize) -> String {
    let (rings, draft) = (ConsistentHash::default(), Draft::default());
    let strategies: [&dyn Allocate; 4] = [&Average, &Circle, &rings, &draft];
    let small = &SIZES[..SMALL];
    let churn: Vec<[Churn; 4]> = small
        .iter()
        .map(|&(size, groups)| strategies.map(|strategy| moves::measure(strategy, size, groups_of(groups))))
        .collect();
    moves::tables(&strategies, &small.iter().map(|(size, _)| *size).collect::<Vec<_>>(), &churn)
}

/// The lines of `tables`, each with the title above it, that the page does not begin a line with under that title.
fn missing(tables: &str) -> Vec<String> {
    let mut title = "";
    let mut missing = Vec::new();
    for line in tables.lines().filter(|line| !line.is_empty() && !line.starts_with("|---")) {
        if line.starts_with("### ") {
            title = line;
        }
        let section =
            PAGE.split(title).nth(1).and_then(|rest| rest.split("\n### ").next()).unwrap_or_default();
        let begins = line.strip_suffix('|').unwrap_or(line);
        if line != title && !section.lines().any(|on_page| on_page.starts_with(begins)) {
            missing.push(format!("{title}: {line}"));
        }
    }
    missing
}

#[test]
fn the_page_has_what_the_program_prints() {
    let tables = small_tables(|groups| groups);
    let cells = tables.lines().filter(|line| line.starts_with("| A") || line.starts_with("| C")).count();
    assert_eq!(cells, 6 * 4, "six tables of four strategies:\n{tables}");
    let missing = missing(&tables);
    assert!(
        missing.is_empty(),
        "core/src/manual/churn.md is not what `cargo run --release -p evenkeel-core --example churn -- --markdown` \
         prints: {missing:#?}"
    );
    assert!(PAGE.contains(" targets, 0 failed."), "the page was made by a run that failed");
}

/// Control: with other groups the numbers are others, and the page does not have them.
#[test]
fn other_numbers_are_missed() {
    let missing = missing(&small_tables(|groups| groups / 20));
    assert!(missing.len() > 10, "only {} of 24 lines were missed", missing.len());
}
