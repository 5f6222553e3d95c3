//! Texts of any kind: nothing panics, and no line is lost.

use evenkeel_core::paste::{Parsed, parse};
use evenkeel_core::report::{Options, plan, verify};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::fixtures::{VERSIONS, all};

/// Lines that are problems, and lines that are not: what is not blank is one of the two.
fn is_told(parsed: &Parsed, text: &str) {
    assert_eq!(parsed.lines, text.lines().filter(|line| !line.trim().is_empty()).count(), "{text:?}");
    for problem in &parsed.problems {
        assert!(problem.line <= text.lines().count() && problem.lines > 0, "{problem:?}");
        assert!(!problem.expected.is_empty(), "{problem:?}");
    }
    let _ = verify(&parsed.snapshot);
    let _ = plan(&parsed.snapshot, &[], &Options { samples: Some(2), ..Options::default() });
}

fn fixture() -> impl Strategy<Value = &'static str> {
    let texts: Vec<&str> = VERSIONS.iter().flat_map(|version| all(version)).map(|(_, text)| text).collect();
    proptest::sample::select(texts)
}

proptest! {
    #[test]
    fn any_text(text in "(.|\\n){0,300}") {
        is_told(&parse(&text), &text);
    }

    #[test]
    fn text_of_the_right_letters(text in "[#{}\\[\\]\":,@=0-9a-zA-Z \\n-]{0,300}") {
        is_told(&parse(&text), &text);
    }

    #[test]
    fn cuts_of_real_outputs(text in fixture(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()) {
        let (a, b) = (from.index(text.len() + 1), to.index(text.len() + 1));
        let text = &text[a.min(b)..a.max(b)];
        is_told(&parse(text), text);
    }

    #[test]
    fn shuffled_lines_of_real_outputs(texts in vec(fixture(), 1..4), order in vec(any::<prop::sample::Index>(), 0..80)) {
        let lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
        let shuffled: Vec<&str> = order.iter().map(|at| lines[at.index(lines.len())]).collect();
        let text = shuffled.join("\n");
        is_told(&parse(&text), &text);
    }

    #[test]
    fn changed_characters_of_real_outputs(text in fixture(), changes in vec((any::<prop::sample::Index>(), "[ -~é\\n\u{0}]"), 1..6)) {
        let mut letters: Vec<String> = text.chars().map(String::from).collect();
        for (at, letter) in changes {
            let at = at.index(letters.len());
            letters[at] = letter;
        }
        let text = letters.concat();
        is_told(&parse(&text), &text);
    }

    #[test]
    fn a_strange_line_is_always_named(text in fixture(), at in any::<prop::sample::Index>()) {
        const STRANGE: &str = "?? not of this world ??";
        let mut lines: Vec<&str> = text.lines().collect();
        let at = at.index(lines.len() + 1);
        lines.insert(at, STRANGE);
        let parsed = parse(&lines.join("\n"));
        let covers = |problem: &evenkeel_core::paste::Problem| (problem.line..problem.line + problem.lines).contains(&(at + 1));
        prop_assert!(parsed.problems.iter().any(covers), "line {} of {:?}: {:?}", at + 1, text, parsed.problems);
    }

    #[test]
    fn merging_in_any_order(texts in vec(fixture(), 2..5)) {
        let one_by_one = texts.iter().map(|text| parse(text)).reduce(Parsed::merge).unwrap();
        prop_assert_eq!(one_by_one.lines, texts.iter().map(|text| parse(text).lines).sum::<usize>());
        let _ = verify(&one_by_one.snapshot);
    }
}
