//! `snapshot --redact`: no name survives, in whatever form it is written.

use super::ask::{ask_about, ask_with};
use serde_json::{Value, json};

/// Every name, address and expression has this in it.
const SECRET: &str = "zebra";

fn confidential() -> Value {
    let name = |what: &str| format!("{SECRET}-{what}");
    let queue = |id: i32| json!({"topic": name("orders"), "broker": name("broker-a"), "id": id});
    json!({
        "schema": "evenkeel.snapshot/1",
        "group": name("pay-worker"),
        "takenAt": "2026-11-30T03:00:00Z",
        "topics": [
            {"topic": name("orders"), "brokers": [{"broker": name("broker-a"), "readQueues": 4}]},
            {"topic": format!("%RETRY%{}", name("pay-worker")), "brokers": [{"broker": name("broker-a"), "readQueues": 1}]},
        ],
        "consumers": (1..=3).map(|number| json!({
            "id": format!("10.7.7.{number}@{}", name("host")), "address": format!("{}.corp:{number}", name("host")),
            "language": "JAVA", "version": "5.3.1", "strategy": format!("corp.{SECRET}.Strategy"),
            "subscriptions": {name("orders"): format!("{SECRET}Tag || other")}, "topics": [name("orders")],
            "listed": [queue(0)],
        })).collect::<Vec<_>>(),
        "owned": [{"queue": queue(0), "owners": [format!("10.7.7.1@{}", name("host"))]}],
        "load": [{"queue": queue(1), "lag": 42}],
    })
}

#[test]
fn no_name_survives_in_any_form() {
    let group = confidential();
    for form in ["text", "wide", "json", "ndjson", "csv"] {
        let open = ask_about(&group, &["snapshot", "-o", form]);
        assert!(open.out.contains(SECRET), "{form}");
        let hidden = ask_about(&group, &["snapshot", "--redact", "-o", form]);
        assert_eq!((hidden.code, hidden.said.as_str()), (0, ""));
        assert!(!hidden.out.is_empty());
        for secret in [SECRET, "10.7.7.", "corp"] {
            assert!(!hidden.out.contains(secret), "{form} has {secret}:\n{}", hidden.out);
        }
    }
}

#[test]
fn a_file_of_pseudonyms_tells_nothing_on_any_stream() {
    let folder = std::env::temp_dir().join(format!("evenkeel-redact-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("group.json");
    let answer = ask_about(&confidential(), &["snapshot", "--redact", "-O", path.to_str().unwrap()]);
    let written = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!((answer.code, answer.out.as_str()), (0, ""));
    assert!(!written.contains(SECRET) && !answer.said.contains(SECRET), "{}{written}", answer.said);
    let value: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(value["redacted"], true);
}

#[test]
fn plans_of_pseudonyms_are_the_same_where_only_order_counts() {
    let group = confidential();
    let hidden = ask_about(&group, &["snapshot", "--redact"]).out;
    for strategy in ["avg", "circle"] {
        let figures = |text: &str| {
            let plan =
                ask_with(&["plan", "--from", "-", "--remove", "1", "--strategy", strategy, "--json"], text)
                    .json();
            ["moved", "floor", "perConsumer"].map(|field| match field {
                "perConsumer" => plan["results"][0][field]["loads"].clone(),
                _ => plan["results"][0][field].clone(),
            })
        };
        assert_eq!(figures(&group.to_string()), figures(&hidden), "{strategy}");
    }
}
