//! Watches a consumer come up, so that `start` can say why it does not.

use crate::error::{Error, ErrorKind};
use evenkeel_core::consumer::io::Common;
use evenkeel_core::model::{Address, CallId, ClientId, Topic};
use evenkeel_core::time::Instant;
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::reply::{CallError, Reply};
use evenkeel_core::wire::request::Request;
use std::collections::BTreeMap;
use std::time::Duration;

/// Failed tries to get a connection after which a start gives up, if each name server was among them.
const TRIES: u32 = 3;
/// Time after which a start gives up in any case.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// What is known about the start so far.
#[derive(Debug)]
pub(crate) struct Opening {
    began: Instant,
    /// Where the addresses came from, in words, for the error.
    origin: String,
    tries: BTreeMap<Address, Tries>,
    /// Brokers that a call failed at since they last answered.
    failing: BTreeMap<Address, Tries>,
    /// Whether any name server has answered.
    answered: bool,
    /// Whether the machine's first round is over.
    ready: bool,
    calls: BTreeMap<CallId, Called>,
    /// Calls that went out so far.
    called: u64,
}

/// A call that has not ended.
#[derive(Debug)]
struct Called {
    to: Address,
    about: About,
    /// How many went out before it.
    before: u64,
}

/// Failed tries to get a connection to one address.
#[derive(Debug, Default)]
struct Tries {
    /// How many in a row failed in the same way: either all were refused, or none.
    count: u32,
    last: String,
    /// What to do, if the last failure was a refusal of how the connection is secured.
    advice: Option<&'static str>,
    /// How many calls to whatever address had gone out when the last try failed.
    called: u64,
}

impl Tries {
    /// A call has failed that went out after `before` others; `called` have gone out by now. Calls that went out before
    /// a try failed have waited for that try, and are no tries of their own.
    fn fail(&mut self, error: &CallError, before: u64, called: u64) {
        if before < self.called {
            return;
        }
        let advice = match error {
            CallError::LinkRefused { advice, .. } => Some(*advice),
            _ => None,
        };
        // A server that was away and now refuses us may be coming up: what it does then has to be seen anew.
        let count = if advice.is_some() == self.advice.is_some() { self.count + 1 } else { 1 };
        *self = Self { count, last: error.to_string(), advice, called };
    }

    /// What to do, if the address has refused us so often that it will not change its mind.
    fn refusal(&self) -> Option<&'static str> {
        self.advice.filter(|_| self.count >= TRIES)
    }

    /// Whether the last try was refused, but it is too early to say that the next one will be.
    fn may_change(&self) -> bool {
        self.advice.is_some() && self.refusal().is_none()
    }

    /// The last failure without the address, and how many there were.
    fn told(&self, address: &Address) -> String {
        let Self { count, last, .. } = self;
        let told =
            last.strip_prefix(address.as_str()).map_or(last.as_str(), |rest| rest.trim_start_matches(": "));
        let told = if told.is_empty() { "no answer" } else { told };
        format!("{told} after {count} {}", if *count == 1 { "try" } else { "tries" })
    }
}

#[derive(Debug)]
enum About {
    Route(Topic),
    Heartbeat,
    /// Whether a broker can evaluate the filter of a topic.
    Check(Topic),
    Other,
}

impl Opening {
    pub(crate) fn new(began: Instant, name_servers: &[Address], origin: String) -> Self {
        let tries = name_servers.iter().map(|address| (address.clone(), Tries::default())).collect();
        let (failing, calls) = (BTreeMap::new(), BTreeMap::new());
        Self { began, origin, tries, failing, answered: false, ready: false, calls, called: 0 }
    }

    /// A call goes out.
    pub(crate) fn called(&mut self, call: CallId, to: &Address, request: &Request) {
        let about = match request {
            Request::Route { topic } => About::Route(topic.clone()),
            Request::Heartbeat(_) => About::Heartbeat,
            Request::CheckSubscription { subscription, .. } => {
                About::Check(subscription.subscription.topic.clone())
            }
            _ => About::Other,
        };
        self.calls.insert(call, Called { to: to.clone(), about, before: self.called });
        self.called += 1;
    }

