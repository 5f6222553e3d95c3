//! Responses of rocketmq-dashboard, as its controllers write them.

use evenkeel_core::paste::{Kind, parse};

use crate::mqadmin::{ids, queues};

const ROUTE: &str = r#"{"status":0,"data":{"orderTopicConf":null,"queueDatas":[{"brokerName":"broker-a","readQueueNums":8,"writeQueueNums":8,"perm":6,"topicSysFlag":0},{"brokerName":"broker-b","readQueueNums":4,"writeQueueNums":4,"perm":2,"topicSysFlag":0}],"brokerDatas":[{"cluster":"c","brokerName":"broker-a","brokerAddrs":{"0":"10.0.0.1:10911"},"zoneName":null,"enableActingMaster":false}],"filterServerTable":{},"topicQueueMappingByBroker":null},"errMsg":null}"#;
const CONNECTIONS: &str = r#"{"status":0,"data":{"connectionSet":[{"clientId":"10.0.3.11@7","clientAddr":"10.0.3.11:5104","language":"JAVA","version":395,"versionDesc":"V4_9_7"},{"clientId":"10.0.3.12@7","clientAddr":"10.0.3.12:5104","language":"GO","version":317,"versionDesc":"V4_6_0"}],"subscriptionTable":{"orders":{"classFilterMode":false,"topic":"orders","subString":"paid","tagsSet":["paid"],"codeSet":[3433164],"subVersion":1,"expressionType":"TAG"},"%RETRY%pay":{"topic":"%RETRY%pay","subString":"*"}},"consumeType":"CONSUME_PASSIVELY","messageModel":"CLUSTERING","consumeFromWhere":"CONSUME_FROM_LAST_OFFSET"},"errMsg":null}"#;
const PROGRESS: &str = r#"{"status":0,"data":[{"topic":"orders","diffTotal":7,"lastTimestamp":1767225600123,"queueStatInfoList":[{"brokerName":"broker-a","queueId":0,"brokerOffset":9007199254740993,"consumerOffset":9007199254740986,"clientInfo":"10.0.3.11@7","lastTimestamp":1767225600123},{"brokerName":"broker-a","queueId":1,"brokerOffset":5,"consumerOffset":9,"clientInfo":null,"lastTimestamp":0}]}],"errMsg":null}"#;

#[test]
fn a_route_takes_its_name_from_the_subscription() {
    let parsed = parse(&[ROUTE, CONNECTIONS].join("\n"));
    assert_eq!((parsed.problems.as_slice(), &parsed.kinds), ([].as_slice(), &vec![Kind::Dashboard]));
    assert_eq!(queues(&parsed), ["orders broker-a=8", "orders broker-b=4"]);
    assert!(!parsed.snapshot.topics[0].brokers[1].readable, "perm 2 is write only");
    assert_eq!(ids(&parsed), ["10.0.3.11@7", "10.0.3.12@7"]);
    assert_eq!(parsed.snapshot.consumers[1].version.as_deref(), Some("V4_6_0"));
    assert_eq!(parsed.snapshot.group.unwrap().as_str(), "pay");
}

#[test]
fn progress_tells_owners_by_id_and_keeps_every_digit() {
    let parsed = parse(&[PROGRESS, CONNECTIONS].join("\n"));
    let owned = parsed.snapshot.owned.unwrap();
    assert_eq!(owned[0].owners[0].as_str(), "10.0.3.11@7");
    assert_eq!(owned[1].owners, []);
    let lags: Vec<_> = parsed.snapshot.load.iter().flatten().map(|load| load.lag).collect();
    assert_eq!(lags, [Some(7), None]);
    assert!(parsed.problems[0].expected.contains("at most brokerOffset"), "{:?}", parsed.problems);
}

#[test]
fn a_failed_response_says_why() {
    let parsed = parse(r#"{"status":-1,"data":null,"errMsg":"CODE: 17 DESC: no route"}"#);
    assert!(
        parsed.problems[0].expected.ends_with("this says: CODE: 17 DESC: no route"),
        "{:?}",
        parsed.problems
    );
}

#[test]
fn other_objects_are_named_by_their_fields() {
    let parsed = parse(r#"{"status":0,"data":{"brokerServer":{},"clusterInfo":{}},"errMsg":null}"#);
    assert!(
        parsed.problems[0].expected.ends_with("not fields brokerServer, clusterInfo"),
        "{:?}",
        parsed.problems
    );
}
