//! A member: a real consumer, its connections, and the handlers behind it.

use super::Plan;
use super::mutant::Mutant;
use evenkeel_core::allocate::{Allocate, Average, Circle, ConsistentHash};
use evenkeel_core::config::{ConsumerConfig, Limits};
use evenkeel_core::consumer::{Consumer, Delivery, Failure, Outcome};
use evenkeel_core::model::{Address, CallId, ClientId, Group, MessageQueue, QueueEpoch, Ticket};
use evenkeel_core::rng::Rng;
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::request::{ConsumeFrom, MessageModel, Request};
use evenkeel_core::wire::subscription::Filter;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The group of every world.
pub const GROUP: &str = "world";
/// The topic of every world.
pub const TOPIC: &str = "orders";
/// Tags that the group wants; the producer sends others, too.
pub const FILTER: &str = "red || green";

/// One member.
#[derive(Debug)]
pub struct Member {
    /// For logs and verdicts.
    pub name: String,
    /// The machine under test.
    pub consumer: Consumer,
    /// Connection by address.
    pub links: BTreeMap<Address, u64>,
    /// Calls that wait for an answer.
    pub calls: BTreeSet<CallId>,
    /// The newest pull of each queue.
    pub pulls: BTreeMap<MessageQueue, CallId>,
    /// When it wants to be woken.
    pub wake: Option<Instant>,
    /// It was asked to leave.
    pub leaving: bool,
    /// It said that it has stopped.
    pub stopped: bool,
    /// It was killed.
    pub dead: bool,
    /// Limits it has to keep.
    pub limits: Limits,
    deliveries: BTreeMap<Ticket, Delivery>,
    newest: BTreeMap<MessageQueue, QueueEpoch>,
}

impl Member {
    /// A member that has not started.
    pub fn new(index: usize, plan: &Plan, seed: u64, now: Instant) -> Self {
        let limits = Limits {
            pull_batch: 8,
            queue_messages_max: 24,
            concurrency: 4,
            exclusive_handover: plan.exclusive_handover,
            max_retries: if plan.orderly && plan.seed.is_multiple_of(2) { 1 } else { -1 },
            batch_max: 1 + u32::try_from(plan.seed % 3).unwrap_or(0),
            ..Limits::default()
        };
        let strategy: Arc<dyn Allocate> = match plan.seed % 4 {
            0 | 1 => Arc::new(Average),
            2 => Arc::new(Circle),
            _ => Arc::new(ConsistentHash::default()),
        };
        let subscription = Filter::Tags(FILTER.into()).subscribe(TOPIC.into()).expect("a legal expression");
        let config = ConsumerConfig {
            group: Group::from(GROUP),
            namespace: String::new(),
            client: ClientId::from(format!("10.0.0.{}@{index}#{seed}", seed % 200)),
            name_servers: vec!["ns:9876".into()],
            subscriptions: vec![subscription],
            strategy,
            model: MessageModel::Clustering,
            orderly: plan.orderly,
            start_from: ConsumeFrom::First,
            limits: limits.clone(),
        };
        Self {
            name: format!("m{index}"),
            consumer: Consumer::new(config, seed, now).expect("a legal configuration"),
            links: BTreeMap::new(),
            calls: BTreeSet::new(),
            pulls: BTreeMap::new(),
            wake: None,
            leaving: false,
            stopped: false,
            dead: false,
            limits,
            deliveries: BTreeMap::new(),
            newest: BTreeMap::new(),
        }
    }

    /// Whether it is a member that stays.
    pub fn is_in(&self) -> bool {
        !self.dead && !self.leaving
    }

    /// Whether a call still waits.
    pub fn waits_for(&self, call: CallId) -> bool {
        self.calls.contains(&call)
    }

    /// Its handlers got something.
    pub fn deliver(&mut self, delivery: Delivery) {
        self.newest.insert(delivery.queue.clone(), delivery.ticket.epoch);
        self.deliveries.insert(delivery.ticket, delivery);
    }

    /// What a handler has finished with.
    pub fn handled(&mut self, ticket: Ticket) -> Option<Delivery> {
        self.deliveries.remove(&ticket)
    }

    /// [`Mutant::IgnoredEpoch`]: the outcome is taken for one of the queue's present life.
    pub fn mutate_ticket(&self, mutant: Option<Mutant>, ticket: Ticket, queue: &MessageQueue) -> Ticket {
        match (mutant, self.newest.get(queue)) {
            (Some(Mutant::IgnoredEpoch), Some(epoch)) => Ticket { epoch: *epoch, ..ticket },
            _ => ticket,
        }
    }

    /// [`Mutant::IgnoredEpoch`]: the answer to a pull is taken for that to the queue's newest one.
    pub fn mutate_call(&self, mutant: Option<Mutant>, call: CallId, request: &Request) -> CallId {
        match (mutant, request) {
            (Some(Mutant::IgnoredEpoch), Request::Pull(pull)) => {
                self.pulls.get(&pull.queue).copied().unwrap_or(call)
            }
            _ => call,
        }
    }
}

/// How handlers behave in this world.
#[derive(Debug)]
pub struct Handler {
    usual_ms: u64,
    slow: u64,
    fails: u64,
}

impl Handler {
    /// Chooses how well they do.
    pub fn new(rng: &mut Rng, rough: bool) -> Self {
        let mut one_of = |choices: &[u64]| rng.pick(choices).copied().unwrap_or(0);
        let usual_ms = one_of(&[1, 20, 200]);
        let slow = if rough { 400 } else { one_of(&[0, 10, 50]) };
        Self { usual_ms, slow, fails: one_of(&[0, 20, 100]) }
    }

    /// How long a handler takes, and how it ends.
    pub fn handle(&self, rng: &mut Rng, delivery: &Delivery) -> (Duration, Outcome) {
        let slow = if rng.chance(self.slow) { rng.below(8000) } else { 0 };
        let after = Duration::from_millis(1 + rng.below(self.usual_ms) + slow);
        let outcome = if rng.chance(self.fails) {
            let done = usize::try_from(rng.below(delivery.messages.len() as u64)).unwrap_or(0);
            Outcome::Retry { done, delay_level: 0, why: Failure::Asked }
        } else {
            Outcome::Done
        };
        (after, outcome)
    }
}
