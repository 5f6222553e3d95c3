//! Signals: the first asks to finish, the second leaves at once.

use super::exit::Code;
use tokio::sync::mpsc;

/// Interrupt and termination signals from the moment this is made.
pub(crate) struct Signals(mpsc::UnboundedReceiver<(&'static str, u8)>);

impl Signals {
    /// Begins to listen. Needs a tokio runtime.
    pub(crate) fn listen() -> Self {
        let (tell, told) = mpsc::unbounded_channel();
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            for (kind, name) in [(SignalKind::interrupt(), "SIGINT"), (SignalKind::terminate(), "SIGTERM")] {
                // Made here and not in the task: from now on the signal does not end the process by itself.
                let Ok(mut signals) = signal(kind) else { continue };
                let tell = tell.clone();
                let number = u8::try_from(kind.as_raw_value()).unwrap_or(2);
                tokio::spawn(async move {
                    while signals.recv().await.is_some() && tell.send((name, number)).is_ok() {}
                });
            }
        }
        #[cfg(not(unix))]
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() && tell.send(("SIGINT", 2)).is_ok() {}
        });
        Self(told)
    }

    /// The next signal: its name, and the code of leaving because of it.
    pub(crate) async fn next(&mut self) -> (&'static str, Code) {
        match self.0.recv().await {
            Some((name, number)) => (name, Code::Signal(number)),
            None => std::future::pending().await,
        }
    }
}
