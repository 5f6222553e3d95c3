//! `evenkeel verify`: sickness that a snapshot shows, each with its code, its effect and exit code 7.

use super::ask::{Answer, ask_about, group};
use serde_json::{Value, json};

fn verify(group: &Value, flags: &[&str]) -> Answer {
    ask_about(group, &[&["verify"], flags].concat())
}

fn codes(answer: &Answer) -> Vec<String> {
    let findings = answer.json()["findings"].as_array().unwrap().clone();
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

/// Three members that told everything, and own what AVG gives them.
fn sound() -> Value {
    let mut group = group(16, 3);
    for member in group["consumers"].as_array_mut().unwrap() {
        member["language"] = json!("JAVA");
        member["version"] = json!("5.3.1");
        member["strategy"] = json!("AllocateMessageQueueAveragely");
        member["subscriptions"] = json!({"orders": "*"});
    }
    let owner = |id: i32| {
        if id < 6 {
            "c1"
        } else if id < 11 {
            "c2"
        } else {
            "c3"
        }
    };
    group["owned"] = (0..16)
        .map(
            |id| json!({"queue": {"topic": "orders", "broker": "broker-a", "id": id}, "owners": [owner(id)]}),
        )
        .collect();
    group
}

#[test]
fn a_sound_group_is_fine() {
    let answer = verify(&sound(), &[]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.said);
    assert_eq!(
        answer.out.lines().collect::<Vec<_>>(),
        [
            "pay-worker · orders · 16 queues · 3 connections",
            "OK        each connection has a client id of its own",
            "OK        subscriptions equal on all members",
            "OK        strategy AVG on all members",
            "OK        each of 16 queues has one owner",
        ]
    );
    assert_eq!(answer.said, "evenkeel: nothing wrong\n");
    let json = verify(&sound(), &["--json"]).json();
    assert_eq!((&json["schema"], &json["healthy"]), (&json!("evenkeel.verify/1"), &json!(true)));
    assert_eq!(
        (&json["queues"], &json["connections"], &json["findings"]),
        (&json!(16), &json!(3), &json!([]))
    );
}

#[test]
fn c15_one_client_id_twice() {
    let mut group = group(16, 3);
    group["consumers"] = json!([
        {"id": "172.17.0.1@1", "address": "10.31.79.112:59606"}, {"id": "172.17.0.1@1", "address": "10.31.79.17:48864"},
        {"id": "172.17.0.9@1"},
    ]);
    let answer = verify(&group, &[]);
    assert_eq!(answer.code, 7);
    let text: String = answer.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "FAIL R101 duplicate client id: 172.17.0.1@1 is used by 2 processes (10.31.79.112:59606, 10.31.79.17:48864)",
        "effect: 6 queues have several owners, 5 have none",
        "fix: Give each process an instance name",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{}", answer.out);
    }
    assert_eq!(answer.said, "evenkeel: 1 failure, 0 warnings\n");
    assert_eq!(codes(&verify(&group, &["--json"])), ["R101"]);
}

#[test]
fn a_strategy_that_differs() {
    let mut group = sound();
    group["consumers"][1]["strategy"] = json!("AllocateMessageQueueAveragelyByCircle");
    let answer = verify(&group, &[]);
    assert_eq!(answer.code, 7);
    assert!(answer.out.contains("FAIL R104 strategies differ: AVG on 2 members"), "{}", answer.out);
    assert!(!answer.out.contains("OK        strategy"), "{}", answer.out);
}

#[test]
fn a_subscription_that_differs() {
    let mut group = sound();
    group["consumers"][2]["subscriptions"] = json!({"orders": "paid"});
    let answer = verify(&group, &[]);
    assert_eq!(answer.code, 7);
    assert!(
        answer.out.contains("FAIL R106 subscriptions differ: c3 has orders as \"paid\" instead of \"*\""),
        "{}",
        answer.out
    );
    assert!(!answer.out.contains("OK        subscriptions"), "{}", answer.out);
}

#[test]
fn queues_without_an_owner_and_with_two() {
    let mut group = sound();
    group["owned"][3]["owners"] = json!([]);
    group["owned"][4]["owners"] = json!(["c1", "c2"]);
    let answer = verify(&group, &["--json"]);
    assert_eq!((answer.code, codes(&answer)), (7, vec!["R102".to_owned(), "R103".to_owned()]));
    let json = answer.json();
    assert_eq!(json["orphaned"], json!([{"topic": "orders", "broker": "broker-a", "id": 3}]));
    assert_eq!(json["doubled"][0]["owners"], json!(["c1", "c2"]));
}

