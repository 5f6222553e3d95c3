//! Reading, by the rules that Java's readers share (see the module above).
//!
//! Beyond standard JSON: keys may be numbers, objects or bare identifiers; texts may stand in single quotes and hold
//! raw control characters; numbers may start with a plus or zeros; commas may stand before a closing bracket; comments
//! count as white space; zero bytes may follow the end. Of equal keys the last one wins.
//!
//! Bounded: [`MAX_DEPTH`] levels, [`MAX_VALUES`] values, and no more bytes than the input has. Half a surrogate pair in
//! an escape becomes U+FFFD.

use super::number::Number;
use super::reference;
use super::value::Value;
use crate::wire::error::{WireError, WireErrorKind};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// Deepest nesting of lists and objects.
pub const MAX_DEPTH: usize = 128;

/// Most values (keys counted too) in one text: enough for the routes and offsets of the largest clusters, and few
/// enough that a hostile text of 16 MiB cannot ask for gigabytes.
pub const MAX_VALUES: usize = 1 << 20;

/// Reads one value; references are replaced by what they point at.
///
/// Errors: [`WireErrorKind::BadText`] if the bytes are not UTF-8, [`WireErrorKind::BadJson`] at the first byte that
/// does not fit, [`WireErrorKind::TooLarge`] beyond the limits, [`WireErrorKind::Unsupported`] for a reference that
/// cannot be followed.
pub fn parse(bytes: &[u8]) -> Result<Value<'_>, WireError> {
    let (mut value, budget) = parse_text(bytes, MAX_VALUES)?;
    reference::resolve(&mut value, budget)?;
    Ok(value)
}

/// Reads one value and leaves `{"$ref":…}` as it is: for texts in which users choose the keys.
pub fn parse_with_references_kept(bytes: &[u8]) -> Result<Value<'_>, WireError> {
    parse_text(bytes, MAX_VALUES).map(|(value, _)| value)
}

/// The same without a limit on values: for texts that this very program wrote, which may hold as much as it does.
pub fn parse_own(bytes: &[u8]) -> Result<Value<'_>, WireError> {
    parse_text(bytes, usize::MAX).map(|(value, _)| value)
}

/// The value, and how many more values the limit allows.
fn parse_text(bytes: &[u8], budget: usize) -> Result<(Value<'_>, usize), WireError> {
    let text = core::str::from_utf8(bytes)
        .map_err(|error| WireError::new(WireErrorKind::BadText, error.valid_up_to(), "UTF-8"))?;
    let mut reader = Reader { text, at: 0, budget };
    let value = reader.value(0)?;
    reader.skip_space()?;
    if text.as_bytes()[reader.at..].iter().any(|&byte| byte != 0) {
        return Err(reader.bad("the end"));
    }
    Ok((value, reader.budget))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    budget: usize,
}

impl<'a> Reader<'a> {
    fn bad(&self, expected: &'static str) -> WireError {
        WireError::new(WireErrorKind::BadJson, self.at, expected)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes this byte if it comes next.
    fn eat(&mut self, byte: u8) -> bool {
        let comes = self.peek() == Some(byte);
        self.at += usize::from(comes);
        comes
    }

    /// Takes bytes while they fit; the text between is whole characters as long as `fits` refuses or takes all
    /// bytes of a character alike.
    fn take_while(&mut self, fits: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(&fits) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn skip_space(&mut self) -> Result<(), WireError> {
        loop {
            self.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0c | 0x08));
            if self.peek() != Some(b'/') {
                return Ok(());
            }
            let rest = &self.text[self.at..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/").ok_or_else(|| self.bad("the end of the comment"))?;
                self.at += end + 4;
            } else {
                return Err(self.bad("a comment"));
            }
        }
    }

