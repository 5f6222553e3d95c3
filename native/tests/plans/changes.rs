//! What can be said to happen to a group, and what is refused.

use super::ask::{ask, ask_about, group};
use serde_json::{Value, json};

fn avg(group: &Value, flags: &[&str]) -> Value {
    let plan = ask_about(group, &[&["plan", "--strategy", "avg", "--json"], flags].concat());
    assert_eq!(plan.code, 0, "{flags:?}: {}", plan.said);
    plan.json()
}

fn two_topics() -> Value {
    let mut group = group(8, 2);
    let broker = |name: &str, queues: u32| json!({"broker": name, "readQueues": queues});
    group["topics"] = json!([
        {"topic": "bills", "brokers": [broker("broker-a", 3), broker("broker-b", 2)]},
        {"topic": "orders", "brokers": [broker("broker-a", 8), broker("broker-b", 8)]},
    ]);
    group
}

#[test]
fn ids_said_together_join_and_leave_together() {
    for flags in [&["--add", "c4,c5"][..], &["--add", "c4", "--add", "c5"]] {
        let plan = avg(&group(16, 3), flags);
        assert_eq!(plan["after"]["consumers"], 5);
        assert_eq!(plan["results"][0].get("steps"), None, "one step");
    }
    let plan = avg(&group(16, 5), &["--remove", "c2,c4"]);
    assert_eq!((&plan["before"]["consumers"], &plan["after"]["consumers"]), (&json!(5), &json!(3)));
}

#[test]
fn changes_happen_in_the_order_of_the_flags() {
    let labels = |flags: &[&str]| {
        let plan = avg(&group(16, 3), flags);
        let steps = plan["results"][0]["steps"].as_array().unwrap().clone();
        steps.iter().map(|step| step["label"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(labels(&["--add", "c9", "--remove", "c1"]), ["c9 joins", "c1 leaves"]);
    assert_eq!(labels(&["--remove", "c1", "--add", "c9"]), ["c1 leaves", "c9 joins"]);
    assert_eq!(
        labels(&["--add", "c8", "--remove", "c8", "--add", "c9"]),
        ["c8 joins", "c8 leaves", "c9 joins"]
    );
    assert_eq!(
        labels(&["--queues", "+4", "--drop-broker", "broker-a", "--queues", "broker-b=4"]),
        ["orders has 20 queues on broker-a", "broker-a is lost", "orders has 4 queues on broker-b"]
    );
}

#[test]
fn queues_come_on_every_broker_or_on_one() {
    let group = two_topics();
    let after = |flags: &[&str]| avg(&group, flags)["after"]["queues"].as_u64().unwrap();
    assert_eq!(after(&["--queues", "orders:+4"]), 5 + 24);
    assert_eq!(after(&["--queues", "orders:broker-b=12"]), 5 + 8 + 12);
    assert_eq!(after(&["--queues", "bills:broker-c=4"]), 21 + 4, "a new broker");
    assert_eq!(after(&["--queues", "orders:broker-a=0"]), 5 + 8, "not to be read there any longer");
    assert_eq!(after(&["--queues", "orders:+1", "--queues", "orders:+1"]), 21 + 4, "one after the other");
    assert_eq!(after(&["--drop-broker", "broker-a"]), 2 + 8);
    let one = ask_about(&group, &["plan", "--queues", "+4", "--json"]);
    assert_eq!(one.code, 2);
    assert!(one.said.contains("the group has several topics"), "{}", one.said);
}

#[test]
fn a_rolling_restart_is_told_step_by_step() {
    let four = group(16, 4);
    let over = |plan: &Value, at: usize| plan["results"][at]["handedOver"]["typical"].as_u64().unwrap();
    let plan = ask_about(&four, &["plan", "--roll", "--strategy", "avg,circle,hash", "--json"]).json();
    assert_eq!([over(&plan, 0), over(&plan, 1)], [54, 92], "stable ids");
    assert_eq!(plan["results"][0]["moved"]["max"], 0, "in the end all is as it was");
    assert_eq!(plan["results"][0]["steps"].as_array().unwrap().len(), 8);
    let text = ask_about(&four, &["plan", "--roll", "stable", "--strategy", "avg", "--moves"]).out;
    assert!(text.contains("STEP") && text.contains("c1 stops") && text.contains("54"), "{text}");
    assert!(text.ends_with("0 of 16 queues move; 54 change hands on the way\n"), "{text}");
    let plan = ask_about(&four, &["plan", "--roll", "new", "--strategy", "avg", "--json"]).json();
    assert_eq!(plan["results"][0]["moves"], json!([]));
    assert!(over(&plan, 0) >= 48, "{plan}");
}

#[test]
fn a_change_of_strategy_starts_from_the_running_one() {
    let plan = ask_about(&group(16, 3), &["plan", "--switch-to", "circle", "--json"]).json();
    let results = plan["results"].as_array().unwrap();
    assert_eq!((results.len(), &results[0]["strategy"]), (1, &json!("AVG")));
    assert_eq!(results[0]["moved"]["max"], 10);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let one = group(16, 3);
    for (flags, code, says) in [
        (&[][..], 2, "no change to plan"),
        (&["--add", "0"], 2, "--add 0 changes nothing"),
        (&["--add", "-3"], 2, "unexpected argument"),
        (&["--add", "2,c9"], 2, "neither a number of members nor client ids"),
        (&["--add", "c1"], 2, "already has a member"),
        (&["--add", "c4,,c5"], 2, "an empty client id"),
        (&["--remove", "c9"], 4, "no member"),
        (&["--remove", "4"], 2, "cannot leave a group of 3"),
        (&["--queues", "4"], 2, "neither +N nor BROKER=N"),
        (&["--queues", "+x"], 2, "not +N"),
        (&["--queues", "broker-a=-1"], 2, "not BROKER=N"),
        (&["--queues", "bills:+1"], 2, "no topic bills"),
        (&["--queues", "broker-a=99999999999"], 2, "at most 1000000"),
        (&["--drop-broker", "broker-z"], 2, "broker-z"),
        (&["--roll", "maybe"], 2, "stable"),
        (&["--switch-to", "averge"], 2, "circle"),
        (&["--add", "1", "--strategy", "averge"], 2, "circle"),
        (&["--add", "1", "--strategy", "rooms:no-such-file.toml"], 2, "no-such-file.toml"),
        (&["--add", "1", "--max-moves", "few"], 2, "invalid digit"),
    ] {
        let answer = ask_about(&one, &[&["plan"], flags].concat());
        assert_eq!(answer.code, code, "{flags:?}: {}", answer.said);
        assert!(answer.said.contains(says), "{flags:?}: {}", answer.said);
        assert_eq!(answer.out, "", "{flags:?}");
    }
}

#[test]
fn a_group_by_name_needs_a_name_server() {
    let answer = ask(&["plan", "pay-worker", "--add", "1"]);
    assert_eq!((answer.code, answer.out.as_str()), (2, ""));
    assert!(answer.said.contains("no name server given"), "{}", answer.said);
    let answer = ask(&["plan", "--add", "1", "--no-embedded"]);
    assert_eq!((answer.code, answer.out.as_str()), (2, ""));
    for command in ["verify", "snapshot"] {
        assert_eq!(ask(&[command]).code, 2);
    }
}
