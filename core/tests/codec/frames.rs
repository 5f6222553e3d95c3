//! Frames and headers against what the Java library writes and reads (`tests/golden/frames.json`): every case.

use crate::golden;

use bytes::Bytes;
use evenkeel_core::wire::command::{Command, HeaderEncoding};
use evenkeel_core::wire::error::{WireError, WireErrorKind};
use evenkeel_core::wire::frame::{EncodeError, Framer};
use evenkeel_core::wire::headers;
use golden::{cases, expected, fields, header_texts, section, shown, text, unhex};
use serde_json::Value;

/// Fields that every 5.x header inherits and that mean nothing to a client.
const INHERITED: [&str; 5] = ["bname", "lo", "ns", "nsd", "oway"];

#[test]
fn frames_of_java_are_read_and_written_again() {
    let cases = cases("frames.json");
    let (mut commands, mut read, mut too_wide) = (0, 0, 0);
    for case in section(&cases, "encode") {
        let id = text(case, "id");
        commands += 1;
        for (form, encoding) in [
            ("json", HeaderEncoding::Json),
            ("rocketmq", HeaderEncoding::Binary),
            ("rocketmqFast", HeaderEncoding::Binary),
        ] {
            let golden = &case["frames"][form];
            if golden.is_null() {
                continue;
            }
            read += 1;
            let wanted = golden.get("decoded").unwrap_or(&case["command"]);
            let (command, seen) = Command::decode(unhex(text(golden, "hex"))).expect(id);
            assert_eq!(seen, encoding, "{id} {form}");
            assert_eq!(shown(&command), expected(wanted), "{id} {form}");

            let again = command.encode(HeaderEncoding::Json).expect(id);
            assert_eq!(
                Command::decode(again).expect(id),
                (command.clone(), HeaderEncoding::Json),
                "{id} {form}"
            );
            match command.encode(HeaderEncoding::Binary) {
                Ok(frame) => {
                    let (again, _) = Command::decode(frame).expect(id);
                    assert_eq!(shown(&again), shown(&without_empty_texts(&command)), "{id} {form}");
                }
                Err(error) => {
                    too_wide += 1;
                    assert!(matches!(error, EncodeError::TooWide { .. }), "{id} {form}: {error}");
                }
            }
        }
    }
    // Codes of pop requests and numbers drawn to be extreme: they travel in JSON only.
    assert_eq!((commands, read, too_wide), (309, 664, 9));
}

/// Binary headers cannot tell an empty text from none.
fn without_empty_texts(command: &Command) -> Command {
    let mut command = command.clone();
    command.remark = command.remark.filter(|remark| !remark.is_empty());
    let kept: Vec<_> =
        command.fields.iter().filter(|(name, value)| !name.is_empty() && !value.is_empty()).collect();
    let kept: Vec<_> = kept.into_iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    command.fields = Default::default();
    for (name, value) in kept {
        command.fields.set(&name, value);
    }
    command
}

#[test]
fn typed_headers_hold_every_field_of_the_java_classes() {
    let cases = cases("frames.json");
    let mut compared = 0;
    for case in section(&cases, "encode").filter(|case| !case["headerClass"].is_null()) {
        let (id, class) = (text(case, "id"), text(case, "headerClass"));
        let sent = fields(&case["command"]["extFields"]);
        let again = headers::reread(class, &sent).unwrap_or_else(|| panic!("{id}: no {class}")).expect(id);
        for (name, value) in header_texts(&case["header"]) {
            let known = headers::field_names(class).contains(&name.as_str());
            assert!(known || INHERITED.contains(&name.as_str()), "{id}: {class} has no {name}");
            if known {
                assert_eq!(again.get(&name), Some(value.as_str()), "{id}: {class} {name}");
            }
        }
        compared += 1;
    }
    assert_eq!(compared, 309 - 66, "the other 66 cases have no header class");
}

