//! Names and queues as JSON.

use alloc::format;
use alloc::string::String;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::model::{BrokerName, ClientId, Group, MessageQueue, Topic};

macro_rules! text {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }
    )*};
}

text!(BrokerName, ClientId, Group, Topic);

/// `{"topic":"orders","broker":"broker-a","id":3}`
impl Serialize for MessageQueue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("QueueRef", 3)?;
        fields.serialize_field("topic", &self.topic)?;
        fields.serialize_field("broker", &self.broker)?;
        fields.serialize_field("id", &self.id)?;
        fields.end()
    }
}

#[derive(Deserialize)]
struct Fields {
    topic: Topic,
    broker: BrokerName,
    id: i64,
}

impl<'de> Deserialize<'de> for MessageQueue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Fields { topic, broker, id } = Fields::deserialize(deserializer)?;
        let id =
            i32::try_from(id).map_err(|_| de::Error::custom(format!("queue id {id} is beyond 32 bits")))?;
        Ok(Self { topic, broker, id })
    }
}
