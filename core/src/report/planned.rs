//! What changes would do, as JSON.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::error::{empty_consumers, empty_queues};
use super::running::Running;
use super::work::Work;
use super::{Change, Error, Finding, Snapshot, Strategies, Strategy};
use crate::allocate::AllocateError;
use crate::model::{ClientId, Group, MessageQueue, Topic};
use crate::order;
use crate::plan::{self, Code, Language, Layout, Level, Limits, PlanError, Preview, Trials, preview, said};

/// The schema that [`PlanReport`] has.
const SCHEMA: &str = "evenkeel.plan/1";

/// What a plan is to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Options {
    /// The strategies to try; default all.
    pub strategies: Strategies,
    /// Strategies whose settings are known beyond what the snapshot says, as a link carries them. If all are tried, these
    /// are, and not their namesakes with default settings. If most consumers run the name of one, the group runs it.
    pub settings: Vec<Strategy>,
    /// So many queues may change hands, summed over the steps of a rolling restart.
    pub max_moves: Option<usize>,
    /// So far may the most and the fewest queues of a consumer be apart.
    pub max_skew: Option<usize>,
    /// How many trials, where ids are not known; default as many as take little time.
    pub samples: Option<usize>,
    /// What the trials' random choices follow from: equal seeds give equal answers.
    pub seed: u64,
    /// Whether moves of retry topics are listed. They are counted either way.
    pub retry: bool,
    /// Whether moves are counted and not listed, which takes less time.
    pub counts_only: bool,
    /// The language of warnings, `en` or `zh`; default English.
    pub language: Language,
}

/// What changes do to a group, one result for each strategy: the shape of `evenkeel plan --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanReport {
    /// `evenkeel.plan/1`
    pub schema: &'static str,
    /// The group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Group>,
    /// Its topics, without retry topics unless the options say so.
    pub topics: Vec<Topic>,
    /// The group as it is; retry topics count.
    pub before: Size,
    /// The group after the changes.
    pub after: Size,
    /// The results, the running strategy's first if all were asked for.
    pub results: Vec<PlanResult>,
    /// Strategies that were not tried, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// Whether the limits are kept; only if the options have one. They look at the running strategy, at AVG if nobody
    /// says which that is, and if it is not among the results at all of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitsReport>,
    /// What is wrong with the group as it is, and what the changes do to it under the strategy that limits look at.
    pub warnings: Vec<Finding>,
}

/// How large a group is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Size {
    /// How many processes.
    pub consumers: usize,
    /// How many queues can be read.
    pub queues: usize,
}

/// A strategy that was not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Its name.
    pub strategy: String,
    /// Why not.
    pub why: String,
}

/// The limits that were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitsReport {
    /// See [`Options::max_moves`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_moves: Option<usize>,
    /// See [`Options::max_skew`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_skew: Option<usize>,
    /// Whether both are kept at the worst. False if it cannot be told.
    pub passed: bool,
}

/// What the changes do under one strategy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanResult {
    /// The strategy's name before the changes.
    pub strategy: String,
    /// Its settings, where they are not the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Strategy>,
    /// Whether the group runs it now.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub running: bool,
    /// How many queues have another owner at the end, of those that are there before and after.
    pub moved: Range,
    /// How many have the same owner.
    pub kept: Range,
    /// How many times queues change hands on the way; only if that is not `moved`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handed_over: Option<Range>,
    /// How many queues are new.
    pub added: usize,
    /// How many queues are gone.
    pub removed: usize,
    /// The fewest moves that could lead to any result in which every topic is even.
    pub floor: usize,
    /// How even the result is; of a typical trial, if ids are not known.
    pub per_consumer: PerConsumer,
    /// What moves, by queue; empty while ids are not known, or if the options ask for counts only.
    pub moves: Vec<Move>,
    /// How many moves of retry topics are counted and not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub hidden_moves: usize,
    /// How many queues each consumer has before and after, by id; empty while ids are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberCount>,
    /// The steps on the way, if there are several; of a typical trial, if ids are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step>>,
}

