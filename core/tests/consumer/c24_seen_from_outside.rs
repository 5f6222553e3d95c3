//! C24: what a member says when somebody asks who owns what. The real tools read it in
//! `tests/tests/rocketmq/mqadmin_sees_us.rs`.

use crate::support;

use evenkeel_core::consumer::Input;
use evenkeel_core::wire::peer::{Answer, DirectVerdict, PeerRequest, RunningInfo};
use support::cluster::{group, message};
use support::{Cluster, Rig, SECOND, config, queue};

/// Our consumer among these members, on two brokers with four queues each.
fn rig(members: &[&str]) -> Rig {
    let mut net = Cluster::one("T", 4);
    net.topic("T", &[("a", 4), ("b", 4)]);
    net.members(members);
    let mut rig = Rig::new(net, config(&["T"]));
    rig.hold_pulls();
    rig.advance(5 * SECOND);
    rig
}

fn asked(rig: &mut Rig, request: PeerRequest) -> Answer {
    let before = rig.answers.len();
    rig.input(Input::Peer { from: "a:10911".into(), request });
    assert_eq!(rig.answers.len(), before + 1, "one question, one answer");
    let (to, opaque, answer) = rig.answers[before].clone();
    assert_eq!((to.as_str(), opaque), ("a:10911", 7));
    answer
}

fn running_info(rig: &mut Rig) -> RunningInfo {
    match asked(rig, PeerRequest::RunningInfo { reply: 7, group: group(), client: "me".into() }) {
        Answer::RunningInfo(info) => info,
        other => panic!("{other:?} is no running info"),
    }
}

/// Eight queues and three members: 3, 3 and 2 in the order of the ids, and we are in the middle.
#[test]
fn c24_each_queue_of_ours_is_named_with_its_broker() {
    let info = running_info(&mut rig(&["zz", "me", "aa"]));
    let queues: Vec<_> = info.queues.keys().map(|queue| (queue.broker.as_str(), queue.id)).collect();
    assert_eq!(queues, [("a", 3), ("b", 0), ("b", 1)], "equal numbers of two brokers are two queues");
    assert!(info.queues.values().all(|state| !state.dropped));
    let topics: Vec<_> = info.subscriptions.iter().map(|data| data.subscription.topic.as_str()).collect();
    assert_eq!(topics, ["%RETRY%g", "T"]);
    assert_eq!(info.properties["allocateMessageQueueStrategy"], "AVG");
}

#[test]
fn c24_a_member_without_queues_answers_with_empty_tables() {
    let mut rig = rig(&["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "me"]);
    let info = running_info(&mut rig);
    assert!(info.queues.is_empty());
    assert_eq!(info.subscriptions.len(), 2);
    assert!(!info.properties.is_empty());
}

/// An operator has one message consumed here; the answer tells how the handler ended. `consumed_directly.rs` has the rest.
#[test]
fn c24_a_message_is_consumed_directly_and_answered() {
    let mut rig = rig(&["me"]);
    rig.input(support::consume_directly(7, "g", message(&queue("T", 9), 5)));
    assert!(rig.answers.is_empty(), "the handler has not ended");
    rig.finish(&queue("T", 9), 5);
    let (to, opaque, answer) = rig.answers.remove(0);
    assert_eq!((to.as_str(), opaque), ("a:10911", 7));
    let Answer::ConsumedDirectly(ended) = answer else { panic!("{answer:?}") };
    assert_eq!((ended.verdict, ended.order), (DirectVerdict::Success, false));
}
