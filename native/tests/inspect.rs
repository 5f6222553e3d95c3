//! Reading a group of a live cluster: members, what they say of themselves, queues, lag, and who does not answer.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helpers;
#[path = "helpers/mute.rs"]
mod mute;
#[path = "helpers/orders.rs"]
mod orders;

use evenkeel::client::{Client, NameServers};
use evenkeel::embedded::faults::{Rule, Verdict};
use evenkeel::embedded::{Draft, EmbeddedBroker};
use evenkeel::inspect::{GroupSeen, Lag, Options, Which, Whom, read_group, read_groups};
use evenkeel::{Ack, Consumer, ErrorKind, MessageQueue};
use evenkeel_core::plan::{Code, verify};
use evenkeel_core::wire::bodies::{Body, DataVersion, GroupConfig, GroupTable};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use helpers::eventually;
use mute::Mute;
use orders::{broker, member, orders};
use std::collections::BTreeMap;
use std::time::Duration;

const GROUP: &str = "readers";

fn servers(broker: &EmbeddedBroker) -> NameServers {
    NameServers::parse(Client::start(), &broker.name_server().to_string(), "test").unwrap()
}

/// Fails members that hang after half a second.
fn options() -> Options {
    Options { member: Duration::from_millis(500), ..Options::default() }
}

async fn read(broker: &EmbeddedBroker) -> GroupSeen {
    read_group(&servers(broker), &GROUP.into(), &options()).await.unwrap()
}

/// Members with their even share of eight queues.
async fn members<const N: usize>(broker: &EmbeddedBroker, clients: [&str; N]) -> Vec<Consumer> {
    let mut all = Vec::new();
    for client in clients {
        all.push(member(broker, GROUP, client).await);
    }
    eventually("even shares", || all.iter().all(|one| orders(one) == 8 / N)).await;
    all
}

#[tokio::test]
async fn members_are_read_with_their_strategy_subscriptions_and_queues() {
    let broker = broker().await;
    let running = members(&broker, ["a", "b"]).await;
    let seen = read(&broker).await;
    assert_eq!(seen.silent, []);
    assert_eq!(seen.snapshot().layout().queues(), 8 + 2, "the retry topic lies on both brokers");
    let expected = [("a", "embedded-a"), ("b", "embedded-b")];
    assert_eq!(seen.members.len(), 2);
    for (member, (id, owns)) in seen.members.iter().zip(expected) {
        let told = &member.seen;
        assert_eq!((told.id.as_str(), told.client().as_str()), (id, "RUST 5.3.1"));
        assert_eq!(told.strategy_name().as_deref(), Some("AVG"));
        assert_eq!(told.subscriptions.as_ref().unwrap()[&"orders".into()], "*");
        let own = told.owned.as_ref().unwrap().iter().filter(|queue| queue.topic.as_str() == "orders");
        let brokers: Vec<&str> = own.map(|queue| queue.broker.as_str()).collect();
        assert_eq!(brokers, [owns; 4]);
        assert_eq!(member.connections.len(), 2, "a connection to each broker is no process of its own");
        assert_eq!(member.in_flight(), Some(0));
    }
    assert!(verify(&seen.snapshot()).unwrap().is_healthy());
    drop(running);
    broker.shutdown().await;
}

