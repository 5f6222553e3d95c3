//! Every case of `tests/golden/ids.json`: names, ids, flags and strings as the Java library 5.5.0 makes and reads them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use evenkeel_core::model::{ClientId, Group, MessageQueue, Topic, java_hash};
use evenkeel_core::wire::acl::{Credentials, Secret, signature, signed_content};
use evenkeel_core::wire::client_id::{self, InstanceNames};
use evenkeel_core::wire::ids::{OffsetId, UniqueKey, hex_decode, hex_encode};
use evenkeel_core::wire::message::Host;
use evenkeel_core::wire::names;
use evenkeel_core::wire::properties::{Properties, encode};
use evenkeel_core::wire::subscription::{FilterError, Subscription};
use evenkeel_core::wire::sys_flag::message::Compression;
use evenkeel_core::wire::sys_flag::{message, pull};
use evenkeel_core::wire::timestamp::parse_consume_timestamp;
use serde_json::Value;

#[test]
fn no_section_is_left_out() {
    let checked = [
        "queue-compare",
        "queue-hash",
        "queue-sort",
        "client-id-sort",
        "client-id",
        "instance-name",
        "uniq-key",
        "offset-id-encode",
        "offset-id-decode",
        "hex-decode",
        "string-hash",
        "properties-encode",
        "properties-decode",
        "acl",
        "signature",
        "namespace",
        "namespace-of",
        "retry-names",
        "subscription",
        "subscription-typed",
        "pull-sys-flag",
        "message-sys-flag",
        "validate-group",
        "validate-topic",
        "consume-timestamp",
    ];
    let all: BTreeSet<_> = golden().iter().map(|case| text(case, "section").to_owned()).collect();
    assert_eq!(all, checked.into_iter().map(str::to_owned).collect());
}

#[test]
fn queue_compare() {
    let mut overflowing = 0;
    for (id, case, expect) in cases("queue-compare", 106) {
        let (a, b) = (queue(&case["a"]), queue(&case["b"]));
        assert_eq!(a == b, expect["equals"], "{id}");
        // Java subtracts the ids. Where that overflows there is no order to match: cases 8, 9, 10, 12, 13 and 15, all with
        // an id below 0, which no route gives. Our order is by number.
        if a.id.checked_sub(b.id).is_none() {
            assert!(a.id < 0 || b.id < 0, "{id}");
            overflowing += 1;
        } else {
            assert_eq!(a.cmp(&b) as i64, expect["sign"].as_i64().unwrap(), "{id}");
        }
    }
    assert_eq!(overflowing, 6);
}

#[test]
fn queue_hash() {
    for (id, case, expect) in cases("queue-hash", 40) {
        let queue = queue(&case["queue"]);
        assert_eq!(queue.java_text(), text(expect, "toString"), "{id}");
        // The hash code itself decides nothing: it only places queues in Java's hash maps.
    }
}

#[test]
fn sorting() {
    for (id, case, expect) in cases("queue-sort", 10) {
        let queues = |list: &Value| list.as_array().unwrap().iter().map(queue).collect::<Vec<_>>();
        let mut sorted = queues(&case["queues"]);
        sorted.sort();
        assert_eq!(sorted, queues(&expect["sorted"]), "{id}");
    }
    for (id, case, expect) in cases("client-id-sort", 10) {
        let ids = |list: &Value| {
            list.as_array().unwrap().iter().map(|id| ClientId::from(id.as_str().unwrap())).collect::<Vec<_>>()
        };
        let mut sorted = ids(&case["clientIds"]);
        sorted.sort();
        assert_eq!(sorted, ids(&expect["sorted"]), "{id}");
    }
}

#[test]
fn client_ids() {
    for (id, case, expect) in cases("client-id", 25) {
        let stream = case["enableStreamRequestType"] == true;
        let built = client_id::build(
            text(case, "clientIP"),
            text(case, "instanceName"),
            case["unitName"].as_str(),
            stream,
        );
        assert_eq!(built.as_str(), text(expect, "clientId"), "{id}");
    }
    for (id, case, expect) in cases("instance-name", 3) {
        let name = InstanceNames::new().clustering(text(case, "instanceName"), 71, 8_000_000_009);
        let expect = text(expect, "instanceName").replace("{pid}", "71").replace("{nanos}", "8000000009");
        assert_eq!(name, expect, "{id}");
    }
}

#[test]
fn unique_keys() {
    for (id, case, expect) in cases("uniq-key", 30) {
        let key = UniqueKey::parse(text(case, "uniqKey")).unwrap();
        assert_eq!(ip_hex(key.ip), text(expect, "ip"), "{id}");
        assert_eq!(Some(u64::from(key.process)), expect["pid"].as_u64(), "{id}");
        assert_eq!(Some(i64::from(key.random)), expect["classLoaderHash"].as_i64(), "{id}");
        assert_eq!(Some(u64::from(key.millis)), expect["millisSinceStartOfMonth"].as_u64(), "{id}");
        assert_eq!(Some(u64::from(key.counter)), expect["counter"].as_u64(), "{id}");
        assert_eq!(key.to_string(), text(case, "uniqKey").to_uppercase(), "{id}");
        // Java pads the groups of an IPv6 address, the standard library does not: compare the address.
        assert_eq!(text(expect, "ipText").parse::<IpAddr>().unwrap(), key.ip, "{id}");
    }
}

