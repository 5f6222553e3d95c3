//! Every case of `tests/golden/allocate-*.json`: the answers of the Java classes themselves.
//!
//! A case whose lists are not in Java's order, and that does not ask for them to be sorted, cannot be put to these
//! strategies: their input types sort. Such cases are named and counted, exactly.

use std::collections::BTreeMap;

use evenkeel_core::allocate::{
    Allocate, AllocateError, Average, ByConfig, Circle, ConsistentHash, Input, MachineRoom, Nearby, Owners,
    Room, RoomPrefix, RoomTable, SortedMembers, SortedQueues,
};
use evenkeel_core::model::{ClientId, Group, MessageQueue, java_hash};
use serde_json::{Value, json};

#[test]
fn average() {
    check(include_str!("../../../tests/golden/allocate-averagely.json"), 120, 73);
}

#[test]
fn circle() {
    check(include_str!("../../../tests/golden/allocate-averagely-by-circle.json"), 115, 78);
}

#[test]
fn consistent_hash() {
    check(include_str!("../../../tests/golden/allocate-consistent-hash.json"), 61, 29);
}

#[test]
fn machine_room() {
    check(include_str!("../../../tests/golden/allocate-machine-room.json"), 30, 38);
}

#[test]
fn nearby() {
    check(include_str!("../../../tests/golden/allocate-machine-room-nearby.json"), 41, 43);
}

#[test]
fn by_config() {
    check(include_str!("../../../tests/golden/allocate-by-config.json"), 18, 1);
}

