//! Who was asked and did not answer.

use evenkeel_core::model::{Address, BrokerName, ClientId, Topic};
use evenkeel_core::wire::reply::CallError;
use std::fmt;

/// Somebody who was asked and did not answer, or refused to.
#[derive(Clone, Debug, PartialEq)]
pub struct Silent {
    /// Who.
    pub whom: Whom,
    /// Why there is no answer.
    pub reason: CallError,
}

/// Who was asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Whom {
    /// A name server, for the route of a topic.
    Route {
        /// The topic.
        topic: Topic,
    },
    /// A broker.
    Broker {
        /// Its name.
        broker: BrokerName,
        /// Where it was asked.
        address: Address,
    },
    /// A member, through the broker that it is connected to.
    Member {
        /// Its id.
        client: ClientId,
        /// The broker.
        broker: BrokerName,
    },
}

impl fmt::Display for Whom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Route { topic } => write!(f, "the route of {topic}"),
            Self::Broker { broker, address } => write!(f, "broker {broker} ({address})"),
            Self::Member { client, broker } => write!(f, "member {client}, asked through {broker}"),
        }
    }
}

/// `broker broker-b (10.0.0.2:10911): no answer within 3000 ms`
impl fmt::Display for Silent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = self.reason.to_string();
        let told = match &self.whom {
            Whom::Broker { address, .. } => told
                .strip_prefix(address.as_str())
                .map_or(told.as_str(), |rest| rest.trim_start_matches(": ")),
            _ => told.as_str(),
        };
        write!(f, "{}: {told}", self.whom)
    }
}

/// Those who were silent, each once with the first reason.
#[derive(Debug, Default)]
pub(super) struct SilentOnes(Vec<Silent>);

impl SilentOnes {
    pub(super) fn add(&mut self, whom: Whom, reason: CallError) {
        if !self.has(&whom) {
            self.0.push(Silent { whom, reason });
        }
    }

    pub(super) fn has(&self, whom: &Whom) -> bool {
        self.0.iter().any(|known| known.whom == *whom)
    }

    pub(super) fn first(&self) -> Option<&Silent> {
        self.0.first()
    }

    /// Servers before members, each kind by name.
    pub(super) fn into_sorted(mut self) -> Vec<Silent> {
        self.0.sort_by(|a, b| a.whom.cmp(&b.whom));
        self.0
    }
}
