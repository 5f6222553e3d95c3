//! Numbers of messages: JSON numbers, or decimal texts where a reader would lose digits.

use alloc::format;

use serde::de::{Unexpected, Visitor};
use serde::{Deserializer, de};

/// Reads a number, a text that is one, or nothing.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    deserializer.deserialize_any(Lag)
}

struct Lag;

impl<'de> Visitor<'de> for Lag {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a whole number of 64 bits, as a number or a text")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        i64::try_from(number).map(Some).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_i128<E: de::Error>(self, number: i128) -> Result<Self::Value, E> {
        i64::try_from(number).map(Some).map_err(|_| E::custom(format!("{number} is beyond 64 bits")))
    }

    fn visit_u128<E: de::Error>(self, number: u128) -> Result<Self::Value, E> {
        i64::try_from(number).map(Some).map_err(|_| E::custom(format!("{number} is beyond 64 bits")))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        // Up to here each whole number has a double of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let whole = number as i64;
        if number.abs() <= EXACT && whole as f64 == number {
            Ok(Some(whole))
        } else {
            Err(E::invalid_value(Unexpected::Float(number), &self))
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        text.parse().map(Some).map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}
