//! A group that an operator switches to pop and back, on the embedded broker: nothing is lost, what failed comes again
//! when it is due, and members share.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helpers;
#[path = "helpers/process.rs"]
mod process;

use evenkeel::client::Client;
use evenkeel::embedded::{Draft, EmbeddedBroker};
use evenkeel::{
    Ack, Address, Consumer, DelayLevel, Group, Message, MessageQueue, RebalanceBy, StartFrom, Topic,
};
use evenkeel_core::wire::bodies::{ModeSetting, RequestMode};
use evenkeel_core::wire::reply::Reply;
use evenkeel_core::wire::request::{Pop, Request};
use helpers::eventually;
use process::Running;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

const QUEUES: i32 = 4;
const PATIENCE: Duration = Duration::from_secs(10);

/// When a message came, and after how many retries.
type Try = (Instant, i32);

/// The tries of each message, by its body.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<BTreeMap<String, Vec<Try>>>>);

impl Seen {
    fn distinct(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn tries(&self, body: &str) -> Vec<Try> {
        self.0.lock().unwrap().get(body).cloned().unwrap_or_default()
    }

    /// A member that follows the broker; `ack` says what becomes of a message that came so many times before.
    async fn member(
        &self,
        broker: &EmbeddedBroker,
        id: &str,
        max_retries: &str,
        ack: impl Fn(&str, i32) -> Ack + Send + Sync + 'static,
    ) -> Consumer {
        let seen = self.clone();
        let builder = Consumer::builder("pay")
            .embedded(broker)
            .subscribe("orders", "*")
            .client_id(id)
            .start_from(StartFrom::First)
            .rebalance_by(RebalanceBy::Broker)
            .option("rebalance_interval", "200ms")
            .option("max_retries", max_retries)
            .option("pop_invisible", "20s");
        let handler = move |message: Message| {
            assert_eq!(message.topic(), "orders");
            let body = String::from_utf8(message.body().to_vec()).unwrap();
            let ack = ack(&body, message.retries());
            seen.0.lock().unwrap().entry(body).or_default().push((Instant::now(), message.retries()));
            async move { Ok(ack) }
        };
        builder.handler(handler).start().await.unwrap()
    }
}

async fn broker() -> Arc<EmbeddedBroker> {
    Arc::new(EmbeddedBroker::builder().topic("orders", 1, QUEUES).start().await.unwrap())
}

/// What `mqadmin setConsumeMode -b` sends.
async fn set_mode(broker: Address, mode: RequestMode) {
    let (group, topic) = (Group::from("pay"), Topic::from("orders"));
    let request = Request::SetRequestMode(ModeSetting { group, topic, mode, share: 0 });
    Client::start().call(&broker, request, PATIENCE).await.unwrap();
}

async fn switch(broker: &EmbeddedBroker, mode: RequestMode) {
    set_mode(Address::from(broker.broker_addresses()[0].to_string()), mode).await;
}

async fn publish(broker: &EmbeddedBroker, body: &str) {
    broker.publish(0, "orders", Draft::new(body.to_owned())).await.unwrap().unwrap();
}

/// Numbers of the queues and entries of `orders` that a member has.
fn ids(consumer: &Consumer) -> Vec<i32> {
    consumer.assignment().queues().map(|queue| queue.id).collect()
}

#[tokio::test]
async fn switched_before_the_start_and_while_running_nothing_is_lost() {
    let broker = broker().await;
    switch(&broker, RequestMode::Pop).await;
    let seen = Seen::default();
    let consumer = seen.member(&broker, "one", "16", |_, _| Ack::Done).await;
    eventually("an entry", || ids(&consumer) == [-1]).await;

    let stop = Arc::new(AtomicBool::new(false));
    let (publisher, stopped) = (broker.clone(), stop.clone());
    let load = tokio::spawn(async move {
        let mut sent = 0;
        while !stopped.load(Ordering::Relaxed) {
            publish(&publisher, &format!("message {sent}")).await;
            sent += 1;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        sent
    });
    let flowing = async |what: &str| {
        let before = seen.distinct();
        eventually(what, || seen.distinct() > before + 50).await;
    };
    flowing("popped messages").await;
    for (mode, wanted) in [
        (RequestMode::Pull, vec![0, 1, 2, 3]),
        (RequestMode::Pop, vec![-1]),
        (RequestMode::Pull, vec![0, 1, 2, 3]),
        (RequestMode::Pop, vec![-1]),
    ] {
        switch(&broker, mode).await;
        eventually(mode.name(), || ids(&consumer) == wanted).await;
        flowing(mode.name()).await;
    }
    stop.store(true, Ordering::Relaxed);
    let sent = load.await.unwrap();
    eventually("every message", || seen.distinct() == sent).await;
    let report = consumer.shutdown(PATIENCE).await;
    assert_eq!(report.abandoned, 0);
    let snapshot = broker.snapshot().await.unwrap();
    assert_eq!(snapshot.brokers[0].popped, 0, "all of it is acknowledged");
}

#[tokio::test]
async fn a_message_that_failed_comes_again_when_it_is_due_and_others_do_not() {
    let broker = broker().await;
    switch(&broker, RequestMode::Pop).await;
    let seen = Seen::default();
    let second = DelayLevel::new(1).unwrap();
    let ack = move |body: &str, retries| match (body, retries) {
        ("bad", 0) => Ack::RetryAfter(second),
        _ => Ack::Done,
    };
    let consumer = seen.member(&broker, "one", "16", ack).await;
    for body in ["good", "bad"] {
        publish(&broker, body).await;
    }
    eventually("the second try", || seen.tries("bad").len() == 2).await;
    let tries = seen.tries("bad");
    assert_eq!((tries[0].1, tries[1].1), (0, 1));
    assert!(tries[1].0 - tries[0].0 >= Duration::from_millis(950), "{tries:?}");
    consumer.shutdown(PATIENCE).await;
    assert_eq!((seen.tries("good").len(), seen.tries("bad").len()), (1, 2));
    assert_eq!(broker.snapshot().await.unwrap().brokers[0].popped, 0);
}

#[tokio::test]
async fn a_message_that_fails_too_often_becomes_a_dead_letter() {
    let broker = broker().await;
    switch(&broker, RequestMode::Pop).await;
    let seen = Seen::default();
    let second = DelayLevel::new(1).unwrap();
    let consumer = seen.member(&broker, "one", "1", move |_, _| Ack::RetryAfter(second)).await;
    publish(&broker, "bad").await;
    let dead = MessageQueue::new("%DLQ%pay", "embedded-a", 0);
    let letters = || async { broker.snapshot().await.unwrap().max_offset(&dead) };
    let began = Instant::now();
    while letters().await == 0 {
        assert!(began.elapsed() < PATIENCE, "no dead letter");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    consumer.shutdown(PATIENCE).await;
    assert_eq!((seen.tries("bad").len(), letters().await), (2, 1));
    assert_eq!(broker.snapshot().await.unwrap().brokers[0].popped, 0);
}

#[tokio::test]
async fn what_a_member_popped_that_is_gone_comes_to_another_one() {
    let broker = broker().await;
    switch(&broker, RequestMode::Pop).await;
    for number in 0..10 {
        publish(&broker, &format!("message {number}")).await;
    }
    let gone = Client::start();
    let pop = Request::Pop(Pop {
        group: Group::from("pay"),
        queue: MessageQueue::new("orders", "embedded-a", -1),
        max_messages: 7,
        invisible_ms: 1000,
        suspend_ms: 0,
        born: 0,
        from_end: false,
        expression_type: "TAG".into(),
        expression: "*".into(),
    });
    let address = Address::from(broker.broker_addresses()[0].to_string());
    let Ok(Reply::Popped(popped)) = gone.call(&address, pop, PATIENCE).await else { panic!("no messages") };
    assert_eq!(popped.messages.len(), 7);
    drop(gone);

    let seen = Seen::default();
    let consumer = seen.member(&broker, "one", "16", |_, _| Ack::Done).await;
    eventually("all of them", || seen.distinct() == 10).await;
    let again = seen.0.lock().unwrap().values().filter(|tries| tries[0].1 == 1).count();
    assert_eq!(again, 7);
    consumer.shutdown(PATIENCE).await;
}

#[tokio::test]
async fn two_members_have_the_same_entry_and_share_its_messages() {
    let broker = broker().await;
    switch(&broker, RequestMode::Pop).await;
    let seen = [Seen::default(), Seen::default()];
    let slowly = |_: &str, _| {
        std::thread::sleep(Duration::from_millis(1));
        Ack::Done
    };
    let one = seen[0].member(&broker, "one", "16", slowly).await;
    let two = seen[1].member(&broker, "two", "16", slowly).await;
    eventually("both to pop", || ids(&one) == [-1] && ids(&two) == [-1]).await;
    let mut sent = 0;
    while seen.iter().any(|seen| seen.distinct() < 20) {
        assert!(sent < 20_000, "one of the members gets nothing");
        publish(&broker, &format!("message {sent}")).await;
        sent += 1;
    }
    eventually("every message", || seen[0].distinct() + seen[1].distinct() >= sent).await;
    assert_eq!(seen[0].distinct() + seen[1].distinct(), sent, "each to one of them");
    for consumer in [one, two] {
        assert_eq!(consumer.shutdown(PATIENCE).await.abandoned, 0);
    }
}

/// `evenkeel consume` against `evenkeel broker`.
#[tokio::test]
async fn the_command_line_follows_a_switch() {
    let broker = Running::start(&["broker", "--listen", "127.0.0.1:0", "-t", "orders:1x4"]);
    let address = broker.printed("NAMESRV_ADDR=").split('=').nth(1).unwrap().trim().to_owned();
    let send = |body: &str| {
        let args = ["send", "-n", &address, "-t", "orders", body];
        assert!(process::evenkeel(&args).output().unwrap().status.success());
    };
    let options =
        ["-X", "rebalance=broker", "-X", "rebalance_interval=200ms", "--from", "first", "--json", "--events"];
    let args = [&["consume", "-n", &address, "-t", "orders", "-g", "pay"], &options[..]].concat();
    let consumer = Running::start(&args);
    send("pulled");
    consumer.printed("pulled");
    // The first broker answers at the name server's address.
    set_mode(Address::from(address.as_str()), RequestMode::Pop).await;
    consumer.printed("\"embedded-a/-1\"");
    send("popped");
    consumer.printed("popped");
}
