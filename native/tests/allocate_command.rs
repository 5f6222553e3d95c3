//! `evenkeel allocate`: whole vectors files piped through it, and lines that are wrong.

#[path = "../src/cmd/allocate/mod.rs"]
mod allocate;

use allocate::Tally;
use serde_json::{Value, json};

fn answers(input: &[u8]) -> (Tally, Vec<Value>) {
    let mut output = Vec::new();
    let tally = allocate::run(input, &mut output).expect("memory reads and writes");
    let text = String::from_utf8(output).expect("JSON is UTF-8");
    (tally, text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect())
}

fn answer(case: &str) -> Value {
    let (_, mut answers) = answers(case.as_bytes());
    assert_eq!(answers.len(), 1, "{case}");
    answers.remove(0)
}

#[test]
fn vectors_files_are_answered_as_java_does() {
    for (file, unsorted) in [
        (include_str!("../../tests/golden/allocate-averagely.json"), 73),
        (include_str!("../../tests/golden/allocate-averagely-by-circle.json"), 78),
        (include_str!("../../tests/golden/allocate-consistent-hash.json"), 29),
        (include_str!("../../tests/golden/allocate-machine-room.json"), 38),
        (include_str!("../../tests/golden/allocate-machine-room-nearby.json"), 43),
        (include_str!("../../tests/golden/allocate-by-config.json"), 1),
    ] {
        let (tally, answers) = answers(file.as_bytes());
        let file: Value = serde_json::from_str(file).unwrap();
        let cases = file["cases"].as_array().unwrap();
        assert_eq!(tally, Tally { answered: cases.len() as u64, unreadable: 0 });
        assert_eq!(answers.len(), cases.len());
        let mut not_applicable = 0;
        for (case, answer) in cases.iter().zip(answers) {
            assert_eq!(case["id"], answer["id"]);
            if answer["result"] == json!({"notApplicable": "unsorted"}) {
                not_applicable += 1;
            } else {
                assert_eq!(
                    without_errors(&answer["result"]),
                    without_errors(&case["expect"]),
                    "{}",
                    case["id"]
                );
            }
        }
        assert_eq!(not_applicable, unsorted);
    }
}

/// Kinds and texts of errors are ours, not Java's; that there is one has to agree.
fn without_errors(result: &Value) -> Value {
    let mut result = result.clone();
    if let Some(error) = result.get_mut("error") {
        *error = json!("error");
    }
    for share in result.get_mut("shares").and_then(Value::as_array_mut).into_iter().flatten() {
        if share.is_object() {
            *share = json!("error");
        }
    }
    result
}

#[test]
fn wrong_lines_are_named_and_the_run_goes_on() {
    let input = b"{\"id\":1\r\n\n  \n[]\r\n\"\xFF\"\n{\"id\":2}\n\
        {\"id\":3,\"strategy\":\"avg\",\"queues\":[{\"topic\":\"T\",\"brokerName\":\"b\",\"queueId\":0}],\
        \"consumers\":[\"c\"]},\r\n";
    let (tally, answers) = answers(input);
    assert_eq!(tally, Tally { answered: 1, unreadable: 4 });
    let seen: Vec<_> =
        answers.iter().map(|a| (a["line"].as_u64(), a["error"]["kind"].as_str(), a["id"].as_u64())).collect();
    assert_eq!(
        seen,
        [
            (Some(1), Some("bad-json"), None),
            (Some(4), Some("bad-case"), None),
            (Some(5), Some("bad-json"), None),
            (Some(6), Some("bad-case"), Some(2)),
            (None, None, Some(3)),
        ]
    );
    assert_eq!(answers[4]["result"], json!({"name": "AVG", "shares": [[0]]}));
}

