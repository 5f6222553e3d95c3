//! References: the Java writer abbreviates an object that occurs a second time to `{"$ref":"$.path.of.the.first"}`.
//!
//! A reference is replaced by a copy of what it points at. One that points nowhere, at its own container (`$`, `..`,
//! `@`) or at something behind it is an error: reading it as an ordinary object would silently lose data.

use super::read::MAX_DEPTH;
use super::value::Value;
use crate::wire::error::{WireError, WireErrorKind};
use alloc::string::String;
use alloc::vec::Vec;

/// Most references in one text: real bodies have a handful.
const MAX_REFERENCES: usize = 4096;

/// Most map entries looked at while following the references of one text.
const MAX_LOOKED_AT: usize = 1 << 24;

/// One step from a value to a part of it: the number of the list member or map entry, and whether the entry's key
/// or its value is meant.
#[derive(Clone, Copy)]
struct Step {
    index: usize,
    in_key: bool,
}

/// Replaces all references, in the order of the text, spending at most `budget` values on copies.
pub(super) fn resolve(root: &mut Value<'_>, mut budget: usize) -> Result<(), WireError> {
    let mut places = Vec::new();
    collect(root, &mut Vec::new(), &mut places)?;
    let mut looked_at = 0;
    for place in places {
        let Some(path) = at(root, &place).and_then(target) else { continue };
        let found = follow(root, path, &mut looked_at).ok_or(CANNOT_FOLLOW)?;
        budget = pay_for_copy(found, place.len(), budget)?;
        let copy = found.clone();
        if let Some(slot) = at_mut(root, &place) {
            *slot = copy;
        }
    }
    Ok(())
}

const CANNOT_FOLLOW: WireError =
    WireError::new(WireErrorKind::Unsupported, 0, "a reference to something that was complete before it");

/// What is left of the budget after a copy of `value` at this depth; an error if there is not enough, if it nests too
/// deep there, or if something in it is itself still a reference.
fn pay_for_copy(value: &Value<'_>, depth: usize, budget: usize) -> Result<usize, WireError> {
    if target(value).is_some() {
        return Err(CANNOT_FOLLOW);
    }
    if depth > MAX_DEPTH {
        return Err(WireError::new(WireErrorKind::TooLarge, 0, "less nesting behind references"));
    }
    let too_many = WireError::new(WireErrorKind::TooLarge, 0, "fewer values behind references");
    let rest = budget.checked_sub(1).ok_or(too_many)?;
    parts(value).try_fold(rest, |rest, (_, part)| pay_for_copy(part, depth + 1, rest))
}

/// The path, if this value is a reference.
fn target<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    match value.entries() {
        [(Value::Text(key), Value::Text(path))] if key == "$ref" => Some(path),
        _ => None,
    }
}

/// The parts of a value with the steps that lead to them, in the order of the text.
fn parts<'v, 'a>(value: &'v Value<'a>) -> impl Iterator<Item = (Step, &'v Value<'a>)> {
    let items = value.items().iter().enumerate().map(|(index, item)| (Step { index, in_key: false }, item));
    let entries = value.entries().iter().enumerate().flat_map(|(index, (key, entry))| {
        [(Step { index, in_key: true }, key), (Step { index, in_key: false }, entry)]
    });
    items.chain(entries)
}

fn collect(value: &Value<'_>, here: &mut Vec<Step>, places: &mut Vec<Vec<Step>>) -> Result<(), WireError> {
    if target(value).is_some() {
        if places.len() == MAX_REFERENCES {
            return Err(WireError::new(WireErrorKind::TooLarge, 0, "fewer references"));
        }
        places.push(here.clone());
        return Ok(());
    }
    for (step, part) in parts(value) {
        here.push(step);
        collect(part, here, places)?;
        here.pop();
    }
    Ok(())
}

fn at<'v, 'a>(root: &'v Value<'a>, place: &[Step]) -> Option<&'v Value<'a>> {
    place.iter().try_fold(root, |value, step| match value {
        Value::List(items) => items.get(step.index),
        Value::Map(entries) => {
            entries.get(step.index).map(|(key, entry)| if step.in_key { key } else { entry })
        }
        _ => None,
    })
}

fn at_mut<'v, 'a>(root: &'v mut Value<'a>, place: &[Step]) -> Option<&'v mut Value<'a>> {
    place.iter().try_fold(root, |value, step| match value {
        Value::List(items) => items.get_mut(step.index),
        Value::Map(entries) => {
            entries.get_mut(step.index).map(|(key, entry)| if step.in_key { key } else { entry })
        }
        _ => None,
    })
}

/// What a path points at: `$` and then any of `.name` (special characters behind a backslash), `[3]`, `["name"]`.
fn follow<'v, 'a>(root: &'v Value<'a>, path: &str, looked_at: &mut usize) -> Option<&'v Value<'a>> {
    let mut rest = path.strip_prefix('$')?;
    let mut value = root;
    while !rest.is_empty() {
        *looked_at += value.entries().len();
        if *looked_at > MAX_LOOKED_AT {
            return None;
        }
        let name;
        if let Some(after) = rest.strip_prefix('.') {
            (name, rest) = dotted_name(after);
            value = entry(value, &name)?;
        } else {
            let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
            rest = after;
            let unquoted = inside.trim_matches(['"', '\'']);
            value = match value {
                Value::List(items) => items.get(unquoted.parse::<usize>().ok()?)?,
                _ => entry(value, unquoted)?,
            };
        }
    }
    Some(value)
}

/// The name up to the next dot or bracket that no backslash precedes, and what follows it.
fn dotted_name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            '\\' if !escaped => escaped = true,
            '.' | '[' if !escaped => return (name, &text[at..]),
            other => {
                name.push(other);
                escaped = false;
            }
        }
    }
    (name, "")
}

/// The entry of a map whose key is this text, or the number written like this.
fn entry<'v, 'a>(value: &'v Value<'a>, name: &str) -> Option<&'v Value<'a>> {
    let fits = |key: &Value<'_>| match key {
        Value::Text(text) => text == name,
        Value::Number(number) => number.as_str() == name,
        _ => false,
    };
    value.entries().iter().find(|(key, _)| fits(key)).map(|(_, entry)| entry)
}
