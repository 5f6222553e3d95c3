//! Encrypted connections: who is trusted, what refusals say, and that nothing of a private key is told.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "helpers/certificates.rs"]
mod certificates;
#[path = "helpers/process.rs"]
mod process;
#[path = "helpers/tls_front.rs"]
mod tls_front;

use certificates::{Ca, Folder, Signed};
use evenkeel::client::{Client, NameServers};
use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Ack, Blame, Consumer, Error, ErrorKind, Outgoing, Producer, Security, StartFrom, Tls};
use evenkeel_core::wire::request::Request;
use process::evenkeel;
use std::process::Output;
use std::time::Duration;
use tls_front::{Front, HOST, VERSIONS, Wants};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

const PATIENCE: Duration = Duration::from_secs(30);

/// A CA in a file.
struct Trusted {
    ca: Ca,
    file: String,
    folder: Folder,
}

impl Trusted {
    fn new() -> Self {
        let (ca, folder) = (Ca::new("the CA"), Folder::new());
        let file = folder.write("ca.pem", &ca.pem);
        Self { ca, file, folder }
    }

    fn tls(&self) -> Tls {
        Tls::builder().ca_file(&self.file).build().unwrap()
    }

    /// A certificate and its key as files.
    fn pair(&self, name: &str, signed: &Signed) -> [String; 2] {
        let certificate = self.folder.write(&format!("{name}.pem"), &signed.certificate);
        [certificate, self.folder.write(&format!("{name}.key"), &signed.key)]
    }
}

fn secured(tls: Tls) -> Security {
    Security::default().tls(tls)
}

async fn route(servers: &str, security: &Security) -> Result<(), Error> {
    let servers = NameServers::parse(Client::secured(security.clone()), servers, "test").unwrap();
    let request = Request::Route { topic: "orders".into() };
    servers.call("read the route", request, PATIENCE).await.map(|_| ())
}

/// What a producer and a consumer say that cannot begin.
async fn starts(servers: &str, security: &Security) -> Vec<Error> {
    let producer = Producer::builder("p").name_servers(servers).security(security.clone()).start().unwrap();
    let consumer = Consumer::builder("g").name_servers(servers).security(security.clone());
    let consumer = consumer.subscribe("orders", "*").handler(async |_| Ok(Ack::Done));
    vec![
        producer.send(Outgoing::new("orders", "x")).await.unwrap_err(),
        consumer.start().await.map(|_| ()).unwrap_err(),
    ]
}

/// What everybody says who cannot reach a name server.
async fn failures(servers: &str, security: &Security) -> Vec<Error> {
    let mut errors = starts(servers, security).await;
    errors.push(route(servers, security).await.unwrap_err());
    errors
}

async fn is_refused(servers: &str, security: &Security, what: &str, advice: &str) {
    for error in failures(servers, security).await {
        let text = format!("{error}");
        assert_eq!((error.kind(), error.blame()), (ErrorKind::Refused, Blame::Caller), "{text}");
        assert!(!error.is_retryable(), "{text}");
        assert!(text.contains(what) && text.contains(servers), "{text}");
        assert!(error.hint().is_some_and(|hint| hint.contains(advice)), "{text}");
    }
}

/// Sends a small and a large message and waits for both.
async fn passes(front: &Front, security: &Security) {
    let servers = front.name_server();
    let producer = Producer::builder("p").name_servers(&servers).security(security.clone()).start().unwrap();
    // More than sockets and TLS take at once, so that something is held back and flushed.
    let large = vec![7_u8; 3 << 20];
    producer.send(Outgoing::new("orders", "small")).await.unwrap();
    producer.send(Outgoing::new("orders", large.clone())).await.unwrap();
    let (tell, mut told) = mpsc::unbounded_channel();
    let consumer = Consumer::builder("g")
        .name_servers(&servers)
        .security(security.clone())
        .subscribe("orders", "*")
        .start_from(StartFrom::First)
        .handler(move |message| {
            let sent = tell.send(message.body().len());
            async move { if sent.is_ok() { Ok(Ack::Done) } else { Ok(Ack::RetryLater) } }
        });
    let consumer = consumer.start().await.unwrap();
    let mut lengths = Vec::new();
    while lengths.len() < 2 {
        lengths.push(tokio::time::timeout(PATIENCE, told.recv()).await.expect("two messages come").unwrap());
    }
    lengths.sort_unstable();
    assert_eq!(lengths, [5, large.len()]);
    assert!(!consumer.shutdown(Duration::from_secs(5)).await.committed.is_empty());
    producer.close().await;
}

