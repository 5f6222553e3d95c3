//! The task of one connection.

use super::dial::{self, dial};
use super::{Clock, Order};
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
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::sleep_until;

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
    last_reason: String,
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
        let (rng, last_reason) = (Rng::new(clock::seed()), String::new());
        Self {
            to,
            clock,
            security,
            orders,
            arrivals,
            rng,
            failures: 0,
            not_before: Instant::ZERO,
            last_reason,
        }
    }

    pub(super) async fn run(mut self) {
        while let Some(order) = self.orders.recv().await {
            let mut waiting = Waiting::from([(self.clock.now(), order)]);
            let served = match self.connect(&mut waiting).await {
                Ok(Ok(stream)) => self.serve(stream, waiting).await,
                Ok(Err(reason)) => self.fail(waiting, &reason).await,
                Err(unwanted) => Err(unwanted),
            };
            if served.is_err() {
                return;
            }
        }
    }

    /// Connects, after the pause that earlier failures ask for. Orders come in meanwhile, and calls expire.
    async fn connect(&mut self, waiting: &mut Waiting) -> Result<Result<TcpStream, String>, Unwanted> {
        let now = self.clock.now();
        if now < self.not_before {
            // Who cannot wait for the next try hears of the last one.
            if !waiting.iter().any(|(_, order)| deadline(order) > Some(self.not_before)) {
                let pause = self.not_before.since(now).as_millis();
                return Ok(Err(format!("{} (next try in {pause} ms)", self.last_reason)));
            }
            let pause = sleep_until(self.clock.tokio(self.not_before));
            self.meanwhile(waiting, pause).await?;
        }
        let to = self.to.clone();
        let result = self.meanwhile(waiting, dial(to.as_str())).await?;
        if let Err(reason) = &result {
            tracing::debug!(event = "connect-failed", to = %self.to, "{reason}");
            self.failed(reason);
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

    async fn fail(&self, waiting: Waiting, reason: &str) -> Result<(), Unwanted> {
        for (_, order) in waiting {
            self.end(order, CallError::LinkLost { reason: reason.to_owned() }).await?;
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
    async fn serve(&mut self, stream: TcpStream, waiting: Waiting) -> Result<(), Unwanted> {
        let link = Link::new(Limits::default());
        let mut session = Session {
            link: match self.security.signer() {
                Some(signer) => link.with_signer(signer),
                None => link,
            },
            out: BytesMut::new(),
            heard: self.clock.now(),
            used: self.clock.now(),
            began: self.clock.now(),
            garbage: None,
        };
        self.tell(Input::Link { address: self.to.clone(), up: true }).await?;
        for (_, order) in waiting {
            session.submit(order, self.clock.now());
        }
        let ended = self.talk(&mut session, stream).await;
        let reason = match &ended {
            Ok(reason) => reason.as_str(),
            Err(_unwanted) => "the connection was closed here",
        };
        session.link.close(reason);
        let told = self.forward(&mut session).await;
        let reason = ended?;
        told?;
        tracing::debug!(event = "link-down", to = %self.to, "{reason}");
        // A server that takes connections and gives nothing is one that does not work.
        if session.heard > session.began {
            self.failures = 0;
        } else {
            self.failed(&reason);
        }
        self.tell(Input::Link { address: self.to.clone(), up: false }).await
    }

    async fn talk(&mut self, session: &mut Session, mut stream: TcpStream) -> Result<String, Unwanted> {
        let (mut read, mut write) = stream.split();
        let mut wanted = true;
        loop {
            let dead = self.forward(session).await?;
            if let Some(reason) = dead {
                return Ok(reason);
            }
            session.gather();
            if !wanted && session.out.is_empty() {
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
                        Ok(0) => return Ok(format!("{}: the server closed the connection", self.to)),
                        Ok(_) => session.heard = session.used,
                        Err(error) => return Ok(format!("{}: {}", self.to, dial::reason(&error))),
                    }
                    if let Err(error) = session.link.process() {
                        let reason = format!("{}: not RocketMQ's remoting protocol: {error}", self.to);
                        tracing::warn!(event = "garbage", to = %self.to, "{reason}");
                        // The link ended its calls with the bare error already.
                        session.garbage = Some(reason.clone());
                        self.forward(session).await?;
                        return Ok(reason);
                    }
                }
                written = write.write(&session.out), if !session.out.is_empty() => match written {
                    Ok(count) => {
                        session.out.advance(count);
                        session.used = self.clock.now();
                    }
                    Err(error) => return Ok(format!("{}: {}", self.to, dial::reason(&error))),
                },
                () = sleep_until(self.clock.tokio(wake)) => {
                    let now = self.clock.now();
                    session.link.tick(now);
                    if now >= idle {
                        return Ok(format!("{}: idle for {} s", self.to, IDLE.as_secs()));
                    }
                }
            }
        }
    }

    /// Hands on what the link has. The reason if the connection must be taken for dead: a call has expired, and since it
    /// was made not one byte came.
    async fn forward(&self, session: &mut Session) -> Result<Option<String>, Unwanted> {
        let mut dead = None;
        while let Some(output) = session.link.poll() {
            match output {
                LinkOutput::Reply { call, mut result } => {
                    match &mut result {
                        Err(CallError::Expired { after_ms }) => {
                            let silence = self.clock.now().since(session.heard);
                            if silence >= Duration::from_millis(*after_ms) {
                                dead = Some(format!("{}: silent for {} ms", self.to, silence.as_millis()));
                            }
                        }
                        Err(CallError::LinkLost { reason }) if !reason.contains(self.to.as_str()) => {
                            let bare = || format!("{}: {reason}", self.to);
                            *reason = session.garbage.clone().unwrap_or_else(bare);
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

    fn failed(&mut self, reason: &str) {
        let pause = BACK_OFF.saturating_mul(1 << self.failures.min(10)).min(BACK_OFF_MAX);
        // Half of it is jitter, so that many clients do not come back as one.
        let half = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX) / 2;
        let pause = Duration::from_millis(half + self.rng.below(half + 1));
        self.failures = self.failures.saturating_add(1);
        self.not_before = self.clock.now() + pause;
        reason.clone_into(&mut self.last_reason);
    }
}

/// One life of a connection.
struct Session {
    link: Link,
    out: BytesMut,
    /// When the last bytes came.
    heard: Instant,
    /// When bytes last went either way.
    used: Instant,
    began: Instant,
    /// Why what came is no frame, once that is so.
    garbage: Option<String>,
}

impl Session {
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

fn deadline(order: &Order) -> Option<Instant> {
    match order {
        Order::Call { deadline, .. } => Some(*deadline),
        Order::OneWay { .. } | Order::Answer { .. } => None,
    }
}
