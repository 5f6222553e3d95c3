//! `consume --listen`, and the signals that do not end it.
#![cfg(all(unix, feature = "admin"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "helpers/process.rs"]
mod process;

use evenkeel::embedded::{Draft, EmbeddedBroker};
use evenkeel::metrics::METRICS;
use process::{Running, get, until};
use serde_json::Value;
use std::time::Duration;

/// The address that a consumer says it listens at.
fn address(consumer: &Running) -> String {
    let line = consumer.said("http://");
    line.split_once("http://").unwrap().1.split(' ').next().unwrap().to_owned()
}

fn ready(address: &str) {
    until("readiness", || get(address, "/readyz").0 == 200);
}

fn assignment(address: &str) -> Value {
    serde_json::from_str(&get(address, "/assignment").2).unwrap()
}

#[test]
fn probes_metrics_and_assignment() {
    let args = ["consume", "-t", "demo", "-g", "g", "--embedded", "--send-stdin", "--listen", ":0"];
    let mut consumer = Running::start(&args);
    let address = address(&consumer);
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    ready(&address);
    assert_eq!(get(&address, "/livez").0, 200);
    assert!(get(&address, "/readyz").2.contains("broker: embedded"));
    consumer.write("hello\n");
    consumer.printed("hello");

    let counted = "rocketmq_process_time_count{consumer_group=\"g\",client_id=\"";
    until("the metric of the handler", || {
        let text = get(&address, "/metrics").2;
        let mut lines = text.lines().filter(|line| line.starts_with(counted));
        lines.any(|line| line.ends_with("topic=\"demo\",invocation_status=\"success\"} 1"))
    });
    let (status, head, text) = get(&address, "/metrics");
    assert_eq!(status, 200);
    assert!(head.contains("application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(text.ends_with("# EOF\n"));
    for metric in METRICS {
        assert!(text.lines().any(|line| line.starts_with(metric.name)), "{} has no sample", metric.name);
        let family = metric.name.trim_end_matches("_total");
        assert!(text.contains(&format!("# HELP {family} {}", metric.meaning)), "{family} has no help");
    }
    let owned =
        text.lines().find(|line| line.starts_with("evenkeel_assigned_queues") && line.contains("\"demo\""));
    assert!(owned.unwrap().ends_with(" 4"), "{owned:?}");
    assert!(text.contains("reason=\"started\"} 1"), "{text}");
    assert!(!text.contains("hello"));

    let seen = assignment(&address);
    assert_eq!((&seen["schema"], &seen["group"]), (&"evenkeel.assignment/1".into(), &"g".into()));
    let queues = seen["queues"].as_array().unwrap();
    let mut demo = queues.iter().filter(|queue| queue["topic"] == "demo");
    assert_eq!(demo.clone().count(), 4);
    assert!(demo.all(|queue| queue["owned"] == true && queue["lag"] == 0), "{seen}");

    let (status, _, paths) = get(&address, "/nothing");
    assert_eq!((status, paths.contains("/readyz")), (404, true));
    consumer.signal("TERM");
    assert_eq!(consumer.end(), 0);
}

#[test]
fn the_start_line_has_the_address_for_programs() {
    let args = ["consume", "-t", "demo", "-g", "g", "--embedded", "-q", "--json", "--listen", "127.0.0.1:0"];
    let consumer = Running::start(&args);
    let line: Value = serde_json::from_str(&consumer.printed("start")).unwrap();
    let address = line["listen"].as_str().unwrap();
    assert_eq!(get(address, "/livez").0, 200);
    assert_eq!(consumer.talk(), "");
}

#[test]
fn not_ready_before_the_first_assignment() {
    // Takes connections and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = silent.local_addr().unwrap().to_string();
    let consumer = Running::start(&["consume", "-t", "demo", "-g", "g", "-n", &server, "--listen", ":0"]);
    let address = address(&consumer);
    assert_eq!(get(&address, "/livez").0, 200);
    for path in ["/readyz", "/metrics", "/assignment"] {
        let (status, _, text) = get(&address, path);
        assert_eq!((status, text.as_str()), (503, "starting\n"), "{path}");
    }
}

#[test]
fn not_ready_while_draining_and_a_second_signal_leaves_at_once() {
    let exec = "echo begun; sleep 60";
    let args =
        ["consume", "-t", "demo", "-g", "g", "--embedded", "--send-stdin", "--listen", ":0", "--exec", exec];
    let mut consumer = Running::start(&args);
    let address = address(&consumer);
    ready(&address);
    consumer.write("x\n");
    consumer.printed("begun");
    consumer.signal("TERM");
    until("the drain", || get(&address, "/readyz").2 == "draining\n");
    assert_eq!(get(&address, "/livez").0, 200);
    assert_eq!(assignment(&address)["stopping"], true);
    consumer.signal("TERM");
    assert_eq!(consumer.end(), 143);
}

/// Whoever finds no place waits for one, and is served then.
#[test]
fn connections_are_limited() {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    let consumer = Running::start(&["consume", "-t", "demo", "-g", "g", "--embedded", "--listen", ":0"]);
    let address = address(&consumer);
    ready(&address);
    let ask = |mut stream: &TcpStream| stream.write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let open = || TcpStream::connect(&address).unwrap();
    let answered = |mut stream: &TcpStream, within: Duration| {
        stream.set_read_timeout(Some(within)).unwrap();
        stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0)
    };
    let mut first: Vec<TcpStream> = (0..64).map(|_| open()).collect();
    for stream in &first {
        ask(stream);
        assert!(answered(stream, Duration::from_secs(10)));
    }
    let late = open();
    ask(&late);
    assert!(!answered(&late, Duration::from_millis(300)), "there are 64 already");
    first.pop();
    assert!(answered(&late, Duration::from_secs(10)));
}

#[test]
fn wrong_and_taken_addresses() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let held = taken.local_addr().unwrap().to_string();
    for (address, code, said) in
        [("nowhere", 2, "no address to listen at"), (held.as_str(), 1, "cannot listen at")]
    {
        let args = ["consume", "-t", "demo", "-g", "g", "--embedded", "--listen", address];
        let mut consumer = Running::start(&args);
        assert_eq!(consumer.end(), code, "{address}");
        consumer.said(said);
    }
}

