//! From decoded messages to what a consumer gets.
//!
//! Equal to `PullAPIWrapper.processPullResult` of the Java library 5.x: inner batches are unwrapped, all or none; tags
//! are compared again, because the broker compares only hash codes; then each message learns which queue it came from
//! and how far that queue reaches. A message's topic stays what is stored.

use alloc::vec::Vec;

use super::batch;
use super::error::WireError;
use super::message::Message;
use super::subscription::Subscription;
use super::sys_flag::message::is_wrapped_batch;
use crate::model::MessageQueue;

/// What is known about a pull response besides its messages.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// The queue that was pulled.
    pub queue: &'a MessageQueue,
    /// First offset of the queue.
    pub min_offset: i64,
    /// End of the queue.
    pub max_offset: i64,
    /// Added to each message's queue offset (5.x, for logical queues); usually 0.
    pub offset_delta: i64,
    /// What the consumer subscribed to.
    pub subscription: &'a Subscription,
}

/// What a consumer gets.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Delivered {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// How many were dropped because their tag is not wanted.
    pub filtered_out: usize,
    /// Why inner batches were left wrapped, if they had to be. The position is one in the batch's body.
    pub still_wrapped: Option<WireError>,
}

/// Prepares decoded messages for the consumer.
pub fn deliver(messages: Vec<Message>, delivery: &Delivery<'_>) -> Delivered {
    let (mut messages, still_wrapped) = match unwrap_all(&messages) {
        Ok(Some(unwrapped)) => (unwrapped, None),
        Ok(None) => (messages, None),
        Err(error) => (messages, Some(error)),
    };
    let before = messages.len();
    messages.retain(|message| delivery.subscription.wants(message.tag()));
    let filtered_out = before - messages.len();
    for message in &mut messages {
        message.broker = delivery.queue.broker.clone();
        message.queue_id = delivery.queue.id;
        message.queue_offset = message.queue_offset.wrapping_add(delivery.offset_delta);
        message.min_offset = delivery.min_offset;
        message.max_offset = delivery.max_offset;
    }
    Delivered { messages, filtered_out, still_wrapped }
}

/// All messages with inner batches replaced by what is in them; none if there is no inner batch.
fn unwrap_all(messages: &[Message]) -> Result<Option<Vec<Message>>, WireError> {
    if !messages.iter().any(|message| is_wrapped_batch(message.sys_flag)) {
        return Ok(None);
    }
    let mut unwrapped = Vec::with_capacity(messages.len());
    for message in messages {
        if is_wrapped_batch(message.sys_flag) {
            unwrapped.extend(batch::unwrap(message)?);
        } else {
            unwrapped.push(message.clone());
        }
    }
    Ok(Some(unwrapped))
}
