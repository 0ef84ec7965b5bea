//! The pauses of these tests: between two looks at a condition that has a time limit, or in a clock that is paused.

use std::time::Duration;

/// Lets others run for this long.
pub(crate) async fn pause(duration: Duration) {
    tokio::time::sleep(duration).await;
}
