//! One assigned queue, from the moment it is ours until nothing of it is left.
//!
//! ```text
//!  start_queue            begin                 revoke                 last handler done, or time out
//!      |                    |                      |                              |
//!      v                    v                      v                              v
//!  Locating ----------> Fetching -----------> Draining ----------------------> Closing ---> (gone)
//!      |   (offset known)   |  (pull, deliver,     |  (no pull, no delivery;      (last commit)
//!      |                    |   commit)            |   commit what is done)
//!      +--------------------+----------------------+--- abandon: reset, offset gone, shutdown ---> (gone)
//! ```
//!
//! Every life has its own [`QueueEpoch`]. What belongs to a life that is gone finds no entry here and changes nothing.

use super::Consumer;
use super::calls::Purpose;
use super::io::{Event, Position};
use super::locks::Lease;
use super::timers::Timer;
use super::window::Window;
use crate::model::{Address, CallId, MessageQueue, QueueEpoch, Ticket, Topic};
use crate::time::Instant;
use crate::wire::code::{RequestCode, ResponseCode};
use crate::wire::reply::{CallError, Refusal};
use crate::wire::request::{ConsumeFrom, MessageModel, Request};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::ToString;
use alloc::vec::Vec;

/// The queues that are ours, by name and by life.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues {
    pub(super) table: BTreeMap<MessageQueue, QueueEpoch>,
    pub(super) lives: BTreeMap<QueueEpoch, AssignedQueue>,
    last_epoch: u64,
}

impl Queues {
    pub(super) fn next_epoch(&mut self) -> QueueEpoch {
        self.last_epoch += 1;
        QueueEpoch(self.last_epoch)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct AssignedQueue {
    pub(super) queue: MessageQueue,
    pub(super) phase: Phase,
    /// What has been pulled and is not committed. Meaningless while `Locating`.
    pub(super) window: Window,
    /// Where it starts although there may be a committed offset.
    pub(super) seek: Option<Seek>,
    /// The offset the broker has for us, as far as we know.
    pub(super) committed: Option<i64>,
    /// Who said so, over a connection that has not broken since; none if it is to be told again.
    pub(super) keeper: Option<Address>,
    /// When that was.
    pub(super) heard: Instant,
    /// Whether one confirmation of a commit is enough, see `offsets`.
    pub(super) kept: bool,
    pub(super) commit: Option<CallId>,
    /// The last commit failed. Shutdown does not try such a queue again.
    pub(super) commit_failed: bool,
    pub(super) pull: Option<CallId>,
    /// A pull of an earlier life that must end before this one pulls: two never wait at the broker at once.
    pub(super) after_pull: Option<CallId>,
    /// A commit of an earlier life that must end before this one commits: it could arrive later and win.
    pub(super) after_commit: Option<CallId>,
    /// Waiting for [`Timer::Queue`] before the next step.
    pub(super) waiting: bool,
    pub(super) failures: u32,
    /// Broker id the last pull suggested, 0 the master.
    pub(super) suggested: i64,
    /// One past the broker's last offset, by the last pull.
    pub(super) max: i64,
    /// Deliveries with handlers: their offsets, and since when.
    pub(super) running: BTreeMap<u64, (Vec<i64>, Instant)>,
    pub(super) last_ticket: u64,
    /// Whether it stands in the line of queues with messages to hand out.
    pub(super) listed: bool,
    /// Messages on their way back to the broker.
    pub(super) sending_back: BTreeSet<i64>,
    /// Messages whose send-back failed, and when they are tried again here.
    pub(super) stuck: BTreeMap<i64, Instant>,
    pub(super) lease: Lease,
    /// Orderly: a handler gave up, and the queue rests.
    pub(super) suspended: bool,
    /// On its way out: until when it waits for its handlers and for a broker that does not take its last commit.
    pub(super) patience: Option<Instant>,
    pub(super) last_pull: Option<Instant>,
    pub(super) last_outcome: Option<Instant>,
}

/// A place to go on at that has to be asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seek {
    /// The commit point before it, -1 if there was none.
    pub(super) from: i64,
    pub(super) to: Position,
}

/// When a queue that goes away looks for what its new owner has committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Before its last commit; one is sent without looking now, since the new owner has not begun.
    AfterCommit,
    /// Before any commit: somebody may be ahead of us.
    First,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The start offset is being found out; the call, if one is under way.
    Locating { asking: bool },
    /// Pulling, delivering, committing.
    Fetching,
    /// On its way out: handlers finish.
    Draining,
    /// The last commit is under way.
    Closing,
}

