//! Rebalance: the queues that should be ours against the queues that are.
//!
//! A round asks one broker of every topic for the group's members (one call for each broker, not for each topic), runs
//! the strategy over sorted lists and starts and stops queues until the table is what the strategy says. Nothing else
//! ever changes the table's members.
//!
//! Broadcasting members have every queue of their topics: a round asks nobody.
//!
//! Rounds are started by notice, by a changed route or subscription, by a new connection, and by a timer that heals
//! what was missed. A notice acts at once, unless four rounds began within [`rebalance_retry`](crate::config::Limits),
//! another reason unless one did: then a further round follows at its end.
//!
//! Where the broker shares out ([`RebalanceBy::Broker`](crate::config::RebalanceBy)) a round asks it for each topic what is
//! ours; it may also say that a topic is popped (`pop`). All members ask the same broker, the first by address: neither a
//! notice nor an earlier answer chooses another one. The next one is asked while that one refuses our heartbeats, and in
//! the round after one in which it could not tell.
//!
//! | answer | consequence |
//! |---|---|
//! | a list with us in it | the strategy decides |
//! | a list without us | nothing is ours, as in Java; the next heartbeat repairs it |
//! | no list | everything stays as it is, and another round follows soon |
//! | what the broker gives us | that becomes ours, an empty list included |
//! | the broker cannot tell | everything stays as it is, and another round follows soon |
//! | the broker does not know the question (4.9) | it is asked for the members, until its connection breaks |
//! | the strategy fails | the topic stays as it is, and another round follows soon |

use super::Consumer;
use super::calls::Purpose;
use super::io::{Event, RebalanceReason};
use super::queue::Look;
use super::timers::Timer;
use crate::allocate::{SortedMembers, SortedQueues};
use crate::model::{Address, CallId, ClientId, MessageQueue, Topic};
use crate::time::Instant;
use crate::wire::bodies::{AssignmentQuery, RequestMode};
use crate::wire::code::ResponseCode;
use crate::wire::reply::{CallError, Refusal};
use crate::wire::request::Request;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::ToString;
use alloc::vec::Vec;

/// Rounds that notices may start at once. A member that is replaced is two notices within a moment: while the others
/// waited with the second one, they and the new member would work on the same queues.
const BURST: usize = 4;

#[derive(Clone, Debug, Default)]
pub(crate) struct Rebalance {
    /// Why a round has to run.
    pub(super) dirty: Option<RebalanceReason>,
    /// The broker that told of the change: it knows already.
    hint: Option<Address>,
    round: Option<Round>,
    /// When the last rounds began, at most `BURST` of them.
    starts: VecDeque<Instant>,
    pub(super) generation: u64,
    /// The last round could not be finished.
    retry: bool,
    /// Brokers that could not tell in the last round. Where members share out, any broker is asked anyway.
    passed_over: BTreeSet<Address>,
    /// The first round has been tried.
    ready: bool,
    /// What the last round said should be ours.
    wanted: BTreeMap<Topic, BTreeSet<MessageQueue>>,
    /// What the last round said should be popped.
    wanted_pops: BTreeMap<Topic, BTreeSet<MessageQueue>>,
    /// What the last round of a topic knew.
    facts: BTreeMap<Topic, Facts>,
    /// Brokers that cannot share out.
    unable: BTreeSet<Address>,
    /// Topics that were unsubscribed, or of which a life has ended, since they were last compared.
    pub(super) unsettled: BTreeSet<Topic>,
    /// The last list had our id more than once; told once.
    pub(super) duplicate: bool,
}

/// What a round knew, for its event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    reason: RebalanceReason,
    members: usize,
    queues: usize,
}

#[derive(Clone, Debug)]
struct Round {
    reason: RebalanceReason,
    asks: BTreeMap<CallId, Vec<Topic>>,
    failed: bool,
}

impl Consumer {
    /// Something has changed that may change what is ours. Mutates only; [`Consumer::decide_rebalance`] acts.
    pub(super) fn rebalance_soon(&mut self, reason: RebalanceReason, told_by: Option<&Address>) {
        // What a round waits for is decided by the most urgent of its reasons.
        match (reason, self.rebalance.dirty) {
            (RebalanceReason::MembersChanged, Some(RebalanceReason::Started)) => {}
            (RebalanceReason::Started | RebalanceReason::MembersChanged, _) | (_, None) => {
                self.rebalance.dirty = Some(reason);
            }
            (_, Some(_)) => {}
        }
        if let Some(address) = told_by {
            self.rebalance.hint = Some(address.clone());
        }
    }

