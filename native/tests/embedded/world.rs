//! The machine in virtual time, and the requests that tests send to it.

use evenkeel::embedded::{Config, ConnId, Endpoint, Output, State, TopicSpec};
use evenkeel_core::time::{Duration, Instant, WallClock};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::message::Message;
use evenkeel_core::wire::properties::encode;
use evenkeel_core::wire::stored::{Limits, decode_batch};
use std::net::SocketAddr;

pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) now: Instant,
    pub(crate) closed: Vec<ConnId>,
    inbox: Vec<(ConnId, Command)>,
    count: i32,
}

impl World {
    /// One broker that has topic `t` with two queues.
    pub(crate) fn new() -> Self {
        Self::with(config())
    }

    pub(crate) fn with(config: Config) -> Self {
        let state = State::new(config);
        Self { state, now: Instant::from_millis(1000), closed: Vec::new(), inbox: Vec::new(), count: 0 }
    }

    pub(crate) fn wall(&self) -> WallClock {
        WallClock::from_millis(1_700_000_000_000) + self.now.since(Instant::ZERO)
    }

    pub(crate) fn connect(&mut self, to: Endpoint) -> ConnId {
        self.count += 1;
        let conn = ConnId(self.count as u64);
        let remote = SocketAddr::from(([10, 0, 0, 1], 1000 + self.count as u16));
        self.state.connected(conn, to, remote);
        self.drain();
        conn
    }

    /// A connection to the first broker.
    pub(crate) fn client(&mut self) -> ConnId {
        self.connect(Endpoint::Broker(0))
    }

    /// Sends a request and gives its opaque.
    pub(crate) fn post(&mut self, conn: ConnId, request: Command) -> i32 {
        self.count += 1;
        let request = Command { opaque: Some(self.count), ..request };
        self.give(conn, request);
        self.count
    }

    /// Sends a request that is answered at once, and gives the answer.
    pub(crate) fn ask(&mut self, conn: ConnId, request: Command) -> Command {
        let opaque = self.post(conn, request);
        self.answer(conn, opaque).expect("an answer at once")
    }

    /// The answer to an earlier request, if it has come.
    pub(crate) fn answer(&mut self, conn: ConnId, opaque: i32) -> Option<Command> {
        let is_it = |(to, command): &(ConnId, Command)| {
            *to == conn && command.is_response() && command.opaque == Some(opaque)
        };
        let at = self.inbox.iter().position(is_it)?;
        Some(self.inbox.remove(at).1)
    }

    /// What the broker asked or told over a connection, and no longer remembers.
    pub(crate) fn told(&mut self, conn: ConnId) -> Vec<Command> {
        let of = |(to, command): &(ConnId, Command)| *to == conn && !command.is_response();
        let (told, rest) = std::mem::take(&mut self.inbox).into_iter().partition(of);
        self.inbox = rest;
        let told: Vec<(ConnId, Command)> = told;
        told.into_iter().map(|(_, command)| command).collect()
    }

    /// How many notices of a changed group came over a connection.
    pub(crate) fn notices(&mut self, conn: ConnId) -> usize {
        let is_notice = |command: &Command| command.code == RequestCode::NOTIFY_CONSUMER_IDS_CHANGED.0;
        self.told(conn).into_iter().filter(is_notice).count()
    }

    pub(crate) fn give(&mut self, conn: ConnId, command: Command) {
        self.state.handle(self.now, self.wall(), conn, command);
        self.drain();
    }

    pub(crate) fn disconnect(&mut self, conn: ConnId) {
        self.state.disconnected(self.now, self.wall(), conn);
        self.drain();
    }

    /// Lets time pass, waking the machine whenever it wants to be woken.
    pub(crate) fn advance(&mut self, by: Duration) {
        let end = self.now + by;
        for _ in 0..100_000 {
            match self.drain() {
                Some(wake) if wake <= end => {
                    self.now = wake.max(self.now);
                    self.state.tick(self.now, self.wall());
                }
                _ => {
                    self.now = end;
                    return;
                }
            }
        }
        panic!("the machine wants to be woken all the time");
    }

    pub(crate) fn drain(&mut self) -> Option<Instant> {
        loop {
            match self.state.poll() {
                Output::Send { conn, command } => self.inbox.push((conn, command)),
                Output::Close { conn } => self.closed.push(conn),
                Output::Idle { wake } => return wake,
            }
        }
    }

