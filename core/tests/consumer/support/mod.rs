//! One consumer in virtual time against a scripted cluster.
//!
//! [`Rig::advance`] jumps from one thing that can happen to the next: an answer that arrives, a deadline, the
//! consumer's own wake-up. After every input the rig looks at the rules of [`checks`], whatever the test is about.
#![allow(dead_code, reason = "every test file uses its own part of this")]

pub(crate) mod checks;
pub(crate) mod cluster;

use checks::Checks;
pub(crate) use cluster::Cluster;
use evenkeel_core::allocate::Average;
use evenkeel_core::config::{ConsumerConfig, Limits};
use evenkeel_core::consumer::{
    Consumer, Delivery, Event, Failure, Input, Outcome, Output, QueueView, Reason,
};
pub(crate) use evenkeel_core::model::{Address, CallId, ClientId, Group, MessageQueue, Ticket, Topic};
use evenkeel_core::time::{Duration, Instant, WallClock};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::message::Message;
use evenkeel_core::wire::peer::{Answer, PeerRequest};
pub(crate) use evenkeel_core::wire::reply::{CallError, Pulled, Refusal, Reply};
pub(crate) use evenkeel_core::wire::request::{Pull, Request};
use evenkeel_core::wire::subscription::{Filter, Subscription};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) const GROUP: &str = "g";
pub(crate) const ME: &str = "me";
pub(crate) const MS: Duration = Duration::from_millis(1);
pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// Wall time at the start, Unix ms.
pub(crate) const WALL: i64 = 1_700_000_000_000;

/// What a test wants to happen to a call.
pub(crate) enum Verdict {
    /// The cluster answers as clusters do.
    Usual,
    /// No answer by itself; the call's deadline goes on.
    Park,
    /// This answer, after the usual latency.
    Reply(Result<Reply, CallError>),
}

type Rule = Box<dyn FnMut(&Address, &Request) -> Verdict>;

/// A call of the consumer.
#[derive(Clone, Debug)]
pub(crate) struct Flight {
    pub(crate) call: CallId,
    pub(crate) to: Address,
    pub(crate) request: Request,
    pub(crate) sent: Instant,
    pub(crate) deadline: Instant,
    /// A pull that the test wants to answer itself.
    pub(crate) parked: bool,
}

pub(crate) struct Rig {
    pub(crate) consumer: Consumer,
    pub(crate) now: Instant,
    pub(crate) net: Cluster,
    /// Asked first about every call.
    pub(crate) rule: Rule,
    /// Calls whose end the consumer has not heard of.
    pub(crate) flights: BTreeMap<CallId, Flight>,
    /// Every call ever made.
    pub(crate) calls: Vec<Flight>,
    pub(crate) events: Vec<(Instant, Event)>,
    /// Deliveries whose outcome was not given.
    pub(crate) open: Vec<Delivery>,
    /// Every delivery ever made.
    pub(crate) deliveries: Vec<(Instant, Delivery)>,
    pub(crate) answers: Vec<(Address, i32, Answer)>,
    pub(crate) hung_up: Vec<Address>,
    /// What was written into the offset file, whether or not that failed.
    pub(crate) saves: Vec<BTreeMap<MessageQueue, i64>>,
    pub(crate) disk_full: bool,
    pub(crate) slow_disk: Option<Duration>,
    /// Handlers finish by themselves after this time.
    pub(crate) work: Option<Duration>,
    pub(crate) wake: Option<(Instant, Reason)>,
    /// What the wire and the handlers will bring, by time.
    scheduled: BTreeMap<(Instant, u64), Input>,
    sequence: u64,
    pub(crate) checks: Checks,
}

/// A configuration that subscribes to these topics.
pub(crate) fn config(topics: &[&str]) -> ConsumerConfig {
    ConsumerConfig {
        group: Group::from(GROUP),
        namespace: String::new(),
        client: ClientId::from(ME),
        name_servers: vec![Address::from("ns1:9876")],
        subscriptions: topics.iter().map(|topic| all_of(topic)).collect(),
        strategy: Arc::new(Average),
        model: Default::default(),
        orderly: false,
        start_from: Default::default(),
        limits: Limits::default(),
    }
}

pub(crate) fn all_of(topic: &str) -> Subscription {
    Filter::All.subscribe(Topic::from(topic)).expect("the filter of everything is legal")
}

/// Queue `id` of `topic` on broker `a`.
pub(crate) fn queue(topic: &str, id: i32) -> MessageQueue {
    MessageQueue::new(topic, "a", id)
}

