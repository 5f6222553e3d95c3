//! Groups that broadcast or pop: no queue has one owner, and that is no fault.

use evenkeel_core::plan::Code;
use evenkeel_core::report::{ErrorCode, Options, Owned, Sharing, Snapshot, plan, verify};

use crate::groups::pay_worker;

/// Three consumers; the first one says that it has all queues of one broker, the others that they have none.
fn group(sharing: Sharing) -> Snapshot {
    let mut group = pay_worker();
    let queue = |id| evenkeel_core::model::MessageQueue::new("orders", "broker-a", id);
    let owners = vec![group.consumers[0].id.clone()];
    group.owned = Some((0..8).map(|id| Owned { queue: queue(id), owners: owners.clone() }).collect());
    group.sharing = sharing;
    group
}

fn codes(group: &Snapshot) -> Vec<Code> {
    verify(group).expect("a sound snapshot").findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn owners_are_examined_only_where_consumers_share_queues_out() {
    assert_eq!(codes(&group(Sharing::Consumers)), [Code::R103], "control");
    for sharing in [Sharing::Nobody, Sharing::Broker] {
        let report = verify(&group(sharing)).expect("a sound snapshot");
        assert_eq!((report.healthy, report.findings.len(), report.sharing), (true, 0, sharing));
        assert!(report.orphaned.is_empty() && report.consumers.iter().all(|one| one.expected.is_none()));
    }
}

/// What is wrong with a broadcast, too: ids and subscriptions, and members that say nothing. What it does is not reckoned in queues.
#[test]
fn ids_subscriptions_and_silence_are_examined_all_the_same() {
    let mut group = group(Sharing::Nobody);
    group.consumers.push(group.consumers[0].clone());
    group.consumers[1].subscriptions = Some([("orders".into(), "a".into())].into());
    group.consumers[2].subscriptions = Some([("orders".into(), "b".into())].into());
    group.consumers[2].answered = Some(false);
    assert_eq!(codes(&group), [Code::R101, Code::R106, Code::R110]);
    let report = verify(&group).expect("a sound snapshot");
    assert!(report.findings.iter().all(|finding| finding.effect.is_none()), "{:?}", report.findings);
}

#[test]
fn nothing_can_be_planned_for_it() {
    for sharing in [Sharing::Nobody, Sharing::Broker] {
        let error = plan(&group(sharing), &[], &Options::default()).expect_err("nothing moves");
        assert_eq!((error.code, error.field.as_deref()), (ErrorCode::NotShared, Some("sharing")));
    }
}

#[test]
fn its_json_says_so_and_that_of_others_says_nothing() {
    let json = |sharing| serde_json::to_value(group(sharing)).expect("a snapshot")["sharing"].clone();
    assert_eq!(
        (json(Sharing::Nobody), json(Sharing::Broker), json(Sharing::Consumers)),
        ("nobody".into(), "broker".into(), serde_json::Value::Null)
    );
}
