//! From what users write to what they are subscribed to.

use crate::error::{Error, Result};
use evenkeel_core::model::Topic;
use evenkeel_core::wire::subscription::{Filter, Subscription};

/// A tag expression, `*` or empty for everything.
pub(crate) fn tags(topic: &Topic, expression: &str) -> Result<Subscription> {
    parse(topic, &Filter::Tags(expression.to_owned()))
}

/// An SQL-92 condition, which the broker evaluates.
pub(crate) fn sql(topic: &Topic, condition: &str) -> Result<Subscription> {
    parse(topic, &Filter::Sql92(condition.to_owned()))
}

fn parse(topic: &Topic, filter: &Filter) -> Result<Subscription> {
    filter
        .subscribe(topic.clone())
        .map_err(|error| Error::config(format!("subscription to {topic}: {error}")).with_source(error))
}
