//! Namespaces: one cluster for several tenants, by names.
//!
//! Servers know nothing of it. Group and topics carry the namespace as a prefix on the way out (`ns%orders`), and
//! handlers see topics without it:
//!
//! | name | as servers see it |
//! |---|---|
//! | group | `ns%pay` |
//! | topic | `ns%orders` |
//! | retry topic | `%RETRY%ns%pay` |
//! | a system topic, or one with the prefix already | as it is |
//!
//! Queues, events and offsets have the servers' names: they are what tools show. Equal to the Java client with
//! `setNamespace`.

use super::Consumer;
use super::io::Scope;
use crate::config::ConsumerConfig;
use crate::model::{Group, Topic};
use crate::wire::message::Message;
use crate::wire::names::{unwrap_namespace, wrap_namespace};

impl ConsumerConfig {
    /// The same settings with group and topics as servers see them. Doing it twice changes nothing.
    #[must_use]
    pub fn within_namespace(mut self) -> Self {
        if self.namespace.is_empty() {
            return self;
        }
        self.group = Group::from(wrap_namespace(&self.namespace, self.group.as_str()));
        for subscription in &mut self.subscriptions {
            subscription.topic = outside(&self.namespace, subscription.topic.clone());
        }
        self
    }
}

impl Consumer {
    pub(super) fn scope_outside(&self, scope: Scope) -> Scope {
        match scope {
            Scope::Topic(topic) => Scope::Topic(outside(&self.config.namespace, topic)),
            Scope::Queues(_) => scope,
        }
    }
}

/// The topic as servers see it.
pub(super) fn outside(namespace: &str, topic: Topic) -> Topic {
    match namespace {
        "" => topic,
        namespace => Topic::from(wrap_namespace(namespace, topic.as_str())),
    }
}

/// The message as handlers see it.
pub(super) fn inside(namespace: &str, message: &mut Message) {
    if !namespace.is_empty() {
        message.topic = Topic::from(unwrap_namespace(message.topic.as_str(), namespace));
    }
}
