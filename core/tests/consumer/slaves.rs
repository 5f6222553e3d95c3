//! A broker whose master is gone: its slave serves pulls and keeps offsets until the master is back; what only a master
//! takes waits.

use crate::support;

use evenkeel_core::consumer::{Event, Input};
use evenkeel_core::wire::request::ConsumeFrom;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use support::{Address, Cluster, MessageQueue, Reply, Request, Rig, SECOND, Verdict, config, queue};

const MASTER: &str = "a:10911";
const SLAVE: &str = "a-slave:10911";

/// 1. The master dies, and the name server takes it out of the route. The slave has all messages.
/// 2. The slave is told of us, pulled from, and told how far we are. Send-backs wait for a master.
/// 3. The master is back: it hears of us, is told how far we are (what the slave knows does not count), and is pulled
///    from again.
#[test]
fn a_slave_serves_while_the_master_is_gone() {
    let q = queue("T", 0);
    let mut rig = Rig::new(net(&q, 5), config(&["T"]));
    let slave = keeps_its_own_offsets(&mut rig);
    rig.advance(6 * SECOND);
    rig.finish_all();
    rig.advance(6 * SECOND);
    assert_eq!((asked(&rig, 0, SLAVE, is_pull), rig.net.committed[&q]), (0, 5), "the master serves");

    master_goes(&mut rig, &q);
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
    assert_eq!(asked(&rig, calls, SLAVE, is_send_back), 0);
    assert_eq!((rig.net.committed[&q], offset(&slave, &q)), (5, Some(6)));
    let told = asked(&rig, calls, SLAVE, is_commit);
    rig.advance(30 * SECOND);
    assert_eq!(asked(&rig, calls, SLAVE, is_commit), told, "once it has confirmed, it is not told again");

    master_is_back(&mut rig, &q);
    let calls = rig.calls.len();
    rig.advance(60 * SECOND);
    assert_eq!(rig.net.committed[&q], 6, "the master is told what only the slave knew");
    rig.finish_all();
    rig.store(&q, 1);
    rig.advance(60 * SECOND);
    rig.finish_all();
    rig.advance(30 * SECOND);
    assert_eq!(rig.delivered(&q).last(), Some(&8));
    assert!(asked(&rig, calls, MASTER, is_pull) > 0, "back to the master");
    assert_eq!(rig.net.committed[&q], 9);
}

/// Nothing was consumed since the slave confirmed: the master has to be told all the same.
#[test]
fn what_a_slave_confirmed_is_told_to_the_master_that_comes_back() {
    let q = queue("T", 0);
    let (mut rig, slave) = consumed_without_master(&q);
    rig.advance(20 * SECOND);
    assert_eq!((rig.net.committed[&q], offset(&slave, &q)), (0, Some(5)));

    master_is_back(&mut rig, &q);
    rig.advance(60 * SECOND);
    assert_eq!(rig.net.committed[&q], 5);
}

/// Members come and go while the master is gone: who gains a queue reads the offset that the slave has.
#[test]
fn a_queue_that_moves_while_the_master_is_gone_begins_at_the_slaves_offset() {
    let q = queue("T", 0);
    let mut rig = without_master(net(&q, 8), Some(5));
    rig.advance(20 * SECOND);
    assert_eq!(rig.delivered(&q), [5, 6, 7]);
}

/// A slave hears of offsets from its master, every ten seconds. "Not found" may only mean that it has not heard yet, and
/// beginning at the end would pass over messages.
#[test]
fn a_slave_that_knows_no_offset_licenses_no_start_policy() {
    let q = queue("T", 0);
    let mut rig = without_master(net(&q, 8), None);
    rig.net.committed.insert(q.clone(), 3);
    rig.advance(60 * SECOND);
    assert_eq!(rig.delivered(&q), []);
    let told =
        |(_, event): &(_, Event)| matches!(event, Event::CallFailed { to, .. } if to.as_str() == SLAVE);
    assert!(rig.events.iter().any(told), "a queue that waits is told of");

    master_is_back(&mut rig, &q);
    rig.advance(60 * SECOND);
    assert_eq!(rig.delivered(&q), [3, 4, 5, 6, 7], "the master knows");
}