#[test]
fn errors_have_kinds_of_our_own() {
    let kind = |strategy: &str, params: &str| {
        let case = format!(
            r#"{{"strategy":"{strategy}","params":{params},"currentCid":"r-c","consumers":["r-c"],
                "queues":[{{"topic":"T","brokerName":"r@b","queueId":0}}]}}"#
        );
        answer(&case.replace('\n', " "))["result"]["error"]["kind"].as_str().unwrap_or("none").to_owned()
    };
    assert_eq!(kind("averge", "{}"), "unknown-strategy");
    assert_eq!(kind("hash:0", "{}"), "bad-parameter");
    assert_eq!(kind("hash:16", "{}"), "none");
    assert_eq!(kind("AVG", r#"{"virtualNodeCount":3}"#), "bad-parameter");
    assert_eq!(kind("CONSISTENT_HASH", r#"{"virtualNodeCount":-1}"#), "bad-parameter");
    assert_eq!(kind("MACHINE_ROOM", "null"), "rooms-not-set");
    assert_eq!(kind("MACHINE_ROOM_NEARBY", "{}"), "bad-parameter");
    let nearby = r#"{"inner":{"strategy":"avg"},"resolver":{"rule":"before-dash"}}"#;
    assert_eq!(
        kind("org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby", nearby),
        "no-room"
    );
    let no_member = r#"{"strategy":"avg","mode":"single","queues":null,"consumers":null}"#;
    assert_eq!(answer(no_member)["result"]["error"]["kind"], "no-client-id");
}

#[test]
fn generators_stay_within_bounds() {
    let case = |queues: &str, consumers: &str| {
        format!(
            r#"{{"strategy":"avg","currentCid":"c3","sortFirst":true,"queues":{queues},"consumers":{consumers}}}"#
        )
    };
    let members = r#"{"generator":{"prefix":"c","from":1,"suffix":"","count":3}}"#;
    let some = r#"{"generator":{"topic":"T","brokers":["b","a"],"perBroker":4,
        "permute":{"stride":18446744073709551615,"offset":18446744073709551615}}}"#
        .replace('\n', " ");
    assert!(answer(&case(&some, members))["result"]["indices"].is_array());
    let none = r#"{"generator":{"topic":"T","brokers":[],"perBroker":4,"permute":{"stride":1,"offset":1}}}"#;
    assert_eq!(answer(&case(none, members))["result"]["error"]["kind"], "no-queues");
    for many in [
        case(r#"{"generator":{"topic":"T","brokers":["b"],"perBroker":4294967295}}"#, members),
        case(none, r#"{"generator":{"prefix":"c","from":9223372036854775807,"suffix":"","count":1000001}}"#),
    ] {
        assert_eq!(answer(&many)["error"]["kind"], "bad-case");
    }
}

#[test]
fn the_draft_is_asked_by_its_name_and_takes_settings() {
    let case = |extra: &str| {
        format!(
            r#"{{"id":1,"strategy":"AVG_BY_DRAFT","mode":"group","group":"G",{extra}"queues":{{"generator":{{"topic":"T0","brokers":["broker-0000","broker-0001"],"perBroker":4}}}},"consumers":["10.0.0.0@1000#0","10.0.0.1@1000#7919","10.0.0.2@1000#15838"]}}"#
        )
    };
    let shares = |extra: &str| answer(&case(extra))["result"]["shares"].clone();
    assert_eq!(shares(""), json!([[0, 5, 6], [2, 3, 4], [1, 7]]));
    assert_eq!(answer(&case(""))["result"]["name"], "AVG_BY_DRAFT");
    for params in [r#""params":{"slack":2},"#, r#""params":{"identity":"host"},"#] {
        let all: Vec<Value> = shares(params).as_array().unwrap().clone();
        assert_eq!(all.iter().map(|share| share.as_array().unwrap().len()).sum::<usize>(), 8);
    }
    for weights in ["[6,1,1]", r#"{"10.0.0.0@1000#0":6}"#] {
        let all = shares(&format!(r#""params":{{"weights":{weights}}},"#));
        assert!(matches!(all[0].as_array().unwrap().len(), 6 | 7), "{all}");
    }
    let error = |params: &str| answer(&case(params))["result"]["error"]["kind"].clone();
    assert_eq!(error(r#""params":{"weights":[1]},"#), "bad-parameter");
    assert_eq!(error(r#""params":{"slak":1},"#), "bad-parameter");
}

#[test]
fn the_draft_knows_rooms() {
    let rooms = |rule: &str| {
        answer(&format!(
            r#"{{"id":1,"strategy":"draft","mode":"group","params":{{"rooms":"{rule}","resolver":{{"rule":"before-dash"}}}},"queues":{{"generator":{{"topic":"T","brokers":["a-1","b-1"],"perBroker":6}}}},"consumers":["a-c1","a-c2","b-c1"]}}"#
        ))["result"]["shares"]
            .clone()
    };
    let sizes = |shares: &Value| -> Vec<usize> {
        shares.as_array().unwrap().iter().map(|share| share.as_array().unwrap().len()).collect()
    };
    assert_eq!(sizes(&rooms("strict")), [3, 3, 6]);
    assert_eq!(sizes(&rooms("balance-first")), [4, 4, 4]);
}
