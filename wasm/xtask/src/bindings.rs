//! From Rust to a wasm file and the JavaScript around it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use wasm_bindgen_cli_support::Bindgen;

use crate::places::Places;
use crate::run::{cargo, run};

const TARGET: &str = "wasm32-unknown-unknown";

/// The wasm files: the crate's feature, and the file's name.
const FILES: [(&str, &str); 2] = [("planner", "evenkeel"), ("protocol", "protocol")];

/// Compiles the crate, and writes `NAME.js`, `NAME.d.ts` and `NAME_bg.wasm` of each file into `src/glue`.
pub(crate) fn write(places: &Places) -> Result<()> {
    need_target()?;
    let glue = places.glue();
    if glue.exists() {
        fs::remove_dir_all(&glue)?;
    }
    for (feature, name) in FILES {
        run(cargo()
            .args(["build", "--locked", "--package", "evenkeel-wasm", "--lib", "--profile", "wasm"])
            .args(["--target", TARGET, "--no-default-features", "--features", feature])
            .env("CARGO_ENCODED_RUSTFLAGS", without_own_paths(places))
            .current_dir(&places.root))?;
        Bindgen::new()
            .input_path(places.target.join(TARGET).join("wasm/evenkeel_wasm.wasm"))
            .out_name(name)
            .web(true)?
            .typescript(true)
            // The package says where its wasm file lies: see wasm-file.ts.
            .omit_default_module_path(true)
            // After a trap the package starts again with a new instance: see border.ts.
            .reset_state_function(true)
            .remove_name_section(true)
            .remove_producers_section(true)
            .generate(&glue)
            .with_context(|| format!("wasm-bindgen for {name}.wasm"))?;
    }
    Ok(())
}

/// Panics name the files they come from; where these lie on this machine is nobody's business.
fn without_own_paths(places: &Places) -> OsString {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let roots = [(home, "cargo"), (sysroot(), "rust"), (Some(places.root.clone()), "evenkeel")];
    let flags = roots.into_iter().filter_map(|(root, name)| Some((root?, name))).map(|(root, name)| {
        let mut flag = OsString::from("--remap-path-prefix=");
        flag.push(root);
        flag.push(format!("={name}"));
        flag
    });
    flags.collect::<Vec<_>>().join(OsStr::new("\x1f"))
}

/// Where the standard library lies: its code is named by its place there if the component rust-src is installed.
fn sysroot() -> Option<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    Some(PathBuf::from(String::from_utf8(told.stdout).ok()?.trim_end())).filter(|path| path.is_absolute())
}

/// Installs the target if rustup is there and lacks it; without rustup, cargo will say what is missing.
fn need_target() -> Result<()> {
    let Ok(listed) = Command::new("rustup").args(["target", "list", "--installed"]).output() else {
        return Ok(());
    };
    if String::from_utf8_lossy(&listed.stdout).lines().any(|line| line == TARGET) {
        return Ok(());
    }
    eprintln!("xtask: installing the Rust target {TARGET}");
    run(Command::new("rustup").args(["target", "add", TARGET]))
}
