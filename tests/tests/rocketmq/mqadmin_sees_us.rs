//! What an operator sees of our members with `mqadmin` (C24): who they are, what they subscribe, which queue is whose.

use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use evenkeel_tests::members::Members;
use evenkeel_tests::mqadmin::{self, Progress};
use evenkeel_tests::trio;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn c24_each_queue_shows_its_one_client_on_4_9() {
    scenarios(Version::V4);
}

#[test]
fn c24_each_queue_shows_its_one_client_on_5() {
    scenarios(Version::V5);
}

fn scenarios(version: Version) {
    let begin = Instant::now();
    let cluster = Cluster::start(version, &Options { brokers: 2, ..Options::default() });
    eight_queues_three_members(&cluster);
    more_members_than_queues(&cluster);
    println!("{version}: done after {:?}", begin.elapsed());
}

/// Two brokers with four queues each, two of our members and a Java one: AVG gives 3, 3, 2 in the order of the ids.
fn eight_queues_three_members(cluster: &Cluster) {
    cluster.create_topic("orders", 4);
    let mut peer = Peer::start(cluster.version());
    let (mut members, _) = trio::start(cluster, &mut peer, "readers");

    let names = trio::CLIENTS;
    let text = cluster.mqadmin(&["consumerConnection", "-g", "readers"]);
    let rows = mqadmin::connections(&text);
    let seen: Vec<_> = rows.iter().map(|row| (row.client.as_str(), row.language.as_str())).collect();
    assert_eq!(seen, [(names[0], "RUST"), (names[1], "JAVA"), (names[2], "RUST")], "{text}");
    assert!(rows.iter().all(|row| row.address.starts_with("127.0.0.1:")), "{text}");
    assert!(text.contains("CONSUME_PASSIVELY") && text.contains("CLUSTERING"), "{text}");
    assert!(text.contains("CONSUME_FROM_FIRST_OFFSET"), "{text}");

    let text = cluster.mqadmin(&["consumerStatus", "-g", "readers"]);
    assert!(names.iter().all(|name| text.contains(name)), "{text}");
    assert!(text.contains("Same subscription in the same group") && text.contains("Rebalance OK"), "{text}");

    let mut owners: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in names {
        let text = cluster.mqadmin(&["consumerStatus", "-g", "readers", "-i", name]);
        for queue in mqadmin::queues_of_member(&text, "orders") {
            owners.entry(queue).or_default().push(name);
        }
        let subscribed = mqadmin::subscriptions_of_member(&text);
        let expected = [("%RETRY%readers", "*"), ("orders", "*")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(subscribed, expected, "{text}");
    }
    let queues = ["broker-a", "broker-b"]
        .into_iter()
        .flat_map(|broker| (0..4).map(move |id| format!("{broker}/{id}")));
    let shares = [0, 0, 0, 1, 1, 1, 2, 2].map(|member| vec![names[member]]);
    assert_eq!(owners, queues.zip(shares).collect());

    let own = progress(cluster, "readers", "orders", 8);
    assert!(own.iter().all(|row| row.client.as_deref() == Some("127.0.0.1")), "{own:?}");

    for member in 0..2 {
        assert_eq!(members.stop(member).code, Some(0));
    }
    peer.shutdown();
    let text = cluster.mqadmin(&["consumerConnection", "-g", "readers"]);
    assert!(mqadmin::connections(&text).is_empty(), "nobody is left: {text}");
}

/// What consumerProgress shows of a topic's queues once it shows so many. It leaves those of a broker out until one of them has an
/// offset there, which members commit 5 s after they began, and which no question tells from 0.
fn progress(cluster: &Cluster, group: &str, topic: &str, queues: usize) -> Vec<Progress> {
    let end = Instant::now() + MINUTE;
    loop {
        let text = cluster.mqadmin(&["consumerProgress", "-g", group, "-s", "true"]);
        let mut rows = mqadmin::consumer_progress(&text);
        rows.retain(|row| row.topic == topic);
        if rows.len() == queues {
            return rows;
        }
        assert!(Instant::now() < end, "not {queues} queues of {topic}: {text}");
    }
}

/// Two queues and three members: a member with empty tables does not break the reader.
fn more_members_than_queues(cluster: &Cluster) {
    cluster.create_topic("rare", 1);
    let mut members = Members::new(&cluster.namesrv(), "many", "rare");
    for _ in 0..3 {
        members.start(&[]);
    }
    let settled = members
        .settle(MINUTE, |owners| owners.values().map(|queues| queues.len()).collect::<Vec<_>>() == [1, 1, 0]);
    assert!(settled, "{}", members.tails());
    let idle = members.client(2).to_owned();
    let text = cluster.mqadmin(&["consumerStatus", "-g", "many", "-i", &idle]);
    assert!(mqadmin::queues_of_member(&text, "rare").is_empty(), "{text}");
    assert_eq!(mqadmin::subscriptions_of_member(&text).len(), 2, "{text}");
    assert!(!text.contains("\tat "), "no stack trace: {text}");
    let rows = progress(cluster, "many", "rare", 2);
    assert!(rows.iter().all(|row| row.client.is_some()), "{rows:?}");
    for member in 0..3 {
        assert_eq!(members.stop(member).code, Some(0));
    }
}
