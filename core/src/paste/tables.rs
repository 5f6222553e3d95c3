//! The tables that `mqadmin` prints.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::Kind;
use super::found::{Brokers, Found, Owner, Queues, Unnamed, put};
use crate::model::{BrokerName, MessageQueue, RETRY_PREFIX, Topic};
use crate::plan::{Layout, Said, said};
use crate::report::{ConsumerSeen, MAX_NAME};
use crate::wire::json::{self, Value};

/// Rows that belong together.
pub(super) enum Table {
    /// `consumerProgress -g`, with its columns.
    Progress { client: bool, in_flight: bool },
    /// `topicStatus`, and the queues of a topic without a name by place.
    Status { topic: Option<Topic>, unnamed: usize },
    /// `topicRoute -l`, likewise.
    Route { topic: Option<Topic>, unnamed: usize },
    /// `consumerConnection`.
    Connections { listed: Vec<ConsumerSeen> },
    /// What `consumerConnection` prints below.
    Subscriptions,
    /// `consumerProgress` without a group: named when it began.
    Groups,
    /// Any other: each row is a problem.
    Unknown,
}

/// Topics are cut to this many characters, and brokers to half.
const CUT_TOPIC: usize = 64;
const CUT_BROKER: usize = 32;

/// The table that a line of column names begins.
pub(super) fn begin(found: &mut Found, line: &str, number: usize, topic: Option<&Topic>) -> Option<Table> {
    // The last names may stand together without a blank, so that nothing but the # parts them.
    let names: Vec<&str> = line.trim().split('#').skip(1).map(str::trim).collect();
    let has = |name: &str| names.contains(&name);
    Some(match *names.first()? {
        "Topic" if has("QID") && has("Consumer Offset") => {
            found.is_a(Kind::ConsumerProgress);
            Table::Progress { client: has("Client IP"), in_flight: has("Inflight") }
        }
        "Broker Name" if has("QID") && has("Max Offset") => {
            found.is_a(Kind::TopicStatus);
            Table::Status { topic: topic.cloned(), unnamed: unnamed(found, line, number, topic) }
        }
        "ClusterName" if has("BrokerName") && has("ReadQueue") => {
            found.is_a(Kind::TopicRoute);
            Table::Route { topic: topic.cloned(), unnamed: unnamed(found, line, number, topic) }
        }
        "ClientId" if has("ClientAddr") => {
            found.is_a(Kind::ConsumerConnection);
            Table::Connections { listed: Vec::new() }
        }
        "Topic" if has("SubExpression") => Table::Subscriptions,
        "Group" if has("Count") => {
            found.is_a(Kind::ConsumerProgress);
            let expected = said!(
                "the progress of one group: mqadmin consumerProgress -g GROUP",
                "单个消费组的进度：mqadmin consumerProgress -g GROUP"
            );
            found.problem(number, 1, line, expected);
            Table::Groups
        }
        _ => {
            let expected = said!(
                "a table of topicRoute -l, topicStatus, consumerProgress or consumerConnection",
                "topicRoute -l、topicStatus、consumerProgress 或 consumerConnection 的表格"
            );
            found.problem(number, 1, line, expected);
            Table::Unknown
        }
    })
}

/// A place for queues whose topic is not known.
fn unnamed(found: &mut Found, line: &str, number: usize, topic: Option<&Topic>) -> usize {
    if topic.is_none() {
        let text = super::found::beginning(line);
        found.unnamed.push(Unnamed { paste: 0, line: number, text, brokers: Brokers::new() });
    }
    found.unnamed.len().saturating_sub(1)
}

/// Whether Java printed a double here.
fn is_double(text: &str) -> bool {
    matches!(json::parse(text.as_bytes()), Ok(Value::Number(_) | Value::Null))
}

