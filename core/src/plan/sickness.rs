//! The examination itself: each sickness alone, so that its effect is its own.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::findings::{Finding, effect};
use super::snapshot::HASH;
use super::{Code, Figures, Layout, MemberSeen, Party, Plan, PlanError, Snapshot};
use crate::allocate::{Allocate, AllocateError, SortedMembers};
use crate::model::{ClientId, Topic};
use crate::order;

/// A group under examination.
pub(super) struct Examination<'a> {
    snapshot: &'a Snapshot,
    layout: Layout,
    pub(super) common: Arc<dyn Allocate>,
    /// Each id once.
    members: Vec<&'a MemberSeen>,
    pub(super) expected: Option<Plan>,
    pub(super) actual: Option<Plan>,
    /// Why nothing can be expected.
    no_room: Option<AllocateError>,
}

impl<'a> Examination<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Result<Self, PlanError> {
        let mut members: Vec<&MemberSeen> = snapshot.members.iter().collect();
        order::sort_by(&mut members, |a, b| a.id.cmp(&b.id));
        members.dedup_by(|a, b| a.id == b.id);
        let mut examination = Self {
            layout: snapshot.layout(),
            common: snapshot.common_strategy(),
            snapshot,
            members,
            expected: None,
            actual: None,
            no_room: None,
        };
        let once = examination.members.iter().map(|member| member.id.clone());
        let sound = Layout { members: SortedMembers::new(once), ..examination.layout.clone() };
        match Plan::new(&*examination.common, &sound) {
            Ok(plan) => examination.expected = Some(plan),
            Err(PlanError::Strategy(error)) => examination.no_room = Some(error),
            Err(error) => return Err(error),
        }
        examination.actual = examination.owned()?;
        Ok(examination)
    }

    pub(super) fn findings(&self) -> Result<Vec<Finding>, PlanError> {
        let mut findings = Vec::new();
        if let Some(AllocateError::NoRoom { of }) = &self.no_room {
            findings.push(Finding::new(Code::R204, format!("no machine room is known for {of}")));
        }
        findings.extend(self.duplicates()?);
        findings.extend(self.doubled_and_orphaned());
        findings.extend(self.strategies()?);
        findings.extend(self.rings()?);
        findings.extend(self.subscriptions()?);
        findings.extend(self.balance());
        findings.extend(self.lists()?);
        findings.extend(self.silence());
        order::sort_by(&mut findings, |a, b| a.code.cmp(&b.code));
        Ok(findings)
    }

    /// By the members' own answers, if there are any; what the silent ones own is reckoned.
    fn owned(&self) -> Result<Option<Plan>, PlanError> {
        if self.snapshot.members.iter().all(|member| member.owned.is_none()) {
            return Ok(None);
        }
        let all_ills = self.snapshot.members.iter().collect();
        let reckoned = match self.parties(all_ills, true, true).map(|all| Plan::of_parties(&self.layout, all))
        {
            Some(Ok(plan)) => Some(plan),
            Some(Err(PlanError::Strategy(_))) | None => None,
            Some(Err(error)) => return Err(error),
        };
        let share = |member: &MemberSeen| match (&member.owned, &reckoned) {
            (Some(owned), _) => owned.clone(),
            (None, Some(plan)) => share_of(plan, &member.id),
            (None, None) => Vec::new(),
        };
        let shares = self.snapshot.members.iter().map(|member| (member.id.clone(), share(member)));
        Plan::of_owned(&self.layout, shares.collect()).map(Some)
    }

    fn duplicates(&self) -> Result<Option<Finding>, PlanError> {
        let repeated: Vec<ClientId> = self.layout.members.repeated().cloned().collect();
        let Some(first) = repeated.first() else {
            return Ok(None);
        };
        let processes: Vec<&MemberSeen> =
            self.snapshot.members.iter().filter(|member| member.id == *first).collect();
        let addresses: Vec<&str> = processes.iter().filter_map(|member| member.address.as_deref()).collect();
        let mut text = format!("{first} is used by {} processes", processes.len());
        if !addresses.is_empty() {
            text = format!("{text} ({})", addresses.join(", "));
        }
        if repeated.len() > 1 {
            text = format!("{text}, and {} more ids are used several times", repeated.len() - 1);
        }
        let sick = self.tried(Plan::new(&*self.common, &self.layout))?;
        Ok(Some(finding(Code::R101, text, sick.as_ref(), repeated)))
    }

    fn doubled_and_orphaned(&self) -> Vec<Finding> {
        let Some(actual) = &self.actual else {
            return Vec::new();
        };
        let figures = actual.figures();
        let mut findings = Vec::new();
        if let Some(first) = figures.doubled.first() {
            let text = format!(
                "{} of {} queues have several owners, {first} first",
                figures.doubled.len(),
                figures.queues
            );
            let owners = order::set(figures.doubled.iter().flat_map(|queue| actual.owners_of(queue)));
            let members = owners.into_iter().cloned().collect();
            findings.push(Finding {
                queues: figures.doubled.clone(),
                members,
                ..Finding::new(Code::R102, text)
            });
        }
        if let Some(first) = figures.orphaned.first() {
            let text = format!(
                "{} of {} queues have no owner, {first} first",
                figures.orphaned.len(),
                figures.queues
            );
            findings.push(Finding { queues: figures.orphaned, ..Finding::new(Code::R103, text) });
        }
        findings
    }

    fn strategies(&self) -> Result<Option<Finding>, PlanError> {
        let mut by_name: BTreeMap<String, Vec<ClientId>> = BTreeMap::new();
        for member in &self.members {
            if let Some(name) = member.strategy_name() {
                by_name.entry(name).or_default().push(member.id.clone());
            }
        }
        if by_name.len() < 2 {
            return Ok(None);
        }
        let mut parts: Vec<(&String, &Vec<ClientId>)> = by_name.iter().collect();
        order::sort_by(&mut parts, |a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(b.0)));
        let text: Vec<String> =
            parts.iter().map(|(name, ids)| format!("{name} on {}", counted(ids))).collect();
        let odd = parts.iter().skip(1).flat_map(|(_, ids)| ids.iter().cloned()).collect();
        let sick = self.with_parties(true, false)?;
        let mut finding = finding(Code::R104, text.join(", "), sick.as_ref(), odd);
        if sick.is_none() {
            finding.effect = Some("cannot be reckoned: the settings of a strategy are not known".into());
        }
        Ok(Some(finding))
    }

    fn rings(&self) -> Result<Option<Finding>, PlanError> {
        let on_rings = self.members.iter().filter(|member| member.strategy_name().as_deref() == Some(HASH));
        let (go, others): (Vec<&MemberSeen>, Vec<&MemberSeen>) =
            on_rings.copied().partition(|member| member.is_go());
        if go.is_empty() || others.is_empty() {
            return Ok(None);
        }
        let ids: Vec<ClientId> = go.iter().map(|member| member.id.clone()).collect();
        let text = format!("{} use the Go client's hash ring, {} Java's", counted(&ids), others.len());
        let sick = self.with_parties(true, false)?;
        Ok(Some(finding(Code::R105, text, sick.as_ref(), ids)))
    }

    fn subscriptions(&self) -> Result<Option<Finding>, PlanError> {
        let told = || self.members.iter().filter_map(|member| Some((member, member.subscriptions.as_ref()?)));
        let mut counts: BTreeMap<&BTreeMap<Topic, String>, usize> = BTreeMap::new();
        told().for_each(|(_, subscribed)| *counts.entry(subscribed).or_default() += 1);
        let common = counts.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
        let Some((&common, _)) = common.filter(|_| counts.len() > 1) else {
            return Ok(None);
        };
        let odd: Vec<(&MemberSeen, String)> = told()
            .filter(|&(_, subscribed)| subscribed != common)
            .map(|(member, subscribed)| (*member, difference(subscribed, common)))
            .collect();
        let text: Vec<String> =
            odd.iter().map(|(member, difference)| format!("{} {difference}", member.id)).collect();
        let ids = odd.iter().map(|(member, _)| member.id.clone()).collect();
        let sick = self.with_parties(false, true)?;
        Ok(Some(finding(Code::R106, text.join("; "), sick.as_ref(), ids)))
    }

    fn lists(&self) -> Result<Option<Finding>, PlanError> {
        if self.members.is_empty() || self.members.iter().any(|member| member.listed.is_none()) {
            return Ok(None);
        }
        let Some(figures) = self.with_parties(true, false)? else {
            return Ok(None);
        };
        let Some(effect) = effect(&figures) else {
            return Ok(None);
        };
        let text = "the lists of the members overlap or have gaps";
        Ok(Some(finding_with(Code::R109, text.into(), effect, &figures, Vec::new())))
    }

    fn silence(&self) -> Option<Finding> {
        // If nobody was asked, nobody is silent.
        self.actual.as_ref()?;
        let silent: Vec<&MemberSeen> =
            self.snapshot.members.iter().filter(|member| member.owned.is_none()).collect();
        let first = silent.first()?;
        let ids: Vec<ClientId> = silent.iter().map(|member| member.id.clone()).collect();
        let clients = order::set(silent.iter().map(|member| member.client()));
        let clients: Vec<String> = clients.into_iter().collect();
        let who = match ids.as_slice() {
            [_] => first.id.to_string(),
            _ => format!("{} members", ids.len()),
        };
        let text = format!("{who} did not answer ({})", clients.join(", "));
        let reckoned: usize = self.actual.as_ref().map_or(0, |plan| {
            let loads = plan.figures().loads;
            let silent = plan.members().iter().zip(loads).filter(|(id, _)| ids.contains(id));
            silent.map(|(_, load)| load).sum()
        });
        let effect = Some(format!("by reckoning, queues that nobody reads if nobody is there: {reckoned}"));
        Some(Finding { effect, members: ids, ..Finding::new(Code::R110, text) })
    }

    /// What comes of members that differ in strategies or subscriptions, each id once; `None` if it cannot be told.
    fn with_parties(&self, strategies: bool, subscriptions: bool) -> Result<Option<Figures>, PlanError> {
        match self.parties(self.members.clone(), strategies, subscriptions) {
            Some(parties) => self.tried(Plan::of_parties(&self.layout, parties)),
            None => Ok(None),
        }
    }

    fn parties(
        &self,
        members: Vec<&MemberSeen>,
        strategies: bool,
        subscriptions: bool,
    ) -> Option<Vec<Party>> {
        let mut shared: BTreeMap<(String, bool), Arc<dyn Allocate>> = BTreeMap::new();
        let mut strategy_of = |member: &MemberSeen| {
            if !strategies {
                return Some(Arc::clone(&self.common));
            }
            let strategy = self.snapshot.strategy_of(member, &self.common)?;
            if member.listed.is_some() {
                return Some(strategy);
            }
            // Members that run the same share one, so that it is asked once for all of them.
            let name = member.strategy_name().unwrap_or_default();
            Some(Arc::clone(shared.entry((name, member.is_go())).or_insert(strategy)))
        };
        let party = |member: &MemberSeen| {
            let subscribed = member.subscriptions.as_ref().filter(|_| subscriptions);
            Some(Party {
                id: member.id.clone(),
                strategy: strategy_of(member)?,
                topics: subscribed.map(|topics| {
                    // The retry topic is subscribed to without being named.
                    order::set(topics.keys().cloned().chain([self.snapshot.group.retry_topic()]))
                }),
            })
        };
        members.into_iter().map(party).collect()
    }

    fn tried(&self, plan: Result<Plan, PlanError>) -> Result<Option<Figures>, PlanError> {
        match plan {
            Ok(plan) => Ok(Some(plan.figures())),
            Err(PlanError::Strategy(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn finding(code: Code, text: String, sick: Option<&Figures>, members: Vec<ClientId>) -> Finding {
    let none = "no queue has several owners or none";
    match sick {
        None => Finding { members, ..Finding::new(code, text) },
        Some(figures) => {
            finding_with(code, text, effect(figures).unwrap_or_else(|| none.into()), figures, members)
        }
    }
}

fn finding_with(
    code: Code,
    text: String,
    effect: String,
    figures: &Figures,
    members: Vec<ClientId>,
) -> Finding {
    let queues = figures.doubled.iter().chain(&figures.orphaned).cloned().collect();
    Finding { effect: Some(effect), queues, members, ..Finding::new(code, text) }
}

/// The queues of a member in a plan.
fn share_of(plan: &Plan, id: &ClientId) -> Vec<crate::model::MessageQueue> {
    let Some(place) = plan.members().position(id) else {
        return Vec::new();
    };
    let topics = plan.topics().iter();
    topics
        .flat_map(|topic| {
            topic.owners.share(place).into_iter().filter_map(|at| topic.queues.get(at).cloned())
        })
        .collect()
}

/// How one set of subscriptions differs from the common one, as the rest of a sentence about a member.
fn difference(subscribed: &BTreeMap<Topic, String>, common: &BTreeMap<Topic, String>) -> String {
    let mut parts = Vec::new();
    for (topic, expression) in common {
        match subscribed.get(topic) {
            None => parts.push(format!("lacks {topic}")),
            Some(other) if other != expression => {
                parts.push(format!("has {topic} as {other:?} instead of {expression:?}"));
            }
            Some(_) => {}
        }
    }
    parts.extend(
        subscribed
            .keys()
            .filter(|topic| !common.contains_key(topic))
            .map(|topic| format!("has {topic} besides")),
    );
    parts.join(" and ")
}

fn counted(ids: &[ClientId]) -> String {
    match ids {
        [id] => format!("1 member ({id})"),
        _ => format!("{} members", ids.len()),
    }
}
