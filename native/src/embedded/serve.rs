//! [`EmbeddedBroker`]: the machine behind real sockets.

use super::config::{BrokerSpec, Config, MOST_BROKERS, TopicSpec};
use super::conn;
use super::driver::{Clock, Event, drive};
use super::faults::{FaultGuard, FaultId, Rule};
use super::output::{ConnId, Endpoint};
use super::publish::{Draft, PublishError, Published};
use super::snapshot::Snapshot;
use super::state::State;
use crate::clock;
use evenkeel_core::model::{Address, Topic};
use evenkeel_core::time::{Instant, WallClock};
use evenkeel_core::wire::frame::DEFAULT_FRAME_LIMIT;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, Semaphore, mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

/// Events that may wait for the machine; connections wait with their next command meanwhile.
const EVENTS: usize = 1024;
/// How long a shutdown waits for connections to write what is queued.
const GRACE: Duration = Duration::from_secs(1);
/// Largest frame by default: a largest message and its header.
const FRAME_LIMIT: usize = 5 << 20;

/// A name server and brokers in this process, on TCP ports that any RocketMQ client can use.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use evenkeel::embedded::EmbeddedBroker;
///
/// let broker = EmbeddedBroker::builder().topic("orders", 2, 8).start().await?;
/// println!("NAMESRV_ADDR={}", broker.name_server());
/// broker.shutdown().await;
/// # Ok(())
/// # }
/// ```
///
/// Dropping it ends it, too, without waiting for what is queued on its connections.
#[derive(Debug)]
pub struct EmbeddedBroker {
    name_server: SocketAddr,
    brokers: Vec<SocketAddr>,
    events: mpsc::Sender<Event>,
    driver: JoinHandle<()>,
    /// The name server's listener, then those of the brokers; `None` while stopped.
    doors: Mutex<Vec<Option<JoinHandle<()>>>>,
    door: Door,
    connections: usize,
}

/// What every listener needs.
#[derive(Clone, Debug)]
struct Door {
    events: mpsc::Sender<Event>,
    conns: Arc<AtomicU64>,
    room: Arc<Semaphore>,
    frame_limit: usize,
    idle: Duration,
}

/// The embedded broker has been shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the embedded broker has stopped")]
pub struct Stopped;

impl EmbeddedBroker {
    /// Settings to start one with.
    pub fn builder() -> EmbeddedBuilder {
        EmbeddedBuilder::default()
    }

    /// Where the name server listens. The first broker answers there, too.
    pub fn name_server(&self) -> SocketAddr {
        self.name_server
    }

    /// Where the brokers listen, in the order of their indexes.
    pub fn broker_addresses(&self) -> &[SocketAddr] {
        &self.brokers
    }

    /// Puts a fault in force until the guard is dropped.
    pub async fn install(&self, rule: Rule) -> Result<FaultGuard, Stopped> {
        self.visit(|state, _, _| state.install(rule)).await
    }

    /// Ends a fault that was kept; false if there is none of this name.
    pub async fn remove_fault(&self, id: FaultId) -> Result<bool, Stopped> {
        self.visit(move |state, _, _| state.remove_fault(id)).await
    }

    /// From now on every answer and every request to a client takes this long.
    pub async fn set_latency(&self, latency: Duration) -> Result<(), Stopped> {
        self.visit(move |state, _, _| state.set_latency(latency)).await
    }

    /// Makes `more` further queues of a topic on every broker that has it.
    pub async fn add_queues(&self, topic: impl Into<Topic>, more: i32) -> Result<(), Stopped> {
        let topic = topic.into();
        self.visit(move |state, _, _| state.add_queues(&topic, more)).await
    }

    /// Stores a message on the broker with this index, as if a producer had sent it.
    pub async fn publish(
        &self,
        broker: usize,
        topic: impl Into<Topic>,
        draft: Draft,
    ) -> Result<Result<Published, PublishError>, Stopped> {
        let topic = topic.into();
        self.visit(move |state, now, wall| state.publish(now, wall, broker, &topic, draft)).await
    }

    /// The state of everything.
    pub async fn snapshot(&self) -> Result<Snapshot, Stopped> {
        self.visit(|state, now, _| state.snapshot(now)).await
    }

