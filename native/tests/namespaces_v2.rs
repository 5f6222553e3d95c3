//! Namespaces of the second kind: every request names it in two fields, signed with the rest, and no name changes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "helpers/process.rs"]
mod process;
#[path = "helpers/recorder.rs"]
mod recorder;

use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Ack, Consumer, Credentials, Message, Outgoing, Producer, StartFrom};
use evenkeel_core::wire::code::RequestCode;
use evenkeel_core::wire::command::Command;
use process::evenkeel;
use recorder::Recorder;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::mpsc;

const WAIT: Duration = Duration::from_secs(30);

fn key() -> Credentials {
    Credentials::new("reader", "rosebud-4711")
}

async fn broker() -> EmbeddedBroker {
    let builder = EmbeddedBroker::builder().topic("orders", 1, 2).topic("one%orders", 1, 2);
    let builder = builder.configure(|config| {
        config.keys = vec![key()];
        config.delay_levels = vec![evenkeel_core::time::Duration::from_millis(50); 18];
    });
    builder.start().await.unwrap()
}

/// From the first route to the last request that leaves the group; the first try of the message fails.
async fn a_life(recorder: &Recorder, namespace: &str) {
    let builder = Producer::builder("shop").name_servers(&recorder.name_server).credentials(key());
    let producer = builder.namespace(namespace).namespace_v2("tenant").start().unwrap();
    let (tell, mut told) = mpsc::unbounded_channel();
    let consumer = Consumer::builder("pay")
        .name_servers(&recorder.name_server)
        .credentials(key())
        .namespace(namespace)
        .namespace_v2("tenant")
        .subscribe("orders", "*")
        .start_from(StartFrom::First)
        .handler(move |message: Message| {
            let again = message.retries() == 0;
            let topic = message.topic().to_owned();
            let sent = again || tell.send(topic).is_ok();
            async move { if sent && !again { Ok(Ack::Done) } else { Ok(Ack::RetryLater) } }
        });
    let consumer = consumer.start().await.unwrap();
    producer.send(Outgoing::new("orders", "one")).await.unwrap();
    producer.send_one_way(Outgoing::new("orders", "two")).await.unwrap();
    for _ in 0..2 {
        let topic = tokio::time::timeout(WAIT, told.recv()).await.expect("a message comes");
        assert_eq!(topic.unwrap(), "orders");
    }
    consumer.shutdown(WAIT).await;
    producer.close().await;
}

fn field<'a>(command: &'a Command, name: &str) -> Option<&'a str> {
    command.fields.get(name)
}

#[tokio::test]
async fn every_request_names_it_and_is_signed_with_it() {
    let broker = broker().await;
    let recorder = Recorder::before(&broker).await;
    a_life(&recorder, "").await;
    let requests = recorder.requests();
    for request in &requests {
        assert_eq!(
            (field(request, "nsd"), field(request, "ns")),
            (Some("true"), Some("tenant")),
            "{request:?}"
        );
    }
    let codes: BTreeSet<i32> = requests.iter().map(|request| request.code).collect();
    for code in [
        RequestCode::GET_ROUTEINFO_BY_TOPIC,
        RequestCode::HEART_BEAT,
        RequestCode::GET_CONSUMER_LIST_BY_GROUP,
        RequestCode::QUERY_CONSUMER_OFFSET,
        RequestCode::PULL_MESSAGE,
        RequestCode::SEND_MESSAGE_V2,
        RequestCode::CONSUMER_SEND_MSG_BACK,
        RequestCode::UPDATE_CONSUMER_OFFSET,
        RequestCode::UNREGISTER_CLIENT,
    ] {
        assert!(codes.contains(&code.0), "{code:?} was never asked");
    }
    let routes = requests.iter().filter(|request| request.code == RequestCode::GET_ROUTEINFO_BY_TOPIC.0);
    let topics: BTreeSet<_> = routes.filter_map(|request| field(request, "topic")).collect();
    assert!(topics.contains("orders") && topics.iter().all(|topic| !topic.contains("tenant")), "{topics:?}");
    let denied = broker.visit(|state, _, _| state.denied()).await.unwrap();
    assert_eq!(denied, 0, "the signature is over these fields, too");
}

/// As in Java the two kinds do not know of each other.
#[tokio::test]
async fn both_kinds_go_together() {
    let broker = broker().await;
    let recorder = Recorder::before(&broker).await;
    a_life(&recorder, "one").await;
    let requests = recorder.requests();
    assert!(requests.iter().all(|request| field(request, "ns") == Some("tenant")));
    let pulls = requests.iter().filter(|request| request.code == RequestCode::PULL_MESSAGE.0);
    let topics: BTreeSet<_> = pulls.filter_map(|request| field(request, "topic")).collect();
    assert_eq!(topics, ["%RETRY%one%pay", "one%orders"].into());
}

/// By a flag and by the environment; for commands that look at a cluster, too.
#[tokio::test]
async fn the_command_line_has_it() {
    let builder = EmbeddedBroker::builder().topic("orders", 1, 2);
    let broker = builder.start().await.unwrap();
    let recorder = Recorder::before(&broker).await;
    let server = recorder.name_server.as_str();
    let by_flag: [(&[&str], bool); 3] = [
        (&["send", "-t", "orders", "one", "-X", "namespaceV2=tenant"], true),
        (&["route", "orders", "-X", "cluster.namespace_v2=tenant"], true),
        (&["route", "orders"], false),
    ];
    let by_environment: [(&[&str], bool); 2] = [
        (&["consume", "-t", "orders", "-g", "pay", "--from", "first", "-e"], true),
        (&["group", "pay"], true),
    ];
    let runs = by_flag.map(|run| (run, None)).into_iter();
    for ((args, named), environment) in runs.chain(by_environment.map(|run| (run, Some("tenant")))) {
        let mut command = evenkeel(&[args, &["-n", server]].concat());
        if let Some(namespace) = environment {
            command.env("EVENKEEL__CLUSTER__NAMESPACE_V2", namespace);
        }
        let before = recorder.requests().len();
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        let requests = recorder.requests().split_off(before);
        let fields = if named { (Some("true"), Some("tenant")) } else { (None, None) };
        assert!(!requests.is_empty(), "{args:?}");
        for request in &requests {
            assert_eq!((field(request, "nsd"), field(request, "ns")), fields, "{args:?}: {request:?}");
        }
    }
}
