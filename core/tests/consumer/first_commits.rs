//! A broker that stores the first offsets of a group can lose one that it has confirmed; see "Two first commits" in
//! `manual/races`.

use crate::support;

use support::{Cluster, MS, MessageQueue, Reply, Request, Rig, SECOND, Verdict, config, queue};

/// Two queues of a group that has never committed; ten messages each, all done.
fn rig() -> (Rig, MessageQueue, MessageQueue) {
    let (p, q) = (queue("T", 0), queue("T", 1));
    let mut cluster = Cluster::one("T", 2);
    cluster.store(&p, 10);
    cluster.store(&q, 10);
    let mut config = config(&["T"]);
    config.start_from = evenkeel_core::wire::request::ConsumeFrom::First;
    let mut rig = Rig::new(cluster, config);
    rig.work = Some(SECOND / 1000);
    rig.advance(SECOND);
    (rig, p, q)
}

/// What the broker does: of the first commits that come at once one is kept.
fn lose(rig: &mut Rig, lost: &MessageQueue) {
    assert!(rig.net.committed.remove(lost).is_some(), "{lost} was confirmed");
}

#[test]
fn a_first_commit_that_the_broker_lost_is_made_good_by_the_next_round() {
    let (mut rig, p, _) = rig();
    rig.advance(4 * SECOND + SECOND / 2);
    lose(&mut rig, &p);
    rig.advance(5 * SECOND);
    assert_eq!(rig.net.committed.get(&p), Some(&10));
}

#[test]
fn a_first_commit_at_the_end_is_made_twice() {
    let (mut rig, p, q) = rig();
    let mut lost = false;
    let victim = p.clone();
    rig.stop(5 * SECOND);
    for _ in 0..50 {
        if !lost && rig.net.committed.contains_key(&victim) {
            lose(&mut rig, &victim);
            lost = true;
        }
        rig.advance(SECOND / 1000);
    }
    rig.advance(SECOND);
    assert!(lost && rig.consumer.is_stopped());
    assert_eq!((rig.net.committed.get(&p), rig.net.committed.get(&q)), (Some(&10), Some(&10)));
}

/// Both queues pull again and again, and both have something to commit. The one that asks second waits for the first.
#[test]
fn first_commits_that_go_with_pulls_go_one_at_a_time() {
    let (mut rig, p, q) = rig();
    rig.rule(|_, request| match request {
        Request::CommitOffset { .. } => Verdict::Park,
        _ => Verdict::Usual,
    });
    for _ in 0..3 {
        rig.store(&p, 1);
        rig.store(&q, 1);
        rig.advance(20 * MS);
    }
    let (first, second) = (rig.commits(&p).len(), rig.commits(&q).len());
    assert_eq!(first + second, 1);
    rig.usual();
    let parked: Vec<_> =
        rig.flights.values().filter(|flight| flight.parked).map(|flight| flight.call).collect();
    assert_eq!(parked.len(), 1);
    for call in parked {
        rig.reply(call, Ok(Reply::Done));
    }
    for _ in 0..3 {
        rig.store(&p, 1);
        rig.store(&q, 1);
        rig.advance(20 * MS);
    }
    assert!(rig.net.committed[&p] > 10 && rig.net.committed[&q] > 10, "{:?}", rig.net.committed);
}

/// Control: where the broker has kept an offset before, each point is committed once.
#[test]
fn a_group_that_the_broker_knows_commits_once() {
    let q = queue("T", 0);
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&q, 5, 10), config(&["T"]));
    rig.work = Some(SECOND / 1000);
    rig.advance(30 * SECOND);
    let commits = rig.sent(0, |flight| match &flight.request {
        Request::CommitOffset { offset, .. } => Some(*offset),
        _ => None,
    });
    assert_eq!(commits, [15]);
}
