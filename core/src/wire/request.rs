//! What a client asks of servers, as values. [`Request::to_command`] (in `encode`) writes them.

use super::bodies::{AssignmentQuery, BatchAck, DataVersion, ModeSetting, QueueSet};
use super::code::RequestCode;
use super::pop::CheckPoint;
use super::subscription::Subscription;
use crate::model::{BrokerName, ClientId, Group, MessageQueue, Topic};
use crate::time::WallClock;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

/// A request that this client sends. What it needs to read the answer is in the variant itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// 105, to a name server: brokers and queues of a topic.
    Route {
        /// The topic.
        topic: Topic,
    },
    /// 34, to every broker: I am here, with these groups.
    Heartbeat(Heartbeat),
    /// 35: this client leaves the group.
    Unregister {
        /// Who leaves.
        client: ClientId,
        /// A consumer group.
        group: Group,
    },
    /// 38: the ids of the group's members that this broker knows.
    Members {
        /// The group.
        group: Group,
    },
    /// 14: the committed offset of a queue.
    QueryOffset {
        /// The group.
        group: Group,
        /// The queue.
        queue: MessageQueue,
    },
    /// 15: commit an offset.
    CommitOffset {
        /// The group.
        group: Group,
        /// The queue.
        queue: MessageQueue,
        /// Everything below it is done.
        offset: i64,
    },
    /// 30: one past the last stored offset.
    MaxOffset {
        /// The queue.
        queue: MessageQueue,
    },
    /// 31: the first stored offset.
    MinOffset {
        /// The queue.
        queue: MessageQueue,
    },
    /// 29: the first offset stored at or after a time.
    OffsetAt {
        /// The queue.
        queue: MessageQueue,
        /// The time.
        at: WallClock,
    },
    /// 11: messages from an offset on, waiting for them if need be.
    Pull(Pull),
    /// 41, to a master: lock these queues for this client, or renew its locks. A broker's lock lasts 60 s.
    Lock(QueueSet),
    /// 42, to a master: give these locks back.
    Unlock(QueueSet),
    /// 36: store this message again for the group's retry topic.
    SendBack(SendBack),
    /// 400 (5.x): the queues that the broker gives this member.
    QueryAssignment(AssignmentQuery),
    /// 401 (5.x), to every master: how a group gets the messages of a topic.
    SetRequestMode(ModeSetting),
    /// 200050 (5.x), to a master: messages that are ours for a while, waiting for them if need be.
    Pop(Pop),
    /// 200051 (5.x), to a master: a popped message is done.
    Ack(Popped),
    /// 200151 (5.x), to a master: popped messages are done.
    BatchAck(BatchAck),
    /// 200053 (5.x), to a master: hide a popped message for this long from now on, under a new check point.
    ChangeInvisible {
        /// The message.
        popped: Popped,
        /// How long, in ms.
        invisible_ms: i64,
    },
    /// 310 (or 320 for a batch body): store a message.
    Send(Send),
    /// 46: would the broker accept this subscription (SQL expressions)?
    CheckSubscription {
        /// Who asks.
        client: ClientId,
        /// The group.
        group: Group,
        /// The subscription.
        subscription: SubscriptionData,
    },
    /// 17, to a broker: create or change a topic.
    CreateTopic {
        /// The topic.
        topic: Topic,
        /// Read and write queues on this broker.
        queues: i32,
        /// Permission bits: 4 read, 2 write.
        perm: i32,
    },
    /// 106, to a name server: all clusters and brokers.
    ClusterInfo,
    /// 206, to a name server: all topics.
    TopicList,
    /// 203, to a broker: who is connected to it as a member of a group.
    Connections {
        /// The group.
        group: Group,
    },
    /// 307, to a broker that the member is connected to: what the member says of itself. The broker passes the question
    /// on and waits ten seconds for the answer.
    RunningInfo {
        /// The group.
        group: Group,
        /// The member.
        client: ClientId,
    },
    /// 208, to a broker: how far a group is on the queues of this broker.
    ConsumeStats {
        /// The group.
        group: Group,
        /// One topic; or all that the group has committed offsets of and, while it has members, subscribes to.
        topic: Option<Topic>,
    },
    /// 202, to a broker: what it stores of a topic.
    TopicStats {
        /// The topic.
        topic: Topic,
    },
    /// 201, to a broker: groups that it knows and their settings, in the order of their names.
    GroupConfigs {
        /// How many to skip. Brokers before 5.3.3 tell all groups at once and skip nothing.
        skip: i32,
        /// Version of the table that the earlier pages came from: if it is another one by now, nothing is skipped.
        version: Option<DataVersion>,
    },
}

