//! Reading what `mqadmin` prints.

/// One queue in the table of `mqadmin consumerProgress -g GROUP`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The topic, whose long names the tool cuts to 32 characters.
    pub topic: String,
    /// The broker's name.
    pub broker: String,
    /// Number of the queue.
    pub queue: i32,
    /// The offset that the next message will have.
    pub broker_offset: i64,
    /// The offset that the group has committed.
    pub consumer_offset: i64,
    /// The owner's address, with `-s true` and an owner.
    pub client: Option<String>,
}

impl Progress {
    /// Messages not yet consumed.
    pub fn lag(&self) -> i64 {
        self.broker_offset - self.consumer_offset
    }
}

/// The rows of `mqadmin consumerProgress -g GROUP`, of every version; none if the group is not known.
pub fn consumer_progress(text: &str) -> Vec<Progress> {
    let mut with_client = false;
    let mut rows = Vec::new();
    for line in text.lines() {
        if line.starts_with("#Topic") {
            with_client = line.contains("#Client IP");
        } else {
            rows.extend(row(line, with_client));
        }
    }
    rows
}

fn row(line: &str, with_client: bool) -> Option<Progress> {
    let mut words = line.split_whitespace();
    let topic = words.next()?.to_owned();
    let broker = words.next()?.to_owned();
    let queue = words.next()?.parse().ok()?;
    let broker_offset = words.next()?.parse().ok()?;
    let consumer_offset = words.next()?.parse().ok()?;
    let client = words.next().filter(|word| with_client && *word != "N/A").map(str::to_owned);
    Some(Progress { topic, broker, queue, broker_offset, consumer_offset, client })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_4_9() {
        let text = "\
#Topic                 #Broker Name     #QID  #Broker Offset  #Consumer Offset  #Diff  #LastTime
%RETRY%readers         broker-a         0     0               0                 0      N/A
orders                 broker-a         11    6250            6240              10     2026-11-29 23:42:06

Consume TPS: 5000.50
Diff Total: 10
";
        let rows = consumer_progress(text);
        let last = rows.last().expect("a row");
        assert_eq!((rows.len(), last.queue, last.lag()), (2, 11, 10));
        assert_eq!((last.topic.as_str(), last.broker.as_str()), ("orders", "broker-a"));
        assert_eq!(last.client, None);
    }

    #[test]
    fn a_table_of_5_with_clients() {
        let text = "
#Topic  #Broker Name  #QID  #Broker Offset  #Consumer Offset  #Client IP  #Diff  #Inflight  #LastTime
orders  broker-b      0     6               6                 127.0.0.1   0      0          2026-11-29 23:43:19
orders  broker-b      1     6               6                 N/A         0      0          2026-11-29 23:43:19

Consume TPS: 3334.11
Consume Diff Total: 0
Consume Inflight Total: 0
";
        let clients: Vec<_> = consumer_progress(text).into_iter().map(|row| row.client).collect();
        assert_eq!(clients, [Some("127.0.0.1".to_owned()), None]);
    }

    #[test]
    fn no_table() {
        assert_eq!(consumer_progress("\njava.lang.NullPointerException\n\tat x.Y(Z.java:1)\n"), []);
    }
}
