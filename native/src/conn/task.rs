//! The task of one connection.

use super::secure::{self, Failure};
use super::stream::Stream;
use super::{Clock, FLUSH, Order};
use crate::clock;
use crate::security::Security;
use bytes::{Buf, BytesMut};
use evenkeel_core::consumer::io::Input;
use evenkeel_core::link::{Limits, Link, LinkOutput};
use evenkeel_core::model::Address;
use evenkeel_core::rng::Rng;
use evenkeel_core::time::Instant;
use evenkeel_core::wire::reply::CallError;
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, WriteHalf};
use tokio::sync::mpsc;
use tokio::time::{sleep_until, timeout};

/// First wait after a failed connection; doubled each time.
const BACK_OFF: Duration = Duration::from_millis(100);
/// Longest wait after a failed connection.
const BACK_OFF_MAX: Duration = Duration::from_secs(5);
/// A connection without traffic for so long is closed; servers do the same.
const IDLE: Duration = Duration::from_secs(120);
/// Room made for one read.
const READ: usize = 64 * 1024;
/// Bytes gathered for one write.
const WRITE: usize = 64 * 1024;
/// Unwritten bytes above which no further order is taken.
const WRITE_MAX: usize = 4 * 1024 * 1024;
/// Time to read why the server hung up, when a write says that it did.
const LAST_WORD: Duration = Duration::from_millis(100);
/// Orders taken in a row.
const BURST: usize = 64;

/// A connection that may come and go.
pub(super) struct Task {
    to: Address,
    clock: Clock,
    security: Security,
    orders: mpsc::Receiver<Order>,
    arrivals: mpsc::Sender<Input>,
    rng: Rng,
    /// Connections in a row that came to nothing.
    failures: u32,
    not_before: Instant,
    last: Failure,
}

/// Orders that wait for the connection, with the time they came.
type Waiting = VecDeque<(Instant, Order)>;

/// Why a task ends: its owner does not want it any more.
struct Unwanted;

impl Task {
    pub(super) fn new(
        to: Address,
        clock: Clock,
        security: Security,
        orders: mpsc::Receiver<Order>,
        arrivals: mpsc::Sender<Input>,
    ) -> Self {
        let (rng, last) = (Rng::new(clock::seed()), Failure::default());
        Self { to, clock, security, orders, arrivals, rng, failures: 0, not_before: Instant::ZERO, last }
    }

    pub(super) async fn run(mut self) {
        while let Some(order) = self.orders.recv().await {
            let mut waiting = Waiting::from([(self.clock.now(), order)]);
            let served = match self.connect(&mut waiting).await {
                Ok(Ok(stream)) => self.serve(stream, waiting).await,
                Ok(Err(failure)) => self.fail(waiting, &failure).await,
                Err(unwanted) => Err(unwanted),
            };
            if served.is_err() {
                return;
            }
        }
    }

    /// Connects, after the pause that earlier failures ask for. Orders come in meanwhile, and calls expire.
    async fn connect(&mut self, waiting: &mut Waiting) -> Result<Result<Stream, Failure>, Unwanted> {
        let now = self.clock.now();
        if now < self.not_before {
            // Who cannot wait for the next try hears of the last one.
            if !waiting.iter().any(|(_, order)| deadline(order) > Some(self.not_before)) {
                let pause = self.not_before.since(now).as_millis();
                return Ok(Err(self.last.and(&format!(" (next try in {pause} ms)"))));
            }
            let pause = sleep_until(self.clock.tokio(self.not_before));
            self.meanwhile(waiting, pause).await?;
        }
        let (to, security) = (self.to.clone(), self.security.clone());
        let result = self.meanwhile(waiting, secure::connect(to.as_str(), &security)).await?;
        if let Err(failure) = &result {
            tracing::debug!(event = "connect-failed", to = %self.to, "{}", failure.reason);
            self.failed(failure);
        }
        Ok(result)
    }

    /// Runs `future` and takes orders beside it. Calls whose deadline passes are ended.
    async fn meanwhile<F: Future>(
        &mut self,
        waiting: &mut Waiting,
        future: F,
    ) -> Result<F::Output, Unwanted> {
        let mut future = pin!(future);
        let mut wanted = true;
        loop {
            let next = waiting.iter().filter_map(|(_, order)| deadline(order)).min();
            let next = next.map(|at| self.clock.tokio(at));
            tokio::select! {
                output = &mut future => return Ok(output),
                order = self.orders.recv(), if wanted => match order {
                    Some(order) => waiting.push_back((self.clock.now(), order)),
                    // What waits already is still sent.
                    None if waiting.is_empty() => return Err(Unwanted),
                    None => wanted = false,
                },
                () = async { sleep_until(next.unwrap_or_else(tokio::time::Instant::now)).await }, if next.is_some() => {
                    self.expire(waiting).await?;
                }
            }
        }
    }