impl Request {
    /// The code this request travels under.
    pub fn code(&self) -> RequestCode {
        match self {
            Self::Route { .. } => RequestCode::GET_ROUTEINFO_BY_TOPIC,
            Self::Heartbeat(_) => RequestCode::HEART_BEAT,
            Self::Unregister { .. } => RequestCode::UNREGISTER_CLIENT,
            Self::Members { .. } => RequestCode::GET_CONSUMER_LIST_BY_GROUP,
            Self::QueryOffset { .. } => RequestCode::QUERY_CONSUMER_OFFSET,
            Self::CommitOffset { .. } => RequestCode::UPDATE_CONSUMER_OFFSET,
            Self::MaxOffset { .. } => RequestCode::GET_MAX_OFFSET,
            Self::MinOffset { .. } => RequestCode::GET_MIN_OFFSET,
            Self::OffsetAt { .. } => RequestCode::SEARCH_OFFSET_BY_TIMESTAMP,
            Self::Pull(_) => RequestCode::PULL_MESSAGE,
            Self::Lock(_) => RequestCode::LOCK_BATCH_MQ,
            Self::Unlock(_) => RequestCode::UNLOCK_BATCH_MQ,
            Self::SendBack(_) => RequestCode::CONSUMER_SEND_MSG_BACK,
            Self::QueryAssignment(_) => RequestCode::QUERY_ASSIGNMENT,
            Self::SetRequestMode(_) => RequestCode::SET_MESSAGE_REQUEST_MODE,
            Self::Pop(_) => RequestCode::POP_MESSAGE,
            Self::Ack(_) => RequestCode::ACK_MESSAGE,
            Self::BatchAck(_) => RequestCode::BATCH_ACK_MESSAGE,
            Self::ChangeInvisible { .. } => RequestCode::CHANGE_MESSAGE_INVISIBLETIME,
            Self::Send(send) if send.batch => RequestCode::SEND_BATCH_MESSAGE,
            Self::Send(_) => RequestCode::SEND_MESSAGE_V2,
            Self::CheckSubscription { .. } => RequestCode::CHECK_CLIENT_CONFIG,
            Self::CreateTopic { .. } => RequestCode::UPDATE_AND_CREATE_TOPIC,
            Self::ClusterInfo => RequestCode::GET_BROKER_CLUSTER_INFO,
            Self::TopicList => RequestCode::GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
            Self::Connections { .. } => RequestCode::GET_CONSUMER_CONNECTION_LIST,
            Self::RunningInfo { .. } => RequestCode::GET_CONSUMER_RUNNING_INFO,
            Self::ConsumeStats { .. } => RequestCode::GET_CONSUME_STATS,
            Self::TopicStats { .. } => RequestCode::GET_TOPIC_STATS_INFO,
            Self::GroupConfigs { .. } => RequestCode::GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
        }
    }
}

/// Body of a heartbeat (request 34).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The sender.
    pub client: ClientId,
    /// Its consumer groups.
    pub consumers: Vec<ConsumerData>,
    /// Its producer groups.
    pub producers: Vec<Group>,
}

/// One consumer group in a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerData {
    /// The group.
    pub group: Group,
    /// Clustering or broadcasting.
    pub model: MessageModel,
    /// Where queues without a committed offset start.
    pub start_from: ConsumeFrom,
    /// What it subscribes to, the retry topic included.
    pub subscriptions: Vec<SubscriptionData>,
    /// Unit mode; false for all but a few deployments.
    pub unit_mode: bool,
}

/// One subscription as brokers store it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionData {
    /// Topic and expression.
    pub subscription: Subscription,
    /// Version of the subscription: Unix time in ms at which it was made or changed. A broker keeps the highest it
    /// saw and refuses pulls that carry a higher one.
    pub version: i64,
    /// Whether the expression names a filter class (never set by this client).
    pub class_filter_mode: bool,
}

