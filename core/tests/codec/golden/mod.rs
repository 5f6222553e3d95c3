//! Reading the golden files, and showing our values in their terms.
#![allow(dead_code, reason = "each test file uses its part")]

use bytes::Bytes;
use evenkeel_core::wire::command::{Command, Fields};
use serde_json::{Map, Value, json};

/// The cases of a file in `tests/golden/`, byte for byte what the Java classes and servers gave.
pub(crate) fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/../tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("golden file");
    let mut root: Value = serde_json::from_str(&text).expect("golden file is JSON");
    match root["cases"].take() {
        Value::Array(cases) => cases,
        other => panic!("no cases but {other}"),
    }
}

pub(crate) fn section<'a>(cases: &'a [Value], section: &'a str) -> impl Iterator<Item = &'a Value> {
    cases.iter().filter(move |case| case["section"] == section)
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

pub(crate) fn unhex(hex: &str) -> Bytes {
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("hex digit") as u8;
    hex.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect::<Vec<_>>().into()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A command in the terms of the golden files, without `serializeType`.
pub(crate) fn shown(command: &Command) -> Value {
    let fields: Map<String, Value> =
        command.fields.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
    json!({
        "body": if command.body.is_empty() { Value::Null } else { json!(hex(&command.body)) },
        "code": command.code,
        "extFields": if fields.is_empty() { Value::Null } else { Value::Object(fields) },
        "flag": command.flag,
        "language": command.language.and_then(|language| language.name()),
        "opaque": command.opaque,
        "remark": command.remark,
        "version": command.version,
    })
}

/// A golden command in the terms of [`shown`]: fields with a null key or value are absent, and having no fields is the
/// same as having none at all.
pub(crate) fn expected(command: &Value) -> Value {
    let mut command = command.clone();
    let object = command.as_object_mut().expect("a command");
    object.remove("serializeType");
    if let Some(Value::Object(fields)) = object.get_mut("extFields") {
        fields.retain(|name, value| name != "<null key>" && !value.is_null());
        if fields.is_empty() {
            object["extFields"] = Value::Null;
        }
    }
    command
}

/// Golden extension fields as ours.
pub(crate) fn fields(golden: &Value) -> Fields {
    let mut fields = Fields::default();
    for (name, value) in golden.as_object().into_iter().flatten() {
        if let Some(value) = value.as_str() {
            fields.set(name, value);
        }
    }
    fields
}

/// A golden header's values as the texts that travel; null ones are absent.
pub(crate) fn header_texts(header: &Value) -> Vec<(String, String)> {
    let fields = header.as_object().expect("a header").iter();
    fields
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_string)))
        .collect()
}
