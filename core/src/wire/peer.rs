//! What brokers ask of a consumer, and what it answers, as values.

use crate::model::{BrokerName, ClientId, Group, MessageQueue, Topic};
use crate::wire::message::Message;
use crate::wire::request::SubscriptionData;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// A request from a broker. Those with `reply` are answered with an [`Answer`] under that opaque.
#[derive(Clone, Debug, PartialEq)]
pub enum PeerRequest {
    /// 40, one-way: a member joined or left.
    MembersChanged {
        /// The group.
        group: Group,
    },
    /// 220, one-way: an operator reset offsets.
    ResetOffsets {
        /// The group.
        group: Group,
        /// The topic.
        topic: Topic,
        /// New offsets; queues that are not named stay as they are.
        offsets: BTreeMap<MessageQueue, i64>,
    },
    /// 221: which offsets does this member hold?
    Status {
        /// Opaque to answer under.
        reply: i32,
        /// The group.
        group: Group,
        /// One topic, or all if `None`.
        topic: Option<Topic>,
    },
    /// 307: tell everything about yourself.
    RunningInfo {
        /// Opaque to answer under.
        reply: i32,
        /// The group.
        group: Group,
        /// The client that is meant.
        client: ClientId,
    },
    /// 309: let a handler work on this message now, whoever's queue it lies in, and tell how it ended.
    ConsumeDirectly {
        /// Opaque to answer under.
        reply: i32,
        /// The group.
        group: Group,
        /// The broker that has the message, if it says so.
        broker: Option<BrokerName>,
        /// The message.
        message: Box<Message>,
    },
    /// Any other code: answered with "not supported" unless it was one-way.
    Unknown {
        /// Opaque to answer under; `None` for a one-way request.
        reply: Option<i32>,
        /// The code.
        code: i32,
    },
}

/// What a consumer answers to a [`PeerRequest`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To `Status`: offset by queue.
    Status(BTreeMap<MessageQueue, i64>),
    /// To `RunningInfo`.
    RunningInfo(RunningInfo),
    /// To `ConsumeDirectly`.
    ConsumedDirectly(DirectlyConsumed),
    /// Not done.
    Refused {
        /// 1: the group is not here, or the consumer stops. 2: too much is asked at once. 3: the request is not known.
        /// 207: no handler was free in time.
        code: i32,
        /// Why.
        remark: String,
    },
}

/// How a handler ended with a message that it was given on an operator's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectlyConsumed {
    /// Whether the consumer is orderly.
    pub order: bool,
    /// Whether it commits by itself; always true here.
    pub auto_commit: bool,
    /// How it ended.
    pub verdict: DirectVerdict,
    /// What there is to say about it.
    pub remark: Option<String>,
    /// Milliseconds in the handler.
    pub spent_ms: i64,
}

/// Java's `CMResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectVerdict {
    /// The message is done.
    Success,
    /// The handler wants it again, later.
    Later,
    /// Orderly Java listeners without auto-commit only.
    Rollback,
    /// Orderly Java listeners without auto-commit only.
    Commit,
    /// The handler failed or panicked.
    Exception,
    /// No result: the handler has not ended in time. (Of a Java listener: it returned nothing.)
    Null,
}

impl DirectVerdict {
    const ALL: [Self; 6] =
        [Self::Success, Self::Later, Self::Rollback, Self::Commit, Self::Exception, Self::Null];
    /// Java's names, in the order of their ordinals.
    pub(super) const NAMES: &'static [&'static str] =
        &["CR_SUCCESS", "CR_LATER", "CR_ROLLBACK", "CR_COMMIT", "CR_THROW_EXCEPTION", "CR_RETURN_NULL"];

    /// Java's name.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

/// What `mqadmin consumerStatus -i` shows of a member.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunningInfo {
    /// Settings by Java's names, and `PROP_*` facts.
    pub properties: BTreeMap<String, String>,
    /// Subscriptions, sorted by topic.
    pub subscriptions: Vec<SubscriptionData>,
    /// Assigned queues.
    pub queues: BTreeMap<MessageQueue, ProcessQueueInfo>,
    /// 5.x: what it takes by pop, where the broker shares out single messages and queues have no owner. Number -1 stands
    /// for all queues of a broker.
    pub popped: BTreeMap<MessageQueue, PopQueueInfo>,
    /// Figures by topic.
    pub status: BTreeMap<Topic, ConsumeStatus>,
}

/// State of what is taken by pop, in Java's terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PopQueueInfo {
    /// It is on its way out.
    pub dropped: bool,
    /// Unix time in ms of the last pop.
    pub last_pop: i64,
    /// Messages that are held and not settled.
    pub waiting_ack: i32,
}

/// State of one assigned queue, in Java's terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessQueueInfo {
    /// The commit point.
    pub commit_offset: i64,
    /// First cached offset, 0 if none.
    pub cached_min: i64,
    /// Last cached offset, 0 if none.
    pub cached_max: i64,
    /// Cached messages.
    pub cached_count: i32,
    /// Cached body bytes in MiB.
    pub cached_mib: i32,
    /// Whether the queue is on its way out.
    pub dropped: bool,
    /// Orderly: whether its lock is this client's now.
    pub locked: bool,
    /// Unix ms at which the lock was granted last, 0 if never.
    pub last_lock: i64,
    /// Unix ms of the last pull.
    pub last_pull: i64,
    /// Unix ms of the last outcome.
    pub last_consume: i64,
}

/// Rates of one topic, per second and in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumeStatus {
    /// Mean time from pull to answer with messages.
    pub pull_rt: f64,
    /// Messages pulled a second.
    pub pull_tps: f64,
    /// Mean time in the listener.
    pub consume_rt: f64,
    /// Messages done a second.
    pub consume_ok_tps: f64,
    /// Messages failed a second.
    pub consume_failed_tps: f64,
    /// Messages failed in the last hour.
    pub consume_failed_msgs: i64,
}