#[tokio::test]
async fn lag_is_what_is_stored_and_not_committed() {
    let broker = broker().await;
    for index in [0, 0, 0, 1] {
        broker.publish(index, "orders", Draft::new("x").queue(2)).await.unwrap().unwrap();
    }
    let mute = Mute::join(broker.broker_addresses()[0], "mute", GROUP, &[("orders", "*")]).await;
    let seen = read(&broker).await;
    assert_eq!(
        seen.lag(),
        Lag { messages: 0, known: 0, unknown: 9 },
        "nothing was committed; 8 of the topic, 1 of retries"
    );
    drop(mute);

    let consumer = members(&broker, ["a"]).await.remove(0);
    let consumed = |status: evenkeel::Status| {
        status.tally.topics.values().map(|tally| tally.succeeded.count()).sum::<u64>()
    };
    let began = tokio::time::Instant::now();
    while consumed(consumer.status().await.unwrap()) < 4 {
        assert!(began.elapsed() < Duration::from_secs(10), "four messages");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    consumer.shutdown(Duration::from_secs(5)).await;
    for _ in 0..2 {
        broker.publish(0, "orders", Draft::new("y").queue(2)).await.unwrap().unwrap();
    }
    let seen = read(&broker).await;
    let queue = |broker: &str| MessageQueue::new("orders", broker, 2);
    assert_eq!(seen.lag_of(&queue("embedded-a")), Some(2));
    assert_eq!(seen.lag_of(&queue("embedded-b")), Some(0));
    assert_eq!(seen.lag().messages, 2);
    let of_first = seen.progress[&queue("embedded-a")];
    assert!((of_first.end, of_first.committed) == (5, 3) && of_first.last_consumed.is_some());
    assert_eq!(
        (seen.kind, seen.members.len(), &seen.silent[..]),
        (None, 0, &[][..]),
        "offline, and all is told"
    );
    broker.shutdown().await;
}

#[tokio::test]
async fn a_member_that_hangs_is_named_and_the_rest_is_told() {
    let broker = broker().await;
    let running = members(&broker, ["a"]).await;
    let mut mutes = Vec::new();
    for address in broker.broker_addresses() {
        mutes.push(Mute::join(*address, "z-hangs", GROUP, &[("orders", "*")]).await);
    }
    let seen = read(&broker).await;
    let ids: Vec<&str> = seen.members.iter().map(|member| member.seen.id.as_str()).collect();
    assert_eq!(ids, ["a", "z-hangs"]);
    assert!(seen.members[0].running.is_some() && seen.members[1].running.is_none());
    assert_eq!((seen.members[1].seen.owned.as_ref(), seen.members[1].in_flight()), (None, None));
    assert_eq!(seen.silent.len(), 1);
    assert!(matches!(&seen.silent[0].whom, Whom::Member { client, .. } if client.as_str() == "z-hangs"));
    let codes: Vec<Code> = verify(&seen.snapshot()).unwrap().findings.iter().map(|one| one.code).collect();
    assert!(codes.contains(&Code::R110), "{codes:?}");
    drop((running, mutes));
    broker.shutdown().await;
}

#[tokio::test]
async fn c15_two_processes_with_one_id_are_two_members() {
    let broker = broker().await;
    let mut mutes = Vec::new();
    for address in broker.broker_addresses() {
        for _ in 0..2 {
            mutes.push(Mute::join(*address, "same", GROUP, &[("orders", "*")]).await);
        }
    }
    let seen = read(&broker).await;
    assert_eq!(seen.members.len(), 2, "two at each of two brokers are two, not four");
    assert!(seen.members.iter().all(|member| member.connections.len() == 2));
    let verdict = verify(&seen.snapshot()).unwrap();
    assert_eq!(verdict.findings[0].code, Code::R101);
    drop(mutes);
    broker.shutdown().await;
}

/// The broker keeps the subscriptions of the heartbeat that came last, so some are only told by members.
#[tokio::test]
async fn topics_that_only_a_member_tells_are_read_too() {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 2).topic("bills", 1, 3).start().await.unwrap();
    let running = (member_of(&broker, "a", "bills").await, member_of(&broker, "b", "orders").await);
    let seen = read(&broker).await;
    let topics: Vec<&str> = seen.topics.keys().map(|topic| topic.as_str()).collect();
    assert_eq!(topics, ["%RETRY%readers", "bills", "orders"]);
    let codes: Vec<Code> = verify(&seen.snapshot()).unwrap().findings.iter().map(|one| one.code).collect();
    assert!(codes.contains(&Code::R106), "{codes:?}");
    drop(running);
    broker.shutdown().await;
}

#[tokio::test]
async fn a_topic_without_route_is_named() {
    let broker = broker().await;
    let _mute = Mute::join(broker.broker_addresses()[0], "m", GROUP, &[("orders", "*"), ("gone", "*")]).await;
    let seen = read(&broker).await;
    assert_eq!(seen.unrouted.iter().map(|topic| topic.as_str()).collect::<Vec<_>>(), ["gone"]);
    assert!(seen.topics.contains_key(&"orders".into()) && !seen.topics.contains_key(&"gone".into()));
    broker.shutdown().await;
}

async fn member_of(broker: &EmbeddedBroker, client: &str, topic: &str) -> Consumer {
    let consumer = Consumer::builder(GROUP)
        .name_servers(&broker.name_server().to_string())
        .client_id(client)
        .subscribe(topic, "*")
        .handler(|_message| async { Ok(Ack::Done) });
    let consumer = consumer.start().await.unwrap();
    eventually("queues", || consumer.assignment().queues().any(|queue| queue.topic.as_str() == topic)).await;
    consumer
}

#[tokio::test]
async fn a_group_that_nobody_knows_is_not_found() {
    let broker = broker().await;
    let error = read_group(&servers(&broker), &"nobody".into(), &options()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("there is no group nobody"), "{error}");
    broker.shutdown().await;
}

#[tokio::test]
async fn a_broker_that_is_gone_leaves_the_others() {
    let broker = broker().await;
    let running = members(&broker, ["a"]).await;
    let drop = broker.install(
        Rule::on(RequestCode::GET_CONSUME_STATS, Verdict::Drop).at(evenkeel::embedded::Endpoint::Broker(1)),
    );
    let _guard = drop.await.unwrap();
    let options = Options { call: Duration::from_millis(500), ..options() };
    let seen = read_group(&servers(&broker), &GROUP.into(), &options).await.unwrap();
    assert_eq!(seen.silent.len(), 1);
    let told = seen.silent[0].to_string();
    assert!(told.starts_with("broker embedded-b (127.0.0.1:") && told.contains("no answer within"), "{told}");
    assert!(seen.members[0].running.is_some());
    std::mem::drop(running);
    broker.shutdown().await;
}

