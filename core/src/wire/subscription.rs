//! What a consumer wants of a topic.
//!
//! Equal to `FilterAPI.buildSubscriptionData` and `FilterAPI.build` of the Java library. A tag expression is split at
//! `||`, the pieces are trimmed, empty ones dropped. An SQL expression is left as it is: the broker evaluates it, and
//! the client must not look for tags in it.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::string::String;

use crate::error::Blame;
use crate::model::{Topic, java_hash};

/// The expression for everything.
pub const ALL: &str = "*";

/// The language of an expression. Brokers compare the name letter by letter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExpressionType {
    /// Tags joined by `||`.
    Tag,
    /// A condition on properties, which a broker must have switched on.
    Sql92,
    /// What only the broker knows.
    Other(String),
}

impl ExpressionType {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Tag => "TAG",
            Self::Sql92 => "SQL92",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for ExpressionType {
    fn from(name: &str) -> Self {
        match name {
            "TAG" => Self::Tag,
            "SQL92" => Self::Sql92,
            _ => Self::Other(name.to_owned()),
        }
    }
}

/// What a user asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// Every message.
    #[default]
    All,
    /// Messages with one of the tags, as in `TagA || TagB`. Empty and `*` mean all.
    Tags(String),
    /// Messages whose properties meet an SQL-92 condition.
    Sql92(String),
}

impl Filter {
    /// The subscription of `topic` under this filter.
    pub fn subscribe(&self, topic: Topic) -> Result<Subscription, FilterError> {
        match self {
            Self::All => Subscription::tags(topic, None),
            Self::Tags(expression) => Subscription::tags(topic, Some(expression)),
            Self::Sql92(expression) => {
                Subscription::typed(topic, Some(expression), Some(ExpressionType::Sql92))
            }
        }
    }
}

/// A parsed subscription, as heartbeats carry it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The topic.
    pub topic: Topic,
    /// The expression as it was given; `*` for everything.
    pub sub_string: String,
    /// The wanted tags; empty for everything and for SQL.
    pub tags: BTreeSet<String>,
    /// The hash codes of the tags, which is what brokers compare.
    pub codes: BTreeSet<i32>,
    /// The language of the expression.
    pub expression_type: ExpressionType,
}

impl Subscription {
    /// A subscription by tags; no expression, an empty one and `*` mean everything.
    pub fn tags(topic: Topic, expression: Option<&str>) -> Result<Self, FilterError> {
        let expression = expression.filter(|text| !text.is_empty()).unwrap_or(ALL);
        let mut subscription = Self {
            topic,
            sub_string: expression.to_owned(),
            tags: BTreeSet::new(),
            codes: BTreeSet::new(),
            expression_type: ExpressionType::Tag,
        };
        if expression == ALL {
            return Ok(subscription);
        }
        // Java's split drops empty pieces at the end, so nothing but separators leaves nothing.
        if expression.split("||").all(str::is_empty) {
            return Err(FilterError::NoTags);
        }
        // Java's trim: everything up to the blank, but no wider spaces.
        for tag in expression.split("||").map(|piece| piece.trim_matches(|c| c <= ' ')) {
            if !tag.is_empty() {
                subscription.codes.insert(java_hash(tag));
                subscription.tags.insert(tag.to_owned());
            }
        }
        Ok(subscription)
    }

    /// A subscription in a given language; none means tags.
    pub fn typed(
        topic: Topic,
        expression: Option<&str>,
        expression_type: Option<ExpressionType>,
    ) -> Result<Self, FilterError> {
        let expression_type = match expression_type {
            None | Some(ExpressionType::Tag) => return Self::tags(topic, expression),
            Some(other) => other,
        };
        let expression = expression.filter(|text| !text.is_empty()).ok_or(FilterError::NoExpression)?;
        Ok(Self {
            topic,
            sub_string: expression.to_owned(),
            tags: BTreeSet::new(),
            codes: BTreeSet::new(),
            expression_type,
        })
    }

    /// Whether a message with this tag, sent by the broker, is really wanted. Without tags to compare it always is.
    #[must_use]
    pub fn wants(&self, tag: Option<&str>) -> bool {
        self.tags.is_empty() || tag.is_some_and(|tag| self.tags.contains(tag))
    }
}

/// An expression that means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// Only separators.
    #[error("caller: a tag expression needs a tag between its separators; use * for all messages")]
    NoTags,
    /// Nothing at all.
    #[error("caller: an expression that is not one of tags cannot be empty")]
    NoExpression,
}

impl FilterError {
    /// Who has to act: who wrote the expression.
    #[must_use]
    pub const fn blame(&self) -> Blame {
        Blame::Caller
    }
}
