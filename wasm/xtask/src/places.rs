//! Where things lie.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Folders that every step needs.
#[derive(Debug)]
pub(crate) struct Places {
    /// The repository.
    pub(crate) root: PathBuf,
    /// What cargo builds into.
    pub(crate) target: PathBuf,
    /// Sources of the package.
    pub(crate) source: PathBuf,
    /// Where the package is put together, and where the tarball lies.
    pub(crate) out: PathBuf,
}

impl Places {
    pub(crate) fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).context("the repository")?;
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(target) => root.join(target),
            None => root.join("target"),
        };
        Ok(Self {
            out: root.join("target/npm"),
            source: root.join("wasm/npm"),
            root: root.to_path_buf(),
            target,
        })
    }

    /// What wasm-bindgen writes. It lies among the sources, which import it, and is not kept.
    pub(crate) fn glue(&self) -> PathBuf {
        self.source.join("src/glue")
    }
}
