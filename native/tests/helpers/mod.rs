//! What several tests need.

use std::time::Duration;
use tokio::time::Instant;

/// Waits until something holds; fails after ten seconds.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(10), "still waiting for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
