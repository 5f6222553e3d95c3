//! Name servers and brokers that answer as they should, unless told otherwise.

use super::{Flight, GROUP, ME, lost, refused};
use bytes::Bytes;
use evenkeel_core::model::{Address, BrokerName, CallId, ClientId, Group, MessageQueue, Topic};
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::bodies::{Assignments, RequestMode};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::message::Message;
use evenkeel_core::wire::properties::Properties;
use evenkeel_core::wire::reply::{
    BrokerData, CallError, PullStatus, Pulled, QueueData, Refusal, Reply, TopicRoute,
};
use evenkeel_core::wire::request::Request;
use std::collections::{BTreeMap, BTreeSet};

/// State of the scripted cluster. Tests change it directly.
pub(crate) struct Cluster {
    /// Readable queues by broker, by topic.
    pub(crate) topics: BTreeMap<Topic, Vec<(BrokerName, i32)>>,
    pub(crate) brokers: BTreeMap<BrokerName, BTreeMap<i64, Address>>,
    pub(crate) members: Vec<ClientId>,
    pub(crate) committed: BTreeMap<MessageQueue, i64>,
    /// Every commit that arrived, in order.
    pub(crate) history: Vec<(MessageQueue, i64)>,
    pub(crate) stored: BTreeMap<MessageQueue, Vec<Message>>,
    /// First offset of each queue, 0 if not named.
    pub(crate) first: BTreeMap<MessageQueue, i64>,
    /// Nobody listens there.
    pub(crate) down: BTreeSet<Address>,
    /// Somebody listens there and never answers.
    pub(crate) silent: BTreeSet<Address>,
    /// Queues whose lock another member holds.
    pub(crate) locked_elsewhere: BTreeSet<MessageQueue>,
    /// Queues whose lock the consumer holds, as far as brokers know.
    pub(crate) locked: BTreeSet<MessageQueue>,
    /// Topics that the broker has popped.
    pub(crate) popped: BTreeSet<Topic>,
    /// Questions for assignments are not known (4.9).
    pub(crate) old: bool,
    /// Pulls that the broker does not hold any more.
    released: BTreeSet<CallId>,
}

impl Cluster {
    /// One topic with `queues` queues on broker `a`, whose master is `a:10911`; one member, the consumer.
    pub(crate) fn one(topic: &str, queues: i32) -> Self {
        let mut cluster = Self {
            topics: BTreeMap::new(),
            brokers: BTreeMap::new(),
            members: vec![ClientId::from(ME)],
            committed: BTreeMap::new(),
            history: Vec::new(),
            stored: BTreeMap::new(),
            first: BTreeMap::new(),
            down: BTreeSet::new(),
            silent: BTreeSet::new(),
            locked_elsewhere: BTreeSet::new(),
            locked: BTreeSet::new(),
            popped: BTreeSet::new(),
            old: false,
            released: BTreeSet::new(),
        };
        cluster.topic(topic, &[("a", queues)]);
        cluster
    }

    /// Makes or replaces a topic; its brokers get masters `<name>:10911`.
    pub(crate) fn topic(&mut self, topic: &str, queues: &[(&str, i32)]) {
        for (broker, _) in queues {
            let master = Address::from(format!("{broker}:10911"));
            self.brokers.entry(BrokerName::from(*broker)).or_insert_with(|| [(0, master)].into());
        }
        let queues = queues.iter().map(|(broker, count)| (BrokerName::from(*broker), *count)).collect();
        self.topics.insert(Topic::from(topic), queues);
    }

    pub(crate) fn with_committed(mut self, queue: &MessageQueue, offset: i64) -> Self {
        self.committed.insert(queue.clone(), offset);
        self
    }

    /// The queue holds `count` messages from `first` on, and the group has committed `first`.
    pub(crate) fn with_stored(mut self, queue: &MessageQueue, first: i64, count: i64) -> Self {
        self.first.insert(queue.clone(), first);
        self.store(queue, count);
        self.with_committed(queue, first)
    }

