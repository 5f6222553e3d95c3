//! Other programs.

use std::env;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Runs a program to its end; anything but success is an error that names it.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("{name} cannot be started: is it installed?"))?;
    if !status.success() {
        let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
        bail!("{name} {} ended with {status}", arguments.join(" "));
    }
    Ok(())
}

/// The program of this name, or on Windows the script that npm and its packages are there.
pub(crate) fn script(name: &str) -> Command {
    if cfg!(windows) { Command::new(format!("{name}.cmd")) } else { Command::new(name) }
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
