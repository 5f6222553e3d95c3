//! Broadcasting: every member has every queue, alone with its own offsets.

use crate::support;

use evenkeel_core::config::ConsumerConfig;
use evenkeel_core::consumer::{Event, Failure, Outcome};
use evenkeel_core::wire::request::{MessageModel, Request};
use std::collections::BTreeMap;
use support::{Cluster, Flight, Rig, SECOND, config, queue};

fn broadcasting(orderly: bool) -> ConsumerConfig {
    let mut config = config(&["T"]);
    (config.model, config.orderly) = (MessageModel::Broadcasting, orderly);
    config
}

/// Three members, four queues; messages 10..13 in queue 0, whose offset the file has.
fn rig(config: ConsumerConfig) -> Rig {
    let q = queue("T", 0);
    let mut net = Cluster::one("T", 4).with_stored(&q, 10, 3);
    net.members(&["aa", "me", "zz"]);
    let mut rig = Rig::with_offsets(net, config, [(q, 10)].into());
    rig.advance(SECOND);
    rig
}

fn asked(rig: &Rig, what: impl Fn(&Request) -> bool) -> usize {
    rig.sent(0, |flight: &Flight| what(&flight.request).then_some(())).len()
}

#[test]
fn all_queues_are_ours_and_no_broker_is_asked_about_members_or_offsets() {
    let mut rig = rig(broadcasting(false));
    rig.advance(60 * SECOND);
    assert_eq!(rig.fetching("T"), [0, 1, 2, 3]);
    let foreign = |request: &Request| {
        matches!(
            request,
            Request::Members { .. } | Request::QueryOffset { .. } | Request::CommitOffset { .. }
        )
    };
    assert_eq!(asked(&rig, foreign), 0);
    assert_eq!(asked(&rig, |request| matches!(request, Request::Route { topic } if topic.is_retry())), 0);
    assert!(asked(&rig, |request| matches!(request, Request::Pull(pull) if pull.commit.is_some())) == 0);
    let models = rig.sent(0, |flight| match &flight.request {
        Request::Heartbeat(heartbeat) => Some(heartbeat.consumers[0].model),
        _ => None,
    });
    assert!(!models.is_empty() && models.iter().all(|model| *model == MessageModel::Broadcasting));
}

#[test]
fn a_new_queue_is_ours_with_the_next_route() {
    let mut rig = rig(broadcasting(false));
    rig.net.topic("T", &[("a", 5)]);
    rig.advance(31 * SECOND);
    assert_eq!(rig.fetching("T"), [0, 1, 2, 3, 4]);
}

/// There is no retry topic: what fails is told of and given up, and the others go on.
#[test]
fn a_message_that_fails_is_dropped_with_an_event() {
    let (mut rig, q) = (rig(broadcasting(false)), queue("T", 0));
    rig.fail(&q, 10);
    assert_eq!(rig.saw(|event| matches!(event, Event::HandlerFailed { offset: 10, .. })), 1);
    assert_eq!(rig.saw(|event| matches!(event, Event::Dropped { offset: 10, .. })), 1);
    rig.finish_all();
    rig.advance(6 * SECOND);
    assert_eq!(rig.delivered(&q), [10, 11, 12]);
    assert_eq!(asked(&rig, |request| matches!(request, Request::SendBack(_))), 0);
    assert_eq!(rig.saves.last().map(|save| save[&q]), Some(13));
}

/// Each member works alone, so there is nothing to lock; order is kept all the same.
#[test]
fn orderly_works_without_locks_and_gives_a_message_up_after_its_last_try() {
    let mut config = broadcasting(true);
    config.limits.max_retries = 1;
    let (mut rig, q) = (rig(config), queue("T", 0));
    rig.checks.orderly = true;
    for _ in 0..2 {
        let ticket = rig.ticket(&q, 10);
        rig.outcome(ticket, Outcome::Suspend { done: 0, pause: None, why: Failure::Asked });
        assert_eq!(rig.open.len(), usize::from(rig.saw(|event| matches!(event, Event::Dropped { .. })) > 0));
        rig.advance(2 * SECOND);
    }
    assert_eq!(rig.delivered(&q), [10, 10, 11]);
    assert_eq!(rig.saw(|event| matches!(event, Event::Dropped { offset: 10, .. })), 1);
    let exclusive =
        |request: &Request| matches!(request, Request::Lock(_) | Request::Unlock(_) | Request::SendBack(_));
    assert_eq!(asked(&rig, exclusive), 0);
}

/// An operator's reset moves this member, and a crash right then keeps it.
#[test]
fn a_reset_is_written_at_once() {
    let (mut rig, q) = (rig(broadcasting(false)), queue("T", 0));
    let saves = rig.saves.len();
    rig.reset(&[(q.clone(), 5)]);
    assert_eq!(rig.saves[saves..].iter().map(|save| save[&q]).collect::<Vec<_>>(), [5]);
}

/// A strategy is of no use here, and so is a look at who else is there.
#[test]
fn a_strategy_of_our_own_needs_no_look_at_the_others() {
    let mut config = broadcasting(false);
    config.strategy = std::sync::Arc::new(evenkeel_core::allocate::Draft::default());
    let rig = rig(config);
    assert_eq!(rig.fetching("T"), [0, 1, 2, 3]);
    assert_eq!(asked(&rig, |request| matches!(request, Request::Connections { .. })), 0);
}

#[test]
fn what_is_known_of_other_topics_stays_in_the_file() {
    let (q, other) = (queue("T", 0), queue("U", 3));
    let table: BTreeMap<_, _> = [(q.clone(), 10), (other.clone(), 77)].into();
    let mut rig = Rig::with_offsets(Cluster::one("T", 1).with_stored(&q, 10, 1), broadcasting(false), table);
    rig.advance(SECOND);
    rig.finish_all();
    rig.advance(6 * SECOND);
    assert_eq!(rig.saves.last(), Some(&[(q, 11), (other, 77)].into()));
}
