//! Figures of a member for operators: round-trip times and rates of the last minute, failures of the last hour.

use crate::support;

use evenkeel_core::consumer::{Failure, Input, Outcome};
use evenkeel_core::model::Topic;
use evenkeel_core::time::Duration;
use evenkeel_core::wire::peer::{Answer, ConsumeStatus, PeerRequest};
use std::collections::BTreeMap;
use support::cluster::group;
use support::{Cluster, MS, Rig, SECOND, config, queue};

/// Queue 0 with 60 messages to be had at once.
fn rig(work: Option<Duration>) -> Rig {
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&queue("T", 0), 0, 60), config(&["T"]));
    rig.work = work;
    rig
}

fn status(rig: &mut Rig) -> BTreeMap<Topic, ConsumeStatus> {
    let request = PeerRequest::RunningInfo { reply: 7, group: group(), client: "me".into() };
    rig.input(Input::Peer { from: "a:10911".into(), request });
    match rig.answers.pop() {
        Some((_, _, Answer::RunningInfo(info))) => info.status,
        other => panic!("{other:?}"),
    }
}

fn of(rig: &mut Rig, topic: &str) -> ConsumeStatus {
    status(rig).remove(&Topic::from(topic)).expect("figures of the topic")
}

fn near(is: f64, wanted: f64) -> bool {
    (is - wanted).abs() <= wanted * 0.001
}

#[test]
fn every_topic_has_figures_from_the_start() {
    let mut rig = rig(None);
    let figures = status(&mut rig);
    let topics: Vec<_> = figures.keys().map(Topic::as_str).collect();
    assert_eq!(topics, ["%RETRY%g", "T"]);
    assert!(figures.values().all(|figures| *figures == ConsumeStatus::default()), "{figures:?}");
}

/// 60 messages in two pulls of a millisecond each, and 20 ms in the handler.
#[test]
fn times_are_means_and_rates_are_per_second() {
    let mut rig = rig(Some(20 * MS));
    rig.advance(20 * SECOND);
    let figures = of(&mut rig, "T");
    assert!(near(figures.pull_rt, 1.0) && near(figures.consume_rt, 20.0), "{figures:?}");
    assert!(near(figures.pull_tps, 3.0) && near(figures.consume_ok_tps, 3.0), "{figures:?}");
    assert_eq!((figures.consume_failed_tps, figures.consume_failed_msgs), (0.0, 0));
    assert_eq!(of(&mut rig, "%RETRY%g"), ConsumeStatus::default());
}

#[test]
fn a_minute_later_only_failures_are_remembered_and_an_hour_later_nothing() {
    let mut rig = rig(None);
    rig.advance(SECOND);
    let open = std::mem::take(&mut rig.open);
    let (bad, good) = open.split_at(5);
    for delivery in bad {
        let why = Failure::Error("no".into());
        rig.outcome(delivery.ticket, Outcome::Retry { done: 0, delay_level: 0, why });
    }
    for delivery in good {
        rig.done(delivery.ticket);
    }
    rig.work = Some(MS);
    rig.finish_all();
    let now = of(&mut rig, "T");
    assert!(now.consume_failed_msgs == 5 && now.consume_failed_tps > 0.0, "{now:?}");

    rig.advance(75 * SECOND);
    let later = of(&mut rig, "T");
    assert_eq!((later.pull_tps, later.consume_ok_tps, later.consume_rt), (0.0, 0.0, 0.0));
    assert_eq!((later.consume_failed_tps, later.consume_failed_msgs), (0.0, 5));
    rig.advance(62 * 60 * SECOND);
    assert_eq!(of(&mut rig, "T"), ConsumeStatus::default());
}

/// What was put back was not worked on.
#[test]
fn a_delivery_that_was_put_back_does_not_count() {
    let mut rig = rig(None);
    rig.advance(SECOND);
    let ticket = rig.ticket(&queue("T", 0), 0);
    rig.outcome(ticket, Outcome::PutBack);
    let figures = of(&mut rig, "T");
    assert_eq!((figures.consume_rt, figures.consume_ok_tps, figures.consume_failed_msgs), (0.0, 0.0, 0));
}

#[test]
fn a_topic_that_is_given_up_has_no_figures() {
    let mut rig = rig(Some(MS));
    rig.advance(SECOND);
    rig.input(Input::Unsubscribe { topic: Topic::from("T") });
    assert!(!status(&mut rig).contains_key(&Topic::from("T")));
}
