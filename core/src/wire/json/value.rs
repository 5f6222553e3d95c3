//! A JSON value in memory, and the lenient ways to look at it.

use super::number::Number;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// A JSON value. Texts and numbers borrow from the input where they can.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value<'a> {
    /// `null`, and what Java takes for it (`NaN`, `undefined`).
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was written.
    Number(Number<'a>),
    /// A text.
    Text(Cow<'a, str>),
    /// `[…]`
    List(Vec<Value<'a>>),
    /// `{…}`: keys and values in the order they first came, each key once, with the value that came last.
    Map(Vec<(Value<'a>, Value<'a>)>),
}

/// An object with these fields, in this order. Fields that are null are left out, as Java leaves them out.
pub fn object<'a, const N: usize>(fields: [(&'static str, Value<'a>); N]) -> Value<'a> {
    let kept = fields.into_iter().filter(|(_, value)| *value != Value::Null);
    Value::Map(kept.map(|(name, value)| (Value::Text(Cow::Borrowed(name)), value)).collect())
}

impl<'a> Value<'a> {
    /// A text.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// A text that borrows, or null.
    pub fn text_or_null(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::text)
    }

    /// A list of these.
    pub fn list<T: Into<Self>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }

    /// The field `name` of an object; [`Value::Null`] if it is absent, or if this is no object.
    pub fn field(&self, name: &str) -> &Self {
        let found = self.entries().iter().find(|(key, _)| matches!(key, Self::Text(key) if key == name));
        found.map_or(&Self::Null, |(_, value)| value)
    }

    /// Keys and values of an object; none if this is no object.
    pub fn entries(&self) -> &[(Self, Self)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Members of a list; none if this is no list.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// The text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The same value, borrowing nothing.
    pub fn to_owned_value(&self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(*truth),
            Self::Number(number) => Value::Number(number.clone().into_owned()),
            Self::Text(text) => Value::Text(Cow::Owned(text.clone().into_owned())),
            Self::List(items) => Value::List(items.iter().map(Value::to_owned_value).collect()),
            Self::Map(entries) => Value::Map(
                entries.iter().map(|(key, entry)| (key.to_owned_value(), entry.to_owned_value())).collect(),
            ),
        }
    }

    /// The same value for readers whose numbers are doubles: whole numbers beyond 2^53 become texts of their digits.
    pub fn with_safe_numbers(self) -> Self {
        match self {
            Self::Number(number) if !number.is_safe() => Self::Text(Cow::Owned(number.as_str().into())),
            Self::List(items) => Self::List(items.into_iter().map(Self::with_safe_numbers).collect()),
            Self::Map(entries) => {
                Self::Map(entries.into_iter().map(|(key, value)| (key, value.with_safe_numbers())).collect())
            }
            other => other,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// A scalar as text, as Java converts it when it wants a text: numbers as they were written, booleans by name,
    /// objects and lists as JSON. `None` for null.
    pub fn to_java_text(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Text(text) => Some(text.clone().into_owned()),
            Self::Number(number) => Some(String::from(number.as_str())),
            Self::Bool(_) | Self::List(_) | Self::Map(_) => Some(self.to_text()),
        }
    }

    /// A whole number, from a number or a text that is one; booleans count 1 and 0 as Java has it. `None` for all
    /// else and beyond 64 bits.
    pub fn to_i64(&self) -> Option<i64> {
        match self {
            Self::Number(number) => number.to_i64(),
            Self::Text(text) => Number(Cow::Borrowed(text.trim())).to_i64(),
            Self::Bool(truth) => Some(i64::from(*truth)),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// The same within 32 bits.
    pub fn to_i32(&self) -> Option<i32> {
        self.to_i64().and_then(|number| i32::try_from(number).ok())
    }

    /// A double, from a number or a text that is one.
    pub fn to_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.to_f64(),
            Self::Text(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// A truth value, from `true`, `"true"` in any case, or a number other than 0.
    pub fn to_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            Self::Text(text) => Some(text.eq_ignore_ascii_case("true") || text == "1"),
            Self::Number(number) => number.to_i64().map(|number| number != 0),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }
}

impl From<bool> for Value<'_> {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}
impl From<i32> for Value<'_> {
    fn from(number: i32) -> Self {
        Self::Number(i64::from(number).into())
    }
}
impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}
/// What is not a number is null, as the Java side writes it.
impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        if number.is_finite() {
            Self::Number(Number(Cow::Owned(alloc::format!("{number:?}"))))
        } else {
            Self::Null
        }
    }
}
impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}
impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}
