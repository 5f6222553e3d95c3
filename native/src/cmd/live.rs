//! What commands that look at a live cluster share.

use super::cluster::Cluster;
use super::exit::{Code, Failure};
use super::global::Global;
use evenkeel::client::NameServers;
use evenkeel::inspect::{Kind, Silent, Whom};
use evenkeel_core::wire::bodies::ConsumeType;
use serde_json::{Value, json};

/// The name servers that the settings name.
pub(crate) fn servers(global: &Global) -> Result<NameServers, Failure> {
    let settings = global.settings(&[])?;
    Cluster::servers_named(global, &settings)
}

/// Names on stderr those who did not answer, and says how the process ends for it.
pub(crate) fn tell_silent(silent: &[Silent]) -> Code {
    for one in silent {
        eprintln!("evenkeel: no answer from {one}");
    }
    if silent.is_empty() { Code::Done } else { Code::Partial }
}

/// The same for programs.
pub(crate) fn silent_json(silent: &Silent) -> Value {
    let reason = silent.reason.to_string();
    match &silent.whom {
        Whom::Broker { broker, address } => {
            json!({"kind": "broker", "broker": broker.as_str(), "address": address.as_str(), "reason": reason})
        }
        Whom::Member { client, broker } => {
            json!({"kind": "member", "id": client.as_str(), "broker": broker.as_str(), "reason": reason})
        }
        Whom::Route { topic } => json!({"kind": "route", "topic": topic.as_str(), "reason": reason}),
        other => json!({"kind": "other", "who": other.to_string(), "reason": reason}),
    }
}

/// `CLUSTERING push`
pub(crate) fn kind(kind: &Kind) -> String {
    format!("{} {}", kind.model.name(), way(kind.consume_type))
}

/// `push` or `pull`; `pop` for what consumes by pop.
pub(crate) fn way(consume_type: ConsumeType) -> &'static str {
    match consume_type {
        ConsumeType::Actively => "pull",
        ConsumeType::Pop => "pop",
        ConsumeType::Passively => "push",
    }
}
