//! Logs: on stderr, nothing but warnings unless more is asked for.

use super::global::{Global, LogFormat};
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Starts logging for the rest of the process.
pub(crate) fn start(global: &Global) {
    let level = match (global.quiet, global.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "info",
        (false, 2) => "debug",
        (false, _) => "trace",
    };
    let filter = std::env::var("RUST_LOG").ok().filter(|text| !text.is_empty());
    let filter =
        EnvFilter::try_new(filter.as_deref().unwrap_or(level)).unwrap_or_else(|_| EnvFilter::new(level));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(global.color(std::io::stderr().is_terminal()));
    match global.log_format {
        LogFormat::Pretty => builder.pretty().init(),
        LogFormat::Compact => builder.compact().with_target(false).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
}
