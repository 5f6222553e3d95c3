//! What mqadmin's `allocateMQ` is asked: who of a list of members gets which queue of a topic.

use super::exit::{Code, Failure};
use super::global::Global;
use super::output::{self, Format};
use super::{source, words};
use evenkeel_core::model::MessageQueue;
use evenkeel_core::report::{self, Allocation, ConsumerSeen, Snapshot, Strategy};
use serde_json::{Value, json};

/// Reads the topic's route and shares its queues.
pub(super) async fn run(global: &Global, topic: &str, ids: &[String]) -> Result<Code, Failure> {
    let mut snapshot = Snapshot::new(None);
    snapshot.topics.push(source::topic(global, topic).await?);
    snapshot.consumers = ids.iter().map(|id| ConsumerSeen::new(id.trim())).collect();
    let shares = report::allocate(&snapshot, Some(&Strategy::Avg {})).map_err(source::failure)?;
    match global.format() {
        Format::Text | Format::Wide => print(global, &shares)?,
        Format::Json => {
            let mut value = serde_json::to_value(&shares)
                .map_err(|error| Failure::other(format!("cannot write the shares: {error}")))?;
            if let Some(fields) = value.as_object_mut() {
                fields.shift_insert(0, "schema".to_owned(), "evenkeel.allocation/1".into());
            }
            output::json(&value)?;
        }
        Format::Ndjson | Format::Csv => {
            output::rows(global, "evenkeel.allocation/1", "queues", &rows(&shares))?;
        }
    }
    Ok(Code::Done)
}

fn print(global: &Global, shares: &Allocation) -> Result<(), Failure> {
    let rows: Vec<Vec<String>> = shares
        .by_consumer
        .iter()
        .map(|(id, queues)| {
            let all: Vec<&MessageQueue> = queues.iter().collect();
            let queues_of = if all.is_empty() { "–".to_owned() } else { words::grouped(&all, false) };
            vec![id.to_string(), queues.len().to_string(), queues_of]
        })
        .collect();
    output::table(global, &["MEMBER", "COUNT", "QUEUES"].map(str::to_owned), &rows)
}

fn rows(shares: &Allocation) -> Vec<Value> {
    let of = |(id, queues): (&evenkeel::ClientId, &Vec<MessageQueue>)| {
        let row = |queue: &MessageQueue| json!({"topic": queue.topic.as_str(), "broker": queue.broker.as_str(), "id": queue.id, "owner": id.as_str()});
        queues.iter().map(row).collect::<Vec<_>>()
    };
    shares.by_consumer.iter().flat_map(of).collect()
}