/// The next member reads it there.
#[test]
fn a_stop_while_the_master_is_gone_commits_at_the_slave() {
    let q = queue("T", 0);
    let (mut rig, slave) = consumed_without_master(&q);
    rig.input(Input::Stop { grace: 5 * SECOND });
    rig.advance(20 * SECOND);
    assert_eq!(offset(&slave, &q), Some(5));
    let stopped = rig.events.iter().find_map(|(_, event)| match event {
        Event::Stopped { committed, .. } => Some(committed.clone()),
        _ => None,
    });
    assert_eq!(stopped.as_deref(), Some(&[(q, 5)][..]));
}

/// The master dies while five messages are in hand, and these are done when it has left the route.
fn consumed_without_master(q: &MessageQueue) -> (Rig, Offsets) {
    let mut rig = Rig::new(net(q, 5), config(&["T"]));
    let slave = keeps_its_own_offsets(&mut rig);
    rig.advance(6 * SECOND);
    master_goes(&mut rig, q);
    rig.advance(40 * SECOND);
    rig.finish_all();
    (rig, slave)
}

type Offsets = Arc<Mutex<BTreeMap<MessageQueue, i64>>>;

/// `count` messages, a master that has committed 0, and a slave.
fn net(q: &MessageQueue, count: i64) -> Cluster {
    let mut net = Cluster::one("T", 1).with_stored(q, 0, count);
    net.brokers.get_mut(&q.broker).expect("a is a broker").insert(1, SLAVE.into());
    net
}

/// The slave's offsets are not the master's.
fn keeps_its_own_offsets(rig: &mut Rig) -> Offsets {
    let offsets = Offsets::default();
    let kept = Arc::clone(&offsets);
    rig.rule(move |to, request| {
        let mut kept = kept.lock().expect("no test has panicked with it");
        match request {
            Request::CommitOffset { queue, offset, .. } if to.as_str() == SLAVE => {
                kept.insert(queue.clone(), *offset);
                Verdict::Reply(Ok(Reply::Done))
            }
            Request::QueryOffset { queue, .. } if to.as_str() == SLAVE => {
                Verdict::Reply(Ok(Reply::Offset(kept.get(queue).copied())))
            }
            _ => Verdict::Usual,
        }
    });
    offsets
}

fn offset(offsets: &Offsets, of: &MessageQueue) -> Option<i64> {
    offsets.lock().expect("no test has panicked with it").get(of).copied()
}

/// A member that starts while there is only the slave, which knows this offset of the group.
fn without_master(mut net: Cluster, known: Option<i64>) -> Rig {
    let q = queue("T", 0);
    net.brokers.get_mut(&q.broker).expect("a is a broker").remove(&0);
    let mut config = config(&["T"]);
    config.start_from = ConsumeFrom::Last;
    let mut rig = Rig::new(net, config);
    let slave = keeps_its_own_offsets(&mut rig);
    slave.lock().expect("no test has panicked with it").extend(known.map(|offset| (q, offset)));
    rig
}

fn master_goes(rig: &mut Rig, q: &MessageQueue) {
    rig.net.down.insert(MASTER.into());
    rig.net.brokers.get_mut(&q.broker).expect("a is a broker").remove(&0);
    rig.input(Input::Link { address: Address::from(MASTER), up: false });
}

fn master_is_back(rig: &mut Rig, q: &MessageQueue) {
    rig.net.down.clear();
    rig.net.brokers.get_mut(&q.broker).expect("a is a broker").insert(0, MASTER.into());
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

fn is_commit(request: &Request) -> bool {
    matches!(request, Request::CommitOffset { .. })
}

fn is_send_back(request: &Request) -> bool {
    matches!(request, Request::SendBack(_))
}
