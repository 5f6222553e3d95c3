//! What is found is said in both languages: every code, from groups made sick on purpose.

use std::collections::BTreeSet;

use evenkeel_core::plan::{Code, EXPLANATIONS};
use evenkeel_core::report::{
    BrokerSeen, Error, Finding, Language, Options, Owned, QueueRef, Sharing, Snapshot, Strategies, Strategy,
    allocate, link, plan, verify_in,
};

use crate::groups::{change, group, pay_worker, topic};
use crate::translations::{self, is_chinese};

/// Every finding there is, each code at least once.
fn findings(language: Language) -> Vec<Finding> {
    let mut all = Vec::new();
    for snapshot in sick_groups() {
        all.extend(verify_in(&snapshot, language).expect("a sound snapshot").findings);
    }
    let hash = Strategies::These(vec![Strategy::consistent_hash()]);
    let roomless = r#"{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"brokers":{},"consumers":{}}}"#;
    let roomless: Strategy = serde_json::from_str(roomless).expect("a strategy");
    let redacted = Snapshot { redacted: true, ..pay_worker() };
    for (snapshot, what, strategies, max_skew) in [
        (pay_worker(), r#"{"kind":"add","count":20}"#, Strategies::All, None),
        (redacted, r#"{"kind":"add","ids":["c9"]}"#, hash, Some(0)),
        (pay_worker(), r#"{"kind":"add","ids":["c9"]}"#, Strategies::These(vec![roomless]), None),
    ] {
        let (max_moves, samples) = (Some(0), Some(2));
        let options = Options { strategies, max_moves, max_skew, samples, language, ..Options::default() };
        all.extend(plan(&snapshot, &[change(what)], &options).expect("a sound plan").warnings);
    }
    all
}

fn sick_groups() -> Vec<Snapshot> {
    let four = || group(vec![topic("T", &[("b", 8)])], &["c1", "c2", "c3", "c4"]);
    let many = |topics: usize, queues, ids: &[&str]| {
        group((0..topics).map(|at| topic(&format!("T{at}"), &[("b", queues)])).collect(), ids)
    };
    let owned = |id, owners: &[&str]| Owned {
        queue: QueueRef::new("T", "b", id),
        owners: owners.iter().map(|&owner| owner.into()).collect(),
    };

    let mut same_id = group(vec![topic("T", &[("b", 16)])], &["c1", "c1", "c2", "c2"]);
    for (at, consumer) in same_id.consumers.iter_mut().enumerate() {
        consumer.address = Some(format!("10.0.0.{at}:5"));
    }
    let mut owners = four();
    owners.owned = Some(vec![owned(0, &["c1", "c2"]), owned(1, &["c1"])]);
    owners.consumers[3].answered = Some(false);
    let mut mixed = four();
    let mut go = four();
    for (at, consumer) in mixed.consumers.iter_mut().enumerate() {
        consumer.strategy = Some(if at == 2 { "AVG_BY_CIRCLE" } else { "AVG" }.into());
        let expression = if at == 0 { "a" } else { "a || b" };
        let mut topics = vec![("T".into(), expression.into())];
        topics.extend((at == 1).then(|| ("U".into(), "*".into())));
        consumer.subscriptions = Some(topics.into_iter().collect());
    }
    for (at, consumer) in go.consumers.iter_mut().enumerate() {
        consumer.strategy = Some("CONSISTENT_HASH".into());
        consumer.language = Some(if at == 2 { "GO" } else { "JAVA" }.into());
    }
    let mut unlike = four();
    let mut own = four();
    own.consumers.iter_mut().for_each(|consumer| consumer.strategy = Some("com.example.Mine".into()));
    unlike.consumers[0].strategy = Some("com.example.Mine".into());
    unlike.consumers[1].strategy = Some("AVG".into());
    let mut lists = four();
    lists.strategy = serde_json::from_str(r#"{"name":"CONFIG","queues":{"c1":[]}}"#).ok();
    let mut listed = four();
    for consumer in &mut listed.consumers {
        consumer.listed = Some(vec![QueueRef::new("T", "b", 1)]);
    }
    let mut rooms = four();
    rooms.topics[0].brokers.push(BrokerSeen { broker: "x".into(), read_queues: 1, readable: true });
    rooms.strategy = serde_json::from_str(
        r#"{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"brokers":{"b":"r"},"consumers":{"c1":"r"}}}"#,
    )
    .ok();
    vec![
        same_id,
        owners,
        mixed,
        go,
        unlike,
        own,
        lists,
        listed,
        rooms,
        many(1, 2, &["c1", "c2", "c3"]),
        many(20, 4, &["c1", "c2", "c3", "c4", "c5", "c6"]),
        many(20, 5, &["c1", "c2"]),
        many(20, 7, &["c1", "c2", "c3"]),
    ]
}

/// Refusals, of each kind that a person can run into.
fn errors() -> Vec<Error> {
    let mut all = Vec::new();
    let mut keep = |error: Option<Error>| all.push(error.expect("to be refused"));
    for what in [
        r#"{"kind":"add"}"#,
        r#"{"kind":"add","count":1,"ids":["a"]}"#,
        r#"{"kind":"add","count":-1}"#,
        r#"{"kind":"add","count":1001}"#,
        r#"{"kind":"add","count":9000000}"#,
        r#"{"kind":"add","ids":[""]}"#,
        r#"{"kind":"add","ids":["10.0.3.11@7#812"]}"#,
        r#"{"kind":"remove","ids":["stranger"]}"#,
        r#"{"kind":"remove","count":9}"#,
        r#"{"kind":"queues","topic":"orders","broker":"broker-a","readQueues":-1}"#,
        r#"{"kind":"queues","topic":"orders","broker":"broker-a","readQueues":90000000}"#,
        r#"{"kind":"dropBroker","broker":"x"}"#,
        r#"{"kind":"permissionLost","topic":"x","broker":"broker-a"}"#,
        r#"{"kind":"roll","ids":["a"]}"#,
    ] {
        keep(plan(&pay_worker(), &[change(what)], &Options::default()).err());
    }
    let samples = Options { samples: Some(20_000), ..Options::default() };
    keep(plan(&pay_worker(), &[], &samples).err());
    for strategy in [
        r#"{"name":"CONSISTENT_HASH","virtualNodes":0}"#,
        r#"{"name":"MACHINE_ROOM","rooms":[""]}"#,
        r#"{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{}}"#,
        r#"{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"brokers":{}}}"#,
        r#"{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"brokers":{},"separator":"-"}}"#,
        r#"{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"brokers":{},"consumers":{}}}"#,
        r#"{"name":"MACHINE_ROOM_NEARBY","inner":{"name":"MACHINE_ROOM_NEARBY","inner":"AVG","roomOf":{"separator":"-"}},"roomOf":{"separator":"-"}}"#,
    ] {
        keep(allocate(&pay_worker(), Some(&serde_json::from_str(strategy).expect("a strategy"))).err());
    }
    for name in ["averge", "MACHINE_ROOM", "hash:x", "hash:70000"] {
        keep(name.parse::<Strategy>().err());
    }
    let mut twice = pay_worker();
    twice.topics.push(twice.topics[0].clone());
    let mut same_broker = pay_worker();
    let broker = same_broker.topics[0].brokers[0].clone();
    same_broker.topics[0].brokers.push(broker);
    let mut stranger = pay_worker();
    stranger.owned =
        Some(vec![Owned { queue: QueueRef::new("orders", "broker-a", 0), owners: vec!["x".into()] }]);
    let mut silent = stranger.clone();
    silent.owned.iter_mut().flatten().for_each(|entry| entry.owners = vec!["10.0.3.11@7#812".into()]);
    silent.consumers[0].answered = Some(false);
    let mut large = pay_worker();
    large.topics[0].brokers[0].read_queues = 90_000_000;
    let nothing = group(Vec::new(), &["c1"]);
    let nobody = group(vec![topic("T", &[("b", 1)])], &[]);
    let of = |schema: &str| Snapshot { schema: schema.into(), ..pay_worker() };
    let shared = |sharing| Snapshot { sharing, ..pay_worker() };
    let long = group(Vec::new(), &[&"c".repeat(2_000)]);
    for snapshot in [
        twice,
        same_broker,
        stranger,
        silent,
        large,
        nothing,
        nobody,
        of(""),
        of("evenkeel.snapshot/9"),
        shared(Sharing::Nobody),
        shared(Sharing::Broker),
        long,
    ] {
        keep(plan(&snapshot, &[], &Options::default()).err());
    }
    for url in ["https://host/", "#evenkeel=9.AAAA", "#evenkeel=1.AAAA"] {
        keep(link::shared_text(url).err());
    }
    keep(link::shared_text(&format!("#evenkeel=1.{}", "A".repeat(70_000))).err());
    all
}

/// What a reader of Chinese could not read, or would read with other numbers.
fn untranslated(english: &[Finding], chinese: &[Finding]) -> Vec<String> {
    let texts = |finding: &Finding| {
        [Some(finding.text.clone()), finding.effect.clone(), Some(finding.fix.clone())].into_iter().flatten()
    };
    translations::untranslated(english.iter().flat_map(texts).zip(chinese.iter().flat_map(texts)))
}

#[test]
fn every_code_is_said_in_both_languages() {
    let (english, chinese) = (findings(Language::English), findings(Language::Chinese));
    let seen: BTreeSet<Code> = english.iter().map(|finding| finding.code).collect();
    assert_eq!(
        seen.into_iter().collect::<Vec<_>>(),
        EXPLANATIONS.iter().map(|one| one.code).collect::<Vec<_>>()
    );
    assert_eq!(untranslated(&english, &chinese), Vec::<String>::new());
    let facts = |finding: &Finding| {
        (finding.code, finding.effect.is_some(), finding.consumers.clone(), finding.queues.clone())
    };
    assert_eq!(english.iter().map(facts).collect::<Vec<_>>(), chinese.iter().map(facts).collect::<Vec<_>>());
    for entry in EXPLANATIONS {
        assert!(!is_chinese(entry.fix.en) && is_chinese(entry.fix.zh), "{}", entry.code);
    }
}

#[test]
fn control_a_text_without_translation_and_one_with_another_number_are_noticed() {
    let (english, mut chinese) = (findings(Language::English), findings(Language::Chinese));
    chinese[0].text.clone_from(&english[0].text);
    chinese[1].text = "99999 个".into();
    assert_eq!(untranslated(&english, &chinese).len(), 2);
}

#[test]
fn every_refusal_is_said_in_both_languages() {
    let mut pairs = Vec::new();
    for error in errors() {
        let said = error.said();
        assert_eq!(said.en, error.to_string());
        pairs.push((said.en, said.zh));
    }
    assert_eq!(translations::untranslated(pairs.into_iter()), Vec::<String>::new());
}

#[test]
fn options_name_the_language() {
    let options = |text: &str| serde_json::from_str::<Options>(text);
    assert_eq!(options(r#"{"language":"zh"}"#).unwrap().language, Language::Chinese);
    assert_eq!(options("{}").unwrap().language, Language::English);
    assert!(options(r#"{"language":"tlh"}"#).unwrap_err().to_string().contains("en or zh"));
}
