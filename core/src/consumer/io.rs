//! What goes into a [`Consumer`](super::Consumer) and what comes out.

use super::timers::Reason;
use crate::model::{Address, CallId, ClientId, MessageQueue, Ticket, Topic};
use crate::time::{Duration, Instant, WallClock};
use crate::wire::message::Message;
use crate::wire::peer::{Answer, DirectVerdict, PeerRequest};
use crate::wire::reply::{CallError, Reply};
use crate::wire::request::Request;
use crate::wire::subscription::Subscription;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// Something that happened outside.
#[derive(Clone, Debug)]
pub enum Input {
    /// Broadcasting: what the offset file has. Given before the start; without it the file is taken to be empty.
    LocalOffsets(BTreeMap<MessageQueue, i64>),
    /// Begin. Given once, first.
    Start {
        /// Wall time at `now`; carried forward by instants from here on.
        wall: WallClock,
    },
    /// A call of ours has ended.
    Reply {
        /// Which.
        call: CallId,
        /// How.
        result: Result<Reply, CallError>,
    },
    /// A broker asks something.
    Peer {
        /// The broker.
        from: Address,
        /// What it asks.
        request: PeerRequest,
    },
    /// A connection came up or broke.
    Link {
        /// To whom.
        address: Address,
        /// Up, or down.
        up: bool,
    },
    /// An [`Output::Save`] has ended.
    Saved {
        /// Whether the file has them now, or in words why not.
        result: Result<(), String>,
    },
    /// A handler has finished with a delivery.
    Outcome {
        /// Which.
        ticket: Ticket,
        /// How.
        outcome: Outcome,
    },
    /// Consume one more topic, or change a subscription.
    Subscribe {
        /// Topic and expression.
        subscription: Subscription,
    },
    /// Stop consuming a topic.
    Unsubscribe {
        /// The topic.
        topic: Topic,
    },
    /// Stop pulling but stay a member, or pull again.
    Quiet(bool),
    /// Hand out and pull nothing of these queues until they are resumed. Those that are not ours are passed over.
    Pause {
        /// Which.
        scope: Scope,
    },
    /// The end of a pause. A topic's ends that of its single queues, too, but not the other way round.
    Resume {
        /// Which.
        scope: Scope,
    },
    /// Go on elsewhere in a queue. Nothing happens if it is not ours, see [`Consumer::holds`](super::Consumer::holds), or if
    /// its topic is popped, see [`Consumer::is_popping`](super::Consumer::is_popping).
    Seek {
        /// The queue.
        queue: MessageQueue,
        /// Where.
        to: Position,
    },
    /// Use these name servers from now on.
    NameServers(Vec<Address>),
    /// Only time has passed.
    Tick,
    /// Finish: no new deliveries, wait for running handlers at most `grace`, commit, unregister.
    Stop {
        /// How long to wait for running handlers.
        grace: Duration,
    },
}

/// Queues to pause or resume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All queues of a topic that are ours or will be.
    Topic(Topic),
    /// These queues, as long as they are ours.
    Queues(BTreeSet<MessageQueue>),
}

impl From<Topic> for Scope {
    fn from(topic: Topic) -> Self {
        Self::Topic(topic)
    }
}

impl From<MessageQueue> for Scope {
    fn from(queue: MessageQueue) -> Self {
        Self::Queues([queue].into())
    }
}

impl FromIterator<MessageQueue> for Scope {
    fn from_iter<I: IntoIterator<Item = MessageQueue>>(queues: I) -> Self {
        Self::Queues(queues.into_iter().collect())
    }
}

/// A place in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The message with this offset, from 0. What lies outside of what is stored is corrected by the broker.
    Offset(i64),
    /// The oldest message.
    First,
    /// Behind the newest message.
    Last,
    /// The first message stored at that time or later.
    At(WallClock),
}

/// How a handler ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All messages of the delivery are done.
    Done,
    /// The first `done` messages are done, the others are to come again. An orderly consumer takes it for
    /// [`Outcome::Suspend`].
    Retry {
        /// How many, from the front, are done.
        done: usize,
        /// 0 lets the broker choose by the number of tries; 1..=18 is a delay level; negative is dead letter.
        delay_level: i32,
        /// What the handler said, for events and logs.
        why: Failure,
    },
    /// Orderly: the first `done` messages are done; the queue rests for a moment, and then the others come again, here
    /// and before anything behind them. A consumer that is not orderly takes it for [`Outcome::Retry`].
    Suspend {
        /// How many, from the front, are done.
        done: usize,
        /// How long the queue rests, 10 ms to 30 s; `None` for the setting `orderly_pause`.
        pause: Option<Duration>,
        /// What the handler said, for events and logs.
        why: Failure,
    },
    /// The delivery never reached a handler (the pool is closing): as if it had not been handed out.
    PutBack,
}