/// A broker in this process, whose only queue a consumer process reads.
async fn one_queue(more: &[&str]) -> (EmbeddedBroker, Running) {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 1).start().await.unwrap();
    let server = broker.name_server().to_string();
    let args = ["consume", "-t", "orders", "-g", "g", "--from", "first", "-n", &server, "--listen", ":0"];
    let consumer = Running::start(&[&args, more].concat());
    (broker, consumer)
}

async fn publish(broker: &EmbeddedBroker, body: &str) {
    broker.publish(0, "orders", Draft::new(body.to_owned())).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn usr1_goes_quiet_and_back_and_stays_a_member() {
    let (broker, mut consumer) = one_queue(&[]).await;
    let address = address(&consumer);
    ready(&address);
    consumer.signal("USR1");
    until("quiet", || get(&address, "/readyz").2.contains("quiet"));
    // The pull that was under way still brings what it finds.
    publish(&broker, "first").await;
    consumer.printed("first");
    publish(&broker, "second").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!consumer.output().contains("second"), "{}", consumer.output());
    assert_eq!(assignment(&address)["quiet"], true);
    let members = broker.snapshot().await.unwrap().brokers[0].members.values().map(Vec::len).sum::<usize>();
    assert_eq!(members, 1);
    consumer.signal("USR1");
    consumer.printed("second");
    assert!(!get(&address, "/readyz").2.contains("quiet"));
    consumer.signal("TERM");
    assert_eq!(consumer.end(), 0);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hup_reads_the_log_filter_again() {
    let config = std::env::temp_dir().join(format!("evenkeel-hup-{}.toml", std::process::id()));
    let set = |filter: &str| std::fs::write(&config, format!("[log]\nfilter = {filter:?}\n")).unwrap();
    set("error");
    let (broker, mut consumer) =
        one_queue(&["-c", config.to_str().unwrap(), "-X", "commit_interval=50ms"]).await;
    ready(&address(&consumer));
    publish(&broker, "first").await;
    consumer.printed("first");
    assert!(!consumer.talk().contains("offset committed"));

    set("debug");
    consumer.signal("HUP");
    let said = consumer.said("SIGHUP");
    assert!(said.contains("the log filter is \"debug\" (file "), "{said}");
    publish(&broker, "second").await;
    consumer.said("offset committed");

    set("x=y=z");
    consumer.signal("HUP");
    consumer.said("the log filter stays as it is");
    consumer.signal("TERM");
    assert_eq!(consumer.end(), 0);
    std::fs::remove_file(&config).unwrap();
    broker.shutdown().await;
}
