//! Members join and leave on the embedded broker while messages come: handed over exclusively, none comes twice; with
//! sharing left to the broker each has its share, also where the broker cannot do it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helpers;

use evenkeel::embedded::{Draft, EmbeddedBroker, Generation};
use evenkeel::{Ack, Consumer, ConsumerBuilder, Event, Message, NoHandler, RebalanceBy, StartFrom};
use helpers::eventually;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const QUEUES: i32 = 8;
const COUNT: usize = 800;

/// How often each message was handed to a handler, by its body.
#[derive(Clone, Default)]
struct Deliveries(Arc<Mutex<BTreeMap<String, usize>>>);

impl Deliveries {
    fn distinct(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn repeated(&self) -> Vec<String> {
        let counts = self.0.lock().unwrap();
        counts.iter().filter(|(_, count)| **count > 1).map(|(body, _)| body.clone()).collect()
    }

    /// A member whose handlers take a few milliseconds.
    async fn member(&self, builder: ConsumerBuilder<NoHandler>) -> Consumer {
        let deliveries = self.clone();
        let handler = move |message: Message| {
            let body = String::from_utf8(message.body().to_vec()).unwrap();
            *deliveries.0.lock().unwrap().entry(body).or_default() += 1;
            async {
                tokio::time::sleep(Duration::from_millis(3)).await;
                Ok(Ack::Done)
            }
        };
        builder.handler(handler).start().await.unwrap()
    }
}

fn builder(broker: &EmbeddedBroker, id: &str) -> ConsumerBuilder<NoHandler> {
    Consumer::builder("pay")
        .embedded(broker)
        .subscribe("orders", "*")
        .client_id(id)
        .start_from(StartFrom::First)
        .concurrency(4)
}

/// One message every millisecond or two.
fn publish(broker: &Arc<EmbeddedBroker>) -> tokio::task::JoinHandle<()> {
    let broker = Arc::clone(broker);
    tokio::spawn(async move {
        for number in 0..COUNT {
            let draft = Draft::new(format!("message {number}")).queue(number as i32 % QUEUES);
            broker.publish(0, "orders", draft).await.unwrap().unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
}

#[tokio::test]
async fn handed_over_exclusively_no_message_comes_twice() {
    let broker = Arc::new(EmbeddedBroker::builder().topic("orders", 1, QUEUES).start().await.unwrap());
    let deliveries = Deliveries::default();
    let exclusive = |id| deliveries.member(builder(&broker, id).exclusive_handover(true));
    let first = exclusive("first").await;
    let publishing = publish(&broker);
    eventually("the first messages", || deliveries.distinct() > COUNT / 8).await;
    let second = exclusive("second").await;
    eventually("two members", || first.assignment().len() == 4 && second.assignment().len() == 4).await;
    let third = exclusive("third").await;
    first.shutdown(Duration::from_secs(10)).await;
    eventually("its queues to be the others'", || {
        second.assignment().len() == 4 && third.assignment().len() == 4
    })
    .await;
    publishing.await.unwrap();
    eventually("every message", || deliveries.distinct() == COUNT).await;
    for member in [second, third] {
        assert_eq!(member.shutdown(Duration::from_secs(10)).await.abandoned, 0);
    }
    assert_eq!(deliveries.repeated(), [] as [String; 0]);
}

#[tokio::test]
async fn the_broker_shares_out_or_the_members_do_where_it_cannot() {
    for generation in [Generation::V5, Generation::V4_9] {
        sharing_left_to(generation).await;
    }
}

async fn sharing_left_to(generation: Generation) {
    let settings = EmbeddedBroker::builder().topic("orders", 1, QUEUES);
    let settings = settings.configure(|config| config.generation = generation);
    let broker = Arc::new(settings.start().await.unwrap());
    let deliveries = Deliveries::default();
    let follower = |id| deliveries.member(builder(&broker, id).rebalance_by(RebalanceBy::Broker));
    let first = follower("first").await;
    let mut events = first.events();
    let second = follower("second").await;
    eventually("an even share", || first.assignment().len() == 4 && second.assignment().len() == 4).await;
    publish(&broker).await.unwrap();
    eventually("every message", || deliveries.distinct() == COUNT).await;
    for member in [first, second] {
        member.shutdown(Duration::from_secs(10)).await;
    }
    // A broker that shares out does not say how many members there are.
    let mut counts = BTreeSet::new();
    while let Some(event) = events.next().await {
        if let Event::Rebalanced { topic, members, .. } = event {
            counts.extend((topic.as_str() == "orders").then_some(members));
        }
    }
    let by_broker = counts == BTreeSet::from([0]);
    assert_eq!(by_broker, generation == Generation::V5, "{counts:?}");
}