#[test]
fn a_strategy_can_be_expected() {
    let mut group = group(16, 3);
    group["consumers"].as_array_mut().unwrap().push(json!({"id": "c4"}));
    let strategy = |flags: &[&str]| verify(&group, &[&["--json"], flags].concat()).json()["strategy"].clone();
    assert_eq!(strategy(&[]), "AVG", "as nobody says another");
    assert_eq!(strategy(&["--strategy", "circle"]), "AVG_BY_CIRCLE");
    let answer = verify(&group, &["--strategy", "averge"]);
    assert_eq!((answer.code, answer.out.as_str()), (2, ""));
}

#[test]
fn what_nobody_was_asked_is_not_called_fine() {
    let answer = verify(&group(16, 3), &[]);
    assert_eq!(answer.code, 0);
    assert!(answer.out.contains("who owns what is not known"), "{}", answer.out);
    assert!(
        !answer.out.contains("has one owner") && !answer.out.contains("OK        strategy"),
        "{}",
        answer.out
    );
}

#[test]
fn every_form_has_the_same_findings() {
    let mut group = sound();
    group["consumers"][1]["strategy"] = json!("AllocateMessageQueueAveragelyByCircle");
    let json = verify(&group, &["--json"]).json();
    let findings = json["findings"].as_array().unwrap();
    let lines = verify(&group, &["-o", "ndjson"]);
    assert_eq!((lines.code, lines.lines().len()), (7, findings.len()));
    for (finding, line) in findings.iter().zip(lines.lines()) {
        for field in ["code", "level", "text", "effect", "fix"] {
            assert_eq!(finding.get(field).unwrap_or(&Value::Null), &line[field]);
        }
    }
    let csv = verify(&group, &["-o", "csv"]).out;
    assert!(csv.starts_with("code,level,text,effect,fix,consumers,queues\nR104,error,"), "{csv}");
    let wide = verify(&group, &["-o", "wide"]).out;
    assert!(wide.contains("MEMBER  PROCESSES  EXPECTED  ACTUAL  ANSWERED"), "{wide}");
}

#[test]
fn twenty_topics_of_four_queues_leave_two_of_six_idle() {
    let mut group = group(4, 6);
    let topic = group["topics"][0].clone();
    group["topics"] = (0..20)
        .map(|number| {
            let mut topic = topic.clone();
            topic["topic"] = json!(format!("T{number:02}"));
            topic
        })
        .collect();
    let answer = verify(&group, &["--json"]);
    assert_eq!(answer.code, 0, "a warning");
    let finding = &answer.json()["findings"][0];
    assert_eq!((&finding["code"], &finding["consumers"]), (&json!("R108"), &json!(["c5", "c6"])));
    assert!(finding["effect"].as_str().unwrap().ends_with("20 20 20 20 0 0"), "{finding}");
}

#[test]
fn a_file_is_not_waited_for() {
    let answer = verify(&sound(), &["--settle", "25s"]);
    assert_eq!(answer.code, 2);
    assert!(answer.said.contains("--settle looks again"), "{}", answer.said);
}

/// All members of a broadcast have all queues, and of a group that pops none has any: neither is sick.
#[test]
fn a_group_that_does_not_share_queues_out_is_examined_for_the_rest() {
    for (sharing, told) in [("nobody", "the group broadcasts"), ("broker", "members pop")] {
        let mut group = sound();
        group["sharing"] = json!(sharing);
        group["owned"] = json!([]);
        let answer = verify(&group, &[]);
        assert_eq!(answer.code, 0, "{}{}", answer.out, answer.said);
        assert!(answer.out.contains(told) && !answer.out.contains("strategy"), "{}", answer.out);
        group["consumers"][1]["subscriptions"] = json!({"orders": "paid"});
        let answer = verify(&group, &["--json"]);
        assert_eq!((answer.code, codes(&answer)), (7, vec!["R106".to_owned()]));
        let plan = ask_about(&group, &["plan", "--add", "c4"]);
        assert_eq!((plan.code, plan.out.as_str()), (2, ""));
        assert!(plan.said.contains("sharing: "), "{}", plan.said);
    }
}
