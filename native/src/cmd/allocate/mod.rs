//! `evenkeel allocate`: allocation strategies on JSON cases, one a line.
//!
//! A case has the shape of those in `tests/golden/allocate-*.json`; its `expect` is ignored. Such a file can be piped in
//! as it is. Each case is answered by one line, in order:
//!
//! | line | when |
//! |---|---|
//! | `{"id":…,"result":{"name":…,"queues"\|"indices"\|"shares":…}}` | the strategy answered; an entry of `shares` can be an error |
//! | `{"id":…,"result":{"name":…,"error":{"kind":…,"text":…}}}` | it refused the input (no name: it could not be made) |
//! | `{"id":…,"result":{"notApplicable":"unsorted"}}` | the lists are not in Java's order and `sortFirst` is not set |
//! | `{"id":…,"line":…,"error":{"kind":…,"text":…}}` | the line is no case; the run goes on |

mod fields;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use evenkeel_core::allocate::{
    Allocate, AllocateError, ByConfig, ConsistentHash, Draft, GoRing, Identity, Input, MachineRoom,
    NameError, Nearby, Room, RoomPrefix, RoomRule, RoomTable, SortedMembers, SortedQueues, named,
};
use evenkeel_core::model::{ClientId, Group, MessageQueue, java_hash};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use fields::{
    CaseFields, DraftParams, Hash, HashedIdentity, ListParams, MemberGenerator, Mode, NearbyParams, NoParams,
    QueueFields, QueueGenerator, Resolver, RingParams, RoomsParams, RoomsRule, Weights,
};

/// How many lines were cases, and how many could not be read as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Cases with a result, be it an error of the strategy.
    pub(crate) answered: u64,
    /// Lines that were no case.
    pub(crate) unreadable: u64,
}

/// Answers every case of `input`. Fails only if reading or writing does.
pub(crate) fn run(mut input: impl BufRead, mut output: impl Write) -> io::Result<Tally> {
    let mut tally = Tally::default();
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let Some(reply) = reply(without_trimmings(&line), number) else {
            continue;
        };
        match reply.get("result") {
            Some(_) => tally.answered += 1,
            None => tally.unreadable += 1,
        }
        writeln!(output, "{reply}")?;
    }
    output.flush()?;
    Ok(tally)
}

/// White space, a byte order mark, and the comma that ends a line inside a vectors file.
fn without_trimmings(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    line.strip_suffix(b",").unwrap_or(line).trim_ascii_end()
}

/// Nothing for blank lines and for what stands around the cases in a vectors file.
fn reply(line: &[u8], number: u64) -> Option<Value> {
    if line.is_empty() {
        return None;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(_) if line == b"\"cases\":[" || line == b"]}" || line.starts_with(b"{\"meta\":") => return None,
        Err(error) => {
            return Some(json!({"line": number, "error": Refusal::new("bad-json", error).as_json()}));
        }
    };
    let id = value.get("id").cloned().unwrap_or(Value::Null);
    Some(match Case::read(value) {
        Ok(case) => json!({"id": id, "result": case.result()}),
        Err(refusal) => json!({"id": id, "line": number, "error": refusal.as_json()}),
    })
}

/// One question, its lists written out.
struct Case {
    strategy: String,
    params: Value,
    /// `None`: each member of the list asks in turn.
    me: Option<ClientId>,
    group: Group,
    queues: Vec<MessageQueue>,
    queues_are_generated: bool,
    members: Vec<ClientId>,
    sort_first: bool,
}

impl Case {
    fn read(value: Value) -> Result<Self, Refusal> {
        let bad = |error| Refusal::new("bad-case", error);
        let asks_alone = value.get("currentCid").is_some();
        let fields: CaseFields = serde_json::from_value(value).map_err(bad)?;
        let alone = fields.mode.map_or(asks_alone, |mode| mode == Mode::Single);
        Ok(Self {
            strategy: fields.strategy,
            params: fields.params,
            me: alone.then(|| ClientId::from(fields.current_cid.unwrap_or_default())),
            group: Group::from(fields.group.unwrap_or_default()),
            queues_are_generated: fields.queues.get("generator").is_some(),
            queues: match fields.queues.get("generator") {
                Some(generator) => typed::<QueueGenerator>(generator).map_err(bad)?.queues()?,
                None => typed::<Option<Vec<QueueFields>>>(&fields.queues)
                    .map_err(bad)?
                    .map_or_else(Vec::new, queues),
            },
            members: match fields.consumers.get("generator") {
                Some(generator) => typed::<MemberGenerator>(generator).map_err(bad)?.members()?,
                None => {
                    let ids =
                        typed::<Option<Vec<String>>>(&fields.consumers).map_err(bad)?.unwrap_or_default();
                    ids.into_iter().map(ClientId::from).collect()
                }
            },
            sort_first: fields.sort_first,
        })
    }