    pub(crate) fn members(&mut self, ids: &[&str]) {
        self.members = ids.iter().map(|id| ClientId::from(*id)).collect();
    }

    pub(crate) fn end(&self, queue: &MessageQueue) -> i64 {
        let first = self.first.get(queue).copied().unwrap_or(0);
        first + self.stored.get(queue).map_or(0, |messages| messages.len() as i64)
    }

    pub(crate) fn store(&mut self, queue: &MessageQueue, count: i64) {
        for _ in 0..count {
            let message = message(queue, self.end(queue));
            self.stored.entry(queue.clone()).or_default().push(message);
        }
    }

    pub(crate) fn forget(&mut self, call: CallId) {
        self.released.insert(call);
    }

    /// What comes back by itself; none if nothing does.
    pub(crate) fn answer(&mut self, to: &Address, request: &Request) -> Option<Result<Reply, CallError>> {
        if self.down.contains(to) {
            return Some(Err(lost()));
        }
        if self.silent.contains(to) {
            return None;
        }
        Some(match request {
            Request::Route { topic } => self.route(topic, request),
            Request::Heartbeat(_) => Ok(Reply::Heartbeat { version: 475 }),
            Request::Members { .. } => Ok(Reply::Members(self.members.clone())),
            Request::QueryOffset { queue, .. } => Ok(Reply::Offset(self.committed.get(queue).copied())),
            Request::CommitOffset { queue, offset, .. } => {
                self.commit(queue, *offset);
                Ok(Reply::Done)
            }
            Request::Lock(wanted) => {
                let granted: BTreeSet<MessageQueue> =
                    wanted.queues.difference(&self.locked_elsewhere).cloned().collect();
                self.locked.extend(granted.iter().cloned());
                Ok(Reply::Locked(granted))
            }
            Request::Unlock(given_up) => {
                self.locked.retain(|queue| !given_up.queues.contains(queue));
                Ok(Reply::Done)
            }
            Request::QueryAssignment(_) if self.old => {
                Err(refused(request, ResponseCode::REQUEST_CODE_NOT_SUPPORTED))
            }
            Request::QueryAssignment(query) => Ok(Reply::Assigned(self.assignment(&query.topic))),
            Request::Pop(_) => return None,
            Request::Ack(_) => Ok(Reply::Acked(true)),
            Request::ChangeInvisible { popped, .. } => Ok(Reply::Hidden(Some(popped.check_point.clone()))),
            Request::MaxOffset { queue } => Ok(Reply::Offset(Some(self.end(queue)))),
            Request::MinOffset { queue } => {
                Ok(Reply::Offset(Some(self.first.get(queue).copied().unwrap_or(0))))
            }
            Request::OffsetAt { .. } => Ok(Reply::Offset(Some(0))),
            Request::Pull(pull) => {
                if let Some(offset) = pull.commit {
                    self.commit(&pull.queue, offset);
                }
                return self.found(request).map(Ok);
            }
            _ => Ok(Reply::Done),
        })
    }

    /// Everything is the consumer's.
    fn assignment(&self, topic: &Topic) -> Assignments {
        let brokers = self.topics.get(topic).map(Vec::as_slice).unwrap_or_default();
        let rows = brokers.iter().flat_map(|(broker, queues)| {
            let (ids, mode) = match self.popped.contains(topic) {
                true => (-1..0, RequestMode::Pop),
                false => (0..*queues, RequestMode::Pull),
            };
            ids.map(move |id| (MessageQueue::new(topic.clone(), broker.clone(), id), mode))
        });
        Assignments(Some(rows.collect()))
    }

    fn commit(&mut self, queue: &MessageQueue, offset: i64) {
        self.committed.insert(queue.clone(), offset);
        self.history.push((queue.clone(), offset));
    }

