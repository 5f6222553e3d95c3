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

/// None of these comes back if the time grows with the square of the text.
#[test]
fn long_texts_of_any_kind_take_time_in_proportion() {
    assert_eq!(parse(&"{\n\n".repeat(40_000)).lines, 40_000);
    assert_eq!(parse(&"{".repeat(1_000_000)).problems.len(), 1);
    assert_eq!(parse(&"{}".repeat(1_000_000)).problems.len(), MAX_PROBLEMS + 1);
    assert_eq!(parse(&format!("{{\n\n{}", "{}".repeat(1_000_000))).problems.len(), MAX_PROBLEMS + 1);
    let numbered = |line: fn(usize) -> String| (0..60_000).map(line).collect::<String>();
    assert_eq!(parse(&numbered(|n| format!("c{n}\n"))).snapshot.consumers.len(), 60_000);
    let rows = numbered(|n| format!("c{n}@1  10.0.0.1:{n}  JAVA  V4_9_7\n"));
    let table = format!("#ClientId #ClientAddr #Language #Version\n{rows}");
    assert_eq!(parse(&table).snapshot.consumers.len(), 60_000);
    let same = numbered(|n| format!("c@1  10.0.0.1:{n}  JAVA  V4_9_7\n"));
    let table = format!("#ClientId #ClientAddr #Language #Version\n{same}");
    assert_eq!(parse(&table).merge(parse(&table)).snapshot.consumers.len(), 60_000);
}
