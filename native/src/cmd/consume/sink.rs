//! Where messages go: to stdout, to a program, to nothing; and what that means for them.

use super::exec::{self, Ended};
use super::format::Template;
use super::{OnError, Options, lines};
use crate::cmd::global::Global;
use crate::cmd::output::Format;
use evenkeel::{Ack, Batch, BatchAck, BatchResult, HandlerResult, Message};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;

/// Why the command ends.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    Signal(&'static str),
    /// `--count` is reached.
    Counted,
    /// `-e`: the end is reached.
    End,
    /// Nobody reads stdout any more.
    Closed,
    HandlerFailed(String),
    TimedOut,
    Broken,
}

impl Stop {
    /// As JSON has it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Signal(name) => name,
            Self::Counted => "count",
            Self::End => "end",
            Self::Closed => "stdout-closed",
            Self::HandlerFailed(_) => "handler-failed",
            Self::TimedOut => "timeout",
            Self::Broken => "stopped",
        }
    }
}

/// The handler of the command.
pub(super) struct Sink {
    format: Format,
    template: Template,
    exec: Option<String>,
    on_error: OnError,
    limit: u64,
    begun: AtomicU64,
    done: AtomicU64,
    stopping: AtomicBool,
    stop: mpsc::UnboundedSender<Stop>,
}

/// What became of one message.
enum Verdict {
    Done,
    Later,
    Failed(String),
    PutBack,
}

impl Sink {
    pub(super) fn new(
        global: &Global,
        options: &Options,
        template: Template,
        stop: mpsc::UnboundedSender<Stop>,
    ) -> Self {
        Self {
            format: global.format(),
            template,
            exec: options.exec.clone(),
            on_error: options.on_error,
            limit: options.count.unwrap_or(u64::MAX),
            begun: AtomicU64::new(0),
            done: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            stop,
        }
    }

    /// Messages that are done.
    pub(super) fn count(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub(super) async fn message(&self, message: Message) -> HandlerResult {
        match self.one(&message).await {
            Verdict::Done => Ok(Ack::Done),
            Verdict::Later => Ok(Ack::RetryLater),
            Verdict::Failed(text) => Err(text.into()),
            Verdict::PutBack => Ok(Ack::PutBack),
        }
    }

    pub(super) async fn batch(&self, batch: Batch) -> BatchResult {
        for (at, message) in batch.iter().enumerate() {
            match self.one(message).await {
                Verdict::Done => {}
                Verdict::PutBack if at == 0 => return Ok(BatchAck::PutBack),
                Verdict::Failed(text) if at == 0 => return Err(text.into()),
                _ => return Ok(BatchAck::First(at)),
            }
        }
        Ok(BatchAck::Done)
    }

    async fn one(&self, message: &Message) -> Verdict {
        if self.stopping.load(Ordering::Relaxed) {
            return self.put_back().await;
        }
        if self.begun.fetch_add(1, Ordering::Relaxed) >= self.limit {
            return self.put_back().await;
        }
        let verdict = match &self.exec {
            Some(command) => self.judged(exec::run(command, message).await),
            None => self.print(message),
        };
        match &verdict {
            Verdict::Done => {
                if self.done.fetch_add(1, Ordering::Relaxed) + 1 == self.limit {
                    self.end(Stop::Counted);
                }
            }
            // It was not one of the messages that `--count` counts.
            _ => drop(self.begun.fetch_sub(1, Ordering::Relaxed)),
        }
        verdict
    }

    /// Until the consumer stops, messages beyond the last one wanted come again and again: not too fast.
    async fn put_back(&self) -> Verdict {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Verdict::PutBack
    }

    fn judged(&self, ended: Ended) -> Verdict {
        match (ended, self.on_error) {
            (Ended::Done, _) | (Ended::Failed(_), OnError::Skip) => Verdict::Done,
            (Ended::Later, _) => Verdict::Later,
            (Ended::Failed(text), OnError::Retry) => Verdict::Failed(text),
            (Ended::Failed(text), OnError::Stop) => {
                self.end(Stop::HandlerFailed(text));
                Verdict::PutBack
            }
        }
    }

    fn print(&self, message: &Message) -> Verdict {
        let mut out = std::io::stdout().lock();
        let written = match self.format {
            Format::Json | Format::Ndjson => writeln!(out, "{}", lines::message(message)),
            Format::Csv => writeln!(out, "{}", lines::csv(message)),
            Format::Text | Format::Wide => self.template.write(message, &mut out),
        };
        match written.and_then(|()| out.flush()) {
            Ok(()) => Verdict::Done,
            Err(_closed) => {
                self.end(Stop::Closed);
                Verdict::PutBack
            }
        }
    }

    fn end(&self, stop: Stop) {
        self.stopping.store(true, Ordering::Relaxed);
        // The receiver lives as long as the command waits for a reason to stop; later ones do not matter.
        let _ = self.stop.send(stop);
    }
}
