//! `--max-moves` and `--max-skew`: for pipelines that must not deploy what moves too much.

use super::ask::{Answer, ask_about, group};
use serde_json::json;

fn plan(flags: &[&str]) -> Answer {
    ask_about(&group(16, 3), &[&["plan", "--add", "c4"], flags].concat())
}

#[test]
fn a_plan_within_its_limits_is_fine() {
    for flags in [&["--max-moves", "9"][..], &["--max-skew", "0"], &["--max-moves", "9", "--max-skew", "0"]] {
        let answer = plan(flags);
        assert_eq!((answer.code, answer.said.as_str()), (0, ""), "{flags:?}");
        assert_eq!(plan(&[flags, &["--json"]].concat()).json()["limits"]["passed"], true);
    }
}

#[test]
fn more_moves_than_allowed_are_code_7() {
    let answer = plan(&["--max-moves", "8"]);
    assert_eq!(answer.code, 7);
    assert!(answer.out.contains("AVG moves 9 queues, limit 8"), "{}", answer.out);
    assert!(answer.said.ends_with("plan is over the limit (see evenkeel explain R201)\n"), "{}", answer.said);
    let json = plan(&["--max-moves", "8", "--json"]);
    assert_eq!((json.code, &json.json()["limits"]), (7, &json!({"maxMoves": 8, "passed": false})));
}

#[test]
fn more_skew_than_allowed_is_code_7() {
    let flags = ["plan", "--add", "c5", "--strategy", "hash", "--max-skew", "1"];
    let answer = ask_about(&group(16, 4), &flags);
    assert_eq!(answer.code, 7);
    assert!(answer.out.ends_with("CONSISTENT_HASH leaves a skew of 2, limit 1\n"), "{}", answer.out);
    assert!(answer.said.ends_with("plan is over the limit (see evenkeel explain R202)\n"), "{}", answer.said);
}

#[test]
fn the_worst_case_counts_while_ids_are_not_known() {
    let with = |limit: &str| ask_about(&group(16, 3), &["plan", "--add", "1", "--max-moves", limit]).code;
    assert_eq!((with("8"), with("9")), (7, 0), "5 to 9 move");
}

#[test]
fn quiet_leaves_the_exit_code() {
    let answer = plan(&["--max-moves", "8", "-q"]);
    assert_eq!((answer.code, answer.said.as_str()), (7, ""));
}
