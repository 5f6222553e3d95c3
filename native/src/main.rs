//! The command line. One file a subcommand, in [`cmd`].

mod cmd;

use std::process::ExitCode;

fn main() -> ExitCode {
    cmd::main()
}
