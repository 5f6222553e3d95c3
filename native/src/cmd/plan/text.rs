//! A plan for people.

use super::super::exit::Failure;
use super::super::global::Global;
use super::super::numbers::thousands;
use super::super::output::{self, Format};
use super::super::words;
use evenkeel_core::model::{ClientId, MessageQueue};
use evenkeel_core::report::{Change, MemberCount, PlanReport, PlanResult, Range, Snapshot, Strategy};
use std::collections::BTreeMap;

/// With more members than this, those that keep what they have are only counted.
const MANY: usize = 40;

/// What a plan was made of, and what came out.
pub(super) struct Shown<'a> {
    pub(super) global: &'a Global,
    pub(super) snapshot: &'a Snapshot,
    pub(super) changes: &'a [Change],
    pub(super) report: &'a PlanReport,
    /// Whether every strategy was asked for.
    pub(super) all: bool,
}

impl Shown<'_> {
    /// One row for each strategy.
    pub(super) fn summary(&self) -> Result<(), Failure> {
        output::line(&self.title())?;
        output::line("")?;
        let wide = self.global.format() == Format::Wide;
        let on_the_way = self.report.results.iter().any(|result| result.handed_over.is_some());
        let mut head = vec!["STRATEGY", "MOVED", "KEPT"];
        if on_the_way {
            head.push("ON THE WAY");
        }
        head.extend(["PER CONSUMER", "IDLE"]);
        if wide {
            head.extend(["SKEW", "FLOOR"]);
        }
        head.push("NOTE");
        let mut rows = Vec::new();
        for result in &self.report.results {
            let mut row = vec![name(result), self.of_all(&result.moved, result), range(&result.kept)];
            if on_the_way {
                row.push(range(result.handed_over.as_ref().unwrap_or(&result.moved)));
            }
            row.extend([loads(result), result.per_consumer.idle.len().to_string()]);
            if wide {
                let skew = result.per_consumer.skew_range.as_ref();
                row.push(skew.map_or_else(|| result.per_consumer.skew.to_string(), range));
                row.push(result.floor.to_string());
            }
            row.push(self.note(result));
            rows.push(row);
        }
        rows.extend(self.floor(head.len(), on_the_way));
        for skipped in self.report.skipped.iter().filter(|skipped| wide || !needs_settings(&skipped.strategy))
        {
            let mut row = vec!["–".to_owned(); head.len()];
            row[0].clone_from(&skipped.strategy);
            row[head.len() - 1].clone_from(&skipped.why);
            rows.push(row);
        }
        let head: Vec<String> = head.into_iter().map(str::to_owned).collect();
        output::table(self.global, &head, &rows)
    }

    /// `pay-worker · orders · 16 queues on 2 brokers · 3 → 4 consumers · running AVG`
    fn title(&self) -> String {
        let (before, after) = (self.report.before, self.report.after);
        let mut parts = words::subject(self.report.group.as_ref(), &self.report.topics);
        let brokers = words::brokers(self.snapshot);
        parts.push(format!(
            "{} {} on {}",
            change(before.queues, after.queues),
            plural(after.queues, "queue"),
            words::count(brokers, "broker")
        ));
        parts.push(format!(
            "{} {}",
            change(before.consumers, after.consumers),
            plural(after.consumers, "consumer")
        ));
        match self.report.results.iter().find(|result| result.running) {
            Some(running) => parts.push(format!("running {}", called(running))),
            None if self.all => parts.push("strategy not known".to_owned()),
            None => {}
        }
        parts.join(" · ")
    }

    fn of_all(&self, moved: &Range, result: &PlanResult) -> String {
        format!("{} of {}", range(moved), self.report.before.queues - result.removed)
    }

    fn note(&self, result: &PlanResult) -> String {
        match &result.moved {
            Range { samples: Some(samples), exact: false, .. } => {
                format!("95 % of {} trials", thousands(*samples as u64))
            }
            Range { min, max, .. } if min != max => self.what_it_depends_on().to_owned(),
            _ => String::new(),
        }
    }

    fn what_it_depends_on(&self) -> &'static str {
        match self.changes {
            [Change::Add { count: Some(1), .. }] => "depends on where the new id sorts",
            [Change::Add { count: Some(_), .. }] => "depends on where the new ids sort",
            [Change::Remove { count: Some(1), .. }] => "depends on which member leaves",
            _ => "depends on the ids",
        }
    }

    /// The row of what no strategy can do better.
    fn floor(&self, columns: usize, on_the_way: bool) -> Option<Vec<String>> {
        let first = self.report.results.first()?;
        let mut row = vec!["–".to_owned(); columns];
        let surviving = self.report.before.queues - first.removed;
        row[0] = "floor".to_owned();
        row[1] = format!("{} of {surviving}", first.floor);
        row[2] = (surviving - first.floor).to_string();
        if let (1, consumers @ 1..) = (self.report.topics.len(), self.report.after.consumers) {
            let (least, more) = (self.report.after.queues / consumers, self.report.after.queues % consumers);
            let even: Vec<usize> = (0..consumers).map(|place| least + usize::from(place < more)).collect();
            row[if on_the_way { 4 } else { 3 }] = list(&even);
        }
        row[columns - 1] = if self.report.results.iter().all(|result| result.floor == first.floor) {
            "fewest moves for an even split".to_owned()
        } else {
            format!("fewest moves for an even split, from what {} gives", first.strategy)
        };
        Some(row)
    }

    /// Who loses and gains what, of the first result.
    pub(super) fn moves(&self) -> Result<(), Failure> {
        let Some(result) = self.report.results.first() else { return Ok(()) };
        if result.members.is_empty() {
            self.global.say("evenkeel: what moves is not known before the ids are: say them, as in --add ID");
            return self.steps(result);
        }
        let (mut loses, mut gains) = (Queues::new(), Queues::new());
        for step in &result.moves {
            let (from, to) = (owners(&step.from, &step.from_all), owners(&step.to, &step.to_all));
            for id in from.iter().filter(|id| !to.contains(id)) {
                loses.entry(id.as_str()).or_default().push(&step.queue);
            }
            for id in to.iter().filter(|id| !from.contains(id)) {
                gains.entry(id.as_str()).or_default().push(&step.queue);
            }
        }
        let several = self.report.topics.len() > 1;
        let moves = |member: &&MemberCount| {
            member.before != member.after
                || loses.contains_key(member.id.as_str())
                || gains.contains_key(member.id.as_str())
        };
        let all = result.members.len() <= MANY || self.global.format() == Format::Wide;
        let shown: Vec<&MemberCount> = result.members.iter().filter(|member| all || moves(member)).collect();
        let cell = |count: Option<usize>| count.map_or_else(|| "–".to_owned(), |count| count.to_string());
        let rows: Vec<Vec<String>> = shown
            .iter()
            .map(|member| {
                let id = member.id.as_str();
                let mark = match (member.before, member.after) {
                    (None, Some(_)) => " +",
                    (Some(_), None) => " -",
                    _ => "",
                };
                let queues = |of: &Queues<'_>| {
                    of.get(id).map_or_else(|| "–".to_owned(), |queues| words::grouped(queues, several))
                };
                vec![
                    format!("{id}{mark}"),
                    cell(member.before),
                    cell(member.after),
                    queues(&loses),
                    queues(&gains),
                ]
            })
            .collect();
        output::table(
            self.global,
            &["MEMBER", "BEFORE", "AFTER", "LOSES", "GAINS"].map(str::to_owned),
            &rows,
        )?;
        let rest = result.members.len() - shown.len();
        if rest > 0 {
            output::line(&format!("{} keep what they have", words::count(rest, "more member")))?;
        }
        self.steps(result)?;
        output::line(&self.sum(result))
    }

    /// `9 of 16 queues move, limit 8`
    fn sum(&self, result: &PlanResult) -> String {
        let mut text = format!("{} queues move", self.of_all(&result.moved, result));
        if result.hidden_moves > 0 {
            text = format!("{text}, {} of the retry topic among them", result.hidden_moves);
        }
        if let Some(handed) = &result.handed_over {
            text = format!("{text}; {} change hands on the way", range(handed));
        }
        for (count, what) in [(result.added, "new"), (result.removed, "gone")] {
            if count > 0 {
                text = format!("{text}; {count} {what}");
            }
        }
        match self.report.limits.and_then(|limits| limits.max_moves) {
            Some(limit) => format!("{text}, limit {limit}"),
            None => text,
        }
    }

    fn steps(&self, result: &PlanResult) -> Result<(), Failure> {
        let Some(steps) = &result.steps else { return Ok(()) };
        output::line("")?;
        let rows: Vec<Vec<String>> = steps
            .iter()
            .map(|step| vec![step.label.clone(), step.moved.to_string(), step.total.to_string()])
            .collect();
        output::table(self.global, &["STEP", "MOVED", "TOTAL"].map(str::to_owned), &rows)
    }

    /// What to know before the change is made.
    pub(super) fn advice(&self, name: Option<&str>) -> Result<(), Failure> {
        if self.global.quiet {
            return Ok(());
        }
        output::line("")?;
        output::line(
            "Each moved queue pauses, and what its old owner had not committed is delivered again.",
        )?;
        if matches!(self.changes, [Change::Add { count: Some(1), .. }]) {
            let name = name.map(|name| format!(" {name}")).unwrap_or_default();
            output::line(&format!("Give the id to make it exact:  evenkeel plan{name} --add ID --moves"))?;
        }
        Ok(())
    }
}