/// The consumer's view of a queue, if it has one.
pub(crate) fn view(consumer: &Consumer, queue: &MessageQueue) -> Option<QueueView> {
    consumer.snapshot().queues.into_iter().find(|view| view.queue == *queue)
}

/// What was asked of brokers about a queue, in order.
pub(crate) fn order(rig: &Rig, from: usize, of: &MessageQueue) -> Vec<&'static str> {
    rig.sent(from, |flight| match &flight.request {
        Request::CommitOffset { queue, .. } if queue == of => Some("commit"),
        Request::Lock(set) if set.queues.contains(of) => Some("lock"),
        Request::Unlock(set) if set.queues.contains(of) => Some("unlock"),
        Request::QueryOffset { queue, .. } if queue == of => Some("look"),
        Request::Pull(pull) if pull.queue == *of => Some("pull"),
        Request::SendBack(back) if back.origin_topic == of.topic => Some("send back"),
        Request::Unregister { .. } => Some("unregister"),
        _ => None,
    })
}

/// Broker `a` wants this message consumed, and the answer under this opaque.
pub(crate) fn consume_directly(reply: i32, group: &str, message: Message) -> Input {
    let (group, broker) = (Group::from(group), Some("a".into()));
    let request = PeerRequest::ConsumeDirectly { reply, group, broker, message: Box::new(message) };
    Input::Peer { from: "a:10911".into(), request }
}

pub(crate) fn refused(request: &Request, code: ResponseCode) -> CallError {
    CallError::Refused(Refusal { request: request.code(), code, remark: "no".into() })
}

pub(crate) fn lost() -> CallError {
    CallError::LinkLost { reason: "connection reset".into() }
}

impl Rig {
    /// Started at instant 0 with seed 1; nothing has been answered yet.
    pub(crate) fn new(net: Cluster, config: ConsumerConfig) -> Self {
        Self::with_seed(net, config, 1)
    }

    /// A broadcasting consumer whose file has these offsets.
    pub(crate) fn with_offsets(
        net: Cluster,
        config: ConsumerConfig,
        table: BTreeMap<MessageQueue, i64>,
    ) -> Self {
        let mut rig = Self::new_unstarted(net, config, 1);
        rig.input(Input::LocalOffsets(table));
        rig.input(Input::Start { wall: WallClock::from_millis(WALL) });
        rig
    }

    pub(crate) fn with_seed(net: Cluster, config: ConsumerConfig, seed: u64) -> Self {
        let mut rig = Self::new_unstarted(net, config, seed);
        rig.input(Input::Start { wall: WallClock::from_millis(WALL) });
        rig
    }

    fn new_unstarted(net: Cluster, config: ConsumerConfig, seed: u64) -> Self {
        let now = Instant::ZERO;
        let consumer = Consumer::new(config, seed, now).expect("the configuration is good");
        Self {
            consumer,
            now,
            net,
            rule: Box::new(|_, _| Verdict::Usual),
            flights: BTreeMap::new(),
            calls: Vec::new(),
            events: Vec::new(),
            open: Vec::new(),
            deliveries: Vec::new(),
            answers: Vec::new(),
            hung_up: Vec::new(),
            saves: Vec::new(),
            disk_full: false,
            slow_disk: None,
            work: None,
            wake: None,
            scheduled: BTreeMap::new(),
            sequence: 0,
            checks: Checks::default(),
        }
    }

    pub(crate) fn rule(&mut self, rule: impl FnMut(&Address, &Request) -> Verdict + 'static) {
        self.rule = Box::new(rule);
    }

    pub(crate) fn usual(&mut self) {
        self.rule(|_, _| Verdict::Usual);
    }

    /// Pulls stay at the broker until the test answers them.
    pub(crate) fn hold_pulls(&mut self) {
        self.rule(
            |_, request| if matches!(request, Request::Pull(_)) { Verdict::Park } else { Verdict::Usual },
        );
    }

    /// Gives one input, drains the outputs, and checks the rules.
    pub(crate) fn input(&mut self, input: Input) {
        self.consumer.handle(self.now, input);
        self.drain();
        self.consumer.handle(self.now, Input::Tick);
        match self.consumer.poll() {
            Output::Idle { wake } => assert_eq!(wake, self.wake, "an extra tick moved the wake-up"),
            other => panic!("an extra tick had a consequence: {other:?}"),
        }
        self.checks.look_at(&self.consumer);
    }

