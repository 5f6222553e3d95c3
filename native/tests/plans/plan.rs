//! `evenkeel plan`: the figures that the documentation shows, in every form of output.

use super::ask::{ask, ask_about, group};
use serde_json::{Value, json};

#[test]
fn without_a_group_the_documented_example_is_planned() {
    let answer = ask(&["plan", "--add", "1"]);
    assert_eq!(answer.code, 0, "{}", answer.said);
    assert!(
        answer.said.starts_with("evenkeel: no name server given (NAMESRV_ADDR is unset)"),
        "{}",
        answer.said
    );
    let lines: Vec<&str> = answer.out.lines().collect();
    assert_eq!(lines[0], "pay-worker · orders · 16 queues on 2 brokers · 3 → 4 consumers · running AVG");
    assert_eq!(lines[1], "");
    assert_eq!(
        lines[2..5],
        [
            "STRATEGY         MOVED        KEPT   PER CONSUMER  IDLE  NOTE",
            "AVG (running)    5–9 of 16    7–11   4 4 4 4       0     depends on where the new id sorts",
            "AVG_BY_CIRCLE    10–13 of 16  3–6    4 4 4 4       0     depends on where the new id sorts",
        ],
        "{}",
        answer.out
    );
    assert!(lines[5].starts_with("CONSISTENT_HASH  "), "{}", answer.out);
    assert!(lines[5].ends_with("varies        0     95 % of 2,000 trials"), "{}", answer.out);
    assert!(lines[6].starts_with("AVG_BY_DRAFT     4–"), "{}", answer.out);
    assert_eq!(
        lines[7],
        "floor            4 of 16      12     4 4 4 4       –     fewest moves for an even split"
    );
    for line in [
        "Each moved queue pauses, and what its old owner had not committed is delivered again.",
        "Give the id to make it exact:  evenkeel plan --add ID --moves",
    ] {
        assert!(lines.contains(&line), "{}", answer.out);
    }
}

#[test]
fn an_id_makes_it_exact() {
    let answer =
        ask(&["plan", "--add", "10.0.3.14@7#120", "--strategy", "avg", "--moves", "--max-moves", "8"]);
    assert_eq!(answer.code, 7);
    assert_eq!(
        answer.out.lines().collect::<Vec<_>>(),
        [
            "MEMBER             BEFORE  AFTER  LOSES             GAINS",
            "10.0.3.11@7#812    6       4      broker-a 4 5      –",
            "10.0.3.12@7#944    5       4      broker-b 0 1 2    broker-a 4 5",
            "10.0.3.13@7#377    5       4      broker-b 4 5 6 7  broker-b 0 1 2",
            "10.0.3.14@7#120 +  –       4      –                 broker-b 4 5 6 7",
            "9 of 16 queues move, limit 8",
        ],
        "{}",
        answer.out
    );
    let said = answer.said.lines().last().unwrap();
    assert_eq!(said, "evenkeel: plan is over the limit (see evenkeel explain R201)");
}

#[test]
fn json_has_the_agreed_fields() {
    let args = ["plan", "--add", "10.0.3.14@7#120", "--strategy", "avg", "--max-moves", "8", "--json"];
    let answer = ask(&args);
    assert_eq!(answer.code, 7);
    let plan = answer.json();
    assert_eq!(plan["schema"], "evenkeel.plan/1");
    assert_eq!((&plan["group"], &plan["topics"]), (&json!("pay-worker"), &json!(["orders"])));
    assert_eq!(plan["before"], json!({"consumers": 3, "queues": 16}));
    assert_eq!(plan["after"], json!({"consumers": 4, "queues": 16}));
    let result = &plan["results"][0];
    assert_eq!((&result["strategy"], &result["running"]), (&json!("AVG"), &json!(true)));
    assert_eq!((&result["added"], &result["removed"], &result["floor"]), (&json!(0), &json!(0), &json!(4)));
    assert_eq!(result["moved"], json!({"min": 9, "typical": 9, "max": 9, "exact": true}));
    assert_eq!(result["kept"], json!({"min": 7, "typical": 7, "max": 7, "exact": true}));
    let per = &result["perConsumer"];
    assert_eq!(
        (&per["min"], &per["max"], &per["skew"], &per["idle"]),
        (&json!(4), &json!(4), &json!(0), &json!([]))
    );
    let moves = result["moves"].as_array().unwrap();
    assert_eq!(moves.len(), 9);
    let first = json!({
        "queue": {"topic": "orders", "broker": "broker-a", "id": 4}, "from": "10.0.3.11@7#812", "to": "10.0.3.12@7#944",
    });
    assert_eq!(moves[0], first);
    assert_eq!(plan["limits"], json!({"maxMoves": 8, "passed": false}));
}