#[tokio::test]
async fn a_trusted_server_is_used_with_either_version() {
    let trusted = Trusted::new();
    let signed = trusted.ca.sign(&[HOST]);
    for version in VERSIONS {
        let front = Front::start(&signed, &Wants { version, ..Wants::default() }).await;
        passes(&front, &secured(trusted.tls())).await;
    }
}

#[tokio::test]
async fn a_server_of_an_unknown_ca_is_refused_unless_told_otherwise() {
    let (trusted, other) = (Trusted::new(), Ca::new("another CA"));
    let front = Front::start(&other.sign(&[HOST]), &Wants::default()).await;
    let (servers, security) = (front.name_server(), secured(trusted.tls()));
    is_refused(&servers, &security, "is signed by nobody we trust", "--tls-ca").await;
    passes(&front, &secured(Tls::builder().insecure_skip_verify().build().unwrap())).await;
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused_unless_its_name_is_said() {
    let trusted = Trusted::new();
    let front = Front::start(&trusted.ca.sign(&["mq.example"]), &Wants::default()).await;
    let (servers, security) = (front.name_server(), secured(trusted.tls()));
    let what = "is not for 127.0.0.2, but for mq.example";
    is_refused(&servers, &security, what, "--tls-server-name").await;
    let named = Tls::builder().ca_file(&trusted.file).server_name("mq.example").build().unwrap();
    passes(&front, &secured(named)).await;
    let wrong = Tls::builder().ca_file(&trusted.file).server_name("other.example").build().unwrap();
    is_refused(&servers, &secured(wrong), "is not for other.example", "--tls-server-name").await;
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let trusted = Trusted::new();
    let front = Front::start(&trusted.ca.sign_expired(&[HOST]), &Wants::default()).await;
    is_refused(&front.name_server(), &secured(trusted.tls()), "has expired", "new certificate").await;
}

#[tokio::test]
async fn a_server_that_asks_for_a_certificate_gets_ours_or_says_so() {
    let trusted = Trusted::new();
    let signed = trusted.ca.sign(&[HOST]);
    let clients = Ca::new("the CA of clients");
    let [right, right_key] = trusted.pair("right", &clients.sign(&["me"]));
    let [wrong, wrong_key] = trusted.pair("wrong", &trusted.ca.sign(&["me"]));
    for version in VERSIONS {
        let front = Front::start(&signed, &Wants { clients_of: Some(&clients), version }).await;
        let servers = front.name_server();
        let none = secured(trusted.tls());
        is_refused(&servers, &none, "the server wants a certificate of ours", "--tls-cert").await;
        let with = |chain: &String, key: &String| {
            let tls = Tls::builder().ca_file(&trusted.file).client_certificate(chain, key);
            secured(tls.build().unwrap())
        };
        is_refused(&servers, &with(&wrong, &wrong_key), "the server refuses us", "trust the CA").await;
        passes(&front, &with(&right, &right_key)).await;
    }
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_one_that_is_away() {
    let trusted = Trusted::new();
    let broker = EmbeddedBroker::builder().topic("orders", 1, 2).start().await.unwrap();
    let servers = broker.name_server().to_string();
    is_refused(&servers, &secured(trusted.tls()), "does it speak TLS?", "leave --tls away").await;
    broker.shutdown().await;
    // Nobody is there any more.
    for error in failures(&servers, &secured(trusted.tls())).await {
        assert_eq!((error.kind(), error.blame()), (ErrorKind::Unreachable, Blame::Network), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_takes_nothing_but_tls_is_told_from_one_that_hangs_up() {
    let trusted = Trusted::new();
    let front = Front::start(&trusted.ca.sign(&[HOST]), &Wants::default()).await;
    is_refused(&front.name_server(), &Security::default(), "takes nothing but TLS", "say --tls").await;

    // Other servers than RocketMQ's say it in TLS: a fatal alert.
    let servers = server(b"\x15\x03\x03\x00\x02\x02\x46").await;
    is_refused(&servers, &Security::default(), "takes nothing but TLS", "say --tls").await;

    let servers = server(b"").await;
    for error in failures(&servers, &Security::default()).await {
        assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}");
    }
}

#[tokio::test]
async fn a_broker_that_is_refused_ends_the_start_and_is_named() {
    let trusted = Trusted::new();
    let (names, brokers) = (trusted.ca.sign(&[HOST]), Ca::new("another CA").sign(&[HOST]));
    let front = Front::start_with(&names, &brokers, &Wants::default()).await;
    let servers = front.name_server();
    for error in starts(&servers, &secured(trusted.tls())).await {
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(error.to_string().contains(&front.broker_address()), "{error}");
        assert!(error.to_string().contains("signed by nobody we trust"), "{error}");
    }
}

/// A server that says this to everybody and hangs up. Its address.
async fn server(says: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // Who has gone hears nothing.
            let _ = stream.write_all(says).await;
            let _ = stream.shutdown().await;
            let _ = tokio::time::timeout(PATIENCE, stream.read(&mut [0; 4096])).await;
        }
    });
    address
}

async fn run(args: &[&str]) -> (Option<i32>, String) {
    let mut command = evenkeel(args);
    let output: Output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let all = [output.stdout.as_slice(), &output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&all).into_owned())
}

