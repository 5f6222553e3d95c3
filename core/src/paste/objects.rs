//! Objects and lists: JSON, or what Java prints instead.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Kind;
use super::cursor::lines_in;
use super::found::{Brokers, Found, Owner, Queues, Unnamed, beginning, put};
use crate::model::{BrokerName, ClientId, MessageQueue, RETRY_PREFIX, Topic};
use crate::plan::{self, Layout, Said, said};
use crate::report::{ConsumerSeen, MAX_NAME, Snapshot};
use crate::wire::json::{self, Value};

/// Whether an object or a list of JSON begins here. A bracket alone may also begin a line of a log.
pub(super) fn begins(text: &str) -> bool {
    let text = text.trim_start_matches([' ', '\t', '\u{feff}']);
    let after = |text: &str| text.trim_start().chars().next();
    match text.strip_prefix('[') {
        Some(inside) => matches!(after(inside), Some('{' | ']' | '"' | '[')),
        None => text.starts_with('{'),
    }
}

/// Where an object stands, and whose topic it is.
struct At<'a> {
    text: &'a str,
    line: usize,
    topic: Option<&'a Topic>,
}

impl At<'_> {
    fn problem(&self, found: &mut Found, expected: Said) {
        found.problem(self.line, self.text.lines().count().max(1), self.text, expected);
    }
}

pub(super) fn read(found: &mut Found, text: &str, line: usize, topic: Option<&Topic>) {
    let at = At { text, line, topic };
    let trimmed = text.trim_start_matches([' ', '\t', '\u{feff}']);
    match json::parse(trimmed.as_bytes()) {
        Ok(value) => any(found, &value, &at, None),
        Err(error) => {
            let before = trimmed.get(..error.at).unwrap_or(trimmed);
            let place = line + lines_in(before);
            let expected = Said { en: error.expected, zh: in_chinese(error.expected) };
            at.problem(found, said!("{expected} in line {place}", "第 {place} 行的{expected}", expected));
        }
    }
}

