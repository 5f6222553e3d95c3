//! Which commit a release was built from, for `evenkeel --version --json`.
//!
//! Only the release profile asks git: elsewhere every commit would build the crate and its tests again. A package that
//! cargo has made brings the commit in a file of its own; `EVENKEEL_GIT` at build time says it in any case.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn tell() {
    println!("cargo::rerun-if-env-changed=EVENKEEL_GIT");
    let said = std::env::var("EVENKEEL_GIT").ok().filter(|text| !text.is_empty());
    if let Some(commit) = said.or_else(packaged).or_else(|| is_release().then(checked_out).flatten()) {
        println!("cargo::rustc-env=EVENKEEL_COMMIT={commit}");
    }
}

/// The commit that `cargo package` wrote down.
fn packaged() -> Option<String> {
    let file = Path::new(".cargo_vcs_info.json");
    let text = std::fs::read_to_string(file).ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    rest.split('"').nth(1).map(str::to_owned)
}

/// Whether this is for the profile `release` itself, which the output folder's name tells.
fn is_release() -> bool {
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    out.ancestors().nth(3).is_some_and(|profile| profile.ends_with("release"))
}

fn checked_out() -> Option<String> {
    // It grows with each commit and each checkout.
    println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    git(&["rev-parse", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
