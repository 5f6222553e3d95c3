//! C23: no property is lost for want of a final separator, blanks around tags do not matter, SQL is not cut into tags.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bytes::Bytes;
use evenkeel_core::model::{MessageQueue, Topic};
use evenkeel_core::wire::delivery::{Delivery, deliver};
use evenkeel_core::wire::message::Message;
use evenkeel_core::wire::properties::{Properties, check};
use evenkeel_core::wire::subscription::{ExpressionType, Filter, FilterError, Subscription};

fn pairs(text: &str) -> Vec<(String, String)> {
    Properties::from(text).iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

fn subscribe(filter: Filter) -> Result<Subscription, FilterError> {
    filter.subscribe(Topic::from("T"))
}

fn tagged(tag: &str) -> Message {
    let mut message = Message::new(Topic::from("T"), Bytes::from_static(b"x"));
    message.properties = Properties::from_pairs([("TAGS", tag)]);
    message
}

fn delivered_tags(filter: Filter) -> Vec<String> {
    let (queue, subscription) = (MessageQueue::new("T", "b", 0), subscribe(filter).unwrap());
    let delivery = Delivery {
        queue: &queue,
        min_offset: 0,
        max_offset: 9,
        offset_delta: 0,
        subscription: &subscription,
    };
    let delivered = deliver(vec![tagged("Z"), tagged("TagA")], &delivery);
    assert_eq!(delivered.messages.len() + delivered.filtered_out, 2);
    delivered.messages.iter().map(|message| message.tag().unwrap().to_owned()).collect()
}

#[test]
fn properties() {
    assert_eq!(pairs("TAGS\u{1}TagA\u{2}KEYS\u{1}k1"), [pair("TAGS", "TagA"), pair("KEYS", "k1")]);
    assert_eq!(pairs("A\u{1}\u{2}B\u{1}v\u{2}"), [pair("B", "v")]);
    assert_eq!(pairs("K\u{1}a\u{1}b\u{2}"), [pair("K", "a\u{1}b")]);
}

#[test]
fn tag_expressions() {
    let both = subscribe(Filter::Tags(" TagA || TagB ||".to_owned())).unwrap();
    assert_eq!(both.tags.iter().collect::<Vec<_>>(), ["TagA", "TagB"]);
    assert_eq!(both.codes.iter().collect::<Vec<_>>(), [&2_598_919, &2_598_920]);
    for all in [Filter::All, Filter::Tags(String::new()), Filter::Tags("*".to_owned())] {
        let all = subscribe(all).unwrap();
        assert_eq!((all.sub_string.as_str(), all.tags.len(), all.codes.len()), ("*", 0, 0));
    }
    assert_eq!(subscribe(Filter::Tags("||".to_owned())), Err(FilterError::NoTags));
    assert_eq!(delivered_tags(Filter::Tags("TagA".to_owned())), ["TagA"]);
}

#[test]
fn sql_expressions() {
    let sql = subscribe(Filter::Sql92("a = 'x||y'".to_owned())).unwrap();
    assert_eq!((sql.sub_string.as_str(), sql.tags.len(), sql.codes.len()), ("a = 'x||y'", 0, 0));
    assert_eq!(sql.expression_type, ExpressionType::Sql92);
    assert_eq!(delivered_tags(Filter::Sql92("a = 'x||y'".to_owned())), ["Z", "TagA"]);
    assert_eq!(subscribe(Filter::Sql92(String::new())), Err(FilterError::NoExpression));
}

/// The control for [`check`]: what it refuses really does not come back.
#[test]
fn refused_properties_would_be_lost() {
    assert_eq!(check("name", "value"), Ok(()));
    for (name, value) in [("", "v"), ("n", ""), ("n\u{1}m", "v"), ("n", "v\u{2}w"), ("n\u{2}m", "v")] {
        assert!(check(name, value).is_err());
        assert_ne!(Properties::from_pairs([(name, value)]).value(name), Some(value));
    }
}
