//! The draft itself: rounds in which members look at their favourites in turn and take what is free.
//!
//! A member's look at a queue has a fixed date, its round and its turn in it, whatever the others do: a pass costs a
//! look as much as a pick. So the whole draft is a walk over all pairs of member and queue by date, and a shortcut is
//! right if it visits the pairs that matter in that order. There are two. Only the best favourites of each member are
//! listed, as most queues are gone before anybody comes to its last ones. And when a list runs out and few queues are
//! left, the dates of the pairs that can still matter are counted out, which needs no lists at all.

use alloc::vec;
use alloc::vec::Vec;

use super::hash::score;

/// A member in the draft, with its place in the turn order given by where it stands in the slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entrant {
    /// Its share in all its scores.
    pub(super) multiplier: u32,
    /// How fast it looks, against the others.
    pub(super) weight: u32,
    /// Queues that it has.
    pub(super) load: u64,
    /// Up to here it takes freely.
    pub(super) low: u64,
    /// Up to here it takes while there are extras.
    pub(super) high: u64,
}

/// How much longer a list is than what its member will own.
const FAVOURITES_PER_QUEUE: usize = 6;
/// What a list has beyond that.
const FAVOURITES_MORE: usize = 24;
/// With more free queues than this, a longer list is better than counting.
const FREE_TO_COUNT: usize = 32;

/// Shares the queues of `keys`, which stand in Java's order, among the entrants, who stand in turn order: for each
/// queue, the entrant that took it. A queue that nobody has room for stays free. Loads and `extra` are brought up to
/// date.
pub(super) fn draft(keys: &[u32], entrants: &mut [Entrant], extra: &mut u64) -> Vec<Option<usize>> {
    Draft::new(keys, entrants, extra).run()
}

struct Draft<'a> {
    keys: &'a [u32],
    entrants: &'a mut [Entrant],
    extra: &'a mut u64,
    owners: Vec<Option<usize>>,
    free: usize,
    heaviest: u32,
    /// Best favourites of each entrant.
    lists: Vec<Vec<Favourite>>,
    /// How many favourites each entrant has looked at.
    looked: Vec<usize>,
}

/// A score, flipped, and below it the queue's position: ascending numbers are favourites from the best on.
type Favourite = u64;

fn favourite((at, score): (usize, u32)) -> Favourite {
    u64::from(!score) << 32 | at as u64
}

fn position(favourite: Favourite) -> usize {
    (favourite & 0xffff_ffff) as usize
}

impl<'a> Draft<'a> {
    fn new(keys: &'a [u32], entrants: &'a mut [Entrant], extra: &'a mut u64) -> Self {
        Self {
            owners: vec![None; keys.len()],
            free: keys.len(),
            heaviest: entrants.iter().map(|entrant| entrant.weight).max().unwrap_or(1).max(1),
            lists: vec![Vec::new(); entrants.len()],
            looked: vec![0; entrants.len()],
            keys,
            entrants,
            extra,
        }
    }

    fn run(mut self) -> Vec<Option<usize>> {
        let mut open: Vec<usize> = (0..self.entrants.len()).filter(|&who| self.is_open(who)).collect();
        self.list_favourites(&open);
        let mut round: u128 = 1;
        while self.free > 0 && !open.is_empty() {
            let mut looks = false;
            for &who in &open {
                let due = self.looks_until(round, who);
                while self.looked[who] < due && self.is_open(who) {
                    looks = true;
                    if self.looked[who] >= self.lists[who].len() && !self.lengthen(who) {
                        self.count_out(&open);
                        return self.owners;
                    }
                    self.look(who);
                }
            }
            open.retain(|&who| self.is_open(who) && self.looked[who] < self.keys.len());
            round = if looks {
                round + 1
            } else {
                // A round in which nobody's turn comes: on to the first in which somebody's does.
                let next = open.iter().map(|&who| self.round_of(self.looked[who] + 1, who)).min();
                next.unwrap_or(round).max(round + 1)
            };
        }
        self.owners
    }

    fn is_open(&self, who: usize) -> bool {
        let entrant = &self.entrants[who];
        entrant.load < entrant.low || entrant.load < entrant.high && *self.extra > 0
    }

    /// How many favourites it may have looked at by the end of a round.
    fn looks_until(&self, round: u128, who: usize) -> usize {
        let weight = self.entrants[who].weight;
        let looks = if weight == self.heaviest {
            round
        } else {
            round * u128::from(weight) / u128::from(self.heaviest)
        };
        self.keys.len().min(usize::try_from(looks).unwrap_or(usize::MAX))
    }

