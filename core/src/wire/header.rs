//! The header of a command in its two encodings. Both are always understood; a server answers in its own, not ours.

use super::code::LanguageCode;
use super::command::{Command, Fields};
use super::error::{WireError, WireErrorKind};
use super::frame::EncodeError;
use super::json::{self, Value};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

/// Most extension fields in one header. Real ones have about twenty; adding to a list of them takes time for each.
pub const MAX_FIELDS: usize = 1024;

/// Reads a JSON header, as leniently as both of Java's readers do: numbers may be texts, missing ones are 0 (and a
/// missing opaque stays missing), unknown names are ignored, field values that are no texts become texts, and null
/// fields are absent.
pub(super) fn read_json(header: &[u8]) -> Result<Command, WireError> {
    let root = json::parse(header)?;
    if !matches!(root, Value::Map(_)) {
        return Err(WireError::new(WireErrorKind::BadJson, 0, "an object"));
    }
    Ok(Command {
        code: number(&root, "code")?.unwrap_or(0),
        language: language(root.field("language"))?,
        version: number(&root, "version")?.unwrap_or(0),
        opaque: number(&root, "opaque")?,
        flag: number(&root, "flag")?.unwrap_or(0),
        remark: root.field("remark").to_java_text(),
        fields: fields(root.field("extFields"))?,
        body: Bytes::new(),
    })
}

fn number(root: &Value<'_>, name: &'static str) -> Result<Option<i32>, WireError> {
    match root.field(name) {
        Value::Null => Ok(None),
        value => match value.to_i32() {
            Some(number) => Ok(Some(number)),
            None => Err(WireError::new(WireErrorKind::BadNumber, 0, name)),
        },
    }
}

/// A language by name (in any case) or number; a name that nobody knows is no language.
fn language(value: &Value<'_>) -> Result<Option<LanguageCode>, WireError> {
    match value {
        Value::Text(name) => Ok(LanguageCode::from_name(&name.to_ascii_uppercase())),
        Value::Number(number) => {
            let code = number.to_i64().and_then(|number| u8::try_from(number).ok()).map(LanguageCode);
            match code.filter(|code| code.name().is_some()) {
                Some(code) => Ok(Some(code)),
                None => Err(WireError::new(WireErrorKind::BadNumber, 0, "language")),
            }
        }
        _ => Ok(None),
    }
}

fn fields(value: &Value<'_>) -> Result<Fields, WireError> {
    if !matches!(value, Value::Map(_) | Value::Null) {
        return Err(WireError::new(WireErrorKind::BadJson, 0, "extFields as an object"));
    }
    if value.entries().len() > MAX_FIELDS {
        return Err(WireError::new(WireErrorKind::TooLarge, 0, "fewer extFields"));
    }
    let mut fields = Fields::default();
    for (name, value) in value.entries() {
        if let (Some(name), Some(value)) = (name.to_java_text(), value.to_java_text()) {
            fields.set(&name, value);
        }
    }
    Ok(fields)
}

/// Writes a JSON header: names in alphabetical order as Java has them, absent values left out.
pub(super) fn write_json(command: &Command) -> String {
    let fields = command.fields.iter().map(|(name, value)| (Value::text(name), Value::text(value)));
    json::object([
        ("code", command.code.into()),
        ("extFields", if command.fields.is_empty() { Value::Null } else { Value::Map(fields.collect()) }),
        ("flag", command.flag.into()),
        ("language", Value::text_or_null(command.language.and_then(LanguageCode::name))),
        ("opaque", command.opaque.map_or(Value::Null, Value::from)),
        ("remark", Value::text_or_null(command.remark.as_deref())),
        ("serializeTypeCurrentRPC", "JSON".into()),
        ("version", command.version.into()),
    ])
    .to_text()
}

