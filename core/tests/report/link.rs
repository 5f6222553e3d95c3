//! Links: what goes in comes out, equal input gives equal links, and hostile links are refused within bounds.

use evenkeel_core::report::link::{LONGEST, Shared, fragment, shared_text};
use evenkeel_core::report::{Change, ConsumerSeen, ErrorCode, Snapshot};
use proptest::prelude::*;

fn shared(ids: Vec<String>, count: i64) -> Shared {
    let mut snapshot = Snapshot::new(Some("pay-worker".into()));
    snapshot.consumers = ids.into_iter().map(ConsumerSeen::new).collect();
    Shared { snapshot, changes: vec![Change::Add { ids: None, count: Some(count) }], strategies: Vec::new() }
}

proptest! {
    #[test]
    fn what_goes_in_comes_out(ids in prop::collection::vec(".{1,20}", 0..20), count in any::<i64>()) {
        let shared = shared(ids, count);
        let text = serde_json::to_string(&shared).expect("JSON");
        let made = fragment(&text).expect("short enough");
        prop_assert_eq!(&made, &fragment(&text).expect("the same"));
        for link in [made.clone(), made[1..].to_owned(), format!("https://host/a/b/?x=1#y{made}&z=2")] {
            let read: Shared = serde_json::from_str(&shared_text(&link).expect("a link")).expect("JSON");
            prop_assert_eq!(&read, &shared);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,400}", packed in "[A-Za-z0-9_-]{0,400}") {
        let _ = shared_text(&text);
        let _ = shared_text(&format!("#evenkeel=1.{packed}"));
    }
}

#[test]
fn a_hundred_consumers_fit() {
    let ids = (0..100).map(|number| format!("10.0.{}.{}@7#{}", number / 16, number, 812_001 + number * 7919));
    let made = fragment(&serde_json::to_string(&shared(ids.collect(), 1)).expect("JSON")).expect("fits");
    assert!(made.len() < LONGEST / 4, "{} bytes", made.len());
}

#[test]
fn too_much_is_refused_with_what_to_do() {
    // What no compression can shorten.
    let mut state = 1_u64;
    let noise: String = (0..20_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b' ' + (state >> 40) as u8 % 90)
        })
        .collect();
    let error = fragment(&noise).expect_err("too long");
    assert_eq!((error.code, error.hint.is_some()), (ErrorCode::TooLarge, true));
}

#[test]
fn damage_is_told_from_other_versions() {
    let code = |link: &str| shared_text(link).expect_err("no plan").code;
    let made = fragment(r#"{"snapshot":{}}"#).expect("a link");
    for link in [
        "",
        "#",
        "https://host/",
        "#evenkeel=1.",
        "#evenkeel=1.!!",
        &made[..made.len() - 5],
        "#evenkeel=2.abc",
    ] {
        assert_eq!(code(link), ErrorCode::BadLink, "{link}");
    }
}

#[test]
fn a_link_that_unpacks_to_very_much_is_refused() {
    let made = fragment(&" ".repeat(2 << 20)).expect("blanks pack well");
    assert_eq!(shared_text(&made).expect_err("too large").code, ErrorCode::TooLarge);
    let long = format!("#evenkeel=1.{}", "A".repeat(100_000));
    assert_eq!(shared_text(&long).expect_err("too long").code, ErrorCode::TooLarge);
}