    /// The round in which it looks at the favourite of a rank, counted from 1.
    fn round_of(&self, rank: usize, who: usize) -> u128 {
        (rank as u128 * u128::from(self.heaviest)).div_ceil(u128::from(self.entrants[who].weight))
    }

    /// Looks at the next favourite, and takes it if it is free.
    fn look(&mut self, who: usize) {
        let at = position(self.lists[who][self.looked[who]]);
        self.looked[who] += 1;
        if self.owners[at].is_none() {
            self.take(who, at);
        }
    }

    fn take(&mut self, who: usize, at: usize) {
        let entrant = &mut self.entrants[who];
        if entrant.load >= entrant.low {
            *self.extra -= 1;
        }
        entrant.load += 1;
        self.owners[at] = Some(who);
        self.free -= 1;
    }

    /// Lists for each what it will probably come to: the lists run out at about the same time.
    fn list_favourites(&mut self, open: &[usize]) {
        let together: u128 = open.iter().map(|&who| u128::from(self.entrants[who].weight)).sum();
        for &who in open {
            let share = self.keys.len() as u128 * u128::from(self.entrants[who].weight) / together.max(1);
            let share = usize::try_from(share).unwrap_or(usize::MAX);
            self.list(who, share.saturating_mul(FAVOURITES_PER_QUEUE).saturating_add(FAVOURITES_MORE));
        }
    }

    /// Lists about so many of its favourites: all that score above a bar, so none is left out among them.
    fn list(&mut self, who: usize, about: usize) {
        let multiplier = self.entrants[who].multiplier;
        let list = &mut self.lists[who];
        list.clear();
        let bar = match ((about as u128) << 32).checked_div(self.keys.len() as u128) {
            Some(bar) => u32::try_from(bar).unwrap_or(u32::MAX),
            None => return,
        };
        list.reserve(about.min(self.keys.len()).saturating_add(about / 8));
        let mut at = 0;
        let mut rest = self.keys;
        // Nearly all fall short of the bar. Four at a time, their scores do not wait for one another.
        while let [a, b, c, d, after @ ..] = rest {
            let (a, b) = (score(*a, multiplier), score(*b, multiplier));
            let (c, d) = (score(*c, multiplier), score(*d, multiplier));
            if (!a <= bar) | (!b <= bar) | (!c <= bar) | (!d <= bar) {
                list.extend((at..).zip([a, b, c, d]).filter(|&(_, score)| !score <= bar).map(favourite));
            }
            at += 4;
            rest = after;
        }
        let rest = rest.iter().map(|&key| score(key, multiplier));
        list.extend((at..).zip(rest).filter(|&(_, score)| !score <= bar).map(favourite));
        list.sort_unstable();
    }

    /// Makes a list longer that has run out; or says no, because counting the rest out is better.
    fn lengthen(&mut self, who: usize) -> bool {
        if self.free <= FREE_TO_COUNT {
            return false;
        }
        let mut about = self.lists[who].len().max(FAVOURITES_MORE);
        while self.lists[who].len() <= self.looked[who] {
            about = about.saturating_mul(4);
            self.list(who, about);
        }
        true
    }

    /// The rest of the draft, by the dates of those pairs alone that can still matter. An open entrant has looked at
    /// none of the free queues, or it would have taken it.
    fn count_out(&mut self, open: &[usize]) {
        let free: Vec<usize> = (0..self.keys.len()).filter(|&at| self.owners[at].is_none()).collect();
        let open: Vec<usize> = open.iter().copied().filter(|&who| self.is_open(who)).collect();
        let mut looks = Vec::with_capacity(free.len().saturating_mul(open.len()));
        for &who in &open {
            for (rank, at) in self.ranks(who, &free) {
                looks.push((self.round_of(rank, who), who, rank, at));
            }
        }
        looks.sort_unstable();
        for (_, who, _, at) in looks {
            if self.owners[at].is_none() && self.is_open(who) {
                self.take(who, at);
            }
        }
    }

