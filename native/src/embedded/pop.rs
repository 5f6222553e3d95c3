//! Request 200050: messages are taken for a while by whoever asks, and a pop is held until there are some.
//!
//! The committed offset of a queue passes what is taken at once: from then on the [check points](super::popped) say what
//! is still to be done. Messages that come again wait in the retry topic of group and topic, and pops bring them along.
//! A parked pop is answered as soon as one is there (a real broker: only with `enableRetryTopicV2`, else when the pop's
//! time is over).

use super::broker::Broker;
use super::config::{LONGEST_NAME, YoungGroup};
use super::context::Context;
use super::log::read_back;
use super::output::ConnId;
use super::popped::{LONGEST_HIDDEN, Place, hidden_for};
use super::pull::{LARGEST_HELD, LONGEST_HOLD, MOST_BYTES, Wanted, is_tag_type, parse_tags};
use super::request::{Handled, Refusal, header};
use super::send::with_properties;
use bytes::{Bytes, BytesMut};
use evenkeel_core::model::{Group, Topic};
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::headers::consume::{PopMessage, PopMessageResponse};
use evenkeel_core::wire::pop::{CheckPoint, PopSource};
use evenkeel_core::wire::properties::names;
use evenkeel_core::wire::route::PERM_READ;
use evenkeel_core::wire::stored::encode_stored;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Most messages of one pop.
const MOST_MESSAGES: i32 = 32;
/// Of a hundred pops so many look first at what comes again, the others last.
const RETRY_FIRST: u64 = 20;
/// A request that comes so many ms after the end of its hold is not looked at.
const LATEST: i64 = 500;
/// The queue that keeps check points. They are in memory here, so one is enough.
const REVIVE_QUEUE: i32 = 0;

/// Pops that wait, by topic and in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct HeldPops {
    pops: BTreeMap<Topic, BTreeMap<u64, HeldPop>>,
    until: BTreeSet<(Instant, u64, Topic)>,
    last: u64,
}

#[derive(Debug)]
struct HeldPop {
    conn: ConnId,
    request: Command,
    group: Group,
    /// Below 0 for all.
    queue_id: i32,
    wanted: Wanted,
    until: Instant,
}

/// What a pop takes, queue by queue.
#[derive(Default)]
struct Taken {
    count: usize,
    body: BytesMut,
    starts: String,
    offsets: String,
    /// Messages that are left.
    rest: i64,
}

impl Broker {
    /// Request 200050, also one that was held and is looked at again.
    pub(crate) fn pop(&mut self, cx: &mut Context<'_>, conn: ConnId, request: &Command) -> Handled {
        let mut pop: PopMessage = header(request, &[("bornTime", "0")])?;
        if pop.born == 0 {
            pop.born = cx.wall.as_millis();
        }
        let left = pop.born.saturating_add(pop.poll_ms).saturating_sub(cx.wall.as_millis());
        if left < -LATEST {
            return Err(Refusal::new(ResponseCode::POLLING_TIMEOUT, "the pop came after its own end"));
        }
        let wanted = self.check_pop(cx, &pop)?;
        let taken = self.take(cx, &pop, &wanted)?;
        if taken.count > 0 {
            return Ok(Some(pop_answer(cx, request, &pop, ResponseCode::SUCCESS, taken)));
        }
        if pop.poll_ms <= 0 || left <= 0 || request.is_one_way() {
            return Ok(Some(pop_answer(cx, request, &pop, ResponseCode::POLLING_TIMEOUT, taken)));
        }
        let bytes: usize = request.fields.iter().map(|(name, value)| name.len() + value.len()).sum();
        if self.held_pops.len() >= cx.config.limits.held || bytes > LARGEST_HELD {
            return Ok(Some(pop_answer(cx, request, &pop, ResponseCode::POLLING_FULL, taken)));
        }
        let left = Duration::from_millis(left.unsigned_abs()).min(LONGEST_HOLD);
        // Looked at again, it goes on from when it came.
        let request = Command { body: Bytes::new(), ..request.clone() }.with_field("bornTime", pop.born);
        let until = cx.now + left;
        let PopMessage { topic, group, queue_id, .. } = pop;
        self.held_pops.hold(topic, HeldPop { conn, request, group, queue_id, wanted, until });
        Ok(None)
    }

