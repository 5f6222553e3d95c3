//! How much is held, how much is with handlers, and whose turn it is.

use crate::support;

use evenkeel_core::consumer::Input;
use evenkeel_core::wire::message::Message;
use support::cluster::{found, message, range};
use support::{Cluster, MS, Pulled, Rig, SECOND, config, queue};

#[test]
fn messages_of_a_queue() {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    (config.limits.queue_messages_max, config.limits.concurrency) = (100, 5);
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&q, 0, 3000), config);
    rig.checks.concurrency = Some(5);
    rig.work = Some(10 * MS);
    rig.advance(100 * MS);
    let mut most = 0;
    while rig.delivered(&q).len() < 3000 {
        rig.advance(MS);
        most = most.max(rig.view(&q).cached);
        assert!(rig.view(&q).cached < 100 + 32, "{}", rig.view(&q).cached);
        assert!(rig.now.as_millis() < 60_000, "stalled at {:?}", rig.view(&q));
    }
    assert!(most >= 100, "the limit was never reached: {most}");
    assert_eq!(rig.delivered(&q), (0..3000).collect::<Vec<_>>());
}

#[test]
fn bytes_of_a_queue() {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    config.limits.queue_bytes_max = 1 << 20;
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 0), config);
    rig.hold_pulls();
    rig.advance(SECOND);
    rig.answer_pull(&q, Ok(found(vec![big_message(0)], 1)));
    assert_eq!(rig.pulled(&q), [0, 1], "600 KiB are not 1 MiB");
    rig.answer_pull(&q, Ok(found(vec![big_message(1)], 2)));
    rig.advance(10 * SECOND);
    assert_eq!(rig.pulled(&q), [0, 1], "1200 KiB are more");
    rig.finish(&q, 1);
    assert_eq!(rig.pulled(&q), [0, 1, 2], "room again, although 0 is not done");
}

fn big_message(offset: i64) -> Message {
    let mut big = message(&queue("T", 0), offset);
    big.body = vec![7; 600 << 10].into();
    big
}

#[test]
fn span_of_a_queue() {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    (config.limits.offset_span_max, config.limits.concurrency) = (100, 1000);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 0), config);
    rig.hold_pulls();
    rig.advance(SECOND);
    // Few messages, far apart: the filter passed over the others.
    rig.answer_pull(&q, Ok(found([0, 50, 99].map(|offset| message(&q, offset)).to_vec(), 100)));
    assert_eq!(rig.pulled(&q), [0, 100]);
    rig.answer_pull(&q, Ok(range(&q, 100, 101)));
    rig.finish(&q, 100);
    rig.finish(&q, 50);
    assert_eq!(rig.pulled(&q), [0, 100], "0 to 100 is too far");
    rig.finish(&q, 0);
    assert_eq!(rig.pulled(&q), [0, 100, 101]);
    assert_eq!(rig.view(&q).commit_point, Some(99));
}

/// One message alone, however high its offset, is no span.
#[test]
fn span_of_one() {
    let q = queue("T", 0);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 0), config(&["T"]));
    rig.hold_pulls();
    rig.advance(SECOND);
    rig.answer_pull(&q, Ok(found(vec![message(&q, 1_000_000)], 1_000_001)));
    assert_eq!(rig.pulled(&q), [0, 1_000_001]);
}

#[test]
fn handlers_are_shared_among_queues() {
    let mut net = Cluster::one("T", 4);
    for id in 0..4 {
        net = net.with_stored(&queue("T", id), 0, 64);
    }
    let mut config = config(&["T"]);
    config.limits.concurrency = 2;
    let mut rig = Rig::new(net, config);
    rig.checks.concurrency = Some(2);
    rig.advance(SECOND);
    for turn in 0..64 {
        rig.finish_all();
        let counts: Vec<usize> = (0..4).map(|id| rig.delivered(&queue("T", id)).len()).collect();
        let (least, most) = (counts.iter().min().expect("four"), counts.iter().max().expect("four"));
        // The first queue that was answered had all handlers to itself.
        assert!(most - least <= 3, "turn {turn}: {counts:?}");
    }
    assert_eq!(rig.deliveries.len(), 2 + 64 * 2);
}

#[test]
fn batches() {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    (config.limits.batch_max, config.limits.concurrency) = (10, 2);
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&q, 0, 32), config);
    rig.advance(SECOND);
    let sizes = |rig: &Rig| rig.deliveries.iter().map(|(_, d)| d.messages.len()).collect::<Vec<_>>();
    assert_eq!(sizes(&rig), [10, 10]);
    rig.finish_all();
    assert_eq!(sizes(&rig), [10, 10, 10, 2]);
}

/// An outcome that nobody waits for does not free a handler.
#[test]
fn outcome_given_twice() {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    config.limits.concurrency = 2;
    let mut rig = Rig::new(Cluster::one("T", 1).with_stored(&q, 0, 32), config);
    rig.checks.concurrency = Some(2);
    rig.advance(SECOND);
    let ticket = rig.ticket(&q, 0);
    for _ in 0..5 {
        rig.done(ticket);
    }
    assert_eq!((rig.open.len(), rig.deliveries.len()), (2, 3));
}

#[test]
fn quiet() {
    let q = queue("T", 0);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 0), config(&["T"]));
    rig.hold_pulls();
    rig.advance(SECOND);
    rig.input(Input::Quiet(true));
    rig.answer_pull(&q, Ok(range(&q, 0, 3)));
    rig.finish_all();
    rig.advance(25 * SECOND);
    assert_eq!((rig.pulled(&q), rig.net.committed[&q]), (vec![0], 3));
    rig.input(Input::Quiet(false));
    assert_eq!(rig.pulled(&q), [0, 3]);
}

#[test]
fn pause_between_pulls() {
    let q = queue("T", 0);
    let mut config = config(&["T"]);
    config.limits.pull_interval = 200 * MS;
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 0), config);
    rig.hold_pulls();
    rig.advance(SECOND);
    rig.answer_pull(&q, Ok(Pulled { max: 99, ..range(&q, 0, 3) }));
    // Handlers that finish do not shorten it.
    rig.finish_all();
    rig.advance(199 * MS);
    assert_eq!(rig.pulled(&q), [0]);
    rig.advance(MS);
    assert_eq!(rig.pulled(&q), [0, 3]);
}
