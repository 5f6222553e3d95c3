//! `evenkeel verify`: what is wrong with a group as it stands.

use super::exit::{Code, Failure};
use super::global::Global;
use super::output::{self, Format};
use super::source::{self, Seen, Source};
use super::strategy::described;
use super::words;
use clap::Args;
use evenkeel::settings::values::duration;
use evenkeel_core::plan::{Code as Finding, Level};
use evenkeel_core::report::{self, ConsumerSeen, Sharing, Snapshot, Strategy, VerifyReport};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long to wait before another look.
const AGAIN: Duration = Duration::from_secs(1);

/// Options of `verify`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
    /// What all members should run: avg, circle, hash[:N], draft, rooms:FILE, config:FILE; else what most of them say
    #[arg(long)]
    strategy: Option<String>,
    /// Look again until the group is sound, for at most this time: members take a while to hear of a change
    #[arg(long, value_name = "TIME", value_parser = duration)]
    settle: Option<Duration>,
}

impl Options {
    /// A live group as it is.
    pub(super) fn of_group(name: String) -> Self {
        Self { source: Source::of_group(name), strategy: None, settle: None }
    }
}

/// Runs the command.
pub(crate) async fn run(global: &Global, options: Options) -> Result<Code, Failure> {
    if options.settle.is_some() && !options.source.is_live() {
        return Err(Failure::usage("--settle looks again, and --from is read once"));
    }
    let strategy = options.strategy.as_deref().map(described).transpose()?;
    let deadline = Instant::now() + options.settle.unwrap_or_default();
    let (seen, report) = loop {
        let (seen, report) = look(global, &options.source, strategy.clone()).await?;
        let sound = report.healthy && seen.is_whole();
        if sound || Instant::now() + AGAIN > deadline {
            break (seen, report);
        }
        sleep(AGAIN).await;
    };
    match global.format() {
        Format::Text | Format::Wide => print(global, &seen.snapshot, &report)?,
        Format::Json => {
            let value = serde_json::to_value(&report);
            output::json(
                &value.map_err(|error| Failure::other(format!("cannot write the verdict: {error}")))?,
            )?;
        }
        Format::Ndjson | Format::Csv => {
            output::rows(global, report.schema, "findings", &rows(&report, global.format()))?;
        }
    }
    let partial = seen.tell_who_was_silent();
    global.say(&sum(&report));
    Ok(if report.healthy { partial } else { Code::CheckFailed })
}

async fn look(
    global: &Global,
    source: &Source,
    strategy: Option<Strategy>,
) -> Result<(Seen, VerifyReport), Failure> {
    let mut seen = source.read(global).await?;
    if strategy.is_some() {
        seen.snapshot.strategy = strategy;
    }
    let mut report = report::verify(&seen.snapshot).map_err(source::failure)?;
    if seen.has_hanging_member() {
        // A member that should answer and does not may leave its queues unread: that is a no, not a part of a yes.
        report.healthy = false;
        let silence = report.findings.iter_mut().filter(|finding| finding.code == Finding::R110);
        silence.for_each(|finding| finding.level = Level::Error);
    }
    Ok((seen, report))
}

fn print(global: &Global, snapshot: &Snapshot, report: &VerifyReport) -> Result<(), Failure> {
    let mut title = words::subject(report.group.as_ref(), &report.topics);
    title.push(words::queues(snapshot));
    title.push(words::count(report.connections, "connection"));
    output::line(&title.join(" · "))?;
    report.findings.iter().try_for_each(words::finding)?;
    for fine in fine(snapshot, report) {
        output::line(&format!("OK        {fine}"))?;
    }
    match snapshot.sharing {
        Sharing::Consumers if snapshot.owned.is_some() => {}
        Sharing::Consumers => output::line("–         who owns what is not known: nobody asked the members")?,
        Sharing::Nobody => output::line("–         the group broadcasts: each member reads all queues")?,
        Sharing::Broker => {
            output::line("–         members pop: the broker shares messages out, queues have no owners")?
        }
    }
    if global.format() == Format::Wide {
        output::line("")?;
        members(global, report)?;
    }
    Ok(())
}

/// What was looked at and is in order.
fn fine(snapshot: &Snapshot, report: &VerifyReport) -> Vec<String> {
    let found = |codes: &[Finding]| report.findings.iter().any(|finding| codes.contains(&finding.code));
    let told = |told: fn(&ConsumerSeen) -> bool| {
        let all = snapshot.consumers.len();
        match snapshot.consumers.iter().filter(|member| told(member)).count() {
            0 => None,
            count if count == all => Some("all members".to_owned()),
            count => Some(format!("the {} of {all} members that told", count)),
        }
    };
    let mut fine = Vec::new();
    if !found(&[Finding::R101]) {
        fine.push("each connection has a client id of its own".to_owned());
    }
    let subscriptions = told(|member| member.subscriptions.is_some() || member.topics.is_some());
    if let Some(all) = subscriptions.filter(|_| !found(&[Finding::R106])) {
        fine.push(format!("subscriptions equal on {all}"));
    }
    if snapshot.sharing != Sharing::Consumers {
        return fine;
    }
    let strategies = told(|member| member.strategy.is_some() || member.listed.is_some());
    if let Some(all) = strategies.filter(|_| !found(&[Finding::R104, Finding::R105, Finding::R205])) {
        fine.push(format!("strategy {} on {all}", report.strategy));
    }
    if snapshot.owned.is_some() && !found(&[Finding::R102, Finding::R103]) {
        fine.push(format!("each of {} has one owner", words::count(report.queues, "queue")));
    }
    fine
}

fn members(global: &Global, report: &VerifyReport) -> Result<(), Failure> {
    let cell = |count: Option<usize>| count.map_or_else(|| "–".to_owned(), |count| count.to_string());
    let rows: Vec<Vec<String>> = report
        .consumers
        .iter()
        .map(|member| {
            vec![
                member.id.to_string(),
                member.processes.unwrap_or(1).to_string(),
                cell(member.expected),
                cell(member.actual),
                member.answered.map_or("–", |answered| if answered { "yes" } else { "no" }).to_owned(),
            ]
        })
        .collect();
    let head = ["MEMBER", "PROCESSES", "EXPECTED", "ACTUAL", "ANSWERED"].map(str::to_owned);
    output::table(global, &head, &rows)
}

fn rows(report: &VerifyReport, format: Format) -> Vec<Value> {
    let row = |found: &report::Finding| {
        let queues: Vec<String> = found.queues.iter().map(ToString::to_string).collect();
        let members: Vec<&str> = found.consumers.iter().map(|id| id.as_str()).collect();
        let (members, queues) = match format {
            Format::Csv => (json!(members.join(" ")), json!(queues.join("; "))),
            _ => (json!(members), json!(found.queues)),
        };
        json!({
            "code": found.code.as_str(),
            "level": found.level.as_str(),
            "text": found.text,
            "effect": found.effect,
            "fix": found.fix,
            "consumers": members,
            "queues": queues,
        })
    };
    report.findings.iter().map(row).collect()
}

/// `evenkeel: 1 failure, 2 warnings`
fn sum(report: &VerifyReport) -> String {
    let count = |level| report.findings.iter().filter(|finding| finding.level == level).count();
    let (failures, warnings) = (count(Level::Error), count(Level::Warning));
    if failures + warnings == 0 {
        return "evenkeel: nothing wrong".to_owned();
    }
    format!("evenkeel: {}, {}", words::count(failures, "failure"), words::count(warnings, "warning"))
}