    /// Each queue of `free` with its rank among all favourites of an entrant, counted from 1.
    fn ranks(&self, who: usize, free: &[usize]) -> Vec<(usize, usize)> {
        let multiplier = self.entrants[who].multiplier;
        let scores: Vec<u32> = self.keys.iter().map(|&key| score(key, multiplier)).collect();
        let rank = |&at: &usize| {
            let this = scores[at];
            let better = scores.iter().filter(|&&other| other > this).count();
            let equal_before = scores[..at].iter().filter(|&&other| other == this).count();
            (better + equal_before + 1, at)
        };
        free.iter().map(rank).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// The rules word by word, without a shortcut.
    fn plain(keys: &[u32], entrants: &mut [Entrant], extra: &mut u64) -> Vec<Option<usize>> {
        let mut owners = vec![None; keys.len()];
        let heaviest = entrants.iter().map(|entrant| u64::from(entrant.weight)).max().unwrap_or(1);
        let favourites: Vec<Vec<u64>> = entrants
            .iter()
            .map(|entrant| {
                let mut all: Vec<u64> = (0..)
                    .zip(keys)
                    .map(|(at, &key)| favourite((at, score(key, entrant.multiplier))))
                    .collect();
                all.sort_unstable();
                all
            })
            .collect();
        let mut looked = vec![0; entrants.len()];
        for round in 1.. {
            for (who, entrant) in entrants.iter_mut().enumerate() {
                let due = (keys.len() as u64).min(round * u64::from(entrant.weight) / heaviest);
                while (looked[who] as u64) < due
                    && (entrant.load < entrant.low || entrant.load < entrant.high && *extra > 0)
                {
                    let at = position(favourites[who][looked[who]]);
                    looked[who] += 1;
                    if owners[at].is_none() {
                        *extra -= u64::from(entrant.load >= entrant.low);
                        entrant.load += 1;
                        owners[at] = Some(who);
                    }
                }
            }
            let idle = |(who, entrant): (usize, &Entrant)| {
                looked[who] == keys.len()
                    || entrant.load >= entrant.low && (entrant.load >= entrant.high || *extra == 0)
            };
            if entrants.iter().enumerate().all(idle) {
                return owners;
            }
        }
        owners
    }

    #[test]
    fn shortcuts_change_nothing() {
        let mut rng = Rng::new(7);
        for case in 0..400 {
            let queues = rng.below(if case % 20 == 0 { 3000 } else { 200 }) as usize;
            let count = 1 + rng.below(if case % 3 == 0 { 60 } else { 8 }) as usize;
            // Few bits in some cases, so that scores tie.
            let mask = if case % 5 == 0 { 0xf } else { u32::MAX };
            let keys: Vec<u32> = (0..queues).map(|_| rng.next_u64() as u32 & mask).collect();
            let heaviest = [1, 4, 1000][case % 3 * usize::from(case % 2 == 0)];
            let mut entrants: Vec<Entrant> = (0..count)
                .map(|_| {
                    let low = rng.below(2 + 2 * (queues / count) as u64);
                    Entrant {
                        multiplier: rng.next_u64() as u32 & mask,
                        weight: 1 + rng.below(heaviest) as u32,
                        load: rng.below(3),
                        low,
                        high: low + rng.below(4),
                    }
                })
                .collect();
            let mut extra = rng.below(1 + queues as u64 / 2);
            let (mut others, mut others_extra) = (entrants.clone(), extra);
            let expected = plain(&keys, &mut others, &mut others_extra);
            assert_eq!(draft(&keys, &mut entrants, &mut extra), expected, "case {case}");
            assert_eq!(extra, others_extra, "case {case}");
        }
    }

    #[test]
    fn equal_members_at_any_scale_take_turns_to_the_end() {
        // All want the same queues in the same order, so every list runs out long before the queues do.
        let keys: Vec<u32> = (0..9_000).collect();
        let quota = Entrant { multiplier: 5, weight: 1, load: 0, low: 100, high: 101 };
        let mut entrants = [quota; 90];
        let (mut others, mut extra) = (entrants, 0);
        assert_eq!(draft(&keys, &mut entrants, &mut extra), plain(&keys, &mut others, &mut 0));
    }

    #[test]
    fn rounds_without_a_look_are_skipped() {
        let keys: Vec<u32> = (0..50).collect();
        let entrant = |multiplier, weight, low| Entrant { multiplier, weight, load: 0, low, high: low };
        let mut entrants = [entrant(1, u32::MAX, 1), entrant(2, 1, 49)];
        let owners = draft(&keys, &mut entrants, &mut 0);
        assert_eq!(owners.iter().filter(|&&owner| owner == Some(1)).count(), 49);
    }
}