    /// A message has come for those who pop a topic. Of each group (or the one named) the pop that waits longest among
    /// those that want it is looked at again.
    pub(crate) fn wake_pops(
        &mut self,
        cx: &mut Context<'_>,
        topic: &Topic,
        queue_id: Option<i32>,
        only: Option<&Group>,
        tag: i32,
    ) {
        for held in self.held_pops.take_first(topic, queue_id, only, tag) {
            self.pop_again(cx, &held);
        }
    }

    /// Answers the pops whose time is over.
    pub(crate) fn sweep_pops(&mut self, cx: &mut Context<'_>) {
        for held in self.held_pops.take_due(cx.now) {
            self.pop_again(cx, &held);
        }
    }

    fn pop_again(&mut self, cx: &mut Context<'_>, held: &HeldPop) {
        match self.pop(cx, held.conn, &held.request) {
            Ok(Some(answer)) => cx.send(held.conn, answer),
            Ok(None) => {}
            Err(refusal) => cx.send(held.conn, refusal.answer(&held.request)),
        }
    }

    /// All that is asked before anything is taken, in a real broker's order. Gives the tags that are wanted.
    fn check_pop(&mut self, cx: &Context<'_>, pop: &PopMessage) -> Result<Wanted, Refusal> {
        let invalid = |remark: String| Refusal::new(ResponseCode::INVALID_PARAMETER, remark);
        let forbidden = |what: &str| Refusal::new(ResponseCode::NO_PERMISSION, what);
        let failed = |what: &str| Refusal::new(ResponseCode::SYSTEM_ERROR, what);
        if pop.max_messages > MOST_MESSAGES {
            return Err(invalid(format!("{} messages: at most {MOST_MESSAGES} go", pop.max_messages)));
        }
        let topic = self.topics.existing(&pop.topic)?;
        if topic.perm & PERM_READ == 0 {
            return Err(forbidden("the topic may not be read"));
        }
        if pop.queue_id >= topic.read_queues {
            return Err(invalid(format!("topic {} has no queue {} to read", pop.topic, pop.queue_id)));
        }
        if !self.settings.ensure(cx.config, &pop.group)?.consume_enabled {
            return Err(forbidden("the group may not consume"));
        }
        if pop.max_messages < 0 {
            return Err(failed("fewer than no messages cannot be popped"));
        }
        if pop.order {
            return Err(failed("the embedded broker does not pop in order"));
        }
        if pop.group.pop_retry_topic_v1(&pop.topic).as_str().len() > LONGEST_NAME {
            return Err(failed("the names of group and topic are too long for a retry topic of both"));
        }
        if !is_tag_type(pop.expression_type.as_deref().unwrap_or_default()) {
            return Err(failed("the embedded broker does not filter by properties"));
        }
        parse_tags(pop.expression.as_deref().unwrap_or_default())
    }

