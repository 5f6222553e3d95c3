//! Namespaces: what goes out has the prefix, what handlers get has not.

use crate::support;

use evenkeel_core::consumer::{Input, Outcome, Scope};
use evenkeel_core::wire::message::Message;
use evenkeel_core::wire::properties::Properties;
use support::cluster::message;
use support::{Cluster, MessageQueue, Request, Rig, SECOND, Topic, all_of, config, queue};

const TOPIC: &str = "inst%orders";
const RETRY: &str = "%RETRY%inst%g";

fn rig() -> Rig {
    let mut config = config(&["orders"]);
    config.namespace = "inst".into();
    let mut net = Cluster::one(TOPIC, 1).with_committed(&queue(TOPIC, 0), 0);
    net.topic(RETRY, &[("a", 1)]);
    net = net.with_committed(&queue(RETRY, 0), 0);
    Rig::new(net, config)
}

fn topics_handed_out(rig: &Rig, queue: &MessageQueue) -> Vec<Topic> {
    let of_queue = rig.deliveries.iter().filter(|(_, delivery)| delivery.queue == *queue);
    of_queue.flat_map(|(_, delivery)| delivery.messages.iter().map(|m| m.topic.clone())).collect()
}

#[test]
fn servers_see_the_namespace_in_every_name() {
    let mut rig = rig();
    rig.advance(6 * SECOND);
    rig.store(&queue(TOPIC, 0), 1);
    rig.advance(6 * SECOND);
    rig.finish_all();
    rig.advance(6 * SECOND);
    assert_eq!(rig.net.committed[&queue(TOPIC, 0)], 1);
    let names = rig.sent(0, |flight| match &flight.request {
        Request::Route { topic } => Some(vec![topic.to_string()]),
        Request::Heartbeat(beat) => Some(
            beat.consumers
                .iter()
                .flat_map(|consumer| {
                    let topics = consumer.subscriptions.iter().map(|s| s.subscription.topic.to_string());
                    topics.chain([consumer.group.to_string()]).collect::<Vec<_>>()
                })
                .collect(),
        ),
        Request::Members { group }
        | Request::QueryOffset { group, .. }
        | Request::CommitOffset { group, .. } => Some(vec![group.to_string()]),
        Request::Pull(pull) => Some(vec![pull.group.to_string(), pull.queue.topic.to_string()]),
        _ => None,
    });
    let names: std::collections::BTreeSet<String> = names.into_iter().flatten().collect();
    assert_eq!(names, [TOPIC, RETRY, "inst%g"].map(str::to_owned).into());
}

#[test]
fn handlers_see_topics_without_it() {
    let mut rig = rig();
    rig.store(&queue(TOPIC, 0), 1);
    rig.advance(6 * SECOND);
    assert_eq!(topics_handed_out(&rig, &queue(TOPIC, 0)), [Topic::from("orders")]);
}

/// The message goes back under the name that the broker knows, and comes again under the one that the handler knows.
#[test]
fn a_failed_message_goes_back_and_comes_again() {
    let mut rig = rig();
    rig.store(&queue(TOPIC, 0), 1);
    rig.advance(6 * SECOND);
    rig.fail(&queue(TOPIC, 0), 0);
    rig.advance(SECOND);
    let origins = rig.sent(0, |flight| match &flight.request {
        Request::SendBack(back) => Some((back.origin_topic.to_string(), back.group.to_string())),
        _ => None,
    });
    assert_eq!(origins, [(TOPIC.to_string(), "inst%g".to_string())]);

    let again: Message = {
        let mut message = message(&queue(RETRY, 0), 0);
        message.properties = Properties::from_pairs([("RETRY_TOPIC", TOPIC)]);
        message
    };
    rig.net.stored.entry(queue(RETRY, 0)).or_default().push(again);
    rig.advance(30 * SECOND);
    assert_eq!(topics_handed_out(&rig, &queue(RETRY, 0)), [Topic::from("orders")]);
}

/// Topics may be named either way.
#[test]
fn orders_take_both_names() {
    for name in ["orders", TOPIC] {
        let mut rig = rig();
        rig.advance(6 * SECOND);
        rig.input(Input::Pause { scope: Scope::Topic(name.into()) });
        rig.store(&queue(TOPIC, 0), 1);
        rig.advance(6 * SECOND);
        assert_eq!(topics_handed_out(&rig, &queue(TOPIC, 0)), [] as [Topic; 0], "{name} is paused");
        rig.input(Input::Resume { scope: Scope::Topic(name.into()) });
        assert_eq!(topics_handed_out(&rig, &queue(TOPIC, 0)).len(), 1, "{name} goes on");
        let ticket = rig.ticket(&queue(TOPIC, 0), 0);
        rig.outcome(ticket, Outcome::Done);

        rig.input(Input::Unsubscribe { topic: name.into() });
        rig.advance(6 * SECOND);
        assert_eq!(rig.fetching(TOPIC), [] as [i32; 0], "{name} is not wanted any more");
        rig.input(Input::Subscribe { subscription: all_of(name) });
        rig.advance(6 * SECOND);
        assert_eq!(rig.fetching(TOPIC), [0], "{name} is wanted again");
    }
}
