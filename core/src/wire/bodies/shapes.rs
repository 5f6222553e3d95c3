//! Any body by the name of its Java class, as the tables in [`super::classes`] describe it.
//!
//! Used to show a body as strict JSON (`evenkeel decode body NAME`): objects under their Java field names with
//! absent fields filled in, maps keyed by queues as sorted lists of `{"key":…,"value":…}`, sets sorted and without
//! repeats, enums by name (null if unknown). The values are those of Java's 5.x classes.

use super::bad_number;
use super::classes::Shape::{
    Any, Bool, Class, Double, Enum, Int, List, Long, LongKeys, Map, Set, Table, Text,
};
use super::classes::{CLASSES, Field, QUEUE, Shape};
use crate::wire::error::{WireError, WireErrorKind};
use crate::wire::json::{self, Value};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The Java class names that [`normalise`] knows, sorted.
pub fn class_names() -> impl Iterator<Item = &'static str> {
    CLASSES.iter().map(|(name, _)| *name)
}

/// A body as strict JSON, by the Java class that it is. No bytes at all are `null`.
///
/// Errors: [`WireErrorKind::Unsupported`] for a class that is not in [`class_names`], those of [`json::parse`], and
/// [`WireErrorKind::BadNumber`] and [`WireErrorKind::BadJson`] for values that are not of the field's type.
pub fn normalise(class: &str, body: &[u8]) -> Result<String, WireError> {
    let class = CLASSES.iter().find(|(name, _)| *name == class).map(|(_, fields)| *fields);
    let fields = class.ok_or(WireError::new(WireErrorKind::Unsupported, 0, "the name of a body"))?;
    if body.is_empty() {
        return Ok("null".to_string());
    }
    let value = json::parse(body)?;
    Ok(shaped(&value, &Class(fields))?.to_text())
}

fn wrong(expected: &'static str) -> WireError {
    WireError::new(WireErrorKind::BadJson, 0, expected)
}

/// The value as this type has it.
fn shaped(value: &Value<'_>, shape: &Shape) -> Result<Value<'static>, WireError> {
    if value.is_null() && !matches!(shape, Shape::Counter) {
        return Ok(Value::Null);
    }
    match shape {
        Any => Ok(value.to_owned_value()),
        Bool => value.to_bool().map(Value::Bool).ok_or(wrong("a truth value")),
        Int => value.to_i32().map(Value::from).ok_or(bad_number("a 32-bit number")),
        Long | Shape::Counter => value.to_i64().map(Value::from).ok_or(bad_number("a 64-bit number")),
        Double => match value {
            Value::Number(_) => Ok(value.to_owned_value()),
            other => other.to_f64().map(Value::from).ok_or(bad_number("a number")),
        },
        Text => Ok(value.to_java_text().map_or(Value::Null, Value::from)),
        Enum(names) => Ok(enum_name(value, names).map_or(Value::Null, Value::from)),
        List(inner) => Ok(Value::List(shaped_items(value, inner)?)),
        Set(inner) => {
            let mut items = shaped_items(value, inner)?;
            items.sort_by_cached_key(sort_key);
            items.dedup();
            Ok(Value::List(items))
        }
        Map(inner) => shaped_map(value, inner, |key| key.to_java_text().ok_or(wrong("a text as key"))),
        LongKeys(inner) => shaped_map(value, inner, |key| {
            key.to_i64().map(|number| number.to_string()).ok_or(bad_number("a number as key"))
        }),
        Table(inner) => shaped_table(value, inner),
        Class(fields) => shaped_class(value, fields),
    }
}

fn shaped_items(value: &Value<'_>, inner: &Shape) -> Result<Vec<Value<'static>>, WireError> {
    match value {
        Value::List(items) => items.iter().map(|item| shaped(item, inner)).collect(),
        _ => Err(wrong("a list")),
    }
}

fn shaped_map(
    value: &Value<'_>,
    inner: &Shape,
    key_text: impl Fn(&Value<'_>) -> Result<String, WireError>,
) -> Result<Value<'static>, WireError> {
    let Value::Map(entries) = value else { return Err(wrong("an object")) };
    let mut rows: Vec<_> = entries
        .iter()
        .map(|(key, entry)| Ok((Value::from(key_text(key)?), shaped(entry, inner)?)))
        .collect::<Result<_, WireError>>()?;
    rows.sort();
    Ok(Value::Map(rows))
}

/// `[{"key":queue,"value":…},…]`, or `{}` for an empty table, which has no keys to tell what it is.
fn shaped_table(value: &Value<'_>, inner: &Shape) -> Result<Value<'static>, WireError> {
    let Value::Map(entries) = value else { return Err(wrong("an object")) };
    if entries.is_empty() {
        return Ok(Value::Map(Vec::new()));
    }
    let mut rows: Vec<Value<'static>> = Vec::with_capacity(entries.len());
    for (key, entry) in entries {
        let key = match key {
            Value::Text(text) => shaped(&json::parse(text.as_bytes())?, &QUEUE)?,
            Value::Map(_) => shaped(key, &QUEUE)?,
            _ => return Err(wrong("a queue as key")),
        };
        let row = Value::Map(alloc::vec![("key".into(), key), ("value".into(), shaped(entry, inner)?)]);
        rows.push(row);
    }
    rows.sort_by_cached_key(|row| sort_key(row.field("key")));
    Ok(Value::List(rows))
}

fn shaped_class(value: &Value<'_>, fields: &[Field]) -> Result<Value<'static>, WireError> {
    if !matches!(value, Value::Map(_)) {
        return Err(wrong("an object"));
    }
    let mut shaped_fields = Vec::with_capacity(fields.len());
    for Field { name, shape, absent } in fields {
        let name_in_text = if *name == "isWithoutSub" { "withoutSub" } else { name };
        let present = value.entries().iter().find(|(key, _)| key.as_str() == Some(name_in_text));
        let primitive = matches!(shape, Bool | Int | Long | Double);
        let filled = match present {
            Some((_, given)) if !(primitive && given.is_null()) => shaped(given, shape)?,
            _ => json::parse(absent.as_bytes())?,
        };
        shaped_fields.push((Value::from(*name), filled));
    }
    Ok(Value::Map(shaped_fields))
}

/// By name in any case or by ordinal.
pub(super) fn enum_name(value: &Value<'_>, names: &[&'static str]) -> Option<&'static str> {
    match value {
        Value::Text(text) => names.iter().find(|name| name.eq_ignore_ascii_case(text)).copied(),
        other => names.get(usize::try_from(other.to_i64()?).ok()?).copied(),
    }
}

/// What sets and tables are sorted by: numbers as numbers, all else as its JSON text.
fn sort_key(value: &Value<'_>) -> (i64, String) {
    match value {
        Value::Number(number) => (number.to_i64().unwrap_or(i64::MAX), String::new()),
        other => (0, other.to_text()),
    }
}
