//! What servers answer, as values. [`Reply::parse`] (in `decode`) reads them.

use super::bodies::{Assignments, ConsumeStats, ConsumerConnection, GroupTable, TopicStats};
use super::code::{RequestCode, ResponseCode};
use super::error::WireError;
use super::message::Message;
use super::peer::RunningInfo;
use super::pop::{CheckPoint, PoppedMessage};
use crate::error::Blame;
use crate::model::{Address, BrokerName, ClientId, MessageQueue, Topic};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// An answer that was not a refusal, by the request it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// To `Route`.
    Route(TopicRoute),
    /// To `Heartbeat`; `version` is the broker's.
    Heartbeat {
        /// The broker's protocol version.
        version: i32,
    },
    /// To `Members`, as the broker listed them: unsorted, repeated ids kept.
    Members(Vec<ClientId>),
    /// To `QueryOffset`, `MaxOffset`, `MinOffset`, `OffsetAt`. For `QueryOffset`, `None` is the broker's explicit
    /// "not found" (22), which alone licenses the start policy.
    Offset(Option<i64>),
    /// To `Lock`: the queues that are locked for this client now, those it had locked before included.
    Locked(BTreeSet<MessageQueue>),
    /// To `Pull`.
    Pulled(Pulled),
    /// To `QueryAssignment`.
    Assigned(Assignments),
    /// To `Pop`.
    Popped(PopReply),
    /// To `Ack` and `BatchAck`: whether the broker had the message.
    Acked(bool),
    /// To `ChangeInvisible`: the message's new name; `None` if the broker did not have the message.
    Hidden(Option<CheckPoint>),
    /// To `Send`.
    Sent(Sent),
    /// To `ClusterInfo`.
    Cluster(ClusterInfo),
    /// To `TopicList`.
    Topics(Vec<Topic>),
    /// To `Connections`; `None` if no member of the group is connected to this broker (206).
    Connections(Option<ConsumerConnection>),
    /// To `RunningInfo`.
    RunningInfo(RunningInfo),
    /// To `ConsumeStats`.
    ConsumeStats(ConsumeStats),
    /// To `TopicStats`.
    TopicStats(TopicStats),
    /// To `GroupConfigs`.
    Groups(GroupPage),
    /// To everything whose answer says no more than "done".
    Done,
}

/// Brokers and queues of a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicRoute {
    /// Queue counts by broker.
    pub queues: Vec<QueueData>,
    /// Addresses by broker.
    pub brokers: Vec<BrokerData>,
    /// Order configuration text, if the name server keeps one.
    pub order_conf: Option<String>,
}

/// How many queues a broker has for a topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueueData {
    /// The broker.
    pub broker: BrokerName,
    /// Queues to read, numbered from 0.
    pub read_queues: i32,
    /// Queues to write, numbered from 0.
    pub write_queues: i32,
    /// 4 read, 2 write.
    pub perm: i32,
    /// 1 unit, 2 has unit subscription.
    pub sys_flag: i32,
}

/// Where a broker's master (id 0) and slaves are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BrokerData {
    /// The cluster's name.
    pub cluster: String,
    /// The broker.
    pub broker: BrokerName,
    /// Addresses by broker id.
    pub addresses: BTreeMap<i64, Address>,
}

/// Answer to `ClusterInfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterInfo {
    /// All brokers.
    pub brokers: Vec<BrokerData>,
    /// Broker names by cluster.
    pub clusters: BTreeMap<String, Vec<BrokerName>>,
}

/// Answer to `GroupConfigs`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupPage {
    /// The groups of this page.
    pub table: GroupTable,
    /// How many groups there are on all pages; `None` from brokers that know no pages.
    pub total: Option<i32>,
}

/// How a pull ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullStatus {
    /// Messages came.
    Found,
    /// Nothing new within the hold time.
    NoNew,
    /// New messages, none of them matching the subscription.
    NoMatch,
    /// The offset asked for does not exist (any more), or was reset by an operator.
    OffsetIllegal,
}

