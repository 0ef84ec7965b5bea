//! Waiting for what takes its time.

use std::time::Duration;
use tokio::time::Instant;

/// Generous: a JVM starts, on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    let mut pause = tokio::time::interval(Duration::from_millis(50));
    while !holds() {
        assert!(start.elapsed() < LIMIT, "stuck: {what}");
        pause.tick().await;
    }
}
