//! Pulling, and holding a pull until there is something to give.

use super::broker::Broker;
use super::config::Generation;
use super::context::Context;
use super::log::Stored;
use super::output::ConnId;
use super::request::{Handled, Refusal, header};
use super::send::no_such_queue;
use bytes::{Bytes, BytesMut};
use evenkeel_core::model::{Topic, java_hash};
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::headers::consume::{PullMessage, PullMessageResponse, UpdateConsumerOffset};
use evenkeel_core::wire::request::MessageModel;
use evenkeel_core::wire::route::{MASTER_ID, PERM_READ};
use evenkeel_core::wire::subscription::ALL;
use evenkeel_core::wire::sys_flag::pull as flags;
use std::collections::{BTreeMap, BTreeSet};

/// Most messages of one answer.
const MOST_MESSAGES: usize = 32;
/// Most bytes of one answer, unless its first message alone is larger.
pub(crate) const MOST_BYTES: usize = 256 * 1024;
/// Most messages looked at for one answer.
const MOST_EXAMINED: usize = 800;
/// Most bytes of fields that a pull or pop may have to be held.
pub(crate) const LARGEST_HELD: usize = 4096;
/// Longest time that a pull or pop is held.
pub(crate) const LONGEST_HOLD: Duration = Duration::from_secs(3600);

/// Pulls that wait, by queue.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pulls: BTreeMap<(Topic, i32), Vec<HeldPull>>,
    count: usize,
    next_sweep: Option<Instant>,
}

#[derive(Debug)]
struct HeldPull {
    conn: ConnId,
    request: Command,
    offset: i64,
    wanted: Wanted,
    until: Instant,
}

/// Which tags a pull or pop wants, by their hashes; empty for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted(BTreeSet<i32>);

impl Wanted {
    pub(crate) fn wants(&self, tag: i32) -> bool {
        self.0.is_empty() || self.0.contains(&tag)
    }
}

/// Only a pull that commits needs an offset to commit, and only one that may wait a time to wait.
const SPARE: [(&str, &str); 2] = [("commitOffset", "0"), ("suspendTimeoutMillis", "0")];

/// What a read of the log came to.
struct Found {
    code: ResponseCode,
    status: &'static str,
    next: i64,
    body: BytesMut,
}

impl Found {
    fn nothing(code: ResponseCode, status: &'static str, next: i64) -> Self {
        Self { code, status, next, body: BytesMut::new() }
    }
}

impl Broker {
    /// Requests 11 and 361. Only a pull that comes `first` commits and may be held, not one that is looked at again.
    pub(crate) fn pull(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        request: &Command,
        first: bool,
    ) -> Handled {
        let pull: PullMessage = header(request, &SPARE)?;
        let wanted = self.check_pull(cx, &pull)?;
        let reset = self.offsets.take_reset(&pull.group, &pull.topic, pull.queue_id);
        let found = match reset {
            Some(offset) => Found::nothing(ResponseCode::PULL_OFFSET_MOVED, "OFFSET_RESET", offset),
            None => self.read(&pull, &wanted),
        };
        if first && pull.sys_flag & flags::COMMIT_OFFSET != 0 {
            // The fields of a commit are among those of a pull.
            let UpdateConsumerOffset { commit_offset: offset, .. } = header(request, &[])?;
            let most = cx.config.limits.offsets;
            if reset.is_none() {
                self.offsets.commit(&pull.group, &pull.topic, pull.queue_id, offset, most)?;
            }
        }
        let bytes: usize = request.fields.iter().map(|(name, value)| name.len() + value.len()).sum();
        let may_wait = first
            && pull.sys_flag & flags::SUSPEND != 0
            && !request.is_one_way()
            && bytes <= LARGEST_HELD
            && self.held.count < cx.config.limits.held;
        if found.code == ResponseCode::PULL_NOT_FOUND && may_wait {
            let request = Command { body: Bytes::new(), ..request.clone() };
            self.hold(cx, conn, request, &pull, wanted);
            return Ok(None);
        }
        Ok(Some(self.pull_answer(cx, request, &pull, found)))
    }

    /// A message was stored: the pulls that wait for it get it. One that does not want it stays.
    pub(crate) fn wake_held(&mut self, cx: &mut Context<'_>, stored: &Stored) {
        let key = (stored.topic.clone(), stored.queue_id);
        let is_woken = |pull: &HeldPull| stored.offset >= pull.offset && pull.wanted.wants(stored.tag);
        let woken = self.held.take(&key, is_woken);
        self.look_again(cx, woken);
    }

