//! Changes to a group, and the states that it goes through.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::layout::{BrokerQueues, TopicQueues, Topics, written_out};
use super::{Layout, Plan, PlanError};
use crate::allocate::{Allocate, SortedMembers};
use crate::model::{BrokerName, ClientId, Group, Topic};
use crate::rng::Rng;

/// Something that happens to a group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Change {
    /// Members join, all at once.
    Join(Vec<ClientId>),
    /// So many members join, whose ids are not known yet.
    JoinUnknown(usize),
    /// Members leave, all at once.
    Leave(Vec<ClientId>),
    /// So many members leave, and it is not known which.
    LeaveUnknown(usize),
    /// A topic has so many readable queues on a broker, be it more or less than before, or the first there.
    Queues {
        /// The topic.
        topic: Topic,
        /// The broker.
        broker: BrokerName,
        /// How many queues can be read then.
        read: u32,
    },
    /// A broker is gone, with its queues of all topics.
    BrokerLost(BrokerName),
    /// A broker's queues cannot be read any longer: those of a topic, or of all.
    PermissionLost {
        /// The topic; `None` for all.
        topic: Option<Topic>,
        /// The broker.
        broker: BrokerName,
    },
    /// All members change to another strategy, at once.
    Strategy(Arc<dyn Allocate>),
    /// The members are restarted one by one, in the order of their ids; each is gone before it is back.
    Roll(NewIds),
}

/// What ids members have after a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewIds {
    /// The same as before.
    Stable,
    /// New ones, not known yet.
    Unknown,
    /// New ones, in the order in which the members are restarted.
    Given(Vec<ClientId>),
}

impl Change {
    /// The most members that a plan takes on.
    pub const MAX_MEMBERS: usize = 100_000;

    /// Whether everything about it is known.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::JoinUnknown(_) | Self::LeaveUnknown(_) | Self::Roll(NewIds::Unknown))
    }
}

/// A group at one moment.
#[derive(Clone)]
pub(super) struct State {
    group: Group,
    shapes: Topics,
    queues: Arc<TopicQueues>,
    pub(super) members: Arc<SortedMembers>,
    strategy: Arc<dyn Allocate>,
}

impl State {
    pub(super) fn new(layout: &Layout, strategy: Arc<dyn Allocate>) -> Result<Self, PlanError> {
        Ok(Self {
            group: layout.group.clone(),
            shapes: layout.topics.clone(),
            queues: Arc::new(written_out(&layout.topics)?),
            members: Arc::new(layout.members.clone()),
            strategy,
        })
    }

    pub(super) fn plan(&self) -> Result<Plan, PlanError> {
        Plan::of(&*self.strategy, &self.group, &self.queues, Arc::clone(&self.members))
    }

    /// Goes through a change. `passed` sees the group after each step of it.
    pub(super) fn go_through(
        &mut self,
        change: &Change,
        rng: &mut Rng,
        mut passed: impl FnMut(String, &Self) -> Result<(), PlanError>,
    ) -> Result<(), PlanError> {
        let label = match change {
            Change::Join(ids) => {
                self.join(ids.iter().cloned())?;
                joined("join", ids.len(), ids.first())
            }
            &Change::JoinUnknown(count) => {
                self.has_room_for(count)?;
                for _ in 0..count {
                    let id = self.trial_id(rng);
                    self.join([id])?;
                }
                joined("join", count, None)
            }
            Change::Leave(ids) => {
                self.leave(ids)?;
                joined("leave", ids.len(), ids.first())
            }
            &Change::LeaveUnknown(count) => {
                let ids = self.some_members(count, rng)?;
                self.leave(&ids)?;
                joined("leave", count, None)
            }
            Change::Queues { topic, broker, read } => {
                let queues = BrokerQueues { read: *read, readable: true };
                self.shapes.entry(topic.clone()).or_default().insert(broker.clone(), queues);
                self.write_out()?;
                format!("{topic} has {read} queues on {broker}")
            }
            Change::BrokerLost(broker) => {
                self.on_broker(broker, None, |queues| queues.read = 0)?;
                format!("{broker} is lost")
            }
            Change::PermissionLost { topic, broker } => {
                self.on_broker(broker, topic.as_ref(), |queues| queues.readable = false)?;
                match topic {
                    Some(topic) => format!("{topic} cannot be read on {broker}"),
                    None => format!("nothing can be read on {broker}"),
                }
            }
            Change::Strategy(strategy) => {
                self.strategy = Arc::clone(strategy);
                format!("all members change to {}", strategy.name())
            }
            Change::Roll(ids) => return self.roll(ids, rng, passed),
        };
        passed(label, self)
    }