    /// Looks at the machine, or changes it, between two of its steps.
    pub async fn visit<T: Send + 'static>(
        &self,
        visit: impl FnOnce(&mut State, Instant, WallClock) -> T + Send + 'static,
    ) -> Result<T, Stopped> {
        let (sender, receiver) = oneshot::channel();
        let visit = Box::new(move |state: &mut State, now, wall| {
            // A caller that does not wait any longer does not want the result.
            let _ = sender.send(visit(state, now, wall));
        });
        self.events.send(Event::Visit(visit)).await.map_err(|_| Stopped)?;
        receiver.await.map_err(|_| Stopped)
    }

    /// Stops a broker as if its machine had gone: it listens no longer, its connections are closed, routes leave it
    /// out. The first broker stays reachable at the name server's address for what is not its business.
    pub async fn stop_broker(&self, index: usize) -> Result<(), Stopped> {
        if let Some(door) = self.doors.lock().await.get_mut(index + 1).and_then(Option::take) {
            door.abort();
        }
        self.visit(move |state, now, wall| state.stop_broker(now, wall, index)).await
    }

    /// Lets a stopped broker listen again, at the address it had.
    pub async fn start_broker(&self, index: usize) -> io::Result<()> {
        let mut doors = self.doors.lock().await;
        let (Some(door), Some(address)) = (doors.get_mut(index + 1), self.brokers.get(index)) else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "there is no broker with this index"));
        };
        if door.is_none() {
            let listener = TcpListener::bind(address).await?;
            let visited = self.visit(move |state, _, _| state.start_broker(index)).await;
            visited.map_err(io::Error::other)?;
            *door = Some(tokio::spawn(self.door.clone().open(listener, Endpoint::Broker(index))));
        }
        Ok(())
    }

    /// Closes every connection, once what is queued on it is written, and stops listening.
    pub async fn shutdown(mut self) {
        // A driver that is gone needs no telling; one that has ended has let go of all connections.
        let _ = self.events.send(Event::Stop).await;
        let _ = (&mut self.driver).await;
        // Every connection holds a permit. One whose peer does not read is not waited for.
        let most = u32::try_from(self.connections).unwrap_or(u32::MAX);
        let _ = timeout(GRACE, self.door.room.acquire_many(most)).await;
        for door in self.doors.get_mut().iter_mut().filter_map(Option::take) {
            door.abort();
            let _ = door.await; // cancelled, as it should be
        }
    }
}

impl Drop for EmbeddedBroker {
    fn drop(&mut self) {
        self.driver.abort();
        for door in self.doors.get_mut().iter().flatten() {
            door.abort();
        }
    }
}

impl Door {
    /// Accepts connections. They end with this future.
    async fn open(self, listener: TcpListener, to: Endpoint) {
        let mut open = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                Some(_) = open.join_next() => continue,
            };
            let socket = match accepted {
                Ok((socket, _)) => socket,
                Err(error) => {
                    // Out of descriptors, mostly: others have to close first.
                    tracing::warn!(%error, "cannot accept");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let Ok(permit) = self.room.clone().try_acquire_owned() else {
                tracing::warn!("one connection too many: closed at once");
                continue;
            };
            let conn = ConnId(self.conns.fetch_add(1, Ordering::Relaxed));
            let serve = conn::serve(conn, to, socket, self.events.clone(), self.frame_limit, self.idle);
            open.spawn(async move {
                serve.await;
                drop(permit);
            });
        }
    }
}

/// Settings of an [`EmbeddedBroker`].
#[derive(Debug)]
#[must_use = "a builder does nothing until it is started"]
pub struct EmbeddedBuilder {
    listen: String,
    advertise: Option<IpAddr>,
    brokers: usize,
    config: Config,
    latency: Duration,
    connections: usize,
    frame_limit: usize,
    idle: Duration,
    wall: Option<WallClock>,
}

impl Default for EmbeddedBuilder {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:0".to_owned(),
            advertise: None,
            brokers: 1,
            config: Config::default(),
            latency: Duration::ZERO,
            connections: 1024,
            frame_limit: FRAME_LIMIT,
            idle: Duration::from_secs(120),
            wall: None,
        }
    }
}

impl EmbeddedBuilder {
    /// Where the name server listens; the default is a free port of the loopback. Brokers listen at free ports of the
    /// same host.
    pub fn listen(self, address: impl Into<String>) -> Self {
        Self { listen: address.into(), ..self }
    }

    /// The host that routes name. Needed if the name server listens at all addresses and clients are elsewhere.
    pub fn advertise(self, host: IpAddr) -> Self {
        Self { advertise: Some(host), ..self }
    }