type Queues<'a> = BTreeMap<&'a str, Vec<&'a MessageQueue>>;

/// The one owner, or all where there are several.
fn owners<'a>(one: &'a Option<ClientId>, all: &'a [ClientId]) -> Vec<&'a ClientId> {
    if all.is_empty() { one.iter().collect() } else { all.iter().collect() }
}

/// Strategies that nobody can try without saying more.
fn needs_settings(strategy: &str) -> bool {
    matches!(strategy, "MACHINE_ROOM" | "MACHINE_ROOM_NEARBY" | "CONFIG")
}

fn called(result: &PlanResult) -> String {
    match &result.settings {
        Some(Strategy::ConsistentHash { virtual_nodes: Some(nodes), .. }) => {
            format!("{}:{nodes}", result.strategy)
        }
        _ => result.strategy.clone(),
    }
}

fn name(result: &PlanResult) -> String {
    format!("{}{}", called(result), if result.running { " (running)" } else { "" })
}

fn range(range: &Range) -> String {
    if range.min == range.max { range.min.to_string() } else { format!("{}–{}", range.min, range.max) }
}

/// `3 → 4`, or `3`.
fn change(before: usize, after: usize) -> String {
    if before == after { before.to_string() } else { format!("{before} → {after}") }
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { what.to_owned() } else { format!("{what}s") }
}

/// How many queues the members have, where that is the same for all trials.
fn loads(result: &PlanResult) -> String {
    let of = &result.per_consumer;
    match &of.skew_range {
        Some(range) if range.min != range.max => "varies".to_owned(),
        _ => list(&of.loads),
    }
}

/// `4 4 4 3`, or `3–4` of many.
fn list(loads: &[usize]) -> String {
    let (min, max) = (loads.iter().min().copied().unwrap_or(0), loads.iter().max().copied().unwrap_or(0));
    match loads.len() {
        0..=8 => loads.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        _ if min == max => format!("{min} each"),
        _ => format!("{min}–{max}"),
    }
}
