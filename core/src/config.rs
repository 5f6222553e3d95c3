//! Settings of a consumer, and the one table that names, limits and explains them.

use crate::model::{Address, ClientId, Group};
use crate::time::Duration;
use crate::wire::request::{ConsumeFrom, MessageModel};
use crate::wire::subscription::Subscription;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// Everything a [`Consumer`](crate::consumer::Consumer) must know before it starts.
#[derive(Clone, Debug)]
pub struct ConsumerConfig {
    /// The group.
    pub group: Group,
    /// A prefix that group and topics carry on the way to servers, and that handlers do not see. Empty: none.
    pub namespace: String,
    /// This member's id, unique in the group.
    pub client: ClientId,
    /// Name servers, tried in this order from a start chosen by the seed.
    pub name_servers: Vec<Address>,
    /// What to consume. The retry topic is added by the consumer itself.
    pub subscriptions: Vec<Subscription>,
    /// How queues are shared out. Every member of a group must use the same.
    pub strategy: Arc<dyn crate::allocate::Allocate>,
    /// Whether the members share the queues, or each has all of them.
    pub model: MessageModel,
    /// Whether the messages of a queue are handled one after the other, under the broker's queue lock.
    pub orderly: bool,
    /// Where queues without a committed offset start.
    pub start_from: ConsumeFrom,
    /// The numbers of [`OPTIONS`].
    pub limits: Limits,
}

/// The numeric settings. Names, defaults, ranges and meaning stand in [`OPTIONS`], which the command line prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `pull_batch`
    pub pull_batch: u32,
    /// `pull_interval`
    pub pull_interval: Duration,
    /// `batch_max`
    pub batch_max: u32,
    /// `concurrency`
    pub concurrency: u32,
    /// `queue_messages_max`
    pub queue_messages_max: u32,
    /// `queue_bytes_max`
    pub queue_bytes_max: u64,
    /// `offset_span_max`
    pub offset_span_max: u32,
    /// `max_retries`
    pub max_retries: i32,
    /// `orderly_pause`
    pub orderly_pause: Duration,
    /// `lock_interval`
    pub lock_interval: Duration,
    /// `lock_life`
    pub lock_life: Duration,
    /// `lock_retry`
    pub lock_retry: Duration,
    /// `lock_timeout`
    pub lock_timeout: Duration,
    /// `unlock_delay`
    pub unlock_delay: Duration,
    /// `commit_interval`
    pub commit_interval: Duration,
    /// `heartbeat_interval`
    pub heartbeat_interval: Duration,
    /// `rebalance_interval`
    pub rebalance_interval: Duration,
    /// `rebalance_retry`
    pub rebalance_retry: Duration,
    /// `route_interval`
    pub route_interval: Duration,
    /// `pull_retry_delay`
    pub pull_retry_delay: Duration,
    /// `send_back_retry_delay`
    pub send_back_retry_delay: Duration,
    /// `revoke_timeout`
    pub revoke_timeout: Duration,
    /// `drain_timeout`
    pub drain_timeout: Duration,
    /// `call_timeout`
    pub call_timeout: Duration,
    /// `offset_timeout`
    pub offset_timeout: Duration,
    /// `suspend`
    pub suspend: Duration,
    /// `pull_timeout`
    pub pull_timeout: Duration,
    /// `exclusive_handover`
    pub exclusive_handover: bool,
    /// `foreign_members`
    pub foreign_members: ForeignMembers,
    /// `rebalance`
    pub rebalance: RebalanceBy,
    /// `pop_batch`
    pub pop_batch: u32,
    /// `pop_invisible`
    pub pop_invisible: Duration,
    /// `pop_messages_max`
    pub pop_messages_max: u32,
    /// `unit_mode`
    pub unit_mode: bool,
}

