//! What an operator asks: our requests carry what Java's tools sent, and the answers that Java's servers gave them are
//! read (`tests/golden/bodies.json`).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::golden::{cases, fields, section, text};
use evenkeel_core::model::{Group, Topic};
use evenkeel_core::wire::bodies::{Body, DataVersion, GroupConfig, GroupTable};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::{Command, Fields};
use evenkeel_core::wire::reply::{CallError, Reply};
use evenkeel_core::wire::request::Request;
use evenkeel_core::wire::version::release;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Our request for what a Java tool asked a broker.
fn our_request(case: &Value) -> Option<Request> {
    let sent = fields(&case["request"]["extFields"]);
    let field = |name: &str| sent.get(name).unwrap_or_else(|| panic!("no {name} in {case}"));
    let code = RequestCode(i32::try_from(case["requestCode"].as_i64()?).ok()?);
    Some(match code {
        RequestCode::GET_CONSUMER_CONNECTION_LIST => {
            Request::Connections { group: field("consumerGroup").into() }
        }
        RequestCode::GET_CONSUMER_RUNNING_INFO => {
            Request::RunningInfo { group: field("consumerGroup").into(), client: field("clientId").into() }
        }
        RequestCode::GET_CONSUME_STATS => Request::ConsumeStats {
            group: field("consumerGroup").into(),
            topic: sent.get("topic").map(Topic::from),
        },
        RequestCode::GET_TOPIC_STATS_INFO => Request::TopicStats { topic: field("topic").into() },
        _ => return None,
    })
}

#[test]
fn java_tools_and_their_brokers() {
    let cases = cases("bodies.json");
    let (mut counts, mut refused) = (BTreeMap::<RequestCode, usize>::new(), 0);
    for case in section(&cases, "seen").filter(|case| case["direction"] == "broker to admin") {
        let id = text(case, "id");
        let Some(request) = our_request(case) else { continue };
        let command = request.to_command();
        let sorted = |fields: &Fields| -> BTreeMap<String, String> {
            fields.iter().map(|(name, value)| (name.into(), value.into())).collect()
        };
        assert_eq!(sorted(&command.fields), sorted(&fields(&case["request"]["extFields"])), "{id}");
        let code = i32::try_from(case["responseCode"].as_i64().expect(id)).expect(id);
        let body = case["text"].as_str().unwrap_or_default().as_bytes().to_vec();
        let reply = Reply::parse(&request, Command::response(ResponseCode(code), Some(1)).with_body(body));
        if code == ResponseCode::SYSTEM_ERROR.0 {
            assert!(matches!(reply, Err(CallError::Refused(_))), "{id}: the member is not there: {reply:?}");
            refused += 1;
            continue;
        }
        match reply.expect(id) {
            Reply::Connections(Some(seen)) => {
                let versions: BTreeSet<_> = seen.connections.iter().map(|one| release(one.version)).collect();
                let version = if case["server"] == "4.9.7" { "4.9.7" } else { "5.5.0" };
                assert_eq!(versions, BTreeSet::from([Some(version.to_string())]), "{id}");
                assert_eq!((seen.connections.len(), seen.subscriptions.len()), (2, 2), "{id}");
            }
            Reply::RunningInfo(info) => {
                let strategy = info.properties.get("allocateMessageQueueStrategy");
                assert!(strategy.is_some_and(|name| name.contains("AllocateMessageQueueAveragely@")), "{id}");
                assert!(!info.queues.is_empty() && !info.subscriptions.is_empty(), "{id}");
                let popped: Vec<i32> = info.popped.keys().map(|queue| queue.id).collect();
                let wanted: &[i32] = if text(case, "name").contains("POP") { &[-1] } else { &[] };
                assert_eq!(popped, wanted, "{id}: -1 is all queues of the broker");
            }
            Reply::ConsumeStats(stats) => assert!(stats.tps > 0.0 && stats.queues.len() == 4, "{id}"),
            Reply::TopicStats(stats) => assert_eq!(stats.0.len(), 4, "{id}"),
            other => panic!("{id}: {other:?}"),
        }
        *counts.entry(command.request_code()).or_default() += 1;
    }
    let wanted = [
        (RequestCode::GET_TOPIC_STATS_INFO, 2),
        (RequestCode::GET_CONSUMER_CONNECTION_LIST, 2),
        (RequestCode::GET_CONSUME_STATS, 2),
        (RequestCode::GET_CONSUMER_RUNNING_INFO, 8),
    ];
    assert_eq!((counts, refused), (BTreeMap::from(wanted), 2));
}

#[test]
fn a_group_without_members_is_an_answer_and_other_refusals_are_not() {
    let request = Request::Connections { group: "g".into() };
    let answer = |code| Command::response(code, Some(1)).with_remark("no");
    let offline = Reply::parse(&request, answer(ResponseCode::CONSUMER_NOT_ONLINE));
    assert_eq!(offline, Ok(Reply::Connections(None)));
    let refused = Reply::parse(&request, answer(ResponseCode::NO_PERMISSION));
    assert!(matches!(refused, Err(CallError::Refused(_))), "{refused:?}");
    let question = Request::RunningInfo { group: "g".into(), client: "c".into() };
    let silent = Reply::parse(&question, answer(ResponseCode::CONSUME_MSG_TIMEOUT));
    assert!(matches!(silent, Err(CallError::Refused(_))), "{silent:?}");
}

#[test]
fn groups_come_in_pages_or_all_at_once() {
    let first = Request::GroupConfigs { skip: 0, version: None }.to_command();
    assert_eq!(first.request_code(), RequestCode::GET_ALL_SUBSCRIPTIONGROUP_CONFIG);
    assert_eq!(first.fields.iter().collect::<Vec<_>>(), [("groupSeq", "0")]);
    let version = DataVersion { counter: 3, timestamp: 1_700_000_000_000, state_version: 0 };
    let later = Request::GroupConfigs { skip: 2, version: Some(version) };
    let sent = later.to_command();
    assert_eq!(
        sent.fields.get("dataVersion"),
        Some(r#"{"counter":3,"stateVersion":0,"timestamp":1700000000000}"#)
    );

    let groups = ["a", "b"].map(|name| (Group::from(name), GroupConfig::new(Group::from(name)))).into();
    let table = GroupTable { version, groups };
    let answer = Command::response(ResponseCode::SUCCESS, Some(1)).with_body(table.encode());
    for (total, answer) in [(None, answer.clone()), (Some(4), answer.with_field("totalGroupNum", 4))] {
        let Ok(Reply::Groups(page)) = Reply::parse(&later, answer) else { panic!("not a page") };
        assert_eq!((page.total, &page.table), (total, &table));
    }
}

#[test]
fn versions_are_named_as_java_names_them() {
    let named = [17, 45, 46, 63, 85, 86, 103, 104, 121, 211, 212, 213, 355, 407, 413, 475, 513, 611];
    let names = named.map(|version| release(version).unwrap());
    let wanted = [
        "3.0.1",
        "3.0.15",
        "3.1.0-SNAPSHOT",
        "3.1.8",
        "3.2.9",
        "3.3.1-SNAPSHOT",
        "3.3.9",
        "3.4.1-SNAPSHOT",
        "3.4.9",
        "3.9.9",
        "4.0.0-SNAPSHOT",
        "4.0.0",
        "4.7.1",
        "4.9.7",
        "5.0.0",
        "5.3.1",
        "5.5.0",
        "5.9.9",
    ];
    assert_eq!(names, wanted);
    for unknown in [i32::MIN, -1, 0, 15, 612, i32::MAX] {
        assert_eq!(release(unknown), None, "{unknown}");
    }
}
