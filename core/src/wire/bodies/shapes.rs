//! The bodies as tables: for each Java class its fields, their types and Java's defaults.
//!
//! Used to show any body as strict JSON (`evenkeel decode body NAME`): objects under their Java field names with
//! absent fields filled in, maps keyed by queues as sorted lists of `{"key":…,"value":…}`, sets sorted and without
//! repeats, enums by name (null if unknown). The values are those of Java's 5.x classes.

use super::bad_number;
use crate::wire::error::{WireError, WireErrorKind};
use crate::wire::json::{self, Value};
use Shape::{Any, Bool, Class, Double, Enum, Int, List, Long, LongKeys, Map, Set, Table, Text};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A Java type, as far as JSON shows it.
enum Shape {
    Any,
    Bool,
    Int,
    Long,
    /// A number that must not be null.
    Counter,
    Double,
    Text,
    /// Names in the order of their ordinals.
    Enum(&'static [&'static str]),
    List(&'static Shape),
    Set(&'static Shape),
    /// Keyed by texts.
    Map(&'static Shape),
    /// Keyed by 64-bit numbers.
    LongKeys(&'static Shape),
    /// Keyed by queues.
    Table(&'static Shape),
    Class(&'static [Field]),
}

/// A field: its Java name, its type, and its value if the text has none (as JSON).
struct Field {
    name: &'static str,
    shape: Shape,
    absent: &'static str,
}

const fn field(name: &'static str, shape: Shape, absent: &'static str) -> Field {
    Field { name, shape, absent }
}

const NAMES: Shape = Text;
const LONGS: Shape = Long;
const COUNTERS: Shape = Shape::Counter;
const INTS: Shape = Int;

const QUEUE: Shape =
    Class(&[field("brokerName", Text, "null"), field("queueId", Int, "0"), field("topic", Text, "null")]);

const QUEUE_AND_OFFSET: Shape = Class(&[
    field("brokerName", Text, "null"),
    field("offset", Long, "0"),
    field("queueId", Int, "0"),
    field("topic", Text, "null"),
]);

const BROKER: Shape = Class(&[
    field("brokerAddrs", LongKeys(&NAMES), "null"),
    field("brokerName", Text, "null"),
    field("cluster", Text, "null"),
    field("enableActingMaster", Bool, "false"),
    field("zoneName", Text, "null"),
]);

const QUEUE_COUNTS: Shape = Class(&[
    field("brokerName", Text, "null"),
    field("perm", Int, "0"),
    field("readQueueNums", Int, "0"),
    field("topicSysFlag", Int, "0"),
    field("writeQueueNums", Int, "0"),
]);

const LIST_OF_NAMES: Shape = List(&NAMES);
const SET_OF_NAMES: Shape = Set(&NAMES);
const ANYTHING: Shape = Any;

const ROUTE: &[Field] = &[
    field("brokerDatas", List(&BROKER), "[]"),
    field("filterServerTable", Map(&LIST_OF_NAMES), "{}"),
    field("orderTopicConf", Text, "null"),
    field("queueDatas", List(&QUEUE_COUNTS), "[]"),
    field("topicQueueMappingByBroker", Map(&ANYTHING), "null"),
];

const CLUSTER: &[Field] =
    &[field("brokerAddrTable", Map(&BROKER), "null"), field("clusterAddrTable", Map(&SET_OF_NAMES), "null")];

const SUBSCRIPTION: Shape = Class(&[
    field("classFilterMode", Bool, "false"),
    field("codeSet", Set(&INTS), "[]"),
    field("expressionType", Text, r#""TAG""#),
    field("filterClassSource", Text, "null"),
    field("subString", Text, "null"),
    field("subVersion", Long, "0"),
    field("tagsSet", Set(&NAMES), "[]"),
    field("topic", Text, "null"),
]);

const CONSUME_TYPE: Shape = Enum(&["CONSUME_ACTIVELY", "CONSUME_PASSIVELY", "CONSUME_POP"]);
const MESSAGE_MODEL: Shape = Enum(&["BROADCASTING", "CLUSTERING"]);
const CONSUME_FROM: Shape = Enum(&[
    "CONSUME_FROM_LAST_OFFSET",
    "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
    "CONSUME_FROM_MIN_OFFSET",
    "CONSUME_FROM_MAX_OFFSET",
    "CONSUME_FROM_FIRST_OFFSET",
    "CONSUME_FROM_TIMESTAMP",
]);
const REQUEST_MODE: Shape = Enum(&["PULL", "POP"]);
const CONSUME_RESULT: Shape =
    Enum(&["CR_SUCCESS", "CR_LATER", "CR_ROLLBACK", "CR_COMMIT", "CR_THROW_EXCEPTION", "CR_RETURN_NULL"]);
const LANGUAGE: Shape = Enum(&[
    "JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS",
    "RUST", "NODE_JS",
]);

const CONSUMER: Shape = Class(&[
    field("consumeFromWhere", CONSUME_FROM, "null"),
    field("consumeType", CONSUME_TYPE, "null"),
    field("groupName", Text, "null"),
    field("messageModel", MESSAGE_MODEL, "null"),
    field("subscriptionDataSet", Set(&SUBSCRIPTION), "[]"),
    field("unitMode", Bool, "false"),
]);

const PRODUCER: Shape = Class(&[field("groupName", Text, "null")]);

const HEARTBEAT: &[Field] = &[
    field("clientID", Text, "null"),
    field("consumerDataSet", Set(&CONSUMER), "[]"),
    field("heartbeatFingerprint", Int, "0"),
    // Java's getter is called `isWithoutSub`; the text has the name without "is".
    field("isWithoutSub", Bool, "false"),
    field("producerDataSet", Set(&PRODUCER), "[]"),
];

const MEMBERS: &[Field] = &[field("consumerIdList", List(&NAMES), "null")];

const CONNECTION: Shape = Class(&[
    field("clientAddr", Text, "null"),
    field("clientId", Text, "null"),
    field("language", LANGUAGE, "null"),
    field("version", Int, "0"),
]);

const CONSUMER_CONNECTION: &[Field] = &[
    field("connectionSet", Set(&CONNECTION), "[]"),
    field("consumeFromWhere", CONSUME_FROM, "null"),
    field("consumeType", CONSUME_TYPE, "null"),
    field("messageModel", MESSAGE_MODEL, "null"),
    field("subscriptionTable", Map(&SUBSCRIPTION), "{}"),
];

const PROCESS_QUEUE: Shape = Class(&[
    field("cachedMsgCount", Int, "0"),
    field("cachedMsgMaxOffset", Long, "0"),
    field("cachedMsgMinOffset", Long, "0"),
    field("cachedMsgSizeInMiB", Int, "0"),
    field("commitOffset", Long, "0"),
    field("droped", Bool, "false"),
    field("lastConsumeTimestamp", Long, "0"),
    field("lastLockTimestamp", Long, "0"),
    field("lastPullTimestamp", Long, "0"),
    field("locked", Bool, "false"),
    field("transactionMsgCount", Int, "0"),
    field("transactionMsgMaxOffset", Long, "0"),
    field("transactionMsgMinOffset", Long, "0"),
    field("tryUnlockTimes", Long, "0"),
]);

const POP_QUEUE: Shape = Class(&[
    field("droped", Bool, "false"),
    field("lastPopTimestamp", Long, "0"),
    field("waitAckCount", Int, "0"),
]);

const CONSUME_STATUS: Shape = Class(&[
    field("consumeFailedMsgs", Long, "0"),
    field("consumeFailedTPS", Double, "0.0"),
    field("consumeOKTPS", Double, "0.0"),
    field("consumeRT", Double, "0.0"),
    field("pullRT", Double, "0.0"),
    field("pullTPS", Double, "0.0"),
]);

const RUNNING_INFO: &[Field] = &[
    field("jstack", Text, "null"),
    field("mqPopTable", Table(&POP_QUEUE), "{}"),
    field("mqTable", Table(&PROCESS_QUEUE), "{}"),
    field("properties", Map(&NAMES), "{}"),
    field("statusTable", Map(&CONSUME_STATUS), "{}"),
    field("subscriptionSet", Set(&SUBSCRIPTION), "[]"),
    field("userConsumerInfo", Map(&NAMES), "{}"),
];

const CONSUMED_DIRECTLY: &[Field] = &[
    field("autoCommit", Bool, "true"),
    field("consumeResult", CONSUME_RESULT, "null"),
    field("order", Bool, "false"),
    field("remark", Text, "null"),
    field("spentTimeMills", Long, "0"),
];

const PROGRESS: Shape = Class(&[
    field("brokerOffset", Long, "0"),
    field("consumerOffset", Long, "0"),
    field("lastTimestamp", Long, "0"),
    field("pullOffset", Long, "0"),
]);

const CONSUME_STATS: &[Field] =
    &[field("consumeTps", Double, "0.0"), field("offsetTable", Table(&PROGRESS), "{}")];

const RANGE: Shape = Class(&[
    field("lastUpdateTimestamp", Long, "0"),
    field("maxOffset", Long, "0"),
    field("minOffset", Long, "0"),
]);

const TOPIC_STATS: &[Field] =
    &[field("offsetTable", Table(&RANGE), "{}"), field("topicPutTps", Double, "0.0")];

const OFFSETS: Shape = Table(&LONGS);

const CONSUMER_STATUS: &[Field] =
    &[field("consumerTable", Map(&OFFSETS), "{}"), field("messageQueueTable", Table(&LONGS), "{}")];

const QUEUE_SET: &[Field] = &[
    field("clientId", Text, "null"),
    field("consumerGroup", Text, "null"),
    field("mqSet", Set(&QUEUE), "[]"),
    field("onlyThisBroker", Bool, "false"),
];

const LOCKED: &[Field] = &[field("lockOKMQSet", Set(&QUEUE), "[]")];

const CHECK: &[Field] = &[
    field("clientId", Text, "null"),
    field("group", Text, "null"),
    field("namespace", Text, "null"),
    field("subscriptionData", SUBSCRIPTION, "null"),
];

const ASSIGNMENT_REQUEST: &[Field] = &[
    field("clientId", Text, "null"),
    field("consumerGroup", Text, "null"),
    field("messageModel", MESSAGE_MODEL, "null"),
    field("strategyName", Text, "null"),
    field("topic", Text, "null"),
];

const ASSIGNMENT: Shape = Class(&[
    field("attachments", Map(&NAMES), "null"),
    field("messageQueue", QUEUE, "null"),
    field("mode", REQUEST_MODE, "null"),
]);

/// Java class names and their fields.
const CLASSES: &[(&str, &[Field])] = &[
    ("CheckClientRequestBody", CHECK),
    ("ClusterInfo", CLUSTER),
    ("ConsumeMessageDirectlyResult", CONSUMED_DIRECTLY),
    ("ConsumeStats", CONSUME_STATS),
    ("ConsumerConnection", CONSUMER_CONNECTION),
    ("ConsumerRunningInfo", RUNNING_INFO),
    ("GetConsumerListByGroupResponseBody", MEMBERS),
    ("GetConsumerStatusBody", CONSUMER_STATUS),
    ("HeartbeatData", HEARTBEAT),
    ("LockBatchRequestBody", QUEUE_SET),
    ("LockBatchResponseBody", LOCKED),
    ("OffsetSerializeWrapper", &[field("offsetTable", Table(&COUNTERS), "{}")]),
    ("QueryAssignmentRequestBody", ASSIGNMENT_REQUEST),
    ("QueryAssignmentResponseBody", &[field("messageQueueAssignments", Set(&ASSIGNMENT), "null")]),
    ("ResetOffsetBody", &[field("offsetTable", Table(&LONGS), "{}")]),
    ("ResetOffsetBodyForC", &[field("offsetTable", List(&QUEUE_AND_OFFSET), "null")]),
    ("TopicList", &[field("brokerAddr", Text, "null"), field("topicList", Set(&NAMES), "[]")]),
    ("TopicRouteData", ROUTE),
    ("TopicStatsTable", TOPIC_STATS),
    ("UnlockBatchRequestBody", QUEUE_SET),
];

/// The Java class names that [`normalise`] knows, sorted.
pub fn class_names() -> impl Iterator<Item = &'static str> {
    CLASSES.iter().map(|(name, _)| *name)
}

/// A body as strict JSON, by the Java class that it is. No bytes at all are `null`.
///
/// Errors: [`WireErrorKind::Unsupported`] for a class that is not in [`class_names`], those of [`json::parse`], and
/// [`WireErrorKind::BadNumber`] and [`WireErrorKind::BadJson`] for values that are not of the field's type.
pub fn normalise(class: &str, body: &[u8]) -> Result<String, WireError> {
    let class = CLASSES.iter().find(|(name, _)| *name == class).map(|(_, fields)| *fields);
    let fields = class.ok_or(WireError::new(WireErrorKind::Unsupported, 0, "the name of a body"))?;
    if body.is_empty() {
        return Ok("null".to_string());
    }
    let value = json::parse(body)?;
    Ok(shaped(&value, &Class(fields))?.to_text())
}

fn wrong(expected: &'static str) -> WireError {
    WireError::new(WireErrorKind::BadJson, 0, expected)
}

/// The value as this type has it.
fn shaped(value: &Value<'_>, shape: &Shape) -> Result<Value<'static>, WireError> {
    if value.is_null() && !matches!(shape, Shape::Counter) {
        return Ok(Value::Null);
    }
    match shape {
        Any => Ok(value.to_owned_value()),
        Bool => value.to_bool().map(Value::Bool).ok_or(wrong("a truth value")),
        Int => value.to_i32().map(Value::from).ok_or(bad_number("a 32-bit number")),
        Long | Shape::Counter => value.to_i64().map(Value::from).ok_or(bad_number("a 64-bit number")),
        Double => match value {
            Value::Number(_) => Ok(value.to_owned_value()),
            other => other.to_f64().map(Value::from).ok_or(bad_number("a number")),
        },
        Text => Ok(value.to_java_text().map_or(Value::Null, Value::from)),
        Enum(names) => Ok(enum_name(value, names).map_or(Value::Null, Value::from)),
        List(inner) => Ok(Value::List(shaped_items(value, inner)?)),
        Set(inner) => {
            let mut items = shaped_items(value, inner)?;
            items.sort_by_cached_key(sort_key);
            items.dedup();
            Ok(Value::List(items))
        }
        Map(inner) => shaped_map(value, inner, |key| key.to_java_text().ok_or(wrong("a text as key"))),
        LongKeys(inner) => shaped_map(value, inner, |key| {
            key.to_i64().map(|number| number.to_string()).ok_or(bad_number("a number as key"))
        }),
        Table(inner) => shaped_table(value, inner),
        Class(fields) => shaped_class(value, fields),
    }
}

fn shaped_items(value: &Value<'_>, inner: &Shape) -> Result<Vec<Value<'static>>, WireError> {
    match value {
        Value::List(items) => items.iter().map(|item| shaped(item, inner)).collect(),
        _ => Err(wrong("a list")),
    }
}

fn shaped_map(
    value: &Value<'_>,
    inner: &Shape,
    key_text: impl Fn(&Value<'_>) -> Result<String, WireError>,
) -> Result<Value<'static>, WireError> {
    let Value::Map(entries) = value else { return Err(wrong("an object")) };
    let mut rows: Vec<_> = entries
        .iter()
        .map(|(key, entry)| Ok((Value::from(key_text(key)?), shaped(entry, inner)?)))
        .collect::<Result<_, WireError>>()?;
    rows.sort();
    Ok(Value::Map(rows))
}

/// `[{"key":queue,"value":…},…]`, or `{}` for an empty table, which has no keys to tell what it is.
fn shaped_table(value: &Value<'_>, inner: &Shape) -> Result<Value<'static>, WireError> {
    let Value::Map(entries) = value else { return Err(wrong("an object")) };
    if entries.is_empty() {
        return Ok(Value::Map(Vec::new()));
    }
    let mut rows: Vec<Value<'static>> = Vec::with_capacity(entries.len());
    for (key, entry) in entries {
        let key = match key {
            Value::Text(text) => shaped(&json::parse(text.as_bytes())?, &QUEUE)?,
            Value::Map(_) => shaped(key, &QUEUE)?,
            _ => return Err(wrong("a queue as key")),
        };
        let row = Value::Map(alloc::vec![("key".into(), key), ("value".into(), shaped(entry, inner)?)]);
        rows.push(row);
    }
    rows.sort_by_cached_key(|row| sort_key(row.field("key")));
    Ok(Value::List(rows))
}

fn shaped_class(value: &Value<'_>, fields: &[Field]) -> Result<Value<'static>, WireError> {
    if !matches!(value, Value::Map(_)) {
        return Err(wrong("an object"));
    }
    let mut shaped_fields = Vec::with_capacity(fields.len());
    for Field { name, shape, absent } in fields {
        let name_in_text = if *name == "isWithoutSub" { "withoutSub" } else { name };
        let present = value.entries().iter().find(|(key, _)| key.as_str() == Some(name_in_text));
        let primitive = matches!(shape, Bool | Int | Long | Double);
        let filled = match present {
            Some((_, given)) if !(primitive && given.is_null()) => shaped(given, shape)?,
            _ => json::parse(absent.as_bytes())?,
        };
        shaped_fields.push((Value::from(*name), filled));
    }
    Ok(Value::Map(shaped_fields))
}

/// By name in any case or by ordinal.
fn enum_name(value: &Value<'_>, names: &[&'static str]) -> Option<&'static str> {
    match value {
        Value::Text(text) => names.iter().find(|name| name.eq_ignore_ascii_case(text)).copied(),
        other => names.get(usize::try_from(other.to_i64()?).ok()?).copied(),
    }
}

/// What sets and tables are sorted by: numbers as numbers, all else as its JSON text.
fn sort_key(value: &Value<'_>) -> (i64, String) {
    match value {
        Value::Number(number) => (number.to_i64().unwrap_or(i64::MAX), String::new()),
        other => (0, other.to_text()),
    }
}
