//! The draft with machine rooms: each room first, then what is left.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::RoomRule;
use super::rounds::{Entrant, draft};
use crate::allocate::Room;
use crate::allocate::room::ByRoom;
use crate::order;

/// The queues and the entrants, and who stands in which room.
pub(super) struct Rooms {
    /// Positions in the list of queues.
    pub(super) queues: ByRoom,
    /// Positions in turn order.
    pub(super) entrants: ByRoom,
}

impl Rooms {
    /// Shares all queues by a rule. `quotas` sets the bounds of a set of entrants for so many queues and says how many
    /// extras there are.
    pub(super) fn draft(
        &self,
        rule: RoomRule,
        keys: &[u32],
        entrants: &mut [Entrant],
        quotas: impl Fn(usize, &mut [Entrant]) -> u64,
    ) -> Vec<Option<usize>> {
        let mut field = Field { keys, entrants, owners: vec![None; keys.len()] };
        match rule {
            RoomRule::Strict => self.strict(&mut field, quotas),
            RoomRule::BalanceFirst => self.balance_first(&mut field),
        }
        field.owners
    }

    /// Each room among its own; then the queues of rooms without members, to whoever has least.
    fn strict(&self, field: &mut Field<'_>, quotas: impl Fn(usize, &mut [Entrant]) -> u64) {
        let mut orphans = Vec::new();
        for (room, queues) in &self.queues {
            match self.entrants.get(room) {
                Some(members) => {
                    field.part(queues, members, |entrants| quotas(queues.len(), entrants));
                }
                None => orphans.extend_from_slice(queues),
            }
        }
        orphans.sort_unstable();
        let everybody: Vec<usize> = (0..field.entrants.len()).collect();
        let left = orphans.len() as u64;
        field.part(&orphans, &everybody, |entrants| level(left, entrants));
    }

    /// As many local queues as even loads allow; then the rest, to whoever has room.
    fn balance_first(&self, field: &mut Field<'_>) {
        let members = field.entrants.len().max(1) as u64;
        let (least, extras) = (field.keys.len() as u64 / members, field.keys.len() as u64 % members);
        for entrant in field.entrants.iter_mut() {
            (entrant.low, entrant.high) = (least, least + 1);
        }
        let mut unused = extras;
        for (room, need) in self.extras_by_room(least, extras) {
            if let (Some(queues), Some(members)) = (self.queues.get(room), self.entrants.get(room)) {
                unused -= need - field.part(queues, members, |_| need);
            }
        }
        let left: Vec<usize> = (0..field.keys.len()).filter(|&at| field.owners[at].is_none()).collect();
        let everybody: Vec<usize> = (0..field.entrants.len()).collect();
        field.part(&left, &everybody, |_| unused);
    }

    /// How many members of each room may have one queue more than `least`, of so many extras in all.
    fn extras_by_room(&self, least: u64, extras: u64) -> BTreeMap<&Room, u64> {
        let mut needs: BTreeMap<&Room, u64> = BTreeMap::new();
        for (room, members) in &self.entrants {
            let (queues, members) = (self.queues.get(room).map_or(0, Vec::len), members.len() as u64);
            needs.insert(room, members.min((queues as u64).saturating_sub(least * members)));
        }
        let wanted: u64 = needs.values().sum();
        if wanted <= extras {
            return needs;
        }
        // By largest remainder; of equal remainders the room of the smaller name.
        let mut given = 0;
        let mut remainders = Vec::new();
        for (room, need) in &mut needs {
            let share = u128::from(*need) * u128::from(extras);
            remainders.push((share % u128::from(wanted), *room));
            *need = (share / u128::from(wanted)) as u64;
            given += *need;
        }
        order::sort_by(&mut remainders, |a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        for (_, room) in remainders.iter().take(usize::try_from(extras - given).unwrap_or(0)) {
            needs.entry(room).and_modify(|need| *need += 1);
        }
        needs
    }
}

/// What several drafts in a row work on.
struct Field<'a> {
    keys: &'a [u32],
    entrants: &'a mut [Entrant],
    owners: Vec<Option<usize>>,
}

impl Field<'_> {
    /// One draft of some queues among some entrants, both ascending. `quotas` gives the extras; those that are left are
    /// returned.
    fn part(
        &mut self,
        queues: &[usize],
        members: &[usize],
        quotas: impl FnOnce(&mut [Entrant]) -> u64,
    ) -> u64 {
        let keys: Vec<u32> = queues.iter().map(|&at| self.keys[at]).collect();
        let mut entrants: Vec<Entrant> = members.iter().map(|&who| self.entrants[who]).collect();
        let mut extra = quotas(&mut entrants);
        for (owner, &at) in draft(&keys, &mut entrants, &mut extra).into_iter().zip(queues) {
            self.owners[at] = owner.map(|who| members[who]);
        }
        for (entrant, &who) in entrants.into_iter().zip(members) {
            self.entrants[who] = entrant;
        }
        extra
    }
}

/// Bounds that fill the lowest loads first, as water would, with so many more queues; and the extras.
fn level(queues: u64, entrants: &mut [Entrant]) -> u64 {
    let mut loads: Vec<u64> = entrants.iter().map(|entrant| entrant.load).collect();
    loads.sort_unstable();
    // The level is where the water stands over the lowest `wet` members, for the largest number of them that it covers.
    let (mut level, mut below) = (0, 0);
    for (wet, &load) in (1_u64..).zip(&loads) {
        below += load;
        let reached = (queues + below) / wet;
        if reached < load {
            break;
        }
        level = reached;
    }
    let poured: u64 = loads.iter().map(|&load| level.saturating_sub(load)).sum();
    for entrant in entrants {
        (entrant.low, entrant.high) = (level, level + 1);
    }
    queues.saturating_sub(poured)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn water_finds_its_level() {
        let mut rng = Rng::new(3);
        for _ in 0..2000 {
            let mut entrants: Vec<Entrant> = (0..1 + rng.below(6))
                .map(|_| Entrant { multiplier: 0, weight: 1, load: rng.below(9), low: 0, high: 0 })
                .collect();
            let queues = rng.below(30);
            let room = |level: u64, entrants: &[Entrant]| -> u64 {
                entrants.iter().map(|entrant| level.saturating_sub(entrant.load)).sum()
            };
            let extra = level(queues, &mut entrants);
            let level = entrants[0].low;
            assert!(room(level, &entrants) <= queues && queues < room(level + 1, &entrants));
            assert_eq!(extra, queues - room(level, &entrants));
        }
    }
}
