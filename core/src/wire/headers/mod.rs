//! The typed headers, by who sends them.

pub mod admin;
pub mod consume;
pub mod peer;
pub mod produce;

use super::command::Fields;
use super::error::WireError;

/// Reads fields as the header of this Java class and writes them again: for tools and tests that know a header by its
/// Java name. `None` for a class that this library does not have.
pub fn reread(class: &str, fields: &Fields) -> Option<Result<Fields, WireError>> {
    consume::reread(class, fields)
        .or_else(|| produce::reread(class, fields))
        .or_else(|| peer::reread(class, fields))
        .or_else(|| admin::reread(class, fields))
}

/// Names of the fields of this Java class that this library knows; empty for a class that it does not have.
pub fn field_names(class: &str) -> &'static [&'static str] {
    [
        consume::field_names(class),
        produce::field_names(class),
        peer::field_names(class),
        admin::field_names(class),
    ]
    .into_iter()
    .find(|names| !names.is_empty())
    .unwrap_or_default()
}