    pub(super) fn decide_rebalance(&mut self) {
        let Some(reason) = self.rebalance.dirty else { return };
        if self.rebalance.round.is_some() || self.looks_first() {
            return;
        }
        let starts = &self.rebalance.starts;
        // What we bring about ourselves could go round in circles.
        let since = match reason {
            RebalanceReason::MembersChanged => starts.front().filter(|_| starts.len() >= BURST),
            _ => starts.back(),
        };
        let quiet_until = since.map(|start| *start + self.config.limits.rebalance_retry);
        match quiet_until {
            // Each broker that accepts us for the first time is a reason of its own: its topics could not be asked for.
            Some(until) if self.now < until && reason != RebalanceReason::Started => {
                self.timers.set_earliest(Timer::Rebalance, until);
            }
            _ => self.start_round(reason),
        }
    }

    /// A queue that was regained while it was on its way out begins again now that its old life has ended.
    pub(super) fn decide_unsettled(&mut self) {
        while let Some(topic) = self.rebalance.unsettled.pop_first() {
            self.reconcile(&topic, None);
            self.forget_topic(&topic);
        }
    }

    /// What is known of a topic goes when nobody subscribes to it and the last life of its queues has ended.
    fn forget_topic(&mut self, topic: &Topic) {
        let has_life = self.queues.lives.values().any(|life| life.queue.topic == *topic);
        if !self.subscriptions.contains_key(topic) && !has_life && !self.pops.has(topic) {
            self.rebalance.facts.remove(topic);
            self.rates.forget(topic);
            self.pops.forget_retry(topic);
        }
    }

    fn start_round(&mut self, reason: RebalanceReason) {
        let hint = self.rebalance.hint.take();
        let passed_over = core::mem::take(&mut self.rebalance.passed_over);
        let mut by_broker: BTreeMap<Address, Vec<Topic>> = BTreeMap::new();
        let mut failed = false;
        let by_brokers = self.config.is_shared_out_by_broker();
        let topics: Vec<Topic> = self.subscriptions.keys().cloned().collect();
        for topic in topics.into_iter().filter(|topic| self.routes.known(topic)) {
            let mut sources = self.routes.member_sources(&topic);
            // Brokers may not agree on how a topic is consumed; members that ask the same one do.
            let first = sources
                .iter()
                .filter(|address| by_brokers && !self.membership.refused(address))
                .filter(|address| !passed_over.contains(*address))
                .min()
                .cloned();
            sources.retain(|address| self.membership.registered(address));
            let told = hint.clone().filter(|hint| sources.contains(hint));
            let asked = sources.iter().find(|address| by_broker.contains_key(*address)).cloned();
            let source = match first {
                Some(first) => Some(first).filter(|first| sources.contains(first)),
                None => told.or(asked).or_else(|| self.rng.pick(&sources).cloned()),
            };
            match source {
                Some(address) => by_broker.entry(address).or_default().push(topic),
                None => failed = true,
            }
        }
        if by_broker.is_empty() {
            // No broker knows us yet. The first accepted heartbeat or route starts the round.
            return;
        }
        self.rebalance.dirty = None;
        if self.rebalance.starts.len() >= BURST {
            self.rebalance.starts.pop_front();
        }
        self.rebalance.starts.push_back(self.now);
        self.timers.clear(&Timer::Rebalance);
        if self.is_broadcasting() {
            // Nobody shares anything: what is known of the routes is all there is to know.
            let members = SortedMembers::new([self.config.client.clone()]);
            for topic in by_broker.into_values().flatten() {
                failed |= !self.allocate_topic(&topic, &members, reason);
            }
            return self.end_round(failed);
        }
        let mut asks = BTreeMap::new();
        for (address, topics) in by_broker {
            if by_brokers && !self.rebalance.unable.contains(&address) {
                for topic in topics {
                    let call = self.ask_for_assignment(address.clone(), topic.clone());
                    asks.insert(call, Vec::from([topic]));
                }
                continue;
            }
            let request = Request::Members { group: self.config.group.clone() };
            let call = self.call(Purpose::Members, address, request, self.config.limits.call_timeout);
            asks.insert(call, topics);
        }
        self.rebalance.round = Some(Round { reason, asks, failed });
    }

    /// The round that a call belongs to, and the topics it was for. Who leaves neither gains nor loses: there is none then.
    fn take_round(&mut self, call: CallId) -> Option<(Round, Vec<Topic>)> {
        if !self.is_running() {
            return None;
        }
        let mut round = self.rebalance.round.take()?;
        match round.asks.remove(&call) {
            Some(topics) => Some((round, topics)),
            None => {
                self.rebalance.round = Some(round);
                None
            }
        }
    }

