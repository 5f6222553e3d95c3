//! Calls to servers for everything that is not a consumer: the producer and the tools of the command line.

use crate::clock::{self, Clock};
use crate::conn::Connections;
use crate::error::{Error, ErrorKind, Result};
use crate::security::Security;
use evenkeel_core::consumer::io::Input;
use evenkeel_core::model::{Address, CallId};
use evenkeel_core::time::Instant;
use evenkeel_core::wire::peer::{Answer, PeerRequest};
use evenkeel_core::wire::reply::{CallError, Reply};
use evenkeel_core::wire::request::Request;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// Calls that may wait to be handed to connections.
const QUEUE: usize = 1024;
/// Head start of one name server before the next is asked beside it.
const STAGGER: Duration = Duration::from_millis(400);

/// A pool of connections with plain calls. Cheap to clone; the connections close when the last clone is gone.
#[derive(Clone, Debug)]
pub struct Client {
    clock: Clock,
    asks: mpsc::Sender<Ask>,
}

#[derive(Debug)]
enum Ask {
    Call {
        to: Address,
        request: Request,
        deadline: Instant,
        answer: oneshot::Sender<Result<Reply, CallError>>,
    },
    Fire {
        to: Address,
        request: Request,
    },
    Close {
        closed: oneshot::Sender<()>,
    },
}

impl Client {
    /// A client without a connection yet. Needs a tokio runtime.
    pub fn start() -> Self {
        Self::secured(Security::default())
    }

    /// A client whose connections are secured like this. Needs a tokio runtime.
    pub fn secured(security: Security) -> Self {
        let clock = Clock::start();
        let (asks, queue) = mpsc::channel(QUEUE);
        let (arrive, arrivals) = mpsc::channel(QUEUE);
        let connections = Connections::new(clock, security, arrive);
        tokio::spawn(Desk { connections, arrivals, waiting: BTreeMap::new(), last: 0 }.run(queue));
        Self { clock, asks }
    }

    /// Asks a server and waits for its answer at most `timeout`, the time to connect included.
    ///
    /// # Errors
    /// No connection, no answer, a refusal, or an answer that cannot be read.
    pub async fn call(&self, to: &Address, request: Request, timeout: Duration) -> Result<Reply, CallError> {
        let (answer, answered) = oneshot::channel();
        let ask = Ask::Call { to: to.clone(), request, deadline: self.clock.now() + timeout, answer };
        self.asks.send(ask).await.map_err(|_gone| closed())?;
        answered.await.unwrap_or_else(|_gone| Err(closed()))
    }

    /// Sends a request that is not answered, and may be lost without a word.
    ///
    /// # Errors
    /// The client is closed.
    pub async fn fire(&self, to: &Address, request: Request) -> Result<(), CallError> {
        self.asks.send(Ask::Fire { to: to.clone(), request }).await.map_err(|_gone| closed())
    }

    /// Writes what is queued and closes all connections, for this and all clones. Takes a second at most.
    pub async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.asks.send(Ask::Close { closed: done }).await.is_ok() {
            // Gone is closed.
            let _ = closed.await;
        }
    }
}

fn closed() -> CallError {
    CallError::LinkLost { reason: "the client is closed".to_owned() }
}

/// The task that owns the connections.
struct Desk {
    connections: Connections,
    arrivals: mpsc::Receiver<Input>,
    waiting: BTreeMap<CallId, oneshot::Sender<Result<Reply, CallError>>>,
    last: u64,
}

impl Desk {
    async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
        let closed = loop {
            tokio::select! {
                ask = asks.recv() => match ask {
                    Some(Ask::Close { closed }) => break Some(closed),
                    Some(ask) => self.ask(ask),
                    None => break None,
                },
                Some(input) = self.arrivals.recv() => self.arrive(input),
            }
        };
        self.waiting.clear();
        self.connections.close(self.arrivals).await;
        if let Some(closed) = closed {
            // An error only says that the caller stopped waiting.
            let _ = closed.send(());
        }
    }

    fn ask(&mut self, ask: Ask) {
        match ask {
            Ask::Call { to, request, deadline, answer } => {
                self.last += 1;
                let call = CallId(self.last);
                self.waiting.insert(call, answer);
                if let Err(error) = self.connections.call(call, &to, request, deadline) {
                    self.answer(call, Err(error));
                }
            }
            Ask::Fire { to, request } => {
                if let Err(error) = self.connections.fire(&to, request) {
                    tracing::debug!(event = "one-way-dropped", "{error}");
                }
            }
            Ask::Close { .. } => {}
        }
    }

    fn answer(&mut self, call: CallId, result: Result<Reply, CallError>) {
        if let Some(answer) = self.waiting.remove(&call) {
            // An error only says that the caller stopped waiting.
            let _ = answer.send(result);
        }
    }

    fn arrive(&mut self, input: Input) {
        match input {
            Input::Reply { call, result } => self.answer(call, result),
            Input::Peer { from, request } => {
                let (opaque, code) = match request {
                    PeerRequest::Status { reply, .. } => (Some(reply), 221),
                    PeerRequest::RunningInfo { reply, .. } => (Some(reply), 307),
                    PeerRequest::ConsumeDirectly { reply, .. } => (Some(reply), 309),
                    PeerRequest::Unknown { reply, code } => (reply, code),
                    _ => (None, 0),
                };
                if let Some(opaque) = opaque {
                    let remark = format!(" request type {code} not supported");
                    self.connections.answer(&from, opaque, Answer::Refused { code: 3, remark });
                }
            }
            _ => {}
        }
    }
}

