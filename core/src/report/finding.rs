//! Findings as JSON.

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::{ClientId, MessageQueue};
use crate::plan::{self, Code, Language, Level};

/// Something about a group, or about a change to it, that its owner should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What kind it is of: `R101`.
    pub code: Code,
    /// How bad it is: `error`, `warning` or `info`.
    pub level: Level,
    /// What was found.
    pub text: String,
    /// What it does, in numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// What to do about it.
    pub fix: String,
    /// The consumers that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub consumers: Vec<ClientId>,
    /// The queues that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<MessageQueue>,
}

impl Finding {
    pub(super) fn told(found: plan::Finding, language: Language) -> Self {
        Self {
            code: found.code,
            level: found.level,
            text: found.text.into_language(language),
            effect: found.effect.map(|effect| effect.into_language(language)),
            fix: found.fix.into_language(language),
            consumers: found.members,
            queues: found.queues,
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// By its code: `en`, `zh`.
impl<'de> Deserialize<'de> for Language {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
