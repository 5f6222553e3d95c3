//! Sorting, and filling maps and sets, with little code.
//!
//! `sort_by`, and `collect` into a map or a set, bring a sort of their own for each type: 4 KB of wasm code, which a browser
//! downloads. What is not asked often enough for its speed to matter goes through here; what strategies do for every
//! queue does not.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Ordering;

/// A map of these entries. Of equal keys the last one holds.
pub(crate) fn map<K: Ord, V>(entries: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    entries.into_iter().for_each(|(key, value)| {
        map.insert(key, value);
    });
    map
}

/// A set of these.
pub(crate) fn set<T: Ord>(entries: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    entries.into_iter().for_each(|entry| {
        set.insert(entry);
    });
    set
}

/// Sorts; what is equal stays in its order.
pub(crate) fn sort_by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order = sorted_places(list.len(), &|a, b| compare(&list[a], &list[b]));
    // Each cycle of the permutation once: what belongs here comes, and what was here waits where that came from.
    for start in 0..list.len() {
        let mut at = start;
        while order[at] != start {
            let from = order[at];
            list.swap(at, from);
            order[at] = at;
            at = from;
        }
        order[at] = at;
    }
}

fn sorted_places(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..len).collect();
    places.sort_by(|&a, &b| compare(a, b));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn it_sorts_as_the_standard_library_does() {
        let mut rng = Rng::new(7);
        for len in (0..40).chain([1000]) {
            let list: Vec<(u64, usize)> = (0..len).map(|at| (rng.below(9), at)).collect();
            let (mut ours, mut theirs) = (list.clone(), list);
            sort_by(&mut ours, |a, b| a.0.cmp(&b.0));
            theirs.sort_by_key(|entry| entry.0);
            assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn of_equal_keys_the_last_one_holds() {
        let entries = [(2, 'a'), (1, 'b'), (2, 'c')];
        assert_eq!(map(entries), BTreeMap::from(entries));
        assert_eq!(set([3, 1, 3]), BTreeSet::from([1, 3]));
    }
}
