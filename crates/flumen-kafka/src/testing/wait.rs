//! Waits for a condition, with a time limit.

use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The longest that a test waits for something, on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Waits until `is_so`.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < end, "no {what} within {} s", LIMIT.as_secs());
        sleep(Duration::from_millis(5)).await;
    }
}
