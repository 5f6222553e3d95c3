//! Changes read from JSON.
//!
//! All fields of all kinds, and then those that the kind has. serde's way of reading an object by a tag inside it is to
//! keep the object first in a form of its own; the code for that, of every type inside, was a tenth of the wasm file.

use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use super::change::{Change, RollIds, RollWord};
use super::strategy::Strategy;
use crate::model::{BrokerName, ClientId, Topic};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fields {
    kind: Kind,
    ids: Option<RollIds>,
    count: Option<i64>,
    topic: Option<Topic>,
    broker: Option<BrokerName>,
    read_queues: Option<i64>,
    to: Option<Strategy>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Add,
    Remove,
    Queues,
    DropBroker,
    PermissionLost,
    Strategy,
    Roll,
}

impl<'de> Deserialize<'de> for Change {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        let change = match fields.kind {
            Kind::Add => Self::Add { ids: fields.listed()?, count: fields.count.take() },
            Kind::Remove => Self::Remove { ids: fields.listed()?, count: fields.count.take() },
            Kind::Queues => Self::Queues {
                topic: needed("topic", fields.topic.take())?,
                broker: needed("broker", fields.broker.take())?,
                read_queues: needed("readQueues", fields.read_queues.take())?,
            },
            Kind::DropBroker => Self::DropBroker { broker: needed("broker", fields.broker.take())? },
            Kind::PermissionLost => Self::PermissionLost {
                topic: fields.topic.take(),
                broker: needed("broker", fields.broker.take())?,
            },
            Kind::Strategy => Self::Strategy { to: needed("to", fields.to.take())? },
            Kind::Roll => Self::Roll { ids: needed("ids", fields.ids.take())? },
        };
        fields.is_used_up().map(|()| change)
    }
}

impl Fields {
    fn listed<E: de::Error>(&mut self) -> Result<Option<Vec<ClientId>>, E> {
        match self.ids.take() {
            Some(RollIds::Given(ids)) => Ok(Some(ids)),
            Some(RollIds::Word(_)) => {
                Err(E::invalid_type(Unexpected::Other("a word"), &"a list of client ids"))
            }
            None => Ok(None),
        }
    }

    /// What a kind takes is gone from here. What is left is a field of another kind.
    fn is_used_up<E: de::Error>(&self) -> Result<(), E> {
        only_those(&[
            ("ids", self.ids.is_some()),
            ("count", self.count.is_some()),
            ("topic", self.topic.is_some()),
            ("broker", self.broker.is_some()),
            ("readQueues", self.read_queues.is_some()),
            ("to", self.to.is_some()),
        ])
    }
}

/// A field that its kind cannot do without.
pub(super) fn needed<T, E: de::Error>(name: &'static str, field: Option<T>) -> Result<T, E> {
    field.ok_or_else(|| E::missing_field(name))
}

/// Refuses the first field that is left over.
pub(super) fn only_those<E: de::Error>(left: &[(&str, bool)]) -> Result<(), E> {
    match left.iter().find(|(_, is_left)| *is_left) {
        Some((name, _)) => Err(E::custom(format!("unknown field `{name}`: it belongs to another kind"))),
        None => Ok(()),
    }
}

impl<'de> Deserialize<'de> for RollIds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordOrList)
    }
}

struct WordOrList;

impl<'de> Visitor<'de> for WordOrList {
    type Value = RollIds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"stable\", \"new\" or a list of client ids")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<RollIds, E> {
        match word {
            "stable" => Ok(RollIds::Word(RollWord::Stable)),
            "new" => Ok(RollIds::Word(RollWord::New)),
            _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<RollIds, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(RollIds::Given)
    }
}
