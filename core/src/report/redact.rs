//! A group for the eyes of strangers: pseudonyms that sort as the names did.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;

use super::{DraftRooms, RoomRules, Snapshot, Strategy};
use crate::allocate::named;
use crate::model::{BrokerName, ClientId, Group, MessageQueue, RETRY_PREFIX, Topic, java_order};
use crate::order;

/// The same group under other names.
///
/// Groups, topics, brokers, client ids, addresses, filter expressions, rooms and strategies of one's own become
/// pseudonyms such as `member-03`. Numbers, client versions and languages, `takenAt`, and the names of known
/// strategies stay.
///
/// Pseudonyms are given in the order of the names, so that they sort as these did: what goes by order (AVG,
/// AVG_BY_CIRCLE, MACHINE_ROOM, MACHINE_ROOM_NEARBY with one of these inside, CONFIG) has the same figures, and the
/// same findings come out. CONSISTENT_HASH and AVG_BY_DRAFT hash the names, so that their answers differ; the result
/// says `redacted`, and plans made from it say R206. One cannot have both: who could compute the hashes of the real
/// names could also try out names until they fit.
///
/// A retry topic keeps its prefix before the pseudonym of its group. Rooms that are part of names (`room@broker`, or
/// before a separator) stay a part of the pseudonyms; of MACHINE_ROOM inside MACHINE_ROOM_NEARBY by separator, only the
/// latter's rooms do.
///
/// With a `salt`, each pseudonym ends in eight hexadecimal digits of HMAC-SHA1(salt, name), so that names can be matched
/// between snapshots of one salt, and nobody without it can try out names. Without one, nothing but the order is told.
pub fn redact(snapshot: &Snapshot, salt: Option<&str>) -> Snapshot {
    let names = Names::of(snapshot, salt);
    let mut redacted = snapshot.clone();
    redacted.redacted = true;
    redacted.group = redacted.group.map(|group| names.group(&group));
    for seen in &mut redacted.topics {
        seen.topic = names.topic(&seen.topic);
        for on in &mut seen.brokers {
            on.broker = names.broker(&on.broker);
        }
    }
    for consumer in &mut redacted.consumers {
        consumer.id = names.member(&consumer.id);
        consumer.address = consumer.address.take().map(|address| names.address(&address));
        consumer.strategy = consumer.strategy.take().map(|name| names.strategy_name(&name));
        for topic in consumer.topics.iter_mut().flatten() {
            *topic = names.topic(topic);
        }
        if let Some(subscribed) = &mut consumer.subscriptions {
            let renamed = subscribed.iter().map(|(topic, text)| (names.topic(topic), names.expression(text)));
            *subscribed = order::map(renamed);
        }
        names.queues(consumer.listed.iter_mut().flatten());
    }
    for entry in redacted.owned.iter_mut().flatten() {
        entry.queue = names.queue(&entry.queue);
        for owner in &mut entry.owners {
            *owner = names.member(owner);
        }
    }
    for entry in redacted.load.iter_mut().flatten() {
        entry.queue = names.queue(&entry.queue);
    }
    redacted.strategy = redacted.strategy.map(|strategy| names.strategy(strategy));
    redacted
}

/// The pseudonym of every name there is.
struct Names {
    groups: BTreeMap<String, String>,
    topics: BTreeMap<String, String>,
    brokers: BTreeMap<String, String>,
    members: BTreeMap<String, String>,
    hosts: BTreeMap<String, String>,
    expressions: BTreeMap<String, String>,
    rooms: BTreeMap<String, String>,
    strategies: BTreeMap<String, String>,
}

impl Names {
    fn of(snapshot: &Snapshot, salt: Option<&str>) -> Self {
        let seen = Seen::of(snapshot);
        let zones = Zones::of(&seen, snapshot.strategy.as_ref());
        let plain = |stem, names| pseudonyms(stem, names, salt, |_| None);
        let zoned = |stem, names, zones: &Option<Zones>| {
            pseudonyms(stem, names, salt, |name| Some(zones.as_ref()?.frame(name)))
        };
        let (broker_zones, member_zones) = match &zones {
            Some(zones) if zones.members => (Some(zones.clone()), Some(zones.clone())),
            other => (other.clone(), None),
        };
        let rooms = match &zones {
            Some(zones) => zones.rooms(),
            None => plain("room", &seen.rooms),
        };
        Self {
            groups: plain("group", &seen.groups),
            topics: plain("topic", &seen.topics),
            brokers: zoned("broker", &seen.brokers, &broker_zones),
            members: zoned("member", &seen.members, &member_zones),
            hosts: plain("host", &seen.hosts),
            expressions: plain("expression", &seen.expressions),
            rooms,
            strategies: plain("strategy", &seen.strategies),
        }
    }