    fn spend(&mut self) -> Result<(), WireError> {
        let too_many = WireError::new(WireErrorKind::TooLarge, self.at, "fewer values");
        self.budget = self.budget.checked_sub(1).ok_or(too_many)?;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, WireError> {
        self.skip_space()?;
        self.spend()?;
        if depth > MAX_DEPTH {
            return Err(WireError::new(WireErrorKind::TooLarge, self.at, "less nesting"));
        }
        match self.peek() {
            Some(b'{') => self.map(depth),
            Some(b'[') => self.list(depth),
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote).map(Value::Text),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.number(),
            Some(byte) if starts_identifier(byte) => {
                let start = self.at;
                match self.take_while(continues_identifier) {
                    "null" | "undefined" | "NaN" => Ok(Value::Null),
                    "true" => Ok(Value::Bool(true)),
                    "false" => Ok(Value::Bool(false)),
                    _ => Err(WireError::new(WireErrorKind::BadJson, start, "a value")),
                }
            }
            _ => Err(self.bad("a value")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>, WireError> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space()?;
            if self.eat(b']') {
                return Ok(Value::List(items));
            }
            items.push(self.value(depth + 1)?);
            self.skip_space()?;
            if !self.eat(b',') && self.peek() != Some(b']') {
                return Err(self.bad("a comma or the end of the list"));
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value<'a>, WireError> {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.skip_space()?;
            if self.eat(b'}') {
                return Ok(Value::Map(last_of_each(entries)));
            }
            let key = self.key(depth)?;
            self.skip_space()?;
            if !self.eat(b':') {
                return Err(self.bad("a colon"));
            }
            entries.push((key, self.value(depth + 1)?));
            self.skip_space()?;
            if !self.eat(b',') && self.peek() != Some(b'}') {
                return Err(self.bad("a comma or the end of the object"));
            }
        }
    }

    fn key(&mut self, depth: usize) -> Result<Value<'a>, WireError> {
        match self.peek() {
            Some(byte) if starts_identifier(byte) => {
                self.spend()?;
                Ok(Value::Text(Cow::Borrowed(self.take_while(continues_identifier))))
            }
            Some(b'{' | b'"' | b'\'' | b'-' | b'0'..=b'9') => self.value(depth + 1),
            _ => Err(self.bad("a key")),
        }
    }

    fn number(&mut self) -> Result<Value<'a>, WireError> {
        let start = self.at;
        let _ = self.eat(b'-') || self.eat(b'+');
        let mut digits = self.take_while(|byte| byte.is_ascii_digit()).len();
        if self.eat(b'.') {
            digits += self.take_while(|byte| byte.is_ascii_digit()).len();
        }
        if digits == 0 {
            return Err(self.bad("a digit"));
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'-') || self.eat(b'+');
            if self.take_while(|byte| byte.is_ascii_digit()).is_empty() {
                return Err(self.bad("a digit of the exponent"));
            }
        }
        Ok(Value::Number(Number(Cow::Borrowed(&self.text[start..self.at]))))
    }

    fn quoted(&mut self, quote: u8) -> Result<Cow<'a, str>, WireError> {
        self.at += 1;
        let plain = self.take_while(|byte| byte != quote && byte != b'\\');
        if self.eat(quote) {
            return Ok(Cow::Borrowed(plain));
        }
        let mut text = String::from(plain);
        while !self.eat(quote) {
            if self.eat(b'\\') {
                text.push(self.escape()?);
            } else if self.peek().is_none() {
                return Err(self.bad("the end of the text"));
            }
            text.push_str(self.take_while(|byte| byte != quote && byte != b'\\'));
        }
        Ok(Cow::Owned(text))
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<char, WireError> {
        let letter = self.peek().ok_or_else(|| self.bad("an escape"))?;
        self.at += 1;
        Ok(match letter {
            b'"' => '"',
            b'\'' => '\'',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' | b'F' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'v' => '\u{b}',
            b'0'..=b'7' => char::from(letter - b'0'),
            b'x' => char::from_u32(self.hex(2)?).unwrap_or(char::REPLACEMENT_CHARACTER),
            b'u' => self.unicode()?,
            _ => {
                self.at -= 1;
                return Err(self.bad("an escape"));
            }
        })
    }

    /// The digits after `\u`, and those of a second half if this is the first.
    fn unicode(&mut self) -> Result<char, WireError> {
        let unit = self.hex(4)?;
        if !(0xD800..0xDC00).contains(&unit) || !self.text[self.at..].starts_with("\\u") {
            return Ok(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let before_second = self.at;
        self.at += 2;
        let second = self.hex(4)?;
        if !(0xDC00..0xE000).contains(&second) {
            self.at = before_second;
            return Ok(char::REPLACEMENT_CHARACTER);
        }
        let point = 0x1_0000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
        Ok(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self, digits: usize) -> Result<u32, WireError> {
        let mut number = 0;
        for _ in 0..digits {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            number = number * 16 + digit.ok_or_else(|| self.bad("a hexadecimal digit"))?;
            self.at += 1;
        }
        Ok(number)
    }
}

fn starts_identifier(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn continues_identifier(byte: u8) -> bool {
    starts_identifier(byte) || byte.is_ascii_digit()
}

/// Each key once: at its first place, with its last value.
fn last_of_each<'a>(entries: Vec<(Value<'a>, Value<'a>)>) -> Vec<(Value<'a>, Value<'a>)> {
    let mut places = BTreeMap::new();
    for (place, (key, _)) in entries.iter().enumerate() {
        places.entry(key).or_insert((place, place)).1 = place;
    }
    if places.len() == entries.len() {
        return entries;
    }
    let mut places: Vec<(usize, usize)> = places.into_values().collect();
    places.sort_unstable();
    let mut entries: Vec<Option<(Value<'a>, Value<'a>)>> = entries.into_iter().map(Some).collect();
    places.iter().filter_map(|&(_, last)| entries[last].take()).collect()
}