/// With everything logged that there is to log.
#[tokio::test]
async fn commands_take_options_and_tell_nothing_of_the_private_key() {
    let trusted = Trusted::new();
    let clients = Ca::new("the CA of clients");
    let me = clients.sign(&["me"]);
    let [certificate, key] = trusted.pair("me", &me);
    let secret = me.key.lines().nth(1).unwrap().to_owned();
    let wants = Wants { clients_of: Some(&clients), ..Wants::default() };
    let front = Front::start(&trusted.ca.sign(&[HOST]), &wants).await;
    let servers = front.name_server();
    let ours = ["--tls-ca", &trusted.file, "--tls-cert", &certificate, "--tls-key", &key, "-vvv"];
    for command in [
        ["route", "orders", "-n", &servers].as_slice(),
        &["send", "text", "-t", "orders", "-g", "p", "-n", &servers],
        &["consume", "-t", "orders", "-g", "g", "-n", &servers, "--from", "first", "-e"],
        &["group", "g", "-n", &servers],
        &["groups", "-n", &servers],
    ] {
        let (code, text) = run(&[command, &ours].concat()).await;
        assert_eq!(code, Some(0), "{command:?}: {text}");
        assert!(!text.contains(&secret), "{command:?} told the key: {text}");
        // And without our certificate.
        let (code, text) = run(&[command, &ours[..2]].concat()).await;
        assert_eq!(code, Some(5), "{command:?}: {text}");
        assert!(text.contains("hint: give one with --tls-cert FILE"), "{command:?}: {text}");
    }
    let tls = Tls::builder().ca_file(&trusted.file).client_certificate(&certificate, &key).build().unwrap();
    let text = format!("{:?}", secured(tls));
    assert!(text.contains(&key) && !text.contains(&secret), "{text}");

    // Java's names, and the insecure option.
    let java = ["-X", "tls.enable=true", "-X"];
    let (path, certificate, key) = (
        format!("tls.client.trustCertPath={}", trusted.file),
        format!("tls.client.certPath={certificate}"),
        format!("tls.client.keyPath={key}"),
    );
    let route = ["route", "orders", "-n", &servers];
    let mine = [java.as_slice(), &[&path, "-X", &certificate, "-X", &key]].concat();
    assert_eq!(run(&[route.as_slice(), &mine].concat()).await.0, Some(0));
    let insecure = [&["--tls-insecure-skip-verify"], &mine[4..]].concat();
    let (code, text) = run(&[route.as_slice(), &insecure].concat()).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("not verified"), "{text}");
}