    fn group(&self, group: &Group) -> Group {
        Group::from(of(&self.groups, group.as_str()))
    }

    fn topic(&self, topic: &Topic) -> Topic {
        match topic.as_str().strip_prefix(RETRY_PREFIX) {
            Some(group) => Topic::from(format!("{RETRY_PREFIX}{}", of(&self.groups, group))),
            None => Topic::from(of(&self.topics, topic.as_str())),
        }
    }

    fn broker(&self, broker: &BrokerName) -> BrokerName {
        BrokerName::from(of(&self.brokers, broker.as_str()))
    }

    fn member(&self, id: &ClientId) -> ClientId {
        ClientId::from(of(&self.members, id.as_str()))
    }

    fn queue(&self, queue: &MessageQueue) -> MessageQueue {
        MessageQueue { topic: self.topic(&queue.topic), broker: self.broker(&queue.broker), id: queue.id }
    }

    fn queues<'a>(&self, queues: impl Iterator<Item = &'a mut MessageQueue>) {
        queues.for_each(|queue| *queue = self.queue(queue));
    }

    /// A port tells nothing.
    fn address(&self, address: &str) -> String {
        match address.rsplit_once(':') {
            Some((host, port)) if is_port(port) => format!("{}:{port}", of(&self.hosts, host)),
            _ => of(&self.hosts, address).into(),
        }
    }

    fn expression(&self, text: &str) -> String {
        if says_all(text) { text.into() } else { of(&self.expressions, text).into() }
    }

    fn strategy_name(&self, name: &str) -> String {
        if is_known(name) { name.into() } else { of(&self.strategies, name).into() }
    }

    fn strategy(&self, strategy: Strategy) -> Strategy {
        match strategy {
            Strategy::MachineRoom { rooms } => Strategy::MachineRoom {
                rooms: rooms.iter().map(|room| of(&self.rooms, room).to_string()).collect(),
            },
            Strategy::MachineRoomNearby { inner, room_of } => Strategy::MachineRoomNearby {
                inner: alloc::boxed::Box::new(self.strategy(*inner)),
                room_of: self.room_rules(room_of),
            },
            Strategy::Config { queues } => {
                let renamed = queues.into_iter().map(|(id, mut list)| {
                    self.queues(list.iter_mut());
                    (self.member(&id), list)
                });
                Strategy::Config { queues: order::map(renamed) }
            }
            Strategy::AvgByDraft { slack, identity, weights, rooms } => Strategy::AvgByDraft {
                slack,
                identity,
                weights: weights.map(|weights| {
                    order::map(weights.into_iter().map(|(id, weight)| (self.member(&id), weight)))
                }),
                rooms: rooms.map(|DraftRooms { rule, room_of }| DraftRooms {
                    rule,
                    room_of: self.room_rules(room_of),
                }),
            },
            other => other,
        }
    }

    fn room_rules(&self, rules: RoomRules) -> RoomRules {
        let room = |room: String| of(&self.rooms, &room).to_string();
        let brokers = |table: BTreeMap<BrokerName, String>| {
            order::map(table.into_iter().map(|(name, text)| (self.broker(&name), room(text))))
        };
        let consumers = |table: BTreeMap<ClientId, String>| {
            order::map(table.into_iter().map(|(id, text)| (self.member(&id), room(text))))
        };
        RoomRules {
            brokers: rules.brokers.map(brokers),
            consumers: rules.consumers.map(consumers),
            separator: rules.separator.map(|_| SEPARATOR),
        }
    }
}

/// Every name was collected beforehand, so the second case does not occur; it must not leak a name if it does.
fn of<'a>(names: &'a BTreeMap<String, String>, name: &str) -> &'a str {
    // A missing name is a fault, which has to stay one.
    if name.is_empty() { "" } else { names.get(name).map_or("unknown", String::as_str) }
}

