//! What is wrong with a group as it was seen.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::sickness::Examination;
use super::{Code, Diff, Figures, Level, Plan, PlanError, Preview, Said, Snapshot, said};
use crate::allocate::Roomless;
use crate::model::{ClientId, MessageQueue};

/// Something about a group that its owner should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind it is of.
    pub code: Code,
    /// How bad it is.
    pub level: Level,
    /// What was found.
    pub text: Said,
    /// What it does, in numbers.
    pub effect: Option<Said>,
    /// What to do about it.
    pub fix: Said,
    /// The members that it is about.
    pub members: Vec<ClientId>,
    /// The queues that it is about.
    pub queues: Vec<MessageQueue>,
}

/// A group as it should be and as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Who owns what if all members run the common strategy and have subscribed to everything. `None` if the strategy
    /// does not work with these names.
    pub expected: Option<Plan>,
    /// Who owns what by the members' own answers, and by reckoning for those that gave none. `None` if nobody answered.
    pub actual: Option<Plan>,
    /// From what is expected to what is.
    pub differs: Option<Diff>,
    /// What is wrong, by code.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// Whether nothing is wrong enough to act on.
    pub fn is_healthy(&self) -> bool {
        self.findings.iter().all(|finding| finding.level < Level::Error)
    }
}

/// Looks a group over.
///
/// ```
/// use evenkeel_core::plan::{Code, Layout, MemberSeen, Snapshot, verify};
///
/// let ids = ["172.17.0.1@1", "172.17.0.1@1", "172.17.0.9@1"];
/// let snapshot = Snapshot {
///     group: "pay-worker".into(),
///     topics: Layout::new("pay-worker", []).with_queues("orders", "broker-a", 16).topics,
///     members: ids.map(MemberSeen::new).to_vec(),
///     strategy: None,
/// };
/// let verdict = verify(&snapshot)?;
/// let finding = &verdict.findings[0];
/// assert_eq!(finding.code, Code::R101);
/// let effect = finding.effect.clone().unwrap();
/// assert_eq!(effect.en, "6 queues have several owners, 5 have none");
/// assert_eq!(effect.zh, "6 个队列有多个归属者，5 个没有");
/// # Ok::<(), evenkeel_core::plan::PlanError>(())
/// ```
///
/// # Errors
///
/// If there is too much to look over.
pub fn verify(snapshot: &Snapshot) -> Result<Verdict, PlanError> {
    let examination = Examination::new(snapshot)?;
    let findings = examination.findings()?;
    let (expected, actual) = (examination.expected, examination.actual);
    let differs = expected.as_ref().zip(actual.as_ref()).map(|(expected, actual)| expected.diff(actual));
    Ok(Verdict { expected, actual, differs, findings })
}

/// What a change may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// So many queues may change hands, summed over the steps.
    pub max_moves: Option<usize>,
    /// So far may the most and the fewest queues of a member be apart.
    pub max_skew: Option<usize>,
}

impl Limits {
    /// Whether a preview keeps the limits at its worst.
    pub fn allow(&self, preview: &Preview) -> bool {
        self.max_moves.is_none_or(|limit| preview.handed_over.max <= limit)
            && self.max_skew.is_none_or(|limit| preview.skew.max <= limit)
    }

    /// What there is to say about a preview.
    pub fn findings(&self, preview: &Preview) -> Vec<Finding> {
        let mut findings = Vec::new();
        let (moves, skew) = (preview.handed_over, preview.skew);
        if let Some(limit) = self.max_moves.filter(|&limit| moves.max > limit) {
            let (name, moves, floor) = (&preview.strategy, range(moves.min, moves.max), preview.floor);
            let text = said!(
                "{name} moves {moves} queues, limit {limit}",
                "{name} 移动 {moves} 个队列，限制为 {limit}",
                moves
            );
            let effect = said!(
                "the fewest that lead to an even result are {floor}",
                "得到均衡结果至少需要移动 {floor} 个"
            );
            findings.push(Finding { effect: Some(effect), ..Finding::new(Code::R201, text) });
        }
        if let Some(limit) = self.max_skew.filter(|&limit| skew.max > limit) {
            let (name, skew) = (&preview.strategy, range(skew.min, skew.max));
            let text = said!(
                "{name} leaves a skew of {skew}, limit {limit}",
                "{name} 留下的偏差为 {skew}，限制为 {limit}",
                skew
            );
            let loads = range(preview.after.min, preview.after.max);
            let effect = said!("members have {loads} queues", "每个消费者有 {loads} 个队列", loads);
            findings.push(Finding { effect: Some(effect), ..Finding::new(Code::R202, text) });
        }
        let idle = &preview.after.idle;
        if !idle.is_empty() {
            let (none, all) = (idle.len(), preview.after.loads.len());
            let text = said!(
                "{none} of {all} members have no queue after the change",
                "变更后 {all} 个消费者中有 {none} 个没有队列"
            );
            findings.push(Finding { members: idle.clone(), ..Finding::new(Code::R203, text) });
        }
        findings
    }
}

impl Finding {
    /// A finding with the level and the fix of its code.
    pub(crate) fn new(code: Code, text: Said) -> Self {
        let entry = super::explain(code.as_str());
        Self {
            code,
            level: entry.map_or(Level::Error, |entry| entry.level),
            text,
            effect: None,
            fix: entry.map(|entry| entry.fix.into()).unwrap_or_default(),
            members: Vec::new(),
            queues: Vec::new(),
        }
    }
}

/// `4`, or `4 to 7`.
fn range(min: usize, max: usize) -> Said {
    if min == max { Said::same(min.to_string()) } else { said!("{min} to {max}", "{min} 到 {max}") }
}

/// What doubled and orphaned queues there are, in words; nothing if there are none.
pub(super) fn effect(figures: &Figures) -> Option<Said> {
    let have = |count: usize| match count {
        1 => said!("1 queue has", "1 个队列"),
        _ => said!("{count} queues have", "{count} 个队列"),
    };
    let (doubled, orphaned) = (figures.doubled.len(), figures.orphaned.len());
    let doubles = || {
        let queues = have(doubled);
        said!("{queues} several owners", "{queues}有多个归属者", queues)
    };
    match (doubled, orphaned) {
        (0, 0) => None,
        (_, 0) => Some(doubles()),
        (0, _) => {
            let queues = have(orphaned);
            Some(said!("{queues} no owner", "{queues}无人消费", queues))
        }
        _ => {
            let (doubles, has) = (doubles(), if orphaned == 1 { "has" } else { "have" });
            Some(said!("{doubles}, {orphaned} {has} none", "{doubles}，{orphaned} 个没有", doubles))
        }
    }
}

/// Why a strategy that shares by rooms cannot be computed.
pub(crate) fn no_room(of: &Roomless) -> Said {
    match of {
        Roomless::Queue(queue) => {
            let broker = queue.broker.as_str();
            said!("no machine room is known for {of}", "队列 {queue} 的 Broker {broker:?} 没有已知的机房")
        }
        Roomless::Member(id) => {
            let id = id.as_str();
            said!("no machine room is known for {of}", "消费者 {id:?} 没有已知的机房")
        }
    }
}
