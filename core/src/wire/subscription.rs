//! Subscription expressions. (Stub: replaced by the codec's own.)

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};

/// A parsed subscription expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The expression's text; `*` for everything.
    pub expression: String,
    /// Whether the expression is SQL92 (else tags).
    pub sql: bool,
    /// Tags and their Java hashes; empty for `*` and SQL.
    pub tags: BTreeMap<String, i32>,
}
impl Subscription {
    /// Everything.
    pub fn all() -> Self {
        Self { expression: "*".to_string(), sql: false, tags: BTreeMap::new() }
    }
    /// Whether a message with this tag passes.
    pub fn matches_tag(&self, tag: Option<&str>) -> bool {
        self.tags.is_empty() || tag.is_some_and(|tag| self.tags.contains_key(tag))
    }
}
