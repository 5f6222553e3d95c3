//! Values as the Rust types that serde knows how to read.
//!
//! Each kind of type takes the kind of value that it is written as and no other: a struct is no list, a number no text.
//! That is stricter than formats without a fixed shape have to be, and it keeps the code of every type small, which
//! counts where a browser downloads it.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::slice;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Expected, IntoDeserializer, Unexpected, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

use super::{Number, Value};

/// Reads a value as a `T`.
///
/// ```
/// use evenkeel_core::wire::json::{parse, read};
///
/// let value = parse(br#"{"c1":[1,2]}"#)?;
/// let read: std::collections::BTreeMap<String, Vec<i32>> = read(&value)?;
/// assert_eq!(read["c1"], [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// What was expected, and what is there instead.
pub fn read<T: DeserializeOwned>(value: &Value<'_>) -> Result<T, ShapeError> {
    T::deserialize(Reader(value))
}

/// A value has another shape than the type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShapeError(String);

impl de::Error for ShapeError {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self(text.to_string())
    }

    // The two that serde has would bring in how doubles are printed.

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self(format!("invalid type: {}, expected {expected}", named(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self(format!("invalid value: {}, expected {expected}", named(found)))
    }
}

fn named(found: Unexpected<'_>) -> Cow<'static, str> {
    match found {
        Unexpected::Bool(truth) => format!("boolean `{truth}`").into(),
        Unexpected::Unsigned(number) => format!("integer `{number}`").into(),
        Unexpected::Signed(number) => format!("integer `{number}`").into(),
        Unexpected::Float(_) => "a number with a fraction".into(),
        Unexpected::Str(text) => format!("string {text:?}").into(),
        Unexpected::Unit | Unexpected::Option => "null".into(),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "an object".into(),
        Unexpected::Other(text) => text.to_string().into(),
        _ => "something else".into(),
    }
}

#[derive(Clone, Copy)]
struct Reader<'v>(&'v Value<'v>);

impl<'v> Reader<'v> {
    fn wrong<'de, V: Visitor<'de>>(self, visitor: &V) -> ShapeError {
        let found = match self.0 {
            Value::Null => Unexpected::Unit,
            Value::Bool(truth) => Unexpected::Bool(*truth),
            Value::Number(number) => match number.to_i64() {
                Some(whole) if is_whole(number) => Unexpected::Signed(whole),
                _ => Unexpected::Float(0.0),
            },
            Value::Text(text) => Unexpected::Str(text),
            Value::List(_) => Unexpected::Seq,
            Value::Map(_) => Unexpected::Map,
        };
        de::Error::invalid_type(found, visitor)
    }

    fn whole<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0 {
            Value::Number(number) if is_whole(number) => match number.to_i64() {
                Some(whole) => visitor.visit_i64(whole),
                None => Err(beyond(&visitor)),
            },
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn double<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0 {
            Value::Number(number) => match number.to_f64() {
                Some(double) => visitor.visit_f64(double),
                None => Err(beyond(&visitor)),
            },
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0 {
            Value::Text(text) => visitor.visit_str(text),
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn list<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0 {
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn object<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0 {
            Value::Map(entries) => visitor.visit_map(Entries { rest: entries.iter(), value: &Value::Null }),
            _ => Err(self.wrong(&visitor)),
        }
    }
}

fn is_whole(number: &Number<'_>) -> bool {
    !number.as_str().contains(['.', 'e', 'E'])
}

fn beyond(expected: &dyn Expected) -> ShapeError {
    de::Error::invalid_value(Unexpected::Other("a number beyond 64 bits"), expected)
}

/// Forwards methods that read the same kind of value.
macro_rules! as_the_same {
    ($($kind:ident: $($method:ident)*;)*) => {
        $($(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
                self.$kind(visitor)
            }
        )*)*
    };
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = ShapeError;

    as_the_same! {
        whole: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
            deserialize_u32 deserialize_u64;
        double: deserialize_f32 deserialize_f64;
        text: deserialize_char deserialize_str deserialize_string deserialize_identifier;
        list: deserialize_seq;
        object: deserialize_map;
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(truth) => visitor.visit_bool(*truth),
            Value::Number(number) if is_whole(number) => self.whole(visitor),
            Value::Number(_) => self.double(visitor),
            Value::Text(_) => self.text(visitor),
            Value::List(_) => self.list(visitor),
            Value::Map(_) => self.object(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0 {
            Value::Bool(truth) => visitor.visit_bool(*truth),
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        self.object(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ShapeError> {
        self.list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        self.list(visitor)
    }

    /// Words without content. What has content has a tag, and is read as an object.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        match self.0 {
            Value::Text(text) => {
                let word: StrDeserializer<'_, ShapeError> = (&**text).into_deserializer();
                word.deserialize_enum(name, variants, visitor)
            }
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { i128 u128 bytes byte_buf unit unit_struct }
}

impl<'de> IntoDeserializer<'de, ShapeError> for Reader<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

struct Items<'v>(slice::Iter<'v, Value<'v>>);

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = ShapeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ShapeError> {
        self.0.next().map(|item| seed.deserialize(Reader(item))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'v> {
    rest: slice::Iter<'v, (Value<'v>, Value<'v>)>,
    /// The value of the key that was read last.
    value: &'v Value<'v>,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = ShapeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ShapeError> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = value;
        // Keys are texts, whatever they were written as.
        let text = match key {
            Value::Text(text) => Cow::Borrowed(&**text),
            other => Cow::Owned(other.to_java_text().unwrap_or_else(|| String::from("null"))),
        };
        seed.deserialize(Reader(&Value::Text(text))).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, ShapeError> {
        seed.deserialize(Reader(self.value))
    }
}
