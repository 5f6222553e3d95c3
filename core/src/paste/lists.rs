//! Lists that people write: client ids, `TOPIC: BROKER=N, …`, `group: NAME`, `strategy: NAME`.

use alloc::vec::Vec;

use super::Kind;
use super::found::{Found, Queues};
use crate::model::{BrokerName, Topic};
use crate::plan::{Layout, Said, said};
use crate::report::{self, ConsumerSeen, MAX_NAME};

const EXPECTED: Said<&str> = Said {
    en: "a client id, TOPIC: BROKER=N, group: NAME, strategy: NAME, or output of mqadmin or the dashboard",
    zh: "客户端 ID、TOPIC: BROKER=N、group: NAME、strategy: NAME，或 mqadmin、dashboard 的输出",
};

/// Reads a line, and gives the consumers that it names.
pub(super) fn read(found: &mut Found, line: &str, number: usize) -> Vec<ConsumerSeen> {
    let line = line.trim();
    if let Some((name, value)) = line.split_once(": ") {
        let (name, value) = (name.trim(), value.trim());
        match name {
            _ if name.split_whitespace().count() != 1 || name.len() > MAX_NAME => {
                found.problem(number, 1, line, EXPECTED.into());
            }
            _ if value.contains('=') => topic(found, name, value, line, number),
            "group" if is_name(value) => {
                found.is_a(Kind::List);
                found.group(value, number, line);
            }
            "strategy" => match value.parse() {
                Ok(strategy) => {
                    found.is_a(Kind::List);
                    found.strategy = Some(strategy);
                }
                Err(report::Error { text, .. }) => {
                    found.problem(number, 1, line, said!("a strategy; {text}", "策略；{text}", text));
                }
            },
            _ => found.problem(number, 1, line, EXPECTED.into()),
        }
        return Vec::new();
    }
    let ids: Vec<&str> = line.split([',', ';']).map(str::trim).filter(|id| !id.is_empty()).collect();
    if !ids.is_empty() && ids.iter().all(|id| is_id(id)) {
        found.is_a(Kind::List);
        return ids.into_iter().map(ConsumerSeen::new).collect();
    }
    found.problem(number, 1, line, EXPECTED.into());
    Vec::new()
}

/// `orders: broker-a=8, broker-b=8`
fn topic(found: &mut Found, name: &str, value: &str, line: &str, number: usize) {
    let one = |part: &str| {
        let (broker, count) = part.split_once('=')?;
        let read = count.trim().parse::<i64>().ok();
        let read = read.filter(|read| (0..=Layout::MAX_QUEUES as i64).contains(read))?;
        is_name(broker.trim()).then(|| (BrokerName::from(broker.trim()), read))
    };
    let parts = value.split([',', ' ']).map(str::trim).filter(|part| !part.is_empty());
    let Some(brokers) = parts.map(one).collect::<Option<Vec<_>>>() else {
        found.problem(
            number,
            1,
            line,
            said!(
                "a number of readable queues for each broker: TOPIC: BROKER=N, BROKER=N",
                "每个 Broker 的可读队列数：TOPIC: BROKER=N, BROKER=N"
            ),
        );
        return;
    };
    found.is_a(Kind::List);
    let topic = Topic::from(name);
    for (broker, read) in brokers {
        found.queues(&topic, &broker, Queues { read, readable: true, told: true });
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_NAME && !text.contains(char::is_whitespace)
}

/// A word that can be a client id and not the leftover of something else.
fn is_id(text: &str) -> bool {
    const NEVER: [char; 8] = ['{', '}', '[', ']', '"', '\'', '=', '#'];
    is_name(text) && !text.contains(NEVER) && text.contains(char::is_alphanumeric)
        || text.contains('@') && is_name(text) && !text.contains(['{', '}', '"', '='])
}
