//! Input of any kind: answers or errors, and nothing else.

use evenkeel_core::plan as core_plan;
use evenkeel_core::report::{
    Change, ErrorCode, Options, Snapshot, Strategy, allocate, moved_by_place, plan, redact, verify,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use serde_json::{Value, json};

use crate::groups::{change, group, pay_worker, topic};

/// JSON values of the kind that stand in snapshots, in any place.
fn value() -> impl proptest::strategy::Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-2_i64..40).prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,8}".prop_map(Value::from),
        Just(json!("evenkeel.snapshot/1")),
        Just(json!({"name":"AVG"})),
        Just(json!({"topic":"orders","broker":"broker-a","id":1})),
        Just(json!([])),
        Just(json!({})),
        Just(json!(["a", "a"])),
    ]
}

fn whole() -> Value {
    json!({
        "schema":"evenkeel.snapshot/1","group":"g","takenAt":"now",
        "topics":[{"topic":"orders","brokers":[{"broker":"broker-a","readQueues":4,"readable":true}]},
                  {"topic":"%RETRY%g","brokers":[{"broker":"broker-a","readQueues":1}]}],
        "consumers":[{"id":"c1","address":"h:1","language":"GO","strategy":"CONSISTENT_HASH","topics":["orders"],
                      "subscriptions":{"orders":"*"},"answered":true,"listed":[]},
                     {"id":"c2"},{"id":"c2","version":"V5"}],
        "strategy":{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"separator":"-"}},
        "owned":[{"queue":{"topic":"orders","broker":"broker-a","id":0},"owners":["c1"]}],
        "load":[{"queue":{"topic":"orders","broker":"broker-a","id":0},"lag":1,"tps":0.5}]
    })
}

/// Every place in a value, as pointers.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.into());
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| pointers(value, &format!("{at}/{key}"), all));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(key, value)| pointers(value, &format!("{at}/{key}"), all));
        }
        _ => {}
    }
}

fn ask_everything(snapshot: &Snapshot) {
    let options = Options { samples: Some(3), max_moves: Some(1), max_skew: Some(0), ..Options::default() };
    for changes in [
        vec![],
        vec![change(r#"{"kind":"add","count":2}"#), change(r#"{"kind":"roll","ids":"new"}"#)],
        vec![change(r#"{"kind":"remove","ids":["c2"]}"#)],
    ] {
        let _ = plan(snapshot, &changes, &options);
    }
    let _ = verify(snapshot);
    let _ = allocate(snapshot, None);
    let _ = moved_by_place(snapshot, None);
    let hidden = redact(snapshot, Some("salt"));
    // Not the other way round: a name that is too long gets a short one.
    if core_plan::Snapshot::try_from(snapshot).is_ok() {
        assert!(core_plan::Snapshot::try_from(&hidden).is_ok(), "{snapshot:?}\n{hidden:?}");
    }
}

proptest! {
    #[test]
    fn any_value_in_any_place(changes in vec((any::<prop::sample::Index>(), value()), 1..4)) {
        let mut snapshot = whole();
        for (at, value) in changes {
            let mut all = Vec::new();
            pointers(&snapshot, "", &mut all);
            *snapshot.pointer_mut(&all[at.index(all.len())]).unwrap() = value;
        }
        if let Ok(snapshot) = serde_json::from_value::<Snapshot>(snapshot) {
            ask_everything(&snapshot);
        }
    }

    #[test]
    fn any_text_as_a_change_or_strategy(text in ".{0,40}") {
        let _ = serde_json::from_str::<Change>(&text);
        let _ = serde_json::from_str::<Strategy>(&text);
        let _ = text.parse::<Strategy>();
    }
}

#[test]
fn the_whole_is_sound() {
    let snapshot: Snapshot = serde_json::from_value(whole()).unwrap();
    assert_eq!(verify(&snapshot).unwrap().queues, 5);
    ask_everything(&snapshot);
}

#[test]
fn too_much_is_refused_before_it_is_begun() {
    let many: Vec<String> = (0..100_000).map(|n| format!("c{n:06}")).collect();
    let ids: Vec<&str> = many.iter().map(String::as_str).collect();
    let huge = group(vec![topic("T", &[("b", 1_000_000)])], &ids);
    for strategy in ["hash:60000", "draft"] {
        let error = allocate(&huge, Some(&strategy.parse().unwrap())).unwrap_err();
        assert_eq!(error.code, ErrorCode::TooLarge, "{strategy}");
    }
    let roll = change(r#"{"kind":"roll","ids":"new"}"#);
    assert_eq!(plan(&huge, &[roll], &Options::default()).unwrap_err().code, ErrorCode::TooLarge);
    let over = group(vec![topic("T", &[("b", 1_000_000), ("c", 1)])], &["c1"]);
    assert_eq!(allocate(&over, None).unwrap_err().code, ErrorCode::TooLarge);
    let add = change(r#"{"kind":"add","count":99999}"#);
    assert_eq!(plan(&pay_worker(), &[add], &Options::default()).unwrap_err().code, ErrorCode::TooLarge);
    let options = Options { samples: Some(1_000_000), ..Options::default() };
    assert_eq!(plan(&pay_worker(), &[], &options).unwrap_err().code, ErrorCode::TooLarge);
}
