//! Strategies read from JSON: a name, or an object with all fields of all strategies, of which then those are taken that
//! the named one has. See [`change_fields`](super::change_fields) for why.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use super::RoomRules;
use super::change_fields::{needed, only_those};
use super::strategy::{DraftRooms, Identity, RingHash, Strategy};
use crate::model::{ClientId, MessageQueue};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fields {
    name: Name,
    virtual_nodes: Option<u16>,
    hash: Option<RingHash>,
    rooms: Option<Rooms>,
    inner: Option<Box<Strategy>>,
    room_of: Option<RoomRules>,
    queues: Option<BTreeMap<ClientId, Vec<MessageQueue>>>,
    slack: Option<u32>,
    identity: Option<Identity>,
    weights: Option<BTreeMap<ClientId, u32>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Name {
    Avg,
    AvgByCircle,
    ConsistentHash,
    MachineRoom,
    MachineRoomNearby,
    Config,
    AvgByDraft,
}

impl<'de> Deserialize<'de> for Strategy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrObject)
    }
}

struct TextOrObject;

impl<'de> Visitor<'de> for TextOrObject {
    type Value = Strategy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a strategy: its name, or an object with its name and settings")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Strategy, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Strategy, A::Error> {
        Fields::deserialize(MapAccessDeserializer::new(map))?.strategy()
    }
}

impl Fields {
    fn strategy<E: de::Error>(mut self) -> Result<Strategy, E> {
        let strategy = match self.name {
            Name::Avg => Strategy::Avg {},
            Name::AvgByCircle => Strategy::AvgByCircle {},
            Name::ConsistentHash => {
                Strategy::ConsistentHash { virtual_nodes: self.virtual_nodes.take(), hash: self.hash.take() }
            }
            Name::MachineRoom => match needed("rooms", self.rooms.take())? {
                Rooms::Named(rooms) => Strategy::MachineRoom { rooms },
                Rooms::Ruled(_) => return Err(E::invalid_type(Unexpected::Map, &"a list of rooms")),
            },
            Name::MachineRoomNearby => Strategy::MachineRoomNearby {
                inner: needed("inner", self.inner.take())?,
                room_of: needed("roomOf", self.room_of.take())?,
            },
            Name::Config => Strategy::Config { queues: needed("queues", self.queues.take())? },
            Name::AvgByDraft => {
                let rooms = match self.rooms.take() {
                    Some(Rooms::Ruled(rooms)) => Some(rooms),
                    Some(Rooms::Named(_)) => {
                        return Err(E::invalid_type(Unexpected::Seq, &"a rule and who stands where"));
                    }
                    None => None,
                };
                let (slack, identity) = (self.slack.take(), self.identity.take());
                Strategy::AvgByDraft { slack, identity, weights: self.weights.take(), rooms }
            }
        };
        self.is_used_up().map(|()| strategy)
    }

    /// What a strategy takes is gone from here. What is left is a setting of another one.
    fn is_used_up<E: de::Error>(&self) -> Result<(), E> {
        only_those(&[
            ("virtualNodes", self.virtual_nodes.is_some()),
            ("hash", self.hash.is_some()),
            ("rooms", self.rooms.is_some()),
            ("inner", self.inner.is_some()),
            ("roomOf", self.room_of.is_some()),
            ("queues", self.queues.is_some()),
            ("slack", self.slack.is_some()),
            ("identity", self.identity.is_some()),
            ("weights", self.weights.is_some()),
        ])
    }
}

/// The rooms of MACHINE_ROOM are a list, those of the draft an object.
enum Rooms {
    Named(Vec<String>),
    Ruled(DraftRooms),
}

impl<'de> Deserialize<'de> for Rooms {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListOrObject)
    }
}

struct ListOrObject;

impl<'de> Visitor<'de> for ListOrObject {
    type Value = Rooms;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rooms, or a rule and who stands where")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Rooms, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Rooms::Named)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Rooms, A::Error> {
        DraftRooms::deserialize(MapAccessDeserializer::new(map)).map(Rooms::Ruled)
    }
}
