//! Strategies as JSON.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use super::lists::Lists;
use super::{Error, ErrorCode, RoomRules, check};
use crate::allocate::{
    self, Allocate, Average, Circle, ConsistentHash, Draft, GoRing, MachineRoom, Nearby, named,
};
use crate::model::{ClientId, MessageQueue};
use crate::plan::said;

/// A strategy with its settings: `{"name":"CONSISTENT_HASH","virtualNodes":20}`. Where there is nothing to set, and as
/// a short form, a text does as well: `"AVG"`, `"hash:20"`, see [`Strategy::from_str`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "name", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Strategy {
    /// Consecutive runs.
    Avg {},
    /// Dealt like cards.
    AvgByCircle {},
    /// A hash ring.
    ConsistentHash {
        /// Points of each member; default 10.
        #[serde(skip_serializing_if = "Option::is_none")]
        virtual_nodes: Option<u16>,
        /// Whose ring; default Java's.
        #[serde(skip_serializing_if = "Option::is_none")]
        hash: Option<RingHash>,
    },
    /// Queues of certain rooms, by brokers called `room@name`.
    MachineRoom {
        /// The rooms to consume from.
        rooms: Vec<String>,
    },
    /// Each room for its own members.
    MachineRoomNearby {
        /// How a room's queues are shared; not itself MACHINE_ROOM_NEARBY.
        inner: Box<Strategy>,
        /// Who stands where.
        room_of: RoomRules,
    },
    /// Lists written down beforehand.
    Config {
        /// The list of each member. Who is not named gets nothing.
        queues: BTreeMap<ClientId, Vec<MessageQueue>>,
    },
    /// Ours: even, and little moves.
    AvgByDraft {
        /// How much further from even each load may be; default 0.
        #[serde(skip_serializing_if = "Option::is_none")]
        slack: Option<u32>,
        /// What of a client id counts; default all of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        identity: Option<Identity>,
        /// The weight of each member; 1 for those that are not named.
        #[serde(skip_serializing_if = "Option::is_none")]
        weights: Option<BTreeMap<ClientId, u32>>,
        /// Machine rooms; default none.
        #[serde(skip_serializing_if = "Option::is_none")]
        rooms: Option<DraftRooms>,
    },
}

/// Whose hash ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RingHash {
    /// Java's: MD5, keys `id-k`.
    #[serde(rename = "java-md5")]
    JavaMd5,
    /// The Go client's: CRC-32, keys `kid`. To show what it does to a group with Java members.
    #[serde(rename = "go-crc32")]
    GoCrc32,
}

/// See [`allocate::Identity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Identity {
    /// All of the client id.
    Whole,
    /// What stands before its first `@`.
    Host,
}

/// The draft's machine rooms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DraftRooms {
    /// What comes first.
    pub rule: RoomRule,
    /// Who stands where.
    pub room_of: RoomRules,
}

/// See [`allocate::RoomRule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RoomRule {
    /// Queues stay in their room if anybody is there.
    Strict,
    /// Loads are even.
    BalanceFirst,
}

