//! The config file.

use super::{Origin, Settings, Subscribe, named_in, names, values};
use crate::error::{Error, ErrorKind, Result};
use std::path::Path;
use toml::{Table, Value};

/// Reads the file and, over it, one of its profiles.
pub(super) fn read(settings: &mut Settings, path: &Path, profile: Option<&str>) -> Result<()> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::new(ErrorKind::Config, format!("config file {}: {error}", path.display())).with_source(error)
    })?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let place = error.span().map_or(String::new(), |span| {
            format!(", line {}", 1 + text[..span.start.min(text.len())].matches('\n').count())
        });
        Error::config(format!("config file {}{place}: {}", path.display(), error.message().trim()))
    })?;
    sections(settings, &table, &Origin::File(path.to_owned()), true)?;
    let profiles = table.get("profile").and_then(Value::as_table);
    let Some(profile) = profile else { return Ok(()) };
    let Some(found) = profiles.and_then(|all| all.get(profile)).and_then(Value::as_table) else {
        let known: Vec<&str> = profiles.into_iter().flat_map(|all| all.keys().map(String::as_str)).collect();
        let error = Error::config(format!("config file {} has no profile {profile:?}", path.display()));
        return Err(match known.as_slice() {
            [] => error.with_hint("it has no [profile.NAME.…] section at all"),
            known => error.with_hint(format!("it has: {}", known.join(", "))),
        });
    };
    sections(settings, found, &Origin::Profile(path.to_owned(), profile.to_owned()), false)
}

fn sections(settings: &mut Settings, table: &Table, origin: &Origin, top: bool) -> Result<()> {
    for (section, content) in table {
        match (section.as_str(), content) {
            ("profile", Value::Table(_)) if top => {}
            ("cluster" | "consumer" | "log", Value::Table(content)) => {
                for (name, value) in content {
                    one(settings, section, name, value, origin)?;
                }
            }
            _ => {
                let error = Error::config(format!("there is no section [{section}]"));
                let known = if top {
                    "[cluster], [consumer], [log] and [profile.NAME.…]"
                } else {
                    "cluster, consumer and log"
                };
                return Err(named_in(error.with_hint(format!("there are: {known}")), origin));
            }
        }
    }
    Ok(())
}

fn one(settings: &mut Settings, section: &str, name: &str, value: &Value, origin: &Origin) -> Result<()> {
    if (section, name) == ("consumer", "subscribe") {
        settings.subscribe = subscriptions(value)
            .map_err(|why| named_in(Error::config(format!("[[consumer.subscribe]]: {why}")), origin))?;
        return Ok(());
    }
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(yes) => yes.to_string(),
        Value::Array(parts) if (section, name) == ("cluster", "name_servers") => {
            let parts: Option<Vec<&str>> = parts.iter().map(Value::as_str).collect();
            parts.map(|parts| parts.join(";")).ok_or_else(|| {
                named_in(Error::config("cluster.name_servers must be a list of texts"), origin)
            })?
        }
        other => {
            let error = Error::config(format!("{section}.{name} cannot be a {}", other.type_str()));
            return Err(named_in(error, origin));
        }
    };
    let full = format!("{section}.{name}");
    // A name of the other section is not one of this.
    if names::find(&full).is_err() && names::find(name).is_ok() && !names::of_section(section).contains(&name)
    {
        return Err(named_in(values::unknown(&full, names::find(name).ok()), origin));
    }
    settings.set(&full, &text, origin.clone())
}

fn subscriptions(value: &Value) -> Result<Vec<Subscribe>, String> {
    let list = value.as_array().ok_or("must be a list of tables")?;
    list.iter()
        .map(|item| {
            let table = item.as_table().ok_or("must be a list of tables")?;
            let mut made = Subscribe::default();
            for (name, value) in table {
                let text = value.as_str().ok_or_else(|| format!("{name} must be text"))?.to_owned();
                match name.as_str() {
                    "topic" => made.topic = text,
                    "tag" => made.tag = Some(text),
                    "sql" => made.sql = Some(text),
                    _ => return Err(format!("there is no {name:?}; there are topic, tag and sql")),
                }
            }
            match &made {
                made if made.topic.is_empty() => Err("topic is missing".to_owned()),
                Subscribe { tag: Some(_), sql: Some(_), .. } => Err("either tag or sql, not both".to_owned()),
                _ => Ok(made),
            }
        })
        .collect()
}