/// Every name there is, by kind.
#[derive(Default)]
struct Seen {
    groups: BTreeSet<String>,
    topics: BTreeSet<String>,
    brokers: BTreeSet<String>,
    members: BTreeSet<String>,
    hosts: BTreeSet<String>,
    expressions: BTreeSet<String>,
    rooms: BTreeSet<String>,
    strategies: BTreeSet<String>,
}

impl Seen {
    fn of(snapshot: &Snapshot) -> Self {
        let mut seen = Self::default();
        seen.groups.extend(snapshot.group.iter().map(Group::to_string));
        for topic in &snapshot.topics {
            seen.topic(&topic.topic);
            seen.brokers.extend(topic.brokers.iter().map(|on| on.broker.to_string()));
        }
        for consumer in &snapshot.consumers {
            seen.members.insert(consumer.id.to_string());
            if let Some(address) = consumer.address.as_deref() {
                let host = address.rsplit_once(':').filter(|(_, port)| is_port(port)).map(|(host, _)| host);
                seen.hosts.insert(host.unwrap_or(address).into());
            }
            seen.strategies.extend(consumer.strategy.clone().filter(|name| !is_known(name)));
            consumer.topics.iter().flatten().for_each(|topic| seen.topic(topic));
            for (topic, text) in consumer.subscriptions.iter().flatten() {
                seen.topic(topic);
                seen.expressions.insert(text.clone());
            }
            consumer.listed.iter().flatten().for_each(|queue| seen.queue(queue));
        }
        for entry in snapshot.owned.iter().flatten() {
            seen.queue(&entry.queue);
            seen.members.extend(entry.owners.iter().map(ClientId::to_string));
        }
        snapshot.load.iter().flatten().for_each(|entry| seen.queue(&entry.queue));
        if let Some(strategy) = &snapshot.strategy {
            seen.strategy(strategy);
        }
        seen
    }

    fn topic(&mut self, topic: &Topic) {
        match topic.as_str().strip_prefix(RETRY_PREFIX) {
            Some(group) => self.groups.insert(group.into()),
            None => self.topics.insert(topic.to_string()),
        };
    }

    fn queue(&mut self, queue: &MessageQueue) {
        self.topic(&queue.topic);
        self.brokers.insert(queue.broker.to_string());
    }

    fn strategy(&mut self, strategy: &Strategy) {
        match strategy {
            Strategy::MachineRoom { rooms } => self.rooms.extend(rooms.iter().cloned()),
            Strategy::MachineRoomNearby { inner, room_of } => {
                self.room_rules(room_of);
                self.strategy(inner);
            }
            Strategy::Config { queues } => {
                for (id, list) in queues {
                    self.members.insert(id.to_string());
                    list.iter().for_each(|queue| self.queue(queue));
                }
            }
            Strategy::AvgByDraft { weights, rooms, .. } => {
                self.members.extend(weights.iter().flatten().map(|(id, _)| id.to_string()));
                rooms.iter().for_each(|rooms| self.room_rules(&rooms.room_of));
            }
            Strategy::Avg {} | Strategy::AvgByCircle {} | Strategy::ConsistentHash { .. } => {}
        }
    }

    fn room_rules(&mut self, rules: &RoomRules) {
        for (broker, room) in rules.brokers.iter().flatten() {
            self.brokers.insert(broker.to_string());
            self.rooms.insert(room.clone());
        }
        for (id, room) in rules.consumers.iter().flatten() {
            self.members.insert(id.to_string());
            self.rooms.insert(room.clone());
        }
    }
}

/// What stands between a room and the rest of a pseudonym, in place of any separator that was there.
const SEPARATOR: char = '.';

/// Rooms that are part of names. Names that begin with the same room stand together in any sorted list, so that numbers
/// given in order keep the order.
#[derive(Clone)]
struct Zones {
    /// The separator of the names.
    separator: char,
    /// The separator of the pseudonyms.
    written: char,
    /// Whether client ids have rooms too, or brokers alone.
    members: bool,
    /// The number of each room, with its separator, and of each name without one.
    numbers: BTreeMap<String, usize>,
    width: usize,
}

