//! Requests of those who pop, as the client writes them, and their answers, as the client reads them.

use crate::world::World;
use evenkeel::embedded::ConnId;
use evenkeel_core::model::{Group, MessageQueue, Topic};
use evenkeel_core::wire::bodies::{Assignments, ModeSetting, RequestMode};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::pop::{CheckPoint, PoppedMessage};
use evenkeel_core::wire::reply::{PopReply, PopStatus, Reply};
use evenkeel_core::wire::request::{Pop, Popped, Request};

/// How long popped messages are hidden in tests that do not say it.
pub(crate) const MINUTE: i64 = 60_000;

/// A pop of all queues of `t` by `g`, from the first message on, that is not held.
pub(crate) fn pop() -> Pop {
    Pop {
        group: Group::from("g"),
        queue: MessageQueue::new("t", "embedded-a", -1),
        max_messages: 32,
        invisible_ms: MINUTE,
        suspend_ms: 0,
        born: 0,
        from_end: false,
        expression_type: "TAG".into(),
        expression: "*".into(),
    }
}

pub(crate) fn held() -> Pop {
    Pop { suspend_ms: 15_000, ..pop() }
}

pub(crate) fn mode(group: &str, topic: &str, mode: RequestMode, share: i32) -> Request {
    let (group, topic) = (Group::from(group), Topic::from(topic));
    Request::SetRequestMode(ModeSetting { group, topic, mode, share })
}

pub(crate) fn read_pop(pop: &Pop, answer: Command) -> PopReply {
    match Reply::parse(&Request::Pop(pop.clone()), answer) {
        Ok(Reply::Popped(reply)) => reply,
        other => panic!("no answer to a pop: {other:?}"),
    }
}

impl World {
    /// The answer to a request that must succeed.
    pub(crate) fn call(&mut self, conn: ConnId, request: &Request) -> Reply {
        let answer = self.ask(conn, request.to_command());
        Reply::parse(request, answer).expect("a good answer")
    }

    /// The code of the answer to a request.
    pub(crate) fn code(&mut self, conn: ConnId, request: &Request) -> ResponseCode {
        self.ask(conn, request.to_command()).response_code()
    }

    /// What a pop gets at once.
    pub(crate) fn pop(&mut self, conn: ConnId, pop: &Pop) -> Vec<PoppedMessage> {
        let answer = self.ask(conn, Request::Pop(pop.clone()).to_command());
        let reply = read_pop(pop, answer);
        assert_eq!(reply.status == PopStatus::Found, !reply.messages.is_empty());
        reply.messages
    }

    pub(crate) fn ack(&mut self, conn: ConnId, check_point: &CheckPoint) {
        self.call(conn, &Request::Ack(popped(check_point)));
    }

    /// Asks to hide a message for this long; gives its new name.
    pub(crate) fn hide(&mut self, conn: ConnId, check_point: &CheckPoint, invisible_ms: i64) -> CheckPoint {
        let request = Request::ChangeInvisible { popped: popped(check_point), invisible_ms };
        match self.call(conn, &request) {
            Reply::Hidden(Some(check_point)) => check_point,
            other => panic!("not hidden: {other:?}"),
        }
    }

    /// What a broker says is a member's.
    pub(crate) fn assigned(&mut self, conn: ConnId, query: &Request) -> Assignments {
        match self.call(conn, query) {
            Reply::Assigned(assignments) => assignments,
            other => panic!("no assignment: {other:?}"),
        }
    }

    /// How many messages of the first broker are popped and not settled.
    pub(crate) fn popped(&self) -> usize {
        self.state.snapshot(self.now).brokers[0].popped
    }

    /// What `g` has committed for a queue of `t`.
    pub(crate) fn committed(&self, queue: i32) -> Option<i64> {
        let queue = MessageQueue::new("t", "embedded-a", queue);
        self.state.snapshot(self.now).committed(&Group::from("g"), &queue)
    }
}

pub(crate) fn popped(check_point: &CheckPoint) -> Popped {
    Popped { group: Group::from("g"), topic: Topic::from("t"), check_point: check_point.clone() }
}

/// Bodies of popped messages, sorted: queues come in any order.
pub(crate) fn texts(messages: &[PoppedMessage]) -> Vec<String> {
    let mut texts: Vec<String> = messages.iter().map(text).collect();
    texts.sort();
    texts
}

pub(crate) fn text(popped: &PoppedMessage) -> String {
    String::from_utf8_lossy(&popped.message.body).into_owned()
}
