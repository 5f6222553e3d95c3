//! Lets serde read the lenient JSON values of the wire.

use alloc::borrow::Cow;
use alloc::string::String;

use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

use crate::wire::json::Value;

/// A value to deserialize from.
#[derive(Clone, Copy)]
pub(super) struct Reader<'v>(pub(super) &'v Value<'v>);

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(truth) => visitor.visit_bool(*truth),
            Value::Text(text) => visitor.visit_str(text),
            Value::Number(number) => {
                let text = number.as_str();
                match (text.contains(['.', 'e', 'E']), number.to_i64(), number.to_f64()) {
                    (false, Some(whole), _) => visitor.visit_i64(whole),
                    (_, _, Some(fraction)) => visitor.visit_f64(fraction),
                    _ => Err(Error::invalid_value(Unexpected::Str(text), &visitor)),
                }
            }
            Value::List(items) => {
                let mut list = SeqDeserializer::new(items.iter().map(Reader));
                let read = visitor.visit_seq(&mut list)?;
                list.end()?;
                Ok(read)
            }
            Value::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (Key(text_of(key)), Reader(value)));
                let mut map = MapDeserializer::new(entries);
                let read = visitor.visit_map(&mut map)?;
                map.end()?;
                Ok(read)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    /// Those that are read are words without content.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Text(text) => {
                let word: serde::de::value::StrDeserializer<'_, Error> = (&**text).into_deserializer();
                word.deserialize_enum(name, variants, visitor)
            }
            _ => Err(Error::custom("expected a word")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Error> for Reader<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// A key as text, whatever it was.
struct Key<'v>(Cow<'v, str>);

fn text_of<'v>(key: &'v Value<'v>) -> Cow<'v, str> {
    match key {
        Value::Text(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_java_text().unwrap_or_else(|| String::from("null"))),
    }
}

impl<'de> IntoDeserializer<'de, Error> for Key<'_> {
    type Deserializer = serde::de::value::CowStrDeserializer<'static, Error>;

    fn into_deserializer(self) -> Self::Deserializer {
        Cow::<'static, str>::Owned(self.0.into_owned()).into_deserializer()
    }
}