/// Who shares the queues out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RebalanceBy {
    /// The members, each for itself.
    #[default]
    Client,
    /// The broker (5.x), which can also switch a group to pop. Orderly and broadcasting consumers do it themselves, and so
    /// does everyone where the broker cannot.
    Broker,
}

impl RebalanceBy {
    /// The words for it, by the option's number.
    pub const NAMES: &[&str] = &["client", "broker"];
}

/// What a start does about members that do not do as we do, where all have to: under a strategy that only we know, and
/// where queues are handed over exclusively.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForeignMembers {
    /// It leaves the group again, and says why.
    #[default]
    Refuse,
    /// It says so and goes on. For as long as the others are there, queues have two owners or none (strategy), or are
    /// handed over with messages that come twice.
    Warn,
}

/// The words for off and on, by the option's number.
const SWITCH: &[&str] = &["false", "true"];

impl ForeignMembers {
    /// The words for it, by the option's number.
    pub const NAMES: &[&str] = &["refuse", "warn"];
}

/// What kind of number an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// A plain number.
    Number,
    /// A time. Text such as `30s`, `500ms`, `15m`; a bare number counts in the unit that Java uses for it.
    Millis,
    /// Bytes. A bare number given under Java's name counts in MiB.
    Bytes,
    /// One of these words; as a number, its place among them.
    Choice(&'static [&'static str]),
}

/// One row of [`OPTIONS`].
#[derive(Clone, Copy)]
pub struct OptionRow {
    /// Our name.
    pub name: &'static str,
    /// Java's name, accepted as well; empty if Java has no such setting.
    pub java: &'static str,
    /// What it takes.
    pub kind: OptionKind,
    /// Smallest allowed value (ms for times).
    pub min: i64,
    /// Largest allowed value (ms for times).
    pub max: i64,
    /// What it does.
    pub meaning: &'static str,
    get: fn(&Limits) -> i64,
    set: fn(&mut Limits, i64),
}

macro_rules! options {
    ($($field:ident $kind:ident [$java:literal] $default:literal ($min:literal..=$max:literal) $meaning:literal;)*) => {
        /// Every numeric option there is, in the order of the documentation.
        pub const OPTIONS: &[OptionRow] = &[$(OptionRow {
            name: stringify!($field),
            java: $java,
            kind: options!(@kind $kind),
            min: $min,
            max: $max,
            meaning: $meaning,
            get: |limits| options!(@get $kind limits.$field),
            set: |limits, value| options!(@set $kind limits.$field, value),
        },)*];

        impl Default for Limits {
            fn default() -> Self {
                Self { $($field: options!(@default $kind $default),)* }
            }
        }
    };
    (@kind ForeignMembers) => { OptionKind::Choice(ForeignMembers::NAMES) };
    (@kind RebalanceBy) => { OptionKind::Choice(RebalanceBy::NAMES) };
    (@kind Switch) => { OptionKind::Choice(SWITCH) };
    (@kind $kind:ident) => { OptionKind::$kind };
    (@default ForeignMembers $value:literal) => { ForeignMembers::Refuse };
    (@default RebalanceBy $value:literal) => { RebalanceBy::Client };
    (@default Switch $value:literal) => { $value != 0 };
    (@default Millis $value:literal) => { Duration::from_millis($value) };
    (@default $kind:ident $value:literal) => { $value };
    (@get ForeignMembers $field:expr) => { $field as i64 };
    (@get RebalanceBy $field:expr) => { $field as i64 };
    (@get Switch $field:expr) => { i64::from($field) };
    (@get Millis $field:expr) => { i64::try_from($field.as_millis()).unwrap_or(i64::MAX) };
    (@get $kind:ident $field:expr) => { i64::try_from($field).unwrap_or(i64::MAX) };
    (@set ForeignMembers $field:expr, $value:ident) => {
        $field = if $value == 0 { ForeignMembers::Refuse } else { ForeignMembers::Warn }
    };
    (@set RebalanceBy $field:expr, $value:ident) => {
        $field = if $value == 0 { RebalanceBy::Client } else { RebalanceBy::Broker }
    };
    (@set Switch $field:expr, $value:ident) => { $field = $value != 0 };
    (@set Millis $field:expr, $value:ident) => { $field = Duration::from_millis($value.unsigned_abs()) };
    (@set $kind:ident $field:expr, $value:ident) => { if let Ok(value) = $value.try_into() { $field = value } };
}