    /// A call has ended. Tells whether that ends the start as well, and how.
    pub(crate) fn replied(
        &mut self,
        now: Instant,
        call: CallId,
        result: &Result<Reply, CallError>,
    ) -> Option<Error> {
        let Called { to, about, before } = self.calls.remove(&call)?;
        match result {
            Err(CallError::LinkLost { .. } | CallError::LinkRefused { .. } | CallError::Expired { .. }) => {}
            _ => self.answered |= self.tries.contains_key(&to),
        }
        if matches!(result, Ok(_) | Err(CallError::Refused(_))) {
            self.failing.remove(&to);
        }
        match (result, about) {
            (Err(error @ CallError::Refused(refusal)), about) => match (refusal.code, about) {
                _ if refusal.denies_access() => Some(Error::call("join", to.as_str(), error.clone())),
                (ResponseCode::TOPIC_NOT_EXIST, About::Route(topic)) if !topic.is_retry() => {
                    Some(Error::call(&format!("find topic {topic}"), to.as_str(), error.clone()))
                }
                (ResponseCode::SUBSCRIPTION_PARSE_FAILED, About::Check(topic)) => Some(
                    Error::call(&format!("use the filter of {topic}"), to.as_str(), error.clone())
                        .with_hint("the broker cannot read it; it is SQL-92 as in \"region = 'eu' AND amount > 100\""),
                ),
                (ResponseCode::REQUEST_CODE_NOT_SUPPORTED, About::Check(_)) => None,
                (_, About::Check(topic)) => Some(
                    Error::call(&format!("use the filter of {topic}"), to.as_str(), error.clone()).with_hint(
                        "SQL filters need enablePropertyFilter=true in the broker's configuration; --tag works everywhere",
                    ),
                ),
                (ResponseCode::SYSTEM_ERROR | ResponseCode::SUBSCRIPTION_PARSE_FAILED, About::Heartbeat) => {
                    Some(Error::call("register the subscription", to.as_str(), error.clone()))
                }
                _ => None,
            },
            (Err(error), _) => {
                let tries = match self.tries.get_mut(&to) {
                    Some(tries) => tries,
                    None => self.failing.entry(to.clone()).or_default(),
                };
                tries.fail(error, before, self.called);
                // A broker that wants another security than the name servers will not change its mind. Which name
                // server will do is seen below.
                if tries.refusal().is_some() && !self.tries.contains_key(&to) {
                    return Some(Error::call("join", to.as_str(), error.clone()));
                }
                let enough = self.tries.values().all(|tries| tries.count > 0)
                    && self.tries.values().map(|tries| tries.count).sum::<u32>() >= TRIES
                    && !self.tries.values().any(Tries::may_change);
                (enough && !self.answered).then(|| self.unreachable(now))
            }
            (Ok(_), _) => None,
        }
    }

    /// The machine's first round is over, whatever came of it.
    pub(crate) fn first_round_is_over(&mut self) {
        self.ready = true;
    }

    /// Whether the start has succeeded: a round without any name server does not count.
    pub(crate) fn succeeded(&self) -> bool {
        self.answered && self.ready
    }

    /// Whether the start has taken too long.
    pub(crate) fn overdue(&self, now: Instant) -> Option<Error> {
        if now.since(self.began) < PATIENCE {
            return None;
        }
        if !self.answered {
            return Some(self.unreachable(now));
        }
        let mut text =
            format!("a name server answered, but there was no first assignment within {PATIENCE:?}");
        for (address, tries) in &self.failing {
            text.push_str(&format!("\nbroker {address}: {}", tries.told(address)));
        }
        Some(
            Error::new(ErrorKind::TimedOut, text).with_hint(
                "can the brokers' addresses be reached from here? `evenkeel route TOPIC` shows them",
            ),
        )
    }

    fn unreachable(&self, now: Instant) -> Error {
        let mut text = "cannot reach a name server".to_owned();
        let seconds = now.since(self.began).as_secs_f64();
        for (address, tries) in &self.tries {
            let told = tries.told(address);
            text.push_str(&format!("\ntried {address} ({}): {told}, {seconds:.1} s", self.origin));
        }
        // One that is there and refuses us says more than others that are away.
        if let Some(advice) = self.tries.values().find_map(Tries::refusal) {
            return Error::new(ErrorKind::Refused, text).with_hint(advice);
        }
        let advice = self.tries.values().find_map(|tries| tries.advice);
        Error::new(ErrorKind::Unreachable, text)
            .with_hint(advice.unwrap_or("9876 is the usual port of a name server"))
    }
}

