//! The direction of dependencies and the size of files, with controls that must fail.

use evenkeel_tests::layers::{Breach, EMBEDDED_SHELL, LAYERS, breaches, rust_files, too_long};
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the repository").to_path_buf()
}

fn assert_none(found: &[Breach]) {
    assert!(found.is_empty(), "{} breaches:\n{found:#?}", found.len());
}

#[test]
fn no_layer_uses_what_lies_above_it() {
    let mut found = Vec::new();
    for layer in LAYERS {
        let files = rust_files(&repository().join(layer.part));
        assert!(!files.is_empty(), "{} has no Rust files: the rule guards nothing", layer.part);
        for file in files {
            found.extend(breaches(&file, &fs::read_to_string(&file).expect("readable source"), layer.banned));
        }
    }
    assert_none(&found);
}

#[test]
fn the_embedded_broker_is_pure_but_for_its_shell() {
    let root = repository().join("native/src/embedded");
    let is_shell = |file: &Path| {
        let inside = file.strip_prefix(&root).expect("below the folder");
        inside.iter().next().is_some_and(|first| EMBEDDED_SHELL.iter().any(|shell| first == *shell))
    };
    let pure: Vec<PathBuf> = rust_files(&root).into_iter().filter(|file| !is_shell(file)).collect();
    assert!(pure.len() > 3, "found only {pure:?}");
    for file in pure {
        let text = fs::read_to_string(&file).expect("readable source");
        assert_none(&breaches(&file, &text, &["tokio", "std::net::Tcp", "Instant::now", "SystemTime"]));
    }
}

#[test]
fn no_file_is_an_alarm() {
    let parts = ["core", "native", "tests", "wasm"];
    let files = parts.iter().flat_map(|part| rust_files(&repository().join(part)));
    let found: Vec<Breach> = files
        .filter_map(|file| too_long(&file, &fs::read_to_string(&file).expect("readable source")))
        .collect();
    assert_none(&found);
}

/// Control: each rule finds a planted breach, and only in code.
#[test]
fn planted_breaches_are_found() {
    let file = Path::new("planted.rs");
    for layer in LAYERS {
        for ban in layer.banned {
            let planted =
                format!("//! prose may say {ban}\nuse x;\nlet y = {ban}::z();\n#[cfg(test)]\nuse {ban};\n");
            let found = breaches(file, &planted, layer.banned);
            assert!(found.iter().any(|breach| breach.line == 3), "{ban} in {} went unnoticed", layer.part);
            assert!(
                found.iter().all(|breach| breach.line == 3),
                "prose or tests were taken for code: {found:?}"
            );
        }
    }
    assert!(too_long(file, &"x\n".repeat(801)).is_some());
    assert!(too_long(file, &"x\n".repeat(800)).is_none());
}