    fn could_not_tell(&mut self, round: &mut Round, broker: &Address) {
        round.failed = true;
        self.rebalance.passed_over.insert(broker.clone());
    }

    /// It ends with its last answer.
    fn continue_round(&mut self, round: Round) {
        if round.asks.is_empty() {
            self.end_round(round.failed);
        } else {
            self.rebalance.round = Some(round);
        }
    }

    pub(super) fn on_members(
        &mut self,
        call: CallId,
        from: &Address,
        result: Result<Vec<ClientId>, CallError>,
    ) {
        let Some((mut round, topics)) = self.take_round(call) else { return };
        match result {
            Ok(members) => {
                let members = SortedMembers::new(members);
                self.look_for_ourselves(from, &members);
                self.look_for_newcomers(from, &members);
                for topic in topics {
                    round.failed |= !self.allocate_topic(&topic, &members, round.reason);
                }
            }
            Err(error) => {
                self.could_not_tell(&mut round, from);
                let (to, what) = (from.clone(), "list the group's members");
                let about = self.config.group.to_string();
                self.event(Event::CallFailed { to, what, about, error, attempt: 1 });
            }
        }
        self.continue_round(round);
    }

    fn ask_for_assignment(&mut self, broker: Address, topic: Topic) -> CallId {
        let request = Request::QueryAssignment(AssignmentQuery {
            group: self.config.group.clone(),
            client: self.config.client.clone(),
            topic,
            strategy: self.config.strategy.name().to_string(),
            model: self.config.model,
        });
        self.call(Purpose::Assignment, broker, request, self.config.limits.call_timeout)
    }

    pub(super) fn on_assignment(
        &mut self,
        call: CallId,
        from: &Address,
        result: Result<Option<BTreeMap<MessageQueue, RequestMode>>, CallError>,
    ) {
        let Some((mut round, topics)) = self.take_round(call) else { return };
        match result {
            Ok(Some(table)) => {
                for topic in topics {
                    round.failed |= !self.take_assignment(&topic, &table, round.reason);
                }
            }
            Ok(None) => self.could_not_tell(&mut round, from),
            Err(CallError::Refused(Refusal { code: ResponseCode::REQUEST_CODE_NOT_SUPPORTED, .. })) => {
                if self.rebalance.unable.insert(from.clone()) {
                    self.event(Event::SharedOutHere { broker: from.clone() });
                }
                let request = Request::Members { group: self.config.group.clone() };
                let timeout = self.config.limits.call_timeout;
                let call = self.call(Purpose::Members, from.clone(), request, timeout);
                round.asks.insert(call, topics);
            }
            Err(error) => {
                self.could_not_tell(&mut round, from);
                let about = topics.first().map(Topic::to_string).unwrap_or_default();
                let (to, what) = (from.clone(), "ask the broker what is ours");
                self.event(Event::CallFailed { to, what, about, error, attempt: 1 });
            }
        }
        self.continue_round(round);
    }

    /// False if the broker names queues that we do not know yet.
    fn take_assignment(
        &mut self,
        topic: &Topic,
        table: &BTreeMap<MessageQueue, RequestMode>,
        reason: RebalanceReason,
    ) -> bool {
        if !self.subscriptions.contains_key(topic) {
            return true;
        }
        let of = |wanted: RequestMode| {
            let rows = table.iter().filter(move |(queue, mode)| queue.topic == *topic && **mode == wanted);
            rows.map(|(queue, _)| queue.clone()).collect::<BTreeSet<MessageQueue>>()
        };
        let (mut pulled, mut popped) = (of(RequestMode::Pull), of(RequestMode::Pop));
        let named = pulled.len() + popped.len();
        let known = self.routes.queues(topic);
        pulled.retain(|queue| known.contains(queue));
        popped.retain(|entry| known.iter().any(|queue| queue.broker == entry.broker));
        let all_known = pulled.len() + popped.len() == named;
        let queues = known.len();
        if !all_known {
            self.routes.due(topic);
        }
        if !pulled.is_empty() || !popped.is_empty() {
            self.follow_mode(topic, !popped.is_empty());
        }
        self.rebalance.wanted.insert(topic.clone(), pulled);
        self.rebalance.wanted_pops.insert(topic.clone(), popped);
        self.reconcile(topic, Some(Facts { reason, members: 0, queues }));
        all_known
    }

    /// The broker may be another version when it is back.
    pub(super) fn may_share_out_again(&mut self, broker: &Address) {
        self.rebalance.unable.remove(broker);
    }

