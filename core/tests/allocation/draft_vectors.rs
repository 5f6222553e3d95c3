//! AVG_BY_DRAFT: the answers that every implementation in any language has to give, bit for bit.
//!
//! A case is `k n per m weighted`: group `G`, topic `T<k>`, queue i is number i mod per of `broker-<i/per>`, member i is
//! `10.0.<i/250>.<i mod 250>@<1000+k>#<7919·i>`, with weight 1 + i mod 4 if weighted. The answer is the owner of each
//! queue in order, by number, or the hash of that list.

use std::collections::BTreeMap;

use evenkeel_core::allocate::{Allocate, Draft, Input, SortedMembers, SortedQueues};
use evenkeel_core::model::{ClientId, Group, MessageQueue};

#[test]
fn small_cases_are_told_in_full() {
    for ((k, queues, per, members, weighted), expected) in [
        ((0, 8, 4, 3, false), "0,2,1,1,1,0,0,2"),
        ((1, 16, 8, 5, false), "3,2,4,2,3,0,1,0,0,1,4,2,3,4,1,0"),
        ((2, 3, 4, 5, false), "1,2,3"),
        ((3, 12, 4, 4, false), "2,3,3,2,0,1,2,3,1,1,0,0"),
        ((4, 16, 8, 5, true), "3,1,4,0,2,2,3,1,2,2,3,3,3,0,2,3"),
        (
            (5, 64, 8, 10, false),
            "6,4,4,7,0,4,9,7,8,3,0,9,8,6,1,2,6,5,5,2,7,7,0,2,1,4,9,6,1,2,8,1,\
             6,9,2,3,2,7,5,5,7,6,0,9,8,4,3,3,0,9,9,8,8,5,0,8,3,5,1,4,3,1,0,3",
        ),
        (
            (6, 64, 8, 10, true),
            "5,7,2,6,7,5,0,4,5,7,7,3,3,7,3,1,0,6,6,4,5,1,2,8,6,0,7,2,4,6,2,3,\
             1,1,5,7,2,6,9,3,6,3,2,9,7,3,6,7,8,3,6,3,1,9,3,7,9,3,9,2,3,2,7,7",
        ),
    ] {
        assert_eq!(case(k, queues, per, members, weighted), expected, "case {k}");
    }
}

#[test]
fn large_cases_are_told_by_hash() {
    for ((k, queues, per, members, weighted), expected) in [
        ((7, 128, 16, 16, false), 0x1aa0_6237),
        ((8, 1024, 16, 64, false), 0xb5e4_fc00),
        ((9, 1024, 16, 100, true), 0xfe8a_ddfe),
        ((10, 10_000, 16, 300, false), 0x88d9_2ea9),
    ] {
        assert_eq!(murmur3(case(k, queues, per, members, weighted).as_bytes()), expected, "case {k}");
    }
}

#[test]
fn each_member_computes_its_own_part_alone() {
    let (queues, members) = (queues(1, 16, 8), (0..5).map(|i| member(1, i)).collect::<Vec<_>>());
    let (queues, sorted) = (SortedQueues::new(queues), SortedMembers::new(members.clone()));
    let group = Group::from("G");
    let shares = members.iter().map(|me| {
        let input = Input { group: &group, me, queues: &queues, members: &sorted, nth: 0 };
        Draft::default().positions(&input).unwrap()
    });
    assert_eq!(
        shares.collect::<Vec<_>>(),
        [vec![5, 7, 8, 15], vec![6, 9, 14], vec![1, 3, 11], vec![0, 4, 12], vec![2, 10, 13]]
    );
}

fn case(k: u32, count: u32, per: u32, members: u32, weighted: bool) -> String {
    let numbers: BTreeMap<ClientId, u32> = (0..members).map(|i| (member(k, i), i)).collect();
    let queues = SortedQueues::new(queues(k, count, per));
    let members = SortedMembers::new(numbers.keys().cloned());
    let weights = numbers.clone();
    let strategy = if weighted {
        Draft::default().with_weights(move |id| 1 + weights[id] % 4)
    } else {
        Draft::default()
    };
    let owners = strategy.owners(&Group::from("G"), &queues, &members).expect("there is something to share");
    let number = |queue| numbers[&members[owners.sole(queue).expect("each queue has one owner")]].to_string();
    (0..owners.queues()).map(number).collect::<Vec<_>>().join(",")
}

fn queues(k: u32, count: u32, per: u32) -> Vec<MessageQueue> {
    let queue = |i| MessageQueue::new(format!("T{k}"), format!("broker-{:04}", i / per), (i % per) as i32);
    (0..count).map(queue).collect()
}

fn member(k: u32, i: u32) -> ClientId {
    ClientId::from(format!("10.0.{}.{}@{}#{}", i / 250, i % 250, 1000 + k, i * 7919))
}

/// MurmurHash3 of 32 bits, written down a second time.
fn murmur3(bytes: &[u8]) -> u32 {
    let mix = |block: u32| block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let number = |bytes: &[u8]| bytes.iter().rfold(0_u32, |sum, &byte| (sum << 8) + u32::from(byte));
    let blocks = bytes.chunks_exact(4);
    let rest = blocks.remainder();
    let hash = blocks.fold(0_u32, |hash, block| {
        (hash ^ mix(number(block))).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    let mut hash = hash ^ mix(number(rest)) ^ u32::try_from(bytes.len()).expect("the text is short");
    for (shift, factor) in [(16, 0x85eb_ca6b), (13, 0xc2b2_ae35), (16, 1)] {
        hash = (hash ^ hash >> shift).wrapping_mul(factor);
    }
    hash
}
