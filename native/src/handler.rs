//! What users write to consume: handlers, what they return, and what they are told beside the messages.

use crate::consumer::Control;
use crate::error::BoxError;
use crate::message::Message;
use evenkeel_core::consumer::io::{Failure, Outcome};
use evenkeel_core::model::MessageQueue;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::watch;

/// What becomes of a message that a handler has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ack {
    /// It is done.
    Done,
    /// It comes again, later; the broker chooses the delay by the number of tries.
    RetryLater,
    /// It comes again after this delay.
    RetryAfter(DelayLevel),
    /// It is not done but shall not come again either.
    Skip,
    /// It was not worked on: it counts as fetched but not handed out, and it may come again at once. For handlers that
    /// know that their consumer is about to stop. With exclusive hand-over it goes back to its broker, as a retry, if its
    /// queue moves and something behind it is done.
    PutBack,
}

/// One of the broker's fixed delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DelayLevel(u8);

impl DelayLevel {
    /// Number of the delay, 1 to 18; with the broker's default table 1 s, 5 s, 10 s, 30 s, 1 to 10 min in steps of
    /// 1 min, 20 min, 30 min, 1 h, 2 h. `None` for other numbers.
    pub const fn new(level: u8) -> Option<Self> {
        if level >= 1 && level <= 18 { Some(Self(level)) } else { None }
    }

    /// The number.
    pub const fn level(self) -> u8 {
        self.0
    }
}

/// How a handler ends. An error means "again, later", and its text goes into events and logs.
pub type HandlerResult = std::result::Result<Ack, BoxError>;

/// Handles one message at a time. Closures of a message and a [`Context`] are handlers; so is any type that wants to
/// carry state by name.
pub trait Handler: Send + Sync + 'static {
    /// Works on one message.
    fn handle(&self, message: Message, context: Context) -> impl Future<Output = HandlerResult> + Send;
}

impl<F, R> Handler for F
where
    F: Fn(Message, Context) -> R + Send + Sync + 'static,
    R: Future<Output = HandlerResult> + Send,
{
    fn handle(&self, message: Message, context: Context) -> impl Future<Output = HandlerResult> + Send {
        self(message, context)
    }
}

/// Messages of one queue, ascending by offset; at least one, at most `batch_max`.
pub type Batch = Vec<Message>;

/// What becomes of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchAck {
    /// All of it is done.
    Done,
    /// So many messages from the front are done, the others come again.
    First(usize),
    /// All of it comes again.
    RetryLater,
    /// All of it comes again after this delay.
    RetryAfter(DelayLevel),
    /// It was not worked on, see [`Ack::PutBack`].
    PutBack,
}

/// How a batch handler ends. An error means "all of it again, later".
pub type BatchResult = std::result::Result<BatchAck, BoxError>;

/// Handles several messages of one queue at a time.
pub trait BatchHandler: Send + Sync + 'static {
    /// Works on a batch.
    fn handle(&self, batch: Batch, context: Context) -> impl Future<Output = BatchResult> + Send;
}

impl<F, R> BatchHandler for F
where
    F: Fn(Batch, Context) -> R + Send + Sync + 'static,
    R: Future<Output = BatchResult> + Send,
{
    fn handle(&self, batch: Batch, context: Context) -> impl Future<Output = BatchResult> + Send {
        self(batch, context)
    }
}

/// What becomes of a batch of an orderly queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// All of it is done; the queue goes on.
    Done,
    /// So many messages from the front are done. The others come again, first, when the queue has rested for
    /// `orderly_pause`.
    First(usize),
    /// All of it comes again when the queue has rested for this long, 10 ms to 30 s.
    PauseQueue(Duration),
    /// It was not worked on, see [`Ack::PutBack`].
    PutBack,
}

/// How an ordered handler ends. An error means "all of it again", after `orderly_pause`.
pub type OrderedResult = std::result::Result<Ordered, BoxError>;

/// Handles the messages of each queue in their order: one batch of a queue at a time.
pub trait OrderedHandler: Send + Sync + 'static {
    /// Works on a batch.
    fn handle(&self, batch: Batch, context: Context) -> impl Future<Output = OrderedResult> + Send;
}

impl<F, R> OrderedHandler for F
where
    F: Fn(Batch, Context) -> R + Send + Sync + 'static,
    R: Future<Output = OrderedResult> + Send,
{
    fn handle(&self, batch: Batch, context: Context) -> impl Future<Output = OrderedResult> + Send {
        self(batch, context)
    }
}

/// What a handler may want to know about its delivery.
#[derive(Clone)]
pub struct Context {
    pub(crate) queue: MessageQueue,
    pub(crate) offset: i64,
    pub(crate) retries: i32,
    pub(crate) queue_lost: watch::Receiver<bool>,
    pub(crate) draining: watch::Receiver<bool>,
    pub(crate) control: Control,
}