/// Who gets a message of a topic: one member of the group, or each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageModel {
    /// One member of the group.
    #[default]
    Clustering,
    /// Each member of the group.
    Broadcasting,
}

impl MessageModel {
    /// The protocol's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clustering => "CLUSTERING",
            Self::Broadcasting => "BROADCASTING",
        }
    }
}

/// Where a queue starts that has no committed offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConsumeFrom {
    /// Behind what is stored now (Java's default).
    #[default]
    Last,
    /// At the oldest stored message.
    First,
    /// At the first message stored at or after this time.
    Timestamp(WallClock),
}

impl ConsumeFrom {
    /// The protocol's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Last => "CONSUME_FROM_LAST_OFFSET",
            Self::First => "CONSUME_FROM_FIRST_OFFSET",
            Self::Timestamp(_) => "CONSUME_FROM_TIMESTAMP",
        }
    }
}

/// A pull (request 11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pull {
    /// The group.
    pub group: Group,
    /// The queue.
    pub queue: MessageQueue,
    /// First offset wanted.
    pub offset: i64,
    /// Most messages wanted, 1..=1024; brokers cap it at 32 by default.
    pub max_messages: i32,
    /// Committed with the pull if set; everything below it is done.
    pub commit: Option<i64>,
    /// How long the broker may hold the request while there is nothing.
    pub suspend_ms: i64,
    /// Version of the subscription the broker must know.
    pub subscription_version: i64,
    /// `TAG` or `SQL92`.
    pub expression_type: String,
    /// The expression itself, if the broker shall take it from here and not from the heartbeat.
    pub expression: Option<String>,
}

/// A pop (request 200050).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pop {
    /// The group.
    pub group: Group,
    /// Topic, broker and number of the queue; -1 for any queue of the broker.
    pub queue: MessageQueue,
    /// Most messages wanted, 1..=32.
    pub max_messages: i32,
    /// How long they are ours.
    pub invisible_ms: i64,
    /// How long the broker may hold the request while there is nothing.
    pub suspend_ms: i64,
    /// Unix time in ms at which the hold begins; 0 when the request arrives, whatever the two clocks say.
    pub born: i64,
    /// Where a group starts that has never consumed the queue: at its end, or at its first message.
    pub from_end: bool,
    /// `TAG` or `SQL92`.
    pub expression_type: String,
    /// The expression.
    pub expression: String,
}

/// A popped message, as requests name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Popped {
    /// The group.
    pub group: Group,
    /// The topic that was popped.
    pub topic: Topic,
    /// The message.
    pub check_point: CheckPoint,
}

/// A send-back (request 36): the broker stores the message again, delayed, for the group's retry topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendBack {
    /// The group.
    pub group: Group,
    /// Broker that stores the message.
    pub broker: BrokerName,
    /// Commit-log offset of the message there (not its queue offset).
    pub commit_log_offset: i64,
    /// -1 dead letter, 0 the broker decides by the number of tries, above that a delay level.
    pub delay_level: i32,
    /// The message's id, for traces.
    pub msg_id: String,
    /// The topic as the client sees it.
    pub origin_topic: Topic,
    /// After so many tries the broker moves the message to the dead-letter topic.
    pub max_reconsume_times: i32,
}

/// A send (request 310, or 320 if `batch`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Send {
    /// The producer's group.
    pub group: Group,
    /// Where to: topic, broker and queue number. A negative number lets the broker choose.
    pub queue: MessageQueue,
    /// Compression and transaction bits of the body.
    pub sys_flag: i32,
    /// When the message was made.
    pub born: WallClock,
    /// The user's flag.
    pub flag: i32,
    /// Encoded properties (`name \x01 value \x02 …`).
    pub properties: String,
    /// How often it was consumed already (retry messages).
    pub reconsume_times: i32,
    /// Tries until the dead-letter topic (retry messages).
    pub max_reconsume_times: Option<i32>,
    /// Whether the body is a batch.
    pub batch: bool,
    /// The body.
    pub body: Bytes,
}
