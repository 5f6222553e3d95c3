//! What is wrong with a group as it was seen.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::sickness::Examination;
use super::{Code, Diff, Figures, Level, Plan, PlanError, Preview, Snapshot};
use crate::model::{ClientId, MessageQueue};

/// Something about a group that its owner should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind it is of.
    pub code: Code,
    /// How bad it is.
    pub level: Level,
    /// What was found.
    pub text: String,
    /// What it does, in numbers.
    pub effect: Option<String>,
    /// What to do about it.
    pub fix: Cow<'static, str>,
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
/// assert_eq!(finding.effect.as_deref(), Some("6 queues have several owners, 5 have none"));
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
            let text =
                format!("{} moves {} queues, limit {limit}", preview.strategy, range(moves.min, moves.max));
            let effect = Some(format!("the fewest that lead to an even result are {}", preview.floor));
            findings.push(Finding { effect, ..Finding::new(Code::R201, text) });
        }
        if let Some(limit) = self.max_skew.filter(|&limit| skew.max > limit) {
            let text =
                format!("{} leaves a skew of {}, limit {limit}", preview.strategy, range(skew.min, skew.max));
            let effect = Some(format!("members have {} queues", range(preview.after.min, preview.after.max)));
            findings.push(Finding { effect, ..Finding::new(Code::R202, text) });
        }
        let idle = &preview.after.idle;
        if !idle.is_empty() {
            let text = format!(
                "{} of {} members have no queue after the change",
                idle.len(),
                preview.after.loads.len()
            );
            findings.push(Finding { members: idle.clone(), ..Finding::new(Code::R203, text) });
        }
        findings
    }
}

impl Finding {
    /// A finding with the level and the fix of its code.
    pub(super) fn new(code: Code, text: impl Into<String>) -> Self {
        let entry = super::explain(code.as_str());
        Self {
            code,
            level: entry.map_or(Level::Error, |entry| entry.level),
            text: text.into(),
            effect: None,
            fix: Cow::Borrowed(entry.map_or("", |entry| entry.fix)),
            members: Vec::new(),
            queues: Vec::new(),
        }
    }
}

/// `4`, or `4 to 7`.
fn range(min: usize, max: usize) -> String {
    if min == max { format!("{min}") } else { format!("{min} to {max}") }
}

/// What doubled and orphaned queues there are, in words; nothing if there are none.
pub(super) fn effect(figures: &Figures) -> Option<String> {
    let have = |count: usize| if count == 1 { "1 queue has".into() } else { format!("{count} queues have") };
    match (figures.doubled.len(), figures.orphaned.len()) {
        (0, 0) => None,
        (doubled, 0) => Some(format!("{} several owners", have(doubled))),
        (0, orphaned) => Some(format!("{} no owner", have(orphaned))),
        (doubled, 1) => Some(format!("{} several owners, 1 has none", have(doubled))),
        (doubled, orphaned) => Some(format!("{} several owners, {orphaned} have none", have(doubled))),
    }
}