/// Reads a binary header: `code i16, language u8, version i16, opaque i32, flag i32, remark (i32 length), length i32 of
/// all fields, then name (i16 length) and value (i32 length) of each`.
///
/// Empty texts are absent, as Java has it; bytes that are not UTF-8 are replaced. A length of all fields that ends
/// within a field is tolerated, as Java tolerates it. Bytes after the last field are an error: where Java reads them
/// as the start of the body, we cannot tell which of the two lengths is wrong.
pub(super) fn read_binary(header: &[u8]) -> Result<Command, WireError> {
    let mut reader = Reader { bytes: header, at: 0 };
    let code = reader.i16()?;
    let language = LanguageCode(reader.array::<1>()?[0]);
    let version = reader.i16()?;
    let opaque = reader.i32()?;
    let flag = reader.i32()?;
    let remark_length = reader.i32()?;
    let remark = reader.text(remark_length)?;
    let fields = reader.fields()?;
    if reader.at < header.len() {
        return Err(WireError::new(WireErrorKind::BadLength, reader.at, "the end of the header"));
    }
    Ok(Command {
        code: code.into(),
        language: language.name().map(|_| language),
        version: version.into(),
        opaque: Some(opaque),
        flag,
        remark: remark.map(Cow::into_owned),
        fields,
        body: Bytes::new(),
    })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..length).ok_or(WireError::new(
            WireErrorKind::Truncated,
            self.bytes.len(),
            "more of the header",
        ))?;
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn i16(&mut self) -> Result<i16, WireError> {
        self.array().map(i16::from_be_bytes)
    }

    fn i32(&mut self) -> Result<i32, WireError> {
        self.array().map(i32::from_be_bytes)
    }

    fn text(&mut self, length: i32) -> Result<Option<Cow<'a, str>>, WireError> {
        let at = self.at;
        let length = usize::try_from(length)
            .map_err(|_| WireError::new(WireErrorKind::BadLength, at, "a length that is not negative"))?;
        let bytes = self.take(length)?;
        Ok((length > 0).then(|| String::from_utf8_lossy(bytes)))
    }

    fn fields(&mut self) -> Result<Fields, WireError> {
        let length = usize::try_from(self.i32()?).unwrap_or(0);
        let end = self.at + length;
        if end > self.bytes.len() {
            return Err(WireError::new(
                WireErrorKind::BadLength,
                self.at,
                "fields that end within the header",
            ));
        }
        let mut fields = Fields::default();
        while self.at < end {
            if fields.len() == MAX_FIELDS {
                return Err(WireError::new(WireErrorKind::TooLarge, self.at, "fewer fields"));
            }
            let name_length = self.i16()?;
            let name = self.text(name_length.into())?;
            let value_length = self.i32()?;
            let value = self.text(value_length)?;
            if let (Some(name), Some(value)) = (name, value) {
                fields.set(&name, value);
            }
        }
        Ok(fields)
    }
}

/// Writes a binary header.
///
/// Errors: what has no room in it, see [`EncodeError`].
pub(super) fn write_binary(command: &Command) -> Result<Vec<u8>, EncodeError> {
    let narrow = |what, number: i32| i16::try_from(number).map_err(|_| EncodeError::TooWide { what, number });
    let mut entries = Vec::new();
    for (name, value) in command.fields.iter() {
        let name_length =
            i16::try_from(name.len()).map_err(|_| EncodeError::LongName { length: name.len() })?;
        entries.extend_from_slice(&name_length.to_be_bytes());
        entries.extend_from_slice(name.as_bytes());
        entries.extend_from_slice(&length_word(value.len())?);
        entries.extend_from_slice(value.as_bytes());
    }
    let remark = command.remark.as_deref().unwrap_or_default();
    let mut header = Vec::with_capacity(21 + remark.len() + entries.len());
    header.extend_from_slice(&narrow("code", command.code)?.to_be_bytes());
    header.push(command.language.unwrap_or(LanguageCode::OTHER).0);
    header.extend_from_slice(&narrow("version", command.version)?.to_be_bytes());
    header.extend_from_slice(&command.opaque.unwrap_or(0).to_be_bytes());
    header.extend_from_slice(&command.flag.to_be_bytes());
    header.extend_from_slice(&length_word(remark.len())?);
    header.extend_from_slice(remark.as_bytes());
    header.extend_from_slice(&length_word(entries.len())?);
    header.extend_from_slice(&entries);
    Ok(header)
}

fn length_word(length: usize) -> Result<[u8; 4], EncodeError> {
    i32::try_from(length).map(i32::to_be_bytes).map_err(|_| EncodeError::TooLarge { length })
}
