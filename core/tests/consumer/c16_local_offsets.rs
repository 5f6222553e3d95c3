//! C16: the offsets of a broadcasting consumer have no other copy. The file itself is written and read in
//! `native/tests/broadcasting.rs`.

use crate::support;

use evenkeel_core::consumer::{Event, Input};
use evenkeel_core::model::MessageQueue;
use evenkeel_core::time::Instant;
use evenkeel_core::wire::request::MessageModel;
use std::collections::BTreeMap;
use support::{Cluster, Rig, SECOND, config, queue};

fn far() -> MessageQueue {
    MessageQueue::new("T", "b", 0)
}

/// `broker-a` 0 at 10 with five messages behind it, `broker-b` 0 at 20, as the file says.
fn rig() -> Rig {
    let (a, b) = (queue("T", 0), far());
    let mut net = Cluster::one("T", 1).with_stored(&a, 10, 5);
    net.topic("T", &[("a", 1), ("b", 1)]);
    let mut config = config(&["T"]);
    config.model = MessageModel::Broadcasting;
    let mut rig = Rig::with_offsets(net, config, [(a, 10), (b, 20)].into());
    rig.advance(SECOND);
    rig
}

#[test]
fn c16_the_offset_of_an_absent_broker_is_kept() {
    let (mut rig, a, b) = (rig(), queue("T", 0), far());
    assert_eq!((rig.pulled(&a)[0], rig.pulled(&b)), (10, vec![20]));

    rig.net.topic("T", &[("a", 1)]);
    rig.advance(31 * SECOND);
    assert!(support::view(&rig.consumer, &b).is_none(), "its broker is not in the route");
    rig.finish_all();
    rig.advance(6 * SECOND);
    assert_eq!(rig.saves.last(), Some(&BTreeMap::from([(a.clone(), 15), (b.clone(), 20)])));

    rig.net.topic("T", &[("a", 1), ("b", 1)]);
    let pulls = rig.pulled(&b).len();
    rig.advance(31 * SECOND);
    assert_eq!(rig.pulled(&b)[pulls..][0], 20, "it goes on where it was");
}

/// A start behind what is stored is an offset, too: after a crash nothing that came since is passed over.
#[test]
fn c16_a_start_without_an_offset_is_written_at_once() {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    config.model = MessageModel::Broadcasting;
    let mut rig = Rig::with_offsets(Cluster::one("T", 1).with_stored(&q, 0, 7), config, BTreeMap::new());
    rig.advance(SECOND);
    assert_eq!(rig.saves, [BTreeMap::from([(q.clone(), 7)])]);
    assert_eq!(rig.view(&q).committed, Some(7));
}

#[test]
fn c16_a_write_that_fails_is_told_and_tried_again() {
    let (mut rig, a) = (rig(), queue("T", 0));
    rig.disk_full = true;
    rig.finish_all();
    rig.advance(11 * SECOND);
    assert_eq!(rig.saves.len(), 2, "once a round");
    assert_eq!(rig.saw(|event| matches!(event, Event::SaveFailed { attempt: 1 | 2, .. })), 2);
    assert_eq!((rig.view(&a).commit_point, rig.view(&a).committed), (Some(15), Some(10)));
    rig.disk_full = false;
    rig.advance(5 * SECOND);
    assert_eq!(rig.view(&a).committed, Some(15));
}

/// What changes while a write is under way follows with the next one, and never beside it.
#[test]
fn c16_one_write_at_a_time() {
    let (mut rig, a) = (rig(), queue("T", 0));
    rig.slow_disk = Some(20 * SECOND);
    rig.finish(&a, 10);
    rig.advance(6 * SECOND);
    rig.finish_all();
    rig.advance(10 * SECOND);
    assert_eq!(rig.saves.iter().map(|save| save[&a]).collect::<Vec<_>>(), [11]);
    rig.advance(10 * SECOND);
    assert_eq!(rig.saves.iter().map(|save| save[&a]).collect::<Vec<_>>(), [11, 15]);
}

#[test]
fn c16_a_stop_writes_before_it_unregisters() {
    let (mut rig, a) = (rig(), queue("T", 0));
    rig.finish_all();
    let calls = rig.calls.len();
    rig.stop(SECOND);
    assert_eq!(rig.saves.last().map(|save| save[&a]), Some(15));
    assert_eq!(rig.calls.len(), calls, "nobody is told before the file has it");
    rig.advance(SECOND);
    assert!(rig.consumer.is_stopped());
    let committed = rig.events.iter().find_map(|(_, event)| match event {
        Event::Stopped { committed, .. } => Some(committed.clone()),
        _ => None,
    });
    assert_eq!(committed, Some(vec![(a, 15), (far(), 20)]));
}

/// A disk that does not work holds up nobody for ever.
#[test]
fn c16_a_stop_ends_without_a_disk() {
    let mut rig = rig();
    rig.slow_disk = Some(600 * SECOND);
    rig.finish_all();
    rig.stop(SECOND);
    rig.advance(10 * SECOND);
    assert!(rig.consumer.is_stopped());
}

/// Whoever drives the machine confirms a write that nobody asked for: nothing happens.
#[test]
fn c16_a_strange_confirmation_changes_nothing() {
    let mut rig = rig();
    rig.input(Input::Saved { result: Ok(()) });
    assert_eq!(rig.view(&queue("T", 0)).committed, Some(10));
    assert!(rig.now > Instant::ZERO && rig.saves.is_empty());
}
