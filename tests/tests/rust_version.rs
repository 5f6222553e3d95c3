//! The rust-version that the manifest promises is the one that the published crates' dependencies ask for, no lower.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

type Version = (u64, u64);

/// The packages that this machine builds; others need not have been downloaded.
fn metadata() -> Value {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let about = Command::new("rustc").arg("-vV").output().expect("rustc runs").stdout;
    let about = String::from_utf8(about).expect("rustc writes text");
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc knows its host");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", host, "--manifest-path"])
        .arg(manifest)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

fn version(package: &Value) -> Version {
    let mut parts =
        package["rust_version"].as_str().unwrap_or("0.0").split('.').filter_map(|part| part.parse().ok());
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// What the named members need at build or run time, tests left out.
fn needed<'a>(metadata: &'a Value, members: &[&str]) -> Vec<&'a Value> {
    let packages: BTreeMap<&str, &Value> =
        list(&metadata["packages"]).map(|package| (text(&package["id"]), package)).collect();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), node)).collect();
    let is_member = |package: &&Value| members.contains(&text(&package["name"]));
    let mut open: Vec<&str> = packages.values().filter(|p| is_member(p)).map(|p| text(&p["id"])).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            let uses = |dependency: &&Value| list(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev");
            open.extend(list(&nodes[id]["deps"]).filter(uses).map(|dependency| text(&dependency["pkg"])));
        }
    }
    seen.into_iter().map(|id| packages[id]).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn no_dependency_asks_for_more_than_the_manifest_promises() {
    let metadata = metadata();
    let needed = needed(&metadata, &["evenkeel", "evenkeel-core"]);
    assert!(needed.len() > 20, "only {} packages were found: the check looks at nothing", needed.len());
    let promised =
        needed.iter().find(|p| p["name"] == "evenkeel").map(|p| version(p)).expect("evenkeel is there");
    let above: Vec<String> = needed
        .iter()
        .filter(|package| version(package) > promised)
        .map(|package| format!("{} {}", package["name"], package["rust_version"]))
        .collect();
    assert!(above.is_empty(), "rust-version is {promised:?}, but these need more: {above:?}");
}

/// Control: with what only tests use, the promise would not hold, so the check does see versions.
#[test]
fn a_higher_version_is_seen() {
    let metadata = metadata();
    let highest = list(&metadata["packages"]).map(version).max().expect("packages");
    let needed = needed(&metadata, &["evenkeel", "evenkeel-core"]);
    let promised = needed.iter().map(|package| version(package)).max().expect("packages");
    assert!(
        highest > promised,
        "no package asks for more than {promised:?}: the comparison was not exercised"
    );
}
