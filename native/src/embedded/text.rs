//! Writing the JSON that servers answer with, fastjson's way: sorted fields, no blanks, objects as keys of maps.

use evenkeel_core::model::MessageQueue;
use std::fmt::Write;

/// `text` as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{:04X}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// The parts between commas, in brackets.
pub(crate) fn array(parts: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", joined(parts))
}

/// Members `key:value` between commas, in braces. Keys are written as they are, so that they may be numbers or objects.
pub(crate) fn object(members: impl IntoIterator<Item = (String, String)>) -> String {
    format!("{{{}}}", joined(members.into_iter().map(|(key, value)| format!("{key}:{value}"))))
}

/// A queue, as value or as the key of a map.
pub(crate) fn queue(queue: &MessageQueue) -> String {
    let (broker, topic) = (quoted(queue.broker.as_str()), quoted(queue.topic.as_str()));
    format!(r#"{{"brokerName":{broker},"queueId":{},"topic":{topic}}}"#, queue.id)
}

fn joined(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(",")
}
