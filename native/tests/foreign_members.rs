//! A strategy that only Evenkeel knows, in groups that do not all run it.
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
            if let Event::ForeignMembers { members, refused } = event {
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
