//! The manual's table of options is the one that the command prints. `EVENKEEL_WRITE=1` writes it anew.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;
use std::process::Command;

const BEGIN: &str = "<!-- options -->\n";
const END: &str = "<!-- end of options -->\n";

#[test]
fn the_manual_has_every_option_as_the_command_prints_it() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../core/src/manual/options.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the mark before the table");
    let (_, after) = rest.split_once(END).expect("the mark behind the table");
    let right = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("EVENKEEL_WRITE").is_some() {
        std::fs::write(&path, &right).unwrap();
        return;
    }
    assert!(
        page == right,
        "{} differs from `evenkeel -X list`: run this test with EVENKEEL_WRITE=1, and look at what it changes",
        path.display()
    );
}

fn table() -> String {
    let listed =
        Command::new(env!("CARGO_BIN_EXE_evenkeel")).args(["-X", "list", "--json"]).output().unwrap();
    assert!(listed.status.success(), "{listed:?}");
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let rows = listed["settings"].as_array().expect("a list of settings");
    let mut table = "| setting | Java | default | range | meaning |\n|---|---|---|---|---|\n".to_owned();
    for row in rows {
        let cells = ["name", "java", "default", "range", "meaning"].map(|name| {
            let text = row[name].as_str().expect("a text");
            // Rustdoc takes brackets for links.
            let text = text.replace('|', "\\|").replace('[', "\\[").replace(']', "\\]");
            match name {
                "name" | "java" if !text.is_empty() => format!("`{text}`"),
                _ => text,
            }
        });
        table.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    assert!(rows.len() > 30, "{} settings are too few", rows.len());
    table
}
