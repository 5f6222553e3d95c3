//! Whether a group shares queues out at all.

use serde::{Deserialize, Serialize};

use super::{Error, ErrorCode};

/// Who decides which consumer reads which queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// The consumers, each by its strategy: what plans are about.
    #[default]
    Consumers,
    /// Nobody: the group broadcasts, and each consumer reads all queues.
    Nobody,
    /// The broker: consumers take messages by pop (5.x) and own no queue.
    Broker,
}

impl Sharing {
    pub(super) fn is_by_consumers(&self) -> bool {
        *self == Self::Consumers
    }

    /// Why nothing can be planned, if so.
    pub(super) fn check(self) -> Result<(), Error> {
        let text = match self {
            Self::Consumers => return Ok(()),
            Self::Nobody => "the group broadcasts: each consumer reads all queues, and none moves",
            Self::Broker => {
                "consumers of the group pop: the broker shares messages out, and no queue has an owner"
            }
        };
        Err(Error::new(ErrorCode::NotShared, text).at("sharing"))
    }
}
