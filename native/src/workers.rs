//! A bounded pool that runs handlers, catches their panics and reports how they ended.
//!
//! The driver owns the pool and keeps the list of idle workers, so handing out work takes no lock. A worker is a task
//! that lives as long as the pool; it is started when the first delivery needs it.

use crate::handler::{Batch, Context, Work};
use evenkeel_core::consumer::io::{Failure, Outcome};
use evenkeel_core::model::{Ticket, Topic};
use std::any::Any;
use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// One call of a handler.
pub(crate) struct Job {
    pub(crate) ticket: Ticket,
    pub(crate) batch: Batch,
    pub(crate) context: Context,
}

/// A handler has ended.
pub(crate) struct Finished {
    worker: usize,
    pub(crate) ticket: Ticket,
    pub(crate) outcome: Outcome,
    pub(crate) topic: Topic,
    pub(crate) took: Duration,
}

/// The pool.
pub(crate) struct Workers {
    work: Arc<dyn Work>,
    timeout: Duration,
    most: usize,
    doors: Vec<mpsc::Sender<Job>>,
    idle: Vec<usize>,
    waiting: VecDeque<Job>,
    report: mpsc::Sender<Finished>,
    finished: mpsc::Receiver<Finished>,
    tasks: JoinSet<()>,
}

impl Workers {
    /// A pool of at most `most` workers, each of which gives a handler at most `timeout`.
    pub(crate) fn new(work: Arc<dyn Work>, most: usize, timeout: Duration) -> Self {
        let most = most.max(1);
        let (report, finished) = mpsc::channel(most);
        let (doors, idle, waiting) = (Vec::new(), Vec::new(), VecDeque::new());
        Self { work, timeout, most, doors, idle, waiting, report, finished, tasks: JoinSet::new() }
    }

    /// Runs a job as soon as a worker is free. Refuses if more jobs wait than there are workers: the machine that hands
    /// out deliveries counts the running ones, so that is a bug there and must not become a heap here.
    pub(crate) fn take(&mut self, job: Job) -> Result<(), Ticket> {
        if let Some(worker) = self.idle.pop() {
            return self.give(worker, job);
        }
        if self.doors.len() < self.most {
            let worker = self.hire();
            return self.give(worker, job);
        }
        if self.waiting.len() >= self.most {
            return Err(job.ticket);
        }
        self.waiting.push_back(job);
        Ok(())
    }

    /// The next handler that ended. Its worker goes on with the next job. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Finished {
        loop {
            // `self` holds a sender, so the channel never closes.
            if let Some(finished) = self.finished.recv().await {
                self.relieve(finished.worker);
                return finished;
            }
        }
    }

    /// As [`Workers::next`], without waiting.
    pub(crate) fn try_next(&mut self) -> Option<Finished> {
        let finished = self.finished.try_recv().ok()?;
        self.relieve(finished.worker);
        Some(finished)
    }

    /// Takes out the jobs that no worker has begun.
    pub(crate) fn unstarted(&mut self) -> impl Iterator<Item = Ticket> + '_ {
        self.waiting.drain(..).map(|job| job.ticket)
    }

    fn relieve(&mut self, worker: usize) {
        match self.waiting.pop_front() {
            // Its door is empty: it has just reported.
            Some(job) => drop(self.give(worker, job)),
            None => self.idle.push(worker),
        }
    }

    fn give(&mut self, worker: usize, job: Job) -> Result<(), Ticket> {
        let ticket = job.ticket;
        match self.doors.get(worker) {
            Some(door) => door.try_send(job).map_err(|_busy| ticket),
            None => Err(ticket),
        }
    }

    fn hire(&mut self) -> usize {
        let worker = self.doors.len();
        let (door, mut jobs) = mpsc::channel::<Job>(1);
        let (work, report, timeout) = (Arc::clone(&self.work), self.report.clone(), self.timeout);
        self.tasks.spawn(async move {
            while let Some(Job { ticket, batch, context }) = jobs.recv().await {
                let (topic, began) = (context.queue.topic.clone(), Instant::now());
                let outcome = run(&*work, batch, context, timeout).await;
                let took = began.elapsed();
                if report.send(Finished { worker, ticket, outcome, topic, took }).await.is_err() {
                    return;
                }
            }
        });
        self.doors.push(door);
        worker
    }
}

async fn run(work: &dyn Work, batch: Batch, context: Context, timeout: Duration) -> Outcome {
    match tokio::time::timeout(timeout, unwinding(|| work.run(batch, context))).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(panic)) => Outcome::Retry { done: 0, delay_level: 0, why: Failure::Panic(panic) },
        Err(_elapsed) => Outcome::Retry { done: 0, delay_level: 0, why: Failure::TimedOut },
    }
}

/// Makes a future and runs it to its end, or to the text of its panic.
async fn unwinding<F: Future>(make: impl FnOnce() -> F) -> Result<F::Output, String> {
    // A future that has panicked is never polled again, and what it shares with others is the handler's own affair.
    let future = catch_unwind(AssertUnwindSafe(make)).map_err(|panic| told(&*panic))?;
    let mut future = pin!(future);
    std::future::poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(told(&*panic))),
    })
    .await
}

/// The text of a panic.
fn told(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without text").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_its_text() {
        assert_eq!(unwinding(|| async { panic!("number {}", 7) }).await, Err::<(), _>("number 7".to_owned()));
        assert_eq!(
            unwinding(|| -> std::future::Ready<()> { panic!("early") }).await,
            Err("early".to_owned())
        );
        assert_eq!(unwinding(|| async { 5 }).await, Ok(5));
    }
}
