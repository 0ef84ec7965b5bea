//! A put waits a moment for a sink that is about to catch up. What is beyond the memory for events must be read back from disk,
//! which costs a third of all that a fast flow needs; so a source does not run further ahead of a sink that keeps its pace.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Bytes a second: a source is never held to less.
const LEAST_RATE: u64 = 64 << 20;
/// How long it takes to see how fast the sink is; so long a put waits at most.
const WINDOW: Duration = Duration::from_millis(50);
/// How long puts then go to disk without waiting, where the sink is slower.
const PAUSE: Duration = Duration::from_secs(1);

/// How fast puts are accepted while the memory is full.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Since when it is looked at, and the bytes that were accepted since.
    window: Option<(Instant, u64)>,
    free_until: Option<Instant>,
    woken_at: Option<Instant>,
}

impl Pace {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a put that was accepted.
    pub(super) fn accepted(&self, bytes: u64) {
        if let Some((_, sum)) = &mut self.state().window {
            *sum += bytes;
        }
    }

    /// Whether a put has to wait, where the memory is full and a sink is taking.
    pub(super) fn waits(&self, now: Instant) -> bool {
        let mut state = self.state();
        if state.free_until.is_some_and(|until| now < until) {
            return false;
        }
        let (since, bytes) = *state.window.get_or_insert((now, 0));
        let age = now - since;
        if age < WINDOW {
            return true;
        }
        let fast = u128::from(bytes) * 1000 >= u128::from(LEAST_RATE) * age.as_millis();
        // A window that is long over says nothing of now.
        if fast || age > 2 * WINDOW {
            state.window = Some((now, 0));
            return true;
        }
        state.window = None;
        state.free_until = Some(now + PAUSE);
        false
    }

    /// When whoever waits is to be woken at the latest, if nobody is to do so yet.
    pub(super) fn wakes_at(&self, now: Instant) -> Option<Instant> {
        let mut state = self.state();
        if state.woken_at.is_some_and(|at| now < at) {
            return None;
        }
        let at = now + WINDOW;
        state.woken_at = Some(at);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_source_waits_for_a_fast_sink_and_never_long_for_a_slow_one() {
        let (pace, start) = (Pace::default(), Instant::now());
        let mut now = start;
        // 100 MB a second.
        for _ in 0..500 {
            assert!(pace.waits(now));
            now += MS;
            pace.accepted(100_000);
        }
        // 1 MB a second: after two windows at the latest puts go on, and for a second none waits.
        let slow = now;
        while pace.waits(now) {
            now += MS;
            pace.accepted(1_000);
            assert!(now < slow + 2 * WINDOW, "it waits too long");
        }
        assert!(!pace.waits(now + PAUSE - MS));
        assert!(pace.waits(now + PAUSE));
    }

    #[test]
    fn who_waits_is_woken_in_time_and_once() {
        let (pace, now) = (Pace::default(), Instant::now());
        assert_eq!(pace.wakes_at(now), Some(now + WINDOW));
        assert_eq!(pace.wakes_at(now + 10 * MS), None);
        assert_eq!(pace.wakes_at(now + WINDOW), Some(now + 2 * WINDOW));
    }
}