options! {
    pull_batch Number ["pullBatchSize"] 32 (1..=1024) "most messages asked for in one pull (brokers cap it at 32 by default)";
    pull_interval Millis ["pullInterval"] 0 (0..=65_535) "pause between two pulls of one queue";
    batch_max Number ["consumeMessageBatchMaxSize"] 1 (1..=1024) "most messages handed to the handler at once";
    concurrency Number ["consumeThreadMax"] 20 (1..=1000) "handlers that run at the same time, over all queues";
    queue_messages_max Number ["pullThresholdForQueue"] 1000 (1..=65_535) "cached messages of one queue above which pulling waits";
    queue_bytes_max Bytes ["pullThresholdSizeForQueue"] 104_857_600 (1_048_576..=1_073_741_824) "held body bytes of one queue, or of what is popped at one broker, above which pulling or popping waits";
    offset_span_max Number ["consumeConcurrentlyMaxSpan"] 2000 (1..=65_535) "distance between the first and the last cached offset above which pulling waits";
    max_retries Number ["maxReconsumeTimes"] -1 (-1..=2_147_483_647) "tries after the first one before a message goes to the dead-letter topic; -1: 16, and without end if orderly";
    orderly_pause Millis ["suspendCurrentQueueTimeMillis"] 1000 (10..=30_000) "orderly: how long a queue rests after a handler gave up";
    lock_interval Millis ["rocketmq.client.rebalance.lockInterval"] 20_000 (100..=30_000) "queue locks: how often they are renewed";
    lock_life Millis ["rocketmq.client.rebalance.lockMaxLiveTime"] 30_000 (1000..=50_000) "queue locks: how long a queue is worked on without a renewal (brokers keep a lock for 60 s)";
    lock_retry Millis [""] 500 (10..=20_000) "queue locks: longest wait before one that another member holds is asked for again";
    lock_timeout Millis [""] 1000 (10..=10_000) "queue locks: deadline of lock and unlock calls";
    unlock_delay Millis ["rocketmq.client.unlockDelayTimeMills"] 20_000 (0..=600_000) "queue locks: how long a queue that goes to another member waits for its running handlers and its last commit";
    commit_interval Millis ["persistConsumerOffsetInterval"] 5000 (10..=3_600_000) "how often changed offsets are committed";
    heartbeat_interval Millis ["heartbeatBrokerInterval"] 30_000 (100..=100_000) "how often every broker hears of us (brokers forget a client after 120 s)";
    rebalance_interval Millis ["rocketmq.client.rebalance.waitInterval"] 20_000 (100..=3_600_000) "how often the group's members are asked for without any notice";
    rebalance_retry Millis ["rocketmq.client.rebalance.minInterval"] 1000 (10..=60_000) "least time between two rounds, or between five if members come and go, and the wait after a round that failed";
    route_interval Millis ["pollNameServerInterval"] 30_000 (100..=3_600_000) "how often topic routes are read again";
    pull_retry_delay Millis ["pullTimeDelayMillsWhenException"] 1000 (10..=60_000) "wait after a pull that failed";
    send_back_retry_delay Millis [""] 5000 (10..=600_000) "wait before a message whose send-back failed is tried again here";
    revoke_timeout Millis [""] 3000 (0..=600_000) "how long a queue that goes to another member waits for its running handlers, without queue locks";
    drain_timeout Millis ["awaitTerminationMillisWhenShutdown"] 30_000 (0..=3_600_000) "how long shutdown waits for running handlers";
    call_timeout Millis ["mqClientApiTimeout"] 3000 (10..=60_000) "deadline of ordinary calls";
    offset_timeout Millis [""] 5000 (10..=60_000) "deadline of offset queries, commits and send-backs";
    suspend Millis [""] 15_000 (100..=60_000) "how long a broker may hold a pull while there is nothing";
    pull_timeout Millis [""] 30_000 (200..=180_000) "deadline of a pull; more than `suspend`, since brokers look at held pulls every 5 s";
    exclusive_handover Switch [""] 0 (0..=1) "whether a queue goes to its next owner under the broker's queue lock, so that nothing is delivered twice; all members must be Evenkeel's and have it on";
    foreign_members ForeignMembers [""] 0 (0..=1) "what a start does if only Evenkeel knows the strategy, or the hand-over, and other clients are in the group: refuse or warn";
    rebalance RebalanceBy ["clientRebalance"] 0 (0..=1) "who shares the queues out: client, or broker (5.x), which can also switch the group to pop; Java's true is client, its false is broker";
    pop_batch Number ["popBatchNums"] 32 (1..=32) "pop: most messages asked for at once";
    pop_invisible Millis ["popInvisibleTime"] 60_000 (5000..=300_000) "pop: how long messages are ours; not acknowledged by then, they come again";
    pop_messages_max Number ["popThresholdForQueue"] 96 (1..=65_535) "pop: held messages of one broker above which popping waits";
    unit_mode Switch ["unitMode"] 0 (0..=1) "whether heartbeats say that the group is one of a unit, so that brokers mark its retry topic";
}