#[test]
fn offset_ids() {
    for (id, case, expect) in cases("offset-id-encode", 20) {
        let bytes = hex_decode(text(case, "ip"));
        let ip = <[u8; 4]>::try_from(&*bytes).map(IpAddr::from);
        let ip = ip.unwrap_or_else(|_| IpAddr::from(<[u8; 16]>::try_from(&*bytes).unwrap()));
        let host = Host { ip, port: case["port"].as_u64().unwrap().try_into().unwrap() };
        let made = OffsetId::new(host, case["offset"].as_i64().unwrap());
        assert_eq!(made.to_string(), text(expect, "msgId"), "{id}");
    }
    for (id, case, expect) in cases("offset-id-decode", 14) {
        let read = OffsetId::parse(text(case, "msgId"));
        if expect.get("error").is_some() {
            assert!(read.is_err(), "{id}");
            continue;
        }
        let read = read.unwrap();
        assert_eq!(ip_hex(read.host.ip), text(expect, "ip"), "{id}");
        assert_eq!(Some(u64::from(read.host.port)), expect["port"].as_u64(), "{id}");
        assert_eq!(Some(read.offset), expect["offset"].as_i64(), "{id}");
    }
}

#[test]
fn hex_and_hash() {
    for (id, case, expect) in cases("hex-decode", 8) {
        // Java's null for no text is no bytes here.
        let want = expect["bytes"].as_str().unwrap_or_default().to_uppercase();
        assert_eq!(hex_encode(&hex_decode(text(case, "text"))), want, "{id}");
    }
    for (id, case, expect) in cases("string-hash", 102) {
        assert_eq!(Some(i64::from(java_hash(text(case, "text")))), expect["hashCode"].as_i64(), "{id}");
    }
}

#[test]
fn properties() {
    for (id, case, expect) in cases("properties-encode", 20) {
        let pairs = case["properties"].as_array().unwrap().iter();
        let pairs = pairs.map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap()));
        assert_eq!(encode(pairs), text(expect, "text"), "{id}");
    }
    for (id, case, expect) in cases("properties-decode", 56) {
        let properties = Properties::from(text(case, "text"));
        assert_eq!(properties.iter().collect::<BTreeMap<_, _>>(), texts(&expect["properties"]), "{id}");
    }
}

#[test]
fn acl() {
    for (id, case, expect) in cases("acl", 30) {
        let fields = texts(&case["extFields"]);
        let body = hex_decode(case["body"].as_str().unwrap_or_default());
        let credentials = Credentials {
            access_key: text(case, "accessKey").to_owned(),
            secret_key: Secret::from(text(case, "secretKey")),
            security_token: case["securityToken"].as_str().map(Secret::from),
        };
        let added = credentials.sign(fields.iter().map(|(name, value)| (*name, *value)), &body);
        let mut all = fields;
        all.extend(added.iter().map(|(name, value)| (*name, value.as_str())));
        assert_eq!(all, texts(&expect["extFields"]), "{id}");
        assert_eq!(all["Signature"], text(expect, "signature"), "{id}");
        assert_eq!(hex_encode(&signed_content(all, &body)).to_lowercase(), text(expect, "content"), "{id}");
    }
    for (id, case, expect) in cases("signature", 12) {
        let made = signature(&Secret::from(text(case, "secretKey")), &hex_decode(text(case, "data")));
        assert_eq!(made, text(expect, "signature"), "{id}");
    }
}

#[test]
fn namespaces() {
    for (id, case, expect) in cases("namespace", 86) {
        // Java's null namespace is the empty one here.
        let (namespace, resource) = (case["namespace"].as_str().unwrap_or_default(), text(case, "resource"));
        assert_eq!(names::wrap_namespace(namespace, resource), text(expect, "wrap"), "{id}");
        assert_eq!(names::unwrap_namespace(resource, namespace), text(expect, "withoutNamespace"), "{id}");
        let retry = names::wrap_retry(namespace, resource);
        assert_eq!(retry.as_deref(), expect["wrapNamespaceAndRetry"].as_str(), "{id}");
    }
    for (id, case, expect) in cases("namespace-of", 31) {
        let resource = text(case, "resource");
        assert_eq!(names::namespace_of(resource), text(expect, "namespace"), "{id}");
        assert_eq!(names::without_namespace(resource), text(expect, "withoutNamespace"), "{id}");
    }
    for (id, case, expect) in cases("retry-names", 7) {
        let group = Group::from(text(case, "group"));
        assert_eq!(group.retry_topic().as_str(), text(expect, "retryTopic"), "{id}");
        assert_eq!(group.dead_letter_topic().as_str(), text(expect, "dlqTopic"), "{id}");
    }
}