impl AssignedQueue {
    fn new(queue: MessageQueue) -> Self {
        Self {
            queue,
            phase: Phase::Locating { asking: false },
            window: Window::new(0),
            seek: None,
            committed: None,
            keeper: None,
            heard: Instant::ZERO,
            kept: false,
            commit: None,
            commit_failed: false,
            listed: false,
            pull: None,
            after_pull: None,
            after_commit: None,
            waiting: false,
            failures: 0,
            suggested: 0,
            max: 0,
            running: BTreeMap::new(),
            last_ticket: 0,
            sending_back: BTreeSet::new(),
            stuck: BTreeMap::new(),
            lease: Lease::default(),
            suspended: false,
            patience: None,
            last_pull: None,
            last_outcome: None,
        }
    }

    /// Whether it counts as ours: pulling or about to.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.phase, Phase::Locating { .. } | Phase::Fetching)
    }

    pub(super) fn is_located(&self) -> bool {
        !matches!(self.phase, Phase::Locating { .. })
    }

    /// Everything below it is done, if the queue has begun.
    pub(super) fn commit_point(&self) -> Option<i64> {
        self.is_located().then(|| self.window.commit_point())
    }

    /// What this broker should be told and has not confirmed.
    pub(super) fn uncommitted(&self, keeper: &Address) -> Option<i64> {
        let confirmed = self.committed.filter(|_| self.keeper.as_ref() == Some(keeper));
        self.commit_point().filter(|point| confirmed != Some(*point))
    }

    /// Whether a commit of the queue is under way, of this life or of the one before. Only one is at a time.
    pub(super) fn is_committing(&self) -> bool {
        self.commit.or(self.after_commit).is_some()
    }

    /// Whether no handler and no send-back is under way.
    pub(super) fn is_at_rest(&self) -> bool {
        self.running.is_empty() && self.sending_back.is_empty()
    }
}

impl Consumer {
    /// Queues of a topic that are ours and not on their way out.
    pub(super) fn held(&self, topic: &Topic) -> BTreeSet<MessageQueue> {
        let first = MessageQueue::new(topic.clone(), "", i32::MIN);
        let of_topic = self.queues.table.range(first..).take_while(|(queue, _)| queue.topic == *topic);
        of_topic
            .filter(|(_, epoch)| self.queues.lives.get(epoch).is_some_and(AssignedQueue::is_held))
            .map(|(queue, _)| queue.clone())
            .collect()
    }

    pub(super) fn in_table(&self, queue: &MessageQueue) -> bool {
        self.queues.table.contains_key(queue)
    }

    /// Begins a new life of a queue.
    pub(super) fn start_queue(&mut self, queue: MessageQueue) -> QueueEpoch {
        let epoch = self.queues.next_epoch();
        self.queues.table.insert(queue.clone(), epoch);
        self.queues.lives.insert(epoch, AssignedQueue::new(queue));
        self.attention.insert(epoch);
        epoch
    }

    /// Next step of locating: ask for the committed offset. Who is asked must know us by now, so that the first pull
    /// is not refused, and a member that is not one yet does not hold queues.
    pub(super) fn locate(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        if !self.is_licensed(life) {
            return self.want_lock(epoch);
        }
        let broker = &life.queue.broker;
        let must_ask_for_place =
            life.seek.is_some() || self.is_broadcasting() && self.local.of(&life.queue).is_none();
        let source =
            if must_ask_for_place { self.routes.master(broker) } else { self.routes.offset_keeper(broker) };
        let Some(source) = source else {
            return self.try_again(epoch);
        };
        if !self.membership.registered(source) {
            // The heartbeat that registers us looks at all queues again.
            return;
        }
        let (source, queue, seek) = (source.clone(), life.queue.clone(), life.seek);
        if let Some(life) = self.queues.lives.get_mut(&epoch) {
            life.phase = Phase::Locating { asking: true };
        }
        if let Some(Seek { to, .. }) = seek {
            return self.ask_for_place(epoch, source, queue, to);
        }
        if self.is_broadcasting() {
            let offset = self.local.of(&queue);
            return self.on_located(epoch, &source, Ok(offset));
        }
        let request = Request::QueryOffset { group: self.config.group.clone(), queue };
        self.call(Purpose::Locate(epoch), source, request, self.config.limits.offset_timeout);
    }

