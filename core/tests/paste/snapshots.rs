//! Snapshots of ours among pastes.

use evenkeel_core::paste::{Kind, parse};
use evenkeel_core::report::{Load, Owned, Snapshot, Strategy};

fn whole() -> Snapshot {
    let text = r#"{"schema":"evenkeel.snapshot/1","group":"g","takenAt":"2026-01-01T00:00:00Z",
        "topics":[{"topic":"T","brokers":[{"broker":"a","readQueues":2},{"broker":"b","readQueues":3,"readable":false}]}],
        "consumers":[{"id":"c1","address":"h:1","language":"JAVA","version":"V5_5_0","strategy":"AVG",
                      "topics":["T"],"subscriptions":{"T":"*"},"answered":true},{"id":"c2","answered":false}],
        "strategy":{"name":"CONSISTENT_HASH","virtualNodes":20,"hash":"java-md5"}}"#;
    let mut snapshot: Snapshot = serde_json::from_str(text).expect("a snapshot");
    let queue = |id| evenkeel_core::report::QueueRef::new("T", "a", id);
    snapshot.owned = Some(vec![Owned { queue: queue(0), owners: vec!["c1".into()] }]);
    snapshot.load = Some(vec![Load { queue: queue(1), lag: Some(9_007_199_254_740_993), tps: Some(0.5) }]);
    snapshot
}

#[test]
fn a_snapshot_comes_back_as_it_was() {
    let snapshot = whole();
    let parsed = parse(&serde_json::to_string_pretty(&snapshot).unwrap());
    assert_eq!((parsed.problems.as_slice(), &parsed.kinds), ([].as_slice(), &vec![Kind::Snapshot]));
    assert_eq!(parsed.snapshot, snapshot);
}

#[test]
fn other_strategies_are_read_with_all_their_settings() {
    for strategy in [
        r#"{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"separator":"-"}}"#,
        r#"{"name":"CONFIG","queues":{"c1":[{"topic":"T","broker":"a","id":0}]}}"#,
        r#"{"name":"AVG_BY_DRAFT","identity":"host","weights":{"c1":2},"rooms":{"rule":"strict","roomOf":{"brokers":{"a":"x"},"consumers":{}}}}"#,
    ] {
        let strategy: Strategy = serde_json::from_str(strategy).unwrap();
        let snapshot = Snapshot { strategy: Some(strategy), ..whole() };
        let parsed = parse(&serde_json::to_string(&snapshot).unwrap());
        assert_eq!(parsed.problems, []);
        assert_eq!(parsed.snapshot.strategy, snapshot.strategy);
    }
}

#[test]
fn what_is_wrong_with_a_snapshot_is_said() {
    let text = serde_json::to_string(&whole()).unwrap();
    for (from, to, expected) in [
        ("snapshot/1", "snapshot/7", "schema: is \"evenkeel.snapshot/7\""),
        ("evenkeel.snapshot/1", "evenkeel.plan/1", "a snapshot; this is evenkeel.plan/1"),
        ("\"readQueues\":2", "\"readQueues\":-2", "topics[0].brokers[0].readQueues: -2 is negative"),
        ("virtualNodes", "points", "unknown field `points`"),
        ("\"readQueues\":2", "\"readQueues\":\"many\"", "invalid type"),
    ] {
        let parsed = parse(&text.replace(from, to));
        assert!(parsed.problems[0].expected.contains(expected), "{from}: {:?}", parsed.problems);
        assert_eq!(parsed.snapshot.topics, [], "nothing of it is kept");
    }
}
