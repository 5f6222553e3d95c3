//! The network: what is under way, how long it takes, and what goes wrong.

use super::Plan;
use evenkeel_core::consumer::Outcome;
use evenkeel_core::model::{Address, CallId, Ticket};
use evenkeel_core::rng::Rng;
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::request::Request;
use std::collections::BTreeMap;

/// Something that will happen.
#[derive(Clone, Debug)]
pub enum Happening {
    /// A new member joins.
    Join,
    /// A random member leaves in good order.
    Leave,
    /// A random member vanishes.
    Kill,
    /// A random connection breaks.
    Cut,
    /// The producer sends a message.
    Produce {
        /// Its number.
        number: u64,
    },
    /// A member's command arrives at its server.
    ToServer {
        /// Over which connection.
        conn: u64,
        /// What.
        command: Command,
        /// The request it was made from.
        request: Option<Request>,
    },
    /// A server's command arrives at its member.
    ToMember {
        /// Over which connection.
        conn: u64,
        /// What.
        command: Command,
    },
    /// A call's deadline.
    Expire {
        /// Whose.
        member: usize,
        /// Which.
        call: CallId,
        /// Under which number it travelled.
        opaque: i32,
        /// Over which connection.
        conn: u64,
    },
    /// A handler has finished.
    Outcome {
        /// Whose.
        member: usize,
        /// With what.
        ticket: Ticket,
        /// How.
        outcome: Outcome,
    },
    /// A member asked to be woken.
    MemberWake {
        /// Who.
        member: usize,
        /// When; a later wish makes this one void.
        at: Instant,
    },
    /// The servers asked to be woken.
    ServerWake {
        /// When; a later wish makes this one void.
        at: Instant,
    },
}

/// What will happen, in order of time and then of planning.
#[derive(Debug, Default)]
pub struct Timeline {
    events: BTreeMap<(Instant, u64), Happening>,
    last: u64,
}

impl Timeline {
    /// Plans something.
    pub fn add(&mut self, at: Instant, happening: Happening) {
        self.last += 1;
        self.events.insert((at, self.last), happening);
    }

    /// Takes the next event at or before `until`.
    pub fn next_before(&mut self, until: Instant) -> Option<(Instant, Happening)> {
        if self.events.first_key_value()?.0.0 > until {
            return None;
        }
        self.events.pop_first().map(|((at, _), happening)| (at, happening))
    }
}

/// One connection of a member to a server.
#[derive(Debug)]
pub struct Conn {
    /// Whose.
    pub member: usize,
    /// To whom.
    pub address: Address,
    /// Last number used.
    pub last_opaque: i32,
    /// Calls without an answer.
    pub calls: BTreeMap<i32, (CallId, Request)>,
    /// Nothing sent later arrives earlier.
    last_arrival: Instant,
}

impl Conn {
    /// A fresh connection.
    pub fn new(member: usize, address: Address) -> Self {
        Self { member, address, last_opaque: 0, calls: BTreeMap::new(), last_arrival: Instant::ZERO }
    }

    /// Whether a message is on its way back to the broker.
    pub fn sends_back(&self) -> bool {
        self.calls.values().any(|(_, request)| matches!(request, Request::SendBack(_)))
    }

    /// Whether this is the answer to a send-back.
    pub fn awaits_send_back(&self, answer: &Command) -> bool {
        let call = answer.opaque.filter(|_| answer.is_response()).and_then(|opaque| self.calls.get(&opaque));
        matches!(call, Some((_, Request::SendBack(_))))
    }

    /// When something that is due at `at` arrives, without overtaking.
    pub fn arrival(&mut self, at: Instant) -> Instant {
        self.last_arrival = self.last_arrival.max(at);
        self.last_arrival
    }
}

/// What goes wrong, and until when. Probabilities are per mille.
#[derive(Debug)]
pub struct Faults {
    until: Instant,
    lost_notice: u64,
    slow: u64,
    lost_reply: u64,
    refused: u64,
    latency_us: u64,
}

impl Faults {
    /// Chooses how bad it is.
    pub fn new(rng: &mut Rng, until: Instant) -> Self {
        let mut one_of = |choices: &[u64]| rng.pick(choices).copied().unwrap_or(0);
        Self {
            until,
            lost_notice: one_of(&[0, 100, 500, 1000]),
            slow: one_of(&[0, 5, 50]),
            lost_reply: one_of(&[0, 2, 20]),
            refused: one_of(&[0, 5, 50]),
            latency_us: one_of(&[50, 500, 5000, 50_000]),
        }
    }

    /// Who comes, goes and breaks, and when.
    pub fn menu(&self, rng: &mut Rng, plan: &Plan) -> Vec<(Instant, Happening)> {
        let changes = if plan.rough { 30 } else { 2 + rng.below(10) };
        (0..changes)
            .map(|_| {
                let at = Instant::from_millis(500 + rng.below(plan.trouble.as_millis() as u64));
                let happening = match rng.below(10) {
                    0..=3 => Happening::Join,
                    4..=5 => Happening::Leave,
                    6..=7 if plan.graceful => Happening::Leave,
                    6..=7 => Happening::Kill,
                    _ => Happening::Cut,
                };
                (at, happening)
            })
            .collect()
    }

    /// How long a command is under way.
    pub fn latency(&self, rng: &mut Rng) -> Duration {
        Duration::from_micros(self.latency_us / 2 + rng.below(self.latency_us))
    }

    /// What becomes of a server's command: how long it takes and what arrives, or nothing.
    pub fn fate(
        &self,
        rng: &mut Rng,
        now: Instant,
        command: Command,
        spared: bool,
    ) -> Option<(Duration, Command)> {
        let latency = self.latency(rng);
        if now >= self.until || spared {
            return Some((latency, command));
        }
        if !command.is_response() {
            let notice = command.request_code() == RequestCode::NOTIFY_CONSUMER_IDS_CHANGED;
            return if notice && rng.chance(self.lost_notice) { None } else { Some((latency, command)) };
        }
        if rng.chance(self.lost_reply) {
            return None;
        }
        if rng.chance(self.refused) {
            let refusal = Command::response(ResponseCode::SYSTEM_BUSY, command.opaque).with_remark("planted");
            return Some((latency, refusal));
        }
        let slow = Duration::from_millis(if rng.chance(self.slow) { rng.below(12_000) } else { 0 });
        Some((latency + slow, command))
    }
}
