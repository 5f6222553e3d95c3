//! The examination itself: each sickness alone, so that its effect is its own.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::findings::{Finding, effect};
use super::snapshot::HASH;
use super::{Code, Figures, Layout, MemberSeen, Party, Plan, PlanError, Said, Snapshot, no_room, said};
use crate::allocate::{Allocate, AllocateError, SortedMembers};
use crate::model::{ClientId, Topic};
use crate::order;

const LISTED: Said<&str> = Said { en: ", ", zh: "，" };

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
            findings.push(Finding::new(Code::R204, no_room(of)));
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
        let count = processes.len();
        let mut text = said!("{first} is used by {count} processes", "{first} 被 {count} 个进程使用");
        if !addresses.is_empty() {
            let addresses = addresses.join(", ");
            text = said!("{text} ({addresses})", "{text}（{addresses}）", text);
        }
        if repeated.len() > 1 {
            let more = repeated.len() - 1;
            text = said!(
                "{text}, and {more} more ids are used several times",
                "{text}，另有 {more} 个 ID 被多次使用",
                text
            );
        }
        let sick = self.tried(Plan::new(&*self.common, &self.layout))?;
        Ok(Some(finding(Code::R101, text, sick.as_ref(), repeated)))
    }

    fn doubled_and_orphaned(&self) -> Vec<Finding> {
        let Some(actual) = &self.actual else {
            return Vec::new();
        };
        let figures = actual.figures();
        let queues = figures.queues;
        let mut findings = Vec::new();
        if let Some(first) = figures.doubled.first() {
            let count = figures.doubled.len();
            let text = said!(
                "{count} of {queues} queues have several owners, {first} first",
                "{queues} 个队列中有 {count} 个有多个归属者，首先是 {first}"
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
            let count = figures.orphaned.len();
            let text = said!(
                "{count} of {queues} queues have no owner, {first} first",
                "{queues} 个队列中有 {count} 个无人消费，首先是 {first}"
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
        let on = |(name, ids): &(&String, &Vec<ClientId>)| {
            let members = counted(ids);
            said!("{name} on {members}", "{members}运行 {name}", members)
        };
        let text: Vec<Said> = parts.iter().map(on).collect();
        let text = Said::joined(&text, LISTED);
        let odd = parts.iter().skip(1).flat_map(|(_, ids)| ids.iter().cloned()).collect();
        let sick = self.with_parties(true, false)?;
        let mut finding = finding(Code::R104, text, sick.as_ref(), odd);
        if sick.is_none() {
            finding.effect = Some(said!(
                "cannot be reckoned: the settings of a strategy are not known",
                "无法推算：有一种策略的参数未知"
            ));
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
        let (members, java) = (counted(&ids), others.len());
        let text = said!(
            "{members} use the Go client's hash ring, {java} Java's",
            "{members}使用 Go 客户端的哈希环，{java} 个使用 Java 的",
            members
        );
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
        let odd: Vec<(&MemberSeen, Said)> = told()
            .filter(|&(_, subscribed)| subscribed != common)
            .map(|(member, subscribed)| (*member, difference(subscribed, common)))
            .collect();
        let of_one = |(member, difference): &(&MemberSeen, Said)| {
            let id = &member.id;
            said!("{id} {difference}", "{id} {difference}", difference)
        };
        let text: Vec<Said> = odd.iter().map(of_one).collect();
        let text = Said::joined(&text, Said { en: "; ", zh: "；" });
        let ids = odd.iter().map(|(member, _)| member.id.clone()).collect();
        let sick = self.with_parties(false, true)?;
        Ok(Some(finding(Code::R106, text, sick.as_ref(), ids)))
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
        let text = said!("the lists of the members overlap or have gaps", "各消费者的列表有重叠或缺口");
        Ok(Some(finding_with(Code::R109, text, effect, &figures, Vec::new())))
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
            [_] => Said::same(first.id.to_string()),
            _ => counted(&ids),
        };
        let clients = clients.join(", ");
        let text = said!("{who} did not answer ({clients})", "{who} 没有应答（{clients}）", who);
        let reckoned: usize = self.actual.as_ref().map_or(0, |plan| {
            let loads = plan.figures().loads;
            let silent = plan.members().iter().zip(loads).filter(|(id, _)| ids.contains(id));
            silent.map(|(_, load)| load).sum()
        });
        let effect = said!(
            "by reckoning, queues that nobody reads if nobody is there: {reckoned}",
            "据推算，如果没有进程在运行，无人消费的队列有 {reckoned} 个"
        );
        Some(Finding { effect: Some(effect), members: ids, ..Finding::new(Code::R110, text) })
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

fn finding(code: Code, text: Said, sick: Option<&Figures>, members: Vec<ClientId>) -> Finding {
    let none = || said!("no queue has several owners or none", "没有队列有多个归属者或无人消费");
    match sick {
        None => Finding { members, ..Finding::new(code, text) },
        Some(figures) => finding_with(code, text, effect(figures).unwrap_or_else(none), figures, members),
    }
}

fn finding_with(code: Code, text: Said, effect: Said, figures: &Figures, members: Vec<ClientId>) -> Finding {
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
fn difference(subscribed: &BTreeMap<Topic, String>, common: &BTreeMap<Topic, String>) -> Said {
    let mut parts = Vec::new();
    for (topic, expression) in common {
        match subscribed.get(topic) {
            None => parts.push(said!("lacks {topic}", "没有订阅 {topic}")),
            Some(other) if other != expression => {
                parts.push(said!(
                    "has {topic} as {other:?} instead of {expression:?}",
                    "订阅 {topic} 的表达式是 {other:?} 而不是 {expression:?}"
                ));
            }
            Some(_) => {}
        }
    }
    parts.extend(
        subscribed
            .keys()
            .filter(|topic| !common.contains_key(topic))
            .map(|topic| said!("has {topic} besides", "另外订阅了 {topic}")),
    );
    Said::joined(&parts, Said { en: " and ", zh: "，" })
}

fn counted(ids: &[ClientId]) -> Said {
    let count = ids.len();
    match ids {
        [id] => said!("1 member ({id})", "1 个消费者（{id}）"),
        _ => said!("{count} members", "{count} 个消费者"),
    }
}