/// Nobody who names certificates sends in clear because of a line in a file.
#[tokio::test]
async fn tls_switched_off_in_the_file_is_refused_beside_options_and_warned_of_beside_its_own_settings() {
    let trusted = Trusted::new();
    let broker = EmbeddedBroker::builder().topic("orders", 1, 2).start().await.unwrap();
    let servers = broker.name_server().to_string();
    let off = trusted.folder.write("off.toml", "[cluster]\ntls = false\n");
    let route = ["route", "orders", "-n", &servers, "--config"];
    let (code, text) = run(&[route.as_slice(), &[&off, "--tls-ca", &trusted.file]].concat()).await;
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("--tls-ca") && text.contains(&off) && text.contains("hint: say --tls"), "{text}");
    let (code, text) = run(&[route.as_slice(), &[&off, "--tls-ca", &trusted.file, "--tls"]].concat()).await;
    assert_eq!(code, Some(5), "the broker speaks no TLS: {text}");

    let both = format!("[cluster]\ntls = false\ntls_ca = '{}'\n", trusted.file);
    let both = trusted.folder.write("both.toml", &both);
    let (code, text) = run(&[route.as_slice(), &[&both]].concat()).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("cluster.tls_ca is not used: cluster.tls is false"), "{text}");
    broker.shutdown().await;
}

#[tokio::test]
async fn files_that_cannot_be_used_are_mistakes_that_name_them() {
    let trusted = Trusted::new();
    let (me, you) = (trusted.ca.sign(&["me"]), trusted.ca.sign(&["you"]));
    let [certificate, key] = trusted.pair("me", &me);
    let [_, other_key] = trusted.pair("you", &you);
    let secret = me.key.lines().nth(1).unwrap();
    let empty = trusted.folder.write("empty.pem", "");
    let damaged = trusted.folder.write("damaged.key", &me.key.replace("-----END", "END"));
    let locked = trusted.folder.write("locked.key", &me.key.replace("PRIVATE", "ENCRYPTED PRIVATE"));
    let missing = trusted.folder.path().join("missing.pem").to_str().unwrap().to_owned();
    let route = ["route", "orders", "-n", "127.0.0.1:1", "-vvv"];
    for (options, named) in [
        (["--tls-ca", &missing, "--tls"].as_slice(), missing.as_str()),
        (&["--tls-ca", &empty], &empty),
        (&["--tls-ca", &key], &key),
        (&["--tls-cert", &certificate, "--tls-key", &missing], &missing),
        (&["--tls-cert", &certificate, "--tls-key", &empty], &empty),
        (&["--tls-cert", &certificate, "--tls-key", &certificate], &certificate),
        (&["--tls-cert", &certificate, "--tls-key", &damaged], &damaged),
        (&["--tls-cert", &certificate, "--tls-key", &locked], "openssl pkcs8"),
        (&["--tls-cert", &certificate, "--tls-key", &other_key], &other_key),
        (&["--tls-cert", &certificate], "--tls-key"),
        (&["--tls-key", &key], "--tls-cert"),
        (&["--tls", "--tls-server-name", "no host"], "no host"),
        (&["-X", "tls=maybe"], "true or false"),
    ] {
        let trust = if options.contains(&"--tls-ca") { [].as_slice() } else { &["--tls-ca", &trusted.file] };
        let (code, text) = run(&[&route, options, trust].concat()).await;
        assert_eq!(code, Some(2), "{options:?}: {text}");
        assert!(text.contains(named), "{options:?}: {text}");
        assert!(!text.contains(secret), "{options:?} told the key: {text}");
    }
}
