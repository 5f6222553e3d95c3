//! Builds producers.

use super::Producer;
use crate::addresses;
use crate::client::{Client, NameServers};
use crate::embedded::EmbeddedBroker;
use crate::error::{Error, Result};
use crate::identity::{MessageIds, local_ip};
use crate::security::Security;
#[cfg(feature = "tls")]
use crate::tls::Tls;
use evenkeel_core::model::Group;
use evenkeel_core::wire::acl::Credentials;
use evenkeel_core::wire::names::{validate_group, wrap_namespace};
use std::time::Duration;

/// Collects the settings of a [`Producer`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before it is started"]
pub struct ProducerBuilder {
    group: Group,
    namespace: String,
    namespace_v2: Option<String>,
    servers: Option<(String, String)>,
    timeout: Duration,
    security: Security,
}

impl ProducerBuilder {
    pub(super) fn new(group: Group) -> Self {
        Self {
            group,
            namespace: String::new(),
            namespace_v2: None,
            servers: None,
            timeout: Duration::from_secs(3),
            security: Security::default(),
        }
    }

    /// A namespace: the group and the topics of messages carry it as a prefix on the way to the servers (`ns%orders`), and
    /// messages name it in their property `INSTANCE_ID`. None unless set. Java: `setNamespace`.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// A namespace of the second kind (5.x): every request names it in fields of its own, and group and topics stay as they
    /// are. Can be used together with [`namespace`](Self::namespace), which changes names. None unless set. Java:
    /// `setNamespaceV2`.
    pub fn namespace_v2(mut self, namespace: impl Into<String>) -> Self {
        self.namespace_v2 = Some(namespace.into());
        self
    }

    /// Name servers as `host:port`, several with `;` or `,` between.
    pub fn name_servers(self, list: &str) -> Self {
        self.name_servers_of(list, "builder")
    }

    /// The name server of an embedded broker.
    pub fn embedded(self, broker: &EmbeddedBroker) -> Self {
        self.name_servers_of(&broker.name_server().to_string(), "embedded")
    }

    /// As [`ProducerBuilder::name_servers`]; `origin` says in errors where the list was written.
    pub fn name_servers_of(mut self, list: &str, origin: &str) -> Self {
        self.servers = Some((list.to_owned(), origin.to_owned()));
        self
    }

    /// Name servers from `NAMESRV_ADDR`, or else `ROCKETMQ_NAMESRV_ADDR`.
    pub fn name_servers_from_env(mut self) -> Self {
        let set = |name: &&str| std::env::var(name).is_ok_and(|text| !text.trim().is_empty());
        self.servers = addresses::VARIABLES
            .iter()
            .find(|name| set(name))
            .and_then(|name| Some((std::env::var(name).ok()?, format!("environment {name}"))));
        self
    }

    /// How long one broker may take to store a message; 3 s unless set.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Signs every request with this key, for servers with access control.
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.security = self.security.credentials(credentials);
        self
    }

    /// Encrypts every connection like this; plain unless set.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.security = self.security.tls(tls);
        self
    }

    /// How connections are secured, all of it at once.
    pub fn security(mut self, security: Security) -> Self {
        self.security = security;
        self
    }

    /// Starts the producer. It connects when it sends. Needs a tokio runtime.
    ///
    /// # Errors
    /// The group's name is not allowed, or no name server is set.
    pub fn start(self) -> Result<Producer> {
        let group = Group::from(wrap_namespace(&self.namespace, self.group.as_str()));
        validate_group(group.as_str())
            .map_err(|error| Error::config(format!("group {group}: {error}")).with_source(error))?;
        let (list, origin) = self.servers.ok_or_else(|| {
            Error::config("no name server is set")
                .with_hint("set NAMESRV_ADDR, or give name_servers(\"host:9876\")")
        })?;
        let security = match &self.namespace_v2 {
            Some(namespace) => self.security.namespace_v2(namespace),
            None => self.security,
        };
        let client = Client::secured(security);
        let servers = NameServers::parse(client.clone(), &list, &origin)?;
        let ids = MessageIds::new(local_ip(servers.addresses()));
        Ok(Producer::new(group, self.namespace, self.timeout, servers, client, ids))
    }
}
