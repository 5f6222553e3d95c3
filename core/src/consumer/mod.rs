//! The push consumer as one sans-IO machine.
//!
//! [`Consumer::handle`] takes one thing that happened; [`Consumer::poll`] is then called until it says
//! [`Output::Idle`]. Nothing else moves the machine: it has no clock, no sockets, no threads and no randomness but the
//! seed's. Two machines with equal settings, seeds and inputs give equal outputs.
//!
//! ```
//! use evenkeel_core::allocate::Average;
//! use evenkeel_core::config::{ConsumerConfig, Limits};
//! use evenkeel_core::consumer::{Consumer, Input, Output};
//! use evenkeel_core::model::{ClientId, Group};
//! use evenkeel_core::time::{Instant, WallClock};
//! use evenkeel_core::wire::subscription::Filter;
//!
//! let config = ConsumerConfig {
//!     group: Group::from("pay"),
//!     namespace: String::new(),
//!     client: ClientId::from("10.0.0.1@7#1"),
//!     name_servers: vec!["127.0.0.1:9876".into()],
//!     subscriptions: vec![Filter::Tags("paid || refunded".into()).subscribe("orders".into())?],
//!     strategy: std::sync::Arc::new(Average),
//!     model: Default::default(),
//!     orderly: false,
//!     start_from: Default::default(),
//!     limits: Limits::default(),
//! };
//! let mut consumer = Consumer::new(config, 1, Instant::ZERO)?;
//! consumer.handle(Instant::ZERO, Input::Start { wall: WallClock::from_millis(1_700_000_000_000) });
//! // The first thing it wants to know is the route of its topics.
//! let Output::Call { to, .. } = consumer.poll() else { panic!("a call was due") };
//! assert_eq!(to.as_str(), "127.0.0.1:9876");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Inside
//!
//! Each file owns one concern with its state. Handlers of inputs only change state; `decide` then draws the
//! consequences, in one order, and drawing them twice changes nothing.
//!
//! | file | concern |
//! |---|---|
//! | `route` | topic routes, name servers |
//! | `check` | filters that brokers evaluate |
//! | `membership` | heartbeats |
//! | `foreign` | members that do not do as we do |
//! | `rebalance` | what should be ours |
//! | `queue` | one life of a queue |
//! | `window` | its messages, the commit point |
//! | `pull` | long polling, flow control |
//! | `deliver` | handlers and their outcomes |
//! | `pop` | messages taken for a while, settled one by one |
//! | `direct` | single messages, on an operator's word |
//! | `locks` | one member of the group at a time works on a queue |
//! | `orderly` | one delivery after the other |
//! | `handover` | a queue that moves takes nothing twice with it |
//! | `offsets` | commits, resets |
//! | `broadcast` | every member has all queues, and its offsets in a file |
//! | `namespace` | names outside and inside |
//! | `control` | pause, resume, seek |
//! | `rates` | figures for operators |
//! | `shutdown` | leaving |
//! | `timers`, `calls` | what can happen later |

mod broadcast;
mod calls;
mod check;
mod control;
mod deliver;
mod direct;
mod foreign;
mod handover;
pub mod io;
mod locks;
mod membership;
mod namespace;
mod offsets;
mod orderly;
mod places;
mod pop;
mod pull;
mod queue;
mod rates;
mod rebalance;
mod route;
mod shutdown;
mod snapshot;
pub mod timers;
pub mod window;

pub use io::{Common, Delivery, Event, Failure, Input, Outcome, Output, Position, RebalanceReason, Scope};
pub use snapshot::{QueueView, Snapshot};
pub use timers::Reason;

use crate::config::{ConfigError, ConsumerConfig};
use crate::model::{Address, CallId, MessageQueue, QueueEpoch, Ticket, Topic};
use crate::rng::Rng;
use crate::time::{Duration, Instant, WallClock};
use crate::wire::peer::{Answer, PeerRequest};
use crate::wire::reply::{CallError, Reply};
use crate::wire::request::{MessageModel, Request, SubscriptionData};
use crate::wire::subscription::{Filter, Subscription};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::ToString;
use broadcast::LocalOffsets;
use calls::{Calls, Pending, Purpose};
use check::Check;
use control::Paused;
use direct::Directs;
use foreign::Foreign;
use locks::Locks;
use membership::Membership;
use pop::Pops;
use queue::{Phase, Queues};
use rates::Rates;
use rebalance::Rebalance;
use route::Routes;
use shutdown::Step;
use timers::{Timer, Timers};

