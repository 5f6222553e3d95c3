//! Who is at fault: the first thing an error of this crate says.

use core::fmt;

/// Who has to act so that the error goes away. Carried by every error that leaves a crate of this workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blame {
    /// The program that uses this library: a wrong option, an unknown topic, a missing permission.
    Caller,
    /// The server at the other end: bytes or answers that break the protocol.
    Peer,
    /// What lies between: refused, reset or silent connections.
    Network,
    /// This library.
    Ours,
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Caller => "caller",
            Self::Peer => "peer",
            Self::Network => "network",
            Self::Ours => "ours",
        })
    }
}
