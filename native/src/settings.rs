//! Settings in layers: built-in, then the config file, its profile, the environment, flags. Each value knows which layer
//! it came from, and a name that no layer can have is refused.

mod file;
mod names;
mod secure;
pub mod values;

pub use names::{SETTINGS, Setting};

use crate::error::{Error, Result};
use evenkeel_core::config::OPTIONS;
use evenkeel_core::wire::acl::Secret;
use evenkeel_core::wire::names::wrap_namespace;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Variables that have the log filter, the first that is set wins.
const LOG_VARIABLES: [&str; 2] = ["EVENKEEL_LOG", "RUST_LOG"];

/// Variables of other settings that have names of their own; the first of a setting that is set wins.
const VARIABLES: [(&str, &[&str]); 3] = [
    ("cluster.access_key", &["ROCKETMQ_ACCESS_KEY", "ROCKETMQ_ACL_ACCESS_KEY"]),
    ("cluster.secret_key", &["ROCKETMQ_SECRET_KEY", "ROCKETMQ_ACL_SECRET_KEY"]),
    ("cluster.security_token", &["ROCKETMQ_SECURITY_TOKEN", "ROCKETMQ_ACL_SECURITY_TOKEN"]),
];

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Nowhere: the default.
    BuiltIn,
    /// In the config file.
    File(PathBuf),
    /// In a profile of the config file.
    Profile(PathBuf, String),
    /// In this variable.
    Environment(String),
    /// In this flag.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Profile(path, name) => write!(f, "profile {name} in {}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The value as text.
    pub text: String,
    /// Where it was written.
    pub origin: Origin,
}

/// One subscription of the config file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscribe {
    /// The topic.
    pub topic: String,
    /// A tag expression.
    pub tag: Option<String>,
    /// An SQL-92 condition.
    pub sql: Option<String>,
}

/// What to read settings from. [`Sources::from_process`] is the usual one.
#[derive(Clone, Default)]
pub struct Sources {
    /// The config file, if the user named one; it must exist then.
    pub config: Option<PathBuf>,
    /// The profile, if the user named one.
    pub profile: Option<String>,
    /// The environment.
    pub environment: BTreeMap<String, String>,
    /// Settings of flags: name, value, flag.
    pub flags: Vec<(String, String, String)>,
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Variables of all kinds of programs are among these, with all kinds of secrets.
        let environment: Vec<&String> = self.environment.keys().collect();
        f.debug_struct("Sources")
            .field("config", &self.config)
            .field("profile", &self.profile)
            .field("environment", &environment)
            .field("flags", &self.flags)
            .finish()
    }
}

impl Sources {
    /// The process's environment and nothing else.
    pub fn from_process() -> Self {
        // Variables that are not text cannot be ours.
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self { environment: std::env::vars_os().filter_map(text).collect(), ..Self::default() }
    }
}

/// All settings, merged.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    values: BTreeMap<&'static str, Value>,
    secrets: BTreeMap<&'static str, Secret>,
    subscribe: Vec<Subscribe>,
    file: Option<PathBuf>,
}

impl Settings {
    /// Reads and merges all layers.
    ///
    /// # Errors
    /// The file is named but missing, cannot be read, or has what no config file can have; a name in any layer is not
    /// one of a setting.
    pub fn load(sources: &Sources) -> Result<Self> {
        let mut settings = Self::default();
        if let Some(path) = config_path(sources)? {
            file::read(&mut settings, &path, sources.profile.as_deref())?;
            settings.file = Some(path);
        } else if let Some(profile) = &sources.profile {
            return Err(Error::config(format!(
                "profile {profile:?} is asked for, but there is no config file"
            ))
            .with_hint("name one with --config FILE or EVENKEEL_CONFIG"));
        }
        settings.read_environment(&sources.environment)?;
        for (name, value, flag) in &sources.flags {
            settings.set(name, value, Origin::Flag(flag.clone()))?;
        }
        Ok(settings)
    }

