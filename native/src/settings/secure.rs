//! From settings to how connections prove who they belong to.

use super::{Settings, named_in, names};
use crate::error::{Error, ErrorKind, Result};
use crate::security::Security;
use evenkeel_core::wire::acl::{Credentials, Secret};
use std::path::Path;

/// Longest file that is taken for one with a key.
const KEY_FILE_MAX: u64 = 4096;

impl Settings {
    /// How connections prove who they belong to. Reads the files that the settings name.
    ///
    /// # Errors
    /// A part of the key is missing, or a file cannot be read. No text has a secret in it.
    pub fn security(&self) -> Result<Security> {
        let security = Security::default();
        Ok(match self.credentials()? {
            Some(credentials) => security.credentials(credentials),
            None => security,
        })
    }

    fn credentials(&self) -> Result<Option<Credentials>> {
        let secret = match self.value("cluster.secret_key_file") {
            // Whoever names a file means that file, whatever the environment has.
            Some(file) => {
                let read = key_file(Path::new(&file.text)).map_err(|error| named_in(error, &file.origin))?;
                Some(read)
            }
            None => self.secrets.get("cluster.secret_key").cloned(),
        };
        let token = self.secrets.get("cluster.security_token").cloned();
        let credentials = match (self.text("cluster.access_key").map(str::trim), secret) {
            (Some(name), Some(secret)) if !name.is_empty() => Credentials::new(name, secret),
            (None | Some(""), None) if token.is_none() => return Ok(None),
            (None | Some(""), None) => {
                return Err(Error::config("a security token is set, but no access key and no secret key")
                    .with_hint("set ROCKETMQ_ACCESS_KEY and ROCKETMQ_SECRET_KEY as well"));
            }
            (_, Some(_)) => {
                return Err(Error::config("a secret key is set, but no access key")
                    .with_hint("set ROCKETMQ_ACCESS_KEY, or cluster.access_key in the config file"));
            }
            (Some(name), None) => {
                return Err(Error::config(format!("access key {name} is set, but no secret key"))
                    .with_hint(hint("cluster.secret_key")));
            }
        };
        Ok(Some(match token {
            Some(token) => credentials.with_security_token(token),
            None => credentials,
        }))
    }
}

/// Where a secret can be set.
pub(super) fn hint(key: &str) -> &'static str {
    debug_assert!(names::SECRETS.contains(&key), "only secrets need the advice");
    if key == "cluster.secret_key" {
        "set ROCKETMQ_SECRET_KEY, or name a file with --secret-key-file FILE"
    } else {
        "set ROCKETMQ_SECURITY_TOKEN"
    }
}

/// The one line of a file with a key.
fn key_file(path: &Path) -> Result<Secret> {
    let failed = |why: &dyn std::fmt::Display| {
        Error::new(ErrorKind::Config, format!("secret key file {}: {why}", path.display()))
    };
    let length = std::fs::metadata(path).map_err(|error| failed(&error))?.len();
    if length > KEY_FILE_MAX {
        return Err(failed(&format!("{length} bytes are too many for a key")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
    match text.trim() {
        "" => Err(failed(&"it is empty")),
        key if key.lines().count() > 1 => Err(failed(&"a key is one line, and this has several")),
        key => Ok(Secret::from(key)),
    }
}