#[test]
fn where_a_new_id_sorts_decides_what_moves() {
    let group = group(64, 8);
    let names = ["c0", "c1x", "c2x", "c3x", "c4x", "c5x", "c6x", "c7x", "c8x"];
    let moved = names.map(|id| {
        let plan = ask_about(&group, &["plan", "--add", id, "--strategy", "avg", "--json"]).json();
        plan["results"][0]["moved"]["max"].as_u64().unwrap()
    });
    assert_eq!(moved, [36, 28, 22, 18, 16, 16, 18, 22, 28]);
    let range = ask_about(&group, &["plan", "--add", "1", "--strategy", "avg", "--json"]).json();
    assert_eq!(range["results"][0]["moved"], json!({"min": 16, "typical": 22, "max": 36, "exact": true}));
}

#[test]
fn eight_queues_from_two_to_three() {
    let plan = ask_about(&group(8, 2), &["plan", "--add", "c3", "--strategy", "avg", "--json"]).json();
    let moves = plan["results"][0]["moves"].as_array().unwrap();
    assert_eq!(moves.iter().map(|step| step["queue"]["id"].as_i64().unwrap()).collect::<Vec<_>>(), [3, 6, 7]);
}

#[test]
fn text_ndjson_and_csv_say_what_json_says() {
    let group = group(16, 3);
    let args = ["plan", "--add", "c4"];
    let json = ask_about(&group, &[&args[..], &["--json"]].concat()).json();
    let results = json["results"].as_array().unwrap();
    let lines = ask_about(&group, &[&args[..], &["-o", "ndjson"]].concat()).lines();
    let csv = ask_about(&group, &[&args[..], &["-o", "csv"]].concat()).out;
    let text = ask_about(&group, &args).out;
    assert_eq!((lines.len(), csv.lines().count()), (results.len(), results.len() + 1));
    for ((result, line), row) in results.iter().zip(&lines).zip(csv.lines().skip(1)) {
        let (name, moved) = (result["strategy"].as_str().unwrap(), &result["moved"]["max"]);
        assert_eq!(
            (&line["strategy"], &line["movedMax"], &line["floor"]),
            (&json!(name), moved, &result["floor"])
        );
        let running = result["running"] == true;
        assert!(row.starts_with(&format!("{name},{running},{moved},{moved},{moved},true,")), "{row}");
        let row = text.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
        assert!(row.contains(&format!("{moved} of 16")), "{row}");
    }
    let moves = ask_about(&group, &["plan", "--add", "c4", "--strategy", "avg", "--moves", "-o", "csv"]).out;
    let rows: Vec<&str> = moves.lines().collect();
    assert_eq!(rows[..2], ["strategy,topic,broker,id,from,to", "AVG,orders,broker-a,4,c1,c2"]);
    assert_eq!(rows.len(), 1 + 9);
}

#[test]
fn several_topics_leave_members_idle_and_it_is_said() {
    let mut many = group(4, 5);
    let topic = many["topics"][0].clone();
    many["topics"] = (0..20)
        .map(|number| {
            let mut topic = topic.clone();
            topic["topic"] = json!(format!("T{number:02}"));
            topic
        })
        .collect();
    let plan = ask_about(&many, &["plan", "--add", "c6", "--json"]).json();
    let avg = &plan["results"][0]["perConsumer"];
    assert_eq!((&avg["loads"], &avg["idle"]), (&json!([20, 20, 20, 20, 0, 0]), &json!(["c5", "c6"])));
    let codes: Vec<&Value> =
        plan["warnings"].as_array().unwrap().iter().map(|found| &found["code"]).collect();
    assert!(codes.contains(&&json!("R203")), "{plan}");
    let text = ask_about(&many, &["plan", "--add", "c6"]).out;
    assert!(text.starts_with("pay-worker · 20 topics · 80 queues on 1 broker · 5 → 6 consumers"), "{text}");
    assert!(text.contains("WARN R203 members idle after the change: 2 of 6 members have no queue"), "{text}");
}

#[test]
fn moves_of_unknown_ids_are_not_made_up() {
    let answer = ask_about(&group(16, 3), &["plan", "--add", "2", "--strategy", "avg", "--moves"]);
    assert_eq!((answer.code, answer.out.as_str()), (0, ""));
    assert!(answer.said.contains("what moves is not known before the ids are"), "{}", answer.said);
}
