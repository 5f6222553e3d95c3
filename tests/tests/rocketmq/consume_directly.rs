//! `mqadmin queryMsgById -g GROUP -d CLIENT` (C24): a broker has one message consumed by the member that an operator names,
//! and the operator sees how its handler ended.

use evenkeel::{Ack, Batch, Consumer, Message, Ordered, Outgoing, Producer};
use evenkeel_tests::java::{Cluster, Options, Version};
use std::time::Duration;
use tokio::runtime::Runtime;

#[test]
fn c24_one_message_is_consumed_on_an_operators_word_on_4_9() {
    scenarios(Version::V4);
}

#[test]
fn c24_one_message_is_consumed_on_an_operators_word_on_5() {
    scenarios(Version::V5);
}

/// The messages lie in a topic that the members do not subscribe to: what comes of them, the operator asked for.
fn scenarios(version: Version) {
    let cluster = Cluster::start(version, &Options::default());
    cluster.create_topic("orders", 2);
    cluster.create_topic("aside", 1);
    let runtime = Runtime::new().expect("a runtime");
    let ids = runtime.block_on(send(&cluster, &["good", "later", "bad", "panic", "hang"]));
    let (good, all) = (&ids[0], ids.join(","));

    let member = Consumer::builder("concurrent").name_servers(&cluster.namesrv()).subscribe("orders", "*");
    let member = runtime.block_on(member.handler(handle).start()).expect("a started member");
    let client = member.client_id().as_str().to_owned();
    let text = ask(&cluster, "concurrent", &client, &all);
    for end in [
        "order=false, autoCommit=true, consumeResult=CR_SUCCESS, remark=null",
        "consumeResult=CR_LATER, remark=null",
        "consumeResult=CR_THROW_EXCEPTION, remark=no money",
        "consumeResult=CR_THROW_EXCEPTION, remark=panic: index 9",
        "consumeResult=CR_RETURN_NULL, remark=the handler has not ended within 4 s; it goes on",
    ] {
        assert!(text.contains(end), "{end}: {text}");
    }
    let report = runtime.block_on(member.shutdown(Duration::from_secs(1)));
    assert_eq!(report.abandoned, 1, "the one that hangs");

    let member = Consumer::builder("ordered").name_servers(&cluster.namesrv()).subscribe("orders", "*");
    let member = member.ordered_handler(|batch: Batch| async move {
        assert_eq!(batch.len(), 1, "one message is one message");
        Ok(Ordered::Done)
    });
    let member = runtime.block_on(member.start()).expect("a started member");
    let client = member.client_id().as_str().to_owned();
    let text = ask(&cluster, "ordered", &client, good);
    assert!(text.contains("order=true, autoCommit=true, consumeResult=CR_SUCCESS"), "{text}");
    let report = runtime.block_on(member.shutdown(Duration::from_secs(5)));
    assert_eq!(report.abandoned, 0);
}

async fn handle(message: Message) -> evenkeel::HandlerResult {
    assert_eq!((message.topic(), message.queue().broker.as_str()), ("aside", "broker-a"));
    match &message.body()[..] {
        b"good" => Ok(Ack::Done),
        b"later" => Ok(Ack::RetryLater),
        b"bad" => Err("no money".into()),
        b"panic" => panic!("index 9"),
        _ => std::future::pending().await,
    }
}

/// The brokers' ids of these messages.
async fn send(cluster: &Cluster, bodies: &[&'static str]) -> Vec<String> {
    let producer = Producer::builder("p").name_servers(&cluster.namesrv()).start().expect("a producer");
    let mut ids = Vec::new();
    for body in bodies {
        ids.push(producer.send(Outgoing::new("aside", *body)).await.expect("a stored message").offset_id);
    }
    producer.close().await;
    ids
}

fn ask(cluster: &Cluster, group: &str, client: &str, ids: &str) -> String {
    // 5.x insists on a topic, which 4.9 does not know.
    let topic: &[&str] = if cluster.version() == Version::V5 { &["-t", "aside"] } else { &[] };
    let text = cluster.mqadmin(&[&["queryMsgById", "-g", group, "-d", client, "-i", ids], topic].concat());
    println!("{}: {text}", cluster.version());
    text
}
