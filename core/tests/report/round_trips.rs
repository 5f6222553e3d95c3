//! From JSON to plans and back.

use std::collections::BTreeMap;

use evenkeel_core::model::{ClientId, Group, MessageQueue};
use evenkeel_core::plan::{self, BrokerQueues, MemberSeen};
use evenkeel_core::report::{Load, Snapshot, Strategy};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::strategy::Strategy as _;

fn name() -> impl proptest::strategy::Strategy<Value = String> {
    proptest::string::string_regex("[a-zA-Z0-9%@#._ é😀\u{e000}-]{1,12}").expect("a pattern")
}

fn queue() -> impl proptest::strategy::Strategy<Value = MessageQueue> {
    (name(), name(), 0..i32::MAX).prop_map(|(topic, broker, id)| MessageQueue::new(topic, broker, id))
}

fn queues() -> impl proptest::strategy::Strategy<Value = Vec<MessageQueue>> {
    vec(queue(), 0..5).prop_map(|mut queues| {
        queues.sort();
        queues.dedup();
        queues
    })
}

fn member(asked: bool) -> impl proptest::strategy::Strategy<Value = MemberSeen> {
    let owned = if asked { option::of(queues()).boxed() } else { Just(None).boxed() };
    let texts = (option::of(name()), option::of(name()), option::of(name()), option::of(name()));
    (name(), texts, option::of(btree_map(name(), name(), 0..4)), owned, option::of(vec(queue(), 0..4)))
        .prop_map(|(id, (address, language, version, strategy), subscriptions, owned, listed)| MemberSeen {
            address,
            language,
            version,
            strategy,
            subscriptions: subscriptions
                .map(|all| all.into_iter().map(|(topic, text)| (topic.into(), text)).collect()),
            owned,
            listed,
            ..MemberSeen::new(id)
        })
}

prop_compose! {
    fn group()(asked in any::<bool>())(
        group in option::of(name()),
        topics in btree_map(name(), btree_map(name(), (0_u32..1000, any::<bool>()), 0..4), 0..4),
        mut members in vec(member(asked), 0..6),
    ) -> plan::Snapshot {
        // One answer speaks for all processes of an id, as it does when brokers are asked.
        members.sort_by(|a, b| a.id.cmp(&b.id));
        for at in 1..members.len() {
            if members[at].id == members[at - 1].id {
                members[at].owned = members[at - 1].owned.clone();
            }
        }
        let queues = |(read, readable)| BrokerQueues { read, readable };
        plan::Snapshot {
            group: Group::from(group.unwrap_or_default()),
            topics: topics
                .into_iter()
                .map(|(topic, on)| {
                    (topic.into(), on.into_iter().map(|(broker, of)| (broker.into(), queues(of))).collect())
                })
                .collect(),
            members,
            strategy: None,
        }
    }
}

proptest! {
    #[test]
    fn a_group_survives_json(group in group()) {
        let written = Snapshot::of(&group, Some(Strategy::AvgByCircle {}));
        let text = serde_json::to_string(&written).unwrap();
        let read: Snapshot = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &written);
        let back = plan::Snapshot::try_from(&read).unwrap();
        prop_assert_eq!(&back.group, &group.group);
        prop_assert_eq!(&back.topics, &group.topics);
        prop_assert_eq!(&back.members, &group.members);
        let strategy = back.strategy.unwrap();
        prop_assert_eq!(strategy.name(), "AVG_BY_CIRCLE");
        prop_assert_eq!(Snapshot::of(&plan::Snapshot::try_from(&read).unwrap(), read.strategy.clone()), read);
    }

    #[test]
    fn loads_survive_json(lag in option::of(0..i64::MAX), tps in option::of(0_u32..1_000_000), queue in queue()) {
        let load = Load { queue, lag, tps: tps.map(|quarters| f64::from(quarters) / 4.0) };
        let text = serde_json::to_string(&load).unwrap();
        prop_assert_eq!(serde_json::from_str::<Load>(&text).unwrap(), load);
    }
}

#[test]
fn what_an_id_owns_goes_to_its_first_processes() {
    let mut seen = BTreeMap::new();
    seen.insert("b".into(), BrokerQueues { read: 2, readable: true });
    let queue = |id| MessageQueue::new("T", "b", id);
    let member = |owned: Vec<MessageQueue>| MemberSeen { owned: Some(owned), ..MemberSeen::new("x") };
    let group = plan::Snapshot {
        group: "g".into(),
        topics: [("T".into(), seen)].into(),
        members: vec![member(vec![queue(0), queue(1)]), member(vec![queue(1)])],
        strategy: None,
    };
    let written = Snapshot::of(&group, None);
    let owners: Vec<usize> = written.owned.iter().flatten().map(|entry| entry.owners.len()).collect();
    assert_eq!(owners, [1, 2]);
    assert_eq!(plan::Snapshot::try_from(&written).unwrap().members, group.members);
    assert_eq!(written.consumers[0].id, ClientId::from("x"));
}
