//! A case as it is written in JSON, and the lists that it may describe instead of naming.

use std::collections::BTreeMap;

use evenkeel_core::model::{BrokerName, ClientId, MessageQueue, Topic};
use serde::Deserialize;
use serde_json::Value;

use super::Refusal;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CaseFields {
    pub(super) strategy: String,
    #[serde(default)]
    pub(super) params: Value,
    pub(super) mode: Option<Mode>,
    pub(super) group: Option<String>,
    pub(super) current_cid: Option<String>,
    #[serde(default)]
    pub(super) queues: Value,
    #[serde(default)]
    pub(super) consumers: Value,
    #[serde(default)]
    pub(super) sort_first: bool,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    Single,
    Group,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct QueueFields {
    pub(super) topic: String,
    pub(super) broker_name: String,
    pub(super) queue_id: i32,
}

/// The most entries that a generated list can have: a typing error must not eat the machine's memory.
const GENERATED_MAX: u64 = 1_000_000;

fn too_long(entries: u64) -> Refusal {
    Refusal::new("bad-case", format!("a generated list of {entries} entries; at most {GENERATED_MAX}"))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct QueueGenerator {
    topic: String,
    brokers: Vec<String>,
    per_broker: u32,
    permute: Option<Permute>,
}

#[derive(Deserialize)]
struct Permute {
    stride: u64,
    offset: u64,
}

impl QueueGenerator {
    pub(super) fn queues(self) -> Result<Vec<MessageQueue>, Refusal> {
        let count = (self.brokers.len() as u64).saturating_mul(self.per_broker.into());
        let per_broker = match i32::try_from(self.per_broker) {
            Ok(per_broker) if count <= GENERATED_MAX => per_broker,
            _ => return Err(too_long(count)),
        };
        let topic = Topic::from(self.topic);
        let brokers = self.brokers.into_iter().map(BrokerName::from);
        let base: Vec<_> = brokers
            .flat_map(|broker| (0..per_broker).map(move |id| (broker.clone(), id)))
            .map(|(broker, id)| MessageQueue::new(topic.clone(), broker, id))
            .collect();
        let Some(Permute { stride, offset }) = self.permute else {
            return Ok(base);
        };
        // 128 bits hold the product of any two numbers of 64.
        let source = |k| (k * u128::from(stride) + u128::from(offset)) % u128::from(count);
        Ok((0..u128::from(count)).filter_map(|k| base.get(source(k) as usize).cloned()).collect())
    }
}

#[derive(Deserialize)]
pub(super) struct MemberGenerator {
    prefix: String,
    from: i64,
    suffix: String,
    count: u64,
}

impl MemberGenerator {
    pub(super) fn members(self) -> Result<Vec<ClientId>, Refusal> {
        let Self { prefix, from, suffix, count } = self;
        if count > GENERATED_MAX {
            return Err(too_long(count));
        }
        let numbers = (0..i128::from(count)).map(|i| i + i128::from(from));
        Ok(numbers.map(|number| ClientId::from(format!("{prefix}{number}{suffix}"))).collect())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParams {}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListParams {
    pub(super) message_queue_list: Option<Vec<QueueFields>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RingParams {
    pub(super) virtual_node_count: Option<i32>,
    pub(super) hash: Option<Hash>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Hash {
    JavaStringHash,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RoomsParams {
    pub(super) consumer_idcs: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NearbyParams {
    pub(super) inner: Inner,
    pub(super) resolver: Resolver,
}

#[derive(Deserialize)]
pub(super) struct Inner {
    pub(super) strategy: String,
    #[serde(default)]
    pub(super) params: Value,
}

#[derive(Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub(super) enum Resolver {
    BeforeDash,
    Map { brokers: BTreeMap<String, Option<String>>, consumers: BTreeMap<String, Option<String>> },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DraftParams {
    pub(super) weights: Option<Weights>,
    #[serde(default)]
    pub(super) slack: u32,
    pub(super) identity: Option<HashedIdentity>,
    pub(super) rooms: Option<RoomsRule>,
    pub(super) resolver: Option<Resolver>,
}

/// Weights of members: by client id, or in the order of the case's `consumers`.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Weights {
    ById(BTreeMap<String, u32>),
    InOrder(Vec<u32>),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum HashedIdentity {
    Whole,
    Host,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RoomsRule {
    Strict,
    BalanceFirst,
}
