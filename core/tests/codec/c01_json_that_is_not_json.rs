//! C01: what Java servers write as JSON is read, texts in it stay what they are, and what is broken is an error.

use evenkeel_core::model::{Address, MessageQueue};
use evenkeel_core::wire::bodies::{Body, Members, ResetTable};
use evenkeel_core::wire::error::WireErrorKind;
use evenkeel_core::wire::json::{self, MAX_DEPTH, MAX_VALUES, Value};
use evenkeel_core::wire::reply::TopicRoute;
use proptest::prelude::*;
use std::collections::BTreeMap;

const OLD_ROUTE: &str = r#"{"brokerDatas":[{"brokerAddrs":{0:"10.0.0.1:10911",1:"10.0.0.2:10911"},"brokerName":"a","cluster":"c"}],"filterServerTable":{},"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}"#;
const RESET: &str = r#"{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:100,{"brokerName":"broker-a","queueId":1,"topic":"T"}:0}}"#;

#[test]
fn number_keys_are_read_in_both_spellings() {
    let standard = OLD_ROUTE.replace("{0:", "{\"0\":").replace(",1:", ",\"1\":");
    assert_ne!(standard, OLD_ROUTE);
    let addresses =
        BTreeMap::from([(0, Address::from("10.0.0.1:10911")), (1, Address::from("10.0.0.2:10911"))]);
    for text in [OLD_ROUTE, &standard] {
        let route = TopicRoute::decode(text.as_bytes()).unwrap();
        assert_eq!(route.brokers[0].addresses, addresses);
        assert_eq!((route.queues[0].read_queues, route.queues[0].perm), (4, 6));
    }
    let empty = OLD_ROUTE.replace(r#"{0:"10.0.0.1:10911",1:"10.0.0.2:10911"}"#, "{}");
    assert!(TopicRoute::decode(empty.as_bytes()).unwrap().brokers[0].addresses.is_empty());
}

#[test]
fn object_keys_are_read() {
    let queue = |id| MessageQueue::new("T", "broker-a", id);
    assert_eq!(
        ResetTable::decode(RESET.as_bytes()).unwrap().0,
        BTreeMap::from([(queue(0), 100), (queue(1), 0)])
    );
    assert!(ResetTable::decode(br#"{"offsetTable":{}}"#).unwrap().0.is_empty());
}

#[test]
fn offsets_beyond_doubles_keep_their_last_digit() {
    let text = r#"{"offsetTable":{{"brokerName":"b","queueId":3,"topic":"T"}:9007199254740993}}"#;
    let table = ResetTable::decode(text.as_bytes()).unwrap();
    assert_eq!(table.0[&MessageQueue::new("T", "b", 3)], 9_007_199_254_740_993);
    assert_eq!(table.encode(), text.as_bytes(), "and it is written as Java writes it");
}

#[test]
fn texts_that_look_like_keys_stay_texts() {
    for id in [
        r#"{0:"x"}"#,
        r#"{{"brokerName":"b"}:5}"#,
        r#",1:"#,
        r#"\"{0:1}\""#,
        r"a\",
        "// no comment",
        "/* none either */",
        r#"{"$ref":"$"}"#,
        "'",
        "\u{1F680}\u{0}\n",
    ] {
        let members = Members(vec![id.into(), "other".into()]);
        assert_eq!(Members::decode(&members.encode()).unwrap(), members, "{id}");
    }
}

#[test]
fn references_are_followed_or_refused() {
    let parse = |text: &str| json::parse(text.as_bytes()).map(|value| value.to_text());
    let followed = [
        (r#"{"a":{"x":1},"b":{"$ref":"$.a"}}"#, r#"{"a":{"x":1},"b":{"x":1}}"#),
        (r#"{"a":[0,{"x":[7]}],"b":{"$ref":"$.a[1].x"}}"#, r#"{"a":[0,{"x":[7]}],"b":[7]}"#),
        (r#"[{"x":1},{"$ref":"$[0]"}]"#, r#"[{"x":1},{"x":1}]"#),
        (r#"{"a.b":{"x":1},"c":{"$ref":"$.a\\.b"}}"#, r#"{"a.b":{"x":1},"c":{"x":1}}"#),
        (r#"{"t":{7:{"x":1}},"c":{"$ref":"$.t[7]"}}"#, r#"{"t":{7:{"x":1}},"c":{"x":1}}"#),
        // A queue that is listed first and then used as a key.
        (r#"{"q":[{"id":1}],"t":{{"$ref":"$.q[0]"}:5}}"#, r#"{"q":[{"id":1}],"t":{{"id":1}:5}}"#),
        // A reference to something that held one.
        (
            r#"{"a":{"x":1},"b":[{"$ref":"$.a"}],"c":{"$ref":"$.b"}}"#,
            r#"{"a":{"x":1},"b":[{"x":1}],"c":[{"x":1}]}"#,
        ),
    ];
    for (text, expected) in followed {
        assert_eq!(parse(text).as_deref(), Ok(expected), "{text}");
    }
    for refused in [
        r#"{"a":{"$ref":"$"}}"#,
        r#"{"a":{"b":{"$ref":".."}}}"#,
        r#"{"a":{"$ref":"@"}}"#,
        r#"{"a":{"$ref":"$.b"},"b":{"$ref":"$.a"}}"#,
        r#"{"a":{"$ref":"$.nowhere"}}"#,
        r#"{"a":{"$ref":""}}"#,
        r#"{"$ref":"$"}"#,
    ] {
        assert_eq!(parse(refused).map_err(|error| error.kind), Err(WireErrorKind::Unsupported), "{refused}");
    }
    assert_eq!(parse(r#"{"$ref":5}"#).as_deref(), Ok(r#"{"$ref":5}"#), "only a text is a path");
}

/// Each list holds the one before it twice: 2^40 values if all were copied.
#[test]
fn references_cannot_multiply_without_bound() {
    let mut text = String::from(r#"{"a0":[1]"#);
    for level in 1..40 {
        let below = level - 1;
        text += &format!(r#","a{level}":[{{"$ref":"$.a{below}"}},{{"$ref":"$.a{below}"}}]"#);
    }
    text.push('}');
    assert_eq!(json::parse(text.as_bytes()).unwrap_err().kind, WireErrorKind::TooLarge);
}

/// Each object holds the one before it: nesting by reference counts as nesting.
#[test]
fn references_cannot_nest_without_bound() {
    let mut text = String::from(r#"{"a0":[1]"#);
    for level in 1..2000 {
        text += &format!(r#","a{level}":[{{"$ref":"$.a{}"}}]"#, level - 1);
    }
    text.push('}');
    assert_eq!(json::parse(text.as_bytes()).unwrap_err().kind, WireErrorKind::TooLarge);
}

#[test]
fn depth_and_size_are_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(json::parse(nested(MAX_DEPTH).as_bytes()).is_ok());
    for open in ["[", "{\"a\":", "{{", "{a:["] {
        let error = json::parse(open.repeat(200_000).as_bytes()).unwrap_err();
        assert_eq!(error.kind, WireErrorKind::TooLarge, "{open}");
    }
    let many = format!("[{}]", "0,".repeat(MAX_VALUES));
    assert_eq!(json::parse(many.as_bytes()).unwrap_err().kind, WireErrorKind::TooLarge);
}

#[test]
fn broken_texts_are_errors_at_the_broken_byte() {
    for (text, at) in [
        ("", 0),
        ("   ", 3),
        ("{", 1),
        (r#"{"a"}"#, 4),
        (r#"{"a":}"#, 5),
        (r#"{"a":1 "b":2}"#, 7),
        ("[1 2]", 3),
        ("[,]", 1),
        ("{1}", 2),
        (r#"{"a":1}x"#, 7),
        (r#""abc"#, 4),
        (r#""\"#, 2),
        (r#""\q""#, 2),
        (r#""\u12"#, 5),
        ("-", 1),
        ("1e", 2),
        ("nul", 0),
        ("/*", 0),
        ("/", 0),
        ("{true:1", 7),
        ("\u{feff}{}", 0),
    ] {
        let error = json::parse(text.as_bytes()).unwrap_err();
        assert_eq!((error.kind, error.at), (WireErrorKind::BadJson, at), "{text}");
    }
    assert_eq!(json::parse(b"\"a\xff\"").unwrap_err().kind, WireErrorKind::BadText);
}

#[test]
fn every_prefix_of_a_real_body_is_an_error() {
    for whole in [OLD_ROUTE, RESET] {
        for end in 0..whole.len() {
            assert!(json::parse(&whole.as_bytes()[..end]).is_err(), "{}", &whole[..end]);
        }
    }
}

#[test]
fn of_equal_keys_the_last_wins_at_the_place_of_the_first() {
    let value = json::parse(br#"{"a":1,"b":2,"a":3,{"x":1}:4,{"x":1}:5,7:6,"7":8}"#).unwrap();
    assert_eq!(value.to_text(), r#"{"a":3,"b":2,{"x":1}:5,7:6,"7":8}"#);
}

/// Any value, with any kind of key.
fn any_value() -> impl Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let key = prop_oneof![
            3 => ".*".prop_map(Value::from),
            1 => any::<i64>().prop_map(Value::from),
            1 => prop::collection::vec((".*".prop_map(Value::from), inner.clone()), 0..3).prop_map(map),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
            prop::collection::vec((key, inner), 0..6).prop_map(map),
        ]
    })
}

fn map(entries: Vec<(Value<'static>, Value<'static>)>) -> Value<'static> {
    let unique: BTreeMap<_, _> = entries.into_iter().collect();
    Value::Map(unique.into_iter().collect())
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(value in any_value()) {
        let text = value.to_text();
        prop_assert_eq!(json::parse_with_references_kept(text.as_bytes()).unwrap(), value);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = json::parse(&bytes);
    }

    #[test]
    fn no_almost_json_panics(text in r#"[\[\]{}:,"'0-9aeE$.\\/*u \-+]{0,60}"#) {
        if let Ok(value) = json::parse(text.as_bytes()) {
            // What was read can be written and read again.
            prop_assert_eq!(json::parse_with_references_kept(value.to_text().as_bytes()).unwrap().to_text(), value.to_text());
        }
    }
}
