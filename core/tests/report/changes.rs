//! Changes as users write them.

use evenkeel_core::report::{Change, ErrorCode, Options, Strategies, Strategy, plan};

use crate::groups::{change, group, pay_worker, topic};

#[test]
fn every_kind_is_understood() {
    for (json, after) in [
        (r#"{"kind":"add","ids":["x","y"]}"#, (5, 16)),
        (r#"{"kind":"add","count":2}"#, (5, 16)),
        (r#"{"kind":"remove","ids":["10.0.3.11@7#812"]}"#, (2, 16)),
        (r#"{"kind":"remove","count":1}"#, (2, 16)),
        (r#"{"kind":"queues","topic":"orders","broker":"broker-a","readQueues":12}"#, (3, 20)),
        (r#"{"kind":"queues","topic":"refunds","broker":"broker-c","readQueues":4}"#, (3, 20)),
        (r#"{"kind":"dropBroker","broker":"broker-b"}"#, (3, 8)),
        (r#"{"kind":"permissionLost","broker":"broker-b"}"#, (3, 8)),
        (r#"{"kind":"permissionLost","broker":"broker-b","topic":"orders"}"#, (3, 8)),
        (r#"{"kind":"strategy","to":"AVG_BY_CIRCLE"}"#, (3, 16)),
        (r#"{"kind":"strategy","to":{"name":"CONSISTENT_HASH","virtualNodes":20}}"#, (3, 16)),
        (r#"{"kind":"roll","ids":"stable"}"#, (3, 16)),
        (r#"{"kind":"roll","ids":"new"}"#, (3, 16)),
        (r#"{"kind":"roll","ids":["x","y","z"]}"#, (3, 16)),
    ] {
        let change = change(json);
        assert_eq!(serde_json::from_str::<Change>(&serde_json::to_string(&change).unwrap()).unwrap(), change);
        let report = plan(&pay_worker(), &[change], &Options::default()).expect(json);
        assert_eq!((report.after.consumers, report.after.queues), after, "{json}");
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    for (json, hint) in [
        (r#"{"kind":"grow","count":1}"#, "unknown variant `grow`, expected one of `add`"),
        (r#"{"kind":"add","number":1}"#, "unknown field `number`, expected one of `kind`, `ids`"),
        (r#"{"kind":"add","ids":"new"}"#, "invalid type: a word, expected a list of client ids"),
        (r#"{"kind":"dropBroker","broker":"b","topic":"t"}"#, "unknown field `topic`"),
        (r#"{"kind":"roll","ids":"some"}"#, "expected \"stable\", \"new\" or a list"),
        (r#"{"kind":"strategy","to":"averge"}"#, "there is no strategy \"averge\"; there are: avg"),
        (r#"{"count":1}"#, "missing field `kind`"),
    ] {
        let error = serde_json::from_str::<Change>(json).unwrap_err().to_string();
        assert!(error.contains(hint), "{json}: {error}");
    }
}

#[test]
fn what_does_not_fit_names_the_field() {
    for (json, code, text) in [
        (r#"{"kind":"add"}"#, ErrorCode::BadChange, "changes[1]: says neither who nor how many"),
        (r#"{"kind":"add","ids":["x"],"count":1}"#, ErrorCode::BadChange, "changes[1]: has ids and a count"),
        (r#"{"kind":"add","count":-1}"#, ErrorCode::BadChange, "changes[1].count: -1 is negative"),
        (
            r#"{"kind":"add","count":2000000000000}"#,
            ErrorCode::TooLarge,
            "changes[1].count: 2000000000000 consumers",
        ),
        (r#"{"kind":"add","ids":["ok",""]}"#, ErrorCode::BadChange, "changes[1].ids[1]: is empty"),
        (
            r#"{"kind":"queues","topic":"T","broker":"b","readQueues":-4}"#,
            ErrorCode::BadChange,
            "changes[1].readQueues: -4 is negative",
        ),
        (
            r#"{"kind":"strategy","to":{"name":"CONSISTENT_HASH","virtualNodes":0}}"#,
            ErrorCode::BadStrategy,
            "changes[1].to.virtualNodes: 0 virtual nodes",
        ),
        (
            r#"{"kind":"remove","ids":["nobody"]}"#,
            ErrorCode::UnknownConsumer,
            "the group has no member \"nobody\"",
        ),
        (r#"{"kind":"remove","count":9}"#, ErrorCode::BadChange, "9 members cannot leave a group of 4"),
        (r#"{"kind":"add","ids":["new"]}"#, ErrorCode::BadChange, "already has a member \"new\""),
        (
            r#"{"kind":"dropBroker","broker":"b9"}"#,
            ErrorCode::BadChange,
            "no topic of the group has queues on broker",
        ),
    ] {
        let changes = [change(r#"{"kind":"add","ids":["new"]}"#), change(json)];
        let error = plan(&pay_worker(), &changes, &Options::default()).unwrap_err();
        assert_eq!(error.code, code, "{json}: {error}");
        assert!(error.to_string().contains(text), "{json}: {error}");
    }
}

#[test]
fn a_change_of_strategy_is_planned_from_the_running_one_only() {
    let to = change(r#"{"kind":"strategy","to":"AVG_BY_CIRCLE"}"#);
    let report = plan(&pay_worker(), &[to], &Options::default()).unwrap();
    assert_eq!(report.results.len(), 1);
    assert_eq!((report.results[0].strategy.as_str(), report.results[0].moved.max), ("AVG", 10));
}

#[test]
fn limits_look_at_the_running_strategy() {
    let mut group = group(vec![topic("T", &[("b", 64)])], &["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"]);
    let add = [change(r#"{"kind":"add","ids":["c9"]}"#)];
    let options = Options { max_moves: Some(28), max_skew: Some(1), ..Options::default() };
    group.strategy = Some(Strategy::Avg {});
    assert!(plan(&group, &add, &options).unwrap().limits.unwrap().passed);
    group.strategy = Some(Strategy::AvgByCircle {});
    let report = plan(&group, &add, &options).unwrap();
    assert!(!report.limits.unwrap().passed);
    assert_eq!(report.results[0].strategy, "AVG_BY_CIRCLE");
    // Not among the results: all that were asked for have to keep the limits.
    let others = Strategies::These(vec![Strategy::Avg {}, Strategy::draft()]);
    let report = plan(&group, &add, &Options { strategies: others, ..options }).unwrap();
    assert!(report.limits.unwrap().passed, "{report:?}");
}

#[test]
fn moves_are_counted_alike_if_they_are_not_listed() {
    let add = [change(r#"{"kind":"add","ids":["c9"]}"#)];
    let counts_only = Options { counts_only: true, ..Options::default() };
    let mut listed = plan(&pay_worker(), &add, &Options::default()).unwrap();
    assert!(listed.results.iter().all(|result| result.moves.len() == result.moved.max));
    listed.results.iter_mut().for_each(|result| result.moves.clear());
    assert_eq!(plan(&pay_worker(), &add, &counts_only).unwrap(), listed);
}
