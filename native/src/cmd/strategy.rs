//! Strategies by name, and those that need a file: `rooms:FILE` and `config:FILE`.
//!
//! ```toml
//! # rooms:FILE, first form: MACHINE_ROOM, only queues of these rooms. The room of a broker is the text before the
//! # single "@" of its name.
//! rooms = ["hz", "sh"]
//! ```
//!
//! ```toml
//! # rooms:FILE, second form: MACHINE_ROOM_NEARBY, each room for its own members, rooms without members for all.
//! inner = "avg"                       # avg, circle, hash[:N]; avg if left out
//! separator = "-"                     # the room is what stands before it, in broker names and client ids;
//! [brokers]                           # or two tables instead
//! broker-a = "hz"
//! [members]
//! "10.0.0.1@7#1" = "hz"
//! ```
//!
//! ```toml
//! # config:FILE: CONFIG, what this member consumes. The members' lists must fit together.
//! [[queue]]
//! topic = "orders"
//! broker = "broker-a"
//! ids = [0, 1, 2]
//! ```
//!
//! A plan is about all members: there, each `[[queue]]` also says whose it is, as in `member = "10.0.0.1@7#1"`.

use super::exit::Failure;
use evenkeel::allocate::{Allocate, ByConfig, MachineRoom, Nearby, Room, RoomPrefix, RoomTable, named};
use evenkeel::{ClientId, MessageQueue};
use evenkeel_core::report::{self, RoomRules};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The strategy that a user named.
pub(super) fn strategy(text: &str) -> Result<Arc<dyn Allocate>, Failure> {
    if let Some(file) = text.strip_prefix("rooms:") {
        return rooms(read(file)?).map_err(|why| wrong(file, &why));
    }
    if let Some(file) = text.strip_prefix("config:") {
        return listed(read(file)?).map_err(|why| wrong(file, &why));
    }
    named(text).map_err(|error| {
        Failure::usage(error.to_string())
            .with_hint("also rooms:FILE and config:FILE, see the README of the repository")
    })
}