#[test]
fn subscriptions() {
    for (id, case, expect) in cases("subscription", 44) {
        assert_subscription(id, Subscription::tags(topic(case), case["expression"].as_str()), expect);
    }
    for (id, case, expect) in cases("subscription-typed", 12) {
        let language = case["expressionType"].as_str().map(Into::into);
        assert_subscription(
            id,
            Subscription::typed(topic(case), case["expression"].as_str(), language),
            expect,
        );
    }
}

fn assert_subscription(id: &str, made: Result<Subscription, FilterError>, expect: &Value) {
    if expect.get("error").is_some() {
        assert!(made.is_err(), "{id}");
        return;
    }
    let made = made.unwrap();
    assert_eq!(made.topic, topic(expect), "{id}");
    assert_eq!(made.sub_string, text(expect, "subString"), "{id}");
    assert_eq!(made.expression_type.as_str(), text(expect, "expressionType"), "{id}");
    assert_eq!(expect["classFilterMode"], false, "{id}: filter classes do not exist here");
    let tags = expect["tagsSet"].as_array().unwrap().iter().map(|tag| tag.as_str().unwrap().to_owned());
    assert_eq!(made.tags, tags.collect(), "{id}");
    let codes = expect["codeSet"].as_array().unwrap().iter().map(|code| code.as_i64().unwrap() as i32);
    assert_eq!(made.codes, codes.collect(), "{id}");
}

#[test]
fn sys_flags() {
    for (id, case, expect) in cases("pull-sys-flag", 16) {
        let is = |field: &str| case[field] == true;
        let flags = pull::build(is("commitOffset"), is("suspend"), is("subscription"), is("classFilter"));
        assert_eq!(flags, expect["sysFlag"], "{id}");
        assert_eq!(pull::without_commit_offset(flags), expect["withoutCommitOffset"], "{id}");
        assert_eq!(flags | pull::LITE_PULL, expect["withLitePull"], "{id}");
    }
    for (id, case, expect) in cases("message-sys-flag", 17) {
        let flags = case["sysFlag"].as_i64().unwrap() as i32;
        assert_eq!(message::transaction(flags), expect["transaction"], "{id}");
        assert_eq!(message::without_compressed(flags), expect["withoutCompressed"], "{id}");
        assert_eq!(
            message::with_transaction(flags, message::TRANSACTION_COMMIT),
            expect["committed"],
            "{id}"
        );
        let name = message::compression(flags).map(|kind| match kind {
            Compression::Lz4 => "LZ4",
            Compression::Zstd => "ZSTD",
            Compression::Zlib => "ZLIB",
        });
        assert_eq!(name, expect["compression"].as_str(), "{id}");
    }
}

#[test]
fn validation() {
    for (id, case, expect) in cases("validate-group", 40) {
        // Java's null name is a blank one here.
        let group = case["group"].as_str().unwrap_or_default();
        assert_eq!(names::validate_group(group).is_ok(), expect.get("ok").is_some(), "{id}");
    }
    for (id, case, expect) in cases("validate-topic", 40) {
        let topic = case["topic"].as_str().unwrap_or_default();
        assert_eq!(names::validate_topic(topic).is_ok(), expect.get("ok").is_some(), "{id}");
    }
}

#[test]
fn consume_timestamps() {
    for (id, case, expect) in cases("consume-timestamp", 18) {
        let read = parse_consume_timestamp(text(case, "text"), 0);
        assert_eq!(read.map(|at| at.as_millis()), expect["millis"].as_i64(), "{id}");
    }
}

fn golden() -> &'static Vec<Value> {
    static GOLDEN: std::sync::OnceLock<Value> = std::sync::OnceLock::new();
    GOLDEN.get_or_init(|| serde_json::from_str(include_str!("../../../tests/golden/ids.json")).unwrap())["cases"]
        .as_array()
        .unwrap()
}

/// Id, case and expectation of each case; `count` guards against losing some.
fn cases(section: &str, count: usize) -> Vec<(&'static str, &'static Value, &'static Value)> {
    let cases = golden().iter().filter(|case| case["section"] == section);
    let cases: Vec<_> = cases.map(|case| (text(case, "id"), case, &case["expect"])).collect();
    assert_eq!(cases.len(), count, "{section}");
    cases
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no text {field} in {value}"))
}

fn texts(value: &Value) -> BTreeMap<&str, &str> {
    value.as_object().unwrap().iter().map(|(name, text)| (name.as_str(), text.as_str().unwrap())).collect()
}

fn topic(value: &Value) -> Topic {
    Topic::from(text(value, "topic"))
}

fn queue(value: &Value) -> MessageQueue {
    let id = value["queueId"].as_i64().unwrap().try_into().unwrap();
    MessageQueue::new(text(value, "topic"), text(value, "brokerName"), id)
}

fn ip_hex(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => hex_encode(&ip.octets()),
        IpAddr::V6(ip) => hex_encode(&ip.octets()),
    }
    .to_lowercase()
}