    /// Every few seconds: pulls whose time is over, and those behind the end of a queue that has grown.
    pub(crate) fn sweep_held(&mut self, cx: &mut Context<'_>) {
        if self.held.next_sweep.is_none_or(|at| at > cx.now) {
            return;
        }
        for key in self.held.pulls.keys().cloned().collect::<Vec<_>>() {
            let max = self.log.max(&key.0, key.1);
            let now = cx.now;
            let woken = self.held.take(&key, |pull| max > pull.offset || now >= pull.until);
            self.look_again(cx, woken);
        }
        self.held.next_sweep = (self.held.count > 0).then(|| next_sweep(cx));
    }

    fn look_again(&mut self, cx: &mut Context<'_>, woken: Vec<HeldPull>) {
        for HeldPull { conn, request, .. } in woken {
            match self.pull(cx, conn, &request, false) {
                Ok(Some(answer)) => cx.send(conn, answer),
                Ok(None) => {}
                Err(refusal) => cx.send(conn, refusal.answer(&request)),
            }
        }
    }

    fn hold(&mut self, cx: &Context<'_>, conn: ConnId, request: Command, pull: &PullMessage, wanted: Wanted) {
        let millis = u64::try_from(pull.suspend_ms).unwrap_or(0);
        let until = cx.now + Duration::from_millis(millis).min(LONGEST_HOLD);
        let held = HeldPull { conn, request, offset: pull.queue_offset, wanted, until };
        self.held.pulls.entry((pull.topic.clone(), pull.queue_id)).or_default().push(held);
        self.held.count += 1;
        self.held.next_sweep.get_or_insert_with(|| next_sweep(cx));
    }

    /// All that is asked before the log is read, in a real broker's order. Gives the tags that are wanted.
    fn check_pull(&mut self, cx: &Context<'_>, pull: &PullMessage) -> Result<Wanted, Refusal> {
        let forbidden = |what: &str| Refusal::new(ResponseCode::NO_PERMISSION, what);
        let settings = self.settings.ensure(cx.config, &pull.group)?;
        if !settings.consume_enabled {
            return Err(forbidden("the group may not consume"));
        }
        let topic = self.topics.existing(&pull.topic)?;
        if topic.perm & PERM_READ == 0 {
            return Err(forbidden("the topic may not be read"));
        }
        if !(0..topic.read_queues).contains(&pull.queue_id) {
            let remark = format!("topic {} has no queue {} to read", pull.topic, pull.queue_id);
            return Err(Refusal::new(no_such_queue(cx), remark));
        }
        let (expression_type, wanted) = if pull.sys_flag & flags::SUBSCRIPTION != 0 {
            let expression = pull.subscription.as_deref().unwrap_or("*");
            (pull.expression_type.as_deref().unwrap_or("TAG"), parse_tags(expression)?)
        } else {
            self.subscribed(pull, settings.broadcast_enabled)?
        };
        if !is_tag_type(expression_type) {
            let remark = "the embedded broker does not filter by properties";
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
        }
        Ok(wanted)
    }

    /// What the group's heartbeats said of the topic.
    fn subscribed(&self, pull: &PullMessage, broadcasts: bool) -> Result<(&str, Wanted), Refusal> {
        let missing = |what: &str| Refusal::new(ResponseCode::SUBSCRIPTION_NOT_EXIST, what);
        let group = self.groups.find(&pull.group).ok_or_else(|| missing("the group has no members here"))?;
        if group.model == MessageModel::Broadcasting && !broadcasts {
            return Err(Refusal::new(ResponseCode::NO_PERMISSION, "the group may not broadcast"));
        }
        let subscribed = group.subscriptions.get(&pull.topic);
        let subscribed = subscribed.ok_or_else(|| missing("the group does not subscribe to the topic"))?;
        if subscribed.version < pull.subscription_version {
            let remark = format!("the subscription known here is older: {}", subscribed.version);
            return Err(Refusal::new(ResponseCode::SUBSCRIPTION_NOT_LATEST, remark));
        }
        let is_class = subscribed.class_filter_mode;
        let subscribed = &subscribed.subscription;
        let everything = subscribed.sub_string == ALL || is_class;
        let codes = if everything { BTreeSet::new() } else { subscribed.codes.clone() };
        Ok((subscribed.expression_type.as_str(), Wanted(codes)))
    }

