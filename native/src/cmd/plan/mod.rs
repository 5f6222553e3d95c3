//! `evenkeel plan`: what a change does to a group, before anybody makes it.

mod changes;
mod link;
mod text;

use super::exit::{Code, Failure};
use super::global::Global;
use super::output::{self, Format};
use super::source::{self, Source};
use super::strategy::described;
use super::words;
use changes::Said;
use clap::Args;
use evenkeel_core::plan::Code as Finding;
use evenkeel_core::report::link::Shared;
use evenkeel_core::report::{self, PlanReport, Strategies};
use serde_json::{Value, json};
use text::Shown;

/// Options of `plan`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    said: Said,
    /// all, or those to try: avg, circle, hash[:N], draft, rooms:FILE, config:FILE; all has the settings of a link
    #[arg(long, value_name = "STRATEGY,…", value_delimiter = ',', default_value = "all")]
    strategy: Vec<String>,
    /// So many queues may change hands; if more do, the exit code is 7
    #[arg(long, value_name = "N")]
    max_moves: Option<usize>,
    /// So far may the most and the fewest queues of a member be apart; if it is more, the exit code is 7
    #[arg(long, value_name = "N")]
    max_skew: Option<usize>,
    /// List who loses and gains which queue
    #[arg(long)]
    moves: bool,
    /// List queues of the retry topic as well
    #[arg(long)]
    retry: bool,
    /// Print a link that shows this plan on the planning page at PAGE; without PAGE, what to put behind its address
    #[arg(long, value_name = "PAGE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    url: Option<String>,
}

/// Runs the command.
pub(crate) async fn run(global: &Global, options: Options) -> Result<Code, Failure> {
    let rows_only = matches!(global.format(), Format::Ndjson | Format::Csv);
    if rows_only && options.url.is_some() {
        return Err(Failure::usage(
            "--url does not go with -o ndjson and -o csv, whose rows have no place for it",
        ));
    }
    if options.said.is_empty() && options.source.is_live() {
        return Err(no_change());
    }
    let mut asked = report::Options {
        strategies: strategies(&options.strategy)?,
        max_moves: options.max_moves,
        max_skew: options.max_skew,
        retry: options.retry,
        ..report::Options::default()
    };
    let mut seen = options.source.read_or_example(global).await?;
    asked.settings = std::mem::take(&mut seen.strategies);
    let changes = match options.said.changes(&seen.snapshot)? {
        none if none.is_empty() => seen.changes.clone(),
        said => said,
    };
    if changes.is_empty() {
        return Err(no_change());
    }
    let url = options.url.as_deref().map(|page| {
        let (snapshot, changes) = (seen.snapshot.clone(), changes.clone());
        link::link(page, &Shared { snapshot, changes, strategies: link::strategies(&seen.snapshot, &asked) })
    });
    let url = url.transpose()?;
    let report = report::plan(&seen.snapshot, &changes, &asked).map_err(source::failure)?;
    let all = asked.strategies == Strategies::All;
    let shown = Shown { global, snapshot: &seen.snapshot, changes: &changes, report: &report, all };
    match global.format() {
        Format::Text | Format::Wide => {
            print(&shown, &options)?;
            if let Some(url) = url {
                output::line("")?;
                output::line(&url)?;
            }
        }
        Format::Json => output::json(&value(&report, url)?)?,
        Format::Ndjson | Format::Csv => {
            let rows = if options.moves { moves(&report) } else { results(&report) };
            output::rows(global, report.schema, "results", &rows)?;
        }
    }
    let partial = seen.tell_who_was_silent();
    if report.limits.is_some_and(|limits| !limits.passed) {
        let over: Vec<&str> =
            report.warnings.iter().filter(|found| is_limit(found)).map(|found| found.code.as_str()).collect();
        let code = over.first().copied().unwrap_or("R205");
        global.say(&format!("evenkeel: plan is over the limit (see evenkeel explain {code})"));
        return Ok(Code::CheckFailed);
    }
    Ok(partial)
}

/// `all`, or each that was named.
fn strategies(said: &[String]) -> Result<Strategies, Failure> {
    match said {
        [all] if all == "all" => Ok(Strategies::All),
        some => some.iter().map(|text| described(text)).collect::<Result<_, _>>().map(Strategies::These),
    }
}

fn print(shown: &Shown<'_>, options: &Options) -> Result<(), Failure> {
    // Who names one strategy and asks for moves knows what the rest is about.
    let only_moves = options.moves && shown.report.results.len() == 1;
    if !only_moves {
        shown.summary()?;
    }
    if options.moves {
        if !only_moves {
            output::line("")?;
        }
        shown.moves()?;
    }
    let (limits, others): (Vec<_>, Vec<_>) = shown.report.warnings.iter().partition(|found| is_limit(found));
    if !others.is_empty() {
        output::line("")?;
        others.into_iter().try_for_each(words::finding)?;
    }
    if !only_moves {
        shown.advice(options.source.name())?;
        limits.iter().try_for_each(|found| output::line(&found.text))?;
    }
    Ok(())
}

fn is_limit(found: &report::Finding) -> bool {
    matches!(found.code, Finding::R201 | Finding::R202)
}

fn no_change() -> Failure {
    Failure::usage("no change to plan").with_hint(
        "say --add, --remove, --queues, --drop-broker, --roll or --switch-to; `evenkeel group NAME` shows a group as it is",
    )
}

fn value(report: &PlanReport, url: Option<String>) -> Result<Value, Failure> {
    let mut value = serde_json::to_value(report)
        .map_err(|error| Failure::other(format!("cannot write the plan: {error}")))?;
    if let (Some(fields), Some(url)) = (value.as_object_mut(), url) {
        fields.insert("url".to_owned(), Value::String(url));
    }
    Ok(value)
}

/// One row for each strategy.
fn results(report: &PlanReport) -> Vec<Value> {
    let row = |result: &report::PlanResult| {
        json!({
            "strategy": result.strategy,
            "running": result.running,
            "movedMin": result.moved.min,
            "movedTypical": result.moved.typical,
            "movedMax": result.moved.max,
            "exact": result.moved.exact,
            "keptMin": result.kept.min,
            "keptMax": result.kept.max,
            "added": result.added,
            "removed": result.removed,
            "floor": result.floor,
            "min": result.per_consumer.min,
            "max": result.per_consumer.max,
            "skew": result.per_consumer.skew,
            "idle": result.per_consumer.idle.len(),
        })
    };
    report.results.iter().map(row).collect()
}

/// One row for each moved queue of each strategy.
fn moves(report: &PlanReport) -> Vec<Value> {
    let of = |result: &report::PlanResult| {
        let row = |step: &report::Move| {
            json!({
                "strategy": result.strategy,
                "topic": step.queue.topic.as_str(),
                "broker": step.queue.broker.as_str(),
                "id": step.queue.id,
                "from": step.from.as_ref().map(|id| id.as_str()),
                "to": step.to.as_ref().map(|id| id.as_str()),
            })
        };
        result.moves.iter().map(row).collect::<Vec<_>>()
    };
    report.results.iter().flat_map(of).collect()
}
