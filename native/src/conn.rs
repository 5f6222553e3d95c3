//! Connections: one task per address, which owns the socket and core's [`Link`] over it.
//!
//! A task starts with the first call to its address and connects only while there is something to send. Everything it
//! learns comes back as an [`Input`] for a core consumer: replies, requests of the peer, the link's ups and downs.

mod dial;
mod secure;
mod stream;
mod task;

use crate::clock::Clock;
use crate::security::Security;
use evenkeel_core::consumer::io::Input;
use evenkeel_core::model::{Address, CallId};
use evenkeel_core::time::Instant;
use evenkeel_core::wire::peer::Answer;
use evenkeel_core::wire::reply::CallError;
use evenkeel_core::wire::request::Request;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Orders that may wait for one connection.
const QUEUE: usize = 4096;
/// Time that a connection which nobody needs any more has to write what is left.
const FLUSH: Duration = Duration::from_secs(1);

/// What the owner of the connections asks of one of them.
enum Order {
    Call { call: CallId, request: Box<Request>, deadline: Instant },
    OneWay { request: Box<Request> },
    Answer { opaque: i32, answer: Box<Answer> },
}

/// All connections of one owner. Dropping it breaks them off at once; [`Connections::close`] writes what is left.
pub(crate) struct Connections {
    clock: Clock,
    security: Security,
    by_address: BTreeMap<Address, mpsc::Sender<Order>>,
    arrivals: mpsc::Sender<Input>,
    tasks: JoinSet<()>,
}

impl Connections {
    /// No connection yet; what they learn goes into `arrivals`.
    pub(crate) fn new(clock: Clock, security: Security, arrivals: mpsc::Sender<Input>) -> Self {
        Self { clock, security, by_address: BTreeMap::new(), arrivals, tasks: JoinSet::new() }
    }

    /// Sends a request. The reply comes as an arrival; if the request cannot even be queued, the error is here.
    pub(crate) fn call(
        &mut self,
        call: CallId,
        to: &Address,
        request: Request,
        deadline: Instant,
    ) -> Result<(), CallError> {
        self.order(to, Order::Call { call, request: Box::new(request), deadline })
    }

    /// Sends a request that is not answered, and may be lost without a word.
    pub(crate) fn fire(&mut self, to: &Address, request: Request) -> Result<(), CallError> {
        self.order(to, Order::OneWay { request: Box::new(request) })
    }

    fn order(&mut self, to: &Address, order: Order) -> Result<(), CallError> {
        let door = match self.by_address.get(to) {
            Some(door) if !door.is_closed() => door,
            _ => self.open(to),
        };
        door.try_send(order).map_err(|_full| CallError::LinkLost {
            reason: format!("{to}: {QUEUE} calls are waiting for this connection already"),
        })
    }

    /// Answers a request of the peer; dropped if the connection is gone.
    pub(crate) fn answer(&mut self, to: &Address, opaque: i32, answer: Answer) {
        if let Some(door) = self.by_address.get(to) {
            if door.try_send(Order::Answer { opaque, answer: Box::new(answer) }).is_err() {
                tracing::debug!(event = "answer-dropped", %to, "an answer could not be queued");
            }
        }
    }

    /// Closes a connection after what is queued for it has been written.
    pub(crate) fn hang_up(&mut self, address: &Address) {
        self.by_address.remove(address);
    }

    /// Forgets tasks that have ended, so that their list does not grow.
    pub(crate) fn tidy(&mut self) {
        while self.tasks.try_join_next().is_some() {}
    }

    /// Closes all connections after what is queued has been written, within a second. What still arrives is dropped.
    pub(crate) async fn close(mut self, mut arrivals: mpsc::Receiver<Input>) {
        self.by_address.clear();
        let all = async {
            loop {
                tokio::select! {
                    ended = self.tasks.join_next() => if ended.is_none() { return },
                    Some(_late) = arrivals.recv() => {}
                }
            }
        };
        if tokio::time::timeout(FLUSH, all).await.is_err() {
            tracing::debug!(event = "close-cut-short", "a connection did not take what was left to write");
        }
    }

    fn open(&mut self, to: &Address) -> &mpsc::Sender<Order> {
        self.tidy();
        let (door, orders) = mpsc::channel(QUEUE);
        let task =
            task::Task::new(to.clone(), self.clock, self.security.clone(), orders, self.arrivals.clone());
        self.tasks.spawn(task.run());
        self.by_address.insert(to.clone(), door);
        // Just inserted.
        &self.by_address[to]
    }
}