/// A number that may depend on what is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// The least: over everything possible if the range is exact, else over the middle 95 of 100 trials.
    pub min: usize,
    /// The median.
    pub typical: usize,
    /// The most, as for `min`.
    pub max: usize,
    /// Whether `min` and `max` hold for everything possible.
    pub exact: bool,
    /// How many trials it comes from, if any were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<usize>,
}

/// How even a result is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PerConsumer {
    /// The fewest queues that a consumer has.
    pub min: usize,
    /// The most.
    pub max: usize,
    /// The difference of the two.
    pub skew: usize,
    /// The difference over all trials, if ids are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew_range: Option<Range>,
    /// How many queues each consumer has, in the order of their ids.
    pub loads: Vec<usize>,
    /// The consumers that have nothing; those without known ids are called `(new)`.
    pub idle: Vec<ClientId>,
}

/// A queue that changes hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Move {
    /// The queue.
    pub queue: MessageQueue,
    /// Who has it before; null if nobody has.
    pub from: Option<ClientId>,
    /// Who has it after.
    pub to: Option<ClientId>,
    /// Everyone who has it before, if several do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from_all: Vec<ClientId>,
    /// Everyone who has it after, if several do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to_all: Vec<ClientId>,
}

/// What a consumer has before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberCount {
    /// Its client id.
    pub id: ClientId,
    /// How many queues it has before; left out if it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
    /// How many it has after; left out if it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
}

/// A step on the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What happens.
    pub label: String,
    /// How many queues change hands in it.
    pub moved: usize,
    /// How many have changed hands since the beginning.
    pub total: usize,
}

/// Says what changes, made one after the other, do to a group.
///
/// # Errors
///
/// If the snapshot or a change is not sound, the group does not share queues out, there is nothing to share or nobody to share it, or there is too much to
/// plan. A strategy for which a machine room is missing is no error but a finding (R204).
pub fn plan(snapshot: &Snapshot, changes: &[Change], options: &Options) -> Result<PlanReport, Error> {
    let mut group = plan::Snapshot::try_from(snapshot)?;
    snapshot.sharing.check()?;
    let layout = group.layout();
    let built: Vec<plan::Change> = changes
        .iter()
        .enumerate()
        .map(|(at, change)| change.build().map_err(|error| error.within(&format!("changes[{at}]"))))
        .collect::<Result<_, _>>()?;
    let work = Work::new(&layout, changes, options)?;
    let running = Running::of(snapshot, &group, &options.settings);
    running.settle(&mut group)?;
    let (strategies, mut skipped, all) = match &options.strategies {
        Strategies::These(given) => (given.clone(), Vec::new(), false),
        Strategies::All => {
            let changes_strategy = changes.iter().any(|change| matches!(change, Change::Strategy { .. }));
            let (chosen, skipped) = running.choose(&group, &options.settings, changes_strategy);
            (chosen, skipped, true)
        }
    };
    let mut report = PlanReport {
        schema: SCHEMA,
        group: snapshot.group.clone(),
        topics: layout.topics.keys().filter(|topic| options.retry || !topic.is_retry()).cloned().collect(),
        before: Size::default(),
        after: Size::default(),
        results: Vec::new(),
        skipped: Vec::new(),
        limits: None,
        warnings: Vec::new(),
    };
    let mut warnings = standing(&group, &running)?;
    let mut previews = Vec::new();
    for (number, strategy) in strategies.iter().enumerate() {
        if let Err(error) = work.fits(strategy) {
            if !all || number == 0 {
                return Err(error);
            }
            skipped.push(Skipped { strategy: strategy.name().into(), why: error.text.en });
            continue;
        }
        let rule = strategy.build().map_err(|error| error.within(&format!("strategies[{number}]")))?;
        match preview(&layout, rule, &built, work.trials(strategy)) {
            Ok(preview) => previews.push((strategy, preview)),
            Err(PlanError::Strategy(AllocateError::NoRoom { of })) => {
                let (name, why) = (strategy.name(), plan::no_room(&of));
                let text = said!("{name} cannot be computed: {why}", "无法计算 {name}：{why}", why);
                skipped.push(Skipped { strategy: name.into(), why: why.en });
                warnings.push(plan::Finding::new(Code::R204, text));
            }
            Err(error) => return Err(error.into()),
        }
    }
    report.skipped = skipped;
    report.measure(&layout, &built, &previews)?;
    warnings.extend(report.judge(&running, &previews, options));
    let mut redacted = snapshot.redacted;
    for (strategy, preview) in previews {
        if redacted && strategy.looks_at_names() {
            let text =
                said!("names are pseudonyms, and hash rings look at names", "名称是化名，而哈希环要看名称");
            warnings.push(plan::Finding::new(Code::R206, text));
            redacted = false;
        }
        report.results.push(PlanResult::new(strategy, preview, running.is(strategy), options));
    }
    order::sort_by(&mut warnings, |a, b| a.code.cmp(&b.code));
    report.warnings = warnings.into_iter().map(|found| Finding::told(found, options.language)).collect();
    Ok(report)
}

