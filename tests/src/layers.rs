//! The rules of the manual's table of layers, as a check over sources.

use std::fs;
use std::path::{Path, PathBuf};

/// Paths in one part of the tree that its files must not name.
#[derive(Debug)]
pub struct Layer {
    /// Folder or file, relative to the repository.
    pub part: &'static str,
    /// Text that must not occur in a line of code.
    pub banned: &'static [&'static str],
}

const CLOCKS: [&str; 3] = ["std::", "Instant::now", "SystemTime"];

/// The table. Test modules and doc comments are code of another layer and are left out.
pub const LAYERS: &[Layer] = &[
    Layer {
        part: "core/src",
        banned: &[CLOCKS[0], CLOCKS[1], CLOCKS[2], "HashMap", "HashSet", "tokio", "js_sys"],
    },
    Layer {
        part: "core/src/wire",
        banned: &["crate::consumer", "crate::link", "crate::allocate", "crate::config"],
    },
    Layer {
        part: "core/src/allocate",
        banned: &["crate::consumer", "crate::link", "crate::wire", "crate::time"],
    },
    Layer {
        part: "core/src/plan",
        banned: &["crate::consumer", "crate::link", "crate::wire", "crate::time"],
    },
    Layer {
        part: "core/src/report",
        banned: &["crate::consumer", "crate::link", "crate::wire", "crate::time"],
    },
    Layer {
        part: "core/src/paste",
        banned: &["crate::consumer", "crate::link", "crate::allocate", "crate::time"],
    },
    Layer { part: "core/src/link.rs", banned: &["crate::consumer", "crate::allocate", "crate::config"] },
    Layer {
        part: "core/src/consumer",
        banned: &["crate::link", "wire::frame", "wire::header", "wire::command"],
    },
    Layer {
        part: "native/src/inspect",
        banned: &["crate::consumer", "crate::driver", "crate::conn", "crate::producer", "crate::embedded"],
    },
    Layer { part: "wasm/src", banned: &["evenkeel::", "tokio", "Instant::now", "SystemTime", "HashMap"] },
    Layer { part: "native/src/embedded", banned: &["crate::consumer", "crate::driver", "crate::conn"] },
];

/// Files of `native/src/embedded` that may use tokio: the sockets around the pure state.
pub const EMBEDDED_SHELL: &[&str] = &["serve.rs", "driver.rs", "conn.rs", "mod.rs"];

/// Longest file that is no alarm.
pub const LONGEST_FILE: usize = 800;

/// A broken rule: file, line number from 1, what.
#[derive(Debug, PartialEq, Eq)]
pub struct Breach {
    /// The file.
    pub file: PathBuf,
    /// The line, 0 for the file as a whole.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// Every Rust file below a folder, or the file itself.
pub fn rust_files(at: &Path) -> Vec<PathBuf> {
    if at.is_file() {
        return vec![at.to_path_buf()];
    }
    let Ok(entries) = fs::read_dir(at) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() || path.extension().is_some_and(|ext| ext == "rs"))
        .flat_map(|path| rust_files(&path))
        .collect();
    files.sort();
    files
}

/// Checks one layer's rule on one source text.
pub fn breaches(file: &Path, text: &str, banned: &[&str]) -> Vec<Breach> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if code.starts_with("#[cfg(test)]") {
            break;
        }
        if code.starts_with("//") {
            continue;
        }
        let code = code.split(" //").next().unwrap_or(code);
        for ban in banned.iter().filter(|ban| names(code, ban)) {
            found.push(Breach { file: file.to_path_buf(), line: index + 1, what: format!("uses {ban}") });
        }
    }
    found
}

/// Whether a line names something: as a word of its own, so that `ruzstd::` is not `std::`.
fn names(code: &str, what: &str) -> bool {
    code.match_indices(what)
        .any(|(at, _)| !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_'))
}

/// Checks a file's length.
pub fn too_long(file: &Path, text: &str) -> Option<Breach> {
    let lines = text.lines().count();
    (lines > LONGEST_FILE).then(|| Breach {
        file: file.to_path_buf(),
        line: 0,
        what: format!("has {lines} lines; more than {LONGEST_FILE} is an alarm"),
    })
}