impl Strategy {
    /// The name: `AVG`, `CONSISTENT_HASH`, `MACHINE_ROOM_NEARBY`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Avg {} => "AVG",
            Self::AvgByCircle {} => "AVG_BY_CIRCLE",
            Self::ConsistentHash { .. } => "CONSISTENT_HASH",
            Self::MachineRoom { .. } => "MACHINE_ROOM",
            Self::MachineRoomNearby { .. } => "MACHINE_ROOM_NEARBY",
            Self::Config { .. } => "CONFIG",
            Self::AvgByDraft { .. } => "AVG_BY_DRAFT",
        }
    }

    /// The hash ring as it is by default.
    pub fn consistent_hash() -> Self {
        Self::ConsistentHash { virtual_nodes: None, hash: None }
    }

    /// The draft as it is by default.
    pub fn draft() -> Self {
        Self::AvgByDraft { slack: None, identity: None, weights: None, rooms: None }
    }

    /// Whether it has settings that are not the default.
    pub fn has_settings(&self) -> bool {
        !matches!(
            self,
            Self::Avg {}
                | Self::AvgByCircle {}
                | Self::ConsistentHash {
                    virtual_nodes: None | Some(10),
                    hash: None | Some(RingHash::JavaMd5)
                }
                | Self::AvgByDraft {
                    slack: None | Some(0),
                    identity: None | Some(Identity::Whole),
                    weights: None,
                    rooms: None
                }
        )
    }

    /// The rule itself.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::BadStrategy`] if the settings do not fit.
    pub fn build(&self) -> Result<Arc<dyn Allocate>, Error> {
        Ok(match self {
            Self::Avg {} => Arc::new(Average),
            Self::AvgByCircle {} => Arc::new(Circle),
            Self::ConsistentHash { virtual_nodes, hash } => {
                ring(virtual_nodes.unwrap_or(10), hash.unwrap_or(RingHash::JavaMd5))?
            }
            Self::MachineRoom { rooms } => {
                for (at, room) in rooms.iter().enumerate() {
                    check::name(ErrorCode::BadStrategy, room, || format!("rooms[{at}]"))?;
                }
                Arc::new(MachineRoom::new(rooms.iter().map(String::as_str)))
            }
            Self::MachineRoomNearby { inner, room_of } => {
                if matches!(**inner, Self::MachineRoomNearby { .. }) {
                    let text = said!(
                        "MACHINE_ROOM_NEARBY cannot be inside itself",
                        "MACHINE_ROOM_NEARBY 不能包含自身"
                    );
                    return Err(Error::new(ErrorCode::BadStrategy, text).at("inner"));
                }
                let inner = inner.build().map_err(|error| error.within("inner"))?;
                Arc::new(Nearby::new(inner, room_of.build()?))
            }
            Self::Config { queues } => {
                for (id, list) in queues {
                    for (at, queue) in list.iter().enumerate() {
                        check::queue(ErrorCode::BadStrategy, queue, || format!("queues[{id:?}][{at}]"))?;
                    }
                }
                Arc::new(Lists::new(queues))
            }
            Self::AvgByDraft { slack, identity, weights, rooms } => {
                let mut draft = Draft::default().with_slack(slack.unwrap_or(0));
                if *identity == Some(Identity::Host) {
                    draft = draft.with_identity(allocate::Identity::Host);
                }
                if let Some(weights) = weights.clone() {
                    draft = draft.with_weights(move |id| weights.get(id).copied().unwrap_or(1));
                }
                if let Some(DraftRooms { rule, room_of }) = rooms {
                    let rule = match rule {
                        RoomRule::Strict => allocate::RoomRule::Strict,
                        RoomRule::BalanceFirst => allocate::RoomRule::BalanceFirst,
                    };
                    let room_of = room_of.build().map_err(|error| error.within("rooms"))?;
                    draft = draft.with_rooms(rule, room_of);
                }
                Arc::new(draft)
            }
        })
    }

    /// How many points of a ring each member needs, if it has one.
    pub(super) fn points(&self) -> usize {
        match self {
            Self::ConsistentHash { virtual_nodes, .. } => usize::from(virtual_nodes.unwrap_or(10)),
            Self::MachineRoomNearby { inner, .. } => inner.points(),
            _ => 0,
        }
    }

    /// Whether the time that it takes grows with the product of queues and members.
    pub(super) fn is_slow(&self) -> bool {
        match self {
            Self::AvgByDraft { .. } => true,
            Self::MachineRoomNearby { inner, .. } => inner.is_slow(),
            _ => false,
        }
    }

    /// Whether who gets what depends on how names are spelt, beyond their order.
    pub(super) fn looks_at_names(&self) -> bool {
        match self {
            Self::ConsistentHash { .. } | Self::AvgByDraft { .. } => true,
            Self::MachineRoomNearby { inner, .. } => inner.looks_at_names(),
            _ => false,
        }
    }
}

fn ring(points: u16, hash: RingHash) -> Result<Arc<dyn Allocate>, Error> {
    if points == 0 {
        let text = said!("0 virtual nodes: nobody would get anything", "0 个虚拟节点：谁都分不到队列");
        return Err(Error::new(ErrorCode::BadStrategy, text).at("virtualNodes"));
    }
    Ok(match hash {
        RingHash::JavaMd5 => Arc::new(ConsistentHash::new(i32::from(points))?),
        RingHash::GoCrc32 => Arc::new(GoRing { virtual_nodes: points }),
    })
}

/// What [`named`] takes and needs nothing but its name: `avg`, `AVG_BY_CIRCLE`, `hash:20`, `draft`, Java's class names.
impl FromStr for Strategy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bad = |text| Error::new(ErrorCode::BadStrategy, text);
        let strategy = named(text)?;
        match &*strategy.name() {
            "AVG" => Ok(Self::Avg {}),
            "AVG_BY_CIRCLE" => Ok(Self::AvgByCircle {}),
            "AVG_BY_DRAFT" => Ok(Self::draft()),
            "CONSISTENT_HASH" => {
                let points = text.trim().strip_prefix("hash:").map(u16::from_str).transpose();
                let virtual_nodes = points.map_err(|_| {
                    let most = u16::MAX;
                    bad(said!(
                        "{text:?} has too many virtual nodes: the most are {most}",
                        "{text:?} 的虚拟节点太多：最多 {most} 个"
                    ))
                })?;
                Ok(Self::ConsistentHash { virtual_nodes, hash: None })
            }
            name => Err(bad(said!("strategy {name} needs settings", "策略 {name} 需要参数"))),
        }
    }
}
