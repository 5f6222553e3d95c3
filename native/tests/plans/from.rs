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
fn what_tells_of_no_group_is_refused() {
    for text in ["", "\n\n", "{", "what is this\n"] {
        let answer = ask_with(&["verify", "--from", "-"], text);
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{text:?}: {}", answer.said);
        assert!(answer.said.contains("nothing in - tells of a group"), "{text:?}: {}", answer.said);
    }
    for text in ["orders: broker-a=8\n", "c1@1\nc2@1\n"] {
        let answer = ask_with(&["verify", "--from", "-"], text);
        assert_eq!((answer.code, answer.out.as_str()), (4, ""), "{text:?}: {}", answer.said);
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

#[test]
fn lists_and_what_mqadmin_prints_add_up_to_a_group() {
    let text = "\
orders: broker-a=8 broker-b=8

#ClientId            #ClientAddr            #Language  #Version
10.0.3.11@7#812      10.0.3.11:5104         JAVA       V5_3_1
10.0.3.12@7#944      10.0.3.12:5104         JAVA       V5_3_1
10.0.3.13@7#377      10.0.3.13:5104         JAVA       V5_3_1

Below is subscription:
";
    let answer = ask_with(&["plan", "pay-worker", "--from", "-", "--add", "1", "--strategy", "avg"], text);
    assert_eq!(answer.code, 0, "{}", answer.said);
    assert!(
        answer.out.starts_with("pay-worker · orders · 16 queues on 2 brokers · 3 → 4 consumers"),
        "{}{}",
        answer.out,
        answer.said
    );
    assert!(answer.out.contains("5–9 of 16"), "{}", answer.out);
}

#[test]
fn bad_lines_are_named_and_the_rest_counts() {
    let text = "orders: broker-a=8\norders: broker-b=many\n10.0.0.1@1\n10.0.0.2@1\n";
    let answer =
        ask_with(&["plan", "--from", "-", "--add", "10.0.0.3@1", "--strategy", "avg", "--json"], text);
    assert_eq!(answer.code, 0, "{}", answer.said);
    assert!(answer.said.contains("-, line 2: "), "{}", answer.said);
    assert_eq!(answer.json()["results"][0]["moved"]["max"], 3);
}

#[test]
fn bytes_that_are_no_text_are_told_and_do_no_harm() {
    let file = Written::new("bytes", b"orders: broker-a=8\n\xFF\xFE\x00\n10.0.0.1@1\n10.0.0.2@1\n");
    let answer = ask(&["verify", "--from", file.path()]);
    assert!([0, 2, 4].contains(&answer.code), "{}", answer.said);
    assert!(answer.said.contains("line 2: "), "{}", answer.said);
}

#[test]
fn a_snapshot_of_a_paste_can_be_read_again() {
    let text = "orders: broker-a=8\n10.0.0.1@1\n10.0.0.2@1\n";
    let snapshot = ask_with(&["snapshot", "pay-worker", "--from", "-"], text).out;
    let again = ask_with(&["snapshot", "--from", "-"], &snapshot);
    assert_eq!((again.code, again.out), (0, snapshot));
}
