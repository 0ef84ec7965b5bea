//! Waiting for a condition, with a limit. The only sleep of the tests here.

use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Nothing that must happen takes longer.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// Waits until `holds`.
///
/// # Panics
/// It takes too long.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LIMIT, "still waiting for {what}");
        sleep(Duration::from_millis(2)).await;
    }
}