/// What is wrong with the group before anything is changed.
fn standing(group: &plan::Snapshot, running: &Running) -> Result<Vec<plan::Finding>, Error> {
    // Room strategies answer for themselves below.
    let verdict = plan::verify(group)?;
    let found = verdict
        .findings
        .into_iter()
        .filter(|finding| finding.level >= Level::Warning && finding.code != Code::R204);
    Ok(found.chain(running.finding()).collect())
}

impl PlanReport {
    /// How large the group is before and after.
    fn measure(
        &mut self,
        layout: &Layout,
        changes: &[plan::Change],
        previews: &[(&Strategy, Preview)],
    ) -> Result<(), Error> {
        let any;
        let preview = match previews.first() {
            Some((_, preview)) => preview,
            // AVG works with any names.
            None => {
                let trials = Trials { samples: Some(1), seed: 0 };
                any = preview(layout, alloc::sync::Arc::new(crate::allocate::Average), changes, trials)?;
                &any
            }
        };
        let size = |figures: &plan::Figures| Size { consumers: figures.loads.len(), queues: figures.queues };
        (self.before, self.after) = (size(&preview.before), size(&preview.after));
        if self.before.queues == 0 && self.after.queues == 0 {
            return Err(empty_queues());
        }
        if self.before.consumers == 0 && self.after.consumers == 0 {
            return Err(empty_consumers());
        }
        Ok(())
    }

    /// Says whether the limits are kept; the result is what there is to say about it.
    fn judge(
        &mut self,
        running: &Running,
        previews: &[(&Strategy, Preview)],
        options: &Options,
    ) -> Vec<plan::Finding> {
        let limits = Limits { max_moves: options.max_moves, max_skew: options.max_skew };
        let reckoned = |strategy: &Strategy| running.is(strategy) || *strategy == running.strategy;
        let is_there = previews.iter().any(|(strategy, _)| reckoned(strategy));
        let judged = || previews.iter().filter(|(strategy, _)| !is_there || reckoned(strategy));
        let mut findings = Vec::new();
        for (strategy, preview) in judged() {
            findings.extend(limits.findings(preview).into_iter().map(with_known_names));
            findings.extend(gaps(strategy, preview));
        }
        if limits != Limits::default() {
            let told = judged().next().is_some() && !running.is_unknown();
            self.limits = Some(LimitsReport {
                max_moves: options.max_moves,
                max_skew: options.max_skew,
                passed: told && judged().all(|(_, preview)| limits.allow(preview)),
            });
        }
        findings
    }
}

