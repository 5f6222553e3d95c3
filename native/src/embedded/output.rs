//! Names of doors and connections, and what comes out of the machine.

use evenkeel_core::time::Instant;
use evenkeel_core::wire::command::Command;

/// A connection, numbered by whoever accepts it. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

/// Where a connection came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// The name server; with [`Config::shared_door`](super::Config::shared_door) also the first broker.
    NameServer,
    /// The broker with this index; with a shared door the first one also answers for the name server.
    Broker(usize),
}

/// What [`State::poll`](super::State::poll) gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send this command over this connection.
    Send {
        /// The connection.
        conn: ConnId,
        /// The command.
        command: Command,
    },
    /// Close this connection. It is forgotten already: no `disconnected` is needed, and one does no harm.
    Close {
        /// The connection.
        conn: ConnId,
    },
    /// Nothing left to do before the next input or, if there is one, the wake-up time.
    Idle {
        /// When to call [`State::tick`](super::State::tick) at the latest.
        wake: Option<Instant>,
    },
}