    fn result(&self) -> Value {
        let queues = SortedQueues::new(self.queues.iter().cloned());
        let members = SortedMembers::new(self.members.iter().cloned());
        if !self.sort_first && (*queues != *self.queues || *members != *self.members) {
            return json!({"notApplicable": "unsorted"});
        }
        let strategy = match Chosen::new(&self.strategy, &self.params, &self.members) {
            Ok(Chosen::Rule(rule)) => rule,
            Ok(Chosen::List(listed)) if self.me.is_some() => return javas_answer(listed.as_ref()),
            Ok(Chosen::List(listed)) => Arc::new(listed.unwrap_or_default()),
            Err(refusal) => return json!({"error": refusal.as_json()}),
        };
        let ask = |me: &ClientId| {
            let input = Input { group: &self.group, me, queues: &queues, members: &members, nth: 0 };
            strategy.positions(&input).map_err(Refusal::from)
        };
        let name = strategy.name();
        match self.me.as_ref().map(ask) {
            None if ascending(&*strategy) && members.iter().all(|id| !id.as_str().is_empty()) => {
                match strategy.owners(&self.group, &queues, &members) {
                    Ok(owners) => json!({"name": name, "shares": owners.shares(members.len())}),
                    Err(error) => {
                        let error = json!({"error": Refusal::from(error).as_json()});
                        json!({"name": name, "shares": vec![error; members.len()]})
                    }
                }
            }
            None => {
                let share =
                    |me| ask(me).map_or_else(|refusal| json!({"error": refusal.as_json()}), Value::from);
                json!({"name": name, "shares": members.iter().map(share).collect::<Vec<_>>()})
            }
            Some(Err(refusal)) => json!({"name": name, "error": refusal.as_json()}),
            Some(Ok(share)) if self.queues_are_generated => json!({"name": name, "indices": share}),
            Some(Ok(share)) => {
                let share: Vec<_> =
                    share.into_iter().filter_map(|at| queues.get(at)).map(queue_json).collect();
                json!({"name": name, "queues": share})
            }
        }
    }
}

/// Whether the strategy gives each member its queues in the order of the list, so that all members can be asked at once.
fn ascending(strategy: &dyn Allocate) -> bool {
    let name = strategy.name();
    name != "CONFIG" && !name.starts_with("MACHINE_ROOM")
}

/// Java's CONFIG answers with its list as it stands, or with nothing at all if it has none. Our consumer takes less of
/// it, see [`ByConfig`]; the question here is what the strategy says.
fn javas_answer(listed: Option<&ByConfig>) -> Value {
    let name = ByConfig::default().name().into_owned();
    match listed {
        None => json!({"name": name, "null": true}),
        Some(listed) => {
            json!({"name": name, "queues": listed.listed().iter().map(queue_json).collect::<Vec<_>>()})
        }
    }
}

fn queue_json(queue: &MessageQueue) -> Value {
    json!({"topic": queue.topic.as_str(), "brokerName": queue.broker.as_str(), "queueId": queue.id})
}

/// A strategy with its settings.
enum Chosen {
    Rule(Arc<dyn Allocate>),
    /// CONFIG; `None` if it was never given a list.
    List(Option<ByConfig>),
}

