//! Time that a call takes.

use std::time::Duration;

/// Lets the time pass.
pub(super) async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}
