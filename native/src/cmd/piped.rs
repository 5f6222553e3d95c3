//! Subcommands that answer lines with lines: input from stdin or a file, output to stdout.

use super::exit::{Code, Failure};
use super::{allocate, decode};
use clap::Args;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write, stdin, stdout};
use std::path::PathBuf;

/// Options of `allocate`.
#[derive(Args, Debug)]
pub(crate) struct Allocate {
    /// Cases, one JSON object a line; else stdin
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Options of `decode`.
#[derive(Args, Debug)]
pub(crate) struct Decode {
    /// What the lines are: frame, message, body NAME, properties, msgid
    #[arg(required = true, num_args = 1..=2, value_names = ["KIND", "NAME"])]
    kind: Vec<String>,
    /// Lines; else stdin
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Lines are Base64, not hexadecimal
    #[arg(long)]
    base64: bool,
}

/// Runs `allocate`.
pub(crate) fn run_allocate(options: &Allocate) -> Result<Code, Failure> {
    let tally = allocate::run(input(options.file.as_ref())?, output())?;
    let (answered, unreadable) = (tally.answered, tally.unreadable);
    if unreadable > 0 {
        eprintln!("evenkeel: {unreadable} lines were no case, {answered} were");
    }
    Ok(Code::Done)
}

/// Runs `decode`.
pub(crate) fn run_decode(options: &Decode) -> Result<Code, Failure> {
    let kind =
        options.kind.join(" ").parse().map_err(|why: String| Failure::usage(format!("decode: {why}")))?;
    decode::run(kind, input(options.file.as_ref())?, output(), options.base64)?;
    Ok(Code::Done)
}

fn input(file: Option<&PathBuf>) -> Result<Box<dyn BufRead>, Failure> {
    match file {
        None => Ok(Box::new(stdin().lock())),
        Some(path) => match File::open(path) {
            Ok(file) => Ok(Box::new(BufReader::new(file))),
            Err(error) => Err(Failure::usage(format!("cannot read {}: {error}", path.display()))),
        },
    }
}

fn output() -> impl Write {
    BufWriter::new(stdout().lock())
}