    /// The committed offset, or the broker's explicit word that there is none. Only the latter licenses the start
    /// policy, and only if a master said it: an error or silence says nothing about offsets (C05), and a slave may not
    /// have heard yet what its master was told.
    pub(super) fn on_located(
        &mut self,
        epoch: QueueEpoch,
        from: &Address,
        result: Result<Option<i64>, CallError>,
    ) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return self.late() };
        match result {
            Ok(Some(offset)) if offset >= 0 => {
                (life.keeper, life.heard) = (Some(from.clone()), self.now);
                self.begin(epoch, offset, Some(offset));
            }
            Ok(_) if self.routes.master(&life.queue.broker) != Some(from) => {
                let error = CallError::Refused(Refusal {
                    request: RequestCode::QUERY_CONSUMER_OFFSET,
                    code: ResponseCode::QUERY_NOT_FOUND,
                    remark: "a slave may not have heard of it yet: waiting for the master".to_string(),
                });
                self.queue_call_failed(epoch, from, "read the committed offset", error);
                self.locate_failed(epoch);
            }
            Ok(_) => {
                let (master, queue) = (from.clone(), life.queue.clone());
                let is_retry = queue.topic.is_retry();
                let place = match self.config.start_from {
                    // Retry messages are old by nature; Java starts them at the beginning, except by timestamp.
                    ConsumeFrom::Last | ConsumeFrom::First if is_retry => return self.begin(epoch, 0, None),
                    ConsumeFrom::First => Position::First,
                    ConsumeFrom::Timestamp(at) if !is_retry => Position::At(at),
                    ConsumeFrom::Last | ConsumeFrom::Timestamp(_) => Position::Last,
                };
                self.ask_for_place(epoch, master, queue, place);
            }
            Err(error) => {
                self.queue_call_failed(epoch, from, "read the committed offset", error);
                self.locate_failed(epoch);
            }
        }
    }

    fn ask_for_place(&mut self, epoch: QueueEpoch, master: Address, queue: MessageQueue, place: Position) {
        let request = match place {
            Position::Offset(offset) => return self.arrive(epoch, offset),
            Position::First => Request::MinOffset { queue },
            Position::Last => Request::MaxOffset { queue },
            Position::At(at) => Request::OffsetAt { queue, at },
        };
        self.call(Purpose::StartPolicy(epoch), master, request, self.config.limits.call_timeout);
    }

    pub(super) fn on_start_policy(
        &mut self,
        epoch: QueueEpoch,
        from: &Address,
        result: Result<Option<i64>, CallError>,
    ) {
        if !self.queues.lives.contains_key(&epoch) {
            return self.late();
        }
        match result {
            // Of a queue that has never held a message the smallest offset is -1.
            Ok(Some(offset)) => self.arrive(epoch, offset.max(0)),
            Ok(None) => {
                let what = "no offset in the answer to a question for one".to_string();
                self.event(Event::PeerMisbehaved { from: from.clone(), what });
                self.locate_failed(epoch);
            }
            Err(error) => {
                self.queue_call_failed(epoch, from, "find the start offset", error);
                self.locate_failed(epoch);
            }
        }
    }

    fn locate_failed(&mut self, epoch: QueueEpoch) {
        if let Some(life) = self.queues.lives.get_mut(&epoch) {
            life.phase = Phase::Locating { asking: false };
            self.try_again(epoch);
        }
    }

    /// Looks at the queue again after the pull retry delay.
    pub(super) fn try_again(&mut self, epoch: QueueEpoch) {
        self.look_again(epoch, self.now + self.config.limits.pull_retry_delay);
    }

    pub(super) fn look_again(&mut self, epoch: QueueEpoch, at: Instant) {
        if let Some(life) = self.queues.lives.get_mut(&epoch) {
            life.waiting = true;
            self.timers.set(Timer::Queue(epoch), at);
        }
    }

    pub(super) fn begin(&mut self, epoch: QueueEpoch, offset: i64, committed: Option<i64>) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        life.phase = Phase::Fetching;
        life.window = Window::new(offset);
        // 4.9 says 0 of a group that never committed, while the queue's first messages are in memory. Committed, the 0
        // stays, and tools see the group.
        life.committed =
            committed.filter(|offset| *offset > 0 || self.config.model == MessageModel::Broadcasting);
        let of_broker = |other: &&MessageQueue| other.broker == life.queue.broker;
        let alone = self.routes.queues(&life.queue.topic).iter().filter(of_broker).nth(1).is_none();
        life.kept |= life.committed.is_some() || alone;
        life.failures = 0;
        self.attention.insert(epoch);
        let queue = life.queue.clone();
        self.event(Event::QueueStarted { queue, offset, committed: committed.is_some() });
        if self.is_broadcasting() && committed.is_none() {
            self.note_locally(epoch);
        }
    }

    /// The queue goes to another member.
    ///
    /// 1. No further pull and no further delivery. What a parked pull still brings is dropped with its life; the new
    ///    owner pulls it.
    /// 2. What is done is committed now: the new owner asks for the offset within milliseconds. Not if the queue's lock
    ///    was lost: then somebody may be ahead of us already, and only `Closing` commits, which looks first.
    /// 3. Running handlers may finish, for `revoke_timeout` at most (under locks `unlock_delay`). What they finish is
    ///    committed in `Closing`, unless the new owner has committed more by then.
    pub(super) fn revoke(&mut self, queue: &MessageQueue, look: Look) {
        let Some(epoch) = self.queues.table.get(queue).copied() else { return };
        let by_lock = self.needs_locks();
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        if !life.is_located() {
            return self.forget_life(epoch);
        }
        if life.phase == Phase::Fetching {
            life.phase = Phase::Draining;
            let limits = &self.config.limits;
            // A lock outlasts impatience: it is kept while a handler works, within reason.
            let wait = if by_lock { limits.unlock_delay } else { limits.revoke_timeout };
            (life.patience, life.waiting) = (Some(self.now + wait), false);
            self.timers.set(Timer::Drain(epoch), self.now + wait);
            self.timers.clear(&Timer::Queue(epoch));
            self.timers.clear(&Timer::Suspended(epoch));
            if look == Look::AfterCommit {
                self.commit(epoch);
            }
            self.attention.insert(epoch);
        }
    }

    /// Looks whether a queue on its way out can take its next step.
    pub(super) fn decide_draining(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        let rests = life.is_at_rest() && !life.is_committing() && !life.waiting;
        if life.phase == Phase::Draining && rests && !self.fill_gaps(epoch) {
            self.close_queue(epoch);
        }
    }

    /// The last commit of a queue that went away. Its new owner may have begun long ago, and a commit of ours would
    /// then take the broker's offset back; so look first. Under a lock that never lapsed nobody can have begun.
    pub(super) fn close_queue(&mut self, epoch: QueueEpoch) {
        self.timers.clear(&Timer::Drain(epoch));
        if self.is_broadcasting() {
            self.note_locally(epoch);
            return self.end_life(epoch);
        }
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        let alone = self.is_alone(life);
        let keeper = self.routes.offset_keeper(&life.queue.broker).cloned();
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        match keeper.filter(|keeper| life.uncommitted(keeper).is_some()) {
            Some(_) if alone => {
                life.phase = Phase::Closing;
                self.commit_last(epoch);
            }
            Some(keeper) => {
                life.phase = Phase::Closing;
                let request =
                    Request::QueryOffset { group: self.config.group.clone(), queue: life.queue.clone() };
                self.call(Purpose::LastLook(epoch), keeper, request, self.config.limits.offset_timeout);
            }
            None => self.end_life(epoch),
        }
    }

    pub(super) fn on_last_look(
        &mut self,
        epoch: QueueEpoch,
        from: &Address,
        result: Result<Option<i64>, CallError>,
    ) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return self.late() };
        match (result, life.uncommitted(from)) {
            (Ok(theirs), Some(ours)) if theirs.is_none_or(|theirs| theirs < ours) => self.commit_last(epoch),
            (Err(_), Some(_)) => self.last_commit_failed(epoch),
            _ => self.end_life(epoch),
        }
    }

    /// Sends what is not committed yet. A commit that is still under way comes first; the life ends if nothing is left.
    pub(super) fn commit_last(&mut self, epoch: QueueEpoch) {
        self.commit(epoch);
        if self.queues.lives.get(&epoch).is_some_and(|life| !life.is_committing()) {
            self.end_life(epoch);
        }
    }

    /// The broker has not taken the last commit. Under its lock the queue's next owner waits for it, so it is tried again
    /// while the patience lasts, or the consumer's stop. Else somebody has begun already, and there is nothing to be gained.
    pub(super) fn last_commit_failed(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        let ours = self.needs_locks() && self.may_commit(life);
        let again = self.now + self.config.limits.pull_retry_delay;
        let again = match (self.may_try_last_commit_again(), life.patience) {
            (Some(wait), _) => Some(self.now + wait),
            (None, Some(end)) if self.is_running() && again < end => {
                self.timers.set(Timer::Drain(epoch), end);
                Some(again)
            }
            (None, _) => None,
        };
        match again.filter(|_| ours) {
            Some(at) => {
                if let Some(life) = self.queues.lives.get_mut(&epoch) {
                    life.phase = Phase::Draining;
                }
                self.look_again(epoch, at);
            }
            None => self.end_life(epoch),
        }
    }

    /// Nothing of this life happens any more. If the last round wants the queue, a new life begins.
    pub(super) fn end_life(&mut self, epoch: QueueEpoch) {
        let Some(topic) = self.queues.lives.get(&epoch).map(|life| life.queue.topic.clone()) else { return };
        self.forget_life(epoch);
        // Popping may have waited for this.
        self.rebalance.unsettled.insert(self.pops.base(&topic).clone());
        self.rebalance.unsettled.insert(topic);
    }

    /// Nothing of this life happens any more, and nothing follows from that: for whoever is changing the table.
    fn forget_life(&mut self, epoch: QueueEpoch) {
        let Some(life) = self.remove_life(epoch) else { return };
        self.queues.table.remove(&life.queue);
        self.drop_lease(epoch, &life);
        let commit_point = life.commit_point().unwrap_or(0);
        let (queue, abandoned) = (life.queue, life.running.len());
        self.event(Event::QueueEnded { queue, commit_point, abandoned });
    }

    /// Ends a life and begins the next one of the same queue at a known offset: an operator reset it, or the broker
    /// does not have the old offset.
    ///
    /// 1. Handlers of the old life may still run. Their outcomes carry its epoch and change nothing.
    /// 2. A pull of the old life may be parked at the broker. It cannot be called off, and its answer is dropped, but
    ///    the new life pulls only after it: never two at once for one queue.
    /// 3. The new offset is committed at once, so that a crash right now keeps it; but a commit of the old life that
    ///    is under way ends first, or the broker could store the two in the other order.
    pub(super) fn restart_at(&mut self, queue: &MessageQueue, offset: i64) {
        let Some(epoch) = self.queues.table.get(queue).copied() else { return };
        if self.queues.lives.get(&epoch).is_some_and(|life| !life.is_held()) {
            // It is another member's by now; that member heard of the reset, too.
            return self.end_life(epoch);
        }
        let Some((epoch, from)) = self.next_life(queue) else { return };
        self.begin_reset(epoch, from.unwrap_or(-1), offset);
    }

    /// A reset has its place: the new life begins there, and the broker hears of it at once.
    pub(super) fn begin_reset(&mut self, epoch: QueueEpoch, from: i64, offset: i64) {
        let Some(life) = self.queues.lives.get(&epoch) else { return };
        self.event(Event::OffsetReset { queue: life.queue.clone(), from, to: offset });
        self.begin(epoch, offset, None);
        self.commit(epoch);
    }

    /// Ends the life of a queue that stays ours and starts the next one, which waits for what the old one has under way.
    /// Gives the next one, and the commit point of the old one.
    pub(super) fn next_life(&mut self, queue: &MessageQueue) -> Option<(QueueEpoch, Option<i64>)> {
        let ended = self.queues.table.get(queue).copied()?;
        let mut old = self.remove_life(ended)?;
        let epoch = self.start_queue(queue.clone());
        self.inherit_lease(ended, core::mem::take(&mut old.lease), epoch);
        if let Some(life) = self.queues.lives.get_mut(&epoch) {
            life.after_pull = old.pull.or(old.after_pull);
            life.after_commit = old.commit.or(old.after_commit);
            life.max = old.max;
            life.kept = old.kept;
        }
        Some((epoch, old.commit_point()))
    }

    fn remove_life(&mut self, epoch: QueueEpoch) -> Option<AssignedQueue> {
        self.attention.remove(&epoch);
        for timer in
            [Timer::Queue, Timer::Drain, Timer::Suspended, Timer::SendBackRetry].map(|timer| timer(epoch))
        {
            self.timers.clear(&timer);
        }
        let life = self.queues.lives.remove(&epoch)?;
        if self.config.orderly {
            let running = life.running.keys().map(|number| Ticket { epoch, number: *number });
            self.strays.extend(running.map(|ticket| (ticket, life.queue.clone())));
        }
        Some(life)
    }

    pub(super) fn look_at_all_queues(&mut self) {
        self.attention.extend(self.queues.lives.keys().copied());
        self.attention.extend(self.pops.epochs());
    }

    /// Tells of a failed call of a queue and counts it.
    pub(super) fn queue_call_failed(
        &mut self,
        epoch: QueueEpoch,
        to: &Address,
        what: &'static str,
        error: CallError,
    ) {
        let Some(life) = self.queues.lives.get_mut(&epoch) else { return };
        life.failures += 1;
        let (attempt, about) = (life.failures, life.queue.to_string());
        self.event(Event::CallFailed { to: to.clone(), what, about, error, attempt });
    }
}
