//! Waiting for a condition, with a limit. The one place of these tests that sleeps.

use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_millis(10);
const LIMIT: Duration = Duration::from_secs(30);

/// Waits until a condition holds, at most 30 seconds. Says whether it does.
pub(crate) fn until(mut holds: impl FnMut() -> bool) -> bool {
    for _ in 0..LIMIT.as_millis() / STEP.as_millis() {
        if holds() {
            return true;
        }
        pause();
    }
    holds()
}

#[expect(
    clippy::disallowed_methods,
    reason = "waits for other processes, and looks at a condition again and again"
)]
fn pause() {
    std::thread::sleep(STEP);
}

/// Lets another process run for a while, before it is killed.
#[expect(clippy::disallowed_methods, reason = "a moment is chosen at random, and nothing is waited for")]
pub(crate) fn pause_ms(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// Does something, and says how long it took.
#[expect(clippy::disallowed_methods, reason = "times another process: there is no clock to pause")]
pub(crate) fn timed<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed())
}
