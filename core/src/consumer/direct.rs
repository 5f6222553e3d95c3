//! Messages that an operator wants consumed here and now: `mqadmin queryMsgById -d`, and the consoles' "consume once".
//!
//! A broker sends the message and waits 10 s for how the handler ended; the tools of 5.x wait 5 s for the broker. The message belongs to no queue of ours, even if
//! its queue is: nothing is committed, nothing goes back to the broker, and a failure is only reported.
//!
//! | what happens | answer |
//! |---|---|
//! | the handler is content | `CR_SUCCESS` |
//! | it wants the message again, later | `CR_LATER` |
//! | it fails or panics | `CR_THROW_EXCEPTION`, with its text |
//! | it has not ended after 4 s | `CR_RETURN_NULL`, in words; how it ends is told as an event |
//! | none was free for 4 s | 207 (timed out): the message is not consumed |
//! | [`MOST`] are under way | 2 (busy) |
//! | the consumer stops | 1 |
//!
//! Such a message takes one of the handlers that there are, before the queues' messages. An orderly consumer hands it
//! out when no other message of its queue is with a handler, and until it ends none is. Java runs it beside them.

use super::io::{Delivery, Event, Failure, Outcome, Output};
use super::timers::Timer;
use super::{Consumer, namespace};
use crate::model::{Address, BrokerName, Group, MessageQueue, QueueEpoch, Ticket, Topic};
use crate::time::{Duration, Instant};
use crate::wire::code::ResponseCode;
use crate::wire::message::Message;
use crate::wire::peer::{Answer, DirectVerdict, DirectlyConsumed};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Most that wait or run at once.
const MOST: usize = 16;
/// Whoever asked shall hear from us why it takes so long, and not from a tool that gave up that we are silent.
const PATIENCE: Duration = Duration::from_secs(4);

/// What was asked for and has not ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directs {
    last_ticket: u64,
    waiting: VecDeque<Waiting>,
    running: BTreeMap<Ticket, Running>,
}

#[derive(Clone, Debug)]
struct Waiting {
    asker: Asker,
    queue: MessageQueue,
    message: Message,
}

#[derive(Clone, Debug)]
struct Running {
    /// `None` if there is nobody to answer any more.
    asker: Option<Asker>,
    queue: MessageQueue,
    offset: i64,
    since: Instant,
}

#[derive(Clone, Debug)]
struct Asker {
    address: Address,
    opaque: i32,
    until: Instant,
}

impl Directs {
    /// Handlers at work.
    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    fn deadline(&self) -> Option<Instant> {
        let running = self.running.values().filter_map(|running| running.asker.as_ref());
        self.waiting.iter().map(|waiting| &waiting.asker).chain(running).map(|asker| asker.until).min()
    }

    /// A connection broke: an answer would go to whoever has the next one.
    pub(super) fn link_down(&mut self, address: &Address) {
        self.waiting.retain(|waiting| waiting.asker.address != *address);
        for running in self.running.values_mut() {
            running.asker = running.asker.take().filter(|asker| asker.address != *address);
        }
    }
}

/// Whether a ticket is one of these deliveries.
pub(super) fn is_direct(ticket: Ticket) -> bool {
    ticket.epoch == QueueEpoch::NONE
}

impl Consumer {
    pub(super) fn on_consume_directly(
        &mut self,
        address: Address,
        opaque: i32,
        group: &Group,
        broker: Option<BrokerName>,
        mut message: Message,
    ) {
        let asker = Asker { address, opaque, until: self.now + PATIENCE };
        if *group != self.config.group {
            let remark = format!("group {group} is not in this client");
            return self.refuse(asker, ResponseCode::SYSTEM_ERROR, remark);
        }
        if !self.is_running() {
            return self.refuse(asker, ResponseCode::SYSTEM_ERROR, "the consumer does not run".to_string());
        }
        if self.directs.waiting.len() + self.directs.running.len() >= MOST {
            let remark = format!("{MOST} messages are being consumed directly already");
            return self.refuse(asker, ResponseCode::SYSTEM_BUSY, remark);
        }
        message.broker = broker.unwrap_or(message.broker);
        let queue = MessageQueue::new(message.topic.clone(), message.broker.clone(), message.queue_id);
        if queue.topic.is_retry() {
            message.topic = message.retry_topic().map_or_else(|| message.topic.clone(), Topic::from);
        }
        namespace::inside(&self.config.namespace, &mut message);
        self.directs.waiting.push_back(Waiting { asker, queue, message });
    }

    fn refuse(&mut self, asker: Asker, code: ResponseCode, remark: String) {
        let answer = Answer::Refused { code: code.0, remark };
        self.out.push_back(Output::Answer { to: asker.address, opaque: asker.opaque, answer });
    }

