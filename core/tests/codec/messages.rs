//! Every case of `tests/golden/messages.json`: what the Java library 5.5.0 reads from stored messages and batches.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::net::IpAddr;

use bytes::Bytes;
use evenkeel_core::model::{MessageQueue, Topic};
use evenkeel_core::wire::batch::{decode_items, encode_items};
use evenkeel_core::wire::delivery::{Delivery, deliver};
use evenkeel_core::wire::ids::{hex_decode, hex_encode};
use evenkeel_core::wire::message::{Host, Message};
use evenkeel_core::wire::stored::{DecodedBatch, Limits, decode_batch};
use evenkeel_core::wire::subscription::Subscription;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

#[test]
fn pull_responses_of_real_brokers() {
    let cases = cases("pull-response");
    for case in &cases {
        let batch = decoded(case);
        assert_eq!(batch.damaged, None, "{}", case["id"]);
        assert_messages(case, &batch.messages);
        for message in batch.messages {
            assert_ne!(message.checksum_matches(), Some(false), "{}", case["id"]);
        }
    }
    assert_eq!(cases.len(), 57);
}

#[test]
fn messages_put_together_field_by_field() {
    let cases = cases("decode");
    let mut damaged = 0;
    for case in &cases {
        let batch = decoded(case);
        assert_messages(case, &batch.messages);
        if let Some(error) = batch.damaged {
            damaged += 1;
            assert!(error.at <= case["hex"].as_str().unwrap().len() / 2, "{}: {error}", case["id"]);
        }
    }
    assert_eq!(cases.len(), 213);
    // A list that ends early is never silent.
    assert_eq!(damaged, DAMAGED);
}

/// Cases of `decode` in which something cannot be read.
const DAMAGED: usize = 78;

#[test]
fn batches_as_producers_encode_them() {
    let cases = cases("client-batch");
    let (mut failed, mut encoded_alike) = (0, 0);
    for case in &cases {
        let (id, body) = (case["id"].as_str().unwrap(), bytes(&case["hex"]));
        let items = decode_items(&body);
        if case["expect"].get("error").is_some() {
            assert!(items.is_err(), "{id}");
            failed += 1;
            continue;
        }
        let (items, expect) = (items.unwrap(), case["expect"]["messages"].as_array().unwrap());
        assert_eq!(items.len(), expect.len(), "{id}");
        for (item, expect) in items.iter().zip(expect) {
            assert_eq!(i64::from(item.flag), expect["flag"].as_i64().unwrap(), "{id}");
            assert_body(id, &item.body, expect);
            assert_eq!(
                item.properties.iter().collect::<BTreeMap<_, _>>(),
                texts(&expect["properties"]),
                "{id}"
            );
        }
        encoded_alike += usize::from(encode_items(&items).unwrap() == body);
    }
    // Of the readable ones, one has a wrong size on purpose and comes out with the right one.
    assert_eq!((cases.len(), failed, encoded_alike), (11, 5, 5));
}

#[test]
fn what_the_consumer_gets() {
    let cases = cases("delivery");
    let mut without_id = 0;
    for case in &cases {
        let (id, given) = (case["id"].as_str().unwrap(), &case["delivery"]);
        let topic = given["topic"].as_str().unwrap();
        let queue_id = given["queueId"].as_i64().unwrap().try_into().unwrap();
        let queue = MessageQueue::new(topic, given["brokerName"].as_str().unwrap(), queue_id);
        let language = given.get("expressionType").and_then(Value::as_str).map(Into::into);
        let subscription =
            Subscription::typed(Topic::from(topic), given["subscription"].as_str(), language).unwrap();
        let delivery = Delivery {
            queue: &queue,
            min_offset: given["minOffset"].as_i64().unwrap(),
            max_offset: given["maxOffset"].as_i64().unwrap(),
            offset_delta: given.get("offsetDelta").and_then(Value::as_i64).unwrap_or(0),
            subscription: &subscription,
        };
        let batch = decoded(case);
        assert_eq!(batch.damaged, None, "{id}");
        let total = batch.messages.len();
        let delivered = deliver(batch.messages, &delivery);
        match case["note"].as_str().unwrap() {
            "drawn" => {}
            note => {
                let broken = note.contains("that is cut") || note.contains("without a body");
                assert_eq!(delivered.still_wrapped.is_some(), broken, "{id}");
                assert!(delivered.messages.len() + delivered.filtered_out >= total, "{id}");
            }
        }
        without_id += assert_messages(case, &delivered.messages);
    }
    // Messages of inner batches without a UNIQ_KEY: no id in Java, the batch's place with us.
    assert_eq!((cases.len(), without_id), (33, WITHOUT_ID));
}

