//! A component's life as a pure machine: happenings in, actions out. The supervisor only carries out.

use std::time::Duration;
use tokio::time::Instant;

/// The first pause after a failure. Java's supervisor tries again every 3 s.
const FIRST_PAUSE: Duration = Duration::from_secs(3);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Good running for this long forgets earlier failures.
const FORGIVEN_AFTER: Duration = Duration::from_secs(60);

/// Where a component is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not running, and not to be.
    Stopped,
    /// Running.
    Running {
        /// Since when.
        since: Instant,
        /// Failures in a row before this run.
        failures: u32,
    },
    /// It failed and waits for its next try.
    BackingOff {
        /// When to try again.
        until: Instant,
        /// Failures in a row.
        failures: u32,
    },
}

/// What happened to a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happening {
    /// It is wanted: at start, or after a reload.
    Wanted,
    /// It is not wanted any more.
    Unwanted,
    /// It ended by itself without an error: a source that has read all it had.
    Finished,
    /// It failed, panicked, or could not be built.
    Failed,
    /// The time that `BackingOff` named has come.
    Due,
}

/// What the supervisor is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Build a fresh instance and run it.
    Build,
    /// Stop the running one.
    Cancel,
    /// Report `Due` at this time.
    WaitUntil(Instant),
    /// Nothing.
    Nothing,
}

impl State {
    /// The next state, and what to do about it.
    pub fn on(&mut self, happening: Happening, now: Instant) -> Action {
        match (*self, happening) {
            (Self::Stopped, Happening::Wanted) => {
                *self = Self::Running { since: now, failures: 0 };
                Action::Build
            }
            (Self::BackingOff { until, failures }, Happening::Due) if now >= until => {
                *self = Self::Running { since: now, failures };
                Action::Build
            }
            (Self::BackingOff { until, .. }, Happening::Due) => Action::WaitUntil(until),
            (Self::Running { since, failures }, Happening::Failed) => {
                let before = if now.duration_since(since) >= FORGIVEN_AFTER { 0 } else { failures };
                let pause = FIRST_PAUSE.saturating_mul(1 << before.min(10)).min(LONGEST_PAUSE);
                *self = Self::BackingOff { until: now + pause, failures: before.saturating_add(1) };
                Action::WaitUntil(now + pause)
            }
            (Self::Running { .. }, Happening::Unwanted) => {
                *self = Self::Stopped;
                Action::Cancel
            }
            (Self::BackingOff { .. }, Happening::Unwanted) | (Self::Running { .. }, Happening::Finished) => {
                *self = Self::Stopped;
                Action::Nothing
            }
            _ => Action::Nothing,
        }
    }

    /// The state in one word, for reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Running { .. } => "running",
            Self::BackingOff { .. } => "backing-off",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing_pauses(n: usize) -> Vec<u64> {
        let mut now = Instant::now();
        let mut state = State::Stopped;
        assert_eq!(state.on(Happening::Wanted, now), Action::Build);
        let mut pauses = Vec::new();
        for _ in 0..n {
            let Action::WaitUntil(until) = state.on(Happening::Failed, now) else { panic!("{state:?}") };
            pauses.push((until - now).as_secs());
            assert_eq!(state.on(Happening::Due, now), Action::WaitUntil(until), "too early");
            now = until;
            assert_eq!(state.on(Happening::Due, now), Action::Build);
        }
        pauses
    }

    #[test]
    fn pauses_double_up_to_a_limit() {
        assert_eq!(failing_pauses(7), [3, 6, 12, 24, 48, 60, 60]);
    }

    #[test]
    fn a_minute_of_good_running_forgets_failures() {
        let now = Instant::now();
        let mut state = State::Running { since: now, failures: 5 };
        let later = now + Duration::from_secs(61);
        assert_eq!(state.on(Happening::Failed, later), Action::WaitUntil(later + FIRST_PAUSE));
    }

    #[test]
    fn what_is_unwanted_stays_away() {
        let now = Instant::now();
        let mut state = State::Stopped;
        state.on(Happening::Wanted, now);
        assert_eq!(state.on(Happening::Unwanted, now), Action::Cancel);
        for happening in [Happening::Failed, Happening::Finished, Happening::Due, Happening::Unwanted] {
            assert_eq!(state.on(happening, now), Action::Nothing);
            assert_eq!(state, State::Stopped);
        }
    }

    #[test]
    fn a_source_that_has_finished_is_not_built_again() {
        let now = Instant::now();
        let mut state = State::Stopped;
        state.on(Happening::Wanted, now);
        assert_eq!(state.on(Happening::Finished, now), Action::Nothing);
        assert_eq!(state, State::Stopped);
    }
}