    /// Hands out what was asked for while handlers are free.
    pub(super) fn decide_directs(&mut self) {
        let mut at = 0;
        while self.delivered.len() < self.config.limits.concurrency as usize {
            let Some(waiting) = self.directs.waiting.get(at) else { break };
            if self.config.orderly && self.is_worked_on(&waiting.queue) {
                at += 1;
                continue;
            }
            let Some(Waiting { asker, queue, message }) = self.directs.waiting.remove(at) else { break };
            self.directs.last_ticket += 1;
            let ticket = Ticket { epoch: QueueEpoch::NONE, number: self.directs.last_ticket };
            let (offset, since) = (message.queue_offset, self.now);
            let running = Running { asker: Some(asker), queue: queue.clone(), offset, since };
            self.directs.running.insert(ticket, running);
            self.delivered.insert(ticket);
            if self.config.orderly {
                self.strays.insert(ticket, queue.clone());
            }
            self.out.push_back(Output::Deliver(Delivery { ticket, queue, messages: vec![message] }));
        }
        self.set_direct_timer();
    }

    fn set_direct_timer(&mut self) {
        match self.directs.deadline() {
            Some(at) => self.timers.set(Timer::Direct, at),
            None => self.timers.clear(&Timer::Direct),
        }
    }

    /// Whether a handler has a message of the queue, of whatever life of it.
    fn is_worked_on(&self, queue: &MessageQueue) -> bool {
        let life = self.queues.table.get(queue).and_then(|epoch| self.queues.lives.get(epoch));
        life.is_some_and(|life| !life.running.is_empty()) || self.strays.values().any(|stray| stray == queue)
    }

    pub(super) fn on_direct_outcome(&mut self, ticket: Ticket, outcome: Outcome) {
        let Some(Running { asker, queue, offset, since }) = self.directs.running.remove(&ticket) else {
            return self.late();
        };
        self.on_stray_outcome(ticket);
        let (verdict, remark) = judged(outcome);
        let answered = asker.is_some();
        if let Some(asker) = asker {
            self.tell_end(asker, since, verdict, remark.clone());
        }
        self.event(Event::ConsumedDirectly { queue, offset, verdict, remark, answered });
        self.set_direct_timer();
    }

    fn tell_end(&mut self, asker: Asker, since: Instant, verdict: DirectVerdict, remark: Option<String>) {
        let answer = Answer::ConsumedDirectly(DirectlyConsumed {
            order: self.config.orderly,
            auto_commit: true,
            verdict,
            remark,
            spent_ms: i64::try_from(self.now.since(since).as_millis()).unwrap_or(i64::MAX),
        });
        self.out.push_back(Output::Answer { to: asker.address, opaque: asker.opaque, answer });
    }

    /// Whoever waited too long is told so. A message that no handler has seen is not consumed behind their back.
    pub(super) fn on_direct_timer(&mut self) {
        let is_over = |asker: &Asker| asker.until <= self.now;
        let (over, waiting): (VecDeque<_>, _) = core::mem::take(&mut self.directs.waiting)
            .into_iter()
            .partition(|waiting| is_over(&waiting.asker));
        let running = self.directs.running.values_mut();
        let late: Vec<(Asker, Instant)> = running
            .filter_map(|running| Some((running.asker.take_if(|asker| is_over(asker))?, running.since)))
            .collect();
        self.directs.waiting = waiting;
        let seconds = PATIENCE.as_secs();
        for Waiting { asker, .. } in over {
            let remark = format!("no handler was free for {seconds} s; the message was not consumed");
            self.refuse(asker, ResponseCode::CONSUME_MSG_TIMEOUT, remark);
        }
        for (asker, since) in late {
            let remark = format!("the handler has not ended within {seconds} s; it goes on");
            self.tell_end(asker, since, DirectVerdict::Null, Some(remark));
        }
        self.set_direct_timer();
    }

    /// What no handler has seen is not consumed any more.
    pub(super) fn refuse_waiting_directs(&mut self) {
        for Waiting { asker, .. } in core::mem::take(&mut self.directs.waiting) {
            self.refuse(asker, ResponseCode::SYSTEM_ERROR, "the consumer stops".to_string());
        }
    }

    /// Nobody waits for handlers any more.
    pub(super) fn refuse_running_directs(&mut self) {
        let running = self.directs.running.values_mut();
        let askers: Vec<Asker> = running.filter_map(|running| running.asker.take()).collect();
        for asker in askers {
            let remark = "the consumer stops, and the handler has not ended".to_string();
            self.refuse(asker, ResponseCode::SYSTEM_ERROR, remark);
        }
    }
}

fn judged(outcome: Outcome) -> (DirectVerdict, Option<String>) {
    match outcome {
        Outcome::Done => (DirectVerdict::Success, None),
        Outcome::PutBack => (DirectVerdict::Later, Some("the handler did not work on it".to_string())),
        Outcome::Retry { why, .. } | Outcome::Suspend { why, .. } => match why {
            Failure::Asked => (DirectVerdict::Later, None),
            Failure::Error(text) => (DirectVerdict::Exception, Some(text)),
            Failure::Panic(text) => (DirectVerdict::Exception, Some(format!("panic: {text}"))),
            Failure::TimedOut => {
                (DirectVerdict::Exception, Some("the handler's time-out passed".to_string()))
            }
        },
    }
}
