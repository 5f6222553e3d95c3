//! A group as it was seen.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Layout, Topics};
use crate::allocate::{Allocate, Average, ByConfig, GoRing, SortedMembers, named};
use crate::model::{ClientId, Group, MessageQueue, Topic};

/// A group as it was seen at one moment, by whoever asked brokers and members.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The group.
    pub group: Group,
    /// Its topics.
    pub topics: Topics,
    /// The processes that the brokers list, in any order.
    pub members: Vec<MemberSeen>,
    /// The strategy to reckon with, if the user says it. Else it is the one that most members run, and AVG if nobody
    /// says.
    pub strategy: Option<Arc<dyn Allocate>>,
}

/// A member as it was seen. What is not known is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberSeen {
    /// Its client id.
    pub id: ClientId,
    /// Where it connects from.
    pub address: Option<String>,
    /// The language of its client, as brokers write it: `JAVA`, `GO`, `RUST`.
    pub language: Option<String>,
    /// The version of its client.
    pub version: Option<String>,
    /// Its strategy, as it calls it: a name or a Java class.
    pub strategy: Option<String>,
    /// The topics that it has subscribed to, each with its expression.
    pub subscriptions: Option<BTreeMap<Topic, String>>,
    /// The queues that it says it owns. `None` if it did not answer.
    pub owned: Option<Vec<MessageQueue>>,
    /// The queues that its CONFIG strategy lists.
    pub listed: Option<Vec<MessageQueue>>,
}

impl MemberSeen {
    /// A member of which nothing but the id is known.
    pub fn new(id: impl Into<ClientId>) -> Self {
        Self {
            id: id.into(),
            address: None,
            language: None,
            version: None,
            strategy: None,
            subscriptions: None,
            owned: None,
            listed: None,
        }
    }

    /// The name of its strategy, whatever form it has; unknown ones as they are.
    pub fn strategy_name(&self) -> Option<String> {
        let name = self.strategy.as_deref()?;
        Some(named(name).map_or_else(|_| plain_name(name).into(), |strategy| strategy.name().into_owned()))
    }

    /// Its client in words, such as `JAVA 5.3.1`.
    pub fn client(&self) -> String {
        let parts = [self.language.as_deref(), self.version.as_deref()];
        let known: Vec<&str> = parts.into_iter().flatten().collect();
        if known.is_empty() { "unknown client".into() } else { known.join(" ") }
    }

    pub(super) fn is_go(&self) -> bool {
        self.language.as_deref().is_some_and(|language| language.eq_ignore_ascii_case("GO"))
    }
}

/// The names of strategies that [`named`] cannot make, because they need settings.
fn plain_name(name: &str) -> &str {
    match name.rsplit('.').next().unwrap_or(name) {
        "AllocateMessageQueueByConfig" => "CONFIG",
        "AllocateMessageQueueByMachineRoom" => "MACHINE_ROOM",
        "AllocateMachineRoomNearby" => "MACHINE_ROOM_NEARBY",
        other => other,
    }
}

impl Snapshot {
    /// What there is to share, and among whom: a client id as many times as processes have it.
    pub fn layout(&self) -> Layout {
        Layout {
            group: self.group.clone(),
            topics: self.topics.clone(),
            members: SortedMembers::new(self.members.iter().map(|member| member.id.clone())),
        }
    }

    /// The strategy to reckon with: what the user says, else what most members run that can be reckoned with, else AVG.
    pub fn common_strategy(&self) -> Arc<dyn Allocate> {
        if let Some(strategy) = &self.strategy {
            return Arc::clone(strategy);
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in self.members.iter().filter_map(|member| member.strategy.as_deref()) {
            if named(name).is_ok() {
                *counts.entry(name).or_default() += 1;
            }
        }
        let most = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(a.0)));
        most.and_then(|(name, _)| named(name).ok()).unwrap_or_else(|| Arc::new(Average))
    }

    /// What a member computes with, if that can be told.
    pub(super) fn strategy_of(
        &self,
        member: &MemberSeen,
        common: &Arc<dyn Allocate>,
    ) -> Option<Arc<dyn Allocate>> {
        if let Some(listed) = &member.listed {
            return Some(Arc::new(ByConfig::new(listed.iter().cloned())));
        }
        let Some(name) = member.strategy_name() else {
            return Some(Arc::clone(common));
        };
        if name == HASH && member.is_go() {
            return Some(Arc::new(GoRing::default()));
        }
        let same = common.name() == name || name == "MACHINE_ROOM_NEARBY" && common.name().starts_with(&name);
        if same { Some(Arc::clone(common)) } else { named(&name).ok() }
    }
}

/// The name under which rings of different languages meet.
pub(super) const HASH: &str = "CONSISTENT_HASH";