    fn end_round(&mut self, failed: bool) {
        let limits = &self.config.limits;
        let wait = if failed { limits.rebalance_retry } else { limits.rebalance_interval };
        self.timers.set(Timer::Rebalance, self.now + wait);
        self.rebalance.retry = failed;
        if !self.rebalance.ready {
            self.rebalance.ready = true;
            self.event(Event::Ready);
        }
    }

    pub(super) fn on_rebalance_timer(&mut self) {
        let reason = if self.rebalance.retry { RebalanceReason::Retry } else { RebalanceReason::Periodic };
        self.rebalance_soon(reason, None);
    }

    /// False if the topic stays as it is because the strategy failed.
    fn allocate_topic(&mut self, topic: &Topic, members: &SortedMembers, reason: RebalanceReason) -> bool {
        if !self.subscriptions.contains_key(topic) {
            return true;
        }
        let queues = SortedQueues::new(self.routes.queues(topic).iter().cloned());
        let wanted = if self.is_broadcasting() || queues.is_empty() {
            Ok(queues.iter().cloned().collect())
        } else {
            self.share(&queues, members)
        };
        let wanted: BTreeSet<MessageQueue> = match wanted {
            Ok(wanted) => wanted,
            Err(error) => {
                let (topic, why) = (topic.clone(), error.to_string());
                self.event(Event::AllocationFailed { topic, why });
                return false;
            }
        };
        self.rebalance.wanted.insert(topic.clone(), wanted);
        self.rebalance.wanted_pops.remove(topic);
        self.reconcile(topic, Some(Facts { reason, members: members.len(), queues: queues.len() }));
        true
    }

    /// Makes the tables of one topic what the last round wants. Doing it again changes nothing.
    pub(super) fn reconcile(&mut self, topic: &Topic, round: Option<Facts>) {
        let none = BTreeSet::new();
        let wanted = self.rebalance.wanted.get(topic).unwrap_or(&none).clone();
        let held: BTreeSet<MessageQueue> = self.held(topic);
        let mut lost: Vec<MessageQueue> = held.difference(&wanted).cloned().collect();
        let wanted_pops = self.rebalance.wanted_pops.get(topic).unwrap_or(&none).clone();
        let popping = self.popping(topic);
        let lost_pops: Vec<MessageQueue> = popping.difference(&wanted_pops).cloned().collect();
        for queue in &lost {
            self.paused.lost(queue);
            self.revoke(queue, Look::AfterCommit);
        }
        for entry in &lost_pops {
            self.paused.lost(entry);
            self.stop_popping(entry);
        }
        // A queue that is still on its way out starts again when its old life has ended; queues start when nothing of
        // the topic is popped any more, and the other way round.
        let may_pull = self.may_pull(topic);
        let may_start = |queue: &&MessageQueue| may_pull && !self.in_table(queue);
        let mut gained: Vec<MessageQueue> = wanted.difference(&held).filter(may_start).cloned().collect();
        for queue in &gained {
            self.start_queue(queue.clone());
        }
        let may_pop = !wanted_pops.is_subset(&popping) && self.may_pop(topic);
        let gained_pops: Vec<MessageQueue> =
            wanted_pops.difference(&popping).filter(|_| may_pop).cloned().collect();
        for entry in &gained_pops {
            self.start_popping(entry.clone());
        }
        lost.extend(lost_pops);
        gained.extend(gained_pops);
        if let Some(round) = round {
            self.rebalance.facts.insert(topic.clone(), round);
        }
        // What starts only now, because something of the topic had to end first, belongs to the round that wanted it.
        let Some(round) = self.rebalance.facts.get(topic).copied() else { return };
        if lost.is_empty() && gained.is_empty() {
            return;
        }
        self.rebalance.generation += 1;
        self.event(Event::Rebalanced {
            generation: self.rebalance.generation,
            topic: topic.clone(),
            reason: round.reason,
            members: round.members,
            queues: round.queues,
            assigned: self.held(topic).into_iter().chain(self.popping(topic)).collect(),
            gained,
            lost,
        });
    }

    /// A topic is not subscribed to any more: all its queues go.
    pub(super) fn want_nothing_of(&mut self, topic: &Topic) {
        self.rebalance.wanted.remove(topic);
        self.rebalance.wanted_pops.remove(topic);
        let queues = self.routes.queues(topic).len();
        self.reconcile(
            topic,
            Some(Facts { reason: RebalanceReason::SubscriptionChanged, members: 0, queues }),
        );
    }
}
