//! Signals to end by.

/// Ready at the first interrupt or termination signal (SIGINT, SIGTERM; Ctrl-C elsewhere). If no signal can be listened
/// to, it is never ready.
pub async fn terminate() {
    let _name = next().await;
}

/// The next interrupt or termination signal, by name.
pub async fn next() -> &'static str {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
        if let (Ok(mut interrupt), Ok(mut terminate)) = (interrupt, terminate) {
            return tokio::select! {
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
            };
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_ok() {
        return "SIGINT";
    }
    std::future::pending().await
}
