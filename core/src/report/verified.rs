//! What is wrong with a group, as JSON.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::error::{empty_consumers, empty_queues};
use super::running::Running;
use super::{Error, Finding, Sharing, Snapshot, Strategy};
use crate::model::{ClientId, Group, MessageQueue, Topic};
use crate::order;
use crate::plan::{self, Code, Language, Level, Plan, said};

/// The schema that [`VerifyReport`] has.
const SCHEMA: &str = "evenkeel.verify/1";

/// A group as it should be and as it is: the shape of `evenkeel verify --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// `evenkeel.verify/1`
    pub schema: &'static str,
    /// The group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Group>,
    /// Its topics, without retry topics.
    pub topics: Vec<Topic>,
    /// Who decides which consumer reads which queue; left out if it is the consumers.
    #[serde(skip_serializing_if = "Sharing::is_by_consumers")]
    pub sharing: Sharing,
    /// The strategy that is expected of all.
    pub strategy: String,
    /// How many queues can be read; those of retry topics count.
    pub queues: usize,
    /// How many processes the brokers list.
    pub connections: usize,
    /// Whether nothing was found that is an error.
    pub healthy: bool,
    /// What was found, by code.
    pub findings: Vec<Finding>,
    /// Each client id once, in the order that all consumers sort by.
    pub consumers: Vec<ConsumerVerdict>,
    /// The queues that nobody owns; empty if owners are not known.
    pub orphaned: Vec<MessageQueue>,
    /// The queues that several own.
    pub doubled: Vec<DoubledQueue>,
}

/// What a consumer should have and has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConsumerVerdict {
    /// Its client id.
    pub id: ClientId,
    /// How many processes have it; left out if it is one, as it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<usize>,
    /// How many queues it should have; left out if the strategy cannot be computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<usize>,
    /// How many it has; left out if owners are not known. For one that did not answer, what it has by reckoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<usize>,
    /// Whether it told what it owns; left out if nobody was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<bool>,
}

/// A queue that several own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoubledQueue {
    /// The queue.
    pub queue: MessageQueue,
    /// Their client ids; one twice if two processes of this id own it.
    pub owners: Vec<ClientId>,
}

/// Looks a group over.
///
/// # Errors
///
/// If the snapshot is not sound, has no queues or no consumers, or is too large.
pub fn verify(snapshot: &Snapshot) -> Result<VerifyReport, Error> {
    verify_in(snapshot, Language::default())
}

/// The same with findings in another language.
///
/// # Errors
///
/// Those of [`verify`], in English.
pub fn verify_in(snapshot: &Snapshot, language: Language) -> Result<VerifyReport, Error> {
    let mut group = plan::Snapshot::try_from(snapshot)?;
    let layout = group.layout();
    if layout.queues() == 0 {
        return Err(empty_queues());
    }
    if layout.members.is_empty() {
        return Err(empty_consumers());
    }
    let running = Running::of(snapshot, &group, &[]);
    running.settle(&mut group)?;
    let verdict = plan::verify(&group)?;
    let lists = verdict.expected.as_ref().and_then(|expected| gaps_in_lists(&running.strategy, expected));
    let mut findings = verdict.findings;
    if findings.iter().all(|finding| finding.code != Code::R109) {
        findings.extend(lists);
    }
    findings.extend(running.finding());
    if !snapshot.sharing.is_by_consumers() {
        about_consumers_only(&mut findings);
    }
    order::sort_by(&mut findings, |a, b| a.code.cmp(&b.code));
    let findings: Vec<Finding> = findings.into_iter().map(|found| Finding::told(found, language)).collect();
    let shared = snapshot.sharing.is_by_consumers();
    let actual = verdict.actual.as_ref().filter(|_| shared);
    let expected = verdict.expected.as_ref().filter(|_| shared);
    let orphaned = actual.map(|plan| plan.figures().orphaned).unwrap_or_default();
    let doubled = actual.map(doubled).unwrap_or_default();
    Ok(VerifyReport {
        schema: SCHEMA,
        group: snapshot.group.clone(),
        topics: layout.topics.keys().filter(|topic| !topic.is_retry()).cloned().collect(),
        sharing: snapshot.sharing,
        strategy: group.common_strategy().name().into_owned(),
        queues: usize::try_from(layout.queues()).unwrap_or(usize::MAX),
        connections: layout.members.len(),
        healthy: findings.iter().all(|finding| finding.level < Level::Error),
        consumers: consumers(&group, expected, actual),
        findings,
        orphaned,
        doubled,
    })
}

/// Where queues are not shared out, what is said of owners, strategies and balance means nothing.
fn about_consumers_only(findings: &mut Vec<plan::Finding>) {
    findings.retain(|finding| matches!(finding.code, Code::R101 | Code::R106 | Code::R110));
    for finding in findings {
        finding.effect = None;
        finding.queues.clear();
    }
}

/// Lists of the whole group that overlap or have gaps, where consumers did not tell their own.
fn gaps_in_lists(strategy: &Strategy, expected: &Plan) -> Option<plan::Finding> {
    let Strategy::Config { .. } = strategy else { return None };
    let figures = expected.figures();
    let (orphaned, doubled) = (figures.orphaned.len(), figures.doubled.len());
    if orphaned + doubled == 0 {
        return None;
    }
    let effect = said!(
        "{doubled} queues have several owners, {orphaned} have none",
        "{doubled} 个队列有多个归属者，{orphaned} 个没有"
    );
    let queues = figures.doubled.into_iter().chain(figures.orphaned).collect();
    let text = said!("the lists of the consumers overlap or have gaps", "各消费者的列表有重叠或缺口");
    Some(plan::Finding { effect: Some(effect), queues, ..plan::Finding::new(Code::R109, text) })
}

fn consumers(group: &plan::Snapshot, expected: Option<&Plan>, actual: Option<&Plan>) -> Vec<ConsumerVerdict> {
    let layout = group.layout();
    let loads = |plan: &Plan| plan.figures().loads;
    let (should, has) = (expected.map(loads), actual.map(loads));
    // The first place of an id, in a plan that may list it once or several times.
    let of = |plan: Option<&Plan>, loads: &Option<Vec<usize>>, id: &ClientId, count: usize| {
        let first = plan?.members().position(id)?;
        let loads = loads.as_ref()?;
        loads.iter().skip(first).take(count).max().copied()
    };
    let mut silent: Vec<&ClientId> =
        group.members.iter().filter(|member| member.owned.is_none()).map(|member| &member.id).collect();
    silent.sort_unstable();
    layout
        .members
        .chunk_by(|a, b| a == b)
        .filter_map(|same| Some((same.first()?, same.len())))
        .map(|(id, count)| ConsumerVerdict {
            id: id.clone(),
            processes: (count > 1).then_some(count),
            expected: of(expected, &should, id, 1),
            actual: of(actual, &has, id, count),
            answered: actual.is_some().then(|| silent.binary_search(&id).is_err()),
        })
        .collect()
}

fn doubled(plan: &Plan) -> Vec<DoubledQueue> {
    let queues = plan.figures().doubled;
    let with_owners = queues.into_iter().map(|queue| {
        let owners = plan.owners_of(&queue).into_iter().cloned().collect();
        DoubledQueue { queue, owners }
    });
    with_owners.collect()
}