/// Why a delivery has to come again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The handler asked for it.
    Asked,
    /// The handler returned an error with this text.
    Error(String),
    /// The handler panicked with this text.
    Panic(String),
    /// The handler took longer than its time-out.
    TimedOut,
}

/// Something to do outside.
#[derive(Clone, Debug)]
pub enum Output {
    /// Send a request and report its [`Reply`], or [`CallError::Expired`] at the deadline at the latest.
    Call {
        /// Name of the call.
        call: CallId,
        /// To whom. Connect if need be.
        to: Address,
        /// What.
        request: Request,
        /// Until when an answer is of use.
        deadline: Instant,
    },
    /// Answer a broker's request.
    Answer {
        /// To whom; dropped if the connection is gone.
        to: Address,
        /// Opaque of the request.
        opaque: i32,
        /// What.
        answer: Answer,
    },
    /// Nobody is called there any more: close the connection.
    HangUp {
        /// To whom.
        address: Address,
    },
    /// Hand messages to a handler and report its [`Outcome`].
    Deliver(Delivery),
    /// Broadcasting: put these offsets, all there are, into the offset file in place of what it has, and report it with
    /// [`Input::Saved`]. One is under way at a time.
    Save {
        /// First offset that is not done, by queue; queues that are away for now included.
        offsets: BTreeMap<MessageQueue, i64>,
    },
    /// Tell the user.
    Event(Event),
    /// Nothing more to do until an input arrives or the wake-up time is reached.
    Idle {
        /// When to send [`Input::Tick`] at the latest, and who asked for it. `None` after the consumer has stopped.
        wake: Option<(Instant, Reason)>,
    },
}

/// Messages for one call of a handler: all of one queue, ascending. A message that an operator wants consumed directly is
/// a delivery, too, of whatever queue it lies in; its ticket is of [`QueueEpoch::NONE`](crate::model::QueueEpoch::NONE).
#[derive(Clone, Debug)]
pub struct Delivery {
    /// To report the outcome under.
    pub ticket: Ticket,
    /// The queue.
    pub queue: MessageQueue,
    /// At least one message.
    pub messages: Vec<Message>,
}

