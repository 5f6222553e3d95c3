//! Whether a group shares queues out at all.

use serde::{Deserialize, Serialize};

use super::{Error, ErrorCode};
use crate::plan::said;

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
            Self::Nobody => said!(
                "the group broadcasts: each consumer reads all queues, and none moves",
                "该消费组为广播模式：每个消费者读取所有队列，没有队列会移动"
            ),
            Self::Broker => said!(
                "consumers of the group pop: the broker shares messages out, and no queue has an owner",
                "该消费组使用 pop：由 Broker 分配消息，队列没有归属者"
            ),
        };
        Err(Error::new(ErrorCode::NotShared, text).at("sharing"))
    }
}
