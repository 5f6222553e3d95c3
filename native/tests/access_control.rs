//! Servers with access control: every request is signed, refusals say what to check, and no secret is told.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "helpers/process.rs"]
mod process;

use evenkeel::client::{Client, NameServers};
use evenkeel::embedded::{EmbeddedBroker, Generation};
use evenkeel::settings::{Settings, Sources};
use evenkeel::{
    Ack, Blame, Consumer, Credentials, Error, ErrorKind, Outgoing, Producer, Security, StartFrom,
};
use evenkeel_core::wire::request::Request;
use process::evenkeel;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;
use tokio::sync::mpsc;

/// Stands in secret keys and tokens, and nowhere else.
const SECRET: &str = "rosebud-4711";
const GENERATIONS: [Generation; 2] = [Generation::V4_9, Generation::V5];

fn right() -> Credentials {
    Credentials::new("reader", SECRET).with_security_token(format!("{SECRET}-token"))
}

async fn broker(generation: Generation) -> EmbeddedBroker {
    let builder = EmbeddedBroker::builder().topic("orders", 2, 2).configure(|config| {
        config.generation = generation;
        config.keys = vec![right(), Credentials::new("simple", SECRET)];
        config.delay_levels = vec![evenkeel_core::time::Duration::from_millis(50); 18];
    });
    builder.start().await.unwrap()
}

async fn denied(broker: &EmbeddedBroker) -> u64 {
    broker.visit(|state, _, _| state.denied()).await.unwrap()
}

/// From the first request to the name server to the last one that leaves the group.
#[tokio::test]
async fn every_request_of_consumer_and_producer_is_signed() {
    for generation in GENERATIONS {
        let broker = broker(generation).await;
        let producer = Producer::builder("p").embedded(&broker).credentials(right()).start().unwrap();
        let (tell, mut told) = mpsc::unbounded_channel();
        let consumer = Consumer::builder("g")
            .embedded(&broker)
            .credentials(right())
            .subscribe("orders", "*")
            .start_from(StartFrom::First)
            .handler(move |message| {
                // The first try is sent back to the broker.
                let again = message.retries() == 0;
                let sent = again || tell.send(message.body().clone()).is_ok();
                async move { if sent && !again { Ok(Ack::Done) } else { Ok(Ack::RetryLater) } }
            });
        let consumer = consumer.start().await.unwrap();
        producer.send(Outgoing::new("orders", "one")).await.unwrap();
        producer.send_one_way(Outgoing::new("orders", "two")).await.unwrap();
        let batch = ["three", "four"].map(|text| Outgoing::new("orders", text));
        producer.send_batch(batch.to_vec()).await.unwrap();
        let mut bodies = BTreeSet::new();
        while bodies.len() < 4 {
            let body = tokio::time::timeout(Duration::from_secs(30), told.recv()).await;
            bodies.insert(body.expect("four messages come again").unwrap());
        }
        let report = consumer.shutdown(Duration::from_secs(5)).await;
        assert!(!report.committed.is_empty());
        producer.close().await;
        assert_eq!(denied(&broker).await, 0, "{generation:?}");
        broker.shutdown().await;
    }
}

fn is_a_clear_refusal(error: &Error) {
    let text = format!("{error} {error:?}");
    assert_eq!((error.kind(), error.blame()), (ErrorKind::Refused, Blame::Caller), "{text}");
    assert!(!error.is_retryable(), "{text}");
    assert!(error.hint().is_some_and(|hint| hint.contains("--secret-key-file")), "{text}");
    assert!(!text.contains(SECRET), "{text}");
}

#[tokio::test]
async fn wrong_keys_are_refused_at_once_and_clearly() {
    for generation in GENERATIONS {
        let broker = broker(generation).await;
        let wrong = [
            Security::default(),
            Security::default().credentials(Credentials::new("nobody", SECRET)),
            Security::default().credentials(Credentials::new("simple", format!("{SECRET}-wrong"))),
            // The token takes part.
            Security::default().credentials(Credentials::new("reader", SECRET)),
        ];
        for security in wrong {
            let consumer = Consumer::builder("g").embedded(&broker).security(security.clone());
            let consumer = consumer.subscribe("orders", "*").handler(async |_| Ok(Ack::Done));
            is_a_clear_refusal(&consumer.start().await.unwrap_err());

            let producer = Producer::builder("p").embedded(&broker).security(security.clone()).start();
            is_a_clear_refusal(&producer.unwrap().send(Outgoing::new("orders", "x")).await.unwrap_err());

            let servers = broker.name_server().to_string();
            let servers = NameServers::parse(Client::secured(security.clone()), &servers, "test").unwrap();
            let request = Request::Route { topic: "orders".into() };
            let answer = servers.call("read the route", request, Duration::from_secs(5)).await;
            is_a_clear_refusal(&answer.unwrap_err());
            assert!(!format!("{security:?}").contains(SECRET));
        }
        broker.shutdown().await;
    }
}

