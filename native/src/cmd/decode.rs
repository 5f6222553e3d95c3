//! `evenkeel decode KIND`: bytes of the protocol as JSON, one line each.
//!
//! A line of input is bytes in hexadecimal (or Base64); for `msgid` it is the id itself. Each line is answered by one
//! line, which [`evenkeel_core::wire::inspect`] describes. One that cannot be read gives `{"error":…}`, beside what
//! could be read before the fault, and the run goes on. Empty lines are skipped.

use std::io::{self, BufRead, Write};

use evenkeel_core::wire::inspect::{Digits, inspect_text};

pub(crate) use evenkeel_core::wire::inspect::Kind;

/// Answers every line of `input`. Fails only if reading or writing does.
pub(crate) fn run(
    kind: Kind,
    mut input: impl BufRead,
    mut output: impl Write,
    base64: bool,
) -> io::Result<()> {
    let digits = if base64 { Digits::Base64 } else { Digits::Hex };
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let text = line.trim_ascii();
        if !text.is_empty() {
            writeln!(output, "{}", inspect_text(kind, text, digits).to_text())?;
        }
        line.clear();
    }
    output.flush()
}
