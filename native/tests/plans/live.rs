//! Groups of a running broker, read as an operator would.

#[path = "../helpers/process.rs"]
mod process;

use super::ask::{Answer, ask};
use process::Running;
use serde_json::json;

/// A broker with 4 + 4 queues of `orders`.
fn broker() -> (Running, String) {
    let broker = Running::start(&["broker", "--listen", "127.0.0.1:0", "--topic", "orders:2x4"]);
    let line = broker.printed("NAMESRV_ADDR=");
    let address = line.trim().strip_prefix("NAMESRV_ADDR=").unwrap().to_owned();
    (broker, address)
}

/// A member that soon hears of the group's new retry topic.
fn member(address: &str, id: &str, more: &[&str]) -> Running {
    let args =
        ["consume", "-t", "orders", "-g", "pay", "-n", address, "--client-id", id, "--events", "--json"];
    let args = [&args[..], &["-X", "route_interval=500ms"]].concat();
    let member = Running::start(&[&args[..], more].concat());
    member.printed("rebalance");
    member
}

fn at(address: &str, args: &[&str]) -> Answer {
    ask(&[args, &["-n", address]].concat())
}

#[test]
fn a_live_group_is_planned_verified_and_kept() {
    let (_broker, address) = broker();
    let members = ["c1", "c2"].map(|id| member(&address, id, &[]));
    let verdict = at(&address, &["verify", "pay", "--settle", "25s"]);
    assert_eq!(verdict.code, 0, "{}{}", verdict.out, verdict.said);
    assert!(verdict.out.contains("OK        strategy AVG on all members"), "{}", verdict.out);
    let plan = at(&address, &["plan", "pay", "--add", "c3", "--strategy", "avg", "--json"]);
    assert_eq!(plan.code, 0, "{}", plan.said);
    let moves = plan.json()["results"][0]["moves"].as_array().unwrap().clone();
    let moved = moves
        .iter()
        .map(|step| format!("{}/{}", step["queue"]["broker"].as_str().unwrap(), step["queue"]["id"]));
    assert_eq!(moved.collect::<Vec<_>>(), ["embedded-a/3", "embedded-b/2", "embedded-b/3"]);

    let snapshot = at(&address, &["snapshot", "pay"]);
    assert_eq!(snapshot.code, 0, "{}", snapshot.said);
    let json = snapshot.json();
    assert_eq!((&json["schema"], &json["group"]), (&json!("evenkeel.snapshot/1"), &json!("pay")));
    assert_eq!(json["consumers"].as_array().unwrap().len(), 2);
    let from_file = super::ask::ask_with(
        &["plan", "--from", "-", "--add", "c3", "--strategy", "avg", "--json"],
        &snapshot.out,
    );
    assert_eq!(from_file.json()["results"], plan.json()["results"], "the snapshot is the group");

    let alias = at(&address, &["consumerStatus", "-g", "pay"]);
    assert_eq!(alias.code, 0);
    assert!(
        alias.said.starts_with("evenkeel: mqadmin's consumerStatus is `evenkeel verify GROUP` here\n"),
        "{}",
        alias.said
    );
    drop(members);
}

#[test]
fn a_sick_live_group_is_code_7() {
    let (_broker, address) = broker();
    let _members = [
        member(&address, "c1", &[]),
        member(&address, "c2", &[]),
        member(&address, "c3", &["--strategy", "circle"]),
    ];
    let verdict = at(&address, &["verify", "pay", "--json", "--settle", "3s"]);
    assert_eq!(verdict.code, 7, "{}", verdict.out);
    let findings = verdict.json()["findings"].as_array().unwrap().clone();
    let strategies = findings.iter().find(|finding| finding["code"] == "R104").unwrap();
    assert_eq!(strategies["consumers"], json!(["c3"]));
}

#[test]
fn who_does_not_exist_is_code_4_and_who_cannot_be_reached_3() {
    let (_broker, address) = broker();
    for command in [&["verify", "nobody"][..], &["snapshot", "nobody"], &["plan", "nobody", "--add", "1"]] {
        let answer = at(&address, command);
        assert_eq!((answer.code, answer.out.as_str()), (4, ""), "{command:?}: {}", answer.said);
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let answer = at(&silent, command);
        assert_eq!((answer.code, answer.out.as_str()), (3, ""), "{command:?}: {}", answer.said);
        assert!(answer.said.contains(&silent), "{command:?}: {}", answer.said);
    }
}

#[test]
fn allocate_mq_is_answered_as_members_compute_it() {
    let (_broker, address) = broker();
    // In no order, as people type them.
    let answer = at(&address, &["allocateMQ", "-t", "orders", "-i", "c3,c1,c2"]);
    assert_eq!(answer.code, 0, "{}", answer.said);
    assert!(answer.said.starts_with("evenkeel: mqadmin's allocateMQ is "), "{}", answer.said);
    assert_eq!(
        answer.out.lines().collect::<Vec<_>>(),
        [
            "MEMBER  COUNT  QUEUES",
            "c1      3      embedded-a 0 1 2",
            "c2      3      embedded-a 3, embedded-b 0 1",
            "c3      2      embedded-b 2 3",
        ]
    );
    let json = at(&address, &["allocateMQ", "-t", "orders", "-i", "c3,c1,c2", "--json"]).json();
    assert_eq!(json["byConsumer"]["c3"][0], json!({"topic": "orders", "broker": "embedded-b", "id": 2}));
    assert_eq!(at(&address, &["allocateMQ", "-t", "nowhere", "-i", "c1"]).code, 4);
    assert_eq!(at(&address, &["allocateMQ", "-t", "orders"]).code, 2);
}
