//! The one task that owns a core consumer.
//!
//! It takes one input (and what else is queued already), hands it to the machine, does everything the machine then
//! wants, and sleeps until the next input or the machine's next deadline. Nothing else touches the machine, so nothing
//! is locked; and nothing here waits for anything but inputs, so nothing can wait for itself.

use crate::assignment::Assignment;
use crate::claim::Claim;
use crate::clock::{self, Clock};
use crate::conn::Connections;
use crate::consumer::Control;
use crate::error::{Error, ErrorKind};
use crate::handler::Context;
use crate::message::Message;
use crate::offset_file::OffsetFile;
use crate::opening::{Opening, PATIENCE, foreign_members};
use crate::report::ShutdownReport;
use crate::status::{Status, Tally};
use crate::telling::tell;
use crate::workers::{Finished, Job, Workers};
use evenkeel_core::consumer::io::{Delivery, Event, Input, Outcome, Output, Position};
use evenkeel_core::consumer::{Consumer as Machine, Snapshot};
use evenkeel_core::model::{Group, MessageQueue, QueueEpoch};
use evenkeel_core::time::Instant;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// Inputs taken in a row before the machine's outputs are looked at.
const BURST: usize = 64;
/// Time after the grace of a stop for the last calls: commits, unlocks, unregistering.
const FAREWELL: Duration = Duration::from_secs(5);

/// What handles ask of the driver.
pub(crate) enum Command {
    /// Straight to the machine.
    Input(Input),
    /// Go on elsewhere in a queue, and say whether that goes.
    Seek { queue: MessageQueue, to: Position, answer: oneshot::Sender<Result<(), Error>> },
    /// Show the machine's state.
    Look(oneshot::Sender<Snapshot>),
    /// Show that and everything that was counted.
    Report(oneshot::Sender<Status>),
    /// Stop, and say so when it is done.
    Stop { grace: Duration, done: Option<oneshot::Sender<ShutdownReport>> },
}

/// Everything that a driver is made of.
pub(crate) struct Driver {
    pub(crate) machine: Machine,
    /// Held while the member is in its group.
    pub(crate) claim: Claim,
    pub(crate) group: Group,
    pub(crate) clock: Clock,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) arrivals: mpsc::Receiver<Input>,
    pub(crate) connections: Connections,
    /// Of a broadcasting consumer, unless it keeps nothing.
    pub(crate) offset_file: Option<OffsetFile>,
    pub(crate) workers: Workers,
    pub(crate) control: Control,
    pub(crate) events: broadcast::Sender<Event>,
    pub(crate) assignment: watch::Sender<Assignment>,
    pub(crate) opening: Option<(Opening, oneshot::Sender<Result<(), Error>>)>,
}

/// The driver while it runs.
struct Running {
    parts: Driver,
    /// Turns true for the handlers of a queue that goes away.
    lost: BTreeMap<MessageQueue, watch::Sender<bool>>,
    /// Turns true shortly before the drain deadline.
    draining: watch::Sender<bool>,
    /// The write of the offset file that is under way.
    saving: Option<JoinHandle<std::io::Result<()>>>,
    /// Inputs that the driver made itself: calls that could not be queued, deliveries put back.
    own: VecDeque<Input>,
    tally: Tally,
    quiet: bool,
    /// The caller of `start` has been told why there is no consumer.
    failed: bool,
    stop: Option<Stop>,
    report: Option<ShutdownReport>,
}

/// A stop under way.
struct Stop {
    began: tokio::time::Instant,
    warn_at: tokio::time::Instant,
    give_up: tokio::time::Instant,
    waiters: Vec<oneshot::Sender<ShutdownReport>>,
}

/// The end of a write; never, if none is under way. Cancel-safe.
async fn ended(saving: &mut Option<JoinHandle<std::io::Result<()>>>) -> std::io::Result<()> {
    let Some(handle) = saving else { return std::future::pending().await };
    let written = handle.await;
    *saving = None;
    written.unwrap_or_else(|died| Err(std::io::Error::other(died)))
}

