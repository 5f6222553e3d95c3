//! Random groups, and how both sides are told of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evenkeel_core::allocate::{
    Allocate, AllocateError, Average, ByConfig, Circle, ConsistentHash, MachineRoom, Nearby, Room, RoomOf,
    RoomPrefix, RoomTable,
};
use evenkeel_core::model::{BrokerName, ClientId, MessageQueue};
use evenkeel_core::rng::Rng;
use serde_json::{Value, json};

use super::names::{Style, pick, room};

/// A group, a topic, and a strategy to share it by.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) rule: Rule,
    /// In a random order, none twice.
    pub(crate) queues: Vec<MessageQueue>,
    /// In a random order, some twice.
    pub(crate) members: Vec<ClientId>,
    /// Who is asked for: each member once, in Java's order, and some who may be none.
    pub(crate) ask: Vec<ClientId>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rule {
    Average,
    Circle,
    Hash { virtual_nodes: i32 },
    Rooms(Option<Vec<String>>),
    Nearby { inner: Box<Rule>, rooms: Rooms },
    Config(Option<Vec<MessageQueue>>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rooms {
    Before(char),
    Table(RoomTable),
}

/// The largest case: as large as real groups come, and what patience allows.
const MOST_QUEUES: u64 = 2_000;
const MOST_MEMBERS: u64 = 200;
/// Points that may be hashed when each member is asked in turn, for rings with more than the usual points.
const MOST_POINTS: u64 = 100_000;

impl Case {
    /// Case `number` of a seed. One in a thousand is of the largest size, most are small.
    pub(crate) fn of(seed: u64, number: u64) -> Self {
        let mut rng = Rng::new(Rng::new(seed).next_u64() ^ number);
        let rng = &mut rng;
        let (queues, members) = if number.is_multiple_of(1_000) {
            (MOST_QUEUES, MOST_MEMBERS)
        } else {
            (size(rng, [16, 128, 600, MOST_QUEUES]), size(rng, [8, 32, 100, MOST_MEMBERS]))
        };
        let separator = pick(rng, &['@', '@', '-']);
        let style = pick(rng, &[Style::Usual, Style::Rooms(separator), Style::Rooms(separator), Style::Odd]);
        let queues = some_queues(rng, style, queues);
        let members: Vec<ClientId> = (0..members).map(|_| style.member(rng).into()).collect();
        let mut ask: Vec<ClientId> = members.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        ask.extend((0..rng.below(3)).map(|_| ClientId::from(style.member(rng))));
        let rule = rule(rng, style, &queues, &members, true);
        Self { rule, queues, members, ask }
    }

    /// A group without anything odd, in which strategies have to differ.
    pub(crate) fn sound(rng: &mut Rng, rule: Rule) -> Self {
        let count = 20 + rng.below(40);
        let queues = some_queues(rng, Style::Usual, count);
        let ask: Vec<ClientId> = (0..3 + rng.below(6)).map(|n| ClientId::from(format!("c{n}"))).collect();
        let mut members = ask.clone();
        shuffle(rng, &mut members);
        Self { rule, queues, members, ask }
    }

    /// The case as the Java program reads it.
    pub(crate) fn for_java(&self) -> Value {
        json!({
            "strategy": self.rule.for_java(),
            "queues": as_triples(&self.queues),
            "members": as_texts(&self.members),
            "ask": as_texts(&self.ask),
        })
    }
}

impl Rule {
    /// Core's strategy.
    pub(crate) fn ours(&self) -> Result<Arc<dyn Allocate>, AllocateError> {
        Ok(match self {
            Self::Average => Arc::new(Average),
            Self::Circle => Arc::new(Circle),
            Self::Hash { virtual_nodes } => Arc::new(ConsistentHash::new(*virtual_nodes)?),
            Self::Rooms(None) => Arc::new(MachineRoom::default()),
            Self::Rooms(Some(rooms)) => Arc::new(MachineRoom::new(rooms.iter().map(String::as_str))),
            Self::Nearby { inner, rooms: Rooms::Before(separator) } => {
                Arc::new(Nearby::new(inner.ours()?, RoomPrefix { separator: *separator }))
            }
            Self::Nearby { inner, rooms: Rooms::Table(table) } => {
                Arc::new(Nearby::new(inner.ours()?, table.clone()))
            }
            Self::Config(listed) => Arc::new(ByConfig::new(listed.clone().unwrap_or_default())),
        })
    }

    /// The list of CONFIG, also inside Nearby.
    pub(crate) fn listed(&self) -> &[MessageQueue] {
        match self {
            Self::Config(listed) => listed.as_deref().unwrap_or_default(),
            Self::Nearby { inner, .. } => inner.listed(),
            _ => &[],
        }
    }

    /// Java's `getName`, without what is inside.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Average => "AVG",
            Self::Circle => "AVG_BY_CIRCLE",
            Self::Hash { .. } => "CONSISTENT_HASH",
            Self::Rooms(_) => "MACHINE_ROOM",
            Self::Nearby { .. } => "MACHINE_ROOM_NEARBY",
            Self::Config(_) => "CONFIG",
        }
    }

    fn for_java(&self) -> Value {
        let mut rule = json!({"name": self.name()});
        match self {
            Self::Average | Self::Circle | Self::Rooms(None) | Self::Config(None) => {}
            Self::Hash { virtual_nodes } => rule["virtualNodes"] = json!(virtual_nodes),
            Self::Rooms(Some(rooms)) => rule["rooms"] = json!(rooms),
            Self::Config(Some(listed)) => rule["queues"] = as_triples(listed),
            Self::Nearby { inner, rooms } => {
                rule["inner"] = inner.for_java();
                match rooms {
                    Rooms::Before(separator) => rule["separator"] = json!(separator),
                    Rooms::Table(RoomTable { brokers, members }) => {
                        let brokers = brokers.iter().map(|(name, room)| [name.as_str(), room.as_str()]);
                        let members = members.iter().map(|(name, room)| [name.as_str(), room.as_str()]);
                        rule["brokerRooms"] = brokers.collect();
                        rule["memberRooms"] = members.collect();
                    }
                }
            }
        }
        rule
    }
}

