//! A broker with a topic `orders`, and members that consume it.

use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Ack, Consumer, StartFrom};

/// Two brokers with four queues of `orders` each.
pub(crate) async fn broker() -> EmbeddedBroker {
    EmbeddedBroker::builder().topic("orders", 2, 4).start().await.unwrap()
}

/// A started member that is content with every message.
pub(crate) async fn member(broker: &EmbeddedBroker, group: &str, client: &str) -> Consumer {
    let builder = Consumer::builder(group)
        .name_servers(&broker.name_server().to_string())
        .client_id(client)
        .subscribe("orders", "*")
        .start_from(StartFrom::First)
        // A route that was read before both brokers had made the retry topic is read again soon.
        .option("route_interval", "200ms")
        .handler(|_message| async { Ok(Ack::Done) });
    builder.start().await.unwrap()
}

/// How many queues of `orders` it has.
pub(crate) fn orders(consumer: &Consumer) -> usize {
    let assignment = consumer.assignment();
    assignment.queues().filter(|queue| queue.topic.as_str() == "orders").count()
}