impl Driver {
    /// Drives the consumer until it has stopped.
    pub(crate) async fn run(self) {
        let draining = watch::Sender::new(false);
        let running = Running {
            parts: self,
            lost: BTreeMap::new(),
            draining,
            saving: None,
            own: VecDeque::new(),
            tally: Tally::default(),
            quiet: false,
            failed: false,
            stop: None,
            report: None,
        };
        running.run().await;
    }
}

impl Running {
    async fn run(mut self) {
        self.own.push_back(Input::Start { wall: clock::wall() });
        loop {
            let wake = self.serve();
            if self.report.is_some() && wake.is_none() {
                break;
            }
            if self.wait(wake).await {
                break;
            }
        }
        self.finish().await;
    }

    /// Hands over own inputs and does everything that the machine wants, until it wants nothing.
    fn serve(&mut self) -> Option<Instant> {
        loop {
            while let Some(input) = self.own.pop_front() {
                self.parts.machine.handle(self.parts.clock.now(), input);
            }
            match self.parts.machine.poll() {
                Output::Call { call, to, request, deadline } => {
                    if let Some((opening, _)) = &mut self.parts.opening {
                        opening.called(call, &to, &request);
                    }
                    if let Err(error) = self.parts.connections.call(call, &to, request, deadline) {
                        self.own.push_back(Input::Reply { call, result: Err(error) });
                    }
                }
                Output::Answer { to, opaque, answer } => self.parts.connections.answer(&to, opaque, answer),
                Output::HangUp { address } => self.parts.connections.hang_up(&address),
                Output::Save { offsets } => self.save(offsets),
                Output::Deliver(delivery) => self.deliver(delivery),
                Output::Event(event) => self.event(event),
                Output::Idle { wake } if self.own.is_empty() => {
                    if self.parts.opening.as_ref().is_some_and(|(opening, _)| opening.succeeded()) {
                        self.opened(Ok(()));
                    }
                    return wake.map(|(at, _reason)| at);
                }
                Output::Idle { .. } => {}
            }
        }
    }

    /// Waits for inputs and hands them over. True if there is no use in going on.
    async fn wait(&mut self, wake: Option<Instant>) -> bool {
        let clock = self.parts.clock;
        // Without a deadline an hour is as good as never: an extra tick is harmless.
        let at = wake
            .map_or_else(|| tokio::time::Instant::now() + Duration::from_secs(3600), |at| clock.tokio(at));
        let at = self.own_deadline().map_or(at, |own| own.min(at));
        tokio::select! {
            command = self.parts.commands.recv() => match command {
                Some(command) => self.command(command),
                // All handles are gone without a word; `Consumer` sends one when it is dropped, so this is the end.
                None => return true,
            },
            Some(input) = self.parts.arrivals.recv() => self.arrive(input),
            finished = self.parts.workers.next() => self.finished(finished),
            written = ended(&mut self.saving) => self.saved(written),
            () = tokio::time::sleep_until(at) => self.parts.machine.handle(clock.now(), Input::Tick),
        }
        for _ in 0..BURST {
            if let Ok(input) = self.parts.arrivals.try_recv() {
                self.arrive(input);
            } else if let Some(finished) = self.parts.workers.try_next() {
                self.finished(finished);
            } else if let Ok(command) = self.parts.commands.try_recv() {
                self.command(command);
            } else {
                break;
            }
        }
        self.own_timers()
    }

    fn own_deadline(&self) -> Option<tokio::time::Instant> {
        let stop =
            self.stop.as_ref().map(|stop| if *self.draining.borrow() { stop.give_up } else { stop.warn_at });
        let opening = self.parts.opening.as_ref().map(|_| self.parts.clock.tokio(Instant::ZERO + PATIENCE));
        stop.into_iter().chain(opening).min()
    }

