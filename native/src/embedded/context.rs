//! What a handler may use besides its own state: the time, the generator, the way out.

use super::config::Config;
use super::output::{ConnId, Output};
use evenkeel_core::rng::Rng;
use evenkeel_core::time::{Instant, WallClock};
use evenkeel_core::wire::command::Command;
use std::collections::VecDeque;

/// Handed to every handler by the machine that owns it all.
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    pub(crate) wall: WallClock,
    pub(crate) config: &'a Config,
    pub(crate) rng: &'a mut Rng,
    pub(crate) outbox: &'a mut VecDeque<Output>,
}

impl Context<'_> {
    /// Sends a command: an answer that was owed, or a request of the broker's own.
    pub(crate) fn send(&mut self, conn: ConnId, command: Command) {
        self.outbox.push_back(Output::Send { conn, command });
    }

    /// Ends a connection.
    pub(crate) fn close(&mut self, conn: ConnId) {
        self.outbox.push_back(Output::Close { conn });
    }
}
