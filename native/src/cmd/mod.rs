//! `evenkeel`: what the subcommands share, and which there are.

mod allocate;
mod broker;
mod cluster;
mod consume;
mod decode;
mod demo;
mod exit;
mod explain;
mod global;
mod group;
mod groups;
mod live;
mod logging;
mod mqadmin;
mod numbers;
mod output;
mod piped;
mod plan;
mod route;
mod send;
#[cfg(feature = "admin")]
mod serve;
mod shares;
mod signals;
mod snapshot;
mod source;
mod strategy;
mod verify;
mod words;

use clap::{Parser, Subcommand};
use exit::{Code, Failure};
use global::Global;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

/// Consume, preview and prove RocketMQ consumer groups.
#[derive(Debug, Parser)]
#[command(
    name = "evenkeel",
    disable_version_flag = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    /// Print the version (with --json also of the protocol and the core)
    #[arg(long)]
    version: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// A real push consumer: to stdout, to a program, or to nothing
    Consume(consume::Options),
    /// Send messages: an argument, files, or lines of stdin
    Send(send::Options),
    /// The embedded name server and broker, on a port that other clients can use
    Broker(broker::Options),
    /// Brokers and queues of a topic
    #[command(alias = "topicRoute")]
    Route(route::Options),
    /// The groups of a cluster: their members, clients and lag
    Groups(groups::Options),
    /// One group: its members, queues and lag
    Group(group::Options),
    /// The main job in one command: a group of members; one joins, one leaves, one is killed
    Demo(demo::Options),
    /// What a change does to a group, before anybody makes it
    Plan(plan::Options),
    /// What is wrong with a group as it stands
    Verify(verify::Options),
    /// A group as one JSON file, for plans elsewhere and for bug reports
    Snapshot(snapshot::Options),
    /// The planning page on this machine, with the groups of a live cluster
    #[cfg(feature = "admin")]
    Serve(serve::Options),
    /// What the code of a finding means, such as R101; all codes without one
    Explain(explain::Options),
    /// Allocation strategies on JSON cases, one a line
    Allocate(piped::Allocate),
    /// Bytes of the protocol as JSON: lines of hexadecimal in, lines of JSON out
    Decode(piped::Decode),
    /// mqadmin's
    #[command(name = "consumerProgress", hide = true)]
    ConsumerProgress(mqadmin::Progress),
    /// mqadmin's
    #[command(name = "consumerConnection", hide = true)]
    ConsumerConnection(mqadmin::Connection),
    /// mqadmin's
    #[command(name = "consumerStatus", hide = true)]
    ConsumerStatus(mqadmin::Status),
    /// mqadmin's
    #[command(name = "allocateMQ", hide = true)]
    AllocateMq(mqadmin::Allocate),
}

/// Parses the arguments, runs the subcommand, prints what went wrong, and says how the process ends.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(failure) = mqadmin::missing(&error) {
                failure.print();
                return ExitCode::from(failure.code().number());
            }
            // Help goes to stdout and is no failure; clap knows. If the terminal is gone there is nobody to tell.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { Code::Usage.number() } else { 0 });
        }
    };
    let ended = run(cli);
    // Output that nobody reads any more (`| head`) is no failure.
    let _ = std::io::stdout().flush();
    match ended {
        Ok(code) => ExitCode::from(code.number()),
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.code().number())
        }
    }
}

fn run(cli: Cli) -> Result<Code, Failure> {
    let Cli { global, version, command } = cli;
    if version {
        return print_version(&global);
    }
    if global.wants_option_list() {
        return global::print_options(&global);
    }
    let has_other_name = matches!(
        command,
        Some(
            Command::Route(_)
                | Command::ConsumerProgress(_)
                | Command::ConsumerConnection(_)
                | Command::ConsumerStatus(_)
                | Command::AllocateMq(_)
        )
    );
    if let Some(hint) = mqadmin::hint(std::env::args()).filter(|_| has_other_name) {
        global.say(&hint);
    }
    let Some(command) = command else {
        return Err(Failure::usage("no subcommand; `evenkeel --help` lists them"));
    };
    let logging = logging::start(&global);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::other(format!("cannot start the runtime: {error}")))?;
    let ended = runtime.block_on(async {
        // What runs for days as a service; elsewhere a hang-up ends the process.
        if matches!(command, Command::Consume(_)) {
            logging.follow_hangups();
        }
        match command {
            Command::Consume(options) => consume::run(&global, options).await,
            Command::Send(options) => global.within_timeout(send::run(&global, options)).await,
            Command::Broker(options) => broker::run(&global, options).await,
            Command::Route(options) => global.within_timeout(route::run(&global, options)).await,
            Command::Groups(options) => global.within_timeout(groups::run(&global, options)).await,
            Command::Group(options) => global.within_timeout(group::run(&global, options)).await,
            Command::ConsumerProgress(asked) => {
                global.within_timeout(mqadmin::progress(&global, asked)).await
            }
            Command::ConsumerConnection(asked) => {
                global.within_timeout(mqadmin::connection(&global, asked)).await
            }
            Command::ConsumerStatus(asked) => global.within_timeout(mqadmin::status(&global, asked)).await,
            Command::AllocateMq(asked) => global.within_timeout(mqadmin::allocate(&global, asked)).await,
            Command::Demo(options) => demo::run(&global, options).await,
            Command::Plan(options) => global.within_timeout(plan::run(&global, options)).await,
            Command::Verify(options) => global.within_timeout(verify::run(&global, options)).await,
            Command::Snapshot(options) => global.within_timeout(snapshot::run(&global, options)).await,
            #[cfg(feature = "admin")]
            Command::Serve(options) => serve::run(&global, options).await,
            Command::Explain(options) => explain::run(&global, &options),
            Command::Allocate(options) => piped::run_allocate(&options),
            Command::Decode(options) => piped::run_decode(&options),
        }
    });
    // Handlers and reads of stdin that never return must not keep the process.
    runtime.shutdown_timeout(Duration::from_millis(100));
    ended
}

fn print_version(global: &Global) -> Result<Code, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    if global.format() == output::Format::Json {
        output::json(&serde_json::json!({
            "schema": "evenkeel.version/1",
            "version": version,
            "core": version,
            "git": option_env!("EVENKEEL_COMMIT"),
            "rust": env!("CARGO_PKG_RUST_VERSION"),
            "protocol": evenkeel_core::wire::code::PROTOCOL_VERSION_NAME,
        }))?;
    } else {
        output::line(&format!("evenkeel {version}"))?;
    }
    Ok(Code::Done)
}

/// For tests of the definition itself.
#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_of_the_arguments_is_sound() {
        Cli::command().debug_assert();
    }
}