/// Name servers as one: any that answers will do, and one that does not costs a head start, not the whole time.
#[derive(Clone, Debug)]
pub struct NameServers {
    client: Client,
    addresses: Arc<[Address]>,
    origin: Arc<str>,
    preferred: Arc<AtomicUsize>,
}

impl NameServers {
    /// Reads a list as [`crate::ConsumerBuilder::name_servers`] does; `origin` says in errors where it was written.
    ///
    /// # Errors
    /// The list is empty, or a part of it has no port.
    pub fn parse(client: Client, list: &str, origin: &str) -> Result<Self> {
        let addresses = crate::addresses::parse(list, origin)?;
        let first = clock::seed() as usize % addresses.len();
        Ok(Self {
            client,
            addresses: addresses.into(),
            origin: origin.into(),
            preferred: Arc::new(AtomicUsize::new(first)),
        })
    }

    /// The client that calls them, for calls to others.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The addresses.
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Asks the name server that answered last; after a short while, or as soon as it fails, the next one beside it.
    ///
    /// # Errors
    /// No name server answered, or the one that did refused. `what` says in the text what could not be done.
    pub async fn call(&self, what: &str, request: Request, timeout: Duration) -> Result<Reply> {
        let began = tokio::time::Instant::now();
        let first = self.preferred.load(Ordering::Relaxed);
        let count = self.addresses.len();
        let mut order = (0..count).map(|step| (first + step) % count);
        let mut calls = JoinSet::new();
        let mut failures: Vec<(usize, CallError)> = Vec::new();
        loop {
            if let Some(at) = order.next() {
                let (client, to, request) =
                    (self.client.clone(), self.addresses[at].clone(), request.clone());
                calls.spawn(async move { (at, client.call(&to, request, timeout).await) });
            }
            let more = order.len() > 0;
            let ended = tokio::select! {
                ended = calls.join_next() => ended,
                () = tokio::time::sleep(STAGGER), if more => continue,
            };
            match ended {
                Some(Ok((at, Ok(reply)))) => {
                    self.preferred.store(at, Ordering::Relaxed);
                    return Ok(reply);
                }
                Some(Ok((at, Err(error @ CallError::Refused(_))))) => {
                    self.preferred.store(at, Ordering::Relaxed);
                    return Err(Error::call(what, self.addresses[at].as_str(), error));
                }
                Some(Ok((at, Err(error)))) => failures.push((at, error)),
                Some(Err(_panicked)) => {}
                None if more => {}
                None => return Err(self.unreachable(what, began.elapsed(), failures)),
            }
            if calls.is_empty() && order.len() == 0 {
                return Err(self.unreachable(what, began.elapsed(), failures));
            }
        }
    }

    fn unreachable(&self, what: &str, after: Duration, failures: Vec<(usize, CallError)>) -> Error {
        let mut text = format!("cannot {what}: no name server can be reached");
        for (at, error) in &failures {
            let (address, told) = (&self.addresses[*at], error.to_string());
            let told = told.strip_prefix(address.as_str()).unwrap_or(&told).trim_start_matches(": ");
            let (origin, seconds) = (&self.origin, after.as_secs_f64());
            text.push_str(&format!("\ntried {address} ({origin}): {told}, {seconds:.1} s"));
        }
        // One that is there and refuses us says more than others that are away.
        let advice = failures.iter().find_map(|(_, error)| match error {
            CallError::LinkRefused { advice, .. } => Some(*advice),
            _ => None,
        });
        let error = match advice {
            Some(advice) => Error::new(ErrorKind::Refused, text).with_hint(advice),
            None => {
                Error::new(ErrorKind::Unreachable, text).with_hint("9876 is the usual port of a name server")
            }
        };
        match failures.into_iter().next() {
            Some((_, source)) => error.with_source(source),
            None => error,
        }
    }
}
