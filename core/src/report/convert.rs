//! Between the JSON shape of a group and the one that plans reckon with.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;

use super::check;
use super::{BrokerSeen, ConsumerSeen, Error, ErrorCode, Load, Owned, SCHEMA, Snapshot, Strategy, TopicSeen};
use crate::model::{ClientId, Group, MessageQueue, Topic};
use crate::order;
use crate::plan::{self, BrokerQueues, MemberSeen, PlanError, Topics, said};

const BAD: ErrorCode = ErrorCode::BadSnapshot;

/// Checks everything, names the first field that is wrong, and keeps what plans look at: all but `takenAt`, `load` and
/// `redacted`.
impl TryFrom<&Snapshot> for plan::Snapshot {
    type Error = Error;

    fn try_from(snapshot: &Snapshot) -> Result<Self, Error> {
        schema(&snapshot.schema)?;
        if let Some(group) = &snapshot.group {
            check::name(BAD, group.as_str(), || "group".into())?;
        }
        let topics = topics(&snapshot.topics)?;
        let mut members = Vec::with_capacity(snapshot.consumers.len());
        if snapshot.consumers.len() > plan::Change::MAX_MEMBERS {
            let count = snapshot.consumers.len();
            return Err(check::too_many_consumers(count).at("consumers"));
        }
        for (at, consumer) in snapshot.consumers.iter().enumerate() {
            members.push(member(consumer, || format!("consumers[{at}]"))?);
        }
        let strategy = snapshot.strategy.as_ref().map(Strategy::build).transpose();
        let strategy = strategy.map_err(|error| error.within("strategy"))?;
        if let Some(owned) = &snapshot.owned {
            give(owned, &snapshot.consumers, &mut members)?;
        }
        loads(snapshot.load.as_deref().unwrap_or_default())?;
        let group = snapshot.group.clone().unwrap_or_else(|| Group::from(""));
        Ok(Self { group, topics, members, strategy })
    }
}

fn schema(schema: &str) -> Result<(), Error> {
    let text = match schema {
        SCHEMA => return Ok(()),
        "" => said!("is missing; expected {SCHEMA:?}", "缺失；应为 {SCHEMA:?}"),
        _ => said!("is {schema:?}; expected {SCHEMA:?}", "是 {schema:?}；应为 {SCHEMA:?}"),
    };
    let hint = match schema.strip_prefix("evenkeel.snapshot/") {
        Some(_) => "this snapshot is of another version; use the program that wrote it, or a newer one",
        None => "write one with `evenkeel snapshot GROUP`",
    };
    Err(Error::new(BAD, text).at("schema").with_hint(hint))
}

fn topics(seen: &[TopicSeen]) -> Result<Topics, Error> {
    let mut topics = Topics::new();
    let mut total = 0_u64;
    for (at, topic) in seen.iter().enumerate() {
        check::name(BAD, topic.topic.as_str(), || format!("topics[{at}].topic"))?;
        let mut brokers = BTreeMap::new();
        for (number, seen) in topic.brokers.iter().enumerate() {
            let field = |name| format!("topics[{at}].brokers[{number}].{name}");
            check::name(BAD, seen.broker.as_str(), || field("broker"))?;
            let read = check::queues(BAD, seen.read_queues, || field("readQueues"))?;
            total += u64::from(read);
            let queues = BrokerQueues { read, readable: seen.readable };
            if brokers.insert(seen.broker.clone(), queues).is_some() {
                let (broker, topic) = (&seen.broker, &topic.topic);
                let text =
                    said!("{broker} stands twice for topic {topic}", "{broker} 在主题 {topic} 中出现了两次");
                return Err(Error::new(BAD, text).at(field("broker")));
            }
        }
        if topics.insert(topic.topic.clone(), brokers).is_some() {
            return Err(twice(&topic.topic, format!("topics[{at}].topic")));
        }
    }
    if total > plan::Layout::MAX_QUEUES {
        return Err(Error::from(PlanError::TooManyQueues { count: total }).at("topics"));
    }
    Ok(topics)
}

fn member(seen: &ConsumerSeen, field: impl Fn() -> String) -> Result<MemberSeen, Error> {
    check::name(BAD, seen.id.as_str(), || format!("{}.id", field()))?;
    let texts = [
        ("address", &seen.address),
        ("language", &seen.language),
        ("version", &seen.version),
        ("strategy", &seen.strategy),
    ];
    for (what, text) in texts {
        if let Some(text) = text {
            check::name(BAD, text, || format!("{}.{what}", field()))?;
        }
    }
    let subscriptions = match (&seen.subscriptions, &seen.topics) {
        (Some(subscriptions), _) => Some(subscriptions.clone()),
        (None, Some(topics)) => Some(order::map(topics.iter().map(|topic| (topic.clone(), "*".to_string())))),
        (None, None) => None,
    };
    for topic in subscriptions.iter().flat_map(BTreeMap::keys) {
        check::name(BAD, topic.as_str(), || format!("{}.subscriptions", field()))?;
    }
    for (number, queue) in seen.listed.iter().flatten().enumerate() {
        check::queue(BAD, queue, || format!("{}.listed[{number}]", field()))?;
    }
    Ok(MemberSeen {
        id: seen.id.clone(),
        address: seen.address.clone(),
        language: seen.language.clone(),
        version: seen.version.clone(),
        strategy: seen.strategy.clone(),
        subscriptions,
        owned: None,
        listed: seen.listed.clone(),
    })
}

