//! Bodies that we write, letter by letter as the published Java classes write them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use evenkeel_core::model::{Group, MessageQueue, Topic};
use evenkeel_core::time::WallClock;
use evenkeel_core::wire::bodies::{
    Announcement, Body, Connection, ConsumerStatus, DataVersion, GroupConfig, GroupTable, KvTable, Locked,
    OffsetTable, ProducerConnection, QueueSet, RegisteredBroker, ResetTable, TopicConfig, TopicList,
    old_route_text, served_cluster_text, served_route_text,
};
use evenkeel_core::wire::code::{LanguageCode, RequestCode, ResponseCode};
use evenkeel_core::wire::command::{Command, HeaderEncoding};
use evenkeel_core::wire::error::{WireError, WireErrorKind};
use evenkeel_core::wire::fields::Header;
use evenkeel_core::wire::headers::consume::{QueryConsumerOffset, SendMessageBack};
use evenkeel_core::wire::peer::{Answer, ConsumeStatus, ProcessQueueInfo, RunningInfo};
use evenkeel_core::wire::reply::{BrokerData, ClusterInfo, QueueData, TopicRoute};
use evenkeel_core::wire::request::{
    ConsumeFrom, ConsumerData, Heartbeat, MessageModel, Request, SubscriptionData,
};
use evenkeel_core::wire::subscription::Subscription;
use hex_literal::hex;
use std::collections::{BTreeMap, BTreeSet};

fn queue(id: i32) -> MessageQueue {
    MessageQueue::new("t", "b", id)
}

