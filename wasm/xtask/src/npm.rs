//! From a wasm file to a package.

use std::env::consts::EXE_EXTENSION;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::bindings;
use crate::places::Places;
use crate::run::{cargo, run, script};

/// Puts the package together in `target/npm/package`.
pub(crate) fn build(places: &Places) -> Result<()> {
    bindings::write(places)?;
    install(&places.source)?;
    run(Command::new("node")
        .arg(places.source.join("build/build.mjs"))
        .arg(places.out.join("package"))
        .arg(env!("CARGO_PKG_VERSION")))
}

/// The same, and the tarball of it.
pub(crate) fn pack(places: &Places) -> Result<PathBuf> {
    build(places)?;
    let package = places.out.join("package");
    run(script("npm")
        .args(["pack", "--silent", "--ignore-scripts", "--pack-destination"])
        .arg(&places.out)
        .current_dir(&package))?;
    let tarball = places.out.join(concat!("evenkeel-", env!("CARGO_PKG_VERSION"), ".tgz"));
    run(Command::new("node").arg(places.source.join("build/sizes.mjs")).arg(&package).arg(&tarball))?;
    Ok(tarball)
}

/// Packs, and runs the package's tests on the tarball: all, or the files named. What they compare with, the command line
/// and the simulation natively, is built first.
pub(crate) fn test(places: &Places, files: &[String]) -> Result<()> {
    let tarball = pack(places)?;
    let tests = places.source.join("test");
    install(&tests)?;
    run(cargo()
        .args(["build", "--locked", "--package", "evenkeel", "--bin", "evenkeel"])
        .current_dir(&places.root))?;
    let example = ["build", "--locked", "--package", "evenkeel-wasm", "--example", "steps"];
    run(cargo().args(example).current_dir(&places.root))?;
    let program = |name: &str| places.target.join("debug").join(name).with_extension(EXE_EXTENSION);
    let mut node = Command::new("node");
    node.args(["--test", "--test-concurrency=1", "--test-reporter=spec"])
        .env("EVENKEEL_TARBALL", &tarball)
        .env("EVENKEEL_CLI", program("evenkeel"))
        .env("EVENKEEL_STEPS", program("examples/steps"))
        .current_dir(&tests);
    if files.is_empty() {
        node.args(test_files(&tests)?);
    } else {
        node.args(files);
    }
    run(&mut node)
}

fn test_files(tests: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(tests).context("the folder of tests")?;
    let mut files: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    files.sort();
    Ok(files)
}

/// Installs what the lock file of a folder names, if that has not been done since the lock file changed.
fn install(folder: &Path) -> Result<()> {
    let changed = |path: PathBuf| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let installed = changed(folder.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= changed(folder.join("package-lock.json")) {
        return Ok(());
    }
    eprintln!("xtask: npm ci in {}", folder.display());
    run(script("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder))
}