/// The push consumer's state machine.
#[derive(Clone, Debug)]
pub struct Consumer {
    config: ConsumerConfig,
    rng: Rng,
    now: Instant,
    /// Wall time at [`Consumer::started`].
    wall: WallClock,
    started: Instant,
    run: Run,
    quiet: bool,
    paused: Paused,
    subscriptions: BTreeMap<Topic, Subscribed>,
    routes: Routes,
    membership: Membership,
    foreign: Foreign,
    rebalance: Rebalance,
    queues: Queues,
    pops: Pops,
    /// Queues to look at in the next `decide`.
    attention: BTreeSet<QueueEpoch>,
    /// Queues with messages to hand out, in turn.
    ready: VecDeque<QueueEpoch>,
    /// Deliveries whose outcome is awaited, those of ended lives included.
    delivered: BTreeSet<Ticket>,
    directs: Directs,
    /// Broadcasting: this member's own offsets.
    local: LocalOffsets,
    locks: Locks,
    /// Orderly: deliveries that run although they belong to no present life, and their queues.
    strays: BTreeMap<Ticket, MessageQueue>,
    calls: Calls,
    timers: Timers,
    rates: Rates,
    out: VecDeque<Output>,
    /// Replies and outcomes that came for ended lives.
    late: u64,
}

#[derive(Clone, Debug)]
struct Subscribed {
    subscription: Subscription,
    /// Unix ms of the last change.
    version: i64,
    check: Check,
}

impl Subscribed {
    /// As brokers and tools see it.
    fn data(&self) -> SubscriptionData {
        SubscriptionData {
            subscription: self.subscription.clone(),
            version: self.version,
            class_filter_mode: false,
        }
    }
}

#[derive(Clone, Debug)]
enum Run {
    New,
    Running,
    Stopping(Stopping),
    Stopped,
}

#[derive(Clone, Debug)]
struct Stopping {
    step: Step,
    deadline: Instant,
    /// Handlers that ran when the stop began.
    running: usize,
}

impl Consumer {
    /// A consumer that has not started. `seed` decides which name server and which brokers it asks first.
    ///
    /// # Errors
    /// A setting that cannot be, see [`ConsumerConfig::validate`].
    pub fn new(config: ConsumerConfig, seed: u64, now: Instant) -> Result<Self, ConfigError> {
        let config = config.within_namespace();
        config.validate()?;
        let mut rng = Rng::new(seed);
        let routes = Routes::new(config.name_servers.clone(), rng.next_u64());
        Ok(Self {
            config,
            rng,
            now,
            wall: WallClock::default(),
            started: now,
            run: Run::New,
            quiet: false,
            paused: Paused::default(),
            subscriptions: BTreeMap::new(),
            routes,
            membership: Membership::default(),
            foreign: Foreign::default(),
            rebalance: Rebalance::default(),
            queues: Queues::default(),
            pops: Pops::default(),
            attention: BTreeSet::new(),
            ready: VecDeque::new(),
            delivered: BTreeSet::new(),
            directs: Directs::default(),
            local: LocalOffsets::default(),
            locks: Locks::default(),
            strays: BTreeMap::new(),
            calls: Calls::default(),
            timers: Timers::default(),
            rates: Rates::default(),
            out: VecDeque::new(),
            late: 0,
        })
    }

