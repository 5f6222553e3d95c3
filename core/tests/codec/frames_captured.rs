//! Frames recorded between real push consumers, name servers and brokers (`tests/golden/frames-captured.json`): every
//! case is read, by type wherever this library has one, and our requests are compared with Java's.

use crate::golden;

use evenkeel_core::model::{ClientId, Group, MessageQueue, Topic};
use evenkeel_core::time::WallClock;
use evenkeel_core::wire::bodies::{Body, CheckSubscription, Locked, QueueSet};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::{Command, Fields, HeaderEncoding};
use evenkeel_core::wire::fields::Header;
use evenkeel_core::wire::headers::{consume, produce};
use evenkeel_core::wire::peer::{PeerRequest, RunningInfo};
use evenkeel_core::wire::reply::{CallError, PullStatus, Reply};
use evenkeel_core::wire::request::{Heartbeat, Pull, Request, Send, SendBack};
use golden::{cases, expected, shown, text, unhex};
use std::collections::{BTreeMap, BTreeSet};

fn captured() -> Vec<(String, String, i32, Command)> {
    let case = |case: &serde_json::Value| {
        let id = text(case, "id").to_string();
        let (command, encoding) = Command::decode(unhex(text(case, "hex"))).expect(&id);
        assert_eq!(shown(&command), expected(&case["command"]), "{id}");
        let binary = case["command"]["serializeType"] == "ROCKETMQ";
        assert_eq!(encoding == HeaderEncoding::Binary, binary, "{id}");
        let code = case["requestCode"].as_i64().and_then(|code| i32::try_from(code).ok()).expect("a code");
        (id, text(case, "direction").to_string(), code, command)
    };
    cases("frames-captured.json").iter().map(case).collect()
}

#[test]
fn every_captured_frame_is_read() {
    let frames = captured();
    assert_eq!(frames.len(), 196);
    let responses = frames.iter().filter(|(.., command)| command.is_response()).count();
    let one_way = frames.iter().filter(|(.., command)| command.is_one_way()).count();
    assert_eq!((responses, one_way), (85, 20));
}

#[test]
fn what_brokers_ask_is_read_by_type() {
    let mut counts = BTreeMap::<&str, usize>::new();
    for (id, direction, code, command) in captured() {
        if direction != "broker to client" || command.is_response() {
            continue;
        }
        let kind = match PeerRequest::parse(&command).expect(&id) {
            PeerRequest::MembersChanged { .. } => "members",
            PeerRequest::ResetOffsets { offsets, .. } => {
                assert!(!offsets.is_empty(), "{id}");
                "reset"
            }
            PeerRequest::Status { reply, topic, .. } => {
                assert_eq!(Some(reply), command.opaque, "{id}");
                assert!(topic.is_some(), "{id}");
                "status"
            }
            PeerRequest::RunningInfo { .. } => "running-info",
            PeerRequest::ConsumeDirectly { reply, broker, message, .. } => {
                assert_eq!(
                    (Some(reply), code),
                    (command.opaque, RequestCode::CONSUME_MESSAGE_DIRECTLY.0),
                    "{id}"
                );
                assert!(broker.is_some() && message.checksum_matches() == Some(true), "{id}");
                "consume-directly"
            }
            PeerRequest::Unknown { code, .. } => panic!("{id}: {code} is served"),
        };
        *counts.entry(kind).or_default() += 1;
    }
    let wanted = [("consume-directly", 8), ("members", 8), ("reset", 4), ("running-info", 8), ("status", 4)];
    assert_eq!(counts, BTreeMap::from(wanted));
}

/// A request of the kind that this code answers; its content does not matter for reading the answer.
fn some_request(code: i32) -> Option<Request> {
    let group = || Group::from("g");
    let queue = || MessageQueue::new("t", "b", 0);
    Some(match RequestCode(code) {
        RequestCode::GET_ROUTEINFO_BY_TOPIC => Request::Route { topic: Topic::from("t") },
        RequestCode::HEART_BEAT => Request::Heartbeat(Heartbeat {
            client: ClientId::from("c"),
            consumers: vec![],
            producers: vec![],
        }),
        RequestCode::UNREGISTER_CLIENT => Request::Unregister { client: ClientId::from("c"), group: group() },
        RequestCode::GET_CONSUMER_LIST_BY_GROUP => Request::Members { group: group() },
        RequestCode::QUERY_CONSUMER_OFFSET => Request::QueryOffset { group: group(), queue: queue() },
        RequestCode::PULL_MESSAGE => Request::Pull(some_pull()),
        RequestCode::CONSUMER_SEND_MSG_BACK => Request::SendBack(SendBack {
            group: group(),
            broker: "b".into(),
            commit_log_offset: 0,
            delay_level: 0,
            msg_id: String::new(),
            origin_topic: "t".into(),
            max_reconsume_times: 16,
        }),
        RequestCode::SEND_MESSAGE_V2 => Request::Send(some_send()),
        RequestCode::CHECK_CLIENT_CONFIG => Request::CreateTopic { topic: "t".into(), queues: 1, perm: 6 },
        _ => return None,
    })
}

