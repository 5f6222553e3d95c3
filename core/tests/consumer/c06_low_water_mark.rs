//! C06: the commit point is the lowest offset that is not done, and it never falls.

use crate::support;

use evenkeel_core::consumer::window::Window;
use evenkeel_core::wire::request::Request;
use support::cluster::{found, message, range};
use support::{Cluster, Rig, SECOND, config, queue};

fn window(offsets: &[i64]) -> Window {
    let mut window = Window::new(offsets[0]);
    for offset in offsets {
        window.insert(message(&queue("T", 0), *offset));
    }
    window.take(usize::MAX);
    window
}

#[test]
fn c06_finish_in_any_order() {
    let mut window = window(&[10, 11, 12]);
    let points = [12, 10, 11].map(|offset| {
        assert!(window.complete(offset));
        window.commit_point()
    });
    assert_eq!(points, [10, 11, 13]);
}

#[test]
fn c06_the_same_twice() {
    let mut window = Window::new(7);
    assert!(window.insert(message(&queue("T", 0), 7)));
    assert!(!window.insert(message(&queue("T", 0), 7)));
    assert_eq!(window.count(), 1);
    assert_eq!(window.bytes(), 4);
}

#[test]
fn c06_nothing_to_finish() {
    let mut window = Window::new(20);
    assert!(!window.complete(15) && !window.complete(20));
    assert_eq!(window.commit_point(), 20);
    // Ready is not running: a handler has to have it before it can be done.
    window.insert(message(&queue("T", 0), 20));
    assert!(!window.complete(20));
    assert_eq!((window.commit_point(), window.count()), (20, 1));
    window.pulled_to(15);
    assert_eq!(window.next(), 21);
}

/// The broker's copy follows the mark, not the last finished message.
#[test]
fn c06_commits() {
    let q = queue("T", 0);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 10), config(&["T"]));
    rig.hold_pulls();
    rig.advance(SECOND);
    rig.answer_pull(&q, Ok(range(&q, 10, 13)));
    rig.finish(&q, 12);
    rig.advance(10 * SECOND);
    assert!(rig.net.history.is_empty(), "10 is with a handler: {:?}", rig.net.history);
    rig.finish(&q, 10);
    rig.advance(5 * SECOND);
    rig.finish(&q, 11);
    rig.advance(5 * SECOND);
    assert_eq!(rig.net.history, [(q.clone(), 11), (q.clone(), 13)]);
    // Nothing new, nothing to commit.
    rig.advance(5 * SECOND);
    assert_eq!(rig.net.history.len(), 2);
}

/// An answer in a strange order loses nothing.
#[test]
fn c06_unsorted_answer() {
    let q = queue("T", 0);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 10), config(&["T"]));
    rig.hold_pulls();
    rig.advance(SECOND);
    let messages = [12, 10, 11, 10, 3].map(|offset| message(&q, offset)).to_vec();
    rig.answer_pull(&q, Ok(found(messages, 13)));
    assert_eq!(rig.delivered(&q), [10, 11, 12]);
}

/// A commit is on its way when the next pull goes: were the newer point to travel with the pull, the older one could
/// be stored after it.
#[test]
fn c06_one_commit_at_a_time() {
    let q = queue("T", 0);
    let mut rig = Rig::new(Cluster::one("T", 1).with_committed(&q, 10), config(&["T"]));
    rig.rule(|_, request| match request {
        Request::Pull(_) | Request::CommitOffset { .. } => support::Verdict::Park,
        _ => support::Verdict::Usual,
    });
    rig.advance(SECOND);
    rig.answer_pull(&q, Ok(range(&q, 10, 13)));
    rig.finish(&q, 10);
    rig.advance(5 * SECOND);
    assert_eq!(rig.commits(&q), [11]);
    rig.finish(&q, 11);
    rig.answer_pull(&q, Ok(range(&q, 13, 14)));
    assert_eq!(rig.pulled(&q), [10, 13, 14]);
    assert_eq!(rig.commits(&q), [11], "a second commit overtakes the first");
}