    fn own_timers(&mut self) -> bool {
        let overdue =
            self.parts.opening.as_ref().and_then(|(opening, _)| opening.overdue(self.parts.clock.now()));
        if let Some(error) = overdue {
            self.opened(Err(error));
        }
        let Some(stop) = &self.stop else { return false };
        let now = tokio::time::Instant::now();
        if now >= stop.warn_at {
            self.draining.send_replace(true);
        }
        now >= stop.give_up
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Input(input) => {
                if let Input::Quiet(on) = &input {
                    self.quiet = *on;
                }
                self.parts.machine.handle(self.parts.clock.now(), input);
            }
            // An error only says that the caller stopped waiting, here and below.
            Command::Seek { queue, to, answer } => drop(answer.send(self.seek(queue, to))),
            Command::Look(answer) => drop(answer.send(self.parts.machine.snapshot())),
            Command::Report(answer) => drop(answer.send(self.status())),
            Command::Stop { grace, done } => self.stop(grace, done),
        }
    }

    fn seek(&mut self, queue: MessageQueue, to: Position) -> Result<(), Error> {
        let machine = &mut self.parts.machine;
        if machine.is_popping(&queue.topic) {
            let text = format!("cannot seek {queue}: messages of {} are popped", queue.topic);
            return Err(Error::new(ErrorKind::NotFound, text)
                .with_hint("only queues that are pulled have an offset; mqadmin setConsumeMode switches"));
        }
        if !machine.holds(&queue) || self.stop.is_some() {
            let text = format!("cannot seek: {queue} is not ours");
            return Err(Error::new(ErrorKind::NotFound, text).with_hint(
                "queues that are ours are in assignment(); watch_assignment() tells when that changes",
            ));
        }
        machine.handle(self.parts.clock.now(), Input::Seek { queue, to });
        Ok(())
    }

    fn status(&self) -> Status {
        Status {
            snapshot: self.parts.machine.snapshot(),
            assignment: self.parts.assignment.borrow().clone(),
            tally: self.tally.clone(),
            quiet: self.quiet,
            stopping: self.stop.is_some(),
        }
    }

    fn stop(&mut self, grace: Duration, done: Option<oneshot::Sender<ShutdownReport>>) {
        if let Some(stop) = &mut self.stop {
            stop.waiters.extend(done);
            return;
        }
        let began = tokio::time::Instant::now();
        // Handlers that listen get the last fifth of the grace, at most a second, to come to an end.
        let warn_at = began + grace.saturating_sub(Duration::from_secs(1).min(grace / 5));
        let waiters = done.into_iter().collect();
        self.tally.stop(self.parts.clock.now(), self.parts.assignment.borrow().all_queues());
        self.stop = Some(Stop { began, warn_at, give_up: began + grace + FAREWELL, waiters });
        let unstarted = self.parts.workers.unstarted();
        self.own.extend(unstarted.map(|ticket| Input::Outcome { ticket, outcome: Outcome::PutBack }));
        self.own.push_back(Input::Stop { grace });
    }

    fn arrive(&mut self, input: Input) {
        let now = self.parts.clock.now();
        if let (Input::Reply { call, result }, Some((opening, _))) = (&input, &mut self.parts.opening) {
            if let Some(error) = opening.replied(now, *call, result) {
                self.opened(Err(error));
            }
        }
        self.parts.machine.handle(now, input);
    }

    fn save(&mut self, offsets: BTreeMap<MessageQueue, i64>) {
        match self.parts.offset_file.clone() {
            // Disks can be slow; nothing else waits for this one.
            Some(file) => self.saving = Some(tokio::task::spawn_blocking(move || file.save(offsets))),
            None => self.own.push_back(Input::Saved { result: Ok(()) }),
        }
    }

    fn saved(&mut self, written: std::io::Result<()>) {
        let result = written.map_err(|error| error.to_string());
        self.parts.machine.handle(self.parts.clock.now(), Input::Saved { result });
    }

    fn finished(&mut self, finished: Finished) {
        let Finished { ticket, outcome, topic, took, .. } = finished;
        self.tally.handled(&topic, &outcome, took);
        self.parts.machine.handle(self.parts.clock.now(), Input::Outcome { ticket, outcome });
    }

    fn deliver(&mut self, delivery: Delivery) {
        let Delivery { ticket, queue, messages } = delivery;
        let (offset, retries) =
            messages.first().map_or((0, 0), |first| (first.queue_offset, first.reconsume_times));
        let queue_lost = match ticket.epoch {
            // An operator's message belongs to no queue that could be lost.
            QueueEpoch::NONE => self.draining.subscribe(),
            _ => self.lost.entry(queue.clone()).or_insert_with(|| watch::Sender::new(false)).subscribe(),
        };
        let (draining, control) = (self.draining.subscribe(), self.parts.control.clone());
        let context = Context { queue: queue.clone(), offset, retries, queue_lost, draining, control };
        let batch =
            messages.into_iter().map(|message| Message::new(stored_in(&queue, &message), message)).collect();
        if let Err(ticket) = self.parts.workers.take(Job { ticket, batch, context }) {
            self.own.push_back(Input::Outcome { ticket, outcome: Outcome::PutBack });
        }
    }

    fn event(&mut self, event: Event) {
        // What made the start fail is in its error.
        if !(self.failed && matches!(event, Event::CallFailed { .. })) {
            tell(self.parts.group.as_str(), &event);
        }
        self.tally.event(self.parts.clock.now(), &event);
        match &event {
            Event::Rebalanced { generation, topic, reason, assigned, lost, .. } => {
                // What was popped of an entry is ours although the entry is not.
                for queue in lost.iter().filter(|queue| queue.id >= 0) {
                    if let Some(lost) = self.lost.get(queue) {
                        lost.send_replace(true);
                    }
                }
                self.parts.assignment.send_modify(|now| now.apply(*generation, *reason, topic, assigned));
            }
            Event::QueueEnded { queue, .. } => {
                if let Some(lost) = self.lost.remove(queue) {
                    lost.send_replace(true);
                }
            }
            Event::ForeignMembers { common, members, refused: true } => {
                self.opened(Err(foreign_members(*common, members)));
            }
            Event::Ready => {
                if let Some((opening, _)) = &mut self.parts.opening {
                    opening.first_round_is_over();
                }
            }
            Event::Stopped { drained, handed_back, abandoned, committed } => {
                let elapsed = self.stop.as_ref().map_or(Duration::ZERO, |stop| stop.began.elapsed());
                let (drained, handed_back, abandoned) = (*drained, *handed_back, *abandoned);
                let committed = committed.clone();
                self.report = Some(ShutdownReport { drained, handed_back, abandoned, committed, elapsed });
                self.parts.assignment.send_modify(Assignment::clear);
            }
            _ => {}
        }
        // An error only says that nobody listens.
        let _ = self.parts.events.send(event);
    }

    /// The start has succeeded or failed; a failed one leaves without waiting for anything.
    fn opened(&mut self, result: Result<(), Error>) {
        let Some((_, door)) = self.parts.opening.take() else { return };
        if result.is_err() {
            self.failed = true;
            self.stop(Duration::ZERO, None);
        }
        if door.send(result).is_err() {
            // Whoever called `start` gave up waiting: nobody holds a handle.
            self.stop(Duration::ZERO, None);
        }
    }

    async fn finish(self) {
        let Self { parts, stop, report, .. } = self;
        let elapsed = stop.as_ref().map_or(Duration::ZERO, |stop| stop.began.elapsed());
        parts.connections.close(parts.arrivals).await;
        // Whoever was waiting may start the same member again.
        drop(parts.claim);
        let report = report.unwrap_or(ShutdownReport { elapsed, ..ShutdownReport::default() });
        for waiter in stop.map(|stop| stop.waiters).unwrap_or_default() {
            // An error only says that the caller stopped waiting.
            let _ = waiter.send(report.clone());
        }
    }
}

/// The queue that a message is stored in: the one that was pulled, or one of those that an entry was popped from.
fn stored_in(queue: &MessageQueue, message: &evenkeel_core::wire::message::Message) -> MessageQueue {
    match queue.id {
        0.. => queue.clone(),
        _ => MessageQueue::new(queue.topic.clone(), queue.broker.clone(), message.queue_id),
    }
}