/// A file with a key, removed with the test.
struct KeyFile(PathBuf);

impl KeyFile {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("evenkeel-key-{}-{name}", std::process::id()));
        fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for KeyFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

async fn run(args: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = evenkeel(args);
    command.envs(environment.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let all = [output.stdout.as_slice(), &output.stderr].concat();
    let all = String::from_utf8_lossy(&all);
    assert!(!all.contains(SECRET), "{args:?} told the secret: {all}");
    output
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// With everything logged that there is to log.
#[tokio::test]
async fn commands_sign_with_what_the_environment_or_a_file_has_and_tell_nothing() {
    let broker = broker(Generation::V4_9).await;
    let servers = broker.name_server().to_string();
    let key = KeyFile::new("right", &format!("{SECRET}\n"));
    let route = ["route", "orders", "-n", &servers, "-vvv"];
    let by_environment = [("ROCKETMQ_ACCESS_KEY", "simple"), ("ROCKETMQ_SECRET_KEY", SECRET)];
    let output = run(&route, &by_environment).await;
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));

    let token = format!("{SECRET}-token");
    let with_token = [
        ("ROCKETMQ_ACL_ACCESS_KEY", "reader"),
        ("ROCKETMQ_ACL_SECRET_KEY", SECRET),
        ("ROCKETMQ_ACL_SECURITY_TOKEN", &token),
    ];
    assert_eq!(run(&route, &with_token).await.status.code(), Some(0));

    let consume = ["consume", "-t", "orders", "-g", "g", "-n", &servers, "-e", "-vvv", "--events", "--json"];
    let by_file = ["--access-key-env", "MY_KEY", "--secret-key-file", key.path()];
    let output = run(&[consume.as_slice(), &by_file].concat(), &[("MY_KEY", "simple")]).await;
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(denied(&broker).await, 0);

    let wrong = [("ROCKETMQ_ACCESS_KEY", "nobody"), ("ROCKETMQ_SECRET_KEY", SECRET)];
    for args in [consume.as_slice(), &route] {
        for environment in [wrong.as_slice(), &[]] {
            let output = run(args, environment).await;
            assert_eq!(output.status.code(), Some(5), "{}", told(&output));
            assert!(told(&output).contains("hint: check the access key"), "{}", told(&output));
        }
    }
    broker.shutdown().await;
}

#[tokio::test]
async fn a_secret_in_an_argument_or_a_config_file_is_refused_and_not_repeated() {
    let config = KeyFile::new("config.toml", &format!("[cluster]\nsecret_key = \"{SECRET}\"\n"));
    let argument = format!("secretKey={SECRET}");
    let route = ["route", "orders", "-n", "127.0.0.1:1"];
    for more in [["-X", &argument], ["--config", config.path()]] {
        let output = run(&[route.as_slice(), &more].concat(), &[]).await;
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains("cluster.secret_key is a secret"), "{}", told(&output));
        assert!(told(&output).contains("ROCKETMQ_SECRET_KEY"), "{}", told(&output));
    }
    let several = KeyFile::new("several", &format!("{SECRET}\n{SECRET}\n"));
    let named = ["--access-key-env", "MY_KEY", "--secret-key-file", several.path()];
    let output = run(&[route.as_slice(), &named].concat(), &[("MY_KEY", "simple")]).await;
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    let list = run(&["-X", "list"], &[("ROCKETMQ_SECRET_KEY", SECRET)]).await;
    assert_eq!(list.status.code(), Some(0), "{}", told(&list));
}

fn settings(pairs: &[(&str, &str)]) -> Settings {
    let environment = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let sources = Sources { environment, ..Sources::default() };
    let settings = Settings::load(&sources).unwrap();
    assert!(!format!("{sources:?} {settings:?}").contains(SECRET));
    settings
}

#[test]
fn half_a_key_is_a_mistake_that_names_the_other_half() {
    let half = |pairs: &[(&str, &str)]| settings(pairs).security().unwrap_err().to_string();
    assert!(half(&[("ROCKETMQ_ACCESS_KEY", "simple")]).contains("ROCKETMQ_SECRET_KEY"));
    assert!(half(&[("ROCKETMQ_SECRET_KEY", SECRET)]).contains("ROCKETMQ_ACCESS_KEY"));
    assert!(half(&[("ROCKETMQ_SECURITY_TOKEN", SECRET)]).contains("ROCKETMQ_ACCESS_KEY"));
    let whole = [("ROCKETMQ_ACCESS_KEY", "simple"), ("EVENKEEL__CLUSTER__SECRET_KEY", SECRET)];
    let security = settings(&whole).security().unwrap();
    assert!(format!("{security:?}").contains("simple") && !format!("{security:?}").contains(SECRET));
    assert!(settings(&[]).security().is_ok());
}
