//! Typed headers: what a [`Command`](super::command::Command)'s extension fields mean, by request.
//!
//! Each header is a plain struct with two directions, [`Header::from_fields`] and [`Header::write`]. A required field
//! that is absent and a number that is none are errors here; Java's decoder logs them and goes on with null, which
//! mostly ends as a null dereference in whatever comes next. Booleans are true for `true` in any case, else false, as
//! Java has it. Fields that are not listed are ignored (the 5.x brokers' `ns`, `nsd`, `oway`, `lo` among them).

use super::command::Fields;
use super::error::{WireError, WireErrorKind};
use crate::model::{BrokerName, ClientId, Group, Topic};
use alloc::string::{String, ToString};

/// A typed header.
pub trait Header: Sized {
    /// Reads it.
    ///
    /// Errors: [`WireErrorKind::MissingField`] and [`WireErrorKind::BadNumber`], with the field's name as what was
    /// expected; the position is always 0.
    fn from_fields(fields: &Fields) -> Result<Self, WireError>;

    /// Reads it as servers do, who make the best of what any client sends: an empty name counts as absent, and so does
    /// an optional field that is no number. `spare` has texts that stand in for fields without a usable value.
    ///
    /// Errors: as [`Header::from_fields`], for required fields that nothing stands in for.
    fn from_fields_or(fields: &Fields, spare: &[(&str, &str)]) -> Result<Self, WireError>;

    /// Adds its fields; those that are absent are not written.
    fn write(&self, fields: &mut Fields);

    /// Its fields alone.
    fn to_fields(&self) -> Fields {
        let mut fields = Fields::default();
        self.write(&mut fields);
        fields
    }
}

/// A type that a field can have.
pub trait FieldValue: Sized {
    /// Reads the text; `None` if it cannot be one.
    fn from_text(text: &str) -> Option<Self>;
    /// The text.
    fn to_text(&self) -> String;
}

macro_rules! number_fields {
    ($($type:ty),*) => {$(
        impl FieldValue for $type {
            fn from_text(text: &str) -> Option<Self> {
                text.parse().ok()
            }
            fn to_text(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
number_fields!(i32, i64);

impl FieldValue for bool {
    fn from_text(text: &str) -> Option<Self> {
        Some(text.eq_ignore_ascii_case("true"))
    }
    fn to_text(&self) -> String {
        self.to_string()
    }
}

macro_rules! text_fields {
    ($($type:ty),*) => {$(
        impl FieldValue for $type {
            fn from_text(text: &str) -> Option<Self> {
                Some(Self::from(text))
            }
            fn to_text(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
text_fields!(String, Group, Topic, BrokerName, ClientId);

/// How a field is looked up: a plain type is required, an `Option` is not.
pub(super) trait Slot: Sized {
    fn read(fields: &Fields, name: &'static str) -> Result<Self, WireError>;
    fn read_or(fields: &Fields, name: &'static str, spare: &[(&str, &str)]) -> Result<Self, WireError>;
    fn write(&self, fields: &mut Fields, name: &'static str);
}

impl<T: FieldValue> Slot for T {
    fn read(fields: &Fields, name: &'static str) -> Result<Self, WireError> {
        Option::<T>::read(fields, name)?.ok_or(WireError::new(WireErrorKind::MissingField, 0, name))
    }
    fn read_or(fields: &Fields, name: &'static str, spare: &[(&str, &str)]) -> Result<Self, WireError> {
        usable(fields, name, spare).ok_or_else(|| {
            let is_there = fields.get(name).is_some_and(|text| !text.is_empty());
            let kind = if is_there { WireErrorKind::BadNumber } else { WireErrorKind::MissingField };
            WireError::new(kind, 0, name)
        })
    }
    fn write(&self, fields: &mut Fields, name: &'static str) {
        fields.set(name, self.to_text());
    }
}

impl<T: FieldValue> Slot for Option<T> {
    fn read(fields: &Fields, name: &'static str) -> Result<Self, WireError> {
        match fields.get(name) {
            None => Ok(None),
            Some(text) => match T::from_text(text) {
                Some(value) => Ok(Some(value)),
                None => Err(WireError::new(WireErrorKind::BadNumber, 0, name)),
            },
        }
    }
    fn read_or(fields: &Fields, name: &'static str, spare: &[(&str, &str)]) -> Result<Self, WireError> {
        Ok(usable(fields, name, spare))
    }
    fn write(&self, fields: &mut Fields, name: &'static str) {
        fields.set_some(name, self.as_ref().map(FieldValue::to_text));
    }
}

/// The field's value, or else that of the text that stands in for it.
fn usable<T: FieldValue>(fields: &Fields, name: &str, spare: &[(&str, &str)]) -> Option<T> {
    let given = fields.get(name).and_then(|text| {
        let value = T::from_text(text)?;
        // An empty flag is false, an empty name is none.
        (!text.is_empty() || !value.to_text().is_empty()).then_some(value)
    });
    given.or_else(|| spare.iter().find(|(of, _)| *of == name).and_then(|(_, text)| T::from_text(text)))
}

/// Declares typed headers: `name: Type = "wireName",` is a field, required unless its type is an `Option`;
/// `= "wireName" or value` is one that Java fills with `value` if it is absent. The text before the name is the Java
/// class's name.
macro_rules! headers {
    ($(
        $(#[$doc:meta])*
        $class:literal $name:ident {
            $( $(#[$field_doc:meta])* $field:ident : $type:ty = $wire:literal $(or $default:expr)?, )*
        }
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $name {
                $( $(#[$field_doc])* pub $field: $type, )*
            }

            impl $crate::wire::fields::Header for $name {
                fn from_fields(
                    fields: &$crate::wire::command::Fields,
                ) -> Result<Self, $crate::wire::error::WireError> {
                    let _ = fields; // a header may have no fields
                    Ok(Self {
                        $( $field: headers!(@read read, (fields, $wire), $type $(, $default)?), )*
                    })
                }

                fn from_fields_or(
                    fields: &$crate::wire::command::Fields,
                    spare: &[(&str, &str)],
                ) -> Result<Self, $crate::wire::error::WireError> {
                    let _ = (fields, spare);
                    Ok(Self {
                        $( $field: headers!(@read read_or, (fields, $wire, spare), $type $(, $default)?), )*
                    })
                }

                fn write(&self, fields: &mut $crate::wire::command::Fields) {
                    let _ = &fields;
                    $( $crate::wire::fields::Slot::write(&self.$field, fields, $wire); )*
                }
            }
        )*

        /// Reads fields as the header of this Java class and writes them again, for tools and tests that know a
        /// header by its Java name; `None` for a class that is not in this module.
        pub fn reread(
            class: &str,
            fields: &$crate::wire::command::Fields,
        ) -> Option<Result<$crate::wire::command::Fields, $crate::wire::error::WireError>> {
            use $crate::wire::fields::Header as _;
            match class {
                $( $class => Some($name::from_fields(fields).map(|header| header.to_fields())), )*
                _ => None,
            }
        }

        /// Names of the fields of this Java class that this library knows; empty for a class that is not in this
        /// module.
        pub fn field_names(class: &str) -> &'static [&'static str] {
            match class {
                $( $class => &[$($wire),*], )*
                _ => &[],
            }
        }
    };
    (@read $read:ident, $from:tt, $type:ty) => {
        <$type as $crate::wire::fields::Slot>::$read $from?
    };
    (@read $read:ident, $from:tt, $type:ty, $default:expr) => {
        <Option<$type> as $crate::wire::fields::Slot>::$read $from?.unwrap_or($default)
    };
}
pub(super) use headers;
