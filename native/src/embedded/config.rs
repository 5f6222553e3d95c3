//! What the embedded cluster is made of, and the limits that keep it small.

use evenkeel_core::model::{Address, BrokerName, Topic};
use evenkeel_core::time::Duration;
use evenkeel_core::wire::acl::Credentials;
use std::fmt;
use std::str::FromStr;

/// Everything that [`State`](super::State) is built from.
#[derive(Clone, Debug)]
pub struct Config {
    /// Name of the one cluster.
    pub cluster: String,
    /// The brokers, all of them masters.
    pub brokers: Vec<BrokerSpec>,
    /// Topics that exist from the start.
    pub topics: Vec<TopicSpec>,
    /// Seed of all choices: queue of a message that names none, retry queue, probabilities of faults.
    pub seed: u64,
    /// Whether a send to an unknown topic creates it.
    pub auto_create: bool,
    /// Whether a group that nobody set up exists from its first heartbeat on.
    pub auto_create_groups: bool,
    /// Whether the first broker answers at the name server's address, too.
    pub shared_door: bool,
    /// Which generation of servers is imitated where they differ.
    pub generation: Generation,
    /// Keys, one of which must have signed a request of whatever kind. With none of them, everyone may do everything.
    pub keys: Vec<Credentials>,
    /// What a group without a committed offset is told.
    pub young_group: YoungGroup,
    /// Whether an operator's reset is kept in the broker (5.x) instead of being pushed to the members.
    pub server_side_reset: bool,
    /// Delay levels, the first being level 1.
    pub delay_levels: Vec<Duration>,
    /// How often a failed message is tried again before it becomes a dead letter, unless the client says otherwise.
    pub retry_max_times: i32,
    /// How long a queue lock lives without renewal.
    pub lock_life: Duration,
    /// How long a member lives without a heartbeat.
    pub member_life: Duration,
    /// How often held pulls are looked at although nothing came in.
    pub hold_sweep: Duration,
    /// The bounds of what is kept in memory.
    pub limits: Limits,
}

impl Default for Config {
    /// One broker `embedded-a` at port 9876 of the loopback, which answers for the name server as well; no topics.
    fn default() -> Self {
        Self {
            cluster: "DefaultCluster".to_owned(),
            brokers: vec![BrokerSpec::new("embedded-a", "127.0.0.1:9876")],
            topics: Vec::new(),
            seed: 0,
            auto_create: true,
            auto_create_groups: true,
            shared_door: true,
            generation: Generation::V5,
            keys: Vec::new(),
            young_group: YoungGroup::StartsAtZero,
            server_side_reset: true,
            delay_levels: default_delay_levels(),
            retry_max_times: 16,
            lock_life: Duration::from_secs(60),
            member_life: Duration::from_secs(120),
            hold_sweep: Duration::from_secs(5),
            limits: Limits::default(),
        }
    }
}

/// The 18 levels that a broker has unless told otherwise: 1 s, 5 s, 10 s, … 2 h.
pub fn default_delay_levels() -> Vec<Duration> {
    let seconds = [1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200];
    seconds.into_iter().map(Duration::from_secs).collect()
}

/// Name and address of a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerSpec {
    /// The name that routes and queues carry.
    pub name: BrokerName,
    /// The address that routes carry.
    pub address: Address,
}

impl BrokerSpec {
    /// A broker with this name at this address.
    pub fn new(name: impl Into<BrokerName>, address: impl Into<Address>) -> Self {
        Self { name: name.into(), address: address.into() }
    }
}

/// A topic and how it lies on the brokers; as text `orders:2x8` (2 brokers with 8 queues each), `orders:8` (8 queues on
/// every broker) or `orders` (4 on every broker).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSpec {
    /// The topic.
    pub name: Topic,
    /// How many brokers have it, counted from the first; `None` for all there are.
    pub brokers: Option<usize>,
    /// Queues on each of them.
    pub queues: i32,
}

impl TopicSpec {
    /// `queues` queues of the topic on each of the first `brokers` brokers.
    pub fn new(name: impl Into<Topic>, brokers: usize, queues: i32) -> Self {
        Self { name: name.into(), brokers: Some(brokers), queues }
    }

    /// Whether the broker with this index has the topic.
    pub fn is_on(&self, broker: usize) -> bool {
        self.brokers.is_none_or(|count| broker < count)
    }
}