/// Whether a line stands below a table, or between two.
pub(super) fn is_foot(found: &mut Found, line: &str, number: usize) -> bool {
    let line = line.trim();
    if line.len() >= 20 && line.bytes().all(|byte| byte == b'-') {
        return true;
    }
    let Some((name, value)) = line.split_once(':') else { return false };
    let value = value.trim();
    match name {
        "Consume TPS" | "Topic Put TPS" => is_double(value),
        "Diff Total" | "Consume Diff Total" | "Consume Inflight Total" => value.parse::<i64>().is_ok(),
        "Below is subscription" => value.is_empty(),
        "ConsumeFromWhere" => value.starts_with("CONSUME_FROM_"),
        "Total" => value.split_whitespace().all(|word| word.parse::<u64>().is_ok()),
        "ConsumeType" if value == "CONSUME_PASSIVELY" => true,
        "ConsumeType" if value == "CONSUME_ACTIVELY" || value == "CONSUME_POP" => {
            let expected = said!(
                "a group of push consumers: others do not share queues like this",
                "push 消费者的消费组：其他类型不这样分配队列"
            );
            found.problem(number, 1, line, expected);
            true
        }
        "MessageModel" if value == "CLUSTERING" => true,
        "MessageModel" if value == "BROADCASTING" => {
            let expected = said!(
                "CLUSTERING: in a broadcast, every consumer has every queue",
                "CLUSTERING：广播模式下每个消费者都读取所有队列"
            );
            found.problem(number, 1, line, expected);
            true
        }
        _ => false,
    }
}

impl Table {
    /// All rows of a table count at once: two rows of one id are two processes, while those of two tables are one.
    pub(super) fn end(self, found: &mut Found) {
        if let Self::Connections { listed } = self {
            found.consumers(listed);
        }
    }

    pub(super) fn row(&mut self, found: &mut Found, line: &str, number: usize) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let understood = match self {
            Self::Progress { client, in_flight } => progress(found, &words, *client, *in_flight, number),
            Self::Status { topic, unnamed } => status(found, &words, topic.as_ref(), *unnamed, number),
            Self::Route { topic, unnamed } => route(found, line, &words, topic.as_ref(), *unnamed),
            Self::Connections { listed } => connection(&words, listed),
            Self::Subscriptions => subscription(found, line, number),
            Self::Groups => group(&words),
            Self::Unknown => Err(said!("a row of a table that is known", "已知表格的一行")),
        };
        if let Err(expected) = understood {
            found.problem(number, 1, line, expected);
        }
    }
}

/// What a row should be, by its columns.
fn row(columns: &str) -> Said {
    said!("a row: {columns}", "一行：{columns}")
}

fn progress(
    found: &mut Found,
    words: &[&str],
    client: bool,
    in_flight: bool,
    number: usize,
) -> Result<(), Said> {
    let expected = || {
        let (client, in_flight) =
            (if client { " CLIENT" } else { "" }, if in_flight { " INFLIGHT" } else { "" });
        row(&alloc::format!("TOPIC BROKER QUEUE BROKER-OFFSET CONSUMER-OFFSET{client} DIFF{in_flight} TIME"))
    };
    let mut words = words.iter().copied();
    let mut next = || words.next().ok_or_else(expected);
    let (topic, broker, id) = (next()?, next()?, next()?);
    let whole = |word: &str| word.parse::<i64>().map_err(|_| expected());
    let (_, _) = (whole(next()?)?, whole(next()?)?);
    let host = if client { Some(next()?) } else { None };
    let diff = whole(next()?)?;
    if in_flight {
        whole(next()?)?;
    }
    // `N/A`, a day and a time, or nothing.
    if words.count() > 2 {
        return Err(expected());
    }
    let queue = queue(topic, broker, id).ok_or_else(expected)?;
    if topic.chars().count() == CUT_TOPIC {
        found.cut_topics.entry(queue.topic.clone()).or_insert((0, number));
    }
    if broker.chars().count() == CUT_BROKER {
        found.cut_brokers.entry(queue.broker.clone()).or_insert((0, number));
    }
    if let Some(group) = topic.strip_prefix(RETRY_PREFIX).filter(|_| topic.chars().count() < CUT_TOPIC) {
        found.group(group, number, topic);
    }
    found.queue(&queue);
    // The committed offset is beyond the end when messages were lost or the offset was reset by hand: no lag at all.
    found.load.insert(queue.clone(), ((diff >= 0).then_some(diff), None));
    match host {
        Some("N/A") => drop(found.owners.insert(queue.clone(), Owner::Nobody)),
        Some(host) => drop(found.owners.insert(queue.clone(), Owner::Host(host.to_string()))),
        None => {}
    }
    if diff < 0 {
        return Err(said!(
            "a lag; {diff} is none, and counts as not known",
            "积压数；{diff} 不是积压数，视为未知"
        ));
    }
    Ok(())
}

