//! `evenkeel explain`: every code has its text, for people and for programs.

use super::ask::ask;
use evenkeel_core::plan::EXPLANATIONS;

#[test]
fn a_code_is_explained_with_cause_and_fix() {
    let answer = ask(&["explain", "r101"]);
    assert_eq!((answer.code, answer.said.as_str()), (0, ""));
    let text = answer.out;
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("R101 · error · duplicate client id"));
    for start in ["Two processes of the group", "cause:  Containers", "fix:    Give each process"] {
        assert!(lines.any(|line| line.starts_with(start)), "{start} is missing in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn all_codes_are_listed_alike_in_text_and_json() {
    let text = ask(&["explain"]).out;
    let listed: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    let json = ask(&["explain", "--json"]).json();
    assert_eq!(json["schema"], "evenkeel.explain/1");
    let codes = json["codes"].as_array().unwrap();
    let named: Vec<&str> = codes.iter().map(|entry| entry["code"].as_str().unwrap()).collect();
    let known: Vec<&str> = EXPLANATIONS.iter().map(|entry| entry.code.as_str()).collect();
    assert_eq!((&listed, &named), (&known, &known));
    for field in ["level", "title", "meaning", "cause", "fix"] {
        assert!(codes.iter().all(|entry| !entry[field].as_str().unwrap().is_empty()), "{field}");
    }
}

#[test]
fn an_unknown_code_is_wrong_usage() {
    let answer = ask(&["explain", "R999"]);
    assert_eq!((answer.code, answer.out.as_str()), (2, ""));
    let said = answer.said;
    assert!(said.contains("R999") && said.contains("hint: `evenkeel explain` lists all codes"), "{said}");
}