    /// Takes in what happened. Never fails and never blocks: a peer that misbehaves becomes an event. Call
    /// [`Consumer::poll`] afterwards until it is idle. A spurious [`Input::Tick`] is harmless; a `now` that lies before
    /// an earlier one counts as that one.
    pub fn handle(&mut self, now: Instant, input: Input) {
        self.now = self.now.max(now);
        for timer in self.timers.due(self.now) {
            self.on_timer(timer);
        }
        match input {
            Input::LocalOffsets(table) => self.on_local_offsets(table),
            Input::Start { wall } => self.on_start(wall),
            Input::Saved { result } => self.on_saved(result),
            Input::Reply { call, result } => self.on_reply(call, result),
            Input::Peer { from, request } => self.on_peer(from, request),
            Input::Link { address, up } => self.on_link(&address, up),
            Input::Outcome { ticket, outcome } => self.on_outcome(ticket, outcome),
            Input::Subscribe { subscription } => {
                self.on_subscribe(subscription);
                self.rebalance_soon(RebalanceReason::SubscriptionChanged, None);
            }
            Input::Unsubscribe { topic } => {
                self.on_unsubscribe(&namespace::outside(&self.config.namespace, topic))
            }
            Input::Quiet(quiet) => {
                self.quiet = quiet;
                self.look_at_all_queues();
            }
            Input::Pause { scope } => self.on_pause(self.scope_outside(scope)),
            Input::Resume { scope } => self.on_resume(self.scope_outside(scope)),
            Input::Seek { queue, to } => self.on_seek(&queue, to),
            Input::NameServers(servers) => self.on_name_servers(servers),
            Input::Tick => {}
            Input::Stop { grace } => self.on_stop(grace),
        }
        self.decide();
    }

    /// The next thing to do. Call it after every [`Consumer::handle`] until it answers [`Output::Idle`].
    #[must_use]
    pub fn poll(&mut self) -> Output {
        self.out.pop_front().unwrap_or_else(|| Output::Idle { wake: self.timers.next() })
    }

    /// Whether the consumer has stopped for good.
    pub fn is_stopped(&self) -> bool {
        matches!(self.run, Run::Stopped)
    }

    fn is_running(&self) -> bool {
        matches!(self.run, Run::Running)
    }

    /// Draws the consequences of the present state, in this order: know the routes, be a member, have the right queues,
    /// move them forward, hand out messages.
    fn decide(&mut self) {
        match self.run {
            Run::New | Run::Stopped => {}
            Run::Stopping(_) => self.decide_stopping(),
            Run::Running => {
                self.decide_routes();
                self.decide_checks();
                self.decide_heartbeats();
                self.decide_foreign();
                self.decide_rebalance();
                loop {
                    self.decide_unsettled();
                    let Some(epoch) = self.attention.pop_first() else { break };
                    self.decide_queue(epoch);
                }
                self.decide_locks();
                self.decide_saving();
                self.decide_directs();
                self.decide_deliveries();
            }
        }
    }

    fn decide_queue(&mut self, epoch: QueueEpoch) {
        if self.pops.is_life(epoch) {
            return self.decide_pop(epoch);
        }
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        match life.phase {
            Phase::Locating { asking: false } if !life.waiting => self.locate(epoch),
            Phase::Locating { .. } | Phase::Closing => {}
            Phase::Fetching => {
                self.list_ready(epoch);
                self.pull(epoch);
            }
            Phase::Draining => self.decide_draining(epoch),
        }
    }

    fn on_timer(&mut self, timer: Timer) {
        match timer {
            Timer::Route(topic) => self.routes.due(&topic),
            Timer::Check(topic) => self.on_check_timer(&topic),
            Timer::Heartbeat(address) => self.membership.due(&address),
            Timer::Rebalance => self.on_rebalance_timer(),
            Timer::Commit => self.on_commit_timer(),
            Timer::Queue(epoch) => {
                if let Some(life) = self.queues.lives.get_mut(&epoch) {
                    life.waiting = false;
                    self.attention.insert(epoch);
                }
            }
            Timer::Pop(epoch) => _ = self.attention.insert(epoch),
            Timer::SendBackRetry(epoch) => self.on_send_back_retry(epoch),
            Timer::Suspended(epoch) => self.on_pause_over(epoch),
            Timer::Direct => self.on_direct_timer(),
            Timer::Drain(epoch) => self.close_queue(epoch),
            // `decide` looks.
            Timer::Locks | Timer::Shutdown => {}
        }
    }

    fn on_start(&mut self, wall: WallClock) {
        if !matches!(self.run, Run::New) {
            return;
        }
        (self.run, self.wall, self.started) = (Run::Running, wall, self.now);
        // Those that were made before there was a clock.
        for entry in self.subscriptions.values_mut() {
            entry.version = wall.as_millis();
        }
        for subscription in self.config.subscriptions.clone() {
            self.on_subscribe(subscription);
        }
        if self.config.model == MessageModel::Clustering {
            // The filter of everything is always a legal expression.
            if let Ok(all) = Filter::All.subscribe(self.config.group.retry_topic()) {
                self.on_subscribe(all);
            }
        }
        self.timers.set(Timer::Commit, self.now + self.config.limits.commit_interval);
    }

