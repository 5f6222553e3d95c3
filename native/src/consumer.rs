//! The consumer's handle.

use crate::assignment::Assignment;
use crate::builder::{ConsumerBuilder, NoHandler};
use crate::driver::Command;
use crate::error::{Error, Result};
use crate::filter;
use crate::report::ShutdownReport;
use crate::status::Status;
use evenkeel_core::consumer::Snapshot;
use evenkeel_core::consumer::io::{Event, Input, Position, Scope};
use evenkeel_core::model::{Address, ClientId, Group, MessageQueue, Topic};
use std::fmt;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::AbortHandle;

/// A push consumer: a member of a group that shares queues with the other members.
///
/// It lives until [`Consumer::shutdown`] or until it is dropped. Dropping never blocks: the member leaves its group in
/// the background, without waiting for running handlers.
///
/// # Example
///
/// ```no_run
/// use evenkeel::{Ack, Consumer};
///
/// # async fn run() -> evenkeel::Result<()> {
/// let consumer = Consumer::builder("pay-worker")
///     .name_servers("mq-1:9876;mq-2:9876")
///     .subscribe("orders", "paid || refunded")
///     .handler(|message| async move {
///         println!("{} has {} bytes", message.msg_id(), message.body().len());
///         Ok(Ack::Done)
///     })
///     .start()
///     .await?;
/// consumer.run_until(evenkeel::signal::terminate()).await?.into_result()
/// # }
/// ```
pub struct Consumer {
    control: Control,
    events: broadcast::Sender<Event>,
    /// Hears since before the start; the first one who asks for events gets it.
    first_events: Mutex<Option<broadcast::Receiver<Event>>>,
    assignment: watch::Receiver<Assignment>,
    driver: AbortHandle,
}

impl Consumer {
    /// Begins a consumer of this group.
    pub fn builder(group: impl Into<Group>) -> ConsumerBuilder<NoHandler> {
        ConsumerBuilder::new(group.into())
    }

    pub(crate) fn new(
        control: Control,
        (events, first): (broadcast::Sender<Event>, broadcast::Receiver<Event>),
        assignment: watch::Receiver<Assignment>,
        driver: AbortHandle,
    ) -> Self {
        Self { control, events, first_events: Mutex::new(Some(first)), assignment, driver }
    }

    /// This member's id.
    pub fn client_id(&self) -> &ClientId {
        &self.control.client
    }

    /// The group.
    pub fn group(&self) -> &Group {
        &self.control.group
    }

    /// The queues that are ours now.
    pub fn assignment(&self) -> Assignment {
        self.assignment.borrow().clone()
    }

    /// The queues that are ours, with a wake-up at each change.
    pub fn watch_assignment(&self) -> watch::Receiver<Assignment> {
        self.assignment.clone()
    }

    /// Everything that happens from now on; the first call also gives what has happened since the start, such as the
    /// first assignment.
    pub fn events(&self) -> Events {
        let first = self.first_events.lock().unwrap_or_else(PoisonError::into_inner).take();
        Events { receiver: first.unwrap_or_else(|| self.events.subscribe()), missed: 0 }
    }

    /// A handle for tasks and handlers that shall change or stop this consumer.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Consumes one more topic, or changes the tags of one.
    ///
    /// # Errors
    /// The expression means nothing, or the consumer has stopped.
    pub async fn subscribe(&self, topic: impl Into<Topic>, expression: &str) -> Result<()> {
        self.control.subscribe(topic, expression).await
    }

    /// Stops consuming a topic: its queues are drained, committed and given up.
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn unsubscribe(&self, topic: impl Into<Topic>) -> Result<()> {
        self.control.unsubscribe(topic).await
    }

