//! What every name and number of an input has to keep.

use alloc::format;
use alloc::string::String;

use super::{Error, ErrorCode};
use crate::model::MessageQueue;

/// The longest name, in bytes. RocketMQ's own limits are 127 for topics and 255 for groups.
pub const MAX_NAME: usize = 1024;

/// A name that is there and not too long. `field` is asked for only if it is not.
pub(super) fn name(code: ErrorCode, text: &str, field: impl FnOnce() -> String) -> Result<(), Error> {
    if text.is_empty() {
        return Err(Error::new(code, "is empty").at(field()));
    }
    if text.len() > MAX_NAME {
        let text = format!("has {} bytes; a name has at most {MAX_NAME}", text.len());
        return Err(Error::new(code, text).at(field()));
    }
    Ok(())
}

/// The same for a queue, whose id is not negative.
pub(super) fn queue(code: ErrorCode, queue: &MessageQueue, field: impl Fn() -> String) -> Result<(), Error> {
    name(code, queue.topic.as_str(), || format!("{}.topic", field()))?;
    name(code, queue.broker.as_str(), || format!("{}.broker", field()))?;
    if queue.id < 0 {
        return Err(Error::new(code, format!("{} is negative", queue.id)).at(format!("{}.id", field())));
    }
    Ok(())
}

/// A number of queues that a plan can have.
pub(super) fn queues(code: ErrorCode, count: i64, field: impl FnOnce() -> String) -> Result<u32, Error> {
    if count < 0 {
        return Err(Error::new(code, format!("{count} is negative")).at(field()));
    }
    let most = crate::plan::Layout::MAX_QUEUES;
    match u32::try_from(count) {
        Ok(fits) if u64::from(fits) <= most => Ok(fits),
        _ => Err(Error::new(ErrorCode::TooLarge, format!("{count} queues; a plan takes at most {most}"))
            .at(field())),
    }
}