/// What users, logs and tests want to know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A rebalance round of a topic changed something.
    Rebalanced {
        /// Counts the rounds that changed something, from 1.
        generation: u64,
        /// The topic.
        topic: Topic,
        /// What started the round.
        reason: RebalanceReason,
        /// Members of the group; 0 where the broker shares out (it does not tell) and after the topic was unsubscribed.
        members: usize,
        /// Queues of the topic.
        queues: usize,
        /// Queues that are ours now.
        assigned: Vec<MessageQueue>,
        /// Queues that were not ours before.
        gained: Vec<MessageQueue>,
        /// Queues that were ours before.
        lost: Vec<MessageQueue>,
    },
    /// A first round over all topics has been tried; the consumer is as ready as it can be.
    Ready,
    /// The member list has our id more than once: another process uses it, or (for up to two minutes) a connection of ours
    /// that has ended is still listed. The queues of each place are ours.
    DuplicateClientId {
        /// The id.
        client: ClientId,
        /// How often it is in the list.
        times: usize,
    },
    /// Members do not do as we do. Told once of each, and only where every member has to.
    ForeignMembers {
        /// What they would have to do.
        common: Common,
        /// Who, and what is foreign about it, in words: `a JAVA client`, `runs AVG`.
        members: Vec<(ClientId, String)>,
        /// Whether the consumer leaves the group because of them. It does so only when it starts.
        refused: bool,
    },
    /// The member list does not have us: everything is stopped until the next heartbeat repairs it.
    NotAMember {
        /// The broker that says so.
        broker: Address,
    },
    /// No queue of a topic may be read (any more): there is nothing to share out until its route changes.
    NothingToRead {
        /// The topic.
        topic: Topic,
    },
    /// The strategy could not share out a topic: it stays as it is.
    AllocationFailed {
        /// The topic.
        topic: Topic,
        /// What the strategy says.
        why: String,
    },
    /// The broker cannot share queues out (4.9): this member does it itself, as long as the connection lasts.
    SharedOutHere {
        /// Which broker.
        broker: Address,
    },
    /// An operator switched the topic to pop: messages of this entry (number -1: of all the broker's queues) are popped.
    PopStarted {
        /// The entry.
        queue: MessageQueue,
    },
    /// Popped messages whose time was over before a handler was free: they come again.
    PopExpired {
        /// The entry.
        queue: MessageQueue,
        /// How many.
        messages: usize,
    },
    /// A popped message that failed too often is in the dead-letter topic.
    Buried {
        /// Its queue.
        queue: MessageQueue,
        /// Its offset.
        offset: i64,
    },
    /// A queue starts.
    QueueStarted {
        /// The queue.
        queue: MessageQueue,
        /// First offset to pull.
        offset: i64,
        /// Whether it was committed (else by the start policy).
        committed: bool,
    },
    /// A queue has ended: nothing of this life happens any more.
    QueueEnded {
        /// The queue.
        queue: MessageQueue,
        /// Everything below it is done.
        commit_point: i64,
        /// Deliveries that were still running, and whose outcomes are ignored.
        abandoned: usize,
    },
    /// The broker confirmed a commit; broadcasting: the offset file has it.
    Committed {
        /// The queue.
        queue: MessageQueue,
        /// Everything below it is done.
        offset: i64,
    },
    /// A call failed; the consumer goes on and tries again.
    CallFailed {
        /// To whom.
        to: Address,
        /// What was asked, in words.
        what: &'static str,
        /// Topic or queue it was about, or empty.
        about: String,
        /// Why.
        error: CallError,
        /// How often in a row.
        attempt: u32,
    },
    /// A handler failed; the messages come again.
    HandlerFailed {
        /// The queue.
        queue: MessageQueue,
        /// First offset of the delivery.
        offset: i64,
        /// Tries before this one.
        reconsume_times: i32,
        /// Why.
        why: Failure,
    },
    /// Broadcasting: a message whose handler failed is given up. It does not come again.
    Dropped {
        /// The queue.
        queue: MessageQueue,
        /// The message.
        offset: i64,
    },
    /// Broadcasting: the offset file could not be written. It is tried again with the next round of commits.
    SaveFailed {
        /// Why, in words.
        why: String,
        /// How often in a row.
        attempt: u32,
    },
    /// A message went back to the broker for a later try.
    SentBack {
        /// The queue.
        queue: MessageQueue,
        /// The message.
        offset: i64,
    },
    /// A handler has ended with a message that an operator wanted consumed here. Nothing else follows from it.
    ConsumedDirectly {
        /// The queue it lies in, ours or not.
        queue: MessageQueue,
        /// Its offset there.
        offset: i64,
        /// How it ended.
        verdict: DirectVerdict,
        /// What the handler said.
        remark: Option<String>,
        /// Whether who asked was still waiting for it.
        answered: bool,
    },
    /// Under queue locks: another member holds the queue's lock (yet). It is asked for again soon.
    LockRefused {
        /// The queue.
        queue: MessageQueue,
        /// How often in a row.
        times: u32,
    },
    /// Under queue locks: the queue's lock was lost. Its present life ends, and it is asked for anew.
    LockLost {
        /// The queue.
        queue: MessageQueue,
    },
    /// A broker answered what cannot be.
    PeerMisbehaved {
        /// Who.
        from: Address,
        /// What.
        what: String,
    },
    /// Offsets of a queue were reset, by an operator, by a seek, or because the broker no longer has the old ones.
    OffsetReset {
        /// The queue.
        queue: MessageQueue,
        /// Where it was.
        from: i64,
        /// Where it goes on.
        to: i64,
    },
    /// An outcome or reply that belongs to an ended life of a queue; it changed nothing.
    Late {
        /// Since start.
        count: u64,
    },
    /// The consumer has stopped.
    Stopped {
        /// Running handlers that finished in time.
        drained: usize,
        /// Messages that were fetched but not done: others will get them.
        handed_back: usize,
        /// Handlers that still ran at the deadline.
        abandoned: usize,
        /// Last committed offset of each queue that was ours.
        committed: Vec<(MessageQueue, i64)>,
    },
}

/// What all members of a group have to do alike, because no other client does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Common {
    /// Share queues out by a strategy that only we know.
    Strategy,
    /// Hand queues over exclusively.
    Handover,
    /// Both.
    StrategyAndHandover,
}

impl Common {
    /// What it is, in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strategy => "the strategy",
            Self::Handover => "the exclusive hand-over",
            Self::StrategyAndHandover => "the strategy and the exclusive hand-over",
        }
    }

    /// What happens while members are there that do something else, in words.
    pub const fn consequence(self) -> &'static str {
        match self {
            Self::Strategy | Self::StrategyAndHandover => "some queues have two owners, others none",
            Self::Handover => {
                "two members can work on one queue, and messages come twice where it changes hands"
            }
        }
    }
}

/// Why a rebalance round ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RebalanceReason {
    /// The consumer started.
    Started,
    /// A broker said that members came or went.
    MembersChanged,
    /// A route changed.
    RouteChanged,
    /// The subscription changed.
    SubscriptionChanged,
    /// A connection came back.
    Reconnected,
    /// The periodic round.
    Periodic,
    /// The last round could not be finished.
    Retry,
}

impl RebalanceReason {
    /// As logs and JSON write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::MembersChanged => "members-changed",
            Self::RouteChanged => "route-changed",
            Self::SubscriptionChanged => "subscription-changed",
            Self::Reconnected => "reconnected",
            Self::Periodic => "periodic",
            Self::Retry => "retry",
        }
    }
}