    /// Takes messages of one queue or all, and of what comes again.
    fn take(&mut self, cx: &mut Context<'_>, pop: &PopMessage, wanted: &Wanted) -> Result<Taken, Refusal> {
        let dice = cx.rng.below(100);
        let retry = pop.group.pop_retry_topic_v1(&pop.topic);
        let readable = |topic: &Topic| self.topics.find(topic).map_or(0, |topic| topic.read_queues);
        let first = i32::try_from(dice).unwrap_or(0);
        let all_of = |topic: &Topic| {
            let (topic, count) = (topic.clone(), readable(topic));
            (0..count).map(move |next| (topic.clone(), (first + next) % count))
        };
        let mut queues: Vec<(Topic, i32)> = match pop.queue_id {
            ..0 => all_of(&pop.topic).collect(),
            queue_id => vec![(pop.topic.clone(), queue_id)],
        };
        let at = if dice < RETRY_FIRST { 0 } else { queues.len() };
        queues.splice(at..at, all_of(&retry));

        let mut taken = Taken::default();
        for (topic, queue_id) in queues {
            match self.take_from(cx, pop, wanted, &topic, queue_id, &mut taken) {
                Ok(()) => {}
                // What is taken already has to be given out.
                Err(_) if taken.count > 0 => break,
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(taken)
    }

    fn take_from(
        &mut self,
        cx: &Context<'_>,
        pop: &PopMessage,
        wanted: &Wanted,
        topic: &Topic,
        queue_id: i32,
        taken: &mut Taken,
    ) -> Result<(), Refusal> {
        let start = self.next_to_pop(cx, pop, topic, queue_id)?;
        let limits = &cx.config.limits;
        let most = usize::try_from(pop.max_messages).unwrap_or(0);
        // Without room for its check point no message is given out.
        let room = limits.popped.saturating_sub(self.popped.len()) + taken.count;
        let most = most.min(room);
        let Some(queue) = self.log.queue(topic, queue_id) else { return Ok(()) };
        let (mut next, mut offsets) = (start, Vec::new());
        for entry in queue.from(start) {
            if wanted.wants(entry.tag) {
                let is_long = taken.count > 0 && taken.body.len() + entry.stored.len() > MOST_BYTES;
                if taken.count >= most || is_long {
                    break;
                }
                let check_point = || CheckPoint {
                    start,
                    pop_time: cx.wall.as_millis(),
                    invisible_ms: pop.invisible_ms,
                    revive_queue: REVIVE_QUEUE,
                    source: PopSource::of(topic),
                    broker: self.name.clone(),
                    queue_id,
                    offset: next,
                };
                match topic == &pop.topic {
                    true => taken.body.extend_from_slice(&entry.stored),
                    false => taken.body.extend(under_own_topic(&entry.stored, &pop.topic, &check_point())),
                }
                taken.count += 1;
                offsets.push(next);
            }
            next += 1;
        }
        taken.rest += queue.max() - next;
        self.offsets.commit(&pop.group, topic, queue_id, next, limits.offsets)?;
        if !offsets.is_empty() {
            taken.list(PopSource::of(topic), queue_id, start, &offsets);
        }
        for offset in offsets {
            let (group, topic) = (pop.group.clone(), topic.clone());
            let place = Place { group, topic, queue_id, offset, pop_time: cx.wall.as_millis() };
            // A real broker loses what is hidden for longer than is possible.
            let hidden = hidden_for(pop.invisible_ms).unwrap_or(LONGEST_HIDDEN);
            self.popped.hide(place, cx.now + hidden);
        }
        Ok(())
    }

    /// The offset from which a group goes on popping: an ordered reset, else the committed one, else where it starts.
    fn next_to_pop(
        &mut self,
        cx: &Context<'_>,
        pop: &PopMessage,
        topic: &Topic,
        queue_id: i32,
    ) -> Result<i64, Refusal> {
        let (min, max) = (self.log.min(topic, queue_id), self.log.max(topic, queue_id));
        let reset = self.offsets.take_reset(&pop.group, topic, queue_id);
        let known = reset.or_else(|| self.offsets.committed(&pop.group, topic, queue_id));
        let at = known.map_or_else(
            || {
                let from_first = pop.init_mode == 0 || topic.is_retry();
                let is_young = min <= 0 && cx.config.young_group == YoungGroup::StartsAtZero;
                // Real brokers begin with the last message, not after it.
                if from_first || is_young { min } else { (max - 1).max(0) }
            },
            |offset| offset.clamp(min, max),
        );
        if known != Some(at) || reset.is_some() {
            self.offsets.commit(&pop.group, topic, queue_id, at, cx.config.limits.offsets)?;
        }
        Ok(at)
    }
}

impl HeldPops {
    /// How many pops wait.
    pub(crate) fn len(&self) -> usize {
        self.until.len()
    }

    /// When the first of them has waited long enough.
    pub(crate) fn wake(&self) -> Option<Instant> {
        self.until.first().map(|(at, ..)| *at)
    }

    /// A connection is gone, and its pops with it.
    pub(crate) fn disconnected(&mut self, conn: ConnId) {
        let of_conn = |(topic, pops): (&Topic, &BTreeMap<u64, HeldPop>)| {
            let numbers = pops.iter().filter(|(_, held)| held.conn == conn);
            numbers.map(|(number, _)| (topic.clone(), *number)).collect::<Vec<_>>()
        };
        for (topic, number) in self.pops.iter().flat_map(of_conn).collect::<Vec<_>>() {
            self.remove(&topic, number);
        }
    }

    fn hold(&mut self, topic: Topic, held: HeldPop) {
        self.last += 1;
        self.until.insert((held.until, self.last, topic.clone()));
        self.pops.entry(topic).or_default().insert(self.last, held);
    }

    fn take_first(
        &mut self,
        topic: &Topic,
        queue_id: Option<i32>,
        only: Option<&Group>,
        tag: i32,
    ) -> Vec<HeldPop> {
        let mut first: BTreeMap<&Group, u64> = BTreeMap::new();
        for (number, held) in self.pops.get(topic).into_iter().flatten() {
            let is_group = only.is_none_or(|only| *only == held.group);
            let is_queue = held.queue_id < 0 || queue_id.is_none_or(|queue_id| queue_id == held.queue_id);
            if is_group && is_queue && held.wanted.wants(tag) {
                first.entry(&held.group).or_insert(*number);
            }
        }
        let first: Vec<u64> = first.into_values().collect();
        first.into_iter().filter_map(|number| self.remove(topic, number)).collect()
    }

    fn take_due(&mut self, now: Instant) -> Vec<HeldPop> {
        let due = self.until.iter().take_while(|(at, ..)| *at <= now);
        let due: Vec<_> = due.map(|(_, number, topic)| (topic.clone(), *number)).collect();
        due.into_iter().filter_map(|(topic, number)| self.remove(&topic, number)).collect()
    }

    fn remove(&mut self, topic: &Topic, number: u64) -> Option<HeldPop> {
        let pops = self.pops.get_mut(topic)?;
        let held = pops.remove(&number)?;
        if pops.is_empty() {
            self.pops.remove(topic);
        }
        self.until.remove(&(held.until, number, topic.clone()));
        Some(held)
    }
}

impl Taken {
    /// Adds a queue to the texts of the header: `source queue start;…` and `source queue offset,offset,…;…`.
    fn list(&mut self, source: PopSource, queue_id: i32, start: i64, offsets: &[i64]) {
        let separator = if self.starts.is_empty() { "" } else { ";" };
        let mark = source.mark();
        let offsets: Vec<String> = offsets.iter().map(i64::to_string).collect();
        // Writing to a text cannot fail.
        let _ = write!(self.starts, "{separator}{mark} {queue_id} {start}");
        let _ = write!(self.offsets, "{separator}{mark} {queue_id} {}", offsets.join(","));
    }
}

fn pop_answer(
    cx: &Context<'_>,
    request: &Command,
    pop: &PopMessage,
    code: ResponseCode,
    taken: Taken,
) -> Command {
    let status = if taken.count > 0 { "FOUND" } else { "NO_MESSAGE_IN_QUEUE" };
    let header = PopMessageResponse {
        pop_time: cx.wall.as_millis(),
        invisible_ms: pop.invisible_ms,
        revive_queue: REVIVE_QUEUE,
        rest: taken.rest,
        start_offsets: Some(taken.starts),
        message_offsets: Some(taken.offsets),
        order_counts: None,
    };
    Command::response(code, request.opaque)
        .with_remark(status)
        .with_header(&header)
        .with_body(taken.body.freeze())
}

/// A message that came again, as it is given out: under the topic that was popped and with its check point in it. One that
/// cannot be written like this is given out as it is stored.
fn under_own_topic(stored: &Bytes, topic: &Topic, check_point: &CheckPoint) -> Bytes {
    let Some(mut message) = read_back(stored) else { return stored.clone() };
    message.topic = topic.clone();
    message.properties =
        with_properties(&message.properties, &[(names::POP_CK, check_point.to_string().as_str())]);
    let mut written = Vec::with_capacity(stored.len() + 128);
    match encode_stored(&message, &mut written) {
        Ok(_) => Bytes::from(written),
        Err(_) => stored.clone(),
    }
}