/// The same as plans and snapshots write it.
pub(super) fn described(text: &str) -> Result<report::Strategy, Failure> {
    if let Some(file) = text.strip_prefix("rooms:") {
        return described_rooms(read(file)?).map_err(|why| wrong(file, &why));
    }
    if let Some(file) = text.strip_prefix("config:") {
        return described_lists(read(file)?).map_err(|why| wrong(file, &why));
    }
    text.parse().map_err(|error: report::Error| {
        Failure::usage(error.text.en)
            .with_hint("also rooms:FILE and config:FILE, see the README of the repository")
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rooms {
    rooms: Option<Vec<String>>,
    inner: Option<String>,
    separator: Option<char>,
    #[serde(default)]
    brokers: BTreeMap<String, String>,
    #[serde(default)]
    members: BTreeMap<String, String>,
}

fn rooms(file: Rooms) -> Result<Arc<dyn Allocate>, String> {
    let tables = !file.brokers.is_empty() || !file.members.is_empty();
    if let Some(rooms) = file.rooms {
        if tables || file.inner.is_some() || file.separator.is_some() {
            return Err(
                "`rooms` goes with nothing else: it is MACHINE_ROOM, the others are MACHINE_ROOM_NEARBY"
                    .into(),
            );
        }
        return Ok(Arc::new(MachineRoom::new(rooms.iter().map(|room| Room::from(room.as_str())))));
    }
    let inner = named(file.inner.as_deref().unwrap_or("avg")).map_err(|error| error.to_string())?;
    match file.separator {
        Some(_) if tables => Err("give either `separator` or the tables [brokers] and [members]".into()),
        Some(separator) => Ok(Arc::new(Nearby::new(inner, RoomPrefix { separator }))),
        None if tables => {
            let room = |room: String| Room::from(room.as_str());
            let brokers = file.brokers.into_iter().map(|(name, of)| (name.into(), room(of))).collect();
            let members = file.members.into_iter().map(|(id, of)| (id.into(), room(of))).collect();
            Ok(Arc::new(Nearby::new(inner, RoomTable { brokers, members })))
        }
        None => Err("it says neither `rooms`, nor `separator`, nor [brokers] and [members]".into()),
    }
}

fn described_rooms(file: Rooms) -> Result<report::Strategy, String> {
    let inner = file.inner.clone();
    let room_of = match file.separator {
        Some(separator) => RoomRules::prefix(separator),
        None => RoomRules::tables(
            file.brokers.iter().map(|(name, room)| (name.as_str().into(), room.clone())).collect(),
            file.members.iter().map(|(id, room)| (id.as_str().into(), room.clone())).collect(),
        ),
    };
    let allowed = file.rooms.clone();
    // What the file must not say is the same for both forms.
    rooms(file)?;
    if let Some(rooms) = allowed {
        return Ok(report::Strategy::MachineRoom { rooms });
    }
    let inner = inner.as_deref().unwrap_or("avg").parse().map_err(|error: report::Error| error.text.en)?;
    Ok(report::Strategy::MachineRoomNearby { inner: Box::new(inner), room_of })
}

fn described_lists(file: Listed) -> Result<report::Strategy, String> {
    let mut queues: BTreeMap<ClientId, Vec<MessageQueue>> = BTreeMap::new();
    for entry in file.queue {
        let member = entry.member.as_deref().ok_or("in a plan, each [[queue]] says its `member`")?;
        queues.entry(member.into()).or_default().extend(entry.written_out()?);
    }
    Ok(report::Strategy::Config { queues })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    queue: Vec<Queues>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Queues {
    member: Option<String>,
    topic: String,
    broker: String,
    ids: Vec<i32>,
}

fn listed(file: Listed) -> Result<Arc<dyn Allocate>, String> {
    let mut queues = Vec::new();
    for entry in file.queue {
        if entry.member.is_some() {
            return Err("`member` is for plans: here the list is this member's own".into());
        }
        queues.extend(entry.written_out()?);
    }
    Ok(Arc::new(ByConfig::new(queues)))
}

impl Queues {
    fn written_out(&self) -> Result<Vec<MessageQueue>, String> {
        if let Some(id) = self.ids.iter().find(|id| **id < 0) {
            return Err(format!("queue {id} of {} on {} is negative", self.topic, self.broker));
        }
        let queue = |id: &i32| MessageQueue::new(self.topic.as_str(), self.broker.as_str(), *id);
        Ok(self.ids.iter().map(queue).collect())
    }
}

fn read<T: DeserializeOwned>(file: &str) -> Result<T, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| wrong(file, &error.to_string()))?;
    toml::from_str(&text).map_err(|error| wrong(file, &error.to_string()))
}

fn wrong(file: &str, why: &str) -> Failure {
    Failure::usage(format!("strategy file {file}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::allocate::{Input, SortedMembers, SortedQueues};
    use evenkeel::{ClientId, Group};

    fn share(strategy: &dyn Allocate, me: &str, brokers: &[&str]) -> Vec<String> {
        let queue = |broker: &&str| [0, 1].map(|id| MessageQueue::new("T", *broker, id));
        let queues = SortedQueues::new(brokers.iter().flat_map(queue));
        let members = SortedMembers::new(["hz-1", "sh-1"].map(ClientId::from));
        let (group, me) = (Group::from("g"), ClientId::from(me));
        let input = Input { group: &group, me: &me, queues: &queues, members: &members, nth: 0 };
        strategy.allocate(&input).unwrap().iter().map(ToString::to_string).collect()
    }

    fn of_rooms(text: &str) -> Result<Arc<dyn Allocate>, String> {
        rooms(toml::from_str(text).map_err(|error: toml::de::Error| error.to_string())?)
    }

    #[test]
    fn each_form_gives_its_strategy() {
        let allowed = of_rooms("rooms = [\"hz\"]").unwrap();
        assert_eq!(share(&allowed, "hz-1", &["hz@a", "sh@b"]), ["T hz@a/0"]);
        let near = of_rooms("separator = \"-\"").unwrap();
        assert_eq!(near.name(), "MACHINE_ROOM_NEARBY-AVG");
        assert_eq!(share(&near, "sh-1", &["hz-a", "sh-b"]), ["T sh-b/0", "T sh-b/1"]);
        let table = "inner = \"circle\"\n[brokers]\na = \"x\"\n[members]\nhz-1 = \"x\"\nsh-1 = \"x\"";
        let table = of_rooms(table).unwrap();
        assert_eq!(share(&table, "sh-1", &["a"]), ["T a/1"]);
        let own: Listed = toml::from_str("[[queue]]\ntopic = \"T\"\nbroker = \"a\"\nids = [1, 7]").unwrap();
        assert_eq!(share(&listed(own).unwrap(), "hz-1", &["a"]), ["T a/1"], "only queues that exist");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, says) in [
            ("", "neither"),
            ("rooms = [\"hz\"]\nseparator = \"-\"", "nothing else"),
            ("separator = \"-\"\n[brokers]\na = \"x\"", "either"),
            ("inner = \"best\"\nseparator = \"-\"", "best"),
            ("room = [\"hz\"]", "unknown field"),
        ] {
            let error = of_rooms(text).map(|strategy| strategy.name().into_owned()).unwrap_err();
            assert!(error.contains(says), "{text:?} gave {error:?}");
        }
        let missing = strategy("config:no-such-file.toml").map(|s| s.name().into_owned());
        assert!(format!("{:?}", missing.unwrap_err()).contains("no-such-file.toml"));
    }
}
