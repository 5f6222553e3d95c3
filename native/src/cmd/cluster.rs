//! Which servers a command talks to: those that were named, or the embedded ones.

use super::exit::{Code, Failure};
use super::global::Global;
use evenkeel::Security;
use evenkeel::client::{Client, NameServers};
use evenkeel::embedded::EmbeddedBroker;
use evenkeel::settings::Settings;

/// Queues of topics that the embedded broker is given.
const EMBEDDED_QUEUES: i32 = 4;

/// The servers.
pub(crate) enum Cluster {
    /// Somebody named them.
    Named { servers: String, origin: String, security: Security },
    /// Nobody did.
    Embedded(EmbeddedBroker),
}

impl Cluster {
    /// Takes what the settings name, or starts the embedded broker with these topics, says so, and refuses to where it
    /// could hide a lost setting.
    pub(crate) async fn choose(
        global: &Global,
        settings: &Settings,
        topics: &[String],
    ) -> Result<Self, Failure> {
        if !Self::would_be_embedded(global, settings)? {
            let (servers, origin) = Self::named(global, settings)?;
            return Ok(Self::Named { servers, origin, security: settings.security()? });
        }
        global.say(if global.embedded {
            "evenkeel: using the embedded in-memory broker (--embedded)."
        } else {
            "evenkeel: no name server given (NAMESRV_ADDR is unset): using the embedded in-memory broker."
        });
        global.say("       Messages vanish when this process ends.");
        let builder = topics.iter().fold(EmbeddedBroker::builder(), |builder, topic| {
            builder.topic(topic.as_str(), 1, EMBEDDED_QUEUES)
        });
        let started = builder.start().await;
        started
            .map(Self::Embedded)
            .map_err(|error| Failure::new(Code::Other, format!("cannot start the embedded broker: {error}")))
    }

    /// Whether nobody named servers. Refuses where that could hide a lost setting.
    pub(crate) fn would_be_embedded(global: &Global, settings: &Settings) -> Result<bool, Failure> {
        if global.embedded {
            return Ok(true);
        }
        if settings.value("cluster.name_servers").is_some() {
            return Ok(false);
        }
        if global.no_embedded {
            return Err(Failure::usage("no name server given (NAMESRV_ADDR is unset), and --no-embedded")
                .with_hint("set NAMESRV_ADDR=host:9876, or say -n host:9876"));
        }
        if let Some(variable) = managed() {
            return Err(Failure::usage(format!(
                "no name server given (NAMESRV_ADDR is unset), and this process runs as a service ({variable} is set)"
            ))
            .with_hint(
                "set NAMESRV_ADDR=host:9876; or say --embedded if an empty in-memory broker is meant",
            ));
        }
        Ok(true)
    }

    /// As [`Cluster::choose`] for commands that make no sense without real servers.
    pub(crate) fn named(global: &Global, settings: &Settings) -> Result<(String, String), Failure> {
        if global.embedded {
            return Err(Failure::usage("an embedded broker of this process would be empty")
                .with_hint("start one with `evenkeel broker` and give its address with -n"));
        }
        let value = settings.value("cluster.name_servers").ok_or_else(|| {
            Failure::usage("no name server given (NAMESRV_ADDR is unset)")
                .with_hint("set NAMESRV_ADDR=host:9876, or say -n host:9876")
        })?;
        Ok((value.text.clone(), value.origin.to_string()))
    }

    /// Name servers and where they were named.
    pub(crate) fn servers(&self) -> (String, String) {
        match self {
            Self::Named { servers, origin, .. } => (servers.clone(), origin.clone()),
            Self::Embedded(broker) => (broker.name_server().to_string(), "embedded".to_owned()),
        }
    }

    /// How connections prove who they belong to. The embedded broker asks nobody.
    pub(crate) fn security(&self) -> Security {
        match self {
            Self::Named { security, .. } => security.clone(),
            Self::Embedded(_) => Security::default(),
        }
    }

    /// Name servers to call, of those that the settings name.
    pub(crate) fn servers_named(global: &Global, settings: &Settings) -> Result<NameServers, Failure> {
        let (servers, origin) = Self::named(global, settings)?;
        Ok(NameServers::parse(Client::secured(settings.security()?), &servers, &origin)?)
    }

    /// Name servers to call.
    pub(crate) fn connect(&self) -> Result<(Client, NameServers), Failure> {
        let (servers, origin) = self.servers();
        let client = Client::secured(self.security());
        let servers = NameServers::parse(client.clone(), &servers, &origin)?;
        Ok((client, servers))
    }

    pub(crate) fn embedded(&self) -> Option<&EmbeddedBroker> {
        match self {
            Self::Embedded(broker) => Some(broker),
            Self::Named { .. } => None,
        }
    }

    /// As JSON output names it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Named { servers, .. } => servers.clone(),
            Self::Embedded(_) => "embedded".to_owned(),
        }
    }

    pub(crate) async fn close(self) {
        if let Self::Embedded(broker) = self {
            broker.shutdown().await;
        }
    }
}

/// The variable that tells that something manages this process: there a lost address must not become a consumer that
/// quietly reads an empty world.
fn managed() -> Option<&'static str> {
    let set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    ["KUBERNETES_SERVICE_HOST", "INVOCATION_ID"].into_iter().find(|name| set(name))
}
