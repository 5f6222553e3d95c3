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

/// One member in the table of `mqadmin consumerConnection -g GROUP`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The member's id.
    pub client: String,
    /// Its address, as the broker sees it.
    pub address: String,
    /// `JAVA`, `RUST`, …
    pub language: String,
    /// The protocol's version, as Java names it.
    pub version: String,
}

/// The rows of `mqadmin consumerConnection -g GROUP`, sorted by id.
pub fn connections(text: &str) -> Vec<Connection> {
    let lines = text.lines().skip_while(|line| !line.contains("#ClientId")).skip(1);
    let rows = lines.take_while(|line| !line.trim().is_empty()).filter_map(|line| {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some(Connection {
            client: words.next()?,
            address: words.next()?,
            language: words.next()?,
            version: words.next()?,
        })
    });
    let mut rows: Vec<Connection> = rows.collect();
    rows.sort_by(|a, b| a.client.cmp(&b.client));
    rows
}

/// The queues of a topic (`broker/number`) that `mqadmin consumerStatus -g GROUP -i CLIENT` shows to be the member's,
/// in the order of the table.
pub fn queues_of_member(text: &str, topic: &str) -> Vec<String> {
    let rows = section(text, "#Consumer MQ Detail#");
    rows.iter()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (name, broker, queue) = (words.next()?, words.next()?, words.next()?);
            (name == topic).then(|| format!("{broker}/{queue}"))
        })
        .collect()
}

/// The subscriptions (topic, expression) in what `mqadmin consumerStatus -g GROUP -i CLIENT` prints.
pub fn subscriptions_of_member(text: &str) -> Vec<(String, String)> {
    let word_after = |line: &str, key: &str| {
        let mut words = line.split_whitespace().skip_while(|word| *word != key).skip(1);
        words.next().map(str::to_owned)
    };
    let rows = section(text, "#Consumer Subscription#");
    rows.iter()
        .filter_map(|line| Some((word_after(line, "Topic:")?, word_after(line, "SubExpression:")?)))
        .collect()
}

/// What `mqadmin consumerStatus -g GROUP -i CLIENT` tells of a topic: pull RT, pull TPS, consume RT, TPS of what went well, TPS
/// of what failed, failed messages of the last hour; none if it has no such row.
pub fn figures_of_member(text: &str, topic: &str) -> Option<[f64; 6]> {
    let rows = section(text, "#Consumer RT&TPS#");
    let row = rows.iter().find(|line| line.split_whitespace().next() == Some(topic))?;
    let numbers: Vec<f64> = row.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().ok()
}

/// The lines below a title, up to the next empty one, without the table's head.
fn section<'a>(text: &'a str, title: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| line.trim() != title).skip(1);
    lines.take_while(|line| !line.trim().is_empty()).filter(|line| !line.starts_with('#')).collect()
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

    #[test]
    fn members_and_their_queues() {
        let text = "
#ClientId        #ClientAddr      #Language  #Version
10.0.0.1@b       10.0.0.1:5104    RUST       V5_3_1
10.0.0.1@a       10.0.0.1:5103    JAVA       V5_5_0

Below is subscription:
";
        let members = connections(text);
        let languages: Vec<_> =
            members.iter().map(|row| (row.client.as_str(), row.language.as_str())).collect();
        assert_eq!(languages, [("10.0.0.1@a", "JAVA"), ("10.0.0.1@b", "RUST")]);

        let text = "
#Consumer Subscription#
001 Topic: %RETRY%g     ClassFilter: false    SubExpression: *
002 Topic: orders       ClassFilter: false    SubExpression: a || b


#Consumer MQ Detail#
#Topic       #Broker Name   #QID  #ProcessQueueInfo
%RETRY%g     broker-b       0     ProcessQueueInfo [commitOffset=0, cachedMsgCount=0]
orders       broker-a       3     ProcessQueueInfo [commitOffset=0, cachedMsgCount=0]

#Consumer Pop Detail#
orders       broker-c       1     ProcessQueueInfo []
";
        assert_eq!(queues_of_member(text, "orders"), ["broker-a/3"]);
        let subscriptions = subscriptions_of_member(text);
        assert_eq!(subscriptions.len(), 2);
        assert_eq!(subscriptions.last(), Some(&("orders".to_owned(), "a".to_owned())));
    }
}
