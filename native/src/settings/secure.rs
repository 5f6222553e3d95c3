//! From settings to how connections are secured.

use super::{Origin, Settings, Value, named_in, names};
use crate::error::{Error, ErrorKind, Result};
use crate::security::Security;
use evenkeel_core::wire::acl::{Credentials, Secret};
use std::path::Path;

/// Settings with a text that make no sense without TLS.
const TLS_TEXTS: [&str; 4] =
    ["cluster.tls_ca", "cluster.tls_cert", "cluster.tls_key", "cluster.tls_server_name"];
/// One that is true or false, and makes no sense without TLS if it is true.
const INSECURE: &str = "cluster.tls_insecure_skip_verify";

/// Longest file that is taken for one with a key.
const KEY_FILE_MAX: u64 = 4096;

impl Settings {
    /// How connections are secured, and the namespace that requests name. Reads the files that the settings name.
    ///
    /// # Errors
    /// A part of the key or of the certificate is missing, TLS is switched off in a lower layer than another setting of
    /// it stands in, or a file cannot be read. No text has a secret in it.
    pub fn security(&self) -> Result<Security> {
        let security = match self.credentials()? {
            Some(credentials) => Security::default().credentials(credentials),
            None => Security::default(),
        };
        self.encrypted(security.namespace_v2(self.namespace_v2()))
    }

    #[cfg(feature = "tls")]
    fn encrypted(&self, security: Security) -> Result<Security> {
        if !self.wants_tls()? {
            return Ok(security);
        }
        let mut tls = crate::tls::Tls::builder();
        if let Some(file) = self.text("cluster.tls_ca") {
            tls = tls.ca_file(file);
        }
        tls = match (self.text("cluster.tls_cert"), self.text("cluster.tls_key")) {
            (Some(certificate), Some(key)) => tls.client_certificate(certificate, key),
            (None, None) => tls,
            (Some(_), None) => {
                return Err(Error::config("a certificate is set (cluster.tls_cert), but no private key")
                    .with_hint("set cluster.tls_key, or say --tls-key FILE"));
            }
            (None, Some(_)) => {
                return Err(Error::config("a private key is set (cluster.tls_key), but no certificate")
                    .with_hint("set cluster.tls_cert, or say --tls-cert FILE"));
            }
        };
        if let Some(name) = self.text("cluster.tls_server_name") {
            tls = tls.server_name(name);
        }
        if self.flag(INSECURE)? == Some(true) {
            tracing::warn!(event = "insecure", "certificates of servers are not verified");
            tls = tls.insecure_skip_verify();
        }
        Ok(security.tls(tls.build()?))
    }

    #[cfg(not(feature = "tls"))]
    fn encrypted(&self, security: Security) -> Result<Security> {
        if self.wants_tls()? {
            return Err(Error::config("TLS is set, but this build has no TLS")
                .with_hint("build with the feature `tls`, which is on unless switched off"));
        }
        Ok(security)
    }

    /// Whoever says something of certificates does not want to be read by everybody: then TLS is on unless switched off,
    /// and a switch below what was said cannot have been meant for it.
    fn wants_tls(&self) -> Result<bool> {
        let insecure = self.flag(INSECURE)? == Some(true);
        let said = TLS_TEXTS.iter().chain(insecure.then_some(&INSECURE));
        let said: Vec<(&str, &Value)> = said.filter_map(|name| Some((*name, self.value(name)?))).collect();
        let (Some(switch), Some(on)) = (self.value("cluster.tls"), self.flag("cluster.tls")?) else {
            return Ok(!said.is_empty());
        };
        if on {
            return Ok(true);
        }
        let (off, height) = (&switch.origin, layer(&switch.origin));
        if let Some((name, value)) = said.iter().find(|(_, value)| layer(&value.origin) > height) {
            let set = &value.origin;
            return Err(Error::config(format!("{name} is set ({set}), but cluster.tls is false ({off})"))
                .with_hint(format!(
                    "say --tls if connections are to be encrypted; if not, leave {name} out"
                )));
        }
        if let Some((name, _)) = said.iter().find(|(_, value)| layer(&value.origin) == height) {
            tracing::warn!(event = "insecure", "{name} is not used: cluster.tls is false ({off})");
        }
        Ok(false)
    }

    /// A setting that is true or false.
    fn flag(&self, name: &str) -> Result<Option<bool>> {
        let Some(value) = self.value(name) else { return Ok(None) };
        match value.text.trim() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            other => {
                let error = Error::config(format!("{name} is {other:?}, but must be true or false"));
                Err(named_in(error, &value.origin))
            }
        }
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

/// Layers by height: the values of higher ones win.
fn layer(origin: &Origin) -> u8 {
    match origin {
        Origin::BuiltIn => 0,
        Origin::File(_) => 1,
        Origin::Profile(..) => 2,
        Origin::Environment(_) => 3,
        Origin::Flag(_) => 4,
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
