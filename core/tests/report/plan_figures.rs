//! Figures that are known beforehand.

use evenkeel_core::plan::Code;
use evenkeel_core::report::{Options, Strategies, Strategy, allocate, diff, moved_by_place, plan, verify};

use crate::groups::{change, group, pay_worker, short, topic};

fn only(strategy: Strategy) -> Options {
    Options { strategies: Strategies::These(vec![strategy]), ..Options::default() }
}

#[test]
fn moved_by_the_place_of_the_ninth() {
    let ids = ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"];
    let group = group(vec![topic("T", &[("b", 64)])], &ids);
    let by_place = moved_by_place(&group, Some(&Strategy::Avg {})).unwrap().unwrap();
    assert_eq!(by_place, [36, 28, 22, 18, 16, 16, 18, 22, 28]);
    for (place, moved) in by_place.into_iter().enumerate() {
        let add = change(&format!(r#"{{"kind":"add","ids":["c{place}+"]}}"#));
        let report = plan(&group, &[add], &only(Strategy::Avg {})).unwrap();
        assert_eq!(report.results[0].moves.len(), moved, "place {place}");
    }
}

#[test]
fn a_third_consumer_moves_3_6_7() {
    let two = group(vec![topic("T", &[("b", 8)])], &["c1", "c2"]);
    let three = group(vec![topic("T", &[("b", 8)])], &["c1", "c2", "c3"]);
    let report = plan(&two, &[change(r#"{"kind":"add","ids":["c3"]}"#)], &Options::default()).unwrap();
    let moves = &report.results[0].moves;
    assert_eq!(moves.iter().map(|moved| moved.queue.id).collect::<Vec<_>>(), [3, 6, 7]);
    let (before, after) = (allocate(&two, None).unwrap(), allocate(&three, None).unwrap());
    assert_eq!(diff(&before, &after), *moves);
}

#[test]
fn twenty_topics_of_four_queues_leave_two_of_six_idle() {
    let topics = (0..20).map(|n| topic(&format!("T{n:02}"), &[("b", 4)])).collect();
    let group = group(topics, &["c1", "c2", "c3", "c4", "c5", "c6"]);
    let allocation = allocate(&group, Some(&Strategy::Avg {})).unwrap();
    let totals: Vec<usize> = allocation.by_consumer.values().map(Vec::len).collect();
    assert_eq!(totals, [20, 20, 20, 20, 0, 0]);
    let report = verify(&group).unwrap();
    let [idle] = report.findings.as_slice() else { panic!("{report:?}") };
    assert_eq!((idle.code, idle.consumers.len()), (Code::R108, 2));
    assert_eq!(idle.effect.as_deref(), Some("queues of the members in total: 20 20 20 20 0 0"));
}

#[test]
fn retry_topics_count_and_are_not_listed() {
    let mut group = pay_worker();
    group.topics.push(topic("%RETRY%pay-worker", &[("broker-a", 1), ("broker-b", 1)]));
    let add = [change(r#"{"kind":"add","ids":["0"]}"#)];
    let report = plan(&group, &add, &only(Strategy::Avg {})).unwrap();
    let result = &report.results[0];
    assert_eq!((report.before.queues, report.topics.len()), (18, 1));
    assert_eq!(result.moves.len() + result.hidden_moves, result.moved.max);
    assert_eq!(result.hidden_moves, 2);
    let all = plan(&group, &add, &Options { retry: true, ..only(Strategy::Avg {}) }).unwrap();
    assert_eq!(
        (all.results[0].moves.len(), all.results[0].hidden_moves, all.topics.len()),
        (result.moved.max, 0, 2)
    );
}

#[test]
fn a_rolling_restart_is_told_step_by_step() {
    let ids = ["p1", "p2", "p3", "p4"];
    let group = group(vec![topic("orders", &[("broker-a", 16)])], &ids);
    let roll = change(r#"{"kind":"roll","ids":"stable"}"#);
    let report = plan(&group, &[roll], &Options::default()).unwrap();
    let totals: Vec<usize> =
        report.results.iter().map(|result| result.steps.as_ref().unwrap().last().unwrap().total).collect();
    // The fifty-four and ninety-two of the product's facts.
    assert_eq!(totals[..2], [54, 92]);
    let avg = &report.results[0];
    assert_eq!((avg.moved.max, avg.handed_over.unwrap().max, avg.steps.as_ref().unwrap().len()), (0, 54, 8));
    let new = change(r#"{"kind":"roll","ids":"new"}"#);
    let report = plan(&group, &[new], &Options { max_moves: Some(20), ..Options::default() }).unwrap();
    assert!(!report.limits.unwrap().passed, "limits look at all steps together");
}

#[test]
fn moves_name_the_queue_and_both_owners() {
    let report = plan(
        &pay_worker(),
        &[change(r#"{"kind":"remove","ids":["10.0.3.12@7#944"]}"#)],
        &only(Strategy::Avg {}),
    )
    .unwrap();
    let first = &report.results[0].moves[0];
    assert_eq!(short(&first.queue), "broker-a/6");
    assert_eq!(first.from.as_ref().unwrap().as_str(), "10.0.3.12@7#944");
    assert_eq!(first.to.as_ref().unwrap().as_str(), "10.0.3.11@7#812");
}
