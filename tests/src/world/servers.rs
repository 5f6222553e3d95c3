//! The servers of a world: the embedded name server and brokers as the pure machine that they are, and a producer that
//! stores messages without any network in between, so that every message counts.

use super::Plan;
use super::member::TOPIC;
use super::oracle::Oracle;
use evenkeel::embedded::{BrokerSpec, Config, ConnId, Endpoint, Output, State, TopicSpec};
use evenkeel_core::model::{Address, BrokerName, Group, MessageQueue};
use evenkeel_core::rng::Rng;
use evenkeel_core::time::{Duration, Instant, WallClock};
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::reply::Reply;
use evenkeel_core::wire::request::{Request, Send};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};

/// Wall time at the beginning of every world.
const WALL: i64 = 1_700_000_000_000;

/// The servers, and when they want to be woken.
#[derive(Debug)]
pub struct Servers {
    state: State,
    brokers: Vec<BrokerName>,
    queues: i32,
    out: VecDeque<(u64, Command)>,
    /// The wake-up that is planned.
    pub wake: Option<Instant>,
    wanted: Option<Instant>,
}

impl Servers {
    /// Servers with the plan's topic.
    pub fn new(plan: &Plan, seed: u64) -> Self {
        let specs: Vec<BrokerSpec> = (0..plan.brokers)
            .map(|index| BrokerSpec::new(format!("b{index}").as_str(), address(index)))
            .collect();
        let brokers = specs.iter().map(|spec| spec.name.clone()).collect();
        let config = Config {
            brokers: specs,
            topics: vec![TopicSpec::new(TOPIC, plan.brokers, plan.queues)],
            seed,
            shared_door: false,
            // Short levels, so that retries end within the run.
            delay_levels: (1..=18).map(Duration::from_secs).collect(),
            ..Config::default()
        };
        let mut state = State::new(config);
        for index in 0..plan.brokers {
            state.connected(producer(index), Endpoint::Broker(index), remote(0));
        }
        Self { state, brokers, queues: plan.queues, out: VecDeque::new(), wake: None, wanted: None }
    }

    /// Wall time.
    pub fn wall(&self, now: Instant) -> WallClock {
        WallClock::from_millis(WALL) + now.since(Instant::ZERO)
    }

    /// All queues of the topic.
    pub fn queues(&self) -> Vec<MessageQueue> {
        let of_broker = |broker: &BrokerName| {
            let broker = broker.clone();
            (0..self.queues).map(move |id| MessageQueue::new(TOPIC, broker.clone(), id))
        };
        self.brokers.iter().flat_map(of_broker).collect()
    }

    /// A member connects.
    pub fn connected(&mut self, conn: u64, to: &Address) {
        let index = (0..self.brokers.len()).find(|index| address(*index) == *to);
        let endpoint = index.map_or(Endpoint::NameServer, Endpoint::Broker);
        self.state.connected(ConnId(conn), endpoint, remote(conn));
    }

    /// A connection is gone.
    pub fn disconnected(&mut self, now: Instant, conn: u64) {
        self.state.disconnected(now, self.wall(now), ConnId(conn));
        self.drain();
    }

    /// A command arrives.
    pub fn handle(&mut self, now: Instant, conn: u64, command: Command) {
        self.state.handle(now, self.wall(now), ConnId(conn), command);
        self.drain();
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Instant) {
        self.wake = None;
        self.state.tick(now, self.wall(now));
        self.drain();
    }

    /// What is to be carried to members.
    pub fn poll(&mut self) -> Option<(u64, Command)> {
        self.out.pop_front()
    }

    /// A wake-up that is not planned yet.
    pub fn next_wake(&mut self, now: Instant) -> Option<Instant> {
        let wanted = self.wanted.map(|at| at.max(now))?;
        if self.wake.is_some_and(|planned| planned <= wanted) {
            return None;
        }
        self.wake = Some(wanted);
        self.wake
    }

    /// Stores message `number` somewhere and tells the oracle.
    pub fn produce(&mut self, rng: &mut Rng, oracle: &mut Oracle, now: Instant, number: u64) -> String {
        let index = usize::try_from(rng.below(self.brokers.len() as u64)).unwrap_or(0);
        let id = i32::try_from(rng.below(self.queues.unsigned_abs().into())).unwrap_or(0);
        let queue = MessageQueue::new(TOPIC, self.brokers[index].clone(), id);
        let tag = *rng.pick(&["red", "green", "blue"]).unwrap_or(&"red");
        let request = Request::Send(Send {
            group: Group::from("producer"),
            queue: queue.clone(),
            sys_flag: 0,
            born: self.wall(now),
            flag: 0,
            properties: format!("TAGS\u{1}{tag}\u{2}"),
            reconsume_times: 0,
            max_reconsume_times: None,
            batch: false,
            body: number.to_string().into(),
        });
        let mut command = request.to_command();
        command.opaque = Some(0);
        self.handle(now, producer(index).0, command);
        let answered = self.out.iter().position(|(conn, _)| *conn == producer(index).0);
        let answer =
            answered.and_then(|at| self.out.remove(at)).map(|(_, command)| Reply::parse(&request, command));
        match answer {
            Some(Ok(Reply::Sent(sent))) => {
                oracle.on_stored(number, tag, queue.clone(), sent.queue_offset);
                format!("{queue}@{} {tag}", sent.queue_offset)
            }
            other => {
                oracle.fail(now, format!("message {number} was not stored: {other:?}"));
                "failed".to_string()
            }
        }
    }

    fn drain(&mut self) {
        loop {
            match self.state.poll() {
                Output::Send { conn, command } => self.out.push_back((conn.0, command)),
                Output::Close { .. } => {}
                Output::Idle { wake } => {
                    self.wanted = wake;
                    return;
                }
            }
        }
    }
}

fn address(broker: usize) -> Address {
    Address::from(format!("b{broker}:10911"))
}

/// The producer's connections lie beyond those of members.
fn producer(broker: usize) -> ConnId {
    ConnId(u64::MAX - broker as u64)
}

fn remote(conn: u64) -> SocketAddr {
    let port = u16::try_from(1024 + conn % 60_000).unwrap_or(1024);
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}
