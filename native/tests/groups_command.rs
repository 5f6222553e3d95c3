//! `evenkeel groups` and `evenkeel group` on a live cluster: texts, JSON, exit codes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helpers;
#[path = "helpers/mute.rs"]
mod mute;
#[path = "helpers/orders.rs"]
mod orders;
#[path = "helpers/process.rs"]
mod process;

use evenkeel::Consumer;
use evenkeel::embedded::faults::{Rule, Verdict};
use evenkeel::embedded::{Draft, EmbeddedBroker, Endpoint};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use helpers::eventually;
use mute::Mute;
use orders::{broker, member, orders};
use process::evenkeel;
use serde_json::{Value, json};
use std::time::Duration;

/// What a command printed and said, and how it ended.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }

    fn lines(&self) -> Vec<&str> {
        self.out.lines().collect()
    }
}

/// Runs the command against a broker of this process.
async fn run(broker: &EmbeddedBroker, args: &[&str]) -> Ran {
    let mut command = evenkeel(args);
    command.args(["-n", &broker.name_server().to_string()]);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// Two members of `pay` with four queues each.
async fn pair(broker: &EmbeddedBroker) -> (Consumer, Consumer) {
    let pair = (member(broker, "pay", "10.0.0.1@a").await, member(broker, "pay", "10.0.0.1@b").await);
    eventually("even shares", || orders(&pair.0) == 4 && orders(&pair.1) == 4).await;
    pair
}

/// Committed by a member that left, with three messages behind it on queue 1 of the first broker. It leaves when it has
/// an offset for every queue: one whose start was not known yet would have no lag that anybody can tell.
async fn offline(broker: &EmbeddedBroker, group: &str) {
    let consumer = member(broker, group, "gone").await;
    broker.publish(0, "orders", Draft::new("x").queue(1)).await.unwrap().unwrap();
    let began = tokio::time::Instant::now();
    loop {
        let status = consumer.status().await.unwrap();
        let known = status.snapshot.queues.iter().filter(|view| view.commit_point.is_some()).count();
        let done = status.tally.topics.values().map(|tally| tally.succeeded.count()).sum::<u64>();
        // Eight of the topic, and one of the retry topic on each broker.
        if (known, done) == (10, 1) {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{done} messages, {known} queues: {status:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    consumer.shutdown(Duration::from_secs(5)).await;
    for _ in 0..3 {
        broker.publish(0, "orders", Draft::new("y").queue(1)).await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn members_are_shown_with_their_queues() {
    let broker = broker().await;
    let members = pair(&broker).await;
    let shown = run(&broker, &["group", "pay"]).await;
    assert_eq!((shown.code, shown.err.as_str()), (0, ""));
    let lines = shown.lines();
    let title =
        "pay · CLUSTERING push · AVG on all members · 2 members · 1 topic (retry topic hidden, --retry)";
    assert_eq!(lines[0], title);
    assert!(lines[1].starts_with("lag ") && lines[1].ends_with("in flight 0"), "{}", lines[1]);
    let words: Vec<Vec<&str>> = lines[3..].iter().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["MEMBER", "HOST", "CLIENT", "QUEUES", "LAG", "IN", "FLIGHT", "OLDEST"]);
    assert_eq!(words[1][..5], ["10.0.0.1@a", "127.0.0.1", "RUST", "5.3.1", "4"]);
    assert_eq!(words[2][..5], ["10.0.0.1@b", "127.0.0.1", "RUST", "5.3.1", "4"]);

    let whole = run(&broker, &["group", "pay", "--json"]).await.json();
    assert_eq!((&whole["schema"], &whole["online"]), (&json!("evenkeel.group/1"), &json!(true)));
    assert_eq!(whole["members"][0]["strategy"], "AVG");
    assert_eq!(whole["members"][0]["subscriptions"], json!({"%RETRY%pay": "*", "orders": "*"}));
    let queues = whole["queues"].as_array().unwrap();
    assert_eq!(queues.len(), 8, "the retry topic is hidden");
    assert!(queues.iter().all(|queue| queue["owners"].as_array().unwrap().len() == 1));
    assert_eq!(whole["silent"], json!([]));
    let with_retry = run(&broker, &["group", "pay", "--json", "--retry"]).await.json();
    assert_eq!(with_retry["queues"].as_array().unwrap().len(), 10);

    let csv = run(&broker, &["group", "pay", "--by", "queue", "-o", "csv"]).await;
    assert!(csv.out.starts_with("topic,broker,id,owners,lag,end,committed,"), "{}", csv.out);
    assert_eq!(
        csv.lines()[1].split(',').take(4).collect::<Vec<_>>(),
        ["orders", "embedded-a", "0", "10.0.0.1@a"]
    );
    let rows = run(&broker, &["group", "pay", "--by", "broker", "-o", "ndjson"]).await;
    let rows: Vec<Value> = rows.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows.len(), &rows[0]["members"], &rows[1]["queues"]), (2, &json!(2), &json!(4)));
    drop(members);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_hangs_makes_it_partial() {
    let broker = broker().await;
    let members = pair(&broker).await;
    let mut mutes = Vec::new();
    for address in broker.broker_addresses() {
        mutes.push(Mute::join(*address, "10.0.0.1@c", "pay", &[("orders", "*")]).await);
    }
    let shown = run(&broker, &["group", "pay"]).await;
    assert_eq!(shown.code, 6, "{}", shown.err);
    assert!(shown.err.starts_with("evenkeel: no answer from member 10.0.0.1@c, asked through embedded-"));
    assert!(shown.lines()[0].contains("AVG on 2, not told by 1 · 3 members"), "{}", shown.lines()[0]);
    let last: Vec<&str> = shown.lines().pop().unwrap().split_whitespace().collect();
    assert_eq!(last[..1], ["10.0.0.1@c"]);
    assert_eq!(last[last.len() - 4..], ["?"; 4], "what it has is not known, which is not nothing");
    let whole = run(&broker, &["group", "pay", "--json"]).await;
    assert_eq!(whole.code, 6);
    let whole = whole.json();
    assert_eq!((&whole["inFlight"], &whole["members"][2]["owned"]), (&Value::Null, &Value::Null));
    assert_eq!(
        (&whole["silent"][0]["kind"], &whole["silent"][0]["id"]),
        (&json!("member"), &json!("10.0.0.1@c"))
    );
    drop((members, mutes));
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_just_died_is_told_apart_from_one_that_left() {
    let broker = broker().await;
    let members = pair(&broker).await;
    let mutes = Mute::join(broker.broker_addresses()[0], "10.0.0.1@c", "pay", &[("orders", "*")]).await;
    let with_it = run(&broker, &["groups", "--json"]).await.json();
    assert_eq!(with_it["groups"][0]["members"], 3);
    drop(mutes);
    let began = tokio::time::Instant::now();
    while run(&broker, &["groups", "--json"]).await.json()["groups"][0]["members"] != 2 {
        assert!(began.elapsed() < Duration::from_secs(10), "its connection is closed");
    }
    let shown = run(&broker, &["group", "pay"]).await;
    assert_eq!((shown.code, shown.lines().len()), (0, 6), "{}", shown.out);
    drop(members);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_exist_is_code_4() {
    let broker = broker().await;
    let shown = run(&broker, &["group", "nobody"]).await;
    assert_eq!((shown.code, shown.out.as_str()), (4, ""));
    assert!(shown.err.starts_with("evenkeel: there is no group nobody\n       hint: "), "{}", shown.err);
    let members = pair(&broker).await;
    let shown = run(&broker, &["group", "pay", "-t", "bills"]).await;
    assert_eq!(shown.code, 4);
    assert!(shown.err.contains("group pay does not consume topic bills"), "{}", shown.err);
    drop(members);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_there_is_code_3_and_a_refusal_code_5() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for args in [&["group", "pay"][..], &["groups"]] {
        let output = evenkeel(&[args, &["-n", &address]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        let output = evenkeel(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "no name server, and an embedded one would be empty");
    }
    let broker = broker().await;
    let members = pair(&broker).await;
    let verdict = Verdict::Fail { code: ResponseCode::NO_PERMISSION, remark: "not you".to_owned() };
    let _guard = broker.install(Rule::on(RequestCode::GET_CONSUMER_CONNECTION_LIST, verdict)).await.unwrap();
    let shown = run(&broker, &["group", "pay"]).await;
    assert_eq!(shown.code, 5, "{}", shown.err);
    assert!(shown.err.contains("not you"), "{}", shown.err);
    drop(members);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_silent_leaves_the_others() {
    let broker = broker().await;
    let members = pair(&broker).await;
    let rule = Rule::on(RequestCode::GET_CONSUME_STATS, Verdict::Drop).at(Endpoint::Broker(1));
    let _guard = broker.install(rule).await.unwrap();
    for args in [&["group", "pay", "--json"][..], &["groups", "--json"]] {
        let shown = run(&broker, args).await;
        assert_eq!(shown.code, 6, "{}", shown.err);
        assert!(
            shown.err.contains("evenkeel: no answer from broker embedded-b (127.0.0.1:"),
            "{}",
            shown.err
        );
        let silent = &shown.json()["silent"];
        assert_eq!((&silent[0]["kind"], &silent[0]["broker"]), (&json!("broker"), &json!("embedded-b")));
    }
    let whole = run(&broker, &["group", "pay", "--json"]).await.json();
    let lags: Vec<bool> =
        whole["queues"].as_array().unwrap().iter().map(|queue| queue["end"].is_null()).collect();
    assert_eq!(lags, [false, false, false, false, true, true, true, true]);
    drop(members);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_without_members_keeps_its_lag() {
    let broker = broker().await;
    offline(&broker, "night").await;
    let shown = run(&broker, &["group", "night", "--topic", "orders", "--by", "queue"]).await;
    assert_eq!((shown.code, shown.err.as_str()), (0, ""));
    assert_eq!(shown.lines()[0], "night · offline · 0 members · topic orders");
    assert!(shown.lines()[1].starts_with("lag 3 · oldest ≤"), "{}", shown.lines()[1]);
    let second: Vec<&str> = shown.lines()[5].split_whitespace().collect();
    assert_eq!(
        second[..6],
        ["orders", "embedded-a/1", "–", "3", "4", "1"],
        "topic, queue, owner, lag, end, committed"
    );

    let online = run(&broker, &["groups", "--json"]).await;
    assert_eq!(online.json()["groups"], json!([]));
    let all = run(&broker, &["groups", "--offline", "--json"]).await.json();
    let night = &all["groups"][0];
    assert_eq!(
        (&night["group"], &night["online"], &night["lag"]),
        (&json!("night"), &json!(false), &json!(3))
    );
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_filtered_sorted_and_limited() {
    let broker = broker().await;
    offline(&broker, "night").await;
    let members = pair(&broker).await;
    let address = broker.broker_addresses()[0];
    let mutes = [
        Mute::join(address, "m", "audit", &[("orders", "*")]).await,
        Mute::join(address, "m", "pay-audit", &[("orders", "*")]).await,
    ];
    let names = async |args: &[&str]| -> Vec<String> {
        let shown = run(&broker, &[&["groups", "--json"], args].concat()).await;
        assert_eq!(shown.code, 0, "{}", shown.err);
        let groups = shown.json()["groups"].as_array().unwrap().clone();
        groups.iter().map(|group| group["group"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&[]).await, ["audit", "pay", "pay-audit"]);
    assert_eq!(names(&["--offline"]).await, ["audit", "night", "pay", "pay-audit"]);
    assert_eq!(names(&["--filter", "^pay|t$"]).await, ["audit", "pay", "pay-audit"]);
    assert_eq!(names(&["--filter", "^pay"]).await, ["pay", "pay-audit"]);
    assert_eq!(names(&["--sort", "members", "--limit", "1"]).await, ["pay"]);
    assert_eq!(names(&["--sort", "lag", "--offline", "--limit", "1"]).await, ["night"]);
    let shown = run(&broker, &["groups", "--limit", "1"]).await;
    assert!(shown.lines()[0].starts_with("GROUP"), "{}", shown.out);
    assert_eq!((shown.lines().len(), shown.err.as_str()), (2, "evenkeel: 1 of 3 groups (--limit)\n"));
    let bad = run(&broker, &["groups", "--filter", "("]).await;
    assert_eq!(bad.code, 2);
    drop((members, mutes));
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mqadmin_names_and_letters() {
    let broker = broker().await;
    let members = pair(&broker).await;
    let progress = run(&broker, &["consumerProgress", "-g", "pay", "-s", "true"]).await;
    assert_eq!(progress.code, 0);
    assert!(
        progress.err.starts_with("evenkeel: mqadmin's consumerProgress is `evenkeel group GROUP"),
        "{}",
        progress.err
    );
    assert_eq!(
        progress.lines().len(),
        2 + 1 + 1 + 10,
        "title, sums, blank, head, queues with those of retries"
    );
    let all = run(&broker, &["consumerProgress", "--json"]).await;
    assert_eq!(all.json()["schema"], "evenkeel.groups/1");
    let connection = run(&broker, &["consumerConnection", "-g", "pay"]).await;
    assert_eq!((connection.code, connection.lines().len()), (0, 2 + 1 + 1 + 2));
    drop(members);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn watching_shows_it_again_until_it_is_told_to_stop() {
    let broker = broker().await;
    let members = pair(&broker).await;
    let address = broker.name_server().to_string();
    tokio::task::spawn_blocking(move || {
        let args = ["group", "pay", "--json", "--watch", "50ms", "-n", &address];
        let mut watching = process::Running::start(&args);
        process::until("three looks", || watching.output().lines().count() >= 3);
        watching.signal("INT");
        assert_eq!(watching.end(), 0);
    })
    .await
    .unwrap();
    drop(members);
    broker.shutdown().await;
}
