//! What a real 5.x broker says to requests about pop that are wrong, and that the embedded one says the same. Not looked at: numbers
//! that are none, which a real broker takes for 0 in a pop, and times so long that it loses count of them.

use evenkeel::embedded::EmbeddedBroker;
use evenkeel_core::wire::code::RequestCode;
use evenkeel_core::wire::command::Command;
use evenkeel_tests::java::{Cluster, Options, Version};
use evenkeel_tests::raw::Raw;
use tokio::runtime::Runtime;

const POINT: &str = "0 1700000000000 60000 0 0 NAME 0 0";

/// A request, and what it is called if the two brokers disagree.
type Case = (&'static str, Command);

#[test]
fn both_brokers_refuse_the_same_with_the_same_codes() {
    let cluster = Cluster::start(Version::V5, &Options::default());
    cluster.create_topic("t", 2);
    let group = cluster.mqadmin(&["updateSubGroup", "-b", &cluster.broker(0), "-g", "g"]);
    assert!(group.contains("success"), "{group}");
    let runtime = Runtime::new().expect("a runtime");
    let embedded = runtime.block_on(EmbeddedBroker::builder().topic("t", 1, 2).start()).expect("a broker");
    let address = embedded.broker_addresses()[0].to_string();

    let (mut differ, mut codes) = (Vec::new(), Vec::new());
    for (what, request) in cases() {
        let real = Raw::connect(&cluster.broker(0)).ask(&request);
        let ours = Raw::connect(&address).ask(&request);
        codes.push((what, real.code));
        if real.code != ours.code {
            differ.push(format!(
                "{what}: {} ({:?}), embedded {} ({:?})",
                real.code, real.remark, ours.code, ours.remark
            ));
        }
    }
    println!("{codes:?}");
    assert!(codes.iter().filter(|(_, code)| *code != 0).count() > 15, "most are refused: {codes:?}");
    assert!(differ.is_empty(), "{differ:#?}");
}

fn cases() -> Vec<Case> {
    let mut cases = vec![("store a message", send())];
    let pops: [(&str, &[(&str, &str)]); 9] = [
        ("pop: unknown topic", &[("topic", "unknown")]),
        ("pop: no such queue", &[("queueId", "2")]),
        ("pop: too many", &[("maxMsgNums", "33")]),
        ("pop: fewer than none", &[("maxMsgNums", "-1")]),
        ("pop: too late", &[("bornTime", "1")]),
        ("pop: hidden too long", &[("invisibleTime", "345600000")]),
        ("pop: nothing to read", &[("consumerGroup", "g"), ("queueId", "1")]),
        ("pop: hidden for less than no time", &[("consumerGroup", "h"), ("invisibleTime", "-5")]),
        ("pop: all negative queues are any", &[("consumerGroup", "i"), ("queueId", "-7")]),
    ];
    cases.extend(pops.map(|(what, fields)| (what, with(pop(), fields))));
    for (what, code) in
        [("ack", RequestCode::ACK_MESSAGE), ("hide", RequestCode::CHANGE_MESSAGE_INVISIBLETIME)]
    {
        let settles: [(&str, &[(&str, &str)]); 10] = [
            (": good", &[]),
            (": unknown topic", &[("topic", "unknown")]),
            (": no such queue", &[("queueId", "2")]),
            (": queue below 0", &[("queueId", "-1")]),
            (": offset below", &[("offset", "-1")]),
            (": the end", &[("offset", "1")]),
            (": offset above", &[("offset", "2")]),
            (": no check point", &[("extraInfo", "")]),
            (": broken check point", &[("extraInfo", "0 x 60000 0 0 NAME 0 0")]),
            (": short check point", &[("extraInfo", "0 1")]),
        ];
        for (how, fields) in settles {
            let request = with(settle(code), fields);
            cases.push((Box::leak(format!("{what}{how}").into_boxed_str()), request));
        }
    }
    let hide = settle(RequestCode::CHANGE_MESSAGE_INVISIBLETIME);
    cases.push(("hide: below no time", with(hide.clone(), &[("invisibleTime", "-1")])));
    cases.push(("hide: four days", with(hide, &[("invisibleTime", "345600000")])));
    let bodies = [
        ("batch: no body", RequestCode::BATCH_ACK_MESSAGE, ""),
        ("batch: no acks", RequestCode::BATCH_ACK_MESSAGE, r#"{"brokerName":"NAME"}"#),
        ("batch: empty", RequestCode::BATCH_ACK_MESSAGE, r#"{"acks":[],"brokerName":"NAME"}"#),
        ("batch: no JSON", RequestCode::BATCH_ACK_MESSAGE, "{"),
        (
            "batch: unknown topic",
            RequestCode::BATCH_ACK_MESSAGE,
            r#"{"acks":[{"b":"AQ==","c":"g","it":60000,"pt":1,"q":0,"r":"0","rq":0,"so":0,"t":"unknown"}],"brokerName":"NAME"}"#,
        ),
        (
            "batch: no such kind of topic",
            RequestCode::BATCH_ACK_MESSAGE,
            r#"{"acks":[{"b":"AQ==","c":"g","it":60000,"pt":1,"q":0,"r":"3","rq":0,"so":0,"t":"t"}],"brokerName":"NAME"}"#,
        ),
        (
            "mode: retry topic",
            RequestCode::SET_MESSAGE_REQUEST_MODE,
            r#"{"consumerGroup":"g","mode":"POP","popShareQueueNum":0,"topic":"%RETRY%g"}"#,
        ),
        (
            "mode: unknown topic",
            RequestCode::SET_MESSAGE_REQUEST_MODE,
            r#"{"consumerGroup":"g","mode":"POP","popShareQueueNum":0,"topic":"unknown"}"#,
        ),
        (
            "mode: good",
            RequestCode::SET_MESSAGE_REQUEST_MODE,
            r#"{"consumerGroup":"g","mode":"POP","popShareQueueNum":0,"topic":"t"}"#,
        ),
        (
            "assignment: a group without members",
            RequestCode::QUERY_ASSIGNMENT,
            r#"{"clientId":"c","consumerGroup":"nobody","messageModel":"CLUSTERING","strategyName":"AVG","topic":"t"}"#,
        ),
    ];
    cases.extend(bodies.map(|(what, code, body)| (what, Command::request(code).with_body(body))));
    cases
}

fn with(request: Command, fields: &[(&str, &str)]) -> Command {
    fields.iter().fold(request, |request, (name, value)| request.with_field(name, value))
}

fn send() -> Command {
    let fields = [
        ("a", "p"),
        ("b", "t"),
        ("c", "TBW102"),
        ("d", "4"),
        ("e", "0"),
        ("f", "0"),
        ("g", "1600000000000"),
        ("h", "0"),
        ("i", ""),
        ("j", "0"),
        ("k", "false"),
        ("m", "false"),
    ];
    with(Command::request(RequestCode::SEND_MESSAGE_V2), &fields).with_body("one")
}

fn pop() -> Command {
    let fields = [
        ("consumerGroup", "g"),
        ("topic", "t"),
        ("queueId", "-1"),
        ("maxMsgNums", "32"),
        ("invisibleTime", "60000"),
        ("pollTime", "0"),
        ("bornTime", "0"),
        ("initMode", "0"),
        ("expType", "TAG"),
        ("exp", "*"),
        ("order", "false"),
    ];
    with(Command::request(RequestCode::POP_MESSAGE), &fields)
}

fn settle(code: RequestCode) -> Command {
    let fields = [
        ("consumerGroup", "g"),
        ("topic", "t"),
        ("queueId", "0"),
        ("offset", "0"),
        ("extraInfo", POINT),
        ("invisibleTime", "60000"),
    ];
    with(Command::request(code), &fields)
}
