//! Findings as JSON.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use crate::model::{ClientId, MessageQueue};
use crate::plan::{self, Code, Level};

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
    /// A finding with the level and the fix of its code.
    pub(super) fn new(code: Code, text: impl Into<String>) -> Self {
        let entry = plan::explain(code.as_str());
        Self {
            code,
            level: entry.map_or(Level::Error, |entry| entry.level),
            text: text.into(),
            effect: None,
            fix: entry.map_or("", |entry| entry.fix).into(),
            consumers: Vec::new(),
            queues: Vec::new(),
        }
    }
}

impl From<plan::Finding> for Finding {
    fn from(found: plan::Finding) -> Self {
        Self {
            code: found.code,
            level: found.level,
            text: found.text,
            effect: found.effect,
            fix: found.fix.into_owned(),
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
