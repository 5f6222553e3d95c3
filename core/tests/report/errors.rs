//! Snapshots that are not sound.

use evenkeel_core::plan;
use evenkeel_core::report::{ErrorCode, Snapshot, allocate, verify};
use serde_json::{Value, json};

fn sound() -> Value {
    json!({
        "schema":"evenkeel.snapshot/1","group":"g",
        "topics":[{"topic":"T","brokers":[{"broker":"b","readQueues":4},{"broker":"c","readQueues":4}]}],
        "consumers":[{"id":"c1"},{"id":"c2","answered":false}],
        "owned":[{"queue":{"topic":"T","broker":"b","id":0},"owners":["c1"]}],
        "load":[{"queue":{"topic":"T","broker":"b","id":0},"lag":5}]
    })
}

/// With one field changed.
fn with(pointer: &str, value: Value) -> Value {
    let mut snapshot = sound();
    *snapshot.pointer_mut(pointer).expect(pointer) = value;
    snapshot
}

#[test]
fn each_fault_names_its_field() {
    let long = "x".repeat(1025);
    for (snapshot, code, text) in [
        (with("/schema", json!("")), ErrorCode::BadSnapshot, "schema: is missing"),
        (
            with("/schema", json!("evenkeel.snapshot/2")),
            ErrorCode::BadSnapshot,
            "schema: is \"evenkeel.snapshot/2\"",
        ),
        (with("/schema", json!("evenkeel.plan/1")), ErrorCode::BadSnapshot, "schema: is \"evenkeel.plan/1\""),
        (with("/group", json!("")), ErrorCode::BadSnapshot, "group: is empty"),
        (with("/topics/0/topic", json!(long)), ErrorCode::BadSnapshot, "topics[0].topic: has 1025 bytes"),
        (
            with("/topics/0/brokers/1/broker", json!("b")),
            ErrorCode::BadSnapshot,
            "topics[0].brokers[1].broker: b stands twice",
        ),
        (
            with("/topics/0/brokers/1/readQueues", json!(-1)),
            ErrorCode::BadSnapshot,
            "topics[0].brokers[1].readQueues: -1 is negative",
        ),
        (
            with("/topics/0/brokers/1/readQueues", json!(2_000_000)),
            ErrorCode::TooLarge,
            "topics[0].brokers[1].readQueues: 2000000 queues",
        ),
        (with("/consumers/1/id", json!("")), ErrorCode::BadSnapshot, "consumers[1].id: is empty"),
        (with("/owned/0/queue/id", json!(-1)), ErrorCode::BadSnapshot, "owned[0].queue.id: -1 is negative"),
        (
            with("/owned/0/owners", json!(["c9"])),
            ErrorCode::UnknownConsumer,
            "owned[0].owners[0]: there is no consumer \"c9\"",
        ),
        (
            with("/owned/0/owners", json!(["c2"])),
            ErrorCode::BadSnapshot,
            "owned[0].owners[0]: \"c2\" did not answer",
        ),
        (
            with("/owned/0/owners", json!(["c1", "c1"])),
            ErrorCode::BadSnapshot,
            "owned[0].owners[1]: \"c1\" stands 2 times",
        ),
        (with("/load/0/lag", json!(-5)), ErrorCode::BadSnapshot, "load[0].lag: -5 is negative"),
        (with("/load/0/queue/topic", json!("")), ErrorCode::BadSnapshot, "load[0].queue.topic: is empty"),
        (
            with("/topics", json!([{"topic":"T"},{"topic":"T"}])),
            ErrorCode::BadSnapshot,
            "topics[1].topic: T stands twice",
        ),
    ] {
        let snapshot: Snapshot = serde_json::from_value(snapshot).unwrap();
        let error = plan::Snapshot::try_from(&snapshot).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(error.to_string().starts_with(text), "{error}");
    }
}

#[test]
fn fields_that_are_not_known_are_skipped() {
    let mut snapshot = sound();
    snapshot["brokerVersion"] = json!("5.5.0");
    snapshot["consumers"][0]["pid"] = json!(7);
    snapshot["topics"][0]["brokers"][0]["writeQueues"] = json!(8);
    let snapshot: Snapshot = serde_json::from_value(snapshot).unwrap();
    plan::Snapshot::try_from(&snapshot).unwrap();
}

#[test]
fn settings_that_are_not_known_are_refused() {
    let mut snapshot = sound();
    snapshot["strategy"] = json!({"name":"CONSISTENT_HASH","points":3});
    let error = serde_json::from_value::<Snapshot>(snapshot).unwrap_err();
    assert!(error.to_string().contains("unknown field `points`"), "{error}");
}

#[test]
fn lags_are_numbers_or_texts_and_keep_every_digit() {
    for (lag, read) in [
        (json!(9_007_199_254_740_993_i64), Some(9_007_199_254_740_993)),
        (json!("9007199254740993"), Some(9_007_199_254_740_993)),
        (json!(3.0), Some(3)),
        (Value::Null, None),
    ] {
        let snapshot: Snapshot = serde_json::from_value(with("/load/0/lag", lag)).unwrap();
        assert_eq!(snapshot.load.unwrap()[0].lag, read);
    }
    for lag in [json!("many"), json!(3.5), json!(1e300), json!("99999999999999999999"), json!(u64::MAX)] {
        let error = serde_json::from_value::<Snapshot>(with("/load/0/lag", lag.clone())).unwrap_err();
        assert!(error.to_string().contains("a whole number of 64 bits"), "{lag}: {error}");
    }
}

#[test]
fn nothing_to_share_and_nobody_to_share_it() {
    let no_queues: Snapshot = serde_json::from_value(with("/topics", json!([]))).unwrap();
    let no_queues = Snapshot { owned: None, ..no_queues };
    let nobody: Snapshot = serde_json::from_value(with("/consumers", json!([]))).unwrap();
    let nobody = Snapshot { owned: None, ..nobody };
    assert_eq!(allocate(&no_queues, None).unwrap_err().code, ErrorCode::EmptyQueues);
    assert_eq!(verify(&no_queues).unwrap_err().code, ErrorCode::EmptyQueues);
    assert_eq!(allocate(&nobody, None).unwrap_err().code, ErrorCode::EmptyConsumers);
    assert_eq!(verify(&nobody).unwrap_err().code, ErrorCode::EmptyConsumers);
    for (snapshot, code) in [(no_queues, ErrorCode::EmptyQueues), (nobody, ErrorCode::EmptyConsumers)] {
        let error = evenkeel_core::report::plan(&snapshot, &[], &Default::default()).unwrap_err();
        assert_eq!(error.code, code);
    }
}

#[test]
fn an_error_is_json_too() {
    let snapshot: Snapshot = serde_json::from_value(with("/schema", json!("evenkeel.snapshot/9"))).unwrap();
    let error = plan::Snapshot::try_from(&snapshot).unwrap_err();
    assert_eq!(
        serde_json::to_value(&error).unwrap(),
        json!({
            "code":"BAD_SNAPSHOT","field":"schema",
            "text":"is \"evenkeel.snapshot/9\"; expected \"evenkeel.snapshot/1\"",
            "hint":"this snapshot is of another version; use the program that wrote it, or a newer one"
        })
    );
}
