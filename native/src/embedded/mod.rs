//! A name server and brokers in memory, for first steps, demos and tests: the real protocol, so that other clients can
//! join, and no disk.
//!
//! [`EmbeddedBroker`] listens on ports. [`State`] is the machine behind it, without sockets and clocks; simulations hold
//! it directly. Its tables are bounded by [`Limits`]: old messages are dropped, not stored elsewhere. [`faults`] make
//! either misbehave on purpose.
//!
#![doc = include_str!("MISSING.md")]

mod access;
mod admin;
mod assignment;
mod broker;
mod config;
mod conn;
mod context;
mod delay;
mod driver;
pub mod faults;
mod groups;
mod locks;
mod log;
mod names;
mod offsets;
mod output;
mod pop;
mod popped;
mod publish;
mod pull;
mod relay;
mod request;
mod send;
mod send_back;
mod serve;
mod settings;
mod snapshot;
mod state;
mod topics;

pub use config::{
    BrokerSpec, Config, Generation, Limits, MOST_BROKERS, MOST_QUEUES, TopicSpec, TopicSpecError, YoungGroup,
    default_delay_levels, is_legal_name,
};
pub use output::{ConnId, Endpoint, Output};
pub use publish::{Draft, PublishError, Published};
pub use serve::{EmbeddedBroker, EmbeddedBuilder, Stopped};
pub use snapshot::{BrokerSnapshot, QueueSnapshot, Snapshot};
pub use state::State;