impl OptionRow {
    /// The row with this name, ours or Java's.
    pub fn find(name: &str) -> Option<&'static Self> {
        OPTIONS.iter().find(|row| row.name == name || (!row.java.is_empty() && row.java == name))
    }

    /// The known name nearest to a misspelt one, if any is near enough to be meant.
    pub fn nearest(name: &str) -> Option<&'static str> {
        OPTIONS
            .iter()
            .flat_map(|row| [row.name, row.java])
            .filter(|known| !known.is_empty())
            .map(|known| (edit_distance(name, known), known))
            .filter(|(distance, known)| *distance <= known.len().div_ceil(3))
            .min()
            .map(|(_, known)| known)
    }

    /// The option's value (ms for times).
    pub fn value(&self, limits: &Limits) -> i64 {
        (self.get)(limits)
    }

    /// The option's value as users write it: a word for choices, else a number (ms for times).
    pub fn text(&self, limits: &Limits) -> String {
        let value = self.value(limits);
        let word = match self.kind {
            OptionKind::Choice(words) => usize::try_from(value).ok().and_then(|at| words.get(at)),
            _ => None,
        };
        word.map_or_else(|| value.to_string(), |word| (*word).to_string())
    }

    /// Sets the option (ms for times).
    ///
    /// # Errors
    /// The value is out of range.
    pub fn set(&self, limits: &mut Limits, value: i64) -> Result<(), ConfigError> {
        self.check(value)?;
        (self.set)(limits, value);
        Ok(())
    }

    fn check(&self, value: i64) -> Result<(), ConfigError> {
        if (self.min..=self.max).contains(&value) {
            return Ok(());
        }
        Err(ConfigError::OutOfRange { option: self.name, value, min: self.min, max: self.max })
    }
}

