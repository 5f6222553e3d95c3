//! Pseudonyms that sort as the names did.

use evenkeel_core::plan::{self as core_plan, Code};
use evenkeel_core::report::{
    Change, Options, Snapshot, Strategies, Strategy, allocate, plan, redact, verify,
};
use proptest::collection::btree_set;
use proptest::prelude::*;

use crate::groups::{change, group, pay_worker, topic};

fn strategies(names: &[&str]) -> Options {
    let all = names.iter().map(|name| name.parse().expect(name)).collect();
    Options { strategies: Strategies::These(all), ..Options::default() }
}

/// Least and most moves, floor, loads, and the numbers of the queues that move.
type Numbers = (usize, usize, usize, Vec<usize>, Vec<i32>);

/// The numbers of a plan, without names.
fn figures(snapshot: &Snapshot, changes: &[Change], options: &Options) -> Vec<Numbers> {
    let report = plan(snapshot, changes, options).expect("a sound group");
    let result = |result: &evenkeel_core::report::PlanResult| {
        let moves = result.moves.iter().map(|moved| moved.queue.id).collect();
        (result.moved.min, result.moved.max, result.floor, result.per_consumer.loads.clone(), moves)
    };
    report.results.iter().map(result).collect()
}

#[test]
fn nothing_of_the_names_is_left() {
    let mut snapshot = pay_worker();
    snapshot.topics.push(topic("%RETRY%pay-worker", &[("broker-a", 1)]));
    for consumer in &mut snapshot.consumers {
        consumer.address = Some("10.31.79.112:59606".into());
        consumer.strategy = Some("com.example.PaySticky".into());
        consumer.subscriptions =
            Some([("orders".into(), "paid".into()), ("%RETRY%pay-worker".into(), "*".into())].into());
    }
    let hidden = redact(&snapshot, None);
    let text = serde_json::to_string(&hidden).unwrap();
    for secret in ["10.", "pay", "orders", "broker-a", "Sticky", "paid", "example"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert_eq!(hidden.group.as_ref().unwrap().as_str(), "group-01");
    assert_eq!(hidden.topics[1].topic.as_str(), "%RETRY%group-01");
    assert_eq!(hidden.consumers[2].id.as_str(), "member-03");
    assert_eq!(hidden.consumers[0].address.as_deref(), Some("host-01:59606"));
    assert!(hidden.redacted);
    assert_eq!(verify(&hidden).unwrap().topics.len(), 1);
}

#[test]
fn a_salt_lets_names_be_matched_and_nobody_else_try_them() {
    let snapshot = pay_worker();
    let one = redact(&snapshot, Some("a")).consumers[0].id.clone();
    assert!(one.as_str().starts_with("member-01-") && one.as_str().len() == "member-01-".len() + 8, "{one}");
    let mut grown = snapshot.clone();
    grown.consumers.insert(0, evenkeel_core::report::ConsumerSeen::new("0"));
    let same = redact(&grown, Some("a")).consumers[1].id.clone();
    assert_eq!(one.as_str()[10..], same.as_str()[10..]);
    assert_ne!(one.as_str()[10..], redact(&snapshot, Some("b")).consumers[0].id.as_str()[10..]);
}

#[test]
fn a_name_that_is_missing_stays_missing() {
    let hidden = redact(&group(vec![topic("", &[("b", 1)])], &["c1"]), Some("salt"));
    let error = core_plan::Snapshot::try_from(&hidden).unwrap_err();
    assert_eq!(error.to_string(), "topics[0].topic: is empty");
}

#[test]
fn hash_rings_are_said_to_differ() {
    let hidden = redact(&pay_worker(), None);
    let report = plan(&hidden, &[], &strategies(&["avg"])).unwrap();
    assert_eq!(report.warnings, []);
    let report = plan(&hidden, &[], &strategies(&["avg", "hash", "draft"])).unwrap();
    assert_eq!(report.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), [Code::R206]);
}