    fn drain(&mut self) {
        loop {
            let output = self.consumer.poll();
            self.checks.output(&output);
            match output {
                Output::Call { call, to, request, deadline } => {
                    let flight = Flight { call, to, request, sent: self.now, deadline, parked: false };
                    self.calls.push(flight.clone());
                    self.flights.insert(call, flight.clone());
                    self.send(flight);
                }
                Output::Deliver(delivery) => {
                    if let Some(work) = self.work {
                        let input = Input::Outcome { ticket: delivery.ticket, outcome: Outcome::Done };
                        self.schedule(work, input);
                    }
                    self.deliveries.push((self.now, delivery.clone()));
                    self.open.push(delivery);
                }
                Output::Event(event) => self.events.push((self.now, event)),
                Output::Answer { to, opaque, answer } => self.answers.push((to, opaque, answer)),
                Output::HangUp { address } => self.hung_up.push(address),
                Output::Save { offsets } => {
                    let result = if self.disk_full { Err("disk full".into()) } else { Ok(()) };
                    self.saves.push(offsets);
                    self.schedule(self.slow_disk.unwrap_or(MS), Input::Saved { result });
                }
                Output::Idle { wake } => {
                    self.wake = wake;
                    return;
                }
            }
        }
    }

    fn send(&mut self, flight: Flight) {
        let verdict = (self.rule)(&flight.to, &flight.request);
        let result = match verdict {
            Verdict::Park => {
                self.flights.entry(flight.call).and_modify(|flight| flight.parked = true);
                return;
            }
            Verdict::Reply(result) => Some(result),
            Verdict::Usual => self.net.answer(&flight.to, &flight.request),
        };
        let Some(result) = result else { return };
        self.schedule(MS, Input::Reply { call: flight.call, result });
    }

    pub(crate) fn schedule(&mut self, after: Duration, input: Input) {
        self.sequence += 1;
        self.scheduled.insert((self.now + after, self.sequence), input);
    }

