//! A member that its broker lists twice, as it does for up to two minutes after a heartbeat that waited for longer than its
//! connection lived. A Java member leaves both places their queues: both are ours, and none has nobody.

use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::Members;
use evenkeel_tests::raw::Raw;
use serde_json::json;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn c15_both_places_are_ours_beside_a_java_member_on_4_9() {
    both_places_are_ours(Version::V4);
}

#[test]
fn c15_both_places_are_ours_beside_a_java_member_on_5() {
    both_places_are_ours(Version::V5);
}

fn both_places_are_ours(version: Version) {
    let cluster = Cluster::start(version, &Options::default());
    cluster.create_topic("orders", 6);
    let mut java = Peer::start(version);
    let consume =
        json!({"cmd": "consume", "namesrv": cluster.namesrv(), "group": "readers", "topic": "orders"});
    java.call(consume, MINUTE);
    java.settle("orders", 6, MINUTE);
    let mut members = Members::new(&cluster.namesrv(), "readers", "orders");
    let ours = members.start(&[]);
    assert!(members.settle(MINUTE, |owned| owned[&ours].len() == 3), "{}", members.tails());
    java.settle("orders", 3, MINUTE);

    let mut twin = Raw::connect(&cluster.broker(0));
    assert_eq!(twin.ask(&heartbeat(members.client(ours))).code, ResponseCode::SUCCESS.0);
    java.settle("orders", 2, MINUTE);
    assert!(members.settle(MINUTE, |owned| owned[&ours].len() == 4), "{}", members.tails());
    assert!(members.stderr(ours).contains("duplicate-client-id"), "{}", members.tails());

    drop(twin);
    java.settle("orders", 3, MINUTE);
    assert!(members.settle(MINUTE, |owned| owned[&ours].len() == 3), "{}", members.tails());
    assert_eq!(members.stop(ours).code, Some(0));
    java.shutdown();
}

fn heartbeat(client: &str) -> Command {
    let subscription = json!({
        "topic": "orders", "subString": "*", "expressionType": "TAG", "subVersion": 1, "tagsSet": [], "codeSet": [],
        "classFilterMode": false,
    });
    let consumer = json!({
        "groupName": "readers", "consumeType": "CONSUME_PASSIVELY", "messageModel": "CLUSTERING",
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET", "subscriptionDataSet": [subscription], "unitMode": false,
    });
    let body = json!({"clientID": client, "consumerDataSet": [consumer], "producerDataSet": []});
    Command::request(RequestCode::HEART_BEAT).with_body(body.to_string())
}
