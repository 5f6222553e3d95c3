//! Machine rooms as JSON.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Error, ErrorCode};
use crate::allocate::{Room, RoomOf, RoomPrefix, RoomTable};
use crate::model::{BrokerName, ClientId, MessageQueue};
use crate::order;
use crate::plan::said;

/// Who stands in which room: either both tables, or a separator.
///
/// The npm package also takes regular expressions. They are no part of this crate: whoever has them applies them to
/// the names at hand, and gives tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RoomRules {
    /// The room of each broker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brokers: Option<BTreeMap<BrokerName, String>>,
    /// The room of each consumer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumers: Option<BTreeMap<ClientId, String>>,
    /// One character. A room is what stands before the first of it, in names of brokers and in client ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
}

impl RoomRules {
    /// Rooms before the first `separator`.
    pub fn prefix(separator: char) -> Self {
        Self { separator: Some(separator), ..Self::default() }
    }

    /// Rooms by tables.
    pub fn tables(brokers: BTreeMap<BrokerName, String>, consumers: BTreeMap<ClientId, String>) -> Self {
        Self { brokers: Some(brokers), consumers: Some(consumers), separator: None }
    }

    pub(super) fn build(&self) -> Result<Rooms, Error> {
        let bad = |text| Error::new(ErrorCode::BadStrategy, text).at("roomOf");
        match (&self.brokers, &self.consumers, self.separator) {
            (None, None, Some(separator)) => Ok(Rooms(Arc::new(RoomPrefix { separator }))),
            (None, None, None) => Err(bad(said!("is empty", "为空"))
                .with_hint("give tables, brokers and consumers, or a separator")),
            (_, _, Some(_)) => {
                Err(bad(said!("has tables and a separator", "同时有表和分隔符"))
                    .with_hint("give one of the two"))
            }
            (brokers, consumers, None) => {
                for (what, table) in [
                    ("brokers", brokers.as_ref().map(BTreeMap::len)),
                    ("consumers", consumers.as_ref().map(BTreeMap::len)),
                ] {
                    if table.is_none() {
                        return Err(bad(said!("lacks the table {what}", "缺少表 {what}")));
                    }
                }
                let room = |text: &String| Room::from(text.as_str());
                let brokers = brokers.iter().flatten().map(|(name, text)| (name.clone(), room(text)));
                let members = consumers.iter().flatten().map(|(id, text)| (id.clone(), room(text)));
                let table = RoomTable { brokers: order::map(brokers), members: order::map(members) };
                Ok(Rooms(Arc::new(table)))
            }
        }
    }
}

/// Whatever knows the rooms.
#[derive(Clone, Debug)]
pub(super) struct Rooms(Arc<dyn RoomOf>);

impl RoomOf for Rooms {
    fn queue(&self, queue: &MessageQueue) -> Option<Room> {
        self.0.queue(queue)
    }

    fn member(&self, id: &ClientId) -> Option<Room> {
        self.0.member(id)
    }
}
