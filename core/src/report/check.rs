//! What every name and number of an input has to keep.

use alloc::format;
use alloc::string::String;

use super::{Error, ErrorCode};
use crate::model::MessageQueue;
use crate::plan::{Change, Layout, said};

/// The longest name, in bytes. RocketMQ's own limits are 127 for topics and 255 for groups.
pub const MAX_NAME: usize = 1024;

/// A name that is there and not too long. `field` is asked for only if it is not.
pub(super) fn name(code: ErrorCode, text: &str, field: impl FnOnce() -> String) -> Result<(), Error> {
    if text.is_empty() {
        return Err(Error::new(code, said!("is empty", "为空")).at(field()));
    }
    if text.len() > MAX_NAME {
        let bytes = text.len();
        let text = said!(
            "has {bytes} bytes; a name has at most {MAX_NAME}",
            "有 {bytes} 字节；名称最多 {MAX_NAME} 字节"
        );
        return Err(Error::new(code, text).at(field()));
    }
    Ok(())
}

/// The same for a queue, whose id is not negative.
pub(super) fn queue(code: ErrorCode, queue: &MessageQueue, field: impl Fn() -> String) -> Result<(), Error> {
    name(code, queue.topic.as_str(), || format!("{}.topic", field()))?;
    name(code, queue.broker.as_str(), || format!("{}.broker", field()))?;
    if queue.id < 0 {
        return Err(negative(code, i64::from(queue.id), format!("{}.id", field())));
    }
    Ok(())
}

/// A number of queues that a plan can have.
pub(super) fn queues(code: ErrorCode, count: i64, field: impl FnOnce() -> String) -> Result<u32, Error> {
    if count < 0 {
        return Err(negative(code, count, field()));
    }
    let most = Layout::MAX_QUEUES;
    match u32::try_from(count) {
        Ok(fits) if u64::from(fits) <= most => Ok(fits),
        _ => {
            let text = said!(
                "{count} queues; a plan takes at most {most}",
                "{count} 个队列；一次规划最多 {most} 个"
            );
            Err(Error::new(ErrorCode::TooLarge, text).at(field()))
        }
    }
}

/// More consumers than a plan takes on.
pub(super) fn too_many_consumers(count: usize) -> Error {
    let most = Change::MAX_MEMBERS;
    let text =
        said!("{count} consumers; a plan takes at most {most}", "{count} 个消费者；一次规划最多 {most} 个");
    Error::new(ErrorCode::TooLarge, text)
}

/// A number is less than nothing.
pub(super) fn negative(code: ErrorCode, number: i64, field: String) -> Error {
    Error::new(code, said!("{number} is negative", "{number} 是负数")).at(field)
}