#[track_caller]
fn check(file: &str, answered: usize, unsorted: usize) {
    let file: Value = serde_json::from_str(file).expect("a vectors file is JSON");
    let (mut right, mut not_applicable, mut wrong) = (0, Vec::new(), Vec::new());
    for case in file["cases"].as_array().expect("a vectors file has cases") {
        let (id, expected) = (case["id"].as_str().expect("a case has an id"), in_our_terms(&case["expect"]));
        match answer(case) {
            None => not_applicable.push(id),
            Some(answer) if answer == expected => right += 1,
            Some(answer) => wrong.push(format!("{id}: {answer} is not {expected}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("not applicable, unsorted: {}", not_applicable.join(" "));
    assert_eq!((right, not_applicable.len()), (answered, unsorted), "unsorted: {not_applicable:?}");
}

/// Java's answer with our kinds of error, and with nothing for `null`.
fn in_our_terms(expected: &Value) -> Value {
    let mut expected = expected.clone();
    if expected["null"] == true {
        return json!({"name": expected["name"], "queues": []});
    }
    if let Some(error) = expected.get_mut("error") {
        *error = json!(kind_of(error));
    }
    for share in expected.get_mut("shares").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(error) = share.get_mut("error") {
            *error = json!(kind_of(error));
        }
    }
    expected
}

/// Which of our errors one of Java's is.
fn kind_of(error: &Value) -> &'static str {
    match error["message"].as_str() {
        Some("currentCID is empty") => "no-client-id",
        Some("mqAll is null or mqAll empty") => "no-queues",
        Some("cidAll is null or cidAll empty") => "no-members",
        Some(text) if text.starts_with("Machine room is null for ") => "no-room",
        Some(text) if text.starts_with("illegal virtualNodeCnt") => "bad-parameter",
        None if error["kind"] == "null" => "rooms-not-set",
        other => panic!("an error without a counterpart: {other:?}"),
    }
}

/// Our answer in the shape of `expect`, or nothing if the lists are not in Java's order.
fn answer(case: &Value) -> Option<Value> {
    let (given_queues, given_members) = (queues_of(&case["queues"]), members_of(&case["consumers"]));
    let queues = SortedQueues::new(given_queues.clone());
    let members = SortedMembers::new(given_members.clone());
    if case["sortFirst"] != true && (*queues != *given_queues || *members != *given_members) {
        return None;
    }
    let strategy = match strategy_of(case) {
        Ok(strategy) => strategy,
        Err(error) => return Some(json!({"error": error.kind()})),
    };
    let group = Group::from(case["group"].as_str().unwrap_or_default());
    assert_eq!(
        strategy.owners(&group, &queues, &members),
        asked_in_turn(&*strategy, &group, &queues, &members),
        "{}",
        case["id"]
    );
    let ask = |me: &ClientId| {
        let input = Input { group: &group, me, queues: &queues, members: &members, nth: 0 };
        strategy.positions(&input)
    };
    if case["mode"] == "group" {
        let share = |me| ask(me).map_or_else(|error| json!({"error": error.kind()}), |share| json!(share));
        return Some(
            json!({"name": strategy.name(), "shares": members.iter().map(share).collect::<Vec<_>>()}),
        );
    }
    if case["strategy"] == "AllocateMessageQueueByConfig" {
        return Some(
            json!({"name": strategy.name(), "queues": listed(case).listed().iter().map(as_json).collect::<Vec<_>>()}),
        );
    }
    let me = ClientId::from(case["currentCid"].as_str().unwrap_or_default());
    Some(match ask(&me) {
        Err(error) => json!({"name": strategy.name(), "error": error.kind()}),
        Ok(share) => {
            let share: Vec<_> = share.into_iter().map(|at| as_json(&queues[at])).collect();
            json!({"name": strategy.name(), "queues": share})
        }
    })
}

/// What all members answer, one after the other.
fn asked_in_turn(
    strategy: &dyn Allocate,
    group: &Group,
    queues: &SortedQueues,
    members: &SortedMembers,
) -> Result<Owners, AllocateError> {
    let mut owners = Owners::nobody(queues.len());
    for (place, me) in members.iter().enumerate().filter(|(_, me)| !me.as_str().is_empty()) {
        for queue in strategy.positions(&Input { group, me, queues, members, nth: 0 })? {
            owners.give(queue, place)?;
        }
    }
    Ok(owners)
}

fn strategy_of(case: &Value) -> Result<Box<dyn Allocate>, AllocateError> {
    let params = &case["params"];
    let texts = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.map(|text| text.as_str().expect("a room is a text").to_owned()).collect()
    };
    Ok(match case["strategy"].as_str().expect("a strategy has a name") {
        "AllocateMessageQueueAveragely" => Box::new(Average),
        "AllocateMessageQueueAveragelyByCircle" => Box::new(Circle),
        "AllocateMessageQueueByConfig" => Box::new(listed(case)),
        "AllocateMessageQueueConsistentHash" => {
            let points = params["virtualNodeCount"].as_i64().unwrap_or(10);
            let points = i32::try_from(points).expect("a count of points is small");
            match params["hash"].as_str() {
                None => Box::new(ConsistentHash::new(points)?),
                Some("java-string-hash") => {
                    Box::new(ConsistentHash::with_hash(points, |text| java_hash(text).into())?)
                }
                Some(other) => panic!("unknown hash {other}"),
            }
        }
        "AllocateMessageQueueByMachineRoom" => match &params["consumerIdcs"] {
            Value::Null => Box::new(MachineRoom::default()),
            rooms => Box::new(MachineRoom::new(texts(rooms))),
        },
        "AllocateMachineRoomNearby" => {
            let inner: std::sync::Arc<dyn Allocate> = strategy_of(&params["inner"])?.into();
            let resolver = &params["resolver"];
            match resolver["rule"].as_str() {
                Some("before-dash") => Box::new(Nearby::new(inner, RoomPrefix { separator: '-' })),
                Some("map") => Box::new(Nearby::new(
                    inner,
                    RoomTable {
                        brokers: rooms_of(&resolver["brokers"]),
                        members: rooms_of(&resolver["consumers"]),
                    },
                )),
                other => panic!("unknown rule {other:?}"),
            }
        }
        other => panic!("unknown strategy {other}"),
    })
}

fn rooms_of<Name: Ord + for<'a> From<&'a str>>(table: &Value) -> BTreeMap<Name, Room> {
    let table = table.as_object().expect("a resolver has tables");
    table
        .iter()
        .map(|(name, room)| (Name::from(name.as_str()), Room::from(room.as_str().unwrap_or_default())))
        .collect()
}

fn listed(case: &Value) -> ByConfig {
    ByConfig::new(queues_of(&case["params"]["messageQueueList"]))
}

fn queues_of(list: &Value) -> Vec<MessageQueue> {
    let number = |value: &Value| value.as_i64().expect("a number");
    if let Some(generator) = list.get("generator") {
        let topic = generator["topic"].as_str().expect("a topic");
        let brokers = generator["brokers"].as_array().expect("brokers");
        let base: Vec<MessageQueue> = brokers
            .iter()
            .map(|broker| broker.as_str().expect("a broker"))
            .flat_map(|broker| {
                (0..number(&generator["perBroker"]))
                    .map(move |id| MessageQueue::new(topic, broker, id as i32))
            })
            .collect();
        let Some(permute) = generator.get("permute") else {
            return base;
        };
        let (stride, offset) = (number(&permute["stride"]) as usize, number(&permute["offset"]) as usize);
        return (0..base.len()).map(|k| base[(k * stride + offset) % base.len()].clone()).collect();
    }
    let entries = list.as_array().into_iter().flatten();
    entries
        .map(|queue| {
            MessageQueue::new(
                queue["topic"].as_str().expect("a topic"),
                queue["brokerName"].as_str().expect("a broker"),
                number(&queue["queueId"]) as i32,
            )
        })
        .collect()
}

fn members_of(list: &Value) -> Vec<ClientId> {
    if let Some(generator) = list.get("generator") {
        let number = |name: &str| generator[name].as_i64().expect("a number");
        let text = |name: &str| generator[name].as_str().expect("a text");
        return (0..number("count"))
            .map(|i| ClientId::from(format!("{}{}{}", text("prefix"), number("from") + i, text("suffix"))))
            .collect();
    }
    let entries = list.as_array().into_iter().flatten();
    entries.map(|id| ClientId::from(id.as_str().unwrap_or_default())).collect()
}

fn as_json(queue: &MessageQueue) -> Value {
    json!({"topic": queue.topic.as_str(), "brokerName": queue.broker.as_str(), "queueId": queue.id})
}
