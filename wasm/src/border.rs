//! JSON text in, JSON text out.
//!
//! Values cross as text: it is what the command line prints, so that both answer alike to the letter, and reading it is
//! faster in every JavaScript engine than making objects field by field from here.

use std::io;

use evenkeel_core::report;
use evenkeel_core::wire::json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use crate::error::Refusal;

/// Reads what was given. `code` is the error's if it cannot be read.
///
/// # Errors
/// The field that is wrong and why.
pub fn read<T: DeserializeOwned>(text: &str, code: report::ErrorCode) -> Result<T, Refusal> {
    let refuse = |text: String| Refusal { code: code.as_str(), field: None, text, zh: None, hint: None };
    let value = json::parse_own(text.as_bytes()).map_err(|error| refuse(error.to_string()))?;
    json::read(&value).map_err(|error| refuse(error.to_string()))
}

/// Reads what may be left out.
///
/// # Errors
/// As [`read`].
pub fn read_if_any<T: DeserializeOwned>(
    text: Option<&str>,
    code: report::ErrorCode,
) -> Result<Option<T>, Refusal> {
    text.map(|text| read(text, code)).transpose()
}

/// Writes an answer, with numbers that JavaScript keeps.
///
/// # Errors
/// None: what is written are texts, numbers and lists. A map whose keys are none of these would be one.
pub fn write<T: Serialize + ?Sized>(answer: &T) -> Result<String, Refusal> {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, SafeNumbers);
    answer.serialize(&mut serializer).map_err(Refusal::bad_input)?;
    String::from_utf8(out).map_err(Refusal::bad_input)
}

/// Whole numbers beyond 2^53 as texts of their digits: as numbers, JavaScript would round them.
struct SafeNumbers;

const LARGEST: u64 = (1 << 53) - 1;

impl Formatter for SafeNumbers {
    fn write_i64<W: ?Sized + io::Write>(&mut self, out: &mut W, number: i64) -> io::Result<()> {
        if number.unsigned_abs() <= LARGEST {
            CompactFormatter.write_i64(out, number)
        } else {
            write!(out, "\"{number}\"")
        }
    }

    fn write_u64<W: ?Sized + io::Write>(&mut self, out: &mut W, number: u64) -> io::Result<()> {
        if number <= LARGEST { CompactFormatter.write_u64(out, number) } else { write!(out, "\"{number}\"") }
    }

    /// The tables that printing a double takes are a twentieth of the wasm file, and every JavaScript engine has them.
    fn write_f64<W: ?Sized + io::Write>(&mut self, out: &mut W, number: f64) -> io::Result<()> {
        out.write_all(digits(number).as_bytes())
    }
}

#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = String)]
    fn digits(number: f64) -> String;
}

#[cfg(not(target_arch = "wasm32"))]
fn digits(number: f64) -> String {
    format!("{number:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn c07_numbers_beyond_2_to_53_are_texts() {
        let numbers = [0, -1, (1 << 53) - 1, 1 << 53, 9_007_199_254_740_993, i64::MIN];
        assert_eq!(
            write(&numbers).unwrap(),
            r#"[0,-1,9007199254740991,"9007199254740992","9007199254740993","-9223372036854775808"]"#
        );
        assert_eq!(write(&[u64::MAX, 7]).unwrap(), r#"["18446744073709551615",7]"#);
    }

    #[test]
    fn c07_maps_are_objects() {
        let map = BTreeMap::from([("c1", [0, 1]), ("c2", [2, 3])]);
        assert_eq!(write(&map).unwrap(), r#"{"c1":[0,1],"c2":[2,3]}"#);
    }

    #[test]
    fn an_error_says_what_and_no_column() {
        let text = r#"{"schema":"evenkeel.snapshot/1","topics":[{"topic":"t"},{"topic":5}]}"#;
        let refusal = read::<report::Snapshot>(text, report::ErrorCode::BadSnapshot).unwrap_err();
        assert_eq!(refusal.code, "BAD_SNAPSHOT");
        assert_eq!(refusal.text, "invalid type: integer `5`, expected a string");
    }
}