#[test]
fn rooms_stay_rooms() {
    let mut snapshot = group(
        vec![topic(
            "T",
            &[
                ("roomB@b2", 5),
                ("roomA@b1", 4),
                ("roomB", 1),
                ("roomB@", 1),
                ("roomB@x@y", 1),
                ("roomB@z@", 1),
                ("r@b", 3),
                ("r1@b", 3),
            ],
        )],
        &["c1", "c2", "c3"],
    );
    snapshot.strategy = Some(Strategy::MachineRoom { rooms: vec!["roomB".into(), "r1".into(), "r9".into()] });
    let hidden = redact(&snapshot, Some("s"));
    let counts = |snapshot: &Snapshot| {
        let all = allocate(snapshot, None).unwrap();
        let ids: Vec<Vec<i32>> =
            all.by_consumer.values().map(|share| share.iter().map(|queue| queue.id).collect()).collect();
        (ids, all.stats.orphaned.len())
    };
    assert_eq!(counts(&hidden), counts(&snapshot));
}

#[test]
fn rooms_before_a_separator_stay_rooms() {
    let nearby = r#"{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"separator":"-"}}"#;
    let mut snapshot = group(
        vec![topic("T", &[("hz-a", 5), ("hz1-a", 4), ("sh-a", 3), ("bj-a", 2)])],
        &["hz-2", "hz-10", "hz1-1", "sh-1", "nj-4"],
    );
    snapshot.strategy = Some(serde_json::from_str(nearby).unwrap());
    let hidden = redact(&snapshot, None);
    let remove = |id: &str| Change::Remove { ids: Some(vec![id.into()]), count: None };
    let at = |snapshot: &Snapshot, n: usize| snapshot.consumers[n].id.to_string();
    for n in 0..5 {
        let (real, fake) = (at(&snapshot, n), at(&hidden, n));
        let one = |snapshot: &Snapshot, id: &str| {
            let options = Options {
                strategies: Strategies::These(vec![snapshot.strategy.clone().unwrap()]),
                ..Options::default()
            };
            figures(snapshot, &[remove(id)], &options)
        };
        assert_eq!(one(&snapshot, &real), one(&hidden, &fake), "{real} {fake}");
    }
    // A trial id shares its beginning with a neighbour, and so its room.
    plan(&hidden, &[change(r#"{"kind":"add","count":1}"#)], &Options::default()).unwrap();
}

proptest! {
    #[test]
    fn what_goes_by_order_stays(
        ids in btree_set("[a-c\u{e000}😀0-9.@-]{1,5}", 2..9),
        brokers in btree_set("[a-c@-]{1,4}", 1..5),
        leaving in any::<prop::sample::Index>(),
    ) {
        let on: Vec<(&str, i64)> = brokers.iter().zip([7, 4, 1, 6, 3]).map(|(name, count)| (name.as_str(), count)).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let snapshot = group(vec![topic("T", &on), topic("U", &on[..1])], &ids);
        let hidden = redact(&snapshot, Some("x"));
        let place = leaving.index(ids.len());
        let remove = |snapshot: &Snapshot| Change::Remove { ids: Some(vec![snapshot.consumers[place].id.clone()]), count: None };
        let options = strategies(&["avg", "circle"]);
        prop_assert_eq!(
            figures(&snapshot, &[remove(&snapshot)], &options),
            figures(&hidden, &[remove(&hidden)], &options)
        );
        let rooms = Strategy::MachineRoom { rooms: vec!["a".into(), "b".into(), "ab".into()] };
        let with_rooms = Snapshot { strategy: Some(rooms), ..snapshot };
        let hidden = redact(&with_rooms, None);
        let loads = |snapshot: &Snapshot| {
            let all = allocate(snapshot, None).unwrap();
            all.by_consumer.values().map(|share| share.iter().map(|queue| queue.id).collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        prop_assert_eq!(loads(&with_rooms), loads(&hidden));
        prop_assert!(core_plan::Snapshot::try_from(&hidden).is_ok());
    }
}
