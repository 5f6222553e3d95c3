//! The one task that owns the machine. Connections and handles only send it events, so nothing is locked.

use super::conn::Outlet;
use super::output::{ConnId, Endpoint, Output};
use super::state::State;
use evenkeel_core::time::{Instant, WallClock};
use evenkeel_core::wire::command::Command;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use tokio::sync::mpsc;
use tokio::time::{Instant as TokioInstant, sleep_until};

/// What happened outside.
pub(crate) enum Event {
    Connected {
        conn: ConnId,
        to: Endpoint,
        remote: SocketAddr,
        outlet: Outlet,
    },
    Command {
        conn: ConnId,
        command: Command,
    },
    Disconnected {
        conn: ConnId,
    },
    /// Somebody wants to look at the machine or change it.
    Visit(Visit),
    /// Close everything and end.
    Stop,
}

/// What a visitor does.
pub(crate) type Visit = Box<dyn FnOnce(&mut State, Instant, WallClock) + Send>;

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connected { .. } => "Connected",
            Self::Command { .. } => "Command",
            Self::Disconnected { .. } => "Disconnected",
            Self::Visit(_) => "Visit",
            Self::Stop => "Stop",
        })
    }
}

/// The machine's time: tokio's clock, which tests may pause, and the wall time at its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: TokioInstant,
    wall: WallClock,
}

impl Clock {
    /// A clock that starts now, at this wall time.
    pub(crate) fn starting(wall: WallClock) -> Self {
        Self { start: TokioInstant::now(), wall }
    }

    fn now(self) -> Instant {
        Instant::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn wall(self) -> WallClock {
        self.wall + self.start.elapsed()
    }

    fn tokio(self, at: Instant) -> TokioInstant {
        self.start + std::time::Duration::from_nanos(at.as_nanos())
    }
}

/// Runs the machine until it is told to stop or nobody is left who could tell it anything.
pub(crate) async fn drive(mut state: State, clock: Clock, mut events: mpsc::Receiver<Event>) {
    let mut outlets = BTreeMap::new();
    loop {
        let wake = drain(&mut state, clock, &mut outlets);
        let event = match wake {
            // A due wake-up is not left to the timer: under load it may stay pending.
            Some(at) if at <= clock.now() => events.try_recv().ok(),
            Some(at) => tokio::select! {
                event = events.recv() => Some(event.unwrap_or(Event::Stop)),
                () = sleep_until(clock.tokio(at)) => None,
            },
            None => Some(events.recv().await.unwrap_or(Event::Stop)),
        };
        let (now, wall) = (clock.now(), clock.wall());
        if wake.is_some_and(|at| at <= now) {
            state.tick(now, wall);
        }
        match event {
            None => {}
            Some(Event::Connected { conn, to, remote, outlet }) => {
                outlets.insert(conn, outlet);
                state.connected(conn, to, remote);
            }
            Some(Event::Command { conn, command }) => state.handle(now, wall, conn, command),
            Some(Event::Disconnected { conn }) => {
                outlets.remove(&conn);
                state.disconnected(now, wall, conn);
            }
            Some(Event::Visit(visit)) => visit(&mut state, now, wall),
            Some(Event::Stop) => return,
        }
    }
}

/// Does what the machine wants done. Gives when it wants to be woken.
fn drain(state: &mut State, clock: Clock, outlets: &mut BTreeMap<ConnId, Outlet>) -> Option<Instant> {
    loop {
        match state.poll() {
            Output::Send { conn, command } => {
                let sent = outlets.get(&conn).is_some_and(|outlet| outlet.send(command));
                if !sent {
                    outlets.remove(&conn);
                    state.disconnected(clock.now(), clock.wall(), conn);
                }
            }
            Output::Close { conn } => {
                outlets.remove(&conn);
            }
            Output::Idle { wake } => return wake,
        }
    }
}