    fn read(&self, pull: &PullMessage, wanted: &Wanted) -> Found {
        let offset = pull.queue_offset;
        let most = usize::try_from(pull.max_messages).unwrap_or(1).clamp(1, MOST_MESSAGES);
        let Some(queue) = self.log.queue(&pull.topic, pull.queue_id).filter(|queue| queue.max() > 0) else {
            let code =
                if offset == 0 { ResponseCode::PULL_NOT_FOUND } else { ResponseCode::PULL_OFFSET_MOVED };
            return Found::nothing(code, "NO_MESSAGE_IN_QUEUE", 0);
        };
        if offset == queue.max() {
            return Found::nothing(ResponseCode::PULL_NOT_FOUND, "OFFSET_OVERFLOW_ONE", offset);
        }
        if offset > queue.max() {
            return Found::nothing(ResponseCode::PULL_OFFSET_MOVED, "OFFSET_OVERFLOW_BADLY", queue.max());
        }
        if offset < queue.min() {
            return Found::nothing(ResponseCode::PULL_OFFSET_MOVED, "OFFSET_TOO_SMALL", queue.min());
        }
        let mut found = Found::nothing(ResponseCode::PULL_RETRY_IMMEDIATELY, "NO_MATCHED_MESSAGE", offset);
        let mut count = 0;
        for entry in queue.from(offset).take(MOST_EXAMINED) {
            if wanted.wants(entry.tag) {
                let is_full = count == most || found.body.len() + entry.stored.len() > MOST_BYTES;
                if count > 0 && is_full {
                    break;
                }
                found.body.extend_from_slice(&entry.stored);
                count += 1;
            }
            found.next += 1;
        }
        if count > 0 {
            (found.code, found.status) = (ResponseCode::SUCCESS, "FOUND");
        }
        found
    }

    fn pull_answer(&self, cx: &Context<'_>, request: &Command, pull: &PullMessage, found: Found) -> Command {
        let no_flags = (cx.config.generation == Generation::V5).then_some(0);
        let header = PullMessageResponse {
            suggested_broker: MASTER_ID,
            next_offset: found.next,
            min_offset: self.log.min(&pull.topic, pull.queue_id),
            max_offset: self.log.max(&pull.topic, pull.queue_id),
            offset_delta: None,
            topic_sys_flag: no_flags,
            group_sys_flag: no_flags,
            forbidden_type: None,
        };
        Command::response(found.code, request.opaque)
            .with_remark(found.status)
            .with_header(&header)
            .with_body(found.body.freeze())
    }
}

impl Held {
    /// A connection is gone, and its pulls with it.
    pub(crate) fn disconnected(&mut self, conn: ConnId) {
        let keys: Vec<_> = self.pulls.keys().cloned().collect();
        for key in keys {
            drop(self.take(&key, |pull| pull.conn == conn));
        }
    }

    /// When the next sweep is due.
    pub(crate) fn wake(&self) -> Option<Instant> {
        self.next_sweep.filter(|_| self.count > 0)
    }

    /// How many pulls wait.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Removes those pulls of a queue that `which` names.
    fn take(&mut self, key: &(Topic, i32), which: impl Fn(&HeldPull) -> bool) -> Vec<HeldPull> {
        let Some(pulls) = self.pulls.get_mut(key) else { return Vec::new() };
        let (taken, left): (Vec<_>, Vec<_>) = std::mem::take(pulls).into_iter().partition(which);
        self.count -= taken.len();
        if left.is_empty() {
            self.pulls.remove(key);
        } else {
            *pulls = left;
        }
        taken
    }
}

/// Sweeps happen at fixed times of the machine's clock, whoever waits.
fn next_sweep(cx: &Context<'_>) -> Instant {
    let every = u64::try_from(cx.config.hold_sweep.as_nanos()).unwrap_or(u64::MAX).max(1_000_000);
    Instant::from_nanos((cx.now.as_nanos() / every).saturating_add(1).saturating_mul(every))
}

/// The tags of an expression that travelled with the pull, or the pop.
pub(crate) fn parse_tags(expression: &str) -> Result<Wanted, Refusal> {
    if expression.is_empty() || expression == "*" {
        return Ok(Wanted::default());
    }
    let tags = expression.split("||").map(str::trim).filter(|tag| !tag.is_empty());
    let codes: BTreeSet<i32> = tags.map(java_hash).collect();
    if codes.is_empty() {
        let remark = format!("`{expression}` names no tag");
        return Err(Refusal::new(ResponseCode::SUBSCRIPTION_PARSE_FAILED, remark));
    }
    Ok(Wanted(codes))
}

/// Whether an expression type means tags; old clients say nothing.
pub(crate) fn is_tag_type(expression_type: &str) -> bool {
    expression_type.is_empty() || expression_type == "TAG"
}