/// Most brokers of one embedded cluster.
pub const MOST_BROKERS: usize = 64;
/// Most queues of a topic on one broker.
pub const MOST_QUEUES: i32 = 4096;

/// A topic description that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no topic description: write NAME, NAME:QUEUES or NAME:BROKERSxQUEUES, as in orders:2x8")]
pub struct TopicSpecError {
    /// What was given.
    pub text: String,
}

impl FromStr for TopicSpec {
    type Err = TopicSpecError;

    fn from_str(text: &str) -> Result<Self, TopicSpecError> {
        let wrong = || TopicSpecError { text: text.to_owned() };
        let (name, layout) = match text.split_once(':') {
            Some((name, layout)) => (name, Some(layout)),
            None => (text, None),
        };
        let (brokers, queues) = match layout.map(|layout| layout.split_once('x').ok_or(layout)) {
            None => (None, 4),
            Some(Ok((brokers, queues))) => {
                let brokers = brokers.parse().map_err(|_| wrong())?;
                (Some(brokers), queues.parse().map_err(|_| wrong())?)
            }
            Some(Err(queues)) => (None, queues.parse().map_err(|_| wrong())?),
        };
        let brokers_fit = brokers.is_none_or(|count| (1..=MOST_BROKERS).contains(&count));
        if !is_legal_name(name) || !brokers_fit || !(1..=MOST_QUEUES).contains(&queues) {
            return Err(wrong());
        }
        Ok(Self { name: name.into(), brokers, queues })
    }
}

impl fmt::Display for TopicSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.brokers {
            Some(brokers) => write!(f, "{}:{brokers}x{}", self.name, self.queues),
            None => write!(f, "{}:{}", self.name, self.queues),
        }
    }
}

/// Longest name that is stored anywhere: of a topic, group, broker or client.
pub(crate) const LONGEST_NAME: usize = 255;

/// Whether brokers accept this as the name of a topic or group.
pub fn is_legal_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"%|_-".contains(&byte);
    !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(legal)
}

/// Generations of servers, for the places where a client can see a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// 4.9
    V4_9,
    /// 5.x
    #[default]
    V5,
}

/// What a broker says about the offset of a group that never committed one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum YoungGroup {
    /// 0 while the queue's first message is still there, as real brokers do; else "not found". It keeps a group that
    /// is as young as its topic from losing the first messages, and overrides the client's own start rule.
    #[default]
    StartsAtZero,
    /// Always "not found", so that the client's start rule is seen at work.
    DecidesItself,
}

/// Bounds of memory. What goes beyond is refused or, for stored messages, dropped from the old end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of stored messages on each broker.
    pub log_bytes: usize,
    /// Bytes of messages that wait for their delay on each broker.
    pub delayed_bytes: usize,
    /// Bytes of one message body.
    pub body: usize,
    /// Bytes of a body that is JSON: heartbeats, lock sets, registrations.
    pub json: usize,
    /// Topics on each broker.
    pub topics: usize,
    /// Groups on each broker, those of producers and consumers counted apart.
    pub groups: usize,
    /// Subscriptions of one group.
    pub subscriptions: usize,
    /// Bytes of all subscriptions on each broker.
    pub subscription_bytes: usize,
    /// Connections in one group on one broker.
    pub members: usize,
    /// Pulls held on each broker, and as many pops; one more is answered at once.
    pub held: usize,
    /// Messages on each broker that are popped and not settled; with so many nothing is popped.
    pub popped: usize,
    /// Topics of groups on each broker that are switched to pop.
    pub modes: usize,
    /// Committed offsets on each broker.
    pub offsets: usize,
    /// Queue locks on each broker.
    pub locks: usize,
    /// Requests on their way to a member on behalf of an operator, and requests and answers that a fault delays.
    pub in_flight: usize,
    /// Brokers outside this process that registered with the name server.
    pub registrations: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            log_bytes: 64 << 20,
            delayed_bytes: 16 << 20,
            body: 4 << 20,
            json: 4 << 20,
            topics: 4096,
            groups: 4096,
            subscriptions: 1024,
            subscription_bytes: 16 << 20,
            members: 4096,
            held: 65_536,
            popped: 65_536,
            modes: 4096,
            offsets: 262_144,
            locks: 65_536,
            in_flight: 4096,
            registrations: 64,
        }
    }
}
