//! Messages that are not for us: passed over, not forgotten.

use crate::support;

use evenkeel_core::wire::reply::PullStatus;
use evenkeel_core::wire::subscription::Filter;
use support::cluster::{empty, found, message, tagged};
use support::{Cluster, Rig, SECOND, config, queue};

fn rig() -> Rig {
    let mut config = config(&[]);
    config.subscriptions =
        vec![Filter::Tags("paid || refunded".into()).subscribe("T".into()).expect("legal")];
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&queue("T", 0), 10), config);
    rig.hold_pulls();
    rig.advance(SECOND);
    rig
}

/// The broker compares hashes; texts are compared here.
#[test]
fn tags_are_compared_again() {
    let (mut rig, q) = (rig(), queue("T", 0));
    let messages = vec![
        tagged(&q, 10, "paid"),
        tagged(&q, 11, "other"),
        message(&q, 12),
        tagged(&q, 13, "refunded"),
        tagged(&q, 14, "pai"),
    ];
    rig.answer_pull(&q, Ok(found(messages, 15)));
    assert_eq!(rig.delivered(&q), [10, 13]);
    rig.finish_all();
    assert_eq!((rig.view(&q).commit_point, rig.view(&q).next), (Some(15), 15));
}

#[test]
fn an_answer_of_which_nothing_remains() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.answer_pull(&q, Ok(found(vec![tagged(&q, 10, "other")], 11)));
    assert_eq!((rig.view(&q).commit_point, rig.pulled(&q)), (Some(11), vec![10, 11]));
    rig.answer_pull(&q, Ok(empty(PullStatus::NoMatch, 800)));
    assert_eq!((rig.view(&q).commit_point, rig.pulled(&q)), (Some(800), vec![10, 11, 800]));
    rig.advance(5 * SECOND);
    assert_eq!(rig.net.committed[&q], 800);
}

/// What is passed over behind an unfinished message does not pass the commit point over it.
#[test]
fn passed_over_behind_an_open_message() {
    let (mut rig, q) = (rig(), queue("T", 0));
    rig.answer_pull(&q, Ok(found(vec![tagged(&q, 10, "paid")], 11)));
    rig.answer_pull(&q, Ok(empty(PullStatus::NoMatch, 800)));
    assert_eq!(rig.view(&q).commit_point, Some(10));
    rig.finish(&q, 10);
    assert_eq!(rig.view(&q).commit_point, Some(800));
}
