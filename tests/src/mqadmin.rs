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