    async fn expire(&self, waiting: &mut Waiting) -> Result<(), Unwanted> {
        let now = self.clock.now();
        let (late, rest) = std::mem::take(waiting)
            .into_iter()
            .partition(|(_, order)| deadline(order).is_some_and(|deadline| deadline <= now));
        *waiting = rest;
        let late: Waiting = late;
        for (since, order) in late {
            let after_ms = u64::try_from(now.since(since).as_millis()).unwrap_or(u64::MAX);
            self.end(order, CallError::Expired { after_ms }).await?;
        }
        Ok(())
    }

    async fn fail(&self, waiting: Waiting, failure: &Failure) -> Result<(), Unwanted> {
        for (_, order) in waiting {
            self.end(order, failure.error()).await?;
        }
        Ok(())
    }

    async fn end(&self, order: Order, error: CallError) -> Result<(), Unwanted> {
        match order {
            Order::Call { call, .. } => self.tell(Input::Reply { call, result: Err(error) }).await,
            // Whom to answer is gone, and nobody waits for the end of what is not answered.
            Order::Answer { .. } | Order::OneWay { .. } => Ok(()),
        }
    }

    async fn tell(&self, input: Input) -> Result<(), Unwanted> {
        self.arrivals.send(input).await.map_err(|_gone| Unwanted)
    }

    /// Uses a connection until it breaks, is idle for long, or nobody wants it any more.
    async fn serve(&mut self, stream: Stream, waiting: Waiting) -> Result<(), Unwanted> {
        let link = Link::new(Limits::default());
        let mut session = Session {
            link: match self.security.signer() {
                Some(signer) => link.with_signer(signer),
                None => link,
            },
            out: BytesMut::new(),
            unflushed: false,
            heard: self.clock.now(),
            used: self.clock.now(),
            began: self.clock.now(),
            told: None,
        };
        self.tell(Input::Link { address: self.to.clone(), up: true }).await?;
        for (_, order) in waiting {
            session.submit(order, self.clock.now());
        }
        let ended = self.talk(&mut session, stream).await;
        match &ended {
            Ok(failure) => {
                session.told.get_or_insert_with(|| failure.clone());
                session.link.close(&failure.reason);
            }
            Err(_unwanted) => session.link.close("the connection was closed here"),
        }
        let told = self.forward(&mut session).await;
        let failure = ended?;
        told?;
        tracing::debug!(event = "link-down", to = %self.to, "{}", failure.reason);
        // A server that takes connections and gives nothing is one that does not work.
        if session.is_fresh() {
            self.failed(&failure);
        } else {
            self.failures = 0;
        }
        self.tell(Input::Link { address: self.to.clone(), up: false }).await
    }

    async fn talk(&mut self, session: &mut Session, stream: Stream) -> Result<Failure, Unwanted> {
        let plain = stream.is_plain();
        let (mut read, mut write) = tokio::io::split(stream);
        let mut wanted = true;
        loop {
            let dead = self.forward(session).await?;
            if let Some(reason) = dead {
                return Ok(Failure::lost(reason));
            }
            session.gather();
            if !wanted && session.out.is_empty() && !session.unflushed {
                // So that the server sees an end and not a break. Nothing depends on it.
                let _ = timeout(FLUSH, write.shutdown()).await;
                return Err(Unwanted);
            }
            session.link.buffer().reserve(READ);
            let idle = session.used + IDLE;
            let wake = session.link.next_deadline().map_or(idle, |deadline| deadline.min(idle));
            tokio::select! {
                order = self.orders.recv(), if wanted && session.out.len() < WRITE_MAX => match order {
                    Some(order) => {
                        session.submit(order, self.clock.now());
                        for _ in 1..BURST {
                            let Ok(order) = self.orders.try_recv() else { break };
                            session.submit(order, self.clock.now());
                        }
                    }
                    None => wanted = false,
                },
                count = read.read_buf(session.link.buffer()) => {
                    session.used = self.clock.now();
                    match count {
                        Ok(0) => return Ok(self.ended(session, plain, None).await),
                        // Some servers that want TLS say so in TLS, others say nothing.
                        Ok(_) if plain && session.is_fresh() && secure::is_tls(session.link.buffer()) => {
                            return Ok(secure::enforced(self.to.as_str()));
                        }
                        Ok(_) => session.heard = session.used,
                        Err(error) => return Ok(self.ended(session, plain, Some(error)).await),
                    }
                    if let Err(error) = session.link.process() {
                        let reason = format!("{}: not RocketMQ's remoting protocol: {error}", self.to);
                        tracing::warn!(event = "garbage", to = %self.to, "{reason}");
                        let failure = Failure::lost(reason);
                        // The link ended its calls with the bare error already.
                        session.told = Some(failure.clone());
                        self.forward(session).await?;
                        return Ok(failure);
                    }
                }
                written = push(&mut write, &session.out), if session.unflushed || !session.out.is_empty() => match written {
                    Ok(count) => {
                        session.out.advance(count);
                        session.unflushed = !plain && count > 0;
                        session.used = self.clock.now();
                    }
                    Err(error) => {
                        // Why a server hung up may have come before we could not write any more.
                        let last_word = timeout(LAST_WORD, read.read_buf(session.link.buffer())).await;
                        let error = match last_word {
                            Ok(Err(better)) => better,
                            _ => error,
                        };
                        return Ok(self.ended(session, plain, Some(error)).await);
                    }
                },
                () = sleep_until(self.clock.tokio(wake)) => {
                    let now = self.clock.now();
                    session.link.tick(now);
                    if now >= idle {
                        return Ok(Failure::lost(format!("{}: idle for {} s", self.to, IDLE.as_secs())));
                    }
                }
            }
        }
    }

