//! Whole groups in virtual time: real consumers (core), real brokers (the embedded broker's pure state), and between them
//! a network, handlers and a clock that one seed decides.
//!
//! Nothing sleeps and nothing is threaded, so a minute of a group's life takes milliseconds and a failure can be run
//! again from its seed: `EVENKEEL_SEED=42 cargo test -p evenkeel-tests --test world one_seed -- --nocapture`.
//!
//! A run has three parts: trouble (joins, leaves, kills, cut connections, lost notices, slow and refused calls) while a
//! producer sends; quiet, in which the group must settle; and the reckoning by [`oracle::Oracle`].

pub mod member;
pub mod mutant;
pub mod network;
pub mod oracle;
pub mod servers;

use evenkeel_core::consumer::{Event, Input, Outcome, Output};
use evenkeel_core::model::{Address, CallId, Ticket};
use evenkeel_core::rng::Rng;
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::peer::PeerRequest;
use evenkeel_core::wire::reply::{CallError, Reply};
use evenkeel_core::wire::request::Request;
use member::{Handler, Member};
use mutant::Mutant;
use network::{Conn, Faults, Happening, Timeline};
use oracle::{Oracle, Verdict};
use servers::Servers;
use std::collections::BTreeMap;

/// What a run is made of. Everything else follows from the seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Decides everything that is not written here.
    pub seed: u64,
    /// How long trouble lasts.
    pub trouble: Duration,
    /// Messages sent during trouble.
    pub messages: u64,
    /// Queues of the topic on each broker.
    pub queues: i32,
    /// Brokers.
    pub brokers: usize,
    /// Members at the start.
    pub members: usize,
    /// Slow handlers and a group that hardly ever stands still: queues come back with work of their last life undone.
    pub rough: bool,
    /// Queues are worked on under their locks, one delivery at a time.
    pub orderly: bool,
    /// Members hand their queues over exclusively.
    pub exclusive_handover: bool,
    /// Nobody is killed, and the answer to a send-back is never lost. All else goes wrong as ever.
    pub graceful: bool,
    /// A fault planted into every member, to see the oracle find it.
    pub mutant: Option<Mutant>,
    /// Whether to keep the log as text (its hash is always kept).
    pub keep_log: bool,
}

impl Plan {
    /// The usual run of a seed.
    pub fn of(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x50_4c_41_4e);
        Self {
            seed,
            trouble: Duration::from_secs(30 + rng.below(60)),
            messages: 100 + rng.below(400),
            queues: 1 + i32::try_from(rng.below(8)).unwrap_or(1),
            brokers: 1 + usize::try_from(rng.below(3)).unwrap_or(0),
            members: 1 + usize::try_from(rng.below(4)).unwrap_or(0),
            rough: false,
            orderly: false,
            exclusive_handover: false,
            graceful: false,
            mutant: None,
            keep_log: false,
        }
    }
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the oracle found, in order; empty if all is well.
    pub verdicts: Vec<Verdict>,
    /// Hash over the whole log.
    pub hash: u64,
    /// The log, if it was to be kept.
    pub log: Vec<String>,
    /// Messages sent.
    pub sent: u64,
    /// Completions beyond the first of a message.
    pub duplicates: u64,
    /// Events handled.
    pub steps: u64,
}

/// How long a group may take to settle after trouble: two periodic rounds, one heartbeat, one call.
const SETTLE: Duration = Duration::from_secs(2 * 20 + 30 + 5);
/// How long retries may take after that.
const FINISH: Duration = Duration::from_secs(300);
/// A run that needs more steps than this spins.
const MOST_STEPS: u64 = 2_000_000;

/// Runs a plan to its end.
pub fn run(plan: &Plan) -> Report {
    let mut world = World::new(plan.clone());
    world.run();
    world.report()
}

struct World {
    plan: Plan,
    rng: Rng,
    now: Instant,
    timeline: Timeline,
    faults: Faults,
    servers: Servers,
    members: Vec<Member>,
    conns: BTreeMap<u64, Conn>,
    last_conn: u64,
    handler: Handler,
    oracle: Oracle,
    log: Log,
    steps: u64,
}

impl World {
    fn new(plan: Plan) -> Self {
        let mut rng = Rng::new(plan.seed);
        let servers = Servers::new(&plan, rng.next_u64());
        let handler = Handler::new(&mut rng, plan.rough);
        let faults = Faults::new(&mut rng, Instant::ZERO + plan.trouble);
        let log = Log { keep: plan.keep_log, ..Log::default() };
        let oracle = Oracle::new(&plan);
        Self {
            plan,
            rng,
            now: Instant::ZERO,
            timeline: Timeline::default(),
            faults,
            servers,
            members: Vec::new(),
            conns: BTreeMap::new(),
            last_conn: 0,
            handler,
            oracle,
            log,
            steps: 0,
        }
    }