    /// Pulls and hands out nothing of a topic, or of some queues, until [`Consumer::resume`]. What handlers have goes on;
    /// the queues stay ours, with their locks, and are committed.
    ///
    /// A pause of queues ends when they go to another member, and queues that are not ours are passed over. A pause of a
    /// topic counts for queues that become ours later, too. (Java can only suspend everything.)
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> evenkeel::Result<()> {
    /// # use evenkeel::{Ack, Consumer};
    /// use evenkeel::{Position, Topic};
    /// # let broker = evenkeel::embedded::EmbeddedBroker::builder().topic("orders", 1, 2).start().await?;
    /// # let consumer = Consumer::builder("pay").embedded(&broker).subscribe("orders", "*");
    /// # let consumer = consumer.handler(|_message| async { Ok(Ack::Done) }).start().await?;
    ///
    /// consumer.pause(Topic::from("orders")).await?;
    /// // … the bank is back, and everything of today is to be looked at again:
    /// let assignment = consumer.assignment();
    /// for queue in assignment.queues().filter(|queue| queue.topic.as_str() == "orders") {
    ///     consumer.seek(queue, Position::First).await?;
    /// }
    /// consumer.resume(Topic::from("orders")).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn pause(&self, what: impl Into<Scope>) -> Result<()> {
        self.control.pause(what).await
    }

    /// Ends a pause. That of a topic ends those of its single queues, too; that of a queue does not end its topic's.
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn resume(&self, what: impl Into<Scope>) -> Result<()> {
        self.control.resume(what).await
    }

    /// Goes on elsewhere in a queue. The new offset is committed at once, even if it lies before the old one; messages that
    /// handlers have now are finished, but no longer count, and come again if they lie behind it.
    ///
    /// Two pulls of a queue never wait at a broker at once: the first message of the new place follows when the old pull has
    /// ended, after the option `suspend` (15 s) at most.
    ///
    /// It returns when the queue has left its old place. [`Event::OffsetReset`] tells the new one: at once for
    /// [`Position::Offset`], else when the broker has told it. If the queue goes to another member before that, the seek
    /// is lost with it.
    ///
    /// # Errors
    /// The offset is negative, the queue is not ours, its topic is popped, or the consumer has stopped.
    pub async fn seek(&self, queue: &MessageQueue, to: Position) -> Result<()> {
        self.control.seek(queue, to).await
    }

    /// Stops pulling but stays a member, or pulls again.
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn quiet(&self, on: bool) -> Result<()> {
        self.control.quiet(on).await
    }

    /// A picture of now: queues with their offsets, what is cached, what runs.
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        self.control.snapshot().await
    }

    /// A picture of now with everything that was counted since the start.
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn status(&self) -> Result<Status> {
        self.control.status().await
    }

    /// Leaves the group: no new deliveries, waits for running handlers at most `drain`, commits, unregisters, closes.
    pub async fn shutdown(self, drain: Duration) -> ShutdownReport {
        let (done, report) = oneshot::channel();
        let stop = Command::Stop { grace: drain, done: Some(done) };
        if self.control.commands.send(stop).await.is_err() {
            return ShutdownReport::default();
        }
        report.await.unwrap_or_default()
    }

    /// Consumes until `stop` is ready, then shuts down with the configured `drain_timeout`.
    ///
    /// # Errors
    /// The consumer has stopped by itself, or somebody stopped it through a [`Control`] before.
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<ShutdownReport> {
        let drain = self.control.drain;
        tokio::select! {
            () = stop => Ok(self.shutdown(drain).await),
            () = self.control.commands.closed() => Err(Error::closed("the consumer")),
        }
    }

    /// Breaks everything off at once, as if the process had been killed: running handlers, sockets, and no word to
    /// anyone. For tests of what the other members do then.
    pub fn kill(self) {
        self.driver.abort();
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        let stop = Command::Stop { grace: Duration::ZERO, done: None };
        if let Err(mpsc::error::TrySendError::Full(_)) = self.control.commands.try_send(stop) {
            // The driver is far behind and there is nobody left to wait for it.
            self.driver.abort();
        }
    }
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer")
            .field("control", &self.control)
            .field("assignment", &self.assignment())
            .finish()
    }
}

