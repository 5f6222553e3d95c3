//! C21, the part that is core's: which name server is asked, and for how long.

use crate::support;

use evenkeel_core::config::{ConfigError, ConsumerConfig};
use evenkeel_core::consumer::{Event, Input};
use support::{Address, Cluster, MS, Request, Rig, SECOND, config, queue};

fn three() -> ConsumerConfig {
    let mut config = config(&["T"]);
    config.name_servers = ["ns1", "ns2", "ns3"].map(Address::from).to_vec();
    config
}

fn asked(rig: &Rig, from: usize) -> Vec<String> {
    rig.sent(from, |flight| matches!(flight.request, Request::Route { .. }).then(|| flight.to.to_string()))
}

/// Whichever is asked first: dead or silent, it costs one call, not the start.
#[test]
fn c21_first_server_is_dead() {
    for seed in 0..20 {
        for (silent, allowed) in [(false, 50 * MS), (true, 3 * SECOND + 50 * MS)] {
            let mut net = Cluster::one("T", 1).with_committed(&queue("T", 0), 5);
            let bad = if silent { &mut net.silent } else { &mut net.down };
            bad.insert("ns1".into());
            let mut config = three();
            config.name_servers.pop();
            let mut rig = Rig::with_seed(net, config, seed);
            rig.advance(allowed);
            assert_eq!(rig.pulled(&queue("T", 0)), [5], "seed {seed}, silent {silent}");
        }
    }
}

/// The seeds do spread the first question.
#[test]
fn c21_every_server_is_first_for_some_seed() {
    let firsts = (0..30).map(|seed| asked(&Rig::with_seed(Cluster::one("T", 1), three(), seed), 0).remove(0));
    assert_eq!(firsts.collect::<std::collections::BTreeSet<_>>().len(), 3);
}

#[test]
fn c21_list_gets_shorter() {
    for seed in 0..10 {
        let mut net = Cluster::one("T", 1);
        net.silent.extend(["ns1", "ns2", "ns3"].map(Address::from));
        let mut rig = Rig::with_seed(net, three(), seed);
        // Wherever the turn is, it is beyond the new list for some seed, with a call in flight.
        rig.advance(4 * SECOND);
        rig.input(Input::NameServers(vec!["ns1".into()]));
        let calls = rig.calls.len();
        rig.net.silent.clear();
        rig.advance(10 * SECOND);
        assert!(asked(&rig, calls).iter().all(|to| to == "ns1"), "a removed server was asked");
        assert_eq!(rig.pulled(&queue("T", 0)).len(), 1, "seed {seed}");
        assert_eq!(rig.hung_up, ["ns2", "ns3"].map(Address::from));
    }
}

#[test]
fn c21_new_server_while_the_old_one_is_dead() {
    let mut net = Cluster::one("T", 1);
    net.down.extend(["ns1", "ns2", "ns3"].map(Address::from));
    let mut rig = Rig::new(net, three());
    rig.advance(20 * SECOND);
    rig.input(Input::NameServers(vec!["ns9".into()]));
    rig.advance(100 * MS);
    assert_eq!(rig.pulled(&queue("T", 0)).len(), 1);
    // An empty list is no list.
    rig.input(Input::NameServers(Vec::new()));
    rig.advance(60 * SECOND);
    assert!(asked(&rig, 0).ends_with(&["ns9".into()]));
}

#[test]
fn c21_all_down_while_consuming() {
    let q = queue("T", 0);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 0), three());
    rig.work = Some(MS);
    rig.advance(SECOND);
    rig.net.down.extend(["ns1", "ns2", "ns3"].map(Address::from));
    let calls = rig.calls.len();
    for _ in 0..100 {
        rig.store(&q, 1);
        rig.advance(3 * SECOND);
    }
    assert_eq!(rig.delivered(&q), (0..100).collect::<Vec<_>>());
    assert_eq!(rig.saw(|event| matches!(event, Event::QueueEnded { .. })), 0);
    // Two topics, every 30 s, three servers each; nothing like a storm.
    assert!(asked(&rig, calls).len() <= 72, "{}", asked(&rig, calls).len());
}

/// Growing waits while nothing is found at all, and success soon after a server is back.
#[test]
fn c21_all_down_at_start() {
    let mut net = Cluster::one("T", 1);
    net.down.extend(["ns1", "ns2", "ns3"].map(Address::from));
    let mut rig = Rig::new(net, three());
    rig.advance(8 * SECOND);
    assert!(asked(&rig, 0).len() <= 2 * 3 * 4, "{}", asked(&rig, 0).len());
    rig.net.down.clear();
    rig.advance(6 * SECOND);
    assert_eq!(rig.pulled(&queue("T", 0)).len(), 1);
}

#[test]
fn c21_no_servers() {
    let mut config = three();
    config.name_servers.clear();
    assert!(matches!(config.validate(), Err(ConfigError::Missing { what: "name_servers", .. })));
}
