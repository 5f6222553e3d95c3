//! Every option of the Java client has its counterpart here with the same default, or is told in the manual.

use evenkeel::settings::SETTINGS;
use evenkeel_core::config::{Limits, OPTIONS, OptionKind, OptionRow};
use evenkeel_tests::java::{Peer, Version};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
const PAGE: &str = include_str!("../../../core/src/manual/options.md");

#[test]
fn options_of_java_4_9_are_here_or_told() {
    compare(Version::V4, 35);
}

#[test]
fn options_of_java_5_are_here_or_told() {
    compare(Version::V5, 55);
}

fn compare(version: Version, at_least: usize) {
    let mut peer = Peer::start(version);
    let answer = peer.call(json!({"cmd": "options"}), MINUTE);
    peer.shutdown();
    let java: BTreeMap<String, String> = answer["options"]
        .as_object()
        .expect("options by name")
        .iter()
        .map(|(name, default)| (lower_first(name), default.as_str().expect("a text").to_owned()))
        .collect();
    assert!(java.len() >= at_least, "{} options are too few", java.len());

    let told = names_in("## Java's other options");
    let here = |name: &str| OptionRow::find(name).is_some() || SETTINGS.iter().any(|row| row.java == name);
    let missing: Vec<&String> = java.keys().filter(|name| !here(name) && !told.contains(*name)).collect();
    assert!(missing.is_empty(), "{version}: neither an option here nor told in the manual: {missing:?}");
    let both: Vec<&String> = told.iter().filter(|name| here(name)).collect();
    assert!(both.is_empty(), "told as another one, but an option here: {both:?}");

    let different = names_in("## Other defaults than Java's");
    let found: BTreeSet<String> = OPTIONS
        .iter()
        .filter(|row| java.get(row.java).is_some_and(|default| *default != in_javas_unit(row)))
        .map(|row| row.java.to_owned())
        .collect();
    assert_eq!(found, different, "{version}: options whose defaults differ, and those that the manual tells");
    println!("{version}: {} options, {} told apart", java.len(), told.len());
}

fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn in_javas_unit(row: &OptionRow) -> String {
    let value = row.value(&Limits::default());
    match row.kind {
        OptionKind::Bytes => (value >> 20).to_string(),
        // Its words are not Java's truth values.
        _ if row.java == "clientRebalance" => (row.text(&Limits::default()) == "client").to_string(),
        OptionKind::Choice(_) => row.text(&Limits::default()),
        _ => value.to_string(),
    }
}

/// The names in the first column of the table below a heading.
fn names_in(heading: &str) -> BTreeSet<String> {
    let (_, rest) = PAGE.split_once(heading).expect("the heading");
    let section = rest.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    let names: BTreeSet<String> =
        rows.flat_map(|cell| cell.split(", ").map(|name| name.trim_matches('`').to_owned())).collect();
    assert!(!names.is_empty(), "a table below {heading}");
    names
}
