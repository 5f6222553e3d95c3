//! The machine: a name server and its brokers, fed with commands and the time, drained of commands to send.
//!
//! ```text
//! connected ─┐                        ┌─ names ── routes over all brokers
//! handle ────┼─> faults ─> dispatch ──┤
//! tick ──────┘                        └─ broker ── topics, groups, locks, offsets, log, delay, held pulls, pops
//!                 poll <─ latency and faults on the way out <─┘
//! ```

use super::access;
use super::broker::Broker;
use super::config::{Config, Generation, MOST_BROKERS};
use super::context::Context;
use super::faults::{FaultGuard, FaultId, Faults, Rule, Verdict};
use super::names::Names;
use super::output::{ConnId, Endpoint, Output};
use super::relay::Relays;
use super::request::{Handled, Refusal, body};
use bytes::Bytes;
use evenkeel_core::model::{Address, Topic};
use evenkeel_core::rng::Rng;
use evenkeel_core::time::{Duration, Instant, WallClock};
use evenkeel_core::wire::bodies::AssignmentQuery;
use evenkeel_core::wire::code::RequestCode;
use evenkeel_core::wire::command::{Command, FLAG_RESPONSE};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

/// A name server and brokers without sockets or clocks. Same inputs, same outputs.
///
/// Announce each connection with [`connected`](Self::connected), give its commands to [`handle`](Self::handle), call
/// [`tick`](Self::tick) at the time that [`Output::Idle`] names (earlier and oftener does no harm), and after each of
/// these call [`poll`](Self::poll) until it says idle.
#[derive(Debug)]
pub struct State {
    pub(crate) config: Config,
    pub(crate) brokers: Vec<Broker>,
    pub(crate) conns: BTreeMap<ConnId, Conn>,
    names: Names,
    relays: Relays,
    faults: Faults,
    rng: Rng,
    /// What handlers want to send, before faults and latency.
    outbox: VecDeque<Output>,
    /// What is ready to be polled.
    ready: VecDeque<Output>,
    later: BTreeMap<(Instant, u64), Later>,
    count: u64,
    /// What a fault does to an answer that is still to come, by connection and opaque.
    marked: BTreeMap<(ConnId, i32), Mark>,
    latency: Duration,
    /// Requests that no known key had signed.
    denied: u64,
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Conn {
    pub(crate) to: Endpoint,
    pub(crate) remote: SocketAddr,
}

#[derive(Debug)]
enum Later {
    Request(ConnId, Command),
    Send(ConnId, Command),
}

#[derive(Debug)]
enum Mark {
    Delay(Duration),
    Lose,
    Garble(Bytes),
}

impl State {
    /// The machine as configured, without connections. Brokers beyond [`MOST_BROKERS`] are left out.
    pub fn new(config: Config) -> Self {
        let specs = config.brokers.iter().take(MOST_BROKERS).enumerate();
        Self {
            brokers: specs.map(|(index, spec)| Broker::new(&config, index, spec)).collect(),
            conns: BTreeMap::new(),
            names: Names::default(),
            relays: Relays::default(),
            faults: Faults::default(),
            rng: Rng::new(config.seed),
            outbox: VecDeque::new(),
            ready: VecDeque::new(),
            later: BTreeMap::new(),
            count: 0,
            marked: BTreeMap::new(),
            latency: Duration::ZERO,
            denied: 0,
            config,
        }
    }

    /// A connection was accepted.
    pub fn connected(&mut self, conn: ConnId, to: Endpoint, remote: SocketAddr) {
        let is_up = match to {
            Endpoint::NameServer => true,
            Endpoint::Broker(index) => self.brokers.get(index).is_some_and(|broker| broker.up),
        };
        if is_up {
            self.conns.insert(conn, Conn { to, remote });
        } else {
            self.ready.push_back(Output::Close { conn });
        }
    }

    /// A connection broke or was closed by the other side.
    pub fn disconnected(&mut self, now: Instant, wall: WallClock, conn: ConnId) {
        self.forget(now, wall, conn);
        self.flush(now, wall);
    }