    /// Joins a group over a connection, subscribing to everything of `t`.
    pub(crate) fn join(&mut self, conn: ConnId, client: &str, group: &str) {
        let answer = self.ask(conn, heartbeat(client, group, &[("t", "*", 1)]));
        assert_eq!(answer.response_code(), ResponseCode::SUCCESS);
    }

    /// Stores a message in queue 0 of `t`.
    pub(crate) fn store(&mut self, conn: ConnId, body: &str) {
        let answer = self.ask(conn, send("t", 0, body, &[]));
        assert_eq!(answer.response_code(), ResponseCode::SUCCESS, "{:?}", answer.remark);
    }
}

pub(crate) fn config() -> Config {
    Config { topics: vec![TopicSpec::new("t", 1, 2)], ..Config::default() }
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) fn number(command: &Command, field: &str) -> i64 {
    command.fields.get(field).and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no {field}"))
}

pub(crate) fn text(command: &Command) -> String {
    String::from_utf8_lossy(&command.body).into_owned()
}

pub(crate) fn messages(pulled: &Command) -> Vec<Message> {
    let batch = decode_batch(&pulled.body, Limits::default());
    assert_eq!(batch.damaged, None);
    batch.messages
}

pub(crate) fn bodies(pulled: &Command) -> Vec<String> {
    messages(pulled).iter().map(|message| String::from_utf8_lossy(&message.body).into_owned()).collect()
}

/// A heartbeat of one clustering group with these topics, tag expressions and versions.
pub(crate) fn heartbeat(client: &str, group: &str, topics: &[(&str, &str, i64)]) -> Command {
    heartbeat_as("CLUSTERING", client, group, topics)
}

pub(crate) fn heartbeat_as(model: &str, client: &str, group: &str, topics: &[(&str, &str, i64)]) -> Command {
    let subscriptions: Vec<String> = topics
        .iter()
        .map(|(topic, expression, version)| {
            let tags: Vec<&str> = expression.split("||").map(str::trim).filter(|tag| *tag != "*").collect();
            let codes: Vec<i32> = tags.iter().map(|tag| evenkeel_core::model::java_hash(tag)).collect();
            format!(
                r#"{{"classFilterMode":false,"codeSet":{codes:?},"expressionType":"TAG","subString":"{expression}","subVersion":{version},"tagsSet":{tags:?},"topic":"{topic}"}}"#
            )
        })
        .collect();
    let body = format!(
        r#"{{"clientID":"{client}","consumerDataSet":[{{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"{group}","messageModel":"{model}","subscriptionDataSet":[{}],"unitMode":false}}],"heartbeatFingerprint":0,"producerDataSet":[{{"groupName":"CLIENT_INNER_PRODUCER"}}],"withoutSub":false}}"#,
        subscriptions.join(",")
    );
    Command::request(RequestCode::HEART_BEAT).with_body(body)
}

/// A pull of queue 0 of `t` that may be held for 15 s.
pub(crate) fn pull(group: &str, offset: i64) -> Command {
    pull_of(group, "t", 0, offset)
}

pub(crate) fn pull_of(group: &str, topic: &str, queue: i32, offset: i64) -> Command {
    Command::request(RequestCode::PULL_MESSAGE)
        .with_field("consumerGroup", group)
        .with_field("topic", topic)
        .with_field("queueId", queue)
        .with_field("queueOffset", offset)
        .with_field("maxMsgNums", 32)
        .with_field("sysFlag", 2)
        .with_field("commitOffset", 0)
        .with_field("suspendTimeoutMillis", 15_000)
        .with_field("subVersion", 1)
        .with_field("expressionType", "TAG")
}

pub(crate) fn send(topic: &str, queue: i32, body: &str, properties: &[(&str, &str)]) -> Command {
    Command::request(RequestCode::SEND_MESSAGE_V2)
        .with_field("a", "p")
        .with_field("b", topic)
        .with_field("c", "TBW102")
        .with_field("d", 4)
        .with_field("e", queue)
        .with_field("f", 0)
        .with_field("g", 1_600_000_000_000_i64)
        .with_field("h", 7)
        .with_field("i", encode(properties.iter().copied()))
        .with_field("j", 0)
        .with_field("k", false)
        .with_field("m", false)
        .with_body(body.to_owned())
}

pub(crate) fn about(code: RequestCode, fields: &[(&str, &str)]) -> Command {
    fields.iter().fold(Command::request(code), |request, (name, value)| request.with_field(name, value))
}
