//! AVG_BY_DRAFT: members pick favourites in turn. Even, and little moves.

mod hash;
mod rooms;
mod rounds;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use self::hash::{multiplier, score, text_hash};
use self::rooms::Rooms;
use self::rounds::{Entrant, draft};
use super::room::by_room;
use super::{Allocate, AllocateError, Input, Owners, RoomOf, SortedMembers, SortedQueues, anyone_to_serve};
use crate::model::{ClientId, Group};
use crate::order;

/// Every member ranks the queues by a hash of both names. In each round the members, in a hashed order too, look at
/// their next favourite; who finds it free, and has room, takes it; who finds it taken passes.
///
/// Loads are as even as they can be: with q queues and c members, q mod c of them have one queue more than the others.
/// When a member comes or goes, far fewer queues move than under `AVG`, though more than the fewest possible: no rule
/// that looks at nothing but the present lists can reach that. Over many topics, each has its own favourites, so that
/// the extra queues do not pile up on the members that sort first.
///
/// It is no strategy of Java's: every member of the group has to be one that knows it. A group that mixes it with
/// another strategy has queues with two owners and queues with none for as long as the mix lasts.
///
/// # Example
///
/// ```
/// use evenkeel_core::allocate::{Allocate, Draft, SortedMembers, SortedQueues};
/// use evenkeel_core::model::{ClientId, Group, MessageQueue};
///
/// let queues = SortedQueues::new((0..16).map(|id| MessageQueue::new("orders", "broker-a", id)));
/// let (group, pods) = (Group::from("pay"), ["pod-1", "pod-2", "pod-3", "pod-4", "pod-5"]);
/// let owners = |members: usize| {
///     let members = SortedMembers::new(pods[..members].iter().map(|&id| ClientId::from(id)));
///     Draft::default().owners(&group, &queues, &members)
/// };
/// let (four, five) = (owners(4)?, owners(5)?);
/// assert_eq!(four.loads(4), [4, 4, 4, 4]);
/// assert_eq!(five.loads(5).iter().sum::<usize>(), 16);
/// assert!(five.loads(5).iter().all(|&load| load == 3 || load == 4));
/// assert!((0..16).filter(|&queue| four.sole(queue) != five.sole(queue)).count() < 8);
/// # Ok::<(), evenkeel_core::allocate::AllocateError>(())
/// ```
#[derive(Clone, Default)]
pub struct Draft {
    slack: u32,
    identity: Identity,
    weight: Option<Arc<WeightOf>>,
    rooms: Option<(RoomRule, Arc<dyn RoomOf>)>,
}

type WeightOf = dyn Fn(&ClientId) -> u32 + Send + Sync;

/// What of a client id the hash looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Identity {
    /// All of it.
    #[default]
    Whole,
    /// What stands before the first `@`, and a running number among the members that have this in common, in the order
    /// of their ids. A process that comes back under a new process number gets its old queues, as far as even loads
    /// allow.
    Host,
}

/// What machine rooms mean for the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoomRule {
    /// A queue stays in its room if anybody is there, however uneven that is. Queues of rooms without members go to
    /// those who have least.
    Strict,
    /// Loads are even, and as many queues stay in their rooms as that allows.
    BalanceFirst,
}

impl Draft {
    /// Lets each load be up to so many queues further from even, on either side, which saves moves.
    #[must_use]
    pub fn with_slack(mut self, queues: u32) -> Self {
        self.slack = queues;
        self
    }

    /// Hashes something else than the whole client id.
    #[must_use]
    pub fn with_identity(mut self, identity: Identity) -> Self {
        self.identity = identity;
        self
    }

    /// Gives each member queues in proportion to a weight; 0 counts as 1. All members of the group have to come to the
    /// same weights, so take them from the client id and not from settings of one process.
    #[must_use]
    pub fn with_weights(mut self, weight: impl Fn(&ClientId) -> u32 + Send + Sync + 'static) -> Self {
        self.weight = Some(Arc::new(weight));
        self
    }

    /// Keeps queues in their machine rooms by a rule. [`RoomRule::BalanceFirst`] goes with neither weights nor slack.
    #[must_use]
    pub fn with_rooms(mut self, rule: RoomRule, rooms: impl RoomOf + 'static) -> Self {
        self.rooms = Some((rule, Arc::new(rooms)));
        self
    }

    /// For each queue, the first place of the client id that owns it.
    fn places(
        &self,
        group: &Group,
        queues: &SortedQueues,
        members: &SortedMembers,
    ) -> Result<Vec<Option<usize>>, AllocateError> {
        let turns = self.turns(group, queues, members);
        let keys = queue_keys(queues);
        let mut entrants: Vec<Entrant> = turns.iter().map(|turn| turn.entrant).collect();
        let owners = match &self.rooms {
            None => {
                let mut extra = self.quotas(queues.len(), &mut entrants);
                draft(&keys, &mut entrants, &mut extra)
            }
            Some((rule, of)) => {
                self.fits(*rule)?;
                let rooms = in_turn(&turns, queues, members, &**of)?;
                rooms.draft(*rule, &keys, &mut entrants, |queues, entrants| self.quotas(queues, entrants))
            }
        };
        Ok(owners.into_iter().map(|owner| Some(turns.get(owner?)?.place)).collect())
    }

