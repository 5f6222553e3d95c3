//! Queue locks of orderly groups: leases that the broker grants per queue and client id.

use super::config::LONGEST_NAME;
use super::context::Context;
use super::request::{Handled, Refusal, body, success};
use evenkeel_core::model::{ClientId, Group, MessageQueue};
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::bodies::{Body, Locked, QueueSet};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use std::collections::BTreeMap;

/// The locks of one broker. Locks survive disconnects; only time or their owner ends them.
#[derive(Debug, Default)]
pub(crate) struct Locks(BTreeMap<(Group, MessageQueue), Lease>);

#[derive(Debug)]
struct Lease {
    owner: ClientId,
    renewed: Instant,
}

impl Locks {
    /// Request 41: takes or renews locks, and answers which of them the client holds now.
    pub(crate) fn lock(&mut self, cx: &Context<'_>, request: &Command) -> Handled {
        let QueueSet { group, client: owner, queues, .. } = read(cx, request)?;
        let mut locked = Locked::default();
        for wanted in queues {
            let key = (group.clone(), wanted);
            let free = match self.0.get(&key) {
                Some(lease) => lease.owner == owner || lease.is_over(cx),
                None => self.has_room(cx),
            };
            if free {
                locked.0.insert(key.1.clone());
                self.0.insert(key, Lease { owner: owner.clone(), renewed: cx.now });
            }
        }
        Ok(Some(success(request).with_body(locked.encode())))
    }

    /// Request 42: gives up locks; those of others stay.
    pub(crate) fn unlock(&mut self, cx: &Context<'_>, request: &Command) -> Handled {
        let QueueSet { group, client: owner, queues, .. } = read(cx, request)?;
        for given_up in queues {
            let key = (group.clone(), given_up);
            if self.0.get(&key).is_some_and(|lease| lease.owner == owner) {
                self.0.remove(&key);
            }
        }
        Ok(Some(success(request)))
    }

    /// Whether the group holds any lock that is still valid.
    pub(crate) fn any(&self, cx: &Context<'_>, group: &Group) -> bool {
        self.0.iter().any(|((owner, _), lease)| owner == group && !lease.is_over(cx))
    }

    /// The valid locks at `now`: group, queue, owner.
    pub(crate) fn valid(
        &self,
        now: Instant,
        life: Duration,
    ) -> impl Iterator<Item = (&Group, &MessageQueue, &ClientId)> {
        let valid = self.0.iter().filter(move |(_, lease)| now.since(lease.renewed) <= life);
        valid.map(|((group, queue), lease)| (group, queue, &lease.owner))
    }

    fn has_room(&mut self, cx: &Context<'_>) -> bool {
        if self.0.len() >= cx.config.limits.locks {
            self.0.retain(|_, lease| !lease.is_over(cx));
        }
        self.0.len() < cx.config.limits.locks
    }
}

impl Lease {
    fn is_over(&self, cx: &Context<'_>) -> bool {
        cx.now.since(self.renewed) > cx.config.lock_life
    }
}

/// The body of a lock or unlock request.
fn read(cx: &Context<'_>, request: &Command) -> Result<QueueSet, Refusal> {
    let set: QueueSet = body(request, cx.config.limits.json)?;
    let names = set.queues.iter().flat_map(|queue| [queue.topic.as_str(), queue.broker.as_str()]);
    if names.chain([set.group.as_str(), set.client.as_str()]).any(|name| name.len() > LONGEST_NAME) {
        return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, "a name in the lock request is too long"));
    }
    Ok(set)
}