#[tokio::test]
async fn brokers_that_refuse_are_a_refusal() {
    let broker = broker().await;
    let running = members(&broker, ["a"]).await;
    let verdict = Verdict::Fail { code: ResponseCode::NO_PERMISSION, remark: "not you".to_owned() };
    let _guard = broker.install(Rule::on(RequestCode::GET_CONSUMER_CONNECTION_LIST, verdict)).await.unwrap();
    let error = read_group(&servers(&broker), &GROUP.into(), &options()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    drop(running);
    broker.shutdown().await;
}

#[tokio::test]
async fn all_groups_with_their_members_and_lag() {
    let broker = broker().await;
    let running = members(&broker, ["a", "b"]).await;
    let mute = Mute::join(broker.broker_addresses()[0], "m", "others", &[("orders", "x || y")]).await;
    drop(Mute::join(broker.broker_addresses()[1], "gone", "gone", &[("orders", "*")]).await);
    let all = |_: &evenkeel::Group| true;
    let read = async |which| read_groups(&servers(&broker), which, &options()).await.unwrap();
    let began = tokio::time::Instant::now();
    let online = loop {
        let online = read(Which { named: &all, offline: false }).await;
        if online.groups.len() == 2 {
            break online;
        }
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "the broker notices that a member is gone: {online:?}"
        );
    };
    assert_eq!(online.silent, []);
    let members: BTreeMap<&str, usize> =
        online.groups.iter().map(|group| (group.group.as_str(), group.members)).collect();
    assert_eq!(members, BTreeMap::from([("others", 1), (GROUP, 2)]));
    let readers = &online.groups[1];
    assert_eq!(readers.clients.iter().collect::<Vec<_>>(), ["RUST 5.3.1"]);
    assert_eq!(readers.topics.iter().map(|topic| topic.as_str()).collect::<Vec<_>>(), ["orders"]);

    let offline = read(Which { named: &all, offline: true }).await;
    let names: Vec<&str> = offline.groups.iter().map(|group| group.group.as_str()).collect();
    assert_eq!(names, ["gone", "others", GROUP]);
    assert_eq!((offline.groups[0].members, offline.groups[0].kind), (0, None));
    let one = read(Which { named: &|group| group.as_str() == "others", offline: true }).await;
    assert_eq!(one.groups.len(), 1);
    drop((running, mute));
    broker.shutdown().await;
}

/// Brokers of 5.x that split their tables tell some groups at a time.
#[tokio::test]
async fn groups_that_come_in_pages_are_all_read() {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 1).start().await.unwrap();
    let version = DataVersion { counter: 7, timestamp: 1_700_000_000_000, state_version: 0 };
    let page = |names: &[&str]| {
        let groups = names.iter().map(|name| ((*name).into(), GroupConfig::new((*name).into())));
        let table = GroupTable { version, groups: groups.collect() };
        Command::response(ResponseCode::SUCCESS, None)
            .with_field("totalGroupNum", 3)
            .with_body(table.encode())
    };
    let code = RequestCode::GET_ALL_SUBSCRIPTIONGROUP_CONFIG;
    let first = Rule::on(code, Verdict::AnswerWith(page(&["a", "b"]))).times(1);
    let second = Rule::on(code, Verdict::AnswerWith(page(&["c"])));
    let guards = (broker.install(first).await.unwrap(), broker.install(second).await.unwrap());
    let all = |_: &evenkeel::Group| true;
    let seen =
        read_groups(&servers(&broker), Which { named: &all, offline: true }, &options()).await.unwrap();
    let names: Vec<&str> = seen.groups.iter().map(|group| group.group.as_str()).collect();
    assert_eq!((names, guards.0.hits(), guards.1.hits()), (vec!["a", "b", "c"], 1, 1));
    broker.shutdown().await;
}

/// Servers that look at groups for others do it in tasks.
#[tokio::test]
async fn looks_can_be_made_in_tasks() {
    let broker = broker().await;
    let servers = NameServers::parse(Client::start(), &broker.name_server().to_string(), "test").unwrap();
    let again = servers.clone();
    let one =
        tokio::spawn(async move { read_group(&again, &GROUP.into(), &Options::default()).await.is_ok() });
    let all = tokio::spawn(async move {
        read_groups(&servers, Which { named: &|_| true, offline: true }, &Options::default()).await.is_ok()
    });
    assert_eq!((one.await.unwrap(), all.await.unwrap()), (false, true), "no such group");
    broker.shutdown().await;
}
