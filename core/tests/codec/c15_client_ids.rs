//! C15: containers that see one bridge address and pid 1 must still be different members of their group.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use evenkeel_core::wire::client_id::{DEFAULT_INSTANCE, InstanceNames, build};

/// 2026-11-29T00:00Z in nanoseconds.
const NOW: u64 = 1_795_910_400_000_000_000;

fn id(names: &mut InstanceNames, nanos: u64) -> String {
    build("172.17.0.1", &names.clustering(DEFAULT_INSTANCE, 1, nanos), None, false).as_str().to_owned()
}

#[test]
fn two_processes_differ_by_their_clocks() {
    let (mut one, mut other) = (InstanceNames::new(), InstanceNames::new());
    assert_eq!(id(&mut one, NOW), "172.17.0.1@1#1795910400000000000");
    assert_eq!(id(&mut other, NOW + 1), "172.17.0.1@1#1795910400000000001");
}

#[test]
fn consumers_of_one_process_differ_on_a_clock_that_stands_still_or_goes_back() {
    let mut names = InstanceNames::new();
    let clocks = (0..1000).map(|tick| NOW - tick / 2);
    let ids: BTreeSet<String> = clocks.map(|nanos| id(&mut names, nanos)).collect();
    assert_eq!(ids.len(), 1000);
}

/// The control: this is what the generated part is there for.
#[test]
fn chosen_names_are_kept_and_collide() {
    let mut names = InstanceNames::new();
    assert_eq!(names.clustering("blue", 1, NOW), "blue");
    assert_eq!(build("172.17.0.1", "blue", None, false), build("172.17.0.1", "blue", Some(" "), false));
}
