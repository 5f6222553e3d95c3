//! Data on stdout, in the form that was asked for.

use super::exit::Failure;
use super::global::Global;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};

/// Forms of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For people with room
    Wide,
    /// One JSON value
    Json,
    /// One JSON value a line
    Ndjson,
    /// Comma-separated values with a head line
    Csv,
}

impl Format {
    /// Whether a stream of records is written as JSON lines.
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Ndjson)
    }
}

/// One line of text.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    Ok(writeln!(std::io::stdout().lock(), "{text}")?)
}

/// Text for people, broken between words. A title stands before the first line, and blanks as wide before the others.
pub(crate) fn paragraph(title: &str, text: &str) -> Result<(), Failure> {
    let indent = title.chars().count();
    let room = columns().unwrap_or(100).min(100).saturating_sub(indent).max(20);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let fits = |line: &String| line.chars().count() + 1 + word.chars().count() <= room;
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if fits(line) => *line = format!("{line} {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    for (number, text) in lines.iter().enumerate() {
        let before = if number == 0 { title.to_owned() } else { " ".repeat(indent) };
        line(&format!("{before}{text}"))?;
    }
    Ok(())
}

/// One JSON value on a line.
pub(crate) fn json(value: &Value) -> Result<(), Failure> {
    line(&value.to_string())
}

/// Records in a form for programs: under one schema, one a line, or as CSV with the first record's names as head.
pub(crate) fn rows(global: &Global, schema: &str, name: &str, rows: &[Value]) -> Result<(), Failure> {
    match global.format() {
        Format::Ndjson => rows.iter().try_for_each(json),
        Format::Csv => csv_text(rows).iter().try_for_each(|text| line(text)),
        _ => json(&json!({"schema": schema, name: rows})),
    }
}

/// The lines of rows as CSV, with the first row's names as head.
pub(crate) fn csv_text(rows: &[Value]) -> Vec<String> {
    let names: Vec<&String> =
        rows.first().and_then(Value::as_object).into_iter().flat_map(|row| row.keys()).collect();
    let cell = |row: &Value, name: &str| match &row[name] {
        Value::String(text) => csv(text),
        Value::Null => String::new(),
        other => csv(&other.to_string()),
    };
    let head = names.iter().map(|name| csv(name)).collect::<Vec<_>>().join(",");
    let lines = rows.iter().map(|row| names.iter().map(|name| cell(row, name)).collect::<Vec<_>>().join(","));
    std::iter::once(head).chain(lines).collect()
}

fn csv(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A table for people. Cut with `…` only where a terminal is narrower, and never with `-o wide`.
pub(crate) fn table(global: &Global, head: &[String], rows: &[Vec<String>]) -> Result<(), Failure> {
    for text in render(global, head, rows) {
        line(&text)?;
    }
    Ok(())
}

/// The lines of a table.
pub(crate) fn render(global: &Global, head: &[String], rows: &[Vec<String>]) -> Vec<String> {
    let width = |text: &str| text.chars().count();
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).chain(head.get(column));
        cells.map(|cell| width(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(widest).collect();
    let room = (std::io::stdout().is_terminal() && global.format() != Format::Wide).then(columns).flatten();
    let lay = |row: &Vec<String>| {
        let cells =
            row.iter().zip(&widths).map(|(cell, wide)| format!("{cell}{}", " ".repeat(wide - width(cell))));
        let text = cells.collect::<Vec<_>>().join("  ").trim_end().to_owned();
        match room {
            Some(room) if width(&text) > room => {
                text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
            }
            _ => text,
        }
    };
    let head = lay(&head.to_vec());
    let head = if global.color_stdout() { format!("\u{1b}[1m{head}\u{1b}[0m") } else { head };
    std::iter::once(head).chain(rows.iter().map(lay)).collect()
}

/// Columns of the terminal, if the shell exports them.
fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns >= 20)
}