#[test]
fn headers_are_read_as_java_reads_them() {
    let cases = cases("frames.json");
    let (mut same, mut missing, mut bad_number, mut both_refuse) = (0, 0, 0, 0);
    for case in section(&cases, "header") {
        let (id, class) = (text(case, "id"), text(case, "headerClass"));
        let ours =
            headers::reread(class, &fields(&case["extFields"])).unwrap_or_else(|| panic!("{id}: no {class}"));
        match (ours, case["expect"].get("header")) {
            (Ok(ours), Some(header)) => {
                let mut wanted = header_texts(header);
                wanted.retain(|(name, _)| headers::field_names(class).contains(&name.as_str()));
                // A field that 4.9 does not have yet cannot be compared with it.
                let ours = ours.iter().filter(|(name, _)| header.get(name).is_some());
                let mut ours: Vec<_> = ours.map(|(name, value)| (name.into(), value.into())).collect();
                ours.sort();
                wanted.sort();
                assert_eq!(ours, wanted, "{id}: {class}");
                same += 1;
            }
            // Stricter on purpose: where Java goes on with null for a required field or a number that is none, the
            // caller of a typed header gets an error that names the field.
            (Err(WireError { kind: WireErrorKind::MissingField, expected, .. }), Some(header)) => {
                assert!(header[expected].is_null(), "{id}: {expected} is there for Java");
                missing += 1;
            }
            (Err(WireError { kind: WireErrorKind::BadNumber, expected, .. }), Some(_)) => {
                let given = text(&case["extFields"], expected);
                assert!(given.parse::<i64>().is_err(), "{id}: {expected} is {given}");
                bad_number += 1;
            }
            (Err(_), None) => both_refuse += 1,
            (ours, java) => panic!("{id}: {class}: ours {ours:?}, Java {java:?}"),
        }
    }
    assert_eq!((same, missing, bad_number, both_refuse), (103, 88, 55, 20), "all 266 cases");
}

/// Cases that both versions of Java take and we refuse, with the reason.
const STRICTER: [(&str, &str); 2] = [
    (
        "malformed-0101",
        "a reference to its own container: one version resolves it, the other reads it as a field",
    ),
    (
        "malformed-0161",
        "bytes between header and body: one of the two lengths is wrong, and nobody can tell which",
    ),
];

/// Cases that both versions of Java refuse and we take, with the reason.
const LOOSER: [(&str, &str); 1] = [(
    "malformed-0076",
    "keys without quotes: Java takes them in bodies and at the top of headers, we everywhere",
)];

#[test]
fn malformed_frames_end_the_connection_where_java_ends_it() {
    let cases = cases("frames.json");
    let (mut all, mut both_open, mut both_closed, mut differ) = (0, 0, 0, 0);
    let (mut stricter, mut looser) = (Vec::new(), Vec::new());
    for case in section(&cases, "malformed") {
        all += 1;
        let id = text(case, "id");
        let (ours, error) = read_all(case);
        let ours: Vec<Value> = ours.iter().map(shown).collect();
        let java: Vec<&Value> = ["5.5.0", "4.9.7"].iter().map(|version| &case["expect"][version]).collect();
        let fits = |java: &&Value| java_frames(java, case) == ours && java["open"] == error.is_none();
        match (java[0]["open"] == true, java[1]["open"] == true) {
            (true, true) if error.is_some() => stricter.push(id),
            (true, true) => {
                assert!(java.iter().any(fits), "{id} {}: {ours:?} but Java {}", case["note"], java[0]);
                both_open += 1;
            }
            (false, false) if error.is_none() => looser.push(id),
            (false, false) => {
                assert!(java.iter().all(fits), "{id} {}: {ours:?} {error:?}", case["note"]);
                both_closed += 1;
            }
            _ => {
                assert!(java.iter().any(fits), "{id} {}: {ours:?} {error:?}", case["note"]);
                differ += 1;
            }
        }
    }
    assert_eq!(stricter, STRICTER.map(|(id, _)| id));
    assert_eq!(looser, LOOSER.map(|(id, _)| id));
    assert_eq!((all, both_open, both_closed, differ), (202, 102, 86, 11));
}

/// What Java handed on while the connection was open, in our terms: a JSON header that does not name its language
/// has none for us and Java's own for Java.
fn java_frames(java: &Value, case: &Value) -> Vec<Value> {
    let sent = String::from_utf8_lossy(&whole(case)).into_owned();
    let frames = java["frames"].as_array().expect("frames").iter();
    frames
        .map(|frame| {
            let mut frame = expected(frame);
            if frame["language"] == "JAVA" && sent.contains('{') && !sent.contains("\"language\"") {
                frame["language"] = Value::Null;
            }
            frame
        })
        .collect()
}

fn chunks(case: &Value) -> Vec<Bytes> {
    match case["chunks"].as_array() {
        Some(chunks) => chunks.iter().map(|chunk| unhex(chunk.as_str().expect("hex"))).collect(),
        None => vec![unhex(text(case, "hex"))],
    }
}

fn whole(case: &Value) -> Vec<u8> {
    chunks(case).concat()
}

/// Commands until the first error.
fn read_all(case: &Value) -> (Vec<Command>, Option<WireError>) {
    let mut framer = Framer::default();
    let mut commands = Vec::new();
    for chunk in chunks(case) {
        framer.push(&chunk);
        loop {
            match framer.next().and_then(|frame| frame.map(Command::decode).transpose()) {
                Ok(Some((command, _))) => commands.push(command),
                Ok(None) => break,
                Err(error) => return (commands, Some(error)),
            }
        }
    }
    (commands, None)
}