    /// The value of a setting that some layer has, by its own full name.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The text of a setting, if some layer has it.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.value(name).map(|value| value.text.as_str())
    }

    /// The namespace; empty if there is none.
    pub fn namespace(&self) -> &str {
        self.text("cluster.namespace").unwrap_or_default()
    }

    /// The namespace that requests name; empty if there is none.
    pub fn namespace_v2(&self) -> &str {
        self.text("cluster.namespace_v2").unwrap_or_default()
    }

    /// A group or topic as servers see it.
    pub fn outside(&self, name: &str) -> String {
        wrap_namespace(self.namespace(), name)
    }

    /// The subscriptions of the config file.
    pub fn subscriptions(&self) -> &[Subscribe] {
        &self.subscribe
    }

    /// The config file that was read.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Numeric options that some layer has.
    pub fn options(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        OPTIONS.iter().filter_map(|row| Some((row.name, self.values.get(row.name)?)))
    }

    /// Sets one value over what is there.
    ///
    /// # Errors
    /// There is no such setting, or the value cannot be one of it.
    pub fn set(&mut self, name: &str, text: &str, origin: Origin) -> Result<()> {
        let key = names::find(name).map_err(|error| named_in(error, &origin))?;
        if names::SECRETS.contains(&key) {
            return self.set_secret(key, text, &origin);
        }
        let mut text = text.to_owned();
        if OPTIONS.iter().any(|row| row.name == key) {
            // Java's name may bring another unit, so the text is only kept if the name is ours.
            let bare = name.rsplit('.').next().unwrap_or(name);
            let (row, value) = values::option_value(bare, &text).map_err(|error| named_in(error, &origin))?;
            let mut limits = evenkeel_core::config::Limits::default();
            row.set(&mut limits, value).map_err(|error| named_in(error.into(), &origin))?;
            if bare != row.name {
                text = row.text(&limits);
            }
        }
        self.values.insert(key, Value { text, origin });
        Ok(())
    }

    fn set_secret(&mut self, key: &'static str, text: &str, origin: &Origin) -> Result<()> {
        if !matches!(origin, Origin::Environment(_)) {
            let error = Error::config(format!("{key} is a secret and cannot be set here"));
            return Err(named_in(error.with_hint(secure::hint(key)), origin));
        }
        self.secrets.insert(key, Secret::from(text));
        Ok(())
    }

    fn read_environment(&mut self, environment: &BTreeMap<String, String>) -> Result<()> {
        let servers = crate::addresses::VARIABLES.iter().find_map(|name| {
            environment.get(*name).filter(|text| !text.trim().is_empty()).map(|text| (*name, text))
        });
        if let Some((name, text)) = servers {
            self.set("cluster.name_servers", text, Origin::Environment(name.to_owned()))?;
        }
        let filter = LOG_VARIABLES.iter().find_map(|name| {
            environment.get(*name).filter(|text| !text.trim().is_empty()).map(|text| (*name, text))
        });
        if let Some((name, text)) = filter {
            self.set("log.filter", text, Origin::Environment(name.to_owned()))?;
        }
        for (setting, variables) in VARIABLES {
            let set = |name: &&str| environment.get(*name).filter(|text| !text.trim().is_empty());
            if let Some((name, text)) = variables.iter().find_map(|name| Some((name, set(name)?))) {
                self.set(setting, text, Origin::Environment((*name).to_owned()))?;
            }
        }
        for (name, text) in environment {
            if let Some(path) = name.strip_prefix("EVENKEEL__") {
                let key = path.to_ascii_lowercase().replace("__", ".");
                self.set(&key, text, Origin::Environment(name.clone()))?;
            }
        }
        Ok(())
    }
}

fn named_in(error: Error, origin: &Origin) -> Error {
    let hint = error.hint().map(str::to_owned);
    let error = Error::config(format!("{error:#} ({origin})"));
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

fn config_path(sources: &Sources) -> Result<Option<PathBuf>> {
    let environment = |name: &str| sources.environment.get(name).filter(|text| !text.is_empty());
    let named = sources
        .config
        .clone()
        .map(|path| (path, "--config"))
        .or_else(|| environment("EVENKEEL_CONFIG").map(|text| (PathBuf::from(text), "EVENKEEL_CONFIG")));
    if let Some((path, by)) = named {
        if !path.is_file() {
            return Err(Error::config(format!("config file {} ({by}) does not exist", path.display())));
        }
        return Ok(Some(path));
    }
    let home = environment("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| environment("HOME").map(|home| Path::new(home).join(".config")));
    let usual = [Some(PathBuf::from("evenkeel.toml")), home.map(|home| home.join("evenkeel/config.toml"))];
    Ok(usual.into_iter().flatten().find(|path| path.is_file()))
}

#[cfg(test)]
mod tests;
