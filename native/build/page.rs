//! Puts the built planning page into the binary, for `evenkeel serve`, if the variable `EVENKEEL_PAGE` names its folder
//! (`web/serve` does that); a relative one is looked for in the repository's folder. Without it the binary has no page,
//! and says so when it is asked for it.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

pub(crate) fn embed() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=EVENKEEL_PAGE");
    let mut files = Vec::new();
    if let Some(folder) = env::var_os("EVENKEEL_PAGE").filter(|folder| !folder.is_empty()) {
        // Cargo builds in the package's folder; whoever sets the variable thinks of another.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
        let folder = folder
            .canonicalize()
            .map_err(|error| io::Error::other(format!("EVENKEEL_PAGE: {}: {error}", folder.display())))?;
        println!("cargo::rerun-if-changed={}", folder.display());
        find(&folder, &folder, &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    for (name, path) in files {
        // A String takes all that is written.
        let _ = writeln!(table, "    ({name:?}, include_bytes!({path:?})),");
    }
    table.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo names no folder for output"))?;
    fs::write(Path::new(&out).join("page.rs"), table)
}

/// The files below a folder, by their names from `root` on, with `/` between.
fn find(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(root, &path, files)?;
            continue;
        }
        let parts = path.strip_prefix(root).into_iter().flat_map(Path::components);
        let parts: Vec<String> = parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        files.push((parts.join("/"), path));
    }
    Ok(())
}
