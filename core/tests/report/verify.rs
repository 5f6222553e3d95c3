//! Groups under examination.

use evenkeel_core::plan::Code;
use evenkeel_core::report::{Owned, Snapshot, VerifyReport, allocate, verify};

use crate::groups::{group, pay_worker, topic};

fn codes(report: &VerifyReport) -> Vec<Code> {
    report.findings.iter().map(|finding| finding.code).collect()
}

/// Every consumer says that it owns what the strategy gives it.
fn as_it_should_be(mut group: Snapshot) -> Snapshot {
    let allocation = allocate(&group, None).expect("a sound group");
    let mut owned = Vec::new();
    for (id, queues) in &allocation.by_consumer {
        owned.extend(queues.iter().map(|queue| Owned { queue: queue.clone(), owners: vec![id.clone()] }));
    }
    group.owned = Some(owned);
    group
}

#[test]
fn a_sound_group_is_healthy() {
    let report = verify(&as_it_should_be(pay_worker())).unwrap();
    assert_eq!((report.healthy, codes(&report)), (true, vec![]));
    let counts: Vec<_> =
        report.consumers.iter().map(|one| (one.expected, one.actual, one.answered)).collect();
    assert_eq!(
        counts,
        [(Some(6), Some(6), Some(true)), (Some(5), Some(5), Some(true)), (Some(5), Some(5), Some(true))]
    );
}

#[test]
fn a_queue_that_nobody_owns_is_an_error() {
    let mut group = as_it_should_be(pay_worker());
    let owned = group.owned.as_mut().unwrap();
    owned.retain(|entry| entry.queue.broker.as_str() != "broker-a" || entry.queue.id != 3);
    owned[5].owners.push("10.0.3.13@7#377".into());
    let report = verify(&group).unwrap();
    assert_eq!(codes(&report), [Code::R102, Code::R103]);
    assert_eq!((report.orphaned.len(), report.doubled[0].owners.len()), (1, 2));
    let shape = serde_json::to_value(&report).unwrap();
    assert_eq!(shape["schema"], "evenkeel.verify/1");
    assert_eq!(shape["healthy"], false);
    assert_eq!(
        shape["findings"][1]["queues"][0],
        serde_json::json!({"topic":"orders","broker":"broker-a","id":3})
    );
    assert_eq!(shape["consumers"][0]["actual"], 5);
}

#[test]
fn a_silent_consumer_is_reckoned_and_named() {
    let mut group = as_it_should_be(pay_worker());
    let silent = group.consumers[1].id.clone();
    group.consumers[1].answered = Some(false);
    group.owned.as_mut().unwrap().iter_mut().for_each(|entry| entry.owners.retain(|id| *id != silent));
    let report = verify(&group).unwrap();
    assert_eq!((report.healthy, codes(&report)), (true, vec![Code::R110]));
    assert_eq!((report.consumers[1].actual, report.consumers[1].answered), (Some(5), Some(false)));
}

#[test]
fn mixed_strategies_and_subscriptions_are_found() {
    let mut group = group(vec![topic("T", &[("b", 16)])], &["c1", "c2", "c3", "c4"]);
    for (at, consumer) in group.consumers.iter_mut().enumerate() {
        let class =
            if at == 2 { "AllocateMessageQueueAveragelyByCircle" } else { "AllocateMessageQueueAveragely" };
        consumer.strategy = Some(format!("org.apache.rocketmq.client.consumer.rebalance.{class}"));
        let expression = if at == 0 { "a" } else { "a || b" };
        consumer.subscriptions = Some([("T".into(), expression.into())].into());
    }
    let report = verify(&group).unwrap();
    assert_eq!(codes(&report), [Code::R104, Code::R106]);
    assert_eq!(report.findings[0].consumers[0].as_str(), "c3");
    assert_eq!(report.findings[1].consumers[0].as_str(), "c1");
}