/// Messages of `delivery` that have no id in Java.
const WITHOUT_ID: usize = 4;

fn cases(section: &str) -> Vec<Value> {
    let golden: Value = serde_json::from_str(include_str!("../../../tests/golden/messages.json")).unwrap();
    golden["cases"].as_array().unwrap().iter().filter(|case| case["section"] == section).cloned().collect()
}

fn bytes(value: &Value) -> Bytes {
    Bytes::from(hex_decode(value.as_str().unwrap()))
}

fn texts(value: &Value) -> BTreeMap<&str, &str> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, text)| (name.as_str(), text.as_str().unwrap()))
        .collect()
}

fn decoded(case: &Value) -> DecodedBatch {
    decode_batch(&bytes(&case["hex"]), Limits::default())
}

/// Returns how many of the messages have no id in Java.
fn assert_messages(case: &Value, messages: &[Message]) -> usize {
    let id = case["id"].as_str().unwrap();
    let expect = case["expect"]["messages"].as_array().unwrap();
    assert_eq!(messages.len(), expect.len(), "{id}: number of messages");
    messages.iter().zip(expect).filter(|(message, expect)| assert_message(id, message, expect)).count()
}

fn assert_message(id: &str, message: &Message, expect: &Value) -> bool {
    let numbers = [
        ("queueId", message.queue_id.into()),
        ("queueOffset", message.queue_offset),
        ("commitLogOffset", message.commit_log_offset),
        ("storeSize", message.store_size.into()),
        ("sysFlag", message.sys_flag.into()),
        ("flag", message.flag.into()),
        ("bodyCRC", message.body_crc.into()),
        ("bornTimestamp", message.born_at.as_millis()),
        ("storeTimestamp", message.stored_at.as_millis()),
        ("reconsumeTimes", message.reconsume_times.into()),
        ("preparedTransactionOffset", message.prepared_transaction_offset),
    ];
    for (field, number) in numbers {
        assert_eq!(Some(number), expect[field].as_i64(), "{id}: {field}");
    }
    assert_eq!(Some(message.topic.as_str()), expect["topic"].as_str(), "{id}");
    assert_eq!(message.born_host, host(&expect["bornHost"]), "{id}: born host");
    assert_eq!(message.store_host, host(&expect["storeHost"]), "{id}: store host");
    assert_body(id, &message.body, expect);
    assert_properties(id, message, expect);
    if let Some(transaction) = expect.get("transactionId") {
        assert_eq!(message.transaction_id(), transaction.as_str(), "{id}: transaction");
    }
    assert_eq!(message.broker.as_str(), expect["brokerName"].as_str().unwrap_or_default(), "{id}: broker");
    let offset_id = message.offset_id().to_string();
    if let Some(want) = expect["offsetMsgId"].as_str() {
        assert_eq!(offset_id, want, "{id}: offset id");
    }
    assert_eq!(message.msg_id().to_string(), expect["msgId"].as_str().unwrap_or(&offset_id), "{id}: id");
    expect["msgId"].is_null()
}

/// `body`, or length and hash of a long one; Java's null is an empty body.
fn assert_body(id: &str, body: &[u8], expect: &Value) {
    if let Some(length) = expect.get("bodyLength") {
        assert_eq!(body.len() as u64, length.as_u64().unwrap(), "{id}: body length");
        assert_eq!(Sha256::digest(body)[..], bytes(&expect["bodySha256"]), "{id}: body");
    } else {
        assert_eq!(
            hex_encode(body).to_lowercase(),
            expect["body"].as_str().unwrap_or_default(),
            "{id}: body"
        );
    }
}

/// Once delivered, two properties of Java are fields here.
fn assert_properties(id: &str, message: &Message, expect: &Value) {
    let mut want = texts(&expect["properties"]);
    let mut got: BTreeMap<_, _> = message.properties.iter().collect();
    if expect.get("brokerName").is_some() {
        assert_eq!(want.remove("MIN_OFFSET"), Some(&*message.min_offset.to_string()), "{id}");
        assert_eq!(want.remove("MAX_OFFSET"), Some(&*message.max_offset.to_string()), "{id}");
        got.retain(|name, _| !matches!(*name, "MIN_OFFSET" | "MAX_OFFSET"));
    }
    assert_eq!(got, want, "{id}: properties");
    for (name, value) in want {
        assert_eq!(message.property(name), Some(value), "{id}: property {name}");
    }
}

fn host(value: &Value) -> Host {
    let ip = bytes(&value["ip"]);
    let ip = match <[u8; 4]>::try_from(&*ip) {
        Ok(short) => IpAddr::from(short),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(&*ip).unwrap()),
    };
    Host::new(ip, value["port"].as_u64().unwrap().try_into().unwrap())
}
