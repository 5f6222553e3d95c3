//! `--from`: groups that do not come from a cluster.

use super::ask::{ask, ask_about, ask_with, group};
use serde_json::json;
use std::path::PathBuf;

/// A file that is gone with the test.
struct Written(PathBuf);

impl Written {
    fn new(name: &str, text: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("evenkeel-from-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_file_is_as_good_as_stdin() {
    let group = group(16, 3);
    let file = Written::new("group.json", group.to_string().as_bytes());
    let args = ["plan", "--add", "c4", "--json"];
    let from_file = ask(&[&args[..], &["--from", file.path()]].concat());
    assert_eq!((from_file.code, from_file.said.as_str()), (0, ""));
    assert_eq!(from_file.out, ask_about(&group, &args).out);
}

#[test]
fn a_wrong_field_is_named() {
    let mut bad = group(16, 3);
    bad["topics"][0]["brokers"][0]["readQueues"] = json!(-1);
    let answer = ask_about(&bad, &["verify"]);
    assert_eq!(answer.code, 2);
    assert!(answer.said.contains("topics[0].brokers[0].readQueues: -1 is negative"), "{}", answer.said);
    let mut future = group(16, 3);
    future["schema"] = json!("evenkeel.snapshot/2");
    let answer = ask_about(&future, &["verify"]);
    assert_eq!(answer.code, 2);
    assert!(answer.said.contains("evenkeel.snapshot/2"), "{}", answer.said);
}

#[test]
fn a_group_is_not_taken_for_another() {
    let answer = ask_about(&group(16, 3), &["plan", "bill-worker", "--add", "1"]);
    assert_eq!(answer.code, 2);
    assert!(answer.said.contains("is about group pay-worker, not bill-worker"), "{}", answer.said);
}

#[test]
fn what_is_no_snapshot_is_refused() {
    for text in ["", "{", "orders: broker-a=8"] {
        let answer = ask_with(&["verify", "--from", "-"], text);
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{text:?}: {}", answer.said);
        assert!(answer.said.starts_with("evenkeel: - is no snapshot: "), "{text:?}: {}", answer.said);
    }
    let missing = ask(&["plan", "--from", "no-such-file.json", "--add", "1"]);
    assert_eq!(missing.code, 2);
    assert!(missing.said.contains("cannot read no-such-file.json"), "{}", missing.said);
}

#[test]
fn a_group_without_queues_or_members_is_code_4() {
    for empty in ["topics", "consumers"] {
        let mut group = group(16, 3);
        group[empty] = json!([]);
        let answer = ask_about(&group, &["verify"]);
        assert_eq!((answer.code, answer.out.as_str()), (4, ""), "{empty}: {}", answer.said);
    }
}
