//! Numbers of JSON, kept as their text so that none loses a digit.

use alloc::borrow::Cow;
use alloc::string::ToString;

/// A number as it was written: `42`, `-1`, `1.50`, `1e2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number<'a>(pub(super) Cow<'a, str>);

impl Number<'_> {
    /// The number as it was written, without a leading plus.
    pub fn as_str(&self) -> &str {
        self.0.strip_prefix('+').unwrap_or(&self.0)
    }

    /// The whole part, exact; `None` beyond 64 bits. A fraction is cut off, as Java does it (1.5 is 1).
    pub fn to_i64(&self) -> Option<i64> {
        whole_part(&self.0)
    }

    /// The same number, borrowing nothing.
    pub fn into_owned(self) -> Number<'static> {
        Number(Cow::Owned(self.0.into_owned()))
    }

    /// Whether a double keeps every digit of it. What is written with a fraction or an exponent was a double before.
    pub fn is_safe(&self) -> bool {
        const LARGEST: u64 = (1 << 53) - 1;
        let is_whole = !self.0.contains(['.', 'e', 'E']);
        !is_whole || self.to_i64().is_some_and(|number| number.unsigned_abs() <= LARGEST)
    }

    /// The nearest double.
    pub fn to_f64(&self) -> Option<f64> {
        self.0.parse().ok()
    }
}

impl From<i64> for Number<'_> {
    fn from(number: i64) -> Self {
        Self(Cow::Owned(number.to_string()))
    }
}

/// The whole part of a decimal number with optional sign, fraction and exponent, without going through a double.
fn whole_part(text: &str) -> Option<i64> {
    let (negative, text) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits = whole.bytes().chain(fraction.bytes());
    let kept = i64::try_from(whole.len()).ok()? + i64::from(exponent);
    let mut sum = 0_i64;
    let mut taken = 0_i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        if taken < kept {
            sum = push_digit(sum, digit - b'0', negative)?;
            taken += 1;
        }
    }
    // An exponent beyond the digits appends zeros; zero stays zero however many there are.
    while taken < kept && sum != 0 {
        sum = push_digit(sum, 0, negative)?;
        taken += 1;
    }
    Some(sum)
}

fn push_digit(sum: i64, digit: u8, negative: bool) -> Option<i64> {
    let digit = i64::from(digit);
    let tens = sum.checked_mul(10)?;
    if negative { tens.checked_sub(digit) } else { tens.checked_add(digit) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_keep_what_is_safe() {
        for (text, safe) in [
            ("9007199254740991", true),
            ("-9007199254740991", true),
            ("9007199254740992", false),
            ("-9007199254740992", false),
            ("99999999999999999999", false),
            ("1.5", true),
            ("1e300", true),
            ("0", true),
        ] {
            assert_eq!(Number(Cow::Borrowed(text)).is_safe(), safe, "{text}");
        }
    }

    #[test]
    fn whole_parts_are_exact() {
        for (text, expected) in [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("011", Some(11)),
            ("+1", Some(1)),
            ("11.7", Some(11)),
            ("-1.9", Some(-1)),
            ("1e2", Some(100)),
            ("1.25e1", Some(12)),
            ("125e-2", Some(1)),
            ("5e-99", Some(0)),
            ("0e2000000000", Some(0)),
            ("9007199254740993", Some(9_007_199_254_740_993)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("1e19", None),
            ("", None),
            ("-", None),
            ("1x", None),
        ] {
            assert_eq!(Number(Cow::Borrowed(text)).to_i64(), expected, "{text}");
        }
    }
}
