//! Asking strategies, in few words.

use evenkeel_core::allocate::{Allocate, AllocateError, Input, SortedMembers, SortedQueues};
use evenkeel_core::model::{ClientId, Group, MessageQueue};

/// Queues `0..count` of one broker.
pub(crate) fn queues(topic: &str, broker: &str, count: i32) -> Vec<MessageQueue> {
    (0..count).map(|id| MessageQueue::new(topic, broker, id)).collect()
}

/// Client ids, in the order given.
pub(crate) fn ids<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Vec<ClientId> {
    names.into_iter().map(|name| ClientId::from(name.as_ref())).collect()
}

/// What `me` gets.
pub(crate) fn share(
    strategy: &dyn Allocate,
    me: &str,
    queues: &[MessageQueue],
    members: &[ClientId],
) -> Result<Vec<MessageQueue>, AllocateError> {
    strategy.allocate(&Input {
        group: &Group::from("g"),
        me: &ClientId::from(me),
        queues: &SortedQueues::new(queues.iter().cloned()),
        members: &SortedMembers::new(members.iter().cloned()),
        nth: 0,
    })
}

/// What each member gets, in the order in which members are given.
pub(crate) fn shares(
    strategy: &dyn Allocate,
    queues: &[MessageQueue],
    members: &[ClientId],
) -> Vec<Vec<MessageQueue>> {
    let (group, queues) = (Group::from("g"), SortedQueues::new(queues.iter().cloned()));
    let sorted = SortedMembers::new(members.iter().cloned());
    let ask = |me| strategy.allocate(&Input { group: &group, me, queues: &queues, members: &sorted, nth: 0 });
    members.iter().map(|me| ask(me).expect("the input has queues and members")).collect()
}

/// Shares as text, queues by number alone: `0 3 | 1 | -`.
pub(crate) fn by_number(shares: &[Vec<MessageQueue>]) -> String {
    text_of(shares, |queue| queue.id.to_string())
}

/// Shares as text, queues by broker and number: `b10/0 b2/1 | -`.
pub(crate) fn by_broker(shares: &[Vec<MessageQueue>]) -> String {
    text_of(shares, |queue| format!("{}/{}", queue.broker, queue.id))
}

fn text_of(shares: &[Vec<MessageQueue>], of: impl Fn(&MessageQueue) -> String) -> String {
    let member = |share: &Vec<MessageQueue>| match share.as_slice() {
        [] => "-".to_owned(),
        some => some.iter().map(&of).collect::<Vec<_>>().join(" "),
    };
    shares.iter().map(member).collect::<Vec<_>>().join(" | ")
}