    fn on_subscribe(&mut self, mut subscription: Subscription) {
        subscription.topic = namespace::outside(&self.config.namespace, subscription.topic);
        let topic = subscription.topic.clone();
        // A broker keeps the subscription with the highest version: a change within one millisecond is a change.
        let last = self.subscriptions.get(&topic).map_or(i64::MIN, |entry| entry.version);
        let version = self.wall_now().as_millis().max(last.saturating_add(1));
        let check = Check::of(&subscription.expression_type);
        self.subscriptions.insert(topic.clone(), Subscribed { subscription, version, check });
        self.routes.want(&topic);
        // Pulls carry the new version: each broker has to hear of it first.
        self.membership.outdated();
    }

    /// The topic's queues go now, its route is forgotten, and the next heartbeats do not have it.
    fn on_unsubscribe(&mut self, topic: &Topic) {
        if self.subscriptions.remove(topic).is_none() {
            return;
        }
        self.forget_pop_retries(topic);
        self.paused.unsubscribed(topic);
        self.want_nothing_of(topic);
        self.rebalance.unsettled.insert(topic.clone());
        self.timers.clear(&Timer::Route(topic.clone()));
        self.timers.clear(&Timer::Check(topic.clone()));
        // The queues' last commits still need their brokers' addresses: these go with the next route that is learnt.
        self.routes.forget(topic);
        self.membership.outdated();
        self.rebalance_soon(RebalanceReason::SubscriptionChanged, None);
    }

    fn on_reply(&mut self, call: CallId, result: Result<Reply, CallError>) {
        let Some(Pending { purpose, to, sent }) = self.calls.close(call) else { return self.late() };
        match purpose {
            Purpose::Route(topic) => {
                let result = self.expect(&to, result, |reply| match reply {
                    Reply::Route(route) => Some(route),
                    _ => None,
                });
                self.on_route(&topic, &to, result);
            }
            Purpose::Check(topic, version) => self.on_checked(&topic, version, &to, result.map(drop)),
            Purpose::Heartbeat => self.on_heartbeat(&to, result.map(drop)),
            Purpose::Members => {
                let result = self.expect(&to, result, |reply| match reply {
                    Reply::Members(members) => Some(members),
                    _ => None,
                });
                self.on_members(call, &to, result);
            }
            Purpose::Assignment => {
                let result = self.expect(&to, result, |reply| match reply {
                    Reply::Assigned(assignments) => Some(assignments.0),
                    _ => None,
                });
                self.on_assignment(call, &to, result);
            }
            Purpose::Connections => {
                let result = self.expect(&to, result, |reply| match reply {
                    Reply::Connections(connections) => Some(connections),
                    _ => None,
                });
                self.on_connections(&to, result);
            }
            Purpose::Settings(client) => {
                let result = self.expect(&to, result, |reply| match reply {
                    Reply::RunningInfo(info) => Some(info),
                    _ => None,
                });
                self.on_settings(client, &to, result);
            }
            Purpose::Locate(epoch) => {
                let result = self.expect_offset(&to, result);
                self.on_located(epoch, &to, result);
            }
            Purpose::StartPolicy(epoch) => {
                let result = self.expect_offset(&to, result);
                self.on_start_policy(epoch, &to, result);
            }
            Purpose::Pull(epoch) => {
                let result = self.expect(&to, result, |reply| match reply {
                    Reply::Pulled(pulled) => Some(pulled),
                    _ => None,
                });
                self.on_pull(epoch, call, &to, sent, result);
            }
            Purpose::Pop(epoch) => {
                let result = self.expect(&to, result, |reply| match reply {
                    Reply::Popped(popped) => Some(popped),
                    _ => None,
                });
                self.on_pop(epoch, &to, sent, result);
            }
            Purpose::Settle(epoch, number) => self.on_settled(epoch, number, &to, result),
            Purpose::Commit(epoch, offset) => self.on_committed(epoch, call, offset, &to, result.map(drop)),
            Purpose::LastLook(epoch) => {
                let result = self.expect_offset(&to, result);
                self.on_last_look(epoch, &to, result);
            }
            Purpose::SendBack(epoch, offset) => self.on_sent_back(epoch, offset, &to, result.map(drop)),
            Purpose::Lock(epochs) => {
                let result = self.expect(&to, result, |reply| match reply {
                    Reply::Locked(queues) => Some(queues),
                    _ => None,
                });
                self.on_locked(epochs, &to, sent, result);
            }
            Purpose::Unlock(queues) => self.on_unlocked(&queues),
            Purpose::Unregister => self.on_unregistered(),
        }
    }

