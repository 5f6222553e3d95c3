//! How much work a whole group is, counted: one pass over queues and members, not one for each member.
//!
//! The times stand in the manual's figures; here nothing depends on the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evenkeel_core::allocate::{
    Allocate, Average, ConsistentHash, Draft, Input, Nearby, Room, RoomOf, SortedMembers, SortedQueues,
    md5_hash,
};
use evenkeel_core::model::{ClientId, Group, MessageQueue};
use evenkeel_core::plan::{Change, Layout, Trials, preview};

use crate::sharing::{ids, queues};

const QUEUES: usize = 1_000;
const MEMBERS: usize = 100;
const POINTS: usize = 10;

/// A count that a strategy's function can hold on to.
#[derive(Clone, Debug, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    fn one_more(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The count since the last time.
    fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }
}

fn counted_ring(count: &Count) -> ConsistentHash {
    let count = count.clone();
    let hash = move |text: &str| {
        count.one_more();
        md5_hash(text)
    };
    ConsistentHash::with_hash(POINTS as i32, hash).expect("ten points are allowed")
}

fn group() -> (SortedQueues, SortedMembers) {
    let members = ids((0..MEMBERS).map(|n| format!("10.0.0.{n}@1")));
    (SortedQueues::new(queues("T", "b", QUEUES as i32)), SortedMembers::new(members))
}

#[test]
fn a_ring_hashes_each_point_and_each_queue_once_for_all_members() {
    let count = Count::default();
    let (strategy, (queues, members)) = (counted_ring(&count), group());
    strategy.owners(&Group::from("g"), &queues, &members).expect("there is something to share");
    assert_eq!(count.take(), MEMBERS * POINTS + QUEUES);
}

/// Control: the way that members go about it, each for itself, is a hundred times the work, and the counter sees it.
#[test]
fn asking_each_member_in_turn_hashes_a_hundred_times_as_much() {
    let count = Count::default();
    let (strategy, (queues, members)) = (counted_ring(&count), group());
    let group = Group::from("g");
    for me in &members {
        let input = Input { group: &group, me, queues: &queues, members: &members, nth: 0 };
        strategy.positions(&input).expect("there is something to share");
    }
    assert_eq!(count.take(), MEMBERS * (MEMBERS * POINTS + QUEUES));
}

#[test]
fn a_preview_hashes_for_two_plans_and_no_more() {
    let count = Count::default();
    let strategy = Arc::new(counted_ring(&count));
    let (_, members) = group();
    let layout = Layout::new("g", members.iter().cloned()).with_queues("T", "b", QUEUES as u32);
    let joins = [Change::Join(ids(["10.0.1.1@1"]))];
    preview(&layout, strategy, &joins, Trials::default()).expect("the change fits");
    assert_eq!(count.take(), (MEMBERS + MEMBERS + 1) * POINTS + 2 * QUEUES);
}

/// Everybody in one room; who asks is counted.
#[derive(Debug)]
struct OneRoom {
    queues: Count,
    members: Count,
}

impl RoomOf for OneRoom {
    fn queue(&self, _: &MessageQueue) -> Option<Room> {
        self.queues.one_more();
        Some(Room::from("r"))
    }
    fn member(&self, _: &ClientId) -> Option<Room> {
        self.members.one_more();
        Some(Room::from("r"))
    }
}

#[test]
fn the_room_of_each_is_asked_for_once() {
    let (of_queues, of_members) = (Count::default(), Count::default());
    let strategy = Nearby::new(Average, OneRoom { queues: of_queues.clone(), members: of_members.clone() });
    let (queues, members) = group();
    strategy.owners(&Group::from("g"), &queues, &members).expect("all rooms are known");
    assert_eq!((of_queues.take(), of_members.take()), (QUEUES, MEMBERS));
}

#[test]
fn the_draft_weighs_each_member_once() {
    let count = Count::default();
    let weights = count.clone();
    let strategy = Draft::default().with_weights(move |_| {
        weights.one_more();
        1
    });
    let (queues, members) = group();
    strategy.owners(&Group::from("g"), &queues, &members).expect("there is something to share");
    assert_eq!(count.take(), MEMBERS);
}
