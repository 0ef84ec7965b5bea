//! Waiting for what a thread of the channel does, with a limit. The one place of these tests that sleeps.

use std::{thread, time::Duration};

/// Waits until a condition holds, at most 20 seconds. Says whether it does.
pub(super) fn until(mut holds: impl FnMut() -> bool) -> bool {
    for n in 0..20_000 {
        if holds() {
            return true;
        }
        pause(if n < 100 { 0 } else { 1 });
    }
    holds()
}

#[expect(clippy::disallowed_methods, reason = "looks at a condition again and again")]
fn pause(ms: u64) {
    thread::sleep(Duration::from_millis(ms));
}
