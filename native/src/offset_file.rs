//! The file in which a broadcasting consumer keeps its offsets: Java's, in Java's place, so that either can go on where
//! the other stopped.
//!
//! ```text
//! <folder>/<client id>/<group>/offsets.json       what is true
//!                              offsets.json.bak   what was true before
//!                              offsets.json.tmp   being written
//! ```
//!
//! A write makes the temporary file, waits until it is on disk, and renames: the file to the backup, the temporary file to
//! the file. A crash between the two leaves the backup, which a start then reads. A file that cannot be read is put aside
//! (`.bad`), not written over.

use crate::error::{Error, ErrorKind, Result};
use evenkeel_core::model::{ClientId, Group, MessageQueue};
use evenkeel_core::wire::bodies::{Body, OffsetTable};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Java's folder, below the home folder.
const FOLDER: &str = ".rocketmq_offsets";

/// Where a broadcasting consumer keeps its offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffsetStore {
    /// In `~/.rocketmq_offsets`, as Java does.
    #[default]
    Home,
    /// In this folder.
    Folder(PathBuf),
    /// Nowhere: each start begins as `start_from` says. For embedded brokers, which forget everything, too.
    Memory,
}

/// The file of one consumer.
#[derive(Clone, Debug)]
pub(crate) struct OffsetFile {
    folder: PathBuf,
}

impl OffsetStore {
    /// The file, and what it has.
    ///
    /// # Errors
    /// There is no home folder; a name that cannot be a folder's; neither the file nor its backup can be read.
    pub(crate) fn open(
        &self,
        client: &ClientId,
        group: &Group,
    ) -> Result<Option<(OffsetFile, BTreeMap<MessageQueue, i64>)>> {
        let root = match self {
            Self::Memory => return Ok(None),
            Self::Folder(folder) => folder.clone(),
            Self::Home => home()?.join(FOLDER),
        };
        let folder = root.join(as_folder(client.as_str())?).join(as_folder(group.as_str())?);
        let file = OffsetFile { folder };
        let offsets = file.load()?;
        Ok(Some((file, offsets)))
    }
}

fn home() -> Result<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty()).ok_or_else(|| {
        Error::config("there is no home folder to keep the offsets of a broadcasting consumer in")
            .with_hint("choose a folder with offset_store(OffsetStore::Folder(…)), or with --offset-dir")
    })
}

/// Names come from outside: none may lead to another folder.
fn as_folder(name: &str) -> Result<&str> {
    if name.contains(['/', '\\', '\0']) || matches!(name, "" | "." | "..") {
        return Err(Error::config(format!("{name:?} cannot be the name of a folder for offsets"))
            .with_hint("choose another client id, or OffsetStore::Memory"));
    }
    Ok(name)
}

impl OffsetFile {
    /// Puts these offsets in place of what the file has. Blocks until they are on disk.
    pub(crate) fn save(&self, offsets: BTreeMap<MessageQueue, i64>) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let (file, backup, temporary) = (self.path(""), self.path(".bak"), self.path(".tmp"));
        let mut writing = File::create(&temporary)?;
        writing.write_all(&OffsetTable(offsets).encode())?;
        writing.sync_all()?;
        drop(writing);
        match fs::rename(&file, &backup) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::rename(&temporary, &file)?,
        }
        // The names are on disk when their folder is. Not every system can sync one, and the next start can live with
        // either name.
        let _ = File::open(&self.folder).and_then(|folder| folder.sync_all());
        Ok(())
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("offsets.json{ending}"))
    }

    /// What the file has; if it is missing or broken, what its backup has; nothing if there is neither.
    fn load(&self) -> Result<BTreeMap<MessageQueue, i64>> {
        let (file, backup) = (self.path(""), self.path(".bak"));
        let broken = match read(&file)? {
            Read::Offsets(offsets) => return Ok(offsets),
            Read::Missing => None,
            Read::Broken(why) => Some(why),
        };
        match (read(&backup)?, broken) {
            (Read::Offsets(offsets), None) => Ok(offsets),
            (Read::Missing, None) => Ok(BTreeMap::new()),
            (Read::Offsets(offsets), Some(why)) => {
                tracing::warn!(event = "offsets-from-backup", file = %file.display(), "the offset file is broken: {why}");
                // Out of the way, or the next write would make it the backup.
                fs::rename(&file, self.path(".bad")).map_err(|error| unusable(&file, &error.to_string()))?;
                Ok(offsets)
            }
            (Read::Missing, Some(why)) => Err(unusable(&file, &format!("{why}; it has no backup"))),
            (Read::Broken(worse), why) => {
                let own = why.unwrap_or_else(|| "it is missing".to_owned());
                Err(unusable(&file, &format!("{own}; its backup: {worse}")))
            }
        }
    }
}

enum Read {
    Offsets(BTreeMap<MessageQueue, i64>),
    Missing,
    Broken(String),
}

fn read(path: &Path) -> Result<Read> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Read::Missing),
        Err(error) => return Err(unusable(path, &error.to_string())),
    };
    Ok(match OffsetTable::decode(&bytes) {
        Ok(OffsetTable(offsets)) => Read::Offsets(offsets),
        Err(error) => Read::Broken(error.to_string()),
    })
}

/// Starting anew without a word would lose or repeat messages: the user decides.
fn unusable(path: &Path, why: &str) -> Error {
    let text = format!("cannot read the offsets of this broadcasting consumer: {}: {why}", path.display());
    Error::new(ErrorKind::Io, text)
        .with_hint("put a good copy there; or remove the file and its .bak to start as start_from says")
}
