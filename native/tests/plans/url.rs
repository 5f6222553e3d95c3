//! `--url`: a plan that another person opens on the planning page, or reads again here.

use super::ask::{Answer, ask, ask_about, ask_with, group};
use serde_json::json;

fn last_line(answer: &Answer) -> &str {
    answer.out.lines().last().unwrap()
}

#[test]
fn a_link_has_the_group_and_its_changes() {
    let answer = ask_about(&group(16, 3), &["plan", "--add", "c4", "--url=https://host/planner/"]);
    assert_eq!((answer.code, answer.said.as_str()), (0, ""));
    let link = last_line(&answer);
    assert!(link.starts_with("https://host/planner/#evenkeel=1."), "{link}");
    let again = ask_with(&["plan", "--from", "-", "--json"], link);
    assert_eq!((again.code, again.said.as_str()), (0, ""));
    let direct = ask_about(&group(16, 3), &["plan", "--add", "c4", "--json"]);
    assert_eq!(again.json(), direct.json());
    let other = ask_with(&["plan", "--from", "-", "--remove", "c1", "--json"], link).json();
    assert_eq!(other["after"]["consumers"], 2, "what is said counts, and not what the link says");
}

/// Rows of a plan: what each strategy is called, with the virtual nodes of a ring.
fn tried(answer: &Answer) -> Vec<(String, Option<u64>)> {
    assert_eq!(answer.code, 0, "{}", answer.said);
    let report = answer.json();
    let row = |result: &serde_json::Value| {
        let name = result["strategy"].as_str().unwrap().to_owned();
        (name, result["settings"]["virtualNodes"].as_u64())
    };
    report["results"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn a_link_has_its_strategies_too_and_flags_go_first() {
    let answer = ask_about(&group(16, 3), &["plan", "--add", "c4", "--strategy", "hash:40,avg", "--url"]);
    let link = last_line(&answer);
    let again = ask_with(&["plan", "--from", "-", "--json"], link);
    let named = |names: &[(&str, Option<u64>)]| {
        names.iter().map(|&(name, nodes)| (name.to_owned(), nodes)).collect::<Vec<_>>()
    };
    let all = named(&[
        ("AVG", None),
        ("AVG_BY_CIRCLE", None),
        ("CONSISTENT_HASH", Some(40)),
        ("AVG_BY_DRAFT", None),
    ]);
    assert_eq!(tried(&again), all);
    let flag = ask_with(&["plan", "--from", "-", "--json", "--strategy", "hash:7,draft"], link);
    assert_eq!(tried(&flag), named(&[("CONSISTENT_HASH", Some(7)), ("AVG_BY_DRAFT", None)]));

    let on = |args: &[&str]| {
        last_line(&ask_with(&[&["plan", "--from", "-", "--url"], args].concat(), link)).to_owned()
    };
    assert_eq!(on(&[]), link, "a link of a link is the same");
    assert_eq!(on(&["--strategy", "circle"]), link, "what it has of others stays");
    let other = ask_with(&["plan", "--from", "-", "--json"], &on(&["--strategy", "hash:7"]));
    assert_eq!(tried(&other)[2], ("CONSISTENT_HASH".to_owned(), Some(7)));
}

#[test]
fn a_link_may_stand_where_a_file_would() {
    let answer = ask_about(&group(16, 3), &["plan", "--add", "c4", "--url=https://host/planner/"]);
    let link = last_line(&answer);
    let direct = ask_about(&group(16, 3), &["plan", "--add", "c4", "--json"]);
    assert_eq!(ask(&["plan", "--from", link, "--json"]).json(), direct.json());
    assert_eq!(ask(&["verify", "--from", link, "--json"]).json()["group"], "pay-worker");
    let other = ask(&["plan", "other-worker", "--from", link]);
    assert_eq!((other.code, other.out.as_str()), (2, ""));
    assert!(other.said.contains("the link is about group pay-worker"), "{}", other.said);
    assert!(ask(&["plan", "--from", &link[..60]]).said.contains("the link is damaged"));
}

#[test]
fn without_a_page_it_is_what_stands_behind_its_address() {
    let answer = ask_about(&group(16, 3), &["plan", "--add", "c4", "--url"]);
    assert!(last_line(&answer).starts_with("#evenkeel=1."), "{}", answer.out);
    let json = ask_about(&group(16, 3), &["plan", "--add", "c4", "--url", "--json"]).json();
    assert_eq!(json["url"], last_line(&answer));
    assert_eq!(json["schema"], "evenkeel.plan/1");
}

#[test]
fn what_is_no_page_or_no_link_is_refused() {
    let answer = ask_about(&group(16, 3), &["plan", "--add", "c4", "--url=a page"]);
    assert_eq!((answer.code, answer.out.as_str()), (2, ""));
    assert!(answer.said.contains("not the address of a page"), "{}", answer.said);
    let answer = ask_about(&group(16, 3), &["plan", "--add", "c4", "--url", "-o", "csv"]);
    assert_eq!((answer.code, answer.out.as_str()), (2, ""));
    let answer = ask_with(&["plan", "--from", "-"], "https://host/#evenkeel=1.AAAA");
    assert_eq!((answer.code, answer.out.as_str()), (2, ""));
    assert!(answer.said.contains("the link is damaged"), "{}", answer.said);
    let link = ask_about(&group(16, 3), &["plan", "--add", "c4", "--url"]);
    let cut = &last_line(&link)[..40];
    assert_eq!(ask_with(&["plan", "--from", "-"], cut).code, 2);
}

/// 2,000 members with names of their own do not fit into a link. The plan is not half printed.
#[test]
fn what_does_not_fit_into_a_link_is_told() {
    let mut large = group(16, 0);
    let id = |number: u64| json!({"id": format!("{:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15))});
    large["consumers"] = (1..=2_000).map(id).collect();
    let answer = ask_about(&large, &["plan", "--remove", "1", "--url"]);
    assert_eq!((answer.code, answer.out.as_str()), (2, ""));
    assert!(answer.said.contains("share the snapshot as a file"), "{}", answer.said);
}

#[test]
fn a_file_without_a_change_needs_one() {
    let answer = ask_about(&group(16, 3), &["plan"]);
    assert_eq!((answer.code, answer.out.as_str()), (2, ""));
    assert!(answer.said.contains("no change to plan"), "{}", answer.said);
    assert_eq!(ask(&["plan"]).code, 2);
}
