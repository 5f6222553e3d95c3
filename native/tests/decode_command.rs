//! `evenkeel decode`: the golden files piped through it, and lines that are wrong.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../src/cmd/decode.rs"]
mod decode;

use base64::Engine as _;
use decode::Kind;
use serde_json::{Value, json};

fn run(kind: &str, input: &str, base64: bool) -> Vec<Value> {
    let mut output = Vec::new();
    decode::run(kind.parse().unwrap(), input.as_bytes(), &mut output, base64).unwrap();
    let text = String::from_utf8(output).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn one(kind: &str, line: &str) -> Value {
    let mut answers = run(kind, line, false);
    assert_eq!(answers.len(), 1, "{line}");
    answers.remove(0)
}

fn cases(text: &str, section: Option<&str>) -> Vec<Value> {
    let mut file: Value = serde_json::from_str(text).unwrap();
    let Value::Array(mut cases) = file["cases"].take() else { panic!("no cases") };
    cases.retain(|case| section.is_none_or(|section| case["section"] == section));
    cases
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn captured_frames() {
    let cases = cases(include_str!("../../tests/golden/frames-captured.json"), None);
    let lines: Vec<_> = cases.iter().map(|case| case["hex"].as_str().unwrap()).collect();
    let answers = run("frame", &lines.join("\n"), false);
    assert_eq!((cases.len(), answers.len()), (196, 196));
    for (case, answer) in cases.iter().zip(answers) {
        let mut wanted = case["command"].clone();
        // Having no fields and having none at all is the same to us.
        if wanted["extFields"] == json!({}) {
            wanted["extFields"] = Value::Null;
        }
        assert_eq!(answer, json!({"frames": [wanted]}), "{}", case["id"]);
    }
}

#[test]
fn bodies_of_the_newer_servers() {
    let mut compared = 0;
    for case in cases(include_str!("../../tests/golden/bodies.json"), Some("seen")) {
        let Some(text) = case["text"].as_str().filter(|_| case["server"] == "5.5.0") else { continue };
        let kind = format!("body {}", case["bodyClass"].as_str().unwrap());
        assert_eq!(one(&kind, &hex(text)), json!({"value": case["value"]}), "{}", case["id"]);
        compared += 1;
    }
    assert_eq!(compared, 54);
}

#[test]
fn stored_messages() {
    let mut compared = 0;
    for case in cases(include_str!("../../tests/golden/messages.json"), Some("pull-response")) {
        let answer = one("message", case["hex"].as_str().unwrap());
        let (ours, java) =
            (answer["messages"].as_array().unwrap(), case["expect"]["messages"].as_array().unwrap());
        assert_eq!(ours.len(), java.len(), "{}", case["id"]);
        for (ours, java) in ours.iter().zip(java) {
            for (name, java) in java.as_object().unwrap() {
                match name.as_str() {
                    "bodyLength" | "bodySha256" => {}
                    "properties" if java.is_null() => assert_eq!(ours["properties"], json!({})),
                    "body" if java.is_null() => assert_eq!(ours["body"], ""),
                    _ => assert_eq!(&ours[name], java, "{}: {name}", case["id"]),
                }
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 170);
}

#[test]
fn properties_and_ids() {
    assert_eq!(
        one("properties", &hex("TAGS\u{1}TagA\u{2}KEYS\u{1}k1")),
        json!({"properties": {"TAGS": "TagA", "KEYS": "k1"}})
    );
    let id = one("msgid", "7F00000100002A9F000000000001E240");
    assert_eq!(id["offsetId"], json!({"ip": "7f000001", "port": 10911, "offset": 123456}));
    let key = one("msgid", "3292C3C84DD43A69E316137C84192C9B");
    assert_eq!(key["offsetId"], Value::Null);
    assert_eq!(
        key["uniqueKey"],
        json!({"ip": "3292c3c8", "pid": 19924, "classLoaderHash": 980_017_942, "millisSinceStartOfMonth": 326_927_385, "counter": 11419})
    );
}

#[test]
fn bad_lines_are_told_and_the_run_goes_on() {
    let good = "0000000a0000000a";
    let answers = run("frame", &format!("\n  \nxyz\n123\n00000000\n{good}\n0000 0005\n"), false);
    let kinds: Vec<_> = answers
        .iter()
        .map(|answer| (answer["error"]["kind"].as_str().unwrap(), answer["error"]["at"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [("bad-text", 0), ("truncated", 3), ("bad-length", 0), ("bad-length", 4), ("truncated", 4)]
    );
    assert_eq!(one("body TopicRouteData", &hex("{\"a\":}"))["error"]["at"], 5);
    assert_eq!(one("message", "00000001")["messages"], json!([]));
    assert_eq!(one("msgid", "7F")["error"]["kind"], "bad-length");
}

#[test]
fn a_fault_behind_good_frames_keeps_them() {
    let good = cases(include_str!("../../tests/golden/frames-captured.json"), None)[0]["hex"]
        .as_str()
        .unwrap()
        .to_string();
    let answer = one("frame", &format!("{good}00000000"));
    assert_eq!(answer["frames"].as_array().unwrap().len(), 1);
    assert_eq!(answer["error"]["at"], good.len() / 2);
}

#[test]
fn base64() {
    let text = base64::engine::general_purpose::STANDARD.encode("{\"consumerIdList\":[\"a\"]}");
    let answers = run("body GetConsumerListByGroupResponseBody", &format!("{text}\n!\n"), true);
    assert_eq!(answers[0], json!({"value": {"consumerIdList": ["a"]}}));
    assert_eq!(answers[1]["error"]["kind"], "bad-text");
}

#[test]
fn large_numbers_keep_their_digits() {
    let body = hex(r#"{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:9007199254740993}}"#);
    let mut output = Vec::new();
    decode::run(Kind::Body("ResetOffsetBody"), body.as_bytes(), &mut output, false).unwrap();
    assert!(String::from_utf8(output).unwrap().contains("9007199254740993"));
}

#[test]
fn kinds() {
    assert_eq!("frame".parse(), Ok(Kind::Frame));
    assert_eq!(" body  TopicList ".parse(), Ok(Kind::Body("TopicList")));
    for wrong in ["", "body", "body Nothing", "frame x", "body TopicList x", "frames"] {
        assert!(wrong.parse::<Kind>().is_err(), "{wrong}");
    }
}
