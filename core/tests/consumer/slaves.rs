//! A broker whose master is gone: its slave serves pulls until the master is back; what only a master takes waits.

use crate::support;

use support::{Address, Cluster, Request, Rig, SECOND, config, queue};

const MASTER: &str = "a:10911";
const SLAVE: &str = "a-slave:10911";

/// 1. The master dies, and the name server takes it out of the route. The slave has all messages.
/// 2. The slave is told of us and pulled from. Commits and send-backs wait for a master.
/// 3. The master is back: it hears of us, gets the commit, and is pulled from again.
#[test]
fn a_slave_serves_while_the_master_is_gone() {
    let q = queue("T", 0);
    let mut net = Cluster::one("T", 1).with_stored(&q, 0, 5);
    let addresses = net.brokers.get_mut(&q.broker).expect("a is a broker");
    addresses.insert(1, SLAVE.into());
    let mut rig = Rig::new(net, config(&["T"]));
    rig.advance(6 * SECOND);
    rig.finish_all();
    rig.advance(6 * SECOND);
    assert_eq!((asked(&rig, 0, SLAVE, is_pull), rig.net.committed[&q]), (0, 5), "the master serves");

    rig.net.down.insert(MASTER.into());
    rig.net.brokers.get_mut(&q.broker).expect("a is a broker").remove(&0);
    rig.input(evenkeel_core::consumer::Input::Link { address: Address::from(MASTER), up: false });
    rig.store(&q, 3);
    let calls = rig.calls.len();
    rig.advance(60 * SECOND);
    assert_eq!(rig.delivered(&q), [0, 1, 2, 3, 4, 5, 6, 7], "from the slave");
    assert!(asked(&rig, calls, SLAVE, is_pull) > 0);
    let first =
        rig.sent(calls, |flight| (flight.to.as_str() == SLAVE).then(|| is_heartbeat(&flight.request)));
    assert_eq!(first.first(), Some(&true), "it hears of us before it is asked for anything");
    rig.finish(&q, 5);
    rig.fail(&q, 6);
    rig.advance(30 * SECOND);
    assert_eq!(asked(&rig, calls, SLAVE, is_for_masters), 0);
    assert_eq!(rig.net.committed[&q], 5, "kept for the master");

    rig.net.down.clear();
    rig.net.brokers.get_mut(&q.broker).expect("a is a broker").insert(0, MASTER.into());
    let calls = rig.calls.len();
    rig.advance(120 * SECOND);
    rig.finish_all();
    rig.advance(30 * SECOND);
    rig.finish_all();
    rig.store(&q, 1);
    rig.advance(60 * SECOND);
    rig.finish_all();
    rig.advance(30 * SECOND);
    assert_eq!(rig.delivered(&q).last(), Some(&8));
    assert!(asked(&rig, calls, MASTER, is_pull) > 0, "back to the master");
    assert_eq!(rig.net.committed[&q], 9);
}

fn asked(rig: &Rig, from: usize, address: &str, what: fn(&Request) -> bool) -> usize {
    rig.sent(from, |flight| (flight.to.as_str() == address && what(&flight.request)).then_some(())).len()
}

fn is_pull(request: &Request) -> bool {
    matches!(request, Request::Pull(_))
}

fn is_heartbeat(request: &Request) -> bool {
    matches!(request, Request::Heartbeat(_))
}

fn is_for_masters(request: &Request) -> bool {
    matches!(request, Request::CommitOffset { .. } | Request::SendBack(_) | Request::QueryOffset { .. })
}