/// Queues that the changes leave without an owner or with several, which were not so before.
fn gaps(strategy: &Strategy, preview: &Preview) -> Option<plan::Finding> {
    let (after, before) = (&preview.after, &preview.before);
    let (orphaned, doubled) = (after.orphaned.len(), after.doubled.len());
    if orphaned <= before.orphaned.len() && doubled <= before.doubled.len() {
        return None;
    }
    let code = match strategy {
        Strategy::Config { .. } => Code::R109,
        _ if orphaned > 0 => Code::R103,
        _ => Code::R102,
    };
    let all = after.queues;
    let text = said!(
        "after the change, {orphaned} of {all} queues have no owner and {doubled} have several",
        "变更后，{all} 个队列中有 {orphaned} 个无人消费，{doubled} 个有多个归属者"
    );
    let queues = after.doubled.iter().chain(&after.orphaned).cloned().collect();
    Some(plan::Finding { queues, ..plan::Finding::new(code, text) })
}

impl PlanResult {
    fn new(strategy: &Strategy, preview: Preview, running: bool, options: &Options) -> Self {
        let is_listed = |topic: &Topic| options.retry || !topic.is_retry();
        let (mut moves, mut hidden_moves, mut members) = (Vec::new(), 0, Vec::new());
        if let Some((before, after)) = &preview.plans {
            let turnover = if options.counts_only {
                hidden_moves = before.moved(after, |topic| !is_listed(topic));
                before.turnover(after)
            } else {
                let diff = before.diff(after);
                let all = diff.moves.len();
                let listed = diff.moves.into_iter().filter(|moved| is_listed(&moved.queue.topic));
                moves = listed.map(Move::from).collect();
                hidden_moves = all - moves.len();
                diff.members
            };
            members = turnover.into_iter().map(MemberCount::from).collect();
        }
        let steps = preview.steps.into_iter().map(|step| Step {
            label: step.label,
            moved: step.moved,
            total: step.total,
        });
        let steps: Vec<Step> = steps.collect();
        Self {
            strategy: strategy.name().into(),
            settings: strategy.has_settings().then(|| strategy.clone()),
            running,
            handed_over: (preview.handed_over != preview.moved).then(|| preview.handed_over.into()),
            hidden_moves,
            moved: preview.moved.into(),
            kept: preview.kept.into(),
            added: preview.added,
            removed: preview.removed,
            floor: preview.floor,
            per_consumer: PerConsumer {
                min: preview.after.min,
                max: preview.after.max,
                skew: preview.after.skew,
                skew_range: preview.plans.is_none().then(|| preview.skew.into()),
                idle: preview.after.idle.into_iter().map(known_name).collect(),
                loads: preview.after.loads,
            },
            moves,
            members,
            steps: (steps.len() > 1).then_some(steps),
        }
    }
}

/// What trials make up is not shown.
fn known_name(id: ClientId) -> ClientId {
    if id.as_str().contains('\0') { ClientId::from("(new)") } else { id }
}

fn with_known_names(mut finding: plan::Finding) -> plan::Finding {
    finding.members = finding.members.into_iter().map(known_name).collect();
    finding
}

impl From<plan::Move> for Move {
    fn from(moved: plan::Move) -> Self {
        Self::between(moved.queue, moved.from, moved.to)
    }
}

impl Move {
    /// Of several owners, the one that changes stands for all.
    pub(super) fn between(queue: MessageQueue, from: Vec<ClientId>, to: Vec<ClientId>) -> Self {
        let one = |of: &[ClientId], other: &[ClientId]| {
            of.iter().find(|id| !other.contains(id)).or_else(|| of.first()).cloned()
        };
        let all = |of: Vec<ClientId>| if of.len() > 1 { of } else { vec![] };
        Self { queue, from: one(&from, &to), to: one(&to, &from), from_all: all(from), to_all: all(to) }
    }
}

impl From<plan::Turnover> for MemberCount {
    fn from(turnover: plan::Turnover) -> Self {
        Self { id: turnover.id, before: turnover.before, after: turnover.after }
    }
}

impl From<plan::Range> for Range {
    fn from(range: plan::Range) -> Self {
        Self {
            min: range.min,
            typical: range.typical,
            max: range.max,
            exact: range.exact,
            samples: (range.samples > 0).then_some(range.samples),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