/// Changes or stops a [`Consumer`] from elsewhere, handlers included. Cheap to clone.
#[derive(Clone)]
pub struct Control {
    pub(crate) group: Group,
    pub(crate) client: ClientId,
    pub(crate) drain: Duration,
    pub(crate) commands: mpsc::Sender<Command>,
}

impl Control {
    /// As [`Consumer::subscribe`].
    ///
    /// # Errors
    /// The expression means nothing, or the consumer has stopped.
    pub async fn subscribe(&self, topic: impl Into<Topic>, expression: &str) -> Result<()> {
        let topic = topic.into();
        let subscription = filter::tags(&topic, expression)?;
        self.input(Input::Subscribe { subscription }).await
    }

    /// As [`Consumer::unsubscribe`].
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn unsubscribe(&self, topic: impl Into<Topic>) -> Result<()> {
        self.input(Input::Unsubscribe { topic: topic.into() }).await
    }

    /// As [`Consumer::quiet`].
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn quiet(&self, on: bool) -> Result<()> {
        self.input(Input::Quiet(on)).await
    }

    /// As [`Consumer::pause`].
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn pause(&self, what: impl Into<Scope>) -> Result<()> {
        self.input(Input::Pause { scope: what.into() }).await
    }

    /// As [`Consumer::resume`].
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn resume(&self, what: impl Into<Scope>) -> Result<()> {
        self.input(Input::Resume { scope: what.into() }).await
    }

    /// As [`Consumer::seek`].
    ///
    /// # Errors
    /// The offset is negative, the queue is not ours, its topic is popped, or the consumer has stopped.
    pub async fn seek(&self, queue: &MessageQueue, to: Position) -> Result<()> {
        if let Position::Offset(offset) = to {
            if offset < 0 {
                return Err(Error::config(format!("cannot seek to offset {offset}: offsets begin with 0")));
            }
        }
        let (answer, answered) = oneshot::channel();
        self.send(Command::Seek { queue: queue.clone(), to, answer }).await?;
        answered.await.unwrap_or_else(|_gone| Err(Error::closed("the consumer")))
    }

    /// As [`Consumer::snapshot`].
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        let (answer, answered) = oneshot::channel();
        self.send(Command::Look(answer)).await?;
        answered.await.map_err(|_gone| Error::closed("the consumer"))
    }

    /// As [`Consumer::status`].
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn status(&self) -> Result<Status> {
        let (answer, answered) = oneshot::channel();
        self.send(Command::Report(answer)).await?;
        answered.await.map_err(|_gone| Error::closed("the consumer"))
    }

    /// Uses these name servers from now on.
    ///
    /// # Errors
    /// The text has no usable address, or the consumer has stopped.
    pub async fn name_servers(&self, list: &str) -> Result<()> {
        let list: Vec<Address> = crate::addresses::parse(list, "Control::name_servers")?;
        self.input(Input::NameServers(list)).await
    }

    /// Begins to stop, with the configured `drain_timeout`, and does not wait for it.
    ///
    /// # Errors
    /// The consumer has stopped.
    pub async fn stop(&self) -> Result<()> {
        self.send(Command::Stop { grace: self.drain, done: None }).await
    }

    async fn input(&self, input: Input) -> Result<()> {
        self.send(Command::Input(input)).await
    }

    async fn send(&self, command: Command) -> Result<()> {
        self.commands.send(command).await.map_err(|_closed| Error::closed("the consumer"))
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("group", &self.group)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

/// A stream of [`Event`]s. One who reads too slowly misses some, and hears how many.
#[derive(Debug)]
pub struct Events {
    receiver: broadcast::Receiver<Event>,
    missed: u64,
}

impl Events {
    /// The next event; `None` after the consumer's last one.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            match self.receiver.recv().await {
                Ok(event) => return Some(event),
                Err(broadcast::error::RecvError::Lagged(count)) => self.missed += count,
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// Events that were missed because [`Events::next`] was called too seldom.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}