/// The machine has left the group again because of who is in it.
pub(crate) fn foreign_members(common: Common, members: &[(ClientId, String)]) -> Error {
    let mut text = format!("only Evenkeel knows {}, and not every member of the group has it", common.name());
    for (client, what) in members {
        text.push_str(&format!("\n{client}: {what}"));
    }
    let without = match common {
        Common::Strategy => "choose a strategy that all have (--strategy avg)",
        Common::Handover => "leave exclusive_handover off",
        Common::StrategyAndHandover => {
            "choose a strategy that all have (--strategy avg) and leave exclusive_handover off"
        }
    };
    Error::config(text).with_hint(format!(
        "{}: stop the other members first, {without}, or accept it with -X foreign_members=warn",
        common.consequence()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_core::wire::code::RequestCode;
    use evenkeel_core::wire::reply::{Refusal, TopicRoute};

    fn lost() -> Result<Reply, CallError> {
        Err(CallError::LinkLost { reason: "mq:1: connection refused".into() })
    }

    fn refused() -> Result<Reply, CallError> {
        Err(CallError::LinkRefused { reason: "mq:2: TLS: hung up".into(), advice: "leave --tls away" })
    }

    fn opening(servers: &[&str]) -> Opening {
        let servers: Vec<Address> = servers.iter().map(|text| Address::from(*text)).collect();
        Opening::new(Instant::ZERO, &servers, "builder".into())
    }

    fn try_once(
        opening: &mut Opening,
        id: u64,
        to: &str,
        result: &Result<Reply, CallError>,
    ) -> Option<Error> {
        opening.called(CallId(id), &Address::from(to), &Request::Route { topic: Topic::from("orders") });
        opening.replied(Instant::from_millis(2100), CallId(id), result)
    }

    #[test]
    fn three_refused_connections_end_the_start() {
        let mut opening = opening(&["mq:1"]);
        assert!(try_once(&mut opening, 1, "mq:1", &lost()).is_none());
        assert!(try_once(&mut opening, 2, "mq:1", &lost()).is_none());
        let error = try_once(&mut opening, 3, "mq:1", &lost()).unwrap();
        assert_eq!(
            format!("{error:#}"),
            "cannot reach a name server\ntried mq:1 (builder): connection refused after 3 tries, 2.1 s"
        );
    }

    #[test]
    fn one_answer_is_enough_to_go_on() {
        let mut opening = opening(&["mq:1", "mq:2"]);
        assert!(try_once(&mut opening, 1, "mq:2", &Ok(Reply::Route(TopicRoute::default()))).is_none());
        for id in 2..9 {
            assert!(try_once(&mut opening, id, "mq:1", &lost()).is_none());
        }
    }

    #[test]
    fn a_broker_that_is_refused_three_times_ends_the_start() {
        let mut opening = opening(&["mq:1"]);
        assert!(try_once(&mut opening, 1, "mq:2", &refused()).is_none());
        assert!(try_once(&mut opening, 2, "mq:2", &refused()).is_none());
        assert_eq!(try_once(&mut opening, 3, "mq:2", &refused()).unwrap().kind(), ErrorKind::Refused);
    }

    /// A server that comes up takes connections before it can do anything with them.
    #[test]
    fn one_refusal_after_other_failures_does_not_end_the_start() {
        for server in ["mq:1", "mq:2"] {
            let mut opening = opening(&["mq:1"]);
            let results = [lost(), lost(), refused(), refused(), lost(), refused(), refused()];
            for (id, result) in (1..).zip(&results) {
                assert!(try_once(&mut opening, id, server, result).is_none(), "{server}, {id}");
            }
            assert_eq!(try_once(&mut opening, 8, server, &refused()).unwrap().kind(), ErrorKind::Refused);
        }
    }

    #[test]
    fn an_answer_of_any_kind_makes_refusals_begin_anew() {
        let mut opening = opening(&["mq:1"]);
        let code = ResponseCode::REQUEST_CODE_NOT_SUPPORTED;
        let refusal = Refusal { request: RequestCode::CHECK_CLIENT_CONFIG, code, remark: "no".into() };
        let answered = Err(refusal.into());
        let results = [refused(), refused(), answered, refused(), refused()];
        for (id, result) in (1..).zip(&results) {
            assert!(try_once(&mut opening, id, "mq:2", result).is_none(), "{id}");
        }
    }

    #[test]
    fn calls_that_wait_for_one_connection_are_one_try() {
        for server in ["mq:1", "mq:2"] {
            let (mut opening, request) =
                (opening(&["mq:1"]), Request::Route { topic: Topic::from("orders") });
            for round in 0..2 {
                for id in 0..3 {
                    opening.called(CallId(3 * round + id), &Address::from(server), &request);
                }
                for id in 0..3 {
                    let now = Instant::from_millis(100 * round + id);
                    let error = opening.replied(now, CallId(3 * round + id), &refused());
                    assert!(error.is_none(), "{server}, {round}, {id}");
                }
            }
            assert!(try_once(&mut opening, 9, server, &refused()).is_some(), "{server}");
        }
    }

    #[test]
    fn a_name_server_that_refuses_us_once_in_the_end_is_not_the_callers_mistake() {
        let mut opening = opening(&["mq:1"]);
        try_once(&mut opening, 1, "mq:1", &lost());
        try_once(&mut opening, 2, "mq:1", &refused());
        let error = opening.overdue(Instant::ZERO + PATIENCE).unwrap();
        assert_eq!(error.kind(), ErrorKind::Unreachable);
        assert_eq!(error.hint(), Some("leave --tls away"));
    }

    /// One that is there and refuses us says more than another that is away.
    #[test]
    fn a_name_server_that_refuses_us_is_told_of_beside_one_that_is_away() {
        let mut opening = opening(&["mq:1", "mq:2"]);
        for id in 0..5 {
            let (server, result) = if id % 2 == 0 { ("mq:2", refused()) } else { ("mq:1", lost()) };
            let error = try_once(&mut opening, id, server, &result);
            assert_eq!(error.map(|error| error.kind()), (id == 4).then_some(ErrorKind::Refused), "{id}");
        }
    }

    #[test]
    fn an_unknown_topic_ends_the_start() {
        let refusal = Refusal {
            request: RequestCode::GET_ROUTEINFO_BY_TOPIC,
            code: ResponseCode::TOPIC_NOT_EXIST,
            remark: "no".into(),
        };
        let error = try_once(&mut opening(&["mq:1"]), 1, "mq:1", &Err(refusal.into())).unwrap();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("orders"));
    }
}
