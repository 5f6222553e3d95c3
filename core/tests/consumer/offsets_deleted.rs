//! The broker has deleted what follows the messages that we hold (retention): these are good and get finished.

use crate::support;

use evenkeel_core::consumer::Event;
use evenkeel_core::wire::reply::PullStatus;
use support::cluster::{empty, range};
use support::{Cluster, Pulled, Rig, SECOND, config, queue};

/// 1. Ten messages are pulled; handlers have not finished them.
/// 2. The next pull is told that offset 110 is gone and that the first one is 5000.
/// 3. The ten are finished. Only then does the commit point jump.
#[test]
fn what_was_pulled_is_finished() {
    let q = queue("T", 0);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 100), config(&["T"]));
    rig.hold_pulls();
    rig.advance(SECOND);
    rig.answer_pull(&q, Ok(range(&q, 100, 110)));
    rig.answer_pull(&q, Ok(Pulled { min: 5000, ..empty(PullStatus::OffsetIllegal, 5000) }));
    assert_eq!(rig.pulled(&q), [100, 110, 5000]);
    assert_eq!(rig.view(&q).commit_point, Some(100), "nothing is done yet");
    rig.advance(6 * SECOND);
    assert_eq!(rig.net.committed[&q], 100, "unfinished work is not passed over");
    rig.finish_all();
    assert_eq!(rig.view(&q).commit_point, Some(5000));
    rig.advance(6 * SECOND);
    assert_eq!(rig.net.committed[&q], 5000);
    assert_eq!(rig.saw(|e| matches!(e, Event::OffsetReset { from: 110, to: 5000, .. })), 1);
    assert_eq!(rig.saw(|e| matches!(e, Event::QueueEnded { .. })), 0, "it is the same life");
}