    fn route(&self, topic: &Topic, request: &Request) -> Result<Reply, CallError> {
        let Some(queues) = self.topics.get(topic) else {
            return Err(refused(request, ResponseCode::TOPIC_NOT_EXIST));
        };
        let data = |(broker, count): &(BrokerName, i32)| QueueData {
            broker: broker.clone(),
            read_queues: *count,
            write_queues: *count,
            perm: 6,
            sys_flag: 0,
        };
        let broker = |(broker, _): &(BrokerName, i32)| BrokerData {
            cluster: "c".into(),
            broker: broker.clone(),
            addresses: self.brokers[broker].clone(),
        };
        Ok(Reply::Route(TopicRoute {
            queues: queues.iter().map(data).collect(),
            brokers: queues.iter().map(broker).collect(),
            order_conf: None,
        }))
    }

    /// The answer to a pull for which there is something.
    pub(crate) fn found(&self, request: &Request) -> Option<Reply> {
        let Request::Pull(pull) = request else { return None };
        let messages = self.stored.get(&pull.queue).into_iter().flatten();
        let messages = messages.filter(|message| message.queue_offset >= pull.offset);
        let messages: Vec<Message> = messages.take(pull.max_messages as usize).cloned().collect();
        let next = messages.last()?.queue_offset + 1;
        Some(Reply::Pulled(Pulled { max: self.end(&pull.queue), ..found(messages, next) }))
    }

    /// Whether the broker holds this pull.
    pub(crate) fn is_held(&self, flight: &Flight) -> bool {
        matches!(flight.request, Request::Pull(_))
            && !flight.parked
            && !self.released.contains(&flight.call)
            && !self.down.contains(&flight.to)
            && !self.silent.contains(&flight.to)
            && self.found(&flight.request).is_none()
    }

    /// When the broker gives an empty answer.
    pub(crate) fn hold_ends(&self, flight: &Flight) -> Option<Instant> {
        let Request::Pull(pull) = &flight.request else { return None };
        let hold = Duration::from_millis(pull.suspend_ms.unsigned_abs());
        self.is_held(flight).then(|| flight.sent + hold)
    }

    pub(crate) fn empty_pull(&self, flight: &Flight) -> Reply {
        match &flight.request {
            Request::Pull(pull) => {
                Reply::Pulled(Pulled { max: self.end(&pull.queue), ..empty(PullStatus::NoNew, pull.offset) })
            }
            other => panic!("{other:?} is no pull"),
        }
    }
}

pub(crate) fn empty(status: PullStatus, next: i64) -> Pulled {
    Pulled {
        status,
        next,
        min: 0,
        max: next,
        offset_delta: 0,
        suggested_broker: 0,
        messages: Vec::new(),
        damaged: None,
    }
}

pub(crate) fn found(messages: Vec<Message>, next: i64) -> Pulled {
    Pulled { messages, ..empty(PullStatus::Found, next) }
}

/// Messages `from..to` of a queue as an answer.
pub(crate) fn range(queue: &MessageQueue, from: i64, to: i64) -> Pulled {
    found((from..to).map(|offset| message(queue, offset)).collect(), to)
}

/// A message whose log offset is a thousand times its queue offset.
pub(crate) fn message(queue: &MessageQueue, offset: i64) -> Message {
    let mut message = Message::new(queue.topic.clone(), Bytes::from_static(b"body"));
    message.queue_id = queue.id;
    message.queue_offset = offset;
    message.commit_log_offset = offset.saturating_mul(1000);
    message
}

pub(crate) fn tagged(queue: &MessageQueue, offset: i64, tag: &str) -> Message {
    let mut message = message(queue, offset);
    message.properties = Properties::from_pairs([("TAGS", tag)]);
    message
}

pub(crate) fn group() -> Group {
    Group::from(GROUP)
}

pub(crate) fn refusal(code: i32) -> CallError {
    let request = evenkeel_core::wire::code::RequestCode::PULL_MESSAGE;
    CallError::Refused(Refusal { request, code: ResponseCode(code), remark: String::new() })
}