/// Gives each member the queues that it says it owns. Of members with one id, the first have what the id has seldom.
fn give(owned: &[Owned], seen: &[ConsumerSeen], members: &mut [MemberSeen]) -> Result<(), Error> {
    let mut places: BTreeMap<&ClientId, Vec<usize>> = BTreeMap::new();
    for (place, consumer) in seen.iter().enumerate() {
        if consumer.answered != Some(false) {
            places.entry(&consumer.id).or_default().push(place);
            if let Some(member) = members.get_mut(place) {
                member.owned = Some(Vec::new());
            }
        }
    }
    let mut known = BTreeSet::new();
    for (at, entry) in owned.iter().enumerate() {
        check::queue(BAD, &entry.queue, || format!("owned[{at}].queue"))?;
        if !known.insert(&entry.queue) {
            return Err(twice(&entry.queue, format!("owned[{at}].queue")));
        }
        let mut times: BTreeMap<&ClientId, usize> = BTreeMap::new();
        for (number, id) in entry.owners.iter().enumerate() {
            let time = times.entry(id).or_default();
            let place = places.get(id).and_then(|places| places.get(*time));
            *time += 1;
            let Some(member) = place.and_then(|&place| members.get_mut(place)) else {
                return Err(stranger(id, *time, seen).at(format!("owned[{at}].owners[{number}]")));
            };
            if let Some(owned) = &mut member.owned {
                owned.push(entry.queue.clone());
            }
        }
    }
    Ok(())
}

/// Why nobody can own a queue under this id.
fn stranger(id: &ClientId, times: usize, seen: &[ConsumerSeen]) -> Error {
    let id = id.as_str();
    if !seen.iter().any(|consumer| consumer.id.as_str() == id) {
        let text = said!("there is no consumer {id:?}", "没有消费者 {id:?}");
        return Error::new(ErrorCode::UnknownConsumer, text).with_hint("list every owner under consumers");
    }
    let text = if times > 1 {
        said!(
            "{id:?} stands {times} times, and fewer consumers of this id answered",
            "{id:?} 出现了 {times} 次，而该 ID 应答的消费者更少"
        )
    } else {
        said!(
            "{id:?} did not answer, so it cannot have said that it owns the queue",
            "{id:?} 没有应答，因此不可能说过它拥有该队列"
        )
    };
    Error::new(BAD, text)
}

fn twice(name: &dyn Display, field: String) -> Error {
    Error::new(BAD, said!("{name} stands twice", "{name} 出现了两次")).at(field)
}

fn loads(loads: &[Load]) -> Result<(), Error> {
    let mut known = BTreeSet::new();
    for (at, load) in loads.iter().enumerate() {
        check::queue(BAD, &load.queue, || format!("load[{at}].queue"))?;
        if !known.insert(&load.queue) {
            return Err(twice(&load.queue, format!("load[{at}].queue")));
        }
        if let Some(lag) = load.lag.filter(|&lag| lag < 0) {
            return Err(check::negative(BAD, lag, format!("load[{at}].lag"))
                .with_hint("leave out a lag that is not known"));
        }
        if load.tps.is_some_and(|tps| !tps.is_finite() || tps < 0.0) {
            return Err(Error::new(BAD, said!("is no rate", "不是速率")).at(format!("load[{at}].tps")));
        }
    }
    Ok(())
}

impl Snapshot {
    /// The JSON shape of a group that plans reckon with. Its strategy cannot be told from the object that computes it,
    /// so that it has to be given; it stands in for the group's own.
    pub fn of(group: &plan::Snapshot, strategy: Option<Strategy>) -> Self {
        let known = Some(group.group.clone()).filter(|group| !group.as_str().is_empty());
        let asked = group.members.iter().any(|member| member.owned.is_some());
        let topics = group.topics.iter().map(|(topic, brokers)| TopicSeen {
            topic: topic.clone(),
            brokers: brokers
                .iter()
                .map(|(broker, queues)| BrokerSeen {
                    broker: broker.clone(),
                    read_queues: i64::from(queues.read),
                    readable: queues.readable,
                })
                .collect(),
        });
        let consumers = group.members.iter().map(|member| consumer(member, asked));
        Self {
            topics: topics.collect(),
            consumers: consumers.collect(),
            strategy,
            owned: asked.then(|| owned(&group.members)),
            ..Self::new(known)
        }
    }
}

fn consumer(member: &MemberSeen, asked: bool) -> ConsumerSeen {
    ConsumerSeen {
        id: member.id.clone(),
        address: member.address.clone(),
        language: member.language.clone(),
        version: member.version.clone(),
        strategy: member.strategy.clone(),
        topics: member.subscriptions.as_ref().map(|topics| topics.keys().cloned().collect::<Vec<Topic>>()),
        subscriptions: member.subscriptions.clone(),
        answered: asked.then_some(member.owned.is_some()),
        listed: member.listed.clone(),
    }
}

fn owned(members: &[MemberSeen]) -> Vec<Owned> {
    let mut owners: BTreeMap<&MessageQueue, Vec<ClientId>> = BTreeMap::new();
    for member in members {
        for queue in order::set(member.owned.iter().flatten()) {
            owners.entry(queue).or_default().push(member.id.clone());
        }
    }
    let owned = owners.into_iter().map(|(queue, mut owners)| {
        owners.sort_unstable();
        Owned { queue: queue.clone(), owners }
    });
    owned.collect()
}
