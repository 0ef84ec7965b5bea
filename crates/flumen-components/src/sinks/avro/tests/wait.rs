//! Time that a peer takes, and time-outs that must come true.

use std::time::Duration;

/// Lets the time pass.
pub(super) async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}