    /// Lets time pass, with everything that happens in it.
    pub(crate) fn advance(&mut self, by: Duration) {
        let until = self.now + by;
        for _ in 0..2_000_000 {
            let wire = self.scheduled.keys().next().map(|(at, _)| *at);
            let deadline = self.flights.values().map(|flight| flight.deadline).min();
            let held = self.flights.values().filter_map(|flight| self.net.hold_ends(flight)).min();
            let wake = self.wake.map(|(at, _)| at);
            let next = [wire, deadline, held, wake].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= until) else {
                self.now = until;
                return;
            };
            self.now = self.now.max(next);
            self.step();
        }
        panic!("no progress at {:?}: the consumer spins, woken for {:?}", self.now, self.wake);
    }

    fn step(&mut self) {
        if let Some(entry) = self.scheduled.first_entry().filter(|entry| entry.key().0 <= self.now) {
            match entry.remove() {
                Input::Reply { call, result } => return self.reply(call, result),
                Input::Outcome { ticket, outcome } => return self.outcome(ticket, outcome),
                input => return self.input(input),
            }
        }
        let ended =
            self.flights.values().find(|flight| self.net.hold_ends(flight).is_some_and(|at| at <= self.now));
        if let Some(flight) = ended.cloned() {
            let result = self.net.empty_pull(&flight);
            return self.reply(flight.call, Ok(result));
        }
        if let Some(flight) = self.flights.values().find(|flight| flight.deadline <= self.now).cloned() {
            let after_ms = u64::try_from((flight.deadline - flight.sent).as_millis()).unwrap_or_default();
            return self.reply(flight.call, Err(CallError::Expired { after_ms }));
        }
        self.input(Input::Tick);
    }

    /// Ends a call now; unknown if it has ended already.
    pub(crate) fn reply(&mut self, call: CallId, result: Result<Reply, CallError>) {
        if self.flights.remove(&call).is_some() {
            self.net.forget(call);
            self.checks.ended(call);
            self.input(Input::Reply { call, result });
        }
    }

    pub(crate) fn outcome(&mut self, ticket: Ticket, outcome: Outcome) {
        self.open.retain(|delivery| delivery.ticket != ticket);
        self.input(Input::Outcome { ticket, outcome });
    }

    pub(crate) fn done(&mut self, ticket: Ticket) {
        self.outcome(ticket, Outcome::Done);
    }

    /// The open delivery that begins with this offset ends well.
    pub(crate) fn finish(&mut self, queue: &MessageQueue, offset: i64) {
        let ticket = self.ticket(queue, offset);
        self.done(ticket);
    }

    pub(crate) fn fail(&mut self, queue: &MessageQueue, offset: i64) {
        let ticket = self.ticket(queue, offset);
        self.outcome(ticket, Outcome::Retry { done: 0, delay_level: 0, why: Failure::Asked });
    }

    pub(crate) fn ticket(&self, queue: &MessageQueue, offset: i64) -> Ticket {
        let is_it = |d: &&Delivery| d.queue == *queue && d.messages[0].queue_offset == offset;
        self.open
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("{queue} {offset} is not with a handler"))
            .ticket
    }

    /// All open deliveries end well, in order.
    pub(crate) fn finish_all(&mut self) {
        for delivery in std::mem::take(&mut self.open) {
            self.done(delivery.ticket);
        }
    }

    /// New messages: parked pulls of the queue are answered.
    pub(crate) fn store(&mut self, queue: &MessageQueue, count: i64) {
        let held = self.flights.values().filter(|flight| self.net.is_held(flight));
        let waiting = held.cloned().collect::<Vec<_>>();
        self.net.store(queue, count);
        for flight in waiting {
            if let Some(result) = self.net.found(&flight.request) {
                self.net.forget(flight.call);
                self.schedule(MS, Input::Reply { call: flight.call, result: Ok(result) });
            }
        }
    }

    fn peer(&mut self, request: PeerRequest) {
        self.input(Input::Peer { from: "a:10911".into(), request });
    }

    pub(crate) fn members_changed(&mut self) {
        self.peer(PeerRequest::MembersChanged { group: Group::from(GROUP) });
    }

    pub(crate) fn reset(&mut self, offsets: &[(MessageQueue, i64)]) {
        let (topic, offsets) = (offsets[0].0.topic.clone(), offsets.iter().cloned().collect());
        self.peer(PeerRequest::ResetOffsets { group: Group::from(GROUP), topic, offsets });
    }

    pub(crate) fn stop(&mut self, grace: Duration) {
        self.input(Input::Stop { grace });
    }

    /// The pull of a queue that is in flight.
    pub(crate) fn pull(&self, queue: &MessageQueue) -> Option<(CallId, Pull)> {
        self.flights.values().find_map(|flight| match &flight.request {
            Request::Pull(pull) if pull.queue == *queue => Some((flight.call, pull.clone())),
            _ => None,
        })
    }

    pub(crate) fn answer_pull(&mut self, queue: &MessageQueue, result: Result<Pulled, CallError>) {
        let (call, _) = self.pull(queue).unwrap_or_else(|| panic!("no pull of {queue} is in flight"));
        self.reply(call, result.map(Reply::Pulled));
    }

    /// Offsets of all pulls of a queue so far.
    pub(crate) fn pulled(&self, queue: &MessageQueue) -> Vec<i64> {
        let offset = |flight: &Flight| match &flight.request {
            Request::Pull(pull) if pull.queue == *queue => Some(pull.offset),
            _ => None,
        };
        self.calls.iter().filter_map(offset).collect()
    }

    /// Offsets of all commits of a queue so far, those that travelled with pulls included.
    pub(crate) fn commits(&self, queue: &MessageQueue) -> Vec<i64> {
        let offset = |flight: &Flight| match &flight.request {
            Request::CommitOffset { queue: of, offset, .. } if of == queue => Some(*offset),
            Request::Pull(pull) if pull.queue == *queue => pull.commit,
            _ => None,
        };
        self.calls.iter().filter_map(offset).collect()
    }

    /// What `take` finds in the calls since `from`, an earlier length of [`Rig::calls`].
    pub(crate) fn sent<T>(&self, from: usize, take: impl Fn(&Flight) -> Option<T>) -> Vec<T> {
        self.calls[from..].iter().filter_map(take).collect()
    }

    /// Offsets handed out of a queue, in order.
    pub(crate) fn delivered(&self, queue: &MessageQueue) -> Vec<i64> {
        let of_queue = self.deliveries.iter().filter(|(_, d)| d.queue == *queue);
        of_queue.flat_map(|(_, d)| d.messages.iter().map(|m| m.queue_offset)).collect()
    }

    pub(crate) fn view(&self, queue: &MessageQueue) -> QueueView {
        view(&self.consumer, queue).unwrap_or_else(|| panic!("{queue} is not ours"))
    }

    /// Ids of the queues of a topic that are ours and fetching.
    pub(crate) fn fetching(&self, topic: &str) -> Vec<i32> {
        let queues = self.consumer.snapshot().queues;
        let ours =
            queues.iter().filter(|view| view.queue.topic.as_str() == topic && view.phase == "fetching");
        ours.map(|view| view.queue.id).collect()
    }

    pub(crate) fn saw(&self, is_it: impl Fn(&Event) -> bool) -> usize {
        self.events.iter().filter(|(_, event)| is_it(event)).count()
    }
}
