//! JSON bodies against what Java's servers and clients wrote and its classes read (`tests/golden/bodies.json`): every
//! case.

use crate::golden;

use evenkeel_core::model::Topic;
use evenkeel_core::wire::bodies::{
    Body, CheckSubscription, ConsumeStats, ConsumerConnection, ConsumerStatus, Locked, Members, OffsetTable,
    QueueSet, ResetTable, TopicStats, normalise,
};
use evenkeel_core::wire::error::WireError;
use evenkeel_core::wire::peer::{DirectlyConsumed, RunningInfo};
use evenkeel_core::wire::reply::{ClusterInfo, TopicRoute};
use evenkeel_core::wire::request::Heartbeat;
use evenkeel_core::wire::route::{publish_queues, subscribe_queues};
use golden::{cases, section, text};
use serde_json::{Value, json};

/// Fields that the classes of 4.9 do not have, with the values that they have when absent.
fn new_in_5() -> [(&'static str, Value); 10] {
    [
        ("enableActingMaster", json!(false)),
        ("zoneName", Value::Null),
        ("topicQueueMappingByBroker", Value::Null),
        ("heartbeatFingerprint", json!(0)),
        ("isWithoutSub", json!(false)),
        ("mqPopTable", json!({})),
        ("userConsumerInfo", json!({})),
        ("onlyThisBroker", json!(false)),
        ("namespace", Value::Null),
        ("topicPutTps", json!(0.0)),
    ]
}

/// Compares with a value of either version: fields that only 5.x has may be missing in it if ours are the defaults.
fn same(ours: &Value, java: &Value) -> bool {
    match (ours, java) {
        (Value::Object(ours), Value::Object(java)) => {
            java.iter().all(|(name, java)| ours.get(name).is_some_and(|ours| same(ours, java)))
                && ours.iter().all(|(name, ours)| {
                    java.contains_key(name)
                        || new_in_5().iter().any(|(new, default)| new == name && default == ours)
                })
        }
        (Value::Array(ours), Value::Array(java)) => {
            ours.len() == java.len() && ours.iter().zip(java).all(|(ours, java)| same(ours, java))
        }
        (ours, java) => ours == java,
    }
}

fn normalised(class: &str, body: &str) -> Result<Value, WireError> {
    normalise(class, body.as_bytes()).map(|text| serde_json::from_str(&text).expect("strict JSON"))
}

#[test]
fn bodies_seen_on_the_wire() {
    let cases = cases("bodies.json");
    let (mut compared, mut without_body) = (0, 0);
    for case in section(&cases, "seen") {
        let id = text(case, "id");
        if case["text"].is_null() {
            without_body += 1;
            continue;
        }
        let ours = normalised(text(case, "bodyClass"), text(case, "text")).expect(id);
        assert!(same(&ours, &case["value"]), "{id}: ours {ours}\n wanted {}", case["value"]);
        if let Some(queues) = case.get("queues") {
            let name =
                case["request"]["extFields"]["topic"].as_str().unwrap_or_else(|| panic!("{id}: topic"));
            check_queues(id, name, text(case, "text"), queues);
        }
        compared += 1;
    }
    assert_eq!((compared, without_body), (120, 7));
}

#[test]
fn bodies_as_the_java_classes_read_them() {
    let cases = cases("bodies.json");
    let (mut as_5, mut as_4, mut refused) = (0, 0, 0);
    for case in section(&cases, "read") {
        let id = text(case, "id");
        let ours = normalised(text(case, "bodyClass"), text(case, "text"));
        let java_4 = case.get("expect-4.9.7").unwrap_or(&case["expect"]);
        match (ours, case["expect"].get("value"), java_4.get("value")) {
            (Ok(ours), Some(java), _) => {
                assert!(same(&ours, java), "{id}: ours {ours}\n wanted {java}");
                as_5 += 1;
            }
            // Only the older library takes it, and so do we.
            (Ok(ours), None, Some(java)) => {
                assert!(same(&ours, java), "{id}: ours {ours}\n wanted {java}");
                as_4 += 1;
            }
            (Err(_), None, None) => refused += 1,
            (ours, ..) => panic!("{id} {}: ours {ours:?}, Java {}", case["note"], case["expect"]),
        }
    }
    assert_eq!((as_5, as_4, refused), (108, 8, 11));
}

#[test]
fn queues_that_follow_from_a_route() {
    let cases = cases("bodies.json");
    let mut checked = 0;
    for case in section(&cases, "route-queues") {
        check_queues(text(case, "id"), text(case, "topic"), text(case, "text"), &case["expect"]);
        checked += 1;
    }
    assert_eq!(checked, 30);
}

fn check_queues(id: &str, topic: &str, body: &str, expected: &Value) {
    let route = TopicRoute::decode(body.as_bytes()).expect(id);
    let topic = Topic::from(topic);
    let shown = |queues: Vec<_>| -> Value {
        queues
            .into_iter()
            .map(|queue: evenkeel_core::model::MessageQueue| {
                json!([queue.topic.as_str(), queue.broker.as_str(), queue.id])
            })
            .collect()
    };
    assert_eq!(shown(subscribe_queues(&route, &topic)), expected["subscribe"], "{id}");
    assert_eq!(shown(publish_queues(&route, &topic)), expected["publish"], "{id}");
}

/// What a typed body writes is the same body to the typed reader and, where it has all of the class, to Java's.
fn written_again<T: Body + PartialEq + std::fmt::Debug>(id: &str, body: &str) {
    let first = T::decode(body.as_bytes()).unwrap_or_else(|error| panic!("{id}: {error}: {body}"));
    let again = T::decode(&first.encode()).unwrap_or_else(|error| panic!("{id}: {error}: {body}"));
    assert_eq!(first, again, "{id}");
}

#[test]
fn typed_bodies_read_what_was_seen_and_write_it_again() {
    let cases = cases("bodies.json");
    let (mut typed, mut shown_only) = (0, 0);
    for case in section(&cases, "seen").filter(|case| !case["text"].is_null()) {
        let (id, body) = (text(case, "id"), text(case, "text"));
        typed += 1;
        match text(case, "bodyClass") {
            "TopicRouteData" => written_again::<TopicRoute>(id, body),
            "ClusterInfo" => written_again::<ClusterInfo>(id, body),
            "HeartbeatData" => written_again::<Heartbeat>(id, body),
            "GetConsumerListByGroupResponseBody" => written_again::<Members>(id, body),
            "GetConsumerStatusBody" => written_again::<ConsumerStatus>(id, body),
            "ResetOffsetBody" | "ResetOffsetBodyForC" => written_again::<ResetTable>(id, body),
            "OffsetSerializeWrapper" => written_again::<OffsetTable>(id, body),
            "ConsumerRunningInfo" => written_again::<RunningInfo>(id, body),
            "LockBatchRequestBody" | "UnlockBatchRequestBody" => written_again::<QueueSet>(id, body),
            "LockBatchResponseBody" => written_again::<Locked>(id, body),
            "CheckClientRequestBody" => written_again::<CheckSubscription>(id, body),
            "ConsumerConnection" => written_again::<ConsumerConnection>(id, body),
            "ConsumeStats" => written_again::<ConsumeStats>(id, body),
            "TopicStatsTable" => written_again::<TopicStats>(id, body),
            "ConsumeMessageDirectlyResult" => written_again::<DirectlyConsumed>(id, body),
            // This client does not let brokers share out queues.
            "QueryAssignmentRequestBody" | "QueryAssignmentResponseBody" => {
                typed -= 1;
                shown_only += 1;
            }
            other => panic!("{id}: {other}"),
        }
    }
    assert_eq!((typed, shown_only), (114, 6));
}