fn some_pull() -> Pull {
    Pull {
        group: "g".into(),
        queue: MessageQueue::new("t", "b", 0),
        offset: 0,
        max_messages: 32,
        commit: None,
        suspend_ms: 15_000,
        subscription_version: 0,
        expression_type: "TAG".to_string(),
        expression: None,
    }
}

fn some_send() -> Send {
    Send {
        group: "g".into(),
        queue: MessageQueue::new("t", "b", 0),
        sys_flag: 0,
        born: WallClock::from_millis(0),
        flag: 0,
        properties: String::new(),
        reconsume_times: 0,
        max_reconsume_times: None,
        batch: false,
        body: bytes::Bytes::new(),
    }
}

#[test]
fn answers_are_read_by_type() {
    let mut counts = BTreeMap::<String, usize>::new();
    for (id, _, code, command) in captured() {
        if !command.is_response() {
            continue;
        }
        let Some(request) = some_request(code) else {
            // Locks, running info, status: bodies of tools and other modes; pop: not spoken by this client.
            match RequestCode(code) {
                RequestCode::LOCK_BATCH_MQ => {
                    assert!(!Locked::decode(&command.body).expect(&id).0.is_empty())
                }
                RequestCode::GET_CONSUMER_RUNNING_INFO => {
                    assert!(!RunningInfo::decode(&command.body).expect(&id).queues.is_empty());
                }
                _ => {}
            }
            *counts.entry(format!("untyped {code}")).or_default() += 1;
            continue;
        };
        let kind = match Reply::parse(&request, command.clone()) {
            Ok(Reply::Route(route)) => {
                assert!(!route.queues.is_empty() && !route.brokers.is_empty(), "{id}");
                "route".to_string()
            }
            Ok(Reply::Heartbeat { version }) => {
                assert!([407, 513].contains(&version), "{id}: {version}");
                "heartbeat".to_string()
            }
            Ok(Reply::Members(members)) => {
                assert!(!members.is_empty(), "{id}");
                "members".to_string()
            }
            Ok(Reply::Offset(offset)) => {
                format!("offset {}", if offset.is_some() { "known" } else { "unknown" })
            }
            Ok(Reply::Pulled(pulled)) => {
                assert!(pulled.min <= pulled.max && pulled.suggested_broker == 0, "{id}");
                assert_eq!(pulled.status == PullStatus::Found, command.code == 0, "{id}");
                format!("pulled {:?}", pulled.status)
            }
            Ok(Reply::Sent(sent)) => {
                assert_eq!(sent.code, ResponseCode::SUCCESS, "{id}");
                "sent".to_string()
            }
            Ok(Reply::Done) => "done".to_string(),
            Ok(other) => panic!("{id}: {other:?}"),
            Err(CallError::Refused(refusal)) => {
                format!("refused {} with {}", refusal.request.0, refusal.code.0)
            }
            Err(error) => panic!("{id}: {error}"),
        };
        *counts.entry(kind).or_default() += 1;
    }
    let wanted = [
        ("done", 12),
        ("heartbeat", 6),
        ("members", 4),
        ("offset known", 4),
        ("offset unknown", 2),
        ("pulled Found", 4),
        ("pulled NoMatch", 4),
        ("pulled NoNew", 5),
        ("refused 105 with 17", 8),
        ("refused 11 with 25", 4),
        ("route", 4),
        ("sent", 2),
        ("untyped 200050", 2),
        ("untyped 200051", 1),
        ("untyped 221", 4),
        ("untyped 307", 4),
        ("untyped 309", 4),
        ("untyped 3442", 1),
        ("untyped 400", 2),
        ("untyped 41", 4),
        ("untyped 42", 4),
    ];
    assert_eq!(counts, wanted.map(|(kind, count)| (kind.to_string(), count)).into());
}