    /// The distinct members in the order in which they look.
    fn turns(&self, group: &Group, queues: &SortedQueues, members: &SortedMembers) -> Vec<Turn> {
        let topic_key = queues.first().map_or(0, |queue| text_hash(queue.topic.as_str()));
        let mut text = format!("{group}\n");
        let prefix = text.len();
        let mut host = Hosts::default();
        let mut turns = Vec::with_capacity(members.len());
        let mut place = 0;
        for same in members.chunk_by(|a, b| a == b) {
            let Some(id) = same.first() else { continue };
            text.truncate(prefix);
            match self.identity {
                Identity::Whole => text.push_str(id.as_str()),
                Identity::Host => host.write(id, &mut text),
            }
            let multiplier = multiplier(text_hash(&text));
            let weight = self.weight.as_ref().map_or(1, |weight| weight(id)).max(1);
            let entrant = Entrant { multiplier, weight, load: 0, low: 0, high: 0 };
            turns.push(Turn { order: score(topic_key, multiplier), place, entrant });
            place += same.len();
        }
        turns.sort_unstable_by_key(|turn| (turn.order, turn.place));
        turns
    }

    /// Sets the bounds of the entrants for so many queues, and says how many may be taken above the lower ones.
    fn quotas(&self, queues: usize, entrants: &mut [Entrant]) -> u64 {
        let together: u128 = entrants.iter().map(|entrant| u128::from(entrant.weight)).sum();
        let slack = u64::from(self.slack);
        let mut low = 0;
        for entrant in entrants {
            let share = queues as u128 * u128::from(entrant.weight) / together.max(1);
            // At most the number of queues.
            let share = share as u64;
            entrant.low = share.saturating_sub(slack);
            entrant.high = share + 1 + slack;
            low += entrant.low;
        }
        (queues as u64).saturating_sub(low)
    }

    fn fits(&self, rule: RoomRule) -> Result<(), AllocateError> {
        if rule == RoomRule::BalanceFirst && (self.weight.is_some() || self.slack > 0) {
            let what = "balance first goes with neither weights nor slack".into();
            return Err(AllocateError::BadParameter { name: "rooms", what });
        }
        Ok(())
    }
}

/// A member's turn.
struct Turn {
    /// Where its turn comes: lower is earlier, and of equals the lower place.
    order: u32,
    place: usize,
    entrant: Entrant,
}

/// Running numbers among members that have the beginning of their id in common.
#[derive(Default)]
struct Hosts {
    numbers: alloc::collections::BTreeMap<String, u32>,
}

impl Hosts {
    fn write(&mut self, id: &ClientId, text: &mut String) {
        let host = id.as_str().split('@').next().unwrap_or_default();
        let number = match self.numbers.get_mut(host) {
            Some(number) => {
                *number += 1;
                *number
            }
            None => {
                self.numbers.insert(host.into(), 0);
                0
            }
        };
        let _ = write!(text, "{host}\n{number}");
    }
}

fn queue_keys(queues: &SortedQueues) -> Vec<u32> {
    let mut text = String::new();
    let key = |queue: &crate::model::MessageQueue| {
        text.clear();
        let _ = write!(text, "{}\n{}\n{}", queue.topic, queue.broker, queue.id);
        text_hash(&text)
    };
    queues.iter().map(key).collect()
}

/// Who is in which room, with the members as they stand in turn order.
fn in_turn(
    turns: &[Turn],
    queues: &SortedQueues,
    members: &SortedMembers,
    of: &dyn RoomOf,
) -> Result<Rooms, AllocateError> {
    let (queues, places) = by_room(of, queues, members)?;
    let mut turn_of = vec![None; members.len()];
    for (turn, at) in turns.iter().zip(0..) {
        turn_of[turn.place] = Some(at);
    }
    let in_turn = |places: Vec<usize>| {
        let mut turns: Vec<usize> = places.into_iter().filter_map(|place| turn_of[place]).collect();
        turns.sort_unstable();
        turns
    };
    Ok(Rooms {
        queues,
        entrants: order::map(places.into_iter().map(|(room, places)| (room, in_turn(places)))),
    })
}

impl Allocate for Draft {
    fn name(&self) -> Cow<'_, str> {
        "AVG_BY_DRAFT".into()
    }

    fn is_ours_alone(&self) -> bool {
        true
    }

    fn positions(&self, input: &Input<'_>) -> Result<Vec<usize>, AllocateError> {
        let Some(place) = input.place()? else {
            return Ok(Vec::new());
        };
        let places = self.places(input.group, input.queues, input.members)?;
        Ok((0..).zip(places).filter(|&(_, owner)| owner == Some(place)).map(|(at, _)| at).collect())
    }

    fn owners(
        &self,
        group: &Group,
        queues: &SortedQueues,
        members: &SortedMembers,
    ) -> Result<Owners, AllocateError> {
        if !anyone_to_serve(queues, members)? {
            return Ok(Owners::nobody(queues.len()));
        }
        Owners::from_places(self.places(group, queues, members)?, members)
    }
}

impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft")
            .field("slack", &self.slack)
            .field("identity", &self.identity)
            .field("weighted", &self.weight.is_some())
            .field("rooms", &self.rooms)
            .finish()
    }
}