impl Zones {
    fn of(seen: &Seen, strategy: Option<&Strategy>) -> Option<Self> {
        let (separator, written, members) = parts(strategy?)?;
        let names = seen.brokers.iter().chain(seen.members.iter().filter(|_| members));
        let rooms = seen.rooms.iter().map(|room| format!("{room}{separator}"));
        let mut starts: Vec<String> = names.map(|name| start(name, separator).into()).chain(rooms).collect();
        order::sort_by(&mut starts, |a, b| java_order(a, b));
        starts.dedup();
        let width = digits(starts.len());
        Some(Self { separator, written, members, numbers: order::map(starts.into_iter().zip(1..)), width })
    }

    /// What stands before and after the pseudonym of a name.
    fn frame(&self, name: &str) -> (String, String) {
        let start = start(name, self.separator);
        let number = self.numbers.get(start).copied().unwrap_or(0);
        let zone = format!("room{number:0width$}", width = self.width);
        let room = start.strip_suffix(self.separator).filter(|room| !room.is_empty());
        let Some(rest) = room.and_then(|_| name.strip_prefix(start)) else {
            // Without a room: one that sorts here, with anything but the separator behind it.
            return (format!("{zone}-"), String::new());
        };
        // MACHINE_ROOM takes names with exactly one separator that has something behind it.
        let rest = rest.trim_end_matches(self.separator);
        let fits = !rest.is_empty() && !rest.contains(self.separator);
        let more = if fits || self.members { String::new() } else { format!("{}x", self.written) };
        (format!("{zone}{}", self.written), more)
    }

    fn rooms(&self) -> BTreeMap<String, String> {
        let rooms = self.numbers.iter().filter_map(|(start, number)| {
            let room = start.strip_suffix(self.separator)?;
            Some((room.to_string(), format!("room{number:0width$}", width = self.width)))
        });
        order::map(rooms)
    }
}

/// Separator, separator of the pseudonyms, and whether client ids have rooms.
fn parts(strategy: &Strategy) -> Option<(char, char, bool)> {
    match strategy {
        Strategy::MachineRoom { .. } => Some(('@', '@', false)),
        Strategy::MachineRoomNearby { inner, room_of } => match room_of.separator {
            Some(separator) => Some((separator, SEPARATOR, true)),
            None => parts(inner),
        },
        Strategy::AvgByDraft { rooms: Some(rooms), .. } => Some((rooms.room_of.separator?, SEPARATOR, true)),
        _ => None,
    }
}

/// A name up to its first separator, with that; all of it if it has none.
fn start(name: &str, separator: char) -> &str {
    name.split_inclusive(separator).next().unwrap_or(name)
}

/// A pseudonym for each name, in the order of the names.
fn pseudonyms(
    stem: &str,
    names: &BTreeSet<String>,
    salt: Option<&str>,
    frame: impl Fn(&str) -> Option<(String, String)>,
) -> BTreeMap<String, String> {
    let mut sorted: Vec<&String> = names.iter().collect();
    order::sort_by(&mut sorted, |a, b| java_order(a, b));
    let width = digits(sorted.len());
    let pseudonym = |(name, number): (&String, usize)| {
        let (before, after) = frame(name).unwrap_or_default();
        let tail = salt.map(|salt| tail(salt, name)).unwrap_or_default();
        (name.clone(), format!("{before}{stem}-{number:0width$}{tail}{after}"))
    };
    order::map(sorted.into_iter().zip(1..).map(pseudonym))
}

fn digits(count: usize) -> usize {
    count.to_string().len().max(2)
}

fn tail(salt: &str, name: &str) -> String {
    // HMAC takes a key of any length.
    let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(salt.as_bytes()) else { return String::new() };
    mac.update(name.as_bytes());
    let code = mac.finalize().into_bytes();
    code.iter().take(4).fold(String::from("-"), |text, byte| format!("{text}{byte:02x}"))
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn says_all(expression: &str) -> bool {
    matches!(expression.trim(), "" | "*")
}

/// Whether the name of a strategy is RocketMQ's or ours, and so no secret.
fn is_known(name: &str) -> bool {
    !matches!(named(name), Err(crate::allocate::NameError::Unknown { .. }))
}