    /// Why the server's end of the connection is closed: in peace, or with an error.
    async fn ended(&self, session: &Session, plain: bool, error: Option<io::Error>) -> Failure {
        let quiet = error.as_ref().is_none_or(secure::hung_up);
        if plain && quiet && session.is_fresh() {
            if let Some(refusal) = secure::wants_tls(self.to.as_str()).await {
                return refusal;
            }
        }
        match error {
            Some(error) => secure::broken(self.to.as_str(), &self.security, &error),
            None => secure::closed(self.to.as_str()),
        }
    }

    /// Hands on what the link has. The reason if the connection must be taken for dead: a call has expired, and since it
    /// was made not one byte came.
    async fn forward(&self, session: &mut Session) -> Result<Option<String>, Unwanted> {
        let mut dead = None;
        while let Some(output) = session.link.poll() {
            match output {
                LinkOutput::Reply { call, mut result } => {
                    match &result {
                        Err(CallError::Expired { after_ms }) => {
                            let silence = self.clock.now().since(session.heard);
                            if silence >= Duration::from_millis(*after_ms) {
                                dead = Some(format!("{}: silent for {} ms", self.to, silence.as_millis()));
                            }
                        }
                        Err(CallError::LinkLost { reason }) => {
                            let bare = || Failure::lost(format!("{}: {reason}", self.to));
                            result = Err(session.told.clone().unwrap_or_else(bare).error());
                        }
                        _ => {}
                    }
                    self.tell(Input::Reply { call, result }).await?;
                }
                // Nothing here sends commands of its own making.
                LinkOutput::Response { .. } => {}
                LinkOutput::Peer(request) => {
                    self.tell(Input::Peer { from: self.to.clone(), request }).await?;
                }
                LinkOutput::Misread { code, error } => {
                    tracing::warn!(event = "misread", from = %self.to, %code, "a request cannot be read: {error}");
                }
            }
        }
        Ok(dead)
    }

    fn failed(&mut self, failure: &Failure) {
        let pause = BACK_OFF.saturating_mul(1 << self.failures.min(10)).min(BACK_OFF_MAX);
        // Half of it is jitter, so that many clients do not come back as one.
        let half = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX) / 2;
        let pause = Duration::from_millis(half + self.rng.below(half + 1));
        self.failures = self.failures.saturating_add(1);
        self.not_before = self.clock.now() + pause;
        self.last = failure.clone();
    }
}

/// One life of a connection.
struct Session {
    link: Link,
    out: BytesMut,
    /// Whether some of what was written may still be here.
    unflushed: bool,
    /// When the last bytes came.
    heard: Instant,
    /// When bytes last went either way.
    used: Instant,
    began: Instant,
    /// What calls that still wait are told, once that is known.
    told: Option<Failure>,
}

impl Session {
    /// Whether the server has not said a word yet.
    fn is_fresh(&self) -> bool {
        self.heard <= self.began
    }

    fn submit(&mut self, order: Order, now: Instant) {
        match order {
            Order::Call { call, request, deadline } => self.link.send(now, call, &request, deadline),
            Order::OneWay { request } => {
                if let Err(error) = self.link.send_one_way(request.to_command()) {
                    tracing::warn!(event = "unwritable", code = %request.code(), "{error}");
                }
            }
            Order::Answer { opaque, answer } => self.link.answer(opaque, &answer),
        }
    }

    /// Collects frames for one write.
    fn gather(&mut self) {
        while self.out.len() < WRITE {
            let Some(frame) = self.link.take_output() else { break };
            self.out.extend_from_slice(&frame);
        }
    }
}

/// Writes some of `bytes`; without any, what TLS could not write at once, and gives 0.
async fn push(write: &mut WriteHalf<Stream>, bytes: &[u8]) -> io::Result<usize> {
    if bytes.is_empty() { write.flush().await.map(|()| 0) } else { write.write(bytes).await }
}

fn deadline(order: &Order) -> Option<Instant> {
    match order {
        Order::Call { deadline, .. } => Some(*deadline),
        Order::OneWay { .. } | Order::Answer { .. } => None,
    }
}