/// The body as text, and that it is read back as the same value.
fn text<T: Body + PartialEq + std::fmt::Debug>(body: &T) -> String {
    let bytes = body.encode();
    assert_eq!(&T::decode(&bytes).unwrap(), body);
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn route_request_is_the_frame_that_java_makes() {
    let mut command = Request::Route { topic: Topic::from("TopicTest") }.to_command();
    command.opaque = Some(7);
    command.version = 477;
    command.language = Some(LanguageCode::JAVA);
    let header = r#"{"code":105,"extFields":{"topic":"TopicTest"},"flag":0,"language":"JAVA","opaque":7,"serializeTypeCurrentRPC":"JSON","version":477}"#;
    let frame = [&hex!("0000008700000083")[..], header.as_bytes()].concat();
    assert_eq!(command.encode(HeaderEncoding::Json).unwrap(), frame);
    let frame = hex!(
        "0000002d 01000029 0069 00 01dd 00000007 00000000 00000000 00000014 0005 746f706963 00000009 546f70696354657374"
    );
    assert_eq!(command.encode(HeaderEncoding::Binary).unwrap(), &frame[..]);
}

#[test]
fn response_header() {
    let mut command = Command::response(ResponseCode::TOPIC_NOT_EXIST, Some(7)).with_remark("No topic");
    command.version = 477;
    command.language = Some(LanguageCode::JAVA);
    let header = r#"{"code":17,"flag":1,"language":"JAVA","opaque":7,"remark":"No topic","serializeTypeCurrentRPC":"JSON","version":477}"#;
    assert_eq!(&command.encode(HeaderEncoding::Json).unwrap()[8..], header.as_bytes());
}

#[test]
fn heartbeat() {
    let subscription = |topic: &str, expression: &str, version| SubscriptionData {
        subscription: Subscription::tags(Topic::from(topic), Some(expression)).unwrap(),
        version,
        class_filter_mode: false,
    };
    let heartbeat = Heartbeat {
        client: "127.0.0.1@1#2".into(),
        consumers: vec![ConsumerData {
            group: Group::from("g1"),
            model: MessageModel::Clustering,
            start_from: ConsumeFrom::Last,
            subscriptions: vec![
                subscription("TopicA", "TagA || TagB", 1_700_000_000_000),
                subscription("%RETRY%g1", "*", 1_700_000_000_001),
            ],
            unit_mode: false,
        }],
        producers: vec![Group::from("CLIENT_INNER_PRODUCER")],
    };
    let java_4_9 = r#"{"clientID":"127.0.0.1@1#2","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"g1","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":[2598919,2598920],"expressionType":"TAG","subString":"TagA || TagB","subVersion":1700000000000,"tagsSet":["TagA","TagB"],"topic":"TopicA"},{"classFilterMode":false,"codeSet":[],"expressionType":"TAG","subString":"*","subVersion":1700000000001,"tagsSet":[],"topic":"%RETRY%g1"}],"unitMode":false}],"producerDataSet":[{"groupName":"CLIENT_INNER_PRODUCER"}]}"#;
    assert_eq!(text(&heartbeat), java_4_9);
}

#[test]
fn heartbeats_of_other_clients_are_read() {
    let body = br#"{"clientID":"c","consumerDataSet":[{"groupName":"g","messageModel":0,"consumeFromWhere":4},{"groupName":"h","messageModel":"broadcasting","consumeFromWhere":"CONSUME_FROM_TIMESTAMP"},{"groupName":"i"}]}"#;
    let consumers = Heartbeat::decode(body).unwrap().consumers;
    let read: Vec<_> = consumers.iter().map(|consumer| (consumer.model, consumer.start_from)).collect();
    let wanted = [
        (MessageModel::Broadcasting, ConsumeFrom::First),
        (MessageModel::Broadcasting, ConsumeFrom::Timestamp(WallClock::from_millis(0))),
        (MessageModel::Clustering, ConsumeFrom::Last),
    ];
    assert_eq!(read, wanted);
}

#[test]
fn a_broker_takes_a_heartbeat_whatever_is_missing_and_gives_back_what_was_sent() {
    let second = r#"{"clientID":"c","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_MIN_OFFSET","consumeType":"CONSUME_POP","groupName":"g","messageModel":"BROADCASTING","subscriptionDataSet":[{"classFilterMode":true,"codeSet":[7],"expressionType":"TAG","subString":"a","subVersion":1,"tagsSet":["a"],"topic":"t"}],"unitMode":true}],"heartbeatFingerprint":5,"producerDataSet":[{"groupName":"p"}],"withoutSub":true}"#;
    assert_eq!(text(&Announcement::decode(second.as_bytes()).unwrap()), second, "the code is not the tag's");
    let odd = br#"{"clientID":null,"consumerDataSet":[null,{"consumeType":0,"subscriptionDataSet":[{}]}],"producerDataSet":7}"#;
    let odd = Announcement::decode(odd).unwrap();
    let kinds: Vec<_> = odd.consumers.iter().map(|group| group.consume_type.name()).collect();
    assert_eq!(kinds, ["CONSUME_PASSIVELY", "CONSUME_ACTIVELY"]);
    assert!(odd.consumers.iter().all(|group| group.subscriptions.is_empty()) && odd.producers.is_empty());
}

#[test]
fn servers_make_the_best_of_the_fields_they_get() {
    let request = Command::request(RequestCode::CONSUMER_SEND_MSG_BACK)
        .with_field("group", "g")
        .with_field("offset", "")
        .with_field("maxReconsumeTimes", "x")
        .with_field("setZeroIfNotFound", "");
    let read = SendMessageBack::from_fields_or(&request.fields, &[("offset", "-1"), ("delayLevel", "3")]);
    let read = read.unwrap();
    assert_eq!((read.commit_log_offset, read.delay_level, read.max_reconsume_times), (-1, 3, None));
    let missing = WireError::new(WireErrorKind::MissingField, 0, "offset");
    assert_eq!(SendMessageBack::from_fields_or(&request.fields, &[]), Err(missing));
    let number = WireError::new(WireErrorKind::BadNumber, 0, "queueId");
    let query = request.with_field("consumerGroup", "g").with_field("topic", "t").with_field("queueId", "x");
    assert_eq!(QueryConsumerOffset::from_fields_or(&query.fields, &[]), Err(number));
    let query = QueryConsumerOffset::from_fields_or(&query.fields, &[("queueId", "2")]).unwrap();
    assert_eq!((query.queue_id, query.set_zero_if_not_found), (2, Some(false)));
}

#[test]
fn locks() {
    let set = QueueSet {
        group: "g".into(),
        client: "c".into(),
        only_this_broker: false,
        queues: BTreeSet::from([queue(0), queue(1)]),
    };
    assert_eq!(
        text(&set),
        r#"{"clientId":"c","consumerGroup":"g","mqSet":[{"brokerName":"b","queueId":0,"topic":"t"},{"brokerName":"b","queueId":1,"topic":"t"}],"onlyThisBroker":false}"#
    );
    let locked = Locked(BTreeSet::from([queue(0)]));
    assert_eq!(text(&locked), r#"{"lockOKMQSet":[{"brokerName":"b","queueId":0,"topic":"t"}]}"#);
}

#[test]
fn offset_tables() {
    let table = BTreeMap::from([(queue(0), 5), (queue(1), 7)]);
    let rows =
        r#"{{"brokerName":"b","queueId":0,"topic":"t"}:5,{"brokerName":"b","queueId":1,"topic":"t"}:7}"#;
    assert_eq!(text(&ResetTable(table.clone())), format!(r#"{{"offsetTable":{rows}}}"#));
    assert_eq!(text(&OffsetTable(table.clone())), format!(r#"{{"offsetTable":{rows}}}"#));
    let status = format!(r#"{{"consumerTable":{{}},"messageQueueTable":{rows}}}"#);
    assert_eq!(text(&ConsumerStatus(table.clone())), status);
    assert_eq!(Answer::Status(table.clone()).to_command(3).body, status.as_bytes());

    let list = ResetTable(table.clone()).to_list_value().to_text();
    assert_eq!(ResetTable::decode(list.as_bytes()).unwrap().0, table);
    let file = "{\n\t\"offsetTable\":{{\n\t\t\t\"brokerName\":\"b\",\n\t\t\t\"queueId\":0,\n\t\t\t\"topic\":\"t\"\n\t\t}:5,{\n\t\t\t\"brokerName\":\"b\",\n\t\t\t\"queueId\":1,\n\t\t\t\"topic\":\"t\"\n\t\t}:7\n\t}\n}";
    assert_eq!(OffsetTable::decode(file.as_bytes()).unwrap().0, table);
}

#[test]
fn running_info() {
    let info = RunningInfo {
        properties: BTreeMap::from([("PROP_CONSUMEORDERLY".to_string(), "false".to_string())]),
        subscriptions: vec![],
        queues: BTreeMap::from([(queue(0), ProcessQueueInfo { commit_offset: 5, ..Default::default() })]),
        popped: BTreeMap::new(),
        status: BTreeMap::from([(Topic::from("t"), ConsumeStatus::default())]),
    };
    assert_eq!(
        text(&info),
        r#"{"mqTable":{{"brokerName":"b","queueId":0,"topic":"t"}:{"cachedMsgCount":0,"cachedMsgMaxOffset":0,"cachedMsgMinOffset":0,"cachedMsgSizeInMiB":0,"commitOffset":5,"droped":false,"lastConsumeTimestamp":0,"lastLockTimestamp":0,"lastPullTimestamp":0,"locked":false,"transactionMsgCount":0,"transactionMsgMaxOffset":0,"transactionMsgMinOffset":0,"tryUnlockTimes":0}},"properties":{"PROP_CONSUMEORDERLY":"false"},"statusTable":{"t":{"consumeFailedMsgs":0,"consumeFailedTPS":0.0,"consumeOKTPS":0.0,"consumeRT":0.0,"pullRT":0.0,"pullTPS":0.0}},"subscriptionSet":[]}"#
    );
}

fn route() -> TopicRoute {
    TopicRoute {
        queues: vec![QueueData {
            broker: "broker-a".into(),
            read_queues: 4,
            write_queues: 4,
            perm: 6,
            sys_flag: 0,
        }],
        brokers: vec![BrokerData {
            cluster: "DefaultCluster".to_string(),
            broker: "broker-a".into(),
            addresses: BTreeMap::from([(0, "127.0.0.1:10911".into()), (1, "127.0.0.1:10921".into())]),
        }],
        order_conf: None,
    }
}

#[test]
fn routes() {
    let old = r#"{"brokerDatas":[{"brokerAddrs":{0:"127.0.0.1:10911",1:"127.0.0.1:10921"},"brokerName":"broker-a","cluster":"DefaultCluster"}],"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}"#;
    assert_eq!(old_route_text(&route()), old);
    assert_eq!(text(&route()), old.replace("{0:", "{\"0\":").replace(",1:", ",\"1\":"));
    assert_eq!(TopicRoute::decode(old.as_bytes()).unwrap(), route());

    let cluster = ClusterInfo {
        brokers: route().brokers,
        clusters: BTreeMap::from([("DefaultCluster".to_string(), vec!["broker-a".into()])]),
    };
    assert_eq!(
        text(&cluster),
        r#"{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"127.0.0.1:10911",1:"127.0.0.1:10921"},"brokerName":"broker-a","cluster":"DefaultCluster"}},"clusterAddrTable":{"DefaultCluster":["broker-a"]}}"#
    );
    let acting = |text: &str| {
        text.replace(
            "\"cluster\":\"DefaultCluster\"}",
            "\"cluster\":\"DefaultCluster\",\"enableActingMaster\":false}",
        )
    };
    assert_eq!(served_route_text(&route(), false), acting(old));
    assert_eq!(served_route_text(&route(), true), acting(&text(&route())));
    assert_eq!(served_cluster_text(&cluster), acting(&text(&cluster)));
    assert_eq!(text(&TopicList(vec!["a".into(), "b".into()])), r#"{"topicList":["a","b"]}"#);
}

#[test]
fn groups_and_tables() {
    assert_eq!(
        text(&GroupConfig::new("g".into())),
        r#"{"brokerId":0,"consumeBroadcastEnable":true,"consumeEnable":true,"consumeFromMinEnable":true,"groupName":"g","notifyConsumerIdsChangedEnable":true,"retryMaxTimes":16,"retryQueueNums":1,"whichBrokerWhenConsumeSlowly":1}"#
    );
    let group = GroupConfig::new("g".into());
    let groups = GroupTable {
        version: DataVersion::default(),
        groups: BTreeMap::from([(group.group.clone(), group.clone())]),
    };
    assert_eq!(
        text(&groups),
        format!(
            r#"{{"dataVersion":{{"counter":0,"stateVersion":0,"timestamp":0}},"subscriptionGroupTable":{{"g":{}}}}}"#,
            text(&group)
        )
    );
    let producer = Connection {
        client: "c".into(),
        address: "10.0.0.1:1".to_string(),
        language: Some(LanguageCode::JAVA),
        version: 475,
    };
    assert_eq!(
        text(&ProducerConnection(vec![producer])),
        r#"{"connectionSet":[{"clientAddr":"10.0.0.1:1","clientId":"c","language":"JAVA","version":475}]}"#
    );
    let table = KvTable(BTreeMap::from([("t".to_string(), "broker-a:4".to_string())]));
    assert_eq!(text(&table), r#"{"table":{"t":"broker-a:4"}}"#);
}

#[test]
fn registration_of_a_broker_is_read_plain_and_compressed() {
    let topic = TopicConfig {
        topic: "TopicTest".into(),
        read_queues: 4,
        write_queues: 4,
        perm: 6,
        sys_flag: 0,
        order: false,
    };
    let registered = RegisteredBroker {
        version: DataVersion { counter: 3, timestamp: 1_700_000_000_000, state_version: 0 },
        topics: BTreeMap::from([(topic.topic.clone(), topic)]),
    };
    let plain = r#"{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":1700000000000},"mappingDataVersion":{"counter":0,"stateVersion":0,"timestamp":1700000000000},"topicConfigTable":{"TopicTest":{"attributes":{},"order":false,"perm":6,"readQueueNums":4,"topicFilterType":"SINGLE_TAG","topicName":"TopicTest","topicSysFlag":0,"writeQueueNums":4}},"topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":{}}}"#;
    assert_eq!(RegisteredBroker::decode(plain.as_bytes()).unwrap(), registered);
    text(&registered);

    let mut unpacked = Vec::new();
    let mut put = |part: &[u8]| {
        unpacked.extend_from_slice(&(part.len() as u32).to_be_bytes());
        unpacked.extend_from_slice(part);
    };
    put(br#"{"counter":3,"stateVersion":0,"timestamp":1700000000000}"#);
    unpacked.extend_from_slice(&hex!("00000001 0000001d"));
    unpacked.extend_from_slice(b"TopicTest 4 4 6 SINGLE_TAG {}");
    unpacked.extend_from_slice(&hex!("00000002 5b5d 00000000"));
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&unpacked, 6);
    assert_eq!(RegisteredBroker::decode_compressed(&packed).unwrap(), registered);

    for end in 0..packed.len() {
        assert!(RegisteredBroker::decode_compressed(&packed[..end]).is_err());
    }
    for end in 0..100 {
        let cut = miniz_oxide::deflate::compress_to_vec_zlib(&unpacked[..end.min(96)], 6);
        let error = RegisteredBroker::decode_compressed(&cut).unwrap_err();
        assert!(matches!(error.kind, WireErrorKind::Truncated | WireErrorKind::BadNumber), "{end}: {error}");
    }
    let bomb = miniz_oxide::deflate::compress_to_vec_zlib(&vec![0; 32 << 20], 6);
    assert_eq!(RegisteredBroker::decode_compressed(&bomb).unwrap_err().kind, WireErrorKind::BadCompression);
}

#[test]
fn every_request_has_its_code() {
    assert_eq!(Request::ClusterInfo.to_command().request_code(), RequestCode::GET_BROKER_CLUSTER_INFO);
    let create = Request::CreateTopic { topic: "t".into(), queues: 8, perm: 6 }.to_command();
    let fields: Vec<_> = create.fields.iter().collect();
    assert_eq!(
        fields,
        [
            ("topic", "t"),
            ("defaultTopic", "TBW102"),
            ("readQueueNums", "8"),
            ("writeQueueNums", "8"),
            ("perm", "6"),
            ("topicFilterType", "SINGLE_TAG"),
            ("topicSysFlag", "0"),
            ("order", "false"),
        ]
    );
}