/// What the reader of JSON expects.
fn in_chinese(expected: &'static str) -> &'static str {
    match expected {
        "the end" => "结尾",
        "the end of the comment" => "注释的结尾",
        "a comment" => "注释",
        "a value" => "值",
        "a comma or the end of the list" => "逗号或列表的结尾",
        "a colon" => "冒号",
        "a comma or the end of the object" => "逗号或对象的结尾",
        "a key" => "键",
        "a digit" => "数字",
        "a digit of the exponent" => "指数的数字",
        "the end of the text" => "字符串的结尾",
        "an escape" => "转义字符",
        "a hexadecimal digit" => "十六进制数字",
        other => other,
    }
}

fn any(found: &mut Found, value: &Value<'_>, at: &At<'_>, inside: Option<Kind>) {
    let has = |name: &str| !value.field(name).is_null();
    if let Some(schema) = value.field("schema").as_str() {
        snapshot(found, value, schema, at);
    } else if has("queueDatas") && has("brokerDatas") {
        found.is_a(inside.unwrap_or(Kind::TopicRoute));
        route(found, value, at);
    } else if has("connectionSet") {
        found.is_a(inside.unwrap_or(Kind::ConsumerConnection));
        connections(found, value, at);
    } else if is_progress(value) || value.items().first().is_some_and(is_progress) {
        found.is_a(inside.unwrap_or(Kind::Dashboard));
        let single = core::slice::from_ref(value);
        let items = if value.items().is_empty() { single } else { value.items() };
        items.iter().for_each(|topic| progress(found, topic, at));
    } else if has("result") && matches!(value.field("result"), Value::Map(_)) {
        found.is_a(inside.unwrap_or(Kind::AllocateMq));
        allocation(found, value.field("result"), at);
    } else if has("status") && inside.is_none() && value.entries().len() <= 3 {
        response(found, value, at);
    } else if !value.items().is_empty() && value.items().iter().all(|item| item.as_str().is_some()) {
        found.is_a(Kind::List);
        let ids: Vec<&str> = value.items().iter().filter_map(Value::as_str).collect();
        if ids.iter().all(|id| fits(id)) {
            found.consumers(ids.into_iter().map(ConsumerSeen::new));
        } else {
            let expected = said!("client ids of at most {MAX_NAME} bytes", "最多 {MAX_NAME} 字节的客户端 ID");
            at.problem(found, expected);
        }
    } else {
        let keys: Vec<String> =
            value.entries().iter().take(5).filter_map(|(key, _)| key.to_java_text()).collect();
        let keys = keys.join(", ");
        let seen = match keys.is_empty() {
            true => said!("this", "此内容"),
            false => said!("fields {keys}", "字段 {keys}"),
        };
        let expected = said!(
            "a route, a consumer connection, an allocation, a dashboard's response or a snapshot, not {seen}",
            "路由、消费者连接、分配结果、dashboard 的响应或快照，而不是{seen}",
            seen
        );
        at.problem(found, expected);
    }
}

/// `{"status":0,"data":…,"errMsg":null}`
fn response(found: &mut Found, value: &Value<'_>, at: &At<'_>) {
    match value.field("data") {
        Value::Null => {
            let why = value.field("errMsg").as_str().map_or_else(|| said!("no data", "没有数据"), Said::same);
            let expected =
                said!("a response with data; this says: {why}", "含有数据的响应；这里是：{why}", why);
            at.problem(found, expected);
        }
        data => any(found, data, at, Some(Kind::Dashboard)),
    }
}

fn snapshot(found: &mut Found, value: &Value<'_>, schema: &str, at: &At<'_>) {
    if !schema.starts_with("evenkeel.snapshot/") {
        at.problem(found, said!("a snapshot; this is {schema}", "快照；这里是 {schema}"));
        return;
    }
    // What the reader says of shapes, it says in English.
    let read = json::read::<Snapshot>(value).map_err(|error| Said::same(error.to_string()));
    let checked = read.and_then(|snapshot| {
        plan::Snapshot::try_from(&snapshot).map_err(|error| error.said())?;
        Ok(snapshot)
    });
    match checked {
        Ok(snapshot) => {
            found.is_a(Kind::Snapshot);
            found.snapshot(snapshot);
        }
        Err(error) => {
            at.problem(found, said!("a sound snapshot; {error}", "正确的快照；{error}", error));
        }
    }
}

fn route(found: &mut Found, value: &Value<'_>, at: &At<'_>) {
    let mut brokers = Brokers::new();
    for data in value.field("queueDatas").items() {
        let read = data
            .field("readQueueNums")
            .to_i64()
            .filter(|read| (0..=Layout::MAX_QUEUES as i64).contains(read));
        let perm = data.field("perm").to_i64().unwrap_or(6);
        match (name(data, "brokerName"), read) {
            (Some(broker), Some(read)) => {
                put(
                    &mut brokers,
                    BrokerName::from(broker),
                    Queues { read, readable: perm & 4 != 0, told: true },
                );
            }
            _ => {
                let expected =
                    each("brokerName and readQueueNums", "brokerName 和 readQueueNums", "queueDatas");
                at.problem(found, expected);
            }
        }
    }
    match at.topic {
        Some(topic) => {
            found.topics.entry(topic.clone()).or_default();
            brokers.iter().for_each(|(broker, queues)| found.queues(topic, broker, *queues));
        }
        None => {
            found.unnamed.push(Unnamed { paste: 0, line: at.line, text: beginning(at.text), brokers });
        }
    }
}

/// What each entry of a list should have.
fn each(en: &str, zh: &str, list: &str) -> Said {
    said!("{en} in each of {list}", "{list} 每一项中的 {zh}")
}

fn connections(found: &mut Found, value: &Value<'_>, at: &At<'_>) {
    let mut listed = Vec::new();
    for connection in value.field("connectionSet").items() {
        let Some(id) = name(connection, "clientId") else {
            at.problem(found, each("clientId", "clientId", "connectionSet"));
            continue;
        };
        let text = |field: &str| name(connection, field).map(str::to_string);
        listed.push(ConsumerSeen {
            address: text("clientAddr"),
            language: text("language"),
            version: text("versionDesc")
                .or_else(|| connection.field("version").to_java_text().filter(|text| text.len() <= MAX_NAME)),
            ..ConsumerSeen::new(id)
        });
    }
    found.consumers(listed);
    for (topic, _) in value.field("subscriptionTable").entries() {
        if let Some(topic) = topic.as_str().filter(|topic| fits(topic)) {
            if let Some(group) = topic.strip_prefix(RETRY_PREFIX).filter(|group| !group.is_empty()) {
                found.group(group, at.line, topic);
            }
            found.subscribed.insert(Topic::from(topic));
        }
    }
}

fn is_progress(value: &Value<'_>) -> bool {
    !value.field("queueStatInfoList").is_null()
}

/// `{"topic":…,"queueStatInfoList":[{"brokerName","queueId","brokerOffset","consumerOffset","clientInfo"}]}`
fn progress(found: &mut Found, value: &Value<'_>, at: &At<'_>) {
    let Some(topic) = name(value, "topic") else {
        at.problem(found, said!("topic beside queueStatInfoList", "queueStatInfoList 旁的 topic"));
        return;
    };
    if let Some(group) = topic.strip_prefix(RETRY_PREFIX).filter(|group| !group.is_empty()) {
        found.group(group, at.line, topic);
    }
    let mut complete = true;
    for stat in value.field("queueStatInfoList").items() {
        let Some(queue) = queue(stat, topic) else {
            at.problem(found, each("brokerName and queueId", "brokerName 和 queueId", "queueStatInfoList"));
            complete = false;
            continue;
        };
        found.queue(&queue);
        let offsets = (stat.field("brokerOffset").to_i64(), stat.field("consumerOffset").to_i64());
        if let (Some(end), Some(committed)) = offsets {
            let lag = end.checked_sub(committed).filter(|&lag| lag >= 0);
            if lag.is_none() {
                let expected = said!(
                    "a consumerOffset of at most brokerOffset for {queue}",
                    "不大于 brokerOffset 的 consumerOffset，队列 {queue}"
                );
                at.problem(found, expected);
            }
            found.load.insert(queue.clone(), (lag, None));
        }
        let owner = match name(stat, "clientInfo") {
            Some(id) => Owner::Ids([ClientId::from(id)].into()),
            None => Owner::Nobody,
        };
        found.owners.insert(queue, owner);
    }
    if complete {
        found.owners_told.insert(Topic::from(topic));
    }
}

/// Who would get what by `allocateMQ`. It neither sorts the queues nor the ids, as the members of a group do, so that
/// nothing is taken from it but who and what there is.
fn allocation(found: &mut Found, value: &Value<'_>, at: &At<'_>) {
    let mut listed = Vec::new();
    let mut queues: BTreeMap<MessageQueue, ()> = BTreeMap::new();
    for (id, share) in value.entries() {
        let Some(id) = id.as_str().filter(|id| fits(id)) else {
            at.problem(found, said!("a client id before each list of queues", "每个队列列表前的客户端 ID"));
            continue;
        };
        listed.push(ConsumerSeen::new(id));
        for entry in share.items() {
            match name(entry, "topic").and_then(|topic| queue(entry, topic)) {
                Some(queue) => drop(queues.insert(queue, ())),
                None => {
                    let expected = said!(
                        "topic, brokerName and queueId for each queue",
                        "每个队列的 topic、brokerName 和 queueId"
                    );
                    at.problem(found, expected);
                }
            }
        }
    }
    found.consumers(listed);
    queues.keys().for_each(|queue| found.queue(queue));
}

fn queue(value: &Value<'_>, topic: &str) -> Option<MessageQueue> {
    let id = value.field("queueId").to_i32().filter(|&id| (0..Layout::MAX_QUEUES as i32).contains(&id))?;
    Some(MessageQueue::new(topic, name(value, "brokerName")?, id))
}

fn name<'a>(value: &'a Value<'_>, field: &str) -> Option<&'a str> {
    value.field(field).as_str().filter(|name| fits(name))
}

fn fits(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= MAX_NAME
}