    fn roll(
        &mut self,
        ids: &NewIds,
        rng: &mut Rng,
        mut passed: impl FnMut(String, &Self) -> Result<(), PlanError>,
    ) -> Result<(), PlanError> {
        let members = Arc::clone(&self.members);
        if let NewIds::Given(ids) = ids {
            if ids.len() != members.len() {
                return Err(PlanError::WrongNumberOfIds { ids: ids.len(), members: members.len() });
            }
        }
        for (number, old) in members.iter().enumerate() {
            self.leave(core::slice::from_ref(old))?;
            passed(format!("{old} stops"), self)?;
            let new = match ids {
                NewIds::Stable => old.clone(),
                NewIds::Unknown => self.trial_id(rng),
                NewIds::Given(ids) => ids.get(number).unwrap_or(old).clone(),
            };
            let label = match ids {
                NewIds::Unknown => format!("{old} is back under a new id"),
                NewIds::Stable | NewIds::Given(_) => format!("{new} starts"),
            };
            self.join([new])?;
            passed(label, self)?;
        }
        Ok(())
    }

    fn join(&mut self, ids: impl IntoIterator<Item = ClientId>) -> Result<(), PlanError> {
        let joining = SortedMembers::new(ids);
        self.has_room_for(joining.len())?;
        let known = joining.iter().find(|&id| self.members.position(id).is_some());
        if let Some(id) = known.or_else(|| joining.repeated().next()) {
            return Err(PlanError::AlreadyMember(id.clone()));
        }
        self.members = Arc::new(self.members.iter().chain(joining.iter()).cloned().collect());
        Ok(())
    }

    fn leave(&mut self, ids: &[ClientId]) -> Result<(), PlanError> {
        let leaving = SortedMembers::new(ids.iter().cloned());
        let mut pending = leaving.iter().peekable();
        let mut staying = Vec::with_capacity(self.members.len());
        for id in self.members.iter() {
            // Of two processes with one id, one leaves for each time that it is named.
            if pending.next_if(|&next| next == id).is_none() {
                if let Some(&absent) = pending.peek().filter(|&&next| next < id) {
                    return Err(PlanError::NoSuchMember(absent.clone()));
                }
                staying.push(id.clone());
            }
        }
        match pending.next() {
            Some(absent) => Err(PlanError::NoSuchMember(absent.clone())),
            None => {
                self.members = Arc::new(SortedMembers::new(staying));
                Ok(())
            }
        }
    }

    fn has_room_for(&self, count: usize) -> Result<(), PlanError> {
        let count = self.members.len().saturating_add(count);
        if count > Change::MAX_MEMBERS { Err(PlanError::TooManyMembers { count }) } else { Ok(()) }
    }

    fn some_members(&self, count: usize, rng: &mut Rng) -> Result<Vec<ClientId>, PlanError> {
        let members = self.members.len();
        if count > members {
            return Err(PlanError::TooFewMembers { leaving: count, members });
        }
        let mut all: Vec<ClientId> = self.members.to_vec();
        for at in 0..count {
            let other = at + rng.below((members - at) as u64) as usize;
            all.swap(at, other);
        }
        all.truncate(count);
        Ok(all)
    }

    /// An id that sorts at any place with equal chance. It shares its beginning with a neighbour, and so its room, if
    /// rooms stand there.
    fn trial_id(&self, rng: &mut Rng) -> ClientId {
        let place = rng.below(self.members.len() as u64 + 1) as usize;
        let mut text = match (place.checked_sub(1).and_then(|at| self.members.get(at)), self.members.first())
        {
            (Some(neighbour), _) => String::from(neighbour.as_str()),
            (None, Some(first)) => {
                let mut text = String::from(first.as_str());
                text.pop();
                text
            }
            (None, None) => String::new(),
        };
        // No character is lower, so that nobody stands between the neighbour and the new member.
        let _ = write!(text, "\0{:016x}", rng.next_u64());
        ClientId::from(text)
    }

    fn on_broker(
        &mut self,
        broker: &BrokerName,
        topic: Option<&Topic>,
        mut change: impl FnMut(&mut BrokerQueues),
    ) -> Result<(), PlanError> {
        if let Some(topic) = topic.filter(|&topic| !self.shapes.contains_key(topic)) {
            return Err(PlanError::NoSuchTopic(topic.clone()));
        }
        let mut known = false;
        for (_, brokers) in
            self.shapes.iter_mut().filter(|(name, _)| topic.is_none_or(|topic| topic == *name))
        {
            if let Some(queues) = brokers.get_mut(broker) {
                change(queues);
                known = true;
            }
        }
        if !known {
            return Err(PlanError::NoSuchBroker(broker.clone()));
        }
        self.write_out()
    }

    fn write_out(&mut self) -> Result<(), PlanError> {
        self.queues = Arc::new(written_out(&self.shapes)?);
        Ok(())
    }
}

fn joined(what: &str, count: usize, first: Option<&ClientId>) -> String {
    match (count, first) {
        (1, Some(id)) => format!("{id} {what}s"),
        (1, None) => format!("a member {what}s"),
        _ => format!("{count} members {what}"),
    }
}