/// Answer to a pull.
#[derive(Clone, Debug, PartialEq)]
pub struct Pulled {
    /// How it ended.
    pub status: PullStatus,
    /// Where to pull next.
    pub next: i64,
    /// First offset the broker has.
    pub min: i64,
    /// One past the last offset the broker has.
    pub max: i64,
    /// What to add to the offset of each message (5.x, topics with logical queues), else 0.
    pub offset_delta: i64,
    /// Broker id to pull from next (0 the master).
    pub suggested_broker: i64,
    /// The messages, decoded, unwrapped and re-filtered is up to the consumer.
    pub messages: Vec<Message>,
    /// Why decoding stopped early, if it did: messages behind this place are not in `messages`.
    pub damaged: Option<WireError>,
}

/// How a pop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PopStatus {
    /// Messages came.
    Found,
    /// Nothing within the hold time.
    NoNew,
    /// The broker holds so many requests that it did not hold this one.
    Full,
}

/// Answer to a pop.
#[derive(Clone, Debug, PartialEq)]
pub struct PopReply {
    /// How it ended.
    pub status: PopStatus,
    /// Messages that are left, as far as the broker counted.
    pub rest: i64,
    /// The messages, decoded; re-filtering is up to the consumer.
    pub messages: Vec<PoppedMessage>,
    /// Why decoding stopped early, if it did: messages behind this place come again when their time is over.
    pub damaged: Option<WireError>,
}

/// Answer to a send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// SUCCESS, or one of the three "stored, but" codes (10, 11, 12).
    pub code: ResponseCode,
    /// Offset message id(s), comma-separated for a batch.
    pub msg_id: String,
    /// The queue chosen.
    pub queue_id: i32,
    /// Offset of the (first) message in it.
    pub queue_offset: i64,
}

/// Why a call has no reply.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No answer until the deadline.
    #[error("no answer within {after_ms} ms")]
    Expired {
        /// How long we waited.
        after_ms: u64,
    },
    /// The connection could not be made or broke before the answer.
    #[error("{reason}")]
    LinkLost {
        /// What the operating system or the link said.
        reason: String,
    },
    /// The two ends do not agree how the connection is secured; no try can end otherwise before a setting changes.
    #[error("{reason}")]
    LinkRefused {
        /// What one end wants and the other does not give.
        reason: String,
        /// What to do, for people.
        advice: &'static str,
    },
    /// The server said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The answer could not be read.
    #[error("unreadable answer: {0}")]
    Garbled(#[from] WireError),
}

impl CallError {
    /// Who has to act.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Expired { .. } | Self::LinkLost { .. } => Blame::Network,
            Self::LinkRefused { .. } => Blame::Caller,
            Self::Garbled(_) => Blame::Peer,
            Self::Refused(refusal) => refusal.blame(),
        }
    }
}

/// A response code other than success, with the server's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was asked.
    pub request: RequestCode,
    /// The code, kept even if unknown.
    pub code: ResponseCode,
    /// The server's words.
    pub remark: String,
}

impl Refusal {
    /// Whether the server's access control said no: to the key, to the signature, or to what the key may do.
    ///
    /// 5.x has a code for it, which says as well that a topic or group is closed. 4.9 answers with the code of a fault
    /// and names the Java class of the error, which is all there is to tell it by.
    pub fn denies_access(&self) -> bool {
        match self.code {
            ResponseCode::NO_PERMISSION => true,
            ResponseCode::SYSTEM_ERROR => {
                let classes = ["AclException", "AuthenticationException", "AuthorizationException"];
                classes.iter().any(|class| self.remark.contains(class))
            }
            _ => false,
        }
    }

    /// Who has to act: permissions and unknown names are the caller's, all else the server's.
    pub fn blame(&self) -> Blame {
        match self.code {
            _ if self.denies_access() => Blame::Caller,
            ResponseCode::TOPIC_NOT_EXIST
            | ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST
            | ResponseCode::SUBSCRIPTION_PARSE_FAILED
            | ResponseCode::MESSAGE_ILLEGAL => Blame::Caller,
            _ => Blame::Peer,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was refused with {}", self.request, self.code)?;
        if self.remark.is_empty() { Ok(()) } else { write!(f, ": {}", self.remark) }
    }
}
impl core::error::Error for Refusal {}
