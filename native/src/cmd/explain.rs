//! `evenkeel explain`: what a finding's code means.

use super::exit::{Code, Failure};
use super::global::Global;
use super::output::{self, Format};
use clap::Args;
use evenkeel_core::plan::{EXPLANATIONS, Explanation, explain};
use serde_json::{Value, json};

/// Options of `explain`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// A code such as R101; all of them if left out
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

/// Runs the command.
pub(crate) fn run(global: &Global, options: &Options) -> Result<Code, Failure> {
    let chosen: Vec<&Explanation> = match &options.code {
        Some(code) => vec![explain(code).ok_or_else(|| {
            Failure::usage(format!("no finding has the code {code}"))
                .with_hint("`evenkeel explain` lists all codes")
        })?],
        None => EXPLANATIONS.iter().collect(),
    };
    match (global.format(), chosen.as_slice()) {
        (Format::Text | Format::Wide, [one]) if options.code.is_some() => print(one)?,
        (Format::Text | Format::Wide, all) => list(global, all)?,
        _ => {
            let rows: Vec<Value> = chosen.iter().map(|entry| row(entry)).collect();
            output::rows(global, "evenkeel.explain/1", "codes", &rows)?;
        }
    }
    Ok(Code::Done)
}

fn print(entry: &Explanation) -> Result<(), Failure> {
    output::line(&format!("{} · {} · {}", entry.code, entry.level, entry.title))?;
    output::line("")?;
    for (title, text) in [("", entry.meaning), ("cause:  ", entry.cause), ("fix:    ", entry.fix.en)] {
        output::paragraph(title, text)?;
    }
    Ok(())
}

fn list(global: &Global, entries: &[&Explanation]) -> Result<(), Failure> {
    let head = ["CODE", "LEVEL", "TITLE"].map(str::to_owned);
    let rows = entries.iter().map(|entry| {
        vec![entry.code.as_str().to_owned(), entry.level.as_str().to_owned(), entry.title.to_owned()]
    });
    output::table(global, &head, &rows.collect::<Vec<_>>())
}

fn row(entry: &Explanation) -> Value {
    json!({
        "code": entry.code.as_str(),
        "level": entry.level.as_str(),
        "title": entry.title,
        "meaning": entry.meaning,
        "cause": entry.cause,
        "fix": entry.fix.en,
    })
}
