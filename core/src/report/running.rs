//! Which strategies a plan is made for.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, de};

use super::{Error, Skipped, Snapshot, Strategy};
use crate::plan::{self, Code, Finding, said};

/// Which strategies to try.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Strategies {
    /// Every one that can be computed with what the snapshot says: the running one first, then AVG, AVG_BY_CIRCLE,
    /// CONSISTENT_HASH, AVG_BY_DRAFT, and CONFIG if the list of every consumer is known; with [`Options::settings`] for
    /// those that are named there. If a change says that the strategy changes, only the running one, which then becomes
    /// the other.
    ///
    /// [`Options::settings`]: super::Options::settings
    #[default]
    All,
    /// These, in this order.
    These(Vec<Strategy>),
}

/// What the group computes with now.
pub(super) struct Running {
    /// The strategy to reckon with.
    pub(super) strategy: Strategy,
    /// Whether the snapshot or the consumers say so; else it is AVG, the clients' default.
    pub(super) said: bool,
    /// What most consumers run, if that cannot be computed.
    unknown: Option<String>,
}

impl Running {
    /// `settings` are of strategies that the snapshot may know by name only.
    pub(super) fn of(snapshot: &Snapshot, group: &plan::Snapshot, settings: &[Strategy]) -> Self {
        if let Some(strategy) = &snapshot.strategy {
            return Self { strategy: strategy.clone(), said: true, unknown: None };
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for member in &group.members {
            let name = member.listed.as_ref().map(|_| "CONFIG".into()).or_else(|| member.strategy_name());
            if let Some(name) = name {
                *counts.entry(name).or_default() += 1;
            }
        }
        let most = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        let Some((name, _)) = most else {
            return Self { strategy: Strategy::Avg {}, said: false, unknown: None };
        };
        let given = settings.iter().find(|strategy| strategy.name() == name).cloned();
        let known = given.or_else(|| if name == "CONFIG" { lists(group) } else { name.parse().ok() });
        match known {
            Some(strategy) => Self { strategy, said: true, unknown: None },
            None => Self { strategy: Strategy::Avg {}, said: false, unknown: Some(name) },
        }
    }

    /// Lets the group be looked over with this strategy, if it is known.
    pub(super) fn settle(&self, group: &mut plan::Snapshot) -> Result<(), Error> {
        if self.said && group.strategy.is_none() {
            group.strategy = Some(self.strategy.build()?);
        }
        Ok(())
    }

    /// Whether a strategy is the one that the group runs.
    pub(super) fn is(&self, strategy: &Strategy) -> bool {
        self.said
            && (self.strategy == *strategy
                || !self.strategy.has_settings()
                    && !strategy.has_settings()
                    && self.strategy.name() == strategy.name())
    }

    /// Whether the plan cannot speak for the group as it runs.
    pub(super) fn is_unknown(&self) -> bool {
        self.unknown.is_some()
    }

    pub(super) fn finding(&self) -> Option<Finding> {
        let name = self.unknown.as_deref()?;
        let text = said!(
            "the consumers run {name}, and what it needs to be computed is not known",
            "消费者运行 {name}，而计算它所需的信息未知"
        );
        Some(Finding::new(Code::R205, text))
    }

    /// The strategies to try, and those that there is nothing to compute with.
    pub(super) fn choose(
        &self,
        group: &plan::Snapshot,
        settings: &[Strategy],
        changes_strategy: bool,
    ) -> (Vec<Strategy>, Vec<Skipped>) {
        if changes_strategy {
            return (vec![self.strategy.clone()], Vec::new());
        }
        let others =
            [Strategy::Avg {}, Strategy::AvgByCircle {}, Strategy::consistent_hash(), Strategy::draft()];
        let mut chosen = vec![self.strategy.clone()];
        for other in others.into_iter().chain(lists(group)) {
            add_given(&mut chosen, settings.iter().filter(|given| given.name() == other.name()));
            if chosen.iter().all(|known| known.name() != other.name()) {
                chosen.push(other);
            }
        }
        add_given(&mut chosen, settings.iter());
        let needs = [
            ("MACHINE_ROOM", "needs the rooms to consume from"),
            ("MACHINE_ROOM_NEARBY", "needs an inner strategy and the room of each broker and consumer"),
            ("CONFIG", "needs the list of each consumer"),
        ];
        let missing = needs.iter().filter(|(name, _)| chosen.iter().all(|known| known.name() != *name));
        let skipped =
            missing.map(|&(name, why)| Skipped { strategy: name.into(), why: why.into() }).collect();
        (chosen, skipped)
    }
}

/// Strategies of one name may differ in their settings.
fn add_given<'a>(chosen: &mut Vec<Strategy>, given: impl Iterator<Item = &'a Strategy>) {
    for strategy in given {
        if !chosen.contains(strategy) {
            chosen.push(strategy.clone());
        }
    }
}

/// CONFIG, if every consumer has told its list.
fn lists(group: &plan::Snapshot) -> Option<Strategy> {
    let mut queues = BTreeMap::new();
    for member in &group.members {
        queues.insert(member.id.clone(), member.listed.clone()?);
    }
    (!queues.is_empty()).then_some(Strategy::Config { queues })
}

/// `"all"`, one strategy, or a list of them.
impl<'de> Deserialize<'de> for Strategies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AllOrList)
    }
}

struct AllOrList;

impl<'de> Visitor<'de> for AllOrList {
    type Value = Strategies;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("\"all\", or a list of strategies")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Strategies, E> {
        match text {
            "all" => Ok(Strategies::All),
            _ => text.parse().map(|one| Strategies::These(vec![one])).map_err(E::custom),
        }
    }

    fn visit_unit<E: de::Error>(self) -> Result<Strategies, E> {
        Ok(Strategies::All)
    }

    fn visit_none<E: de::Error>(self) -> Result<Strategies, E> {
        Ok(Strategies::All)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Strategies, A::Error> {
        let mut strategies = Vec::new();
        while let Some(strategy) = list.next_element()? {
            strategies.push(strategy);
        }
        Ok(Strategies::These(strategies))
    }
}