    /// A command came in. Ignored if the connection is not known.
    pub fn handle(&mut self, now: Instant, wall: WallClock, conn: ConnId, command: Command) {
        let Some(Conn { to, .. }) = self.conns.get(&conn) else { return };
        if command.is_response() {
            let (mut cx, relays) = self.context_and_relays(now, wall);
            relays.answered(&mut cx, conn, command);
        } else {
            match self.faults.judge(&mut self.rng, *to, &command) {
                Verdict::Pass => self.carry_out(now, wall, conn, &command),
                verdict => self.execute(now, wall, conn, command, verdict),
            }
        }
        self.flush(now, wall);
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Instant, wall: WallClock) {
        self.names.tick(now);
        let (mut cx, relays) = self.context_and_relays(now, wall);
        relays.tick(&mut cx);
        for index in 0..self.brokers.len() {
            let (mut cx, broker) = self.context(now, wall, index);
            if broker.up {
                broker.tick(&mut cx);
            }
        }
        while let Some(entry) = self.later.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Later::Request(conn, command) => self.carry_out(now, wall, conn, &command),
                Later::Send(conn, command) => self.emit(conn, command),
            }
        }
        self.flush(now, wall);
    }

    /// The next thing to do. Call until it is [`Output::Idle`].
    #[must_use]
    pub fn poll(&mut self) -> Output {
        self.ready.pop_front().unwrap_or_else(|| Output::Idle { wake: self.wake() })
    }

    /// Requests, answered or one-way, that were refused because none of [`Config::keys`] had signed them.
    pub fn denied(&self) -> u64 {
        self.denied
    }

    /// Puts a fault in force until the guard is dropped.
    pub fn install(&mut self, rule: Rule) -> FaultGuard {
        self.faults.install(rule)
    }

    /// Ends a fault that was kept.
    pub fn remove_fault(&mut self, id: FaultId) -> bool {
        self.faults.remove(id)
    }

    /// From now on every answer and every request to a client takes this long.
    pub fn set_latency(&mut self, latency: Duration) {
        self.latency = latency;
    }

    /// Changes the number of a topic's queues on the brokers that have it; on all of them if none has.
    pub fn set_queues(&mut self, topic: &Topic, queues: i32) {
        let nobody = self.brokers.iter().all(|broker| broker.topics.find(topic).is_none());
        for broker in self.brokers.iter_mut().filter(|broker| nobody || broker.topics.find(topic).is_some()) {
            if broker.topics.resize(topic, queues).is_err() {
                tracing::warn!(%topic, broker = %broker.name, "no room for one more topic");
            }
        }
    }

    /// Makes `more` further queues of a topic on every broker that has it.
    pub fn add_queues(&mut self, topic: &Topic, more: i32) {
        for broker in &mut self.brokers {
            if let Some(queues) =
                broker.topics.find(topic).map(|topic| topic.read_queues.saturating_add(more))
            {
                // The topic exists, so there is room for it.
                let _ = broker.topics.resize(topic, queues);
            }
        }
    }

    /// Stops a broker: it leaves the routes and its connections are closed. What it stored stays for
    /// [`start_broker`](Self::start_broker); its members are gone.
    pub fn stop_broker(&mut self, now: Instant, wall: WallClock, index: usize) {
        let Some(broker) = self.brokers.get_mut(index) else { return };
        broker.up = false;
        let to = Endpoint::Broker(index);
        let ended: Vec<_> =
            self.conns.iter().filter(|(_, conn)| conn.to == to).map(|(conn, _)| *conn).collect();
        for conn in ended {
            self.close(now, wall, conn);
        }
        self.flush(now, wall);
    }

    /// Lets a stopped broker answer again.
    pub fn start_broker(&mut self, index: usize) {
        if let Some(broker) = self.brokers.get_mut(index) {
            broker.up = true;
        }
    }

    /// From now on routes name this address for a broker.
    pub fn move_broker(&mut self, index: usize, address: Address) {
        if let Some(broker) = self.brokers.get_mut(index) {
            broker.address = address;
        }
    }

    /// Closes a connection from this side.
    pub fn close(&mut self, now: Instant, wall: WallClock, conn: ConnId) {
        if self.conns.contains_key(&conn) {
            self.forget(now, wall, conn);
            self.ready.push_back(Output::Close { conn });
        }
    }

    fn wake(&self) -> Option<Instant> {
        let brokers = self.brokers.iter().filter(|broker| broker.up).filter_map(Broker::wake);
        let later = self.later.first_key_value().map(|((at, _), _)| *at);
        brokers.chain(later).chain(self.relays.wake()).chain(self.names.wake()).min()
    }

    /// What a verdict says, instead of or around carrying a request out.
    fn execute(&mut self, now: Instant, wall: WallClock, conn: ConnId, request: Command, verdict: Verdict) {
        match verdict {
            Verdict::Pass => self.carry_out(now, wall, conn, &request),
            Verdict::Drop => {}
            Verdict::Fail { code, remark } => self.answer(conn, &request, Err(Refusal { code, remark })),
            Verdict::AnswerWith(answer) => {
                let answer = Command { opaque: request.opaque, flag: FLAG_RESPONSE, ..answer };
                self.answer(conn, &request, Ok(Some(answer)));
            }
            Verdict::CloseConnection => self.close(now, wall, conn),
            Verdict::Delay(by) => self.put_off(now, wall, now + by, Later::Request(conn, request)),
            Verdict::DelayAnswer(by) => self.marked_out(now, wall, conn, &request, Mark::Delay(by)),
            Verdict::LoseAnswer => self.marked_out(now, wall, conn, &request, Mark::Lose),
            Verdict::Garble(body) => self.marked_out(now, wall, conn, &request, Mark::Garble(body)),
        }
    }

    fn marked_out(&mut self, now: Instant, wall: WallClock, conn: ConnId, request: &Command, mark: Mark) {
        if let Some(opaque) = request.opaque.filter(|_| !request.is_one_way()) {
            if self.marked.len() >= self.config.limits.in_flight {
                return self.close(now, wall, conn);
            }
            self.marked.insert((conn, opaque), mark);
        }
        self.carry_out(now, wall, conn, request);
    }

    fn carry_out(&mut self, now: Instant, wall: WallClock, conn: ConnId, request: &Command) {
        let Some(Conn { to, remote }) = self.conns.get(&conn) else { return };
        let (to, remote, code) = (*to, *remote, request.request_code());
        if let Err(refusal) = access::check(&self.config, request) {
            self.denied += 1;
            return self.answer(conn, request, Err(refusal));
        }
        let shared = self.config.shared_door;
        let handled = match to {
            _ if Names::knows(code)
                && (to == Endpoint::NameServer || (shared && to == Endpoint::Broker(0))) =>
            {
                let Self { config, brokers, names, rng, outbox, .. } = self;
                let mut cx = Context { now, wall, config, rng, outbox };
                names.handle(&mut cx, brokers, conn, request)
            }
            Endpoint::NameServer if !shared => Err(Refusal::unsupported(request)),
            Endpoint::NameServer => self.ask_broker(now, wall, 0, conn, remote, request),
            Endpoint::Broker(index) => self.ask_broker(now, wall, index, conn, remote, request),
        };
        self.answer(conn, request, handled);
    }

    pub(crate) fn ask_broker(
        &mut self,
        now: Instant,
        wall: WallClock,
        index: usize,
        conn: ConnId,
        remote: SocketAddr,
        request: &Command,
    ) -> Handled {
        let Self { config, brokers, names, relays, rng, outbox, .. } = self;
        let shares = request.request_code() == RequestCode::QUERY_ASSIGNMENT;
        if shares && config.generation == Generation::V5 && brokers.get(index).is_some_and(|broker| broker.up)
        {
            let query: AssignmentQuery = body(request, config.limits.json)?;
            let queues = names.readable(brokers, &query.topic);
            return brokers[index].query_assignment(request, &query, queues);
        }
        let Some(broker) = brokers.get_mut(index).filter(|broker| broker.up) else {
            return Err(Refusal::unsupported(request));
        };
        let mut cx = Context { now, wall, config, rng, outbox };
        if Relays::knows(request.request_code()) {
            relays.ask(&mut cx, broker, conn, request)
        } else {
            broker.handle(&mut cx, conn, remote, request)
        }
    }

    fn answer(&mut self, conn: ConnId, request: &Command, handled: Handled) {
        if request.is_one_way() {
            return;
        }
        let command = match handled {
            Ok(Some(answer)) => answer,
            Ok(None) => return,
            Err(refusal) => refusal.answer(request),
        };
        self.outbox.push_back(Output::Send { conn, command });
    }

    /// Moves what handlers wanted to send to where it is polled, by way of latency and faults.
    pub(crate) fn flush(&mut self, now: Instant, wall: WallClock) {
        while let Some(output) = self.outbox.pop_front() {
            match output {
                Output::Send { conn, command } => self.send(now, wall, conn, command),
                Output::Close { conn } => self.close(now, wall, conn),
                Output::Idle { .. } => {}
            }
        }
    }

    fn send(&mut self, now: Instant, wall: WallClock, conn: ConnId, mut command: Command) {
        let Some(Conn { to, .. }) = self.conns.get(&conn) else { return };
        let mut delay = self.latency;
        if command.is_response() {
            match command.opaque.and_then(|opaque| self.marked.remove(&(conn, opaque))) {
                Some(Mark::Delay(by)) => delay += by,
                Some(Mark::Lose) => return,
                Some(Mark::Garble(body)) => command.body = body,
                None => {}
            }
        } else {
            command.opaque = command.opaque.or_else(|| Some(self.relays.next_opaque()));
            match self.faults.judge(&mut self.rng, *to, &command) {
                Verdict::Pass => {}
                Verdict::Delay(by) => delay += by,
                Verdict::CloseConnection => return self.close(now, wall, conn),
                _ => return,
            }
        }
        if delay.is_zero() {
            self.emit(conn, command);
        } else {
            self.put_off(now, wall, now + delay, Later::Send(conn, command));
        }
    }

    fn emit(&mut self, conn: ConnId, command: Command) {
        if self.conns.contains_key(&conn) {
            self.ready.push_back(Output::Send { conn, command });
        }
    }

    /// Keeps something for later. If there is too much of that already, the connection it is for is closed.
    fn put_off(&mut self, now: Instant, wall: WallClock, at: Instant, what: Later) {
        if self.later.len() < self.config.limits.in_flight {
            self.count += 1;
            self.later.insert((at, self.count), what);
        } else {
            let (Later::Request(conn, _) | Later::Send(conn, _)) = what;
            self.close(now, wall, conn);
        }
    }

    fn forget(&mut self, now: Instant, wall: WallClock, conn: ConnId) {
        if self.conns.remove(&conn).is_none() {
            return;
        }
        self.names.disconnected(conn);
        self.marked.retain(|(of, _), _| *of != conn);
        self.later.retain(|_, (Later::Request(of, _) | Later::Send(of, _))| *of != conn);
        let (mut cx, relays) = self.context_and_relays(now, wall);
        relays.disconnected(&mut cx, conn);
        for index in 0..self.brokers.len() {
            let (mut cx, broker) = self.context(now, wall, index);
            broker.disconnected(&mut cx, conn);
        }
    }

    fn context(&mut self, now: Instant, wall: WallClock, index: usize) -> (Context<'_>, &mut Broker) {
        let Self { config, brokers, rng, outbox, .. } = self;
        (Context { now, wall, config, rng, outbox }, &mut brokers[index])
    }

    fn context_and_relays(&mut self, now: Instant, wall: WallClock) -> (Context<'_>, &mut Relays) {
        let Self { config, relays, rng, outbox, .. } = self;
        (Context { now, wall, config, rng, outbox }, relays)
    }
}
