//! The Go client's hash ring, to show what it does to a group with Java members. Not for consuming.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use core::ops::Bound;

use super::ring::Ring;
use super::{Allocate, AllocateError, Input, Owners, SortedMembers, SortedQueues};
use crate::model::Group;

/// What apache/rocketmq-client-go's `AllocateByConsistentHash` gives, which differs from Java's in each step: the hash
/// is CRC-32 (IEEE), point k of member `c` is the hash of the text `kc` without anything between, and a queue belongs to
/// the first point strictly above its own hash. Of equal points the one of the member that sorts later holds. The
/// queue's text is the same as in Java (rocketmq-client-go:consumer/strategy.go, with stathat.com/c/consistent v1.0.0).
///
/// ```
/// use evenkeel_core::allocate::{Allocate, ConsistentHash, GoRing, SortedMembers, SortedQueues};
/// use evenkeel_core::model::{ClientId, Group, MessageQueue};
///
/// let queues = SortedQueues::new((0..8).map(|id| MessageQueue::new("TopicTest", "broker-a", id)));
/// let members = SortedMembers::new(["c1", "c2", "c3"].map(ClientId::from));
/// let group = Group::from("g");
/// let java = ConsistentHash::default().owners(&group, &queues, &members)?;
/// let go = GoRing::default().owners(&group, &queues, &members)?;
/// assert_ne!(java, go);
/// # Ok::<(), evenkeel_core::allocate::AllocateError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoRing {
    /// Points for each member.
    pub virtual_nodes: u16,
}

impl Default for GoRing {
    /// With as many points as Java's ring has by default; in Go the number has to be given.
    fn default() -> Self {
        Self { virtual_nodes: 10 }
    }
}

impl Ring for GoRing {
    fn places(&self, queues: &SortedQueues, members: &SortedMembers) -> Vec<Option<usize>> {
        let mut ring = BTreeMap::new();
        let (mut text, mut place) = (String::new(), 0);
        for same in members.chunk_by(|a, b| a == b) {
            for point in 0..self.virtual_nodes {
                text.clear();
                let _ = write!(text, "{point}{}", members[place]);
                ring.insert(crc32(text.as_bytes()), place);
            }
            place += same.len();
        }
        let owner = |hash: u32| {
            let above = ring.range((Bound::Excluded(hash), Bound::Unbounded)).next();
            above.or_else(|| ring.iter().next()).map(|(_, &place)| place)
        };
        queues.iter().map(|queue| owner(crc32(queue.java_text().as_bytes()))).collect()
    }
}

/// CRC-32 (IEEE) by half bytes. The texts are short, and the tables of a faster one would be a tenth of the wasm file.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 16] = {
        let mut table = [0; 16];
        let mut half = 0;
        while half < 16 {
            let mut rest = half as u32;
            let mut bit = 0;
            while bit < 4 {
                rest = (rest >> 1) ^ (0xEDB8_8320 & (rest & 1).wrapping_neg());
                bit += 1;
            }
            table[half] = rest;
            half += 1;
        }
        table
    };
    let step = |sum: u32, half: u32| (sum >> 4) ^ TABLE[((sum ^ half) & 15) as usize];
    !bytes.iter().fold(!0, |sum, &byte| step(step(sum, byte.into()), u32::from(byte >> 4)))
}

impl Allocate for GoRing {
    fn name(&self) -> Cow<'_, str> {
        "CONSISTENT_HASH (Go)".into()
    }

    fn positions(&self, input: &Input<'_>) -> Result<Vec<usize>, AllocateError> {
        self.share(input)
    }

    fn owners(
        &self,
        _: &Group,
        queues: &SortedQueues,
        members: &SortedMembers,
    ) -> Result<Owners, AllocateError> {
        self.shares(queues, members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_one_of_the_field() {
        for text in ["", "a", "123456789", "0c1", "MessageQueue [topic=消息, brokerName=b, queueId=1]"] {
            assert_eq!(crc32(text.as_bytes()), crc32fast::hash(text.as_bytes()), "{text}");
        }
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }
}