    /// A reply of another kind than the call's is a fault of whoever drives the machine or of the peer; either way the
    /// call has failed.
    fn expect<T>(
        &mut self,
        from: &Address,
        result: Result<Reply, CallError>,
        take: impl FnOnce(Reply) -> Option<T>,
    ) -> Result<T, CallError> {
        take(result?).ok_or_else(|| {
            let what = "a reply of another kind than its call's".to_string();
            self.event(Event::PeerMisbehaved { from: from.clone(), what: what.clone() });
            CallError::LinkLost { reason: what }
        })
    }

    fn expect_offset(
        &mut self,
        from: &Address,
        result: Result<Reply, CallError>,
    ) -> Result<Option<i64>, CallError> {
        self.expect(from, result, |reply| match reply {
            Reply::Offset(offset) => Some(offset),
            _ => None,
        })
    }

    fn on_peer(&mut self, from: Address, request: PeerRequest) {
        let ours = &self.config.group;
        match request {
            PeerRequest::MembersChanged { group } if group == *ours => {
                self.rebalance_soon(RebalanceReason::MembersChanged, Some(&from));
            }
            PeerRequest::ResetOffsets { group, topic, offsets } if group == *ours => {
                self.on_reset(&topic, offsets)
            }
            PeerRequest::Status { reply, group, topic } if group == *ours => {
                let answer = Answer::Status(self.offsets_of(topic.as_ref()));
                self.out.push_back(Output::Answer { to: from, opaque: reply, answer });
            }
            PeerRequest::RunningInfo { reply, group, .. } if group == *ours => {
                let answer = Answer::RunningInfo(self.running_info());
                self.out.push_back(Output::Answer { to: from, opaque: reply, answer });
            }
            PeerRequest::ConsumeDirectly { reply, group, broker, message } => {
                self.on_consume_directly(from, reply, &group, broker, *message);
            }
            PeerRequest::Status { reply, group, .. } | PeerRequest::RunningInfo { reply, group, .. } => {
                let remark = format!("group {group} is not in this client");
                let answer = Answer::Refused { code: 1, remark };
                self.out.push_back(Output::Answer { to: from, opaque: reply, answer });
            }
            PeerRequest::Unknown { reply: Some(opaque), code } => {
                let remark = format!(" request type {code} not supported");
                self.out.push_back(Output::Answer {
                    to: from,
                    opaque,
                    answer: Answer::Refused { code: 3, remark },
                });
            }
            PeerRequest::MembersChanged { .. }
            | PeerRequest::ResetOffsets { .. }
            | PeerRequest::Unknown { reply: None, .. } => {}
        }
    }

    fn wall_now(&self) -> WallClock {
        self.wall + self.now.since(self.started)
    }

    fn call(&mut self, purpose: Purpose, to: Address, request: Request, timeout: Duration) -> CallId {
        let call = self.calls.open(purpose, to.clone(), self.now);
        self.out.push_back(Output::Call { call, to, request, deadline: self.now + timeout });
        call
    }

    /// Ends all calls to an address whose connection is going to be closed, as if they had failed.
    fn drop_calls(&mut self, to: &Address) {
        for call in self.calls.to(to) {
            let reason = format!("{to} is not used any more");
            self.on_reply(call, Err(CallError::LinkLost { reason }));
        }
    }

    fn event(&mut self, event: Event) {
        self.out.push_back(Output::Event(event));
    }

    /// Something came for a life that has ended. Counted, told, and without any other effect.
    fn late(&mut self) {
        self.late += 1;
        self.event(Event::Late { count: self.late });
    }
}
