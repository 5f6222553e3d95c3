//! Habits from mqadmin: its names of what this program does, or will.

use super::exit::Failure;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The subcommand that a name of mqadmin is an alias of.
const HERE: &[(&str, &str)] = &[("topicRoute", "route TOPIC")];
/// Names that people type and that have nothing here yet.
const TO_COME: &[&str] =
    &["consumerProgress", "consumerConnection", "consumerStatus", "allocateMQ", "resetOffsetByTime"];

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