impl fmt::Debug for OptionRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Letters to change, add or drop to make `a` of `b`, without regard to case.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().flat_map(char::to_lowercase).enumerate() {
        let mut diagonal = core::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (diagonal + usize::from(x != *y)).min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// A setting that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A number outside its range.
    #[error("option {option} is {value}, but must lie in {min}..={max}")]
    OutOfRange {
        /// Which.
        option: &'static str,
        /// What was given.
        value: i64,
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A setting that must be given.
    #[error("{what} is not set; {hint}")]
    Missing {
        /// What.
        what: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// A setting whose text is not allowed.
    #[error("{what}: {why}")]
    Invalid {
        /// What.
        what: &'static str,
        /// Why not.
        why: String,
    },
}

impl ConfigError {
    /// Settings are the caller's.
    pub fn blame(&self) -> crate::error::Blame {
        crate::error::Blame::Caller
    }
}

impl ConsumerConfig {
    /// Checks what types cannot: names, ranges, relations.
    ///
    /// # Errors
    /// The first thing that cannot be, with the option's name.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.name_servers.is_empty() {
            return Err(ConfigError::Missing { what: "name_servers", hint: "give at least one host:port" });
        }
        if self.subscriptions.is_empty() {
            return Err(ConfigError::Missing {
                what: "subscription",
                hint: "subscribe to at least one topic",
            });
        }
        if self.client.as_str().is_empty() {
            return Err(ConfigError::Missing {
                what: "client id",
                hint: "an empty id cannot be told from none",
            });
        }
        crate::wire::names::validate_consumer_group(self.group.as_str())
            .map_err(|error| ConfigError::Invalid { what: "group", why: error.to_string() })?;
        for subscription in &self.subscriptions {
            crate::wire::names::validate_topic(subscription.topic.as_str())
                .map_err(|error| ConfigError::Invalid { what: "topic", why: error.to_string() })?;
        }
        for row in OPTIONS {
            row.check(row.value(&self.limits))?;
        }
        if self.limits.exclusive_handover && self.model == MessageModel::Broadcasting {
            return Err(ConfigError::Invalid {
                what: "exclusive_handover",
                why: "members of a broadcasting group share no queue, so there is nothing to hand over; \
                      leave it off, or let the members share (clustering)"
                    .to_string(),
            });
        }
        let limits = &self.limits;
        more_than("pull_timeout", limits.pull_timeout, limits.suspend)?;
        more_than("lock_life", limits.lock_life, limits.lock_interval)?;
        if self.is_shared_out_by_broker() && !BROKER_STRATEGIES.contains(&&*self.strategy.name()) {
            let why =
                format!("brokers know {}, not {}", BROKER_STRATEGIES.join(" and "), self.strategy.name());
            return Err(ConfigError::Invalid { what: "rebalance", why });
        }
        if self.is_shared_out_by_broker() && self.hands_over() {
            return Err(ConfigError::Invalid {
                what: "exclusive_handover",
                why: "popped messages have no queue lock, and a broker that shares queues out may switch the group to \
                      pop at any time; leave it off, or let the members share (rebalance=client)"
                    .to_string(),
            });
        }
        Ok(())
    }

    /// Whether the broker is asked what is ours. It knows no order and no broadcasting.
    pub fn is_shared_out_by_broker(&self) -> bool {
        self.limits.rebalance == RebalanceBy::Broker
            && !self.orderly
            && self.model == MessageModel::Clustering
    }

    /// Whether its queues change hands exclusively by this setting. An orderly consumer's do anyway.
    pub fn hands_over(&self) -> bool {
        self.limits.exclusive_handover && !self.orderly && self.model == MessageModel::Clustering
    }

    /// Tries after the first one before a message goes to the dead-letter topic.
    pub fn max_retries(&self) -> i32 {
        match self.limits.max_retries {
            -1 if self.orderly => i32::MAX,
            -1 => 16,
            tries => tries,
        }
    }
}

/// Strategies that brokers can share out by.
const BROKER_STRATEGIES: [&str; 2] = ["AVG", "AVG_BY_CIRCLE"];

/// A time that must be longer than another one.
fn more_than(option: &'static str, value: Duration, other: Duration) -> Result<(), ConfigError> {
    if value > other {
        return Ok(());
    }
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let max = OptionRow::find(option).map_or(i64::MAX, |row| row.max);
    Err(ConfigError::OutOfRange { option, value: millis(value), min: millis(other) + 1, max })
}