    fn run(&mut self) {
        for _ in 0..self.plan.members {
            self.timeline.add(self.now, Happening::Join);
        }
        let end = Instant::ZERO + self.plan.trouble;
        for number in 0..self.plan.messages {
            let at = Instant::from_millis(self.rng.below(self.plan.trouble.as_millis() as u64));
            self.timeline.add(at, Happening::Produce { number });
        }
        for (at, happening) in self.faults.menu(&mut self.rng, &self.plan) {
            self.timeline.add(at, happening);
        }
        self.run_until(end + SETTLE);
        let live: Vec<&Member> = self.members.iter().filter(|member| member.is_in()).collect();
        self.oracle.check_owners(&live, self.servers.queues());
        // What failed comes again after its delay; give it time, but not for ever.
        let last = self.now + FINISH;
        while self.now < last && !self.oracle.all_done() {
            let until = self.now + Duration::from_secs(5);
            self.run_until(until);
        }
        self.oracle.check_all_done();
        self.oracle.check_none_twice();
        for index in 0..self.members.len() {
            self.leave(index);
        }
        self.run_until(self.now + Duration::from_secs(40));
        self.oracle.check_stopped(&self.members);
    }

    fn run_until(&mut self, until: Instant) {
        while let Some((at, happening)) = self.timeline.next_before(until) {
            self.now = self.now.max(at);
            self.steps += 1;
            if self.steps > MOST_STEPS {
                self.oracle.fail(self.now, format!("spins: {happening:?}"));
                return;
            }
            self.happen(happening);
        }
        self.now = self.now.max(until);
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Join => self.join(),
            Happening::Leave => {
                if let Some(index) = self.someone() {
                    self.leave(index);
                }
            }
            Happening::Kill => {
                if let Some(index) = self.someone() {
                    self.kill(index);
                }
            }
            Happening::Cut => {
                let spared = |conn: &Conn| self.plan.graceful && conn.sends_back();
                let conns: Vec<u64> =
                    self.conns.iter().filter(|(_, conn)| !spared(conn)).map(|(id, _)| *id).collect();
                if let Some(conn) = self.rng.pick(&conns).copied() {
                    self.cut(conn, "cut");
                }
            }
            Happening::Produce { number } => {
                let stored = self.servers.produce(&mut self.rng, &mut self.oracle, self.now, number);
                self.log.line(self.now, || format!("produce {number}: {stored}"));
                self.drain_servers();
            }
            Happening::ToServer { conn, command, request } => {
                if self.conns.contains_key(&conn) {
                    if let Some(request) = &request {
                        let member = &self.members[self.conns[&conn].member];
                        self.oracle.on_request(self.now, &member.name, request);
                    }
                    self.servers.handle(self.now, conn, command);
                    self.drain_servers();
                }
            }
            Happening::ToMember { conn, command } => self.arrive_at_member(conn, command),
            Happening::Expire { member, call, opaque, conn } => {
                if let Some(conn) = self.conns.get_mut(&conn) {
                    conn.calls.remove(&opaque);
                }
                // Harmless if the answer came: the consumer knows the call no more.
                if self.members[member].waits_for(call) {
                    self.reply(member, call, Err(CallError::Expired { after_ms: 0 }));
                }
            }
            Happening::Outcome { member, ticket, outcome } => self.outcome(member, ticket, outcome),
            Happening::MemberWake { member, at } => {
                if self.members[member].wake == Some(at) {
                    self.feed(member, Input::Tick);
                }
            }
            Happening::ServerWake { at } => {
                if self.servers.wake == Some(at) {
                    self.servers.tick(self.now);
                    self.drain_servers();
                }
            }
        }
    }

    fn join(&mut self) {
        let index = self.members.len();
        let member = Member::new(index, &self.plan, self.rng.next_u64(), self.now);
        self.log.line(self.now, || format!("{} joins", member.name));
        self.members.push(member);
        let wall = self.servers.wall(self.now);
        self.feed(index, Input::Start { wall });
    }

    fn leave(&mut self, index: usize) {
        if self.members[index].is_in() {
            self.members[index].leaving = true;
            self.log.line(self.now, || format!("m{index} leaves"));
            // Handlers take 8 s at most; a send-back that fails then is tried again after 5 s.
            let grace = Duration::from_secs(if self.plan.graceful { 30 } else { 10 });
            self.feed(index, Input::Stop { grace });
        }
    }

    fn kill(&mut self, index: usize) {
        self.members[index].dead = true;
        self.oracle.on_kill(&self.members[index].name);
        self.log.line(self.now, || format!("m{index} is killed"));
        self.cut_all(index, "killed");
    }

    fn cut_all(&mut self, index: usize, why: &str) {
        let of_member = self.conns.iter().filter(|(_, conn)| conn.member == index);
        let conns: Vec<u64> = of_member.map(|(id, _)| *id).collect();
        for conn in conns {
            self.cut(conn, why);
        }
    }

    fn someone(&mut self) -> Option<usize> {
        let in_group: Vec<usize> =
            (0..self.members.len()).filter(|index| self.members[*index].is_in()).collect();
        // One stays, so that there is a group to speak of.
        if in_group.len() < 2 { None } else { self.rng.pick(&in_group).copied() }
    }

    /// A connection breaks: the server learns it now, the member finds out a moment later.
    fn cut(&mut self, id: u64, why: &str) {
        let Some(conn) = self.conns.remove(&id) else { return };
        self.log.line(self.now, || format!("m{} loses {} ({why})", conn.member, conn.address));
        self.servers.disconnected(self.now, id);
        self.drain_servers();
        let member = &mut self.members[conn.member];
        if member.links.get(&conn.address) == Some(&id) {
            member.links.remove(&conn.address);
        }
        if member.dead {
            return;
        }
        self.feed(conn.member, Input::Link { address: conn.address, up: false });
        for (call, _) in conn.calls.into_values() {
            self.reply(conn.member, call, Err(CallError::LinkLost { reason: why.to_string() }));
        }
    }

    fn reply(&mut self, member: usize, call: CallId, result: Result<Reply, CallError>) {
        self.members[member].calls.remove(&call);
        self.feed(member, Input::Reply { call, result });
    }

    fn outcome(&mut self, member: usize, ticket: Ticket, outcome: Outcome) {
        let Some(delivery) = self.members[member].handled(ticket) else { return };
        if self.members[member].dead {
            return;
        }
        let done = match &outcome {
            Outcome::Done => delivery.messages.len(),
            Outcome::Retry { done, .. } | Outcome::Suspend { done, .. } => *done,
            Outcome::PutBack => 0,
        };
        self.oracle.on_done(&self.members[member].name, &delivery, done);
        let ticket = self.members[member].mutate_ticket(self.plan.mutant, ticket, &delivery.queue);
        self.feed(member, Input::Outcome { ticket, outcome });
    }

    fn arrive_at_member(&mut self, id: u64, command: evenkeel_core::wire::command::Command) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let (member, address) = (conn.member, conn.address.clone());
        if command.is_response() {
            let Some((call, request)) = command.opaque.and_then(|opaque| conn.calls.remove(&opaque)) else {
                return;
            };
            let result = Reply::parse(&request, command);
            let call = self.members[member].mutate_call(self.plan.mutant, call, &request);
            let result = mutant::mutate_reply(self.plan.mutant, member, &request, result);
            self.oracle.on_reply(&request, &result);
            self.reply(member, call, result);
        } else if let Ok(request) = PeerRequest::parse(&command) {
            self.feed(member, Input::Peer { from: address, request });
        }
    }

    /// Gives one input to a member and carries out what it wants.
    fn feed(&mut self, index: usize, input: Input) {
        if self.members[index].dead {
            return;
        }
        self.log.line(self.now, || format!("m{index} < {}", brief(&input)));
        self.members[index].consumer.handle(self.now, input);
        self.drain_member(index);
        if self.rng.below(64) == 0 && !self.members[index].dead {
            // Deciding again changes nothing.
            self.members[index].consumer.handle(self.now, Input::Tick);
            match self.members[index].consumer.poll() {
                Output::Idle { .. } => {}
                other => self.oracle.fail(self.now, format!("m{index}: a second look gave {other:?}")),
            }
        }
        self.oracle.check_memory(self.now, &self.members[index]);
    }

    fn drain_member(&mut self, index: usize) {
        loop {
            let output = self.members[index].consumer.poll();
            match output {
                Output::Idle { wake } => {
                    let at = wake.map(|(at, _)| at.max(self.now));
                    if self.members[index].wake != at {
                        self.members[index].wake = at;
                        if let Some(at) = at {
                            self.timeline.add(at, Happening::MemberWake { member: index, at });
                        }
                    }
                    return;
                }
                Output::Call { call, to, request, deadline } => self.call(index, call, to, request, deadline),
                Output::Answer { to, opaque, answer } => self.answer(index, &to, answer.to_command(opaque)),
                // Members of these worlds share their queues.
                Output::Save { .. } => {}
                Output::HangUp { address } => {
                    self.log.line(self.now, || format!("m{index} hangs up on {address}"));
                    if let Some(id) = self.members[index].links.remove(&address) {
                        self.conns.remove(&id);
                        self.servers.disconnected(self.now, id);
                        self.drain_servers();
                    }
                }
                Output::Deliver(delivery) => {
                    self.log.line(self.now, || {
                        format!(
                            "m{index} > deliver {:?} {} {}",
                            delivery.ticket,
                            delivery.queue,
                            delivery.messages.len()
                        )
                    });
                    self.oracle.on_delivery(self.now, &self.members[index], &delivery);
                    let (after, outcome) = self.handler.handle(&mut self.rng, &delivery);
                    let ticket = delivery.ticket;
                    self.members[index].deliver(delivery);
                    self.timeline
                        .add(self.now + after, Happening::Outcome { member: index, ticket, outcome });
                }
                Output::Event(event) => {
                    self.log.line(self.now, || format!("m{index} > {event:?}"));
                    self.oracle.on_event(self.now, &self.members[index].name, &event);
                    if let Event::Stopped { .. } = event {
                        self.members[index].stopped = true;
                        self.oracle.on_kill(&self.members[index].name);
                        self.cut_all(index, "stopped");
                    }
                }
            }
        }
    }

    fn call(&mut self, index: usize, call: CallId, to: Address, request: Request, deadline: Instant) {
        let request = mutant::mutate_request(self.plan.mutant, &self.members[index].consumer, request);
        self.log.line(self.now, || format!("m{index} > {call:?} {to} {}", brief_request(&request)));
        let id = match self.members[index].links.get(&to) {
            Some(id) => *id,
            None => {
                self.last_conn += 1;
                let id = self.last_conn;
                self.servers.connected(id, &to);
                self.conns.insert(id, Conn::new(index, to.clone()));
                self.members[index].links.insert(to.clone(), id);
                id
            }
        };
        self.members[index].calls.insert(call);
        if let Request::Pull(pull) = &request {
            self.members[index].pulls.insert(pull.queue.clone(), call);
        }
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.last_opaque += 1;
        let opaque = conn.last_opaque;
        let mut command = request.to_command();
        command.opaque = Some(opaque);
        conn.calls.insert(opaque, (call, request.clone()));
        self.timeline.add(deadline, Happening::Expire { member: index, call, opaque, conn: id });
        let at = conn.arrival(self.now + self.faults.latency(&mut self.rng));
        self.timeline.add(at, Happening::ToServer { conn: id, command, request: Some(request) });
    }

    /// Answers a broker's request, if it can still be reached.
    fn answer(&mut self, index: usize, to: &Address, command: evenkeel_core::wire::command::Command) {
        let Some(id) = self.members[index].links.get(to).copied() else { return };
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let at = conn.arrival(self.now + self.faults.latency(&mut self.rng));
        self.timeline.add(at, Happening::ToServer { conn: id, command, request: None });
    }

    /// Carries what the servers send to the members, or loses, delays or falsifies it.
    fn drain_servers(&mut self) {
        while let Some((conn, command)) = self.servers.poll() {
            let Some(to) = self.conns.get(&conn) else { continue };
            let spared = self.plan.graceful && to.awaits_send_back(&command);
            match self.faults.fate(&mut self.rng, self.now, command, spared) {
                Some((after, command)) => {
                    self.timeline.add(self.now + after, Happening::ToMember { conn, command });
                }
                None => self.log.line(self.now, || format!("lost on conn {conn}")),
            }
        }
        if let Some(at) = self.servers.next_wake(self.now) {
            self.timeline.add(at, Happening::ServerWake { at });
        }
    }

    fn report(self) -> Report {
        Report {
            sent: self.plan.messages,
            duplicates: self.oracle.duplicates(),
            verdicts: self.oracle.into_verdicts(),
            hash: self.log.hash,
            log: self.log.lines,
            steps: self.steps,
        }
    }
}

/// Everything that happened, as a hash and, if wanted, as text.
#[derive(Debug, Default)]
struct Log {
    hash: u64,
    keep: bool,
    lines: Vec<String>,
}

impl Log {
    fn line(&mut self, now: Instant, text: impl FnOnce() -> String) {
        let line = format!("{:>12} {}", now.as_nanos() / 1000, text());
        // FNV-1a: enough to tell two logs apart.
        for byte in line.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if self.keep {
            self.lines.push(line);
        }
    }
}

fn brief(input: &Input) -> String {
    match input {
        Input::Reply { call, result: Ok(Reply::Pulled(pulled)) } => {
            format!("{call:?} pulled {:?} {} next {}", pulled.status, pulled.messages.len(), pulled.next)
        }
        other => format!("{other:?}"),
    }
}

fn brief_request(request: &Request) -> String {
    match request {
        Request::Heartbeat(_) => "heartbeat".to_string(),
        other => format!("{other:?}"),
    }
}
