//! What only Evenkeel knows, a strategy or the exclusive hand-over, in groups whose members do not all have it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helpers;

use assert_cmd::Command;
use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Ack, Consumer, ConsumerBuilder, ErrorKind, Event, NoHandler};
use helpers::eventually;
use std::time::Duration;

fn builder(broker: &EmbeddedBroker, id: &str, strategy: &str) -> ConsumerBuilder<NoHandler> {
    Consumer::builder("mixed")
        .name_servers(&broker.name_server().to_string())
        .subscribe("orders", "*")
        .client_id(id)
        .strategy_named(strategy)
}

async fn start(builder: ConsumerBuilder<NoHandler>) -> Result<Consumer, evenkeel::Error> {
    builder.handler(|_| async { Ok(Ack::Done) }).start().await
}

async fn broker() -> EmbeddedBroker {
    EmbeddedBroker::builder().topic("orders", 1, 8).start().await.unwrap()
}

#[tokio::test]
async fn a_draft_among_others_is_refused_and_named() {
    let broker = broker().await;
    let first = start(builder(&broker, "first", "avg")).await.unwrap();
    let error = start(builder(&broker, "second", "draft")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    let text = format!("{error:#}");
    assert!(text.contains("first: runs AVG") && !text.contains("second"), "{text}");
    assert!(error.hint().is_some_and(|hint| hint.contains("foreign_members=warn")), "{error:?}");
    eventually("the first to have all queues again", || first.assignment().len() == 8).await;

    let warned = builder(&broker, "third", "draft").option("foreign_members", "warn");
    let third = start(warned).await.unwrap();
    third.shutdown(Duration::ZERO).await;
    first.shutdown(Duration::ZERO).await;
    broker.shutdown().await;
}

#[tokio::test]
async fn members_that_all_draft_share_and_hear_of_who_does_not() {
    let broker = broker().await;
    let first = start(builder(&broker, "first", "draft")).await.unwrap();
    let mut events = first.events();
    let second = start(builder(&broker, "second", "draft")).await.unwrap();
    eventually("an even share", || first.assignment().len() == 4 && second.assignment().len() == 4).await;

    let third = start(builder(&broker, "third", "circle")).await.unwrap();
    let told = async {
        while let Some(event) = events.next().await {
            if let Event::ForeignMembers { members, refused, .. } = event {
                return Some((members, refused));
            }
        }
        None
    };
    let told = tokio::time::timeout(Duration::from_secs(10), told).await.unwrap();
    assert_eq!(told, Some((vec![("third".into(), "runs AVG_BY_CIRCLE".to_owned())], false)));
    for consumer in [first, second, third] {
        consumer.shutdown(Duration::ZERO).await;
    }
    broker.shutdown().await;
}

#[tokio::test]
async fn the_command_ends_with_2_and_says_what_to_do() {
    let broker = broker().await;
    let first = start(builder(&broker, "first", "avg")).await.unwrap();
    let servers = broker.name_server().to_string();
    let consume = move || {
        let args = ["consume", "-n", &servers, "-g", "mixed", "-t", "orders", "--strategy", "draft"];
        let mut command = Command::cargo_bin("evenkeel").unwrap();
        command.args(args).env_remove("NAMESRV_ADDR").timeout(Duration::from_secs(30)).output().unwrap()
    };
    let output = tokio::task::spawn_blocking(consume).await.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("first: runs AVG") && stderr.contains("-X foreign_members=warn"), "{stderr}");
    first.shutdown(Duration::ZERO).await;
    broker.shutdown().await;
}

#[tokio::test]
async fn an_exclusive_hand_over_starts_among_its_like_only() {
    let broker = broker().await;
    let exclusive = |id| builder(&broker, id, "avg").exclusive_handover(true);
    let first = start(exclusive("first")).await.unwrap();
    let second = start(exclusive("second")).await.unwrap();
    eventually("an even share", || first.assignment().len() == 4 && second.assignment().len() == 4).await;

    let third = start(builder(&broker, "third", "avg")).await.unwrap();
    let error = start(exclusive("fourth")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    let text = format!("{error:#}");
    assert!(text.contains("third: does not hand its queues over exclusively"), "{text}");
    assert!(!text.contains("first") && !text.contains("second"), "{text}");
    assert!(error.hint().is_some_and(|hint| hint.contains("leave exclusive_handover off")), "{error:?}");
    for consumer in [first, second, third] {
        consumer.shutdown(Duration::ZERO).await;
    }
    broker.shutdown().await;
}

#[tokio::test]
async fn the_command_with_exclusive_handover_ends_with_2_among_others_and_with_broadcast() {
    let broker = broker().await;
    let first = start(builder(&broker, "first", "avg")).await.unwrap();
    let servers = broker.name_server().to_string();
    let consume = move |further: &'static str| {
        let args = ["consume", "-n", &servers, "-g", "mixed", "-t", "orders", "--exclusive-handover"];
        let mut command = Command::cargo_bin("evenkeel").unwrap();
        command.args(args).args(further.split_whitespace()).env_remove("NAMESRV_ADDR");
        let output = command.timeout(Duration::from_secs(30)).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let both = move || (consume(""), consume("--broadcast"));
    let (among_others, broadcasting) = tokio::task::spawn_blocking(both).await.unwrap();
    let (code, stderr) = among_others;
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("first: does not hand") && stderr.contains("-X foreign_members=warn"),
        "{stderr}"
    );
    let (code, stderr) = broadcasting;
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("exclusive_handover: members of a broadcasting group"), "{stderr}");
    first.shutdown(Duration::ZERO).await;
    broker.shutdown().await;
}