/// Our request for the same purpose as this one of Java's.
fn our_request(id: &str, command: &Command) -> Option<Request> {
    let fields = &command.fields;
    let queue =
        |topic: Topic, broker: Option<_>, number| MessageQueue::new(topic, broker.expect("bname"), number);
    Some(match command.request_code() {
        RequestCode::GET_ROUTEINFO_BY_TOPIC => {
            Request::Route { topic: consume::GetRouteInfo::from_fields(fields).expect(id).topic }
        }
        RequestCode::HEART_BEAT => Request::Heartbeat(Heartbeat::decode(&command.body).expect(id)),
        RequestCode::UNREGISTER_CLIENT => {
            let header = consume::UnregisterClient::from_fields(fields).expect(id);
            Request::Unregister { client: header.client, group: header.consumer_group? }
        }
        RequestCode::GET_CONSUMER_LIST_BY_GROUP => {
            Request::Members { group: consume::GetConsumerList::from_fields(fields).expect(id).group }
        }
        RequestCode::QUERY_CONSUMER_OFFSET => {
            let header = consume::QueryConsumerOffset::from_fields(fields).expect(id);
            let queue = queue(header.topic, header.broker, header.queue_id);
            Request::QueryOffset { group: header.group, queue }
        }
        RequestCode::UPDATE_CONSUMER_OFFSET => {
            let header = consume::UpdateConsumerOffset::from_fields(fields).expect(id);
            let queue = queue(header.topic, header.broker, header.queue_id);
            Request::CommitOffset { group: header.group, queue, offset: header.commit_offset }
        }
        RequestCode::PULL_MESSAGE => {
            let header = consume::PullMessage::from_fields(fields).expect(id);
            Request::Pull(Pull {
                group: header.group,
                queue: queue(header.topic, header.broker, header.queue_id),
                offset: header.queue_offset,
                max_messages: header.max_messages,
                commit: (header.sys_flag & 1 != 0).then_some(header.commit_offset),
                suspend_ms: header.suspend_ms,
                subscription_version: header.subscription_version,
                expression_type: header.expression_type.expect(id),
                expression: header.subscription,
            })
        }
        RequestCode::CONSUMER_SEND_MSG_BACK => {
            let header = consume::SendMessageBack::from_fields(fields).expect(id);
            Request::SendBack(SendBack {
                group: header.group,
                broker: header.broker.expect(id),
                commit_log_offset: header.commit_log_offset,
                delay_level: header.delay_level,
                msg_id: header.origin_msg_id.expect(id),
                origin_topic: header.origin_topic.expect(id),
                max_reconsume_times: header.max_reconsume_times.expect(id),
            })
        }
        RequestCode::SEND_MESSAGE_V2 => {
            let header = produce::SendMessageV2::from_fields(fields).expect(id);
            Request::Send(Send {
                group: header.group,
                queue: queue(header.topic, header.broker, header.queue_id),
                sys_flag: header.sys_flag,
                born: WallClock::from_millis(header.born),
                flag: header.flag,
                properties: header.properties.expect(id),
                reconsume_times: header.reconsume_times.expect(id),
                max_reconsume_times: header.max_reconsume_times,
                batch: header.batch.expect(id),
                body: command.body.clone(),
            })
        }
        RequestCode::CHECK_CLIENT_CONFIG => {
            let CheckSubscription { client, group, subscription } =
                CheckSubscription::decode(&command.body).expect(id);
            Request::CheckSubscription { client, group, subscription }
        }
        RequestCode::LOCK_BATCH_MQ | RequestCode::UNLOCK_BATCH_MQ => {
            let set = QueueSet::decode(&command.body).expect(id);
            assert_eq!(QueueSet::decode(&set.encode()).expect(id), set, "{id}");
            return None;
        }
        _ => return None,
    })
}

#[test]
fn our_requests_carry_the_fields_of_javas() {
    let (mut compared, mut left_out, mut added) = (0, BTreeSet::new(), BTreeSet::new());
    for (id, direction, _, java) in captured() {
        if java.is_response() || !direction.starts_with("client") {
            continue;
        }
        let Some(request) = our_request(&id, &java) else { continue };
        let ours = request.to_command();
        compared += 1;
        assert_eq!(ours.code, java.code, "{id}");
        for (name, value) in ours.fields.iter() {
            match java.fields.get(name) {
                // Without the commit flag nobody looks at the offset: Java sends 0 or -1.
                Some(_) if name == "commitOffset" && java.fields.get("sysFlag") == Some("2") => {}
                Some(java) => assert_eq!(value, java, "{id}: {name}"),
                None => drop(added.insert((ours.code, name.to_string()))),
            }
        }
        let missing = |fields: &Fields| {
            java.fields
                .iter()
                .filter(|(name, _)| fields.get(name).is_none())
                .map(|(name, _)| name.to_string())
                .collect::<Vec<_>>()
        };
        left_out.extend(missing(&ours.fields).into_iter().map(|name| (ours.code, name)));
    }
    let pairs = |names: &[(i32, &str)]| -> BTreeSet<(i32, String)> {
        names.iter().map(|&(code, name)| (code, name.to_string())).collect()
    };
    assert_eq!(added, pairs(&[]));
    // 5.x sends it, and its brokers do not look at it.
    assert_eq!(left_out, pairs(&[(11, "maxMsgBytes")]));
    assert_eq!(compared, 62);
}