impl Rooms {
    pub(crate) fn resolver(&self) -> &dyn RoomOf {
        match self {
            Self::Before('@') => &RoomPrefix { separator: '@' },
            Self::Before(_) => &RoomPrefix { separator: '-' },
            Self::Table(table) => table,
        }
    }
}

fn rule(rng: &mut Rng, style: Style, queues: &[MessageQueue], members: &[ClientId], outer: bool) -> Rule {
    match rng.below(6) {
        0 => Rule::Average,
        1 => Rule::Circle,
        2 => {
            let virtual_nodes = pick(rng, &[10, 10, 10, 10, 1, 2, 3, 33, 200, 0, -1]);
            let points = (members.len() * members.len()) as u64 * virtual_nodes.max(0) as u64;
            Rule::Hash { virtual_nodes: if points > MOST_POINTS { 10 } else { virtual_nodes } }
        }
        3 => {
            let never = rng.chance(50);
            let rooms = (0..rng.below(4)).map(|_| if rng.chance(50) { "" } else { room(rng) }.to_owned());
            let rooms = rooms.collect();
            Rule::Rooms((!never).then_some(rooms))
        }
        4 if outer => {
            let rooms = some_rooms(rng, style, queues, members);
            Rule::Nearby { inner: Box::new(rule(rng, style, queues, members, false)), rooms }
        }
        // Nearby in Nearby, once.
        4 => {
            let rooms = some_rooms(rng, style, queues, members);
            let inner = [Rule::Average, Rule::Circle, Rule::Hash { virtual_nodes: 3 }];
            let inner = inner[rng.below(3) as usize].clone();
            Rule::Nearby { inner: Box::new(inner), rooms }
        }
        _ => {
            let listed = (0..rng.below(30)).map(|_| match rng.below(4) {
                0 => MessageQueue::new("other", "b0", rng.below(4) as i32),
                _ if queues.is_empty() => MessageQueue::new("T", "b0", 0),
                _ => queues[rng.below(queues.len() as u64) as usize].clone(),
            });
            let listed = listed.collect();
            // Inside Nearby, Java takes a list that was never set for an error of its own kind.
            Rule::Config((!outer || !rng.chance(50)).then_some(listed))
        }
    }
}

/// By the convention that the names follow, seldom by one that they do not, or by two tables that forget somebody now
/// and then.
fn some_rooms(rng: &mut Rng, style: Style, queues: &[MessageQueue], members: &[ClientId]) -> Rooms {
    match style {
        Style::Rooms(separator) if rng.chance(500) => return Rooms::Before(separator),
        _ if rng.chance(30) => return Rooms::Before(pick(rng, &['@', '-'])),
        _ => {}
    }
    let gaps = if rng.chance(100) { 30 } else { 0 };
    let place = |rng: &mut Rng| match rng.chance(gaps) {
        true if rng.chance(500) => None,
        true => Some(Room::from("")),
        false => Some(Room::from(room(rng))),
    };
    let brokers: BTreeSet<&BrokerName> = queues.iter().map(|queue| &queue.broker).collect();
    let members: BTreeSet<&ClientId> = members.iter().collect();
    let brokers: BTreeMap<_, _> =
        brokers.into_iter().filter_map(|name| Some((name.clone(), place(rng)?))).collect();
    let members = members.into_iter().filter_map(|id| Some((id.clone(), place(rng)?))).collect();
    Rooms::Table(RoomTable { brokers, members })
}

/// Mostly small: up to the first bound in eight of ten, up to the last in five of a thousand.
fn size(rng: &mut Rng, [small, middle, large, most]: [u64; 4]) -> u64 {
    let bound = match rng.below(1_000) {
        0..800 => small,
        800..970 => middle,
        970..995 => large,
        _ => most,
    };
    rng.below(bound + 1)
}

fn some_queues(rng: &mut Rng, style: Style, count: u64) -> Vec<MessageQueue> {
    let topic = style.topic(rng);
    let brokers: Vec<String> = (0..1 + rng.below(count.clamp(1, 40))).map(|_| style.broker(rng)).collect();
    let first = if rng.chance(30) { i32::MAX as u64 - count } else { 0 };
    let mut queues = BTreeSet::new();
    for number in 0..count {
        let broker = &brokers[number as usize % brokers.len()];
        queues.insert(MessageQueue::new(topic.as_str(), broker.as_str(), (first + number) as i32));
    }
    // Ids from 0 on each broker, as topics have them, in most cases.
    let mut queues: Vec<MessageQueue> = queues.into_iter().collect();
    if first == 0 && rng.chance(900) {
        for run in queues.chunk_by_mut(|a, b| a.broker == b.broker) {
            (0..).zip(run).for_each(|(id, queue)| queue.id = id);
        }
    }
    shuffle(rng, &mut queues);
    queues
}

fn shuffle<T>(rng: &mut Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

fn as_triples(queues: &[MessageQueue]) -> Value {
    queues.iter().map(|queue| json!([queue.topic.as_str(), queue.broker.as_str(), queue.id])).collect()
}

fn as_texts(ids: &[ClientId]) -> Value {
    ids.iter().map(ClientId::as_str).collect()
}