impl Chosen {
    fn new(name: &str, params: &Value, members: &[ClientId]) -> Result<Self, Refusal> {
        let class = name.rsplit('.').next().unwrap_or(name);
        let rule: Arc<dyn Allocate> = match class {
            "AllocateMessageQueueByConfig" | "CONFIG" | "config" => {
                let listed = settings::<ListParams>(params)?.message_queue_list;
                return Ok(Self::List(listed.map(|list| ByConfig::new(queues(list)))));
            }
            "AllocateMessageQueueConsistentHash" | "CONSISTENT_HASH" | "hash" => {
                let RingParams { virtual_node_count, hash } = settings(params)?;
                let points = virtual_node_count.unwrap_or(ConsistentHash::DEFAULT_VIRTUAL_NODES);
                Arc::new(match hash {
                    None => ConsistentHash::new(points)?,
                    Some(Hash::JavaStringHash) => {
                        ConsistentHash::with_hash(points, |text| java_hash(text).into())?
                    }
                })
            }
            "AllocateMessageQueueByMachineRoom" | "MACHINE_ROOM" | "rooms" => Arc::new(
                settings::<RoomsParams>(params)?
                    .consumer_idcs
                    .map_or_else(Default::default, MachineRoom::new),
            ),
            "AllocateMachineRoomNearby" | "MACHINE_ROOM_NEARBY" | "nearby" => {
                let NearbyParams { inner, resolver } = settings(params)?;
                let inner: Arc<dyn Allocate> = match Self::new(&inner.strategy, &inner.params, members)? {
                    Self::Rule(rule) => rule,
                    Self::List(listed) => Arc::new(listed.unwrap_or_default()),
                };
                Arc::new(match resolver {
                    Resolver::BeforeDash => Nearby::new(inner, BEFORE_DASH),
                    Resolver::Map { brokers, consumers } => Nearby::new(inner, table(brokers, consumers)),
                })
            }
            "AVG_BY_DRAFT" | "draft" => Arc::new(draft(settings(params)?, members)?),
            // The Go client's ring, which none of ours is; for comparisons.
            "AllocateByConsistentHash" | "go-crc32" => {
                let points = settings::<RingParams>(params)?.virtual_node_count.unwrap_or(10);
                let points = u16::try_from(points).map_err(|error| Refusal::new("bad-parameter", error))?;
                Arc::new(GoRing { virtual_nodes: points })
            }
            _ => {
                settings::<NoParams>(params)?;
                named(class)?
            }
        };
        Ok(Self::Rule(rule))
    }
}

const BEFORE_DASH: RoomPrefix = RoomPrefix { separator: '-' };

fn table(
    brokers: BTreeMap<String, Option<String>>,
    consumers: BTreeMap<String, Option<String>>,
) -> RoomTable {
    RoomTable { brokers: rooms(brokers), members: rooms(consumers) }
}

/// AVG_BY_DRAFT with its settings; weights may stand in the order of the case's members.
fn draft(params: DraftParams, members: &[ClientId]) -> Result<Draft, Refusal> {
    let mut draft = Draft::default().with_slack(params.slack);
    if let Some(HashedIdentity::Host) = params.identity {
        draft = draft.with_identity(Identity::Host);
    }
    if let Some(weights) = params.weights {
        let weights: BTreeMap<ClientId, u32> = match weights {
            Weights::ById(weights) => {
                weights.into_iter().map(|(id, weight)| (ClientId::from(id), weight)).collect()
            }
            Weights::InOrder(weights) if weights.len() == members.len() => {
                members.iter().cloned().zip(weights).collect()
            }
            Weights::InOrder(weights) => {
                let text = format!("{} weights for {} members", weights.len(), members.len());
                return Err(Refusal::new("bad-parameter", text));
            }
        };
        draft = draft.with_weights(move |id| weights.get(id).copied().unwrap_or(1));
    }
    let Some(rule) = params.rooms else {
        return Ok(draft);
    };
    let rule = match rule {
        RoomsRule::Strict => RoomRule::Strict,
        RoomsRule::BalanceFirst => RoomRule::BalanceFirst,
    };
    Ok(match params.resolver {
        Some(Resolver::Map { brokers, consumers }) => draft.with_rooms(rule, table(brokers, consumers)),
        Some(Resolver::BeforeDash) | None => draft.with_rooms(rule, BEFORE_DASH),
    })
}

/// `params` that are absent are those that set nothing.
fn settings<T: DeserializeOwned>(params: &Value) -> Result<T, Refusal> {
    let params = if params.is_null() { &json!({}) } else { params };
    typed(params).map_err(|error| Refusal::new("bad-parameter", error))
}

fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, serde_json::Error> {
    T::deserialize(value)
}

fn rooms<Name: Ord + From<String>>(table: BTreeMap<String, Option<String>>) -> BTreeMap<Name, Room> {
    table.into_iter().filter_map(|(name, room)| Some((Name::from(name), Room::from(room?)))).collect()
}

fn queues(list: Vec<QueueFields>) -> Vec<MessageQueue> {
    list.into_iter().map(|queue| MessageQueue::new(queue.topic, queue.broker_name, queue.queue_id)).collect()
}

/// What cannot be done, in the shape that goes out.
struct Refusal {
    kind: &'static str,
    text: String,
}

impl Refusal {
    fn new(kind: &'static str, text: impl ToString) -> Self {
        Self { kind, text: text.to_string() }
    }

    fn as_json(&self) -> Value {
        json!({"kind": self.kind, "text": self.text})
    }
}

impl From<AllocateError> for Refusal {
    fn from(error: AllocateError) -> Self {
        Self::new(error.kind(), error)
    }
}

impl From<NameError> for Refusal {
    fn from(error: NameError) -> Self {
        Self::new(error.kind(), error)
    }
}
