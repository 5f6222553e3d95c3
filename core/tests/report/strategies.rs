//! Strategies as users write them.

use evenkeel_core::allocate::{Allocate as _, Input, SortedMembers, SortedQueues};
use evenkeel_core::model::{ClientId, Group};
use evenkeel_core::plan::Code;
use evenkeel_core::report::{
    ErrorCode, Options, PlanReport, QueueRef, Snapshot, Strategies, Strategy, allocate, allocate_for, plan,
};

use crate::groups::{group, pay_worker, short, topic};

fn strategy(json: &str) -> Strategy {
    serde_json::from_str(json).expect(json)
}

#[test]
fn every_strategy_is_read_built_and_written() {
    for json in [
        r#"{"name":"AVG"}"#,
        r#"{"name":"AVG_BY_CIRCLE"}"#,
        r#"{"name":"CONSISTENT_HASH"}"#,
        r#"{"name":"CONSISTENT_HASH","virtualNodes":20,"hash":"go-crc32"}"#,
        r#"{"name":"MACHINE_ROOM","rooms":["hz","sh"]}"#,
        r#"{"name":"MACHINE_ROOM_NEARBY","inner":{"name":"AVG"},"roomOf":{"separator":"-"}}"#,
        r#"{"name":"MACHINE_ROOM_NEARBY","inner":{"name":"AVG"},"roomOf":{"brokers":{"a":"hz"},"consumers":{"c":"hz"}}}"#,
        r#"{"name":"CONFIG","queues":{"c1":[{"topic":"T","broker":"b","id":0}]}}"#,
        r#"{"name":"AVG_BY_DRAFT"}"#,
        r#"{"name":"AVG_BY_DRAFT","slack":1,"identity":"host","weights":{"c1":2}}"#,
        r#"{"name":"AVG_BY_DRAFT","rooms":{"rule":"balanceFirst","roomOf":{"separator":"-"}}}"#,
    ] {
        let strategy = strategy(json);
        assert!(strategy.build().unwrap().name().starts_with(strategy.name()), "{json}");
        assert_eq!(serde_json::to_string(&strategy).unwrap(), json);
    }
    assert_eq!(strategy(r#""hash:20""#), strategy(r#"{"name":"CONSISTENT_HASH","virtualNodes":20}"#));
    assert_eq!(strategy(r#""AllocateMessageQueueAveragely""#), Strategy::Avg {});
}

#[test]
fn what_is_not_understood_is_refused_with_a_hint() {
    for (json, hint) in [
        (r#"{"name":"STICKY"}"#, "unknown variant `STICKY`, expected one of `AVG`, `AVG_BY_CIRCLE`"),
        (r#"{"name":"AVG","virtualNodes":3}"#, "unknown field `virtualNodes`"),
        (
            r#"{"name":"CONSISTENT_HASH","vnodes":3}"#,
            "unknown field `vnodes`, expected one of `name`, `virtualNodes`",
        ),
        (r#"{"name":"CONSISTENT_HASH","hash":"md5"}"#, "expected `java-md5` or `go-crc32`"),
        (r#"{"name":"CONSISTENT_HASH","virtualNodes":-1}"#, "expected u16"),
        (r#"{"name":"MACHINE_ROOM"}"#, "missing field `rooms`"),
        (
            r#"{"name":"MACHINE_ROOM","rooms":{"rule":"strict","roomOf":{"separator":"@"}}}"#,
            "expected a list of rooms",
        ),
        (r#"{"name":"AVG_BY_DRAFT","rooms":["room1"]}"#, "expected a rule and who stands where"),
        (r#""MACHINE_ROOM""#, "needs the rooms to consume from"),
        (r#"{"virtualNodes":3}"#, "missing field `name`"),
        ("7", "a strategy: its name, or an object"),
    ] {
        let error = serde_json::from_str::<Strategy>(json).unwrap_err().to_string();
        assert!(error.contains(hint), "{json}: {error}");
    }
}

#[test]
fn settings_that_do_not_fit_name_the_field() {
    for (json, text) in [
        (r#"{"name":"CONSISTENT_HASH","virtualNodes":0}"#, "virtualNodes: 0 virtual nodes"),
        (r#"{"name":"MACHINE_ROOM","rooms":["hz",""]}"#, "rooms[1]: is empty"),
        (r#"{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{}}"#, "roomOf: is empty"),
        (
            r#"{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"brokers":{}}}"#,
            "roomOf: lacks the table consumers",
        ),
        (
            r#"{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"brokers":{},"separator":"-"}}"#,
            "roomOf: has tables and a separator",
        ),
        (
            r#"{"name":"MACHINE_ROOM_NEARBY","inner":{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"separator":"-"}},"roomOf":{"separator":"-"}}"#,
            "inner: MACHINE_ROOM_NEARBY cannot be inside itself",
        ),
        (
            r#"{"name":"CONFIG","queues":{"c1":[{"topic":"T","broker":"b","id":-1}]}}"#,
            "[0].id: -1 is negative",
        ),
    ] {
        let error = strategy(json).build().unwrap_err();
        assert_eq!(error.code, ErrorCode::BadStrategy, "{json}");
        assert!(error.to_string().contains(text), "{json}: {error}");
    }
}

#[test]
fn lists_of_a_whole_group_are_each_their_members() {
    let mut group = group(vec![topic("T", &[("b", 4)])], &["c1", "c2"]);
    let lists = r#"{"name":"CONFIG","queues":{
        "c1":[{"topic":"T","broker":"b","id":0},{"topic":"T","broker":"b","id":1}],
        "c2":[{"topic":"T","broker":"b","id":1},{"topic":"U","broker":"b","id":3}]}}"#;
    group.strategy = Some(strategy(lists));
    let allocation = allocate(&group, None).unwrap();
    let share = |id: &str| allocation.by_consumer[&ClientId::from(id)].iter().map(short).collect::<Vec<_>>();
    assert_eq!((share("c1"), share("c2")), (vec!["b/0".into(), "b/1".into()], vec!["b/1".to_string()]));
    assert_eq!((allocation.stats.orphaned.len(), allocation.stats.doubled.len()), (2, 1));
    let report = evenkeel_core::report::verify(&group).unwrap();
    let lists = report.findings.iter().find(|finding| finding.code == Code::R109).unwrap();
    assert_eq!(lists.effect.as_deref(), Some("1 queues have several owners, 2 have none"));
    assert!(!report.healthy);
}

#[test]
fn lists_that_every_consumer_told_are_the_running_strategy() {
    let mut group = group(vec![topic("T", &[("b", 3)])], &["c1", "c2"]);
    for (consumer, ids) in group.consumers.iter_mut().zip([vec![0, 2], vec![1]]) {
        consumer.listed = Some(ids.into_iter().map(|id| QueueRef::new("T", "b", id)).collect());
    }
    let report = evenkeel_core::report::verify(&group).unwrap();
    assert_eq!((report.healthy, report.strategy.as_str()), (true, "CONFIG"));
    assert_eq!(report.consumers.iter().map(|one| one.expected).collect::<Vec<_>>(), [Some(2), Some(1)]);
    let planned =
        plan(&group, &[crate::groups::change(r#"{"kind":"add","count":1}"#)], &Options::default()).unwrap();
    assert_eq!((planned.results[0].strategy.as_str(), planned.results[0].running), ("CONFIG", true));
    assert_eq!((planned.results[0].moved.max, planned.results[0].per_consumer.idle.len()), (0, 1));
    assert_eq!(planned.results[0].per_consumer.idle[0].as_str(), "(new)");
}

#[test]
fn known_settings_go_before_the_defaults() {
    let ring = strategy(r#"{"name":"CONSISTENT_HASH","virtualNodes":40}"#);
    let rooms = strategy(r#"{"name":"MACHINE_ROOM","rooms":["hz"]}"#);
    let mut group = pay_worker();
    let planned = |group: &Snapshot, strategies, settings: &[Strategy]| {
        let options = Options { strategies, settings: settings.to_vec(), ..Options::default() };
        plan(group, &[], &options).unwrap()
    };
    let names = |report: &PlanReport| {
        report.results.iter().map(|one| (one.strategy.clone(), one.running)).collect::<Vec<_>>()
    };
    let of = |name: &str, running| (name.to_owned(), running);
    let both = [rooms.clone(), ring.clone()];

    let report = planned(&group, Strategies::All, &both);
    let all = ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "AVG_BY_DRAFT", "MACHINE_ROOM"];
    assert_eq!(names(&report), all.map(|name| of(name, false)));
    assert_eq!(report.results[2].settings, Some(ring.clone()));
    let skipped: Vec<&str> = report.skipped.iter().map(|one| one.strategy.as_str()).collect();
    assert_eq!(skipped, ["MACHINE_ROOM_NEARBY", "CONFIG"]);
    let report = planned(&group, Strategies::These(vec![Strategy::consistent_hash()]), &both);
    assert_eq!(
        names(&report),
        [of("CONSISTENT_HASH", false)],
        "what is asked for is tried, and nothing else"
    );
    assert_eq!(report.results[0].settings, None);

    // Consumers tell the name of what they run, and not its settings.
    for consumer in &mut group.consumers {
        consumer.strategy = Some("AllocateMessageQueueByMachineRoom".into());
    }
    let report = planned(&group, Strategies::All, &[]);
    assert!(report.warnings.iter().any(|found| found.code == Code::R205));
    let report = planned(&group, Strategies::All, &both);
    assert!(report.warnings.iter().all(|found| found.code != Code::R205));
    assert_eq!(names(&report)[0], of("MACHINE_ROOM", true));

    // What the snapshot says counts more than what is known besides, which is still tried.
    group.strategy = Some(strategy(r#""hash:20""#));
    let report = planned(&group, Strategies::All, &both);
    let rings: Vec<_> = report.results.iter().filter(|one| one.strategy == "CONSISTENT_HASH").collect();
    assert_eq!(rings.iter().map(|one| one.running).collect::<Vec<_>>(), [true, false]);
    assert_eq!(rings[1].settings, Some(ring));
}

#[test]
fn a_missing_room_is_a_finding_of_a_plan_and_an_error_of_an_allocation() {
    let nearby = strategy(
        r#"{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"brokers":{"broker-a":"hz"},"consumers":{}}}"#,
    );
    let error = allocate(&pay_worker(), Some(&nearby)).unwrap_err();
    assert_eq!(error.code, ErrorCode::NoRoom);
    let options =
        Options { strategies: Strategies::These(vec![nearby, Strategy::Avg {}]), ..Options::default() };
    let report = plan(&pay_worker(), &[], &options).unwrap();
    assert_eq!((report.results.len(), report.skipped.len()), (1, 1));
    assert_eq!(report.warnings[0].code, Code::R204);
}

#[test]
fn one_consumer_is_told_what_the_group_is_told() {
    let mut group = pay_worker();
    group.topics.push(topic("refunds", &[("broker-a", 5)]));
    let ids: Vec<ClientId> = group.consumers.iter().map(|consumer| consumer.id.clone()).collect();
    let queues: Vec<QueueRef> = (0..8)
        .flat_map(|id| [QueueRef::new("orders", "broker-b", id), QueueRef::new("orders", "broker-a", id)])
        .chain((0..5).map(|id| QueueRef::new("refunds", "broker-a", id)))
        .collect();
    for strategy in ["avg", "circle", "hash", "hash:3", "draft"].map(|name| name.parse::<Strategy>().unwrap())
    {
        let all = allocate(&group, Some(&strategy)).unwrap();
        for id in &ids {
            let mut mine = allocate_for(id, &queues, &ids, &strategy, group.group.as_ref()).unwrap();
            mine.sort();
            assert_eq!(mine, all.by_consumer[id], "{strategy:?} {id}");
        }
    }
    let stranger = ClientId::from("zz");
    assert_eq!(allocate_for(&stranger, &queues, &ids, &Strategy::Avg {}, None).unwrap(), []);
    let empty = allocate_for(&stranger, &[], &ids, &Strategy::Avg {}, None).unwrap_err();
    assert_eq!(empty.code, ErrorCode::EmptyQueues);
    let empty = allocate_for(&stranger, &queues, &[], &Strategy::Avg {}, None).unwrap_err();
    assert_eq!(empty.code, ErrorCode::EmptyConsumers);
}

#[test]
fn strategies_that_need_more_than_the_snapshot_says_are_named() {
    let report = plan(&pay_worker(), &[], &Options::default()).unwrap();
    let skipped: Vec<&str> = report.skipped.iter().map(|skipped| skipped.strategy.as_str()).collect();
    assert_eq!(skipped, ["MACHINE_ROOM", "MACHINE_ROOM_NEARBY", "CONFIG"]);
    let mut group = pay_worker();
    for consumer in &mut group.consumers {
        consumer.strategy = Some("com.example.Sticky".into());
    }
    let report = plan(&group, &[], &Options { max_moves: Some(100), ..Options::default() }).unwrap();
    assert_eq!(report.warnings[0].code, Code::R205);
    assert!(!report.limits.unwrap().passed, "it cannot be told");
    assert!(report.results.iter().all(|result| !result.running));
}

#[test]
fn lists_follow_their_group() {
    let lists = strategy(r#"{"name":"CONFIG","queues":{"c1":[{"topic":"T","broker":"b","id":1}]}}"#);
    let queues = SortedQueues::new((0..3).map(|id| QueueRef::new("T", "b", id)));
    let (members, group) = (SortedMembers::new(["c1", "c2"].map(ClientId::from)), Group::from("g"));
    let rule = lists.build().unwrap();
    let all = rule.owners(&group, &queues, &members).unwrap();
    for (place, me) in members.iter().enumerate() {
        let mine =
            rule.positions(&Input { group: &group, me, queues: &queues, members: &members, nth: 0 }).unwrap();
        assert_eq!(mine, all.share(place));
    }
}
