//! Faults planted into members, so that the oracle can be seen to find them. They sit between the machine and the world,
//! where a wrong machine would show: in what it says and in what it believes to have heard.

use evenkeel_core::consumer::Consumer;
use evenkeel_core::wire::reply::{CallError, Reply};
use evenkeel_core::wire::request::Request;

/// A planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// Outcomes of an ended life count for the present one.
    IgnoredEpoch,
    /// What has been pulled is committed, not what is done.
    CommitOfTheMaximum,
    /// The first member believes to be alone in the group.
    DeafMember,
    /// Every lock that is asked for is taken for granted.
    ImaginedLock,
    /// The first message of every answer is dropped.
    SwallowedMessage,
}

/// [`Mutant::CommitOfTheMaximum`].
pub fn mutate_request(mutant: Option<Mutant>, consumer: &Consumer, mut request: Request) -> Request {
    if let (Some(Mutant::CommitOfTheMaximum), Request::CommitOffset { queue, offset, .. }) =
        (mutant, &mut request)
    {
        let views = consumer.snapshot().queues;
        if let Some(view) = views.into_iter().find(|view| view.queue == *queue) {
            *offset = view.next;
        }
    }
    request
}

/// [`Mutant::DeafMember`], [`Mutant::ImaginedLock`], [`Mutant::SwallowedMessage`].
pub fn mutate_reply(
    mutant: Option<Mutant>,
    member: usize,
    request: &Request,
    mut result: Result<Reply, CallError>,
) -> Result<Reply, CallError> {
    match (mutant, &mut result) {
        (Some(Mutant::DeafMember), Ok(Reply::Members(members))) if member == 0 => {
            members.retain(|id| id.as_str().contains("@0#"));
        }
        (Some(Mutant::ImaginedLock), Ok(Reply::Locked(locked))) => {
            if let Request::Lock(wanted) = request {
                locked.clone_from(&wanted.queues);
            }
        }
        (Some(Mutant::SwallowedMessage), Ok(Reply::Pulled(pulled))) if !pulled.messages.is_empty() => {
            pulled.messages.remove(0);
        }
        _ => {}
    }
    result
}