    /// At least so many brokers. A topic that lies on more of them makes more.
    pub fn brokers(self, count: usize) -> Self {
        Self { brokers: self.brokers.max(count), ..self }
    }

    /// A topic with so many queues on each of so many brokers.
    pub fn topic(self, name: impl Into<Topic>, brokers: usize, queues: i32) -> Self {
        self.topic_spec(TopicSpec::new(name, brokers, queues))
    }

    /// A topic as described, for example by `"orders:2x8".parse()`.
    pub fn topic_spec(mut self, topic: TopicSpec) -> Self {
        self.brokers = self.brokers.max(topic.brokers.unwrap_or(1));
        self.config.topics.push(topic);
        self
    }

    /// How long every answer takes.
    pub fn latency(self, latency: Duration) -> Self {
        Self { latency, ..self }
    }

    /// Seed of the machine's choices.
    pub fn seed(mut self, seed: u64) -> Self {
        self.config.seed = seed;
        self
    }

    /// Changes other settings. Brokers and their addresses are not among them: they follow from the listeners.
    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// Most connections at a time, all listeners together; one more is closed at once.
    pub fn connections(self, most: usize) -> Self {
        Self { connections: most.min(Semaphore::MAX_PERMITS), ..self }
    }

    /// Largest frame; a peer that announces a larger one is disconnected.
    pub fn frame_limit(self, bytes: usize) -> Self {
        Self { frame_limit: bytes.min(DEFAULT_FRAME_LIMIT), ..self }
    }

    /// How long a connection may be silent.
    pub fn idle(self, idle: Duration) -> Self {
        Self { idle, ..self }
    }

    /// Wall time at the start, for tests; the system's otherwise.
    pub fn wall_clock(self, wall: WallClock) -> Self {
        Self { wall: Some(wall), ..self }
    }

    /// Opens the listeners and starts the machine.
    ///
    /// Errors: an address that cannot be listened at.
    pub async fn start(self) -> io::Result<EmbeddedBroker> {
        let name_listener = TcpListener::bind(&self.listen).await?;
        let name_server = name_listener.local_addr()?;
        let mut listeners = vec![(Endpoint::NameServer, name_listener)];
        let (mut brokers, mut config) = (Vec::new(), self.config);
        config.brokers.clear();
        for index in 0..self.brokers.clamp(1, MOST_BROKERS) {
            let listener = TcpListener::bind((name_server.ip(), 0)).await?;
            let address = listener.local_addr()?;
            let shown = SocketAddr::new(shown_host(self.advertise, address.ip()), address.port());
            config.brokers.push(BrokerSpec::new(broker_name(index), Address::from(shown.to_string())));
            brokers.push(shown);
            listeners.push((Endpoint::Broker(index), listener));
        }
        let mut state = State::new(config);
        state.set_latency(self.latency);

        let (events, receiver) = mpsc::channel(EVENTS);
        let clock = Clock::starting(self.wall.unwrap_or_else(clock::wall));
        let door = Door {
            events: events.clone(),
            conns: Arc::default(),
            room: Arc::new(Semaphore::new(self.connections)),
            frame_limit: self.frame_limit,
            idle: self.idle,
        };
        let doors = listeners
            .into_iter()
            .map(|(to, listener)| Some(tokio::spawn(door.clone().open(listener, to))))
            .collect();
        Ok(EmbeddedBroker {
            name_server: SocketAddr::new(shown_host(self.advertise, name_server.ip()), name_server.port()),
            brokers,
            events,
            driver: tokio::spawn(drive(state, clock, receiver)),
            doors: Mutex::new(doors),
            door,
            connections: self.connections,
        })
    }
}

/// `embedded-a`, `embedded-b`, … `embedded-z`, `embedded-aa`, …
fn broker_name(index: usize) -> String {
    let letter = |place: usize| char::from(b"abcdefghijklmnopqrstuvwxyz"[place % 26]);
    match index.checked_div(26).and_then(|more| more.checked_sub(1)) {
        Some(more) => format!("embedded-{}{}", letter(more), letter(index)),
        None => format!("embedded-{}", letter(index)),
    }
}

/// The host that others can connect to.
fn shown_host(advertise: Option<IpAddr>, bound: IpAddr) -> IpAddr {
    advertise.unwrap_or(match bound {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        other => other,
    })
}