fn status(
    found: &mut Found,
    words: &[&str],
    topic: Option<&Topic>,
    unnamed: usize,
    number: usize,
) -> Result<(), Said> {
    let expected = || row("BROKER QUEUE MIN-OFFSET MAX-OFFSET TIME");
    let &[broker, id, min, max, ref time @ ..] = words else { return Err(expected()) };
    if min.parse::<i64>().is_err() || max.parse::<i64>().is_err() || time.len() > 2 {
        return Err(expected());
    }
    let queue = queue(topic.map_or("unnamed", Topic::as_str), broker, id).ok_or_else(expected)?;
    if broker.chars().count() == CUT_BROKER {
        found.cut_brokers.entry(queue.broker.clone()).or_insert((0, number));
    }
    let queues = Queues { read: i64::from(queue.id) + 1, readable: true, told: false };
    on(found, topic, unnamed, queue.broker, queues);
    Ok(())
}

fn route(
    found: &mut Found,
    line: &str,
    words: &[&str],
    topic: Option<&Topic>,
    unnamed: usize,
) -> Result<(), Said> {
    let expected = || row("CLUSTER BROKER {ID=ADDRESS, …} READ WRITE PERM");
    let (&[_, broker, ..], &[.., read, write, perm]) = (words, words) else { return Err(expected()) };
    let numbers = (count(read), count(write), perm.parse::<u32>().ok());
    let (Some(read), Some(_), Some(perm)) = numbers else { return Err(expected()) };
    if words.len() < 6 || !line.contains('{') || broker.len() > MAX_NAME {
        return Err(expected());
    }
    on(found, topic, unnamed, BrokerName::from(broker), Queues { read, readable: perm & 4 != 0, told: true });
    Ok(())
}

/// Queues on a broker, of the topic or of the one without a name.
fn on(found: &mut Found, topic: Option<&Topic>, unnamed: usize, broker: BrokerName, queues: Queues) {
    match topic {
        Some(topic) => found.queues(topic, &broker, queues),
        None => {
            if let Some(unnamed) = found.unnamed.get_mut(unnamed) {
                put(&mut unnamed.brokers, broker, queues);
            }
        }
    }
}

fn connection(words: &[&str], listed: &mut Vec<ConsumerSeen>) -> Result<(), Said> {
    let expected = || row("CLIENT-ID ADDRESS LANGUAGE VERSION");
    // A client id may have blanks in it; the others have none.
    let &[ref id @ .., address, language, version] = words else { return Err(expected()) };
    let id = id.join(" ");
    let fits = |text: &str| !text.is_empty() && text.len() <= MAX_NAME;
    if !fits(&id) || ![address, language, version].into_iter().all(fits) || !address.contains(':') {
        return Err(expected());
    }
    listed.push(ConsumerSeen {
        address: Some(address.into()),
        language: Some(language.into()),
        version: Some(version.into()),
        ..ConsumerSeen::new(id)
    });
    Ok(())
}

fn subscription(found: &mut Found, line: &str, number: usize) -> Result<(), Said> {
    let is_topic = |name: &&str| name.len() <= MAX_NAME && name.bytes().all(is_of_topics);
    let topic = line.split_whitespace().next().filter(is_topic);
    let topic = topic.ok_or_else(|| row("TOPIC EXPRESSION"))?;
    if let Some(group) = topic.strip_prefix(RETRY_PREFIX).filter(|group| !group.is_empty()) {
        found.group(group, number, line);
    }
    found.subscribed.insert(Topic::from(topic));
    Ok(())
}

/// What RocketMQ allows in the name of a topic.
fn is_of_topics(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'%' | b'|' | b'_' | b'-')
}

/// Rows that say nothing about who owns what; that was said at the head of the table.
fn group(words: &[&str]) -> Result<(), Said> {
    let is_row =
        matches!(words, [_, count, .., diff] if count.parse::<u32>().is_ok() && diff.parse::<i64>().is_ok());
    if is_row { Ok(()) } else { Err(row("GROUP COUNT VERSION TYPE MODEL TPS DIFF")) }
}

fn count(word: &str) -> Option<i64> {
    word.parse::<i64>().ok().filter(|count| (0..=Layout::MAX_QUEUES as i64).contains(count))
}

/// A queue whose names and number a plan can have.
pub(super) fn queue(topic: &str, broker: &str, id: &str) -> Option<MessageQueue> {
    let id = id.parse::<i32>().ok().filter(|&id| (0..Layout::MAX_QUEUES as i32).contains(&id))?;
    let fits = |name: &str| !name.is_empty() && name.len() <= MAX_NAME;
    (fits(topic) && fits(broker)).then(|| MessageQueue::new(topic, broker, id))
}
