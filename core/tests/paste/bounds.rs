//! Too much of anything is cut, and said.

use evenkeel_core::paste::{MAX_BYTES, MAX_LINES, MAX_PROBLEMS, parse};

#[test]
fn too_many_lines() {
    let text = "c1\n".repeat(MAX_LINES + 5);
    let parsed = parse(&text);
    let [problem] = parsed.problems.as_slice() else { panic!("{:?}", parsed.problems) };
    assert_eq!((problem.line, problem.lines), (MAX_LINES + 1, 5));
    assert!(problem.expected.contains("100000 lines"), "{problem:?}");
    assert_eq!(parsed.lines, MAX_LINES + 5);
    assert_eq!(parse(&"c1\n".repeat(MAX_LINES)).problems, []);
}

#[test]
fn too_many_bytes() {
    let text = "é".repeat(MAX_BYTES / 2 + 10);
    let parsed = parse(&format!("c1\nx{text}"));
    assert!(parsed.problems.iter().any(|problem| problem.expected.contains("4194304 bytes")));
}

#[test]
fn too_many_problems() {
    let parsed = parse(&"no list at all\n".repeat(MAX_PROBLEMS + 7));
    assert_eq!(parsed.problems.len(), MAX_PROBLEMS + 1);
    let last = parsed.problems.last().unwrap();
    assert_eq!((last.lines, last.text.as_str()), (7, "7 more lines"));
}

#[test]
fn brackets_without_end_take_no_time() {
    // Were each searched for its end through the whole text, this would not come back.
    let parsed = parse(&"{\n\n".repeat(40_000));
    assert_eq!(parsed.lines, 40_000);
    let parsed = parse(&"{".repeat(1_000_000));
    assert_eq!(parsed.problems.len(), 1);
    let parsed = parse(&"{}".repeat(50_000));
    assert!(parsed.problems.len() > 100);
}
