//! CONSISTENT_HASH: the next point on a hash ring.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use md5::{Digest as _, Md5};

use super::ring::Ring;
use super::{Allocate, AllocateError, Input, Owners, SortedMembers, SortedQueues};
use crate::model::Group;

/// Puts each member on a ring of numbers at several points, its virtual nodes, and gives each queue to the member whose
/// point comes next. When a member joins, queues move only to it; when one leaves, only its queues move. The shares are
/// seldom even.
///
/// In detail:
/// 1. Point k of member `c` is the hash of the text `c-k`, for k from 0; 10 points if nothing else is said.
/// 2. Members put their points down in list order, and a later point takes the place of an equal earlier one.
/// 3. A client id that stands in the list again goes on counting k where the ring has so many points of it.
/// 4. A queue's hash is that of [`MessageQueue::java_text`](crate::model::MessageQueue::java_text). Its owner is the
///    first point that is not below it; past the last point, the ring begins again.
/// 5. The hash is [`md5_hash`], or a function of the user's; numbers compare with their sign.
///
/// Equals Java's `AllocateMessageQueueConsistentHash`
/// (rocketmq:client/src/main/java/org/apache/rocketmq/client/consumer/rebalance/AllocateMessageQueueConsistentHash.java)
/// with its `ConsistentHashRouter`. The Go client's strategy of the same name uses another hash and does not fit into
/// one group with it.
///
/// # Example
///
/// ```
/// use evenkeel_core::allocate::{Allocate, ConsistentHash, Input, SortedMembers, SortedQueues};
/// use evenkeel_core::model::{ClientId, Group, MessageQueue};
///
/// let queues = SortedQueues::new((0..8).map(|id| MessageQueue::new("TopicTest", "broker-a", id)));
/// let owners = |ids: &[&'static str]| {
///     let members = SortedMembers::new(ids.iter().map(|&id| ClientId::from(id)));
///     let owners = ConsistentHash::default().owners(&Group::from("g"), &queues, &members)?;
///     let name = |queue| owners.sole(queue).map_or("nobody", |place| ids[place]);
///     Ok::<_, evenkeel_core::allocate::AllocateError>((0..8).map(name).collect::<Vec<_>>())
/// };
/// assert_eq!(owners(&["c1", "c2"])?, ["c1", "c2", "c2", "c1", "c1", "c1", "c2", "c1"]);
/// // Queues 2 and 3 move to the new member, and nothing else moves.
/// assert_eq!(owners(&["c1", "c2", "c3"])?, ["c1", "c2", "c3", "c3", "c1", "c1", "c2", "c1"]);
/// # Ok::<(), evenkeel_core::allocate::AllocateError>(())
/// ```
#[derive(Clone)]
pub struct ConsistentHash {
    virtual_nodes: usize,
    hash: Arc<dyn Fn(&str) -> i64 + Send + Sync>,
}

impl ConsistentHash {
    /// Points for each member if nothing else is said.
    pub const DEFAULT_VIRTUAL_NODES: i32 = 10;

    /// The most points that a member can have. Java has no limit but its memory.
    pub const MAX_VIRTUAL_NODES: i32 = 65_536;

    /// A ring with so many points for each member. With 0 points nobody gets anything.
    ///
    /// # Errors
    ///
    /// If the number is negative or above [`Self::MAX_VIRTUAL_NODES`].
    pub fn new(virtual_nodes: i32) -> Result<Self, AllocateError> {
        Self::with_hash(virtual_nodes, md5_hash)
    }

    /// A ring with a hash function of your own. All members of the group need the same.
    ///
    /// # Errors
    ///
    /// As for [`Self::new`].
    pub fn with_hash(
        virtual_nodes: i32,
        hash: impl Fn(&str) -> i64 + Send + Sync + 'static,
    ) -> Result<Self, AllocateError> {
        match usize::try_from(virtual_nodes) {
            Ok(points) if virtual_nodes <= Self::MAX_VIRTUAL_NODES => {
                Ok(Self { virtual_nodes: points, hash: Arc::new(hash) })
            }
            _ => Err(AllocateError::BadParameter {
                name: "virtual nodes",
                what: format!("{virtual_nodes} is not between 0 and {}", Self::MAX_VIRTUAL_NODES).into(),
            }),
        }
    }

    /// The ring's points, ascending, no two equal.
    fn ring(&self, members: &SortedMembers) -> Vec<Point> {
        let mut ring = Vec::with_capacity(self.virtual_nodes.saturating_mul(members.len()));
        let mut place = 0;
        // Equal ids stand together, so that nobody else puts a point down between their turns.
        for same in members.chunk_by(|a, b| a == b) {
            let mut text = String::new();
            let mut own = BTreeSet::new();
            for _ in same {
                let first = own.len();
                for k in first..first + self.virtual_nodes {
                    text.clear();
                    let _ = write!(text, "{}-{k}", members[place]);
                    let hash = (self.hash)(&text);
                    ring.push(Point { hash, owner: place });
                    if same.len() > 1 {
                        own.insert(hash);
                    }
                }
            }
            place += same.len();
        }
        // Stable, so that of equal points the later stands last; then the last of each run is kept.
        ring.sort_by_key(|point| point.hash);
        ring.dedup_by(|next, kept| {
            let equal = next.hash == kept.hash;
            if equal {
                *kept = *next;
            }
            equal
        });
        ring
    }
}

/// `None` for all if the ring has no points.
impl Ring for ConsistentHash {
    fn places(&self, queues: &SortedQueues, members: &SortedMembers) -> Vec<Option<usize>> {
        let ring = self.ring(members);
        queues
            .iter()
            .map(|queue| {
                let hash = (self.hash)(&queue.java_text());
                let next = ring.partition_point(|point| point.hash < hash);
                ring.get(next).or_else(|| ring.first()).map(|point| point.owner)
            })
            .collect()
    }
}

/// Java's default hash of a ring: the first four bytes of the text's MD5, as one big-endian number without a sign.
///
/// ```
/// assert_eq!(evenkeel_core::allocate::md5_hash("c1-0"), 3_886_541_579);
/// ```
pub fn md5_hash(text: &str) -> i64 {
    let digest: [u8; 16] = Md5::digest(text.as_bytes()).into();
    let [a, b, c, d, ..] = digest;
    i64::from(u32::from_be_bytes([a, b, c, d]))
}

impl Default for ConsistentHash {
    fn default() -> Self {
        Self { virtual_nodes: Self::DEFAULT_VIRTUAL_NODES as usize, hash: Arc::new(md5_hash) }
    }
}

impl fmt::Debug for ConsistentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsistentHash").field("virtual_nodes", &self.virtual_nodes).finish_non_exhaustive()
    }
}

impl Allocate for ConsistentHash {
    fn name(&self) -> Cow<'_, str> {
        "CONSISTENT_HASH".into()
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

#[derive(Clone, Copy)]
struct Point {
    hash: i64,
    owner: usize,
}