impl Context {
    /// The queue that the messages were pulled from, or lie in: an operator may send any message to be consumed here.
    pub fn queue(&self) -> &MessageQueue {
        &self.queue
    }

    /// Offset of the first message.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Tries of the first message before this one.
    pub fn retries(&self) -> i32 {
        self.retries
    }

    /// Whether going on is of little use: the queue belongs to another member now, or the drain deadline is near.
    pub fn is_cancelled(&self) -> bool {
        *self.queue_lost.borrow() || *self.draining.borrow()
    }

    /// Waits until [`Context::is_cancelled`]. For `select!` in slow handlers.
    pub async fn cancelled(&mut self) {
        let (lost, draining) = (self.queue_lost.wait_for(|on| *on), self.draining.wait_for(|on| *on));
        // A closed channel means that the consumer is gone, which is cancelled too.
        tokio::select! { _ = lost => {}, _ = draining => {} }
    }

    /// The consumer, to subscribe, unsubscribe, go quiet or stop from within a handler.
    pub fn consumer(&self) -> &Control {
        &self.control
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("queue", &self.queue)
            .field("offset", &self.offset)
            .field("retries", &self.retries)
            .field("cancelled", &self.is_cancelled())
            .finish()
    }
}

/// A handler of either kind, behind one door.
pub(crate) trait Work: Send + Sync {
    fn run(&self, batch: Batch, context: Context) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>>;
}

/// A [`Handler`] as [`Work`]. Its deliveries have one message, which the builder sees to; if there are more, the ones
/// behind a failed one come again unseen.
pub(crate) struct OneByOne<H>(pub(crate) H);

impl<H: Handler> Work for OneByOne<H> {
    fn run(&self, batch: Batch, context: Context) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
        Box::pin(async move {
            for (done, message) in batch.into_iter().enumerate() {
                match self.0.handle(message, context.clone()).await {
                    Ok(Ack::Done | Ack::Skip) => {}
                    Ok(Ack::PutBack) if done == 0 => return Outcome::PutBack,
                    Ok(Ack::RetryLater | Ack::PutBack) => {
                        return Outcome::Retry { done, delay_level: 0, why: Failure::Asked };
                    }
                    Ok(Ack::RetryAfter(level)) => {
                        return Outcome::Retry { done, delay_level: i32::from(level.0), why: Failure::Asked };
                    }
                    Err(error) => {
                        return Outcome::Retry {
                            done,
                            delay_level: 0,
                            why: Failure::Error(error.to_string()),
                        };
                    }
                }
            }
            Outcome::Done
        })
    }
}

/// A [`BatchHandler`] as [`Work`].
pub(crate) struct Whole<H>(pub(crate) H);

impl<H: BatchHandler> Work for Whole<H> {
    fn run(&self, batch: Batch, context: Context) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
        Box::pin(async move {
            let length = batch.len();
            match self.0.handle(batch, context).await {
                Ok(BatchAck::Done) => Outcome::Done,
                Ok(BatchAck::PutBack) => Outcome::PutBack,
                Ok(BatchAck::First(done)) if done >= length => Outcome::Done,
                Ok(BatchAck::First(done)) => Outcome::Retry { done, delay_level: 0, why: Failure::Asked },
                Ok(BatchAck::RetryLater) => Outcome::Retry { done: 0, delay_level: 0, why: Failure::Asked },
                Ok(BatchAck::RetryAfter(level)) => {
                    Outcome::Retry { done: 0, delay_level: i32::from(level.0), why: Failure::Asked }
                }
                Err(error) => {
                    Outcome::Retry { done: 0, delay_level: 0, why: Failure::Error(error.to_string()) }
                }
            }
        })
    }
}

/// An [`OrderedHandler`] as [`Work`].
pub(crate) struct InOrder<H>(pub(crate) H);

impl<H: OrderedHandler> Work for InOrder<H> {
    fn run(&self, batch: Batch, context: Context) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
        Box::pin(async move {
            let length = batch.len();
            let (done, pause, why) = match self.0.handle(batch, context).await {
                Ok(Ordered::Done) => return Outcome::Done,
                Ok(Ordered::PutBack) => return Outcome::PutBack,
                Ok(Ordered::First(done)) if done >= length => return Outcome::Done,
                Ok(Ordered::First(done)) => (done, None, Failure::Asked),
                Ok(Ordered::PauseQueue(time)) => (0, Some(time), Failure::Asked),
                Err(error) => (0, None, Failure::Error(error.to_string())),
            };
            Outcome::Suspend { done, pause, why }
        })
    }
}
