//! Habits from mqadmin: its names of what this program does, or will.

use super::exit::{Code, Failure};
use super::global::Global;
use super::{group, groups, shares, verify};
use clap::Args;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The subcommand that a name of mqadmin is an alias of.
const HERE: &[(&str, &str)] = &[
    ("topicRoute", "route TOPIC"),
    ("consumerProgress", "group GROUP --by queue --retry` and `evenkeel groups --offline"),
    ("consumerConnection", "group GROUP -o wide"),
    ("consumerStatus", "verify GROUP"),
    ("allocateMQ", "plan GROUP --add ID --moves"),
];
/// Names that people type and that have nothing here yet.
const TO_COME: &[&str] = &["resetOffsetByTime"];

/// What follows `consumerProgress`.
#[derive(Args, Debug)]
pub(super) struct Progress {
    #[arg(short = 'g', long = "groupName", value_name = "GROUP")]
    group: Option<String>,
    #[arg(short = 't', long = "topicName", value_name = "TOPIC", requires = "group")]
    topic: Option<String>,
    /// Whether to show owners, which is always done here
    #[arg(short = 's', long = "showClientIP", value_name = "BOOL")]
    _owners: Option<String>,
}

/// What follows `consumerConnection`.
#[derive(Args, Debug)]
pub(super) struct Connection {
    #[arg(short = 'g', long = "consumerGroup", value_name = "GROUP")]
    group: String,
}

/// How far a group is, queue by queue; without a group, how far all are.
pub(super) async fn progress(global: &Global, asked: Progress) -> Result<Code, Failure> {
    match asked.group {
        None => groups::run(global, groups::Options::all()).await,
        Some(name) => {
            let (by, topic) = (group::By::Queue, asked.topic);
            group::run(global, group::Options { name, by, topic, retry: true, watch: None }).await
        }
    }
}

/// Who is in a group.
pub(super) async fn connection(global: &Global, asked: Connection) -> Result<Code, Failure> {
    let (name, by) = (asked.group, group::By::Member);
    group::run(global, group::Options { name, by, topic: None, retry: true, watch: None }).await
}

/// What follows `consumerStatus`.
#[derive(Args, Debug)]
pub(super) struct Status {
    #[arg(short = 'g', long = "consumerGroup", value_name = "GROUP")]
    group: String,
    #[arg(short = 'i', long = "clientId", value_name = "ID")]
    client: Option<String>,
    #[arg(short = 's', long = "jstack", value_name = "BOOL", num_args = 0..=1)]
    stacks: Option<String>,
}

/// What follows `allocateMQ`.
#[derive(Args, Debug)]
pub(super) struct Allocate {
    #[arg(short = 't', long, value_name = "TOPIC")]
    topic: String,
    #[arg(short = 'i', long = "ipList", value_name = "ID,…", value_delimiter = ',', required = true)]
    ids: Vec<String>,
}

/// Whether all is well with a group.
pub(super) async fn status(global: &Global, asked: Status) -> Result<Code, Failure> {
    if asked.client.is_some() || asked.stacks.is_some() {
        global.say("evenkeel: all members are looked at together, and no stacks of threads are shown");
    }
    verify::run(global, verify::Options::of_group(asked.group)).await
}

/// Who of these members gets which queue of a topic, under AVG over sorted queues and ids, as members compute it.
pub(super) async fn allocate(global: &Global, asked: Allocate) -> Result<Code, Failure> {
    shares::run(global, &asked.topic, &asked.ids).await
}

/// One line for those who used a name of mqadmin that works.
pub(super) fn hint(arguments: impl Iterator<Item = String>) -> Option<String> {
    let used = |argument: String| HERE.iter().find(|(theirs, _)| *theirs == argument);
    let (theirs, ours) = arguments.skip(1).find_map(used)?;
    Some(format!("evenkeel: mqadmin's {theirs} is `evenkeel {ours}` here"))
}

/// What to say of a name of mqadmin that does not work, instead of a guess at what was meant.
pub(super) fn missing(error: &Error) -> Option<Failure> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    TO_COME.contains(&name.as_str()).then(|| {
        Failure::usage(format!("mqadmin's {name} has no counterpart in this version")).with_hint(
            "`evenkeel consume --events` shows a group's rebalances; `evenkeel --help` lists what is there",
        )
    })
}
