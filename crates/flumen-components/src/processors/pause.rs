//! A pause after failures in a row, as Java Flume's sink runner makes it. Shared by the sink processors.

use flumen_core::planted::{self, Bug};
use std::time::Duration;
use tokio::time::Instant;

/// Java's fixed step and limit: 1 s for each failure in a row, 5 s at most.
const STEP: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5);

/// Failures in a row, and until when they ask to wait.
#[derive(Debug, Default)]
pub(super) struct Pause {
    failures: u32,
    until: Option<Instant>,
}

impl Pause {
    /// When the pause ends, if it has not yet.
    pub(super) fn end(&self, now: Instant) -> Option<Instant> {
        self.until.filter(|until| *until > now)
    }

    /// One more failure: wait a second longer than the last time.
    pub(super) fn grow(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        let years = if planted::is(Bug::PausesNeverEnd) { STEP * 100_000_000 } else { Duration::ZERO };
        self.until = Some(now + years + STEP.saturating_mul(self.failures).min(LONGEST));
    }

    /// It works again.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_grows_by_a_second_up_to_five_and_is_forgotten() {
        let start = Instant::now();
        let mut pause = Pause::default();
        assert_eq!(pause.end(start), None);
        let mut lengths = Vec::new();
        for _ in 0..7 {
            pause.grow(start);
            lengths.push((pause.end(start).unwrap() - start).as_secs());
        }
        assert_eq!(lengths, [1, 2, 3, 4, 5, 5, 5]);
        assert_eq!(pause.end(start + LONGEST), None, "it is over when its time has come");
        pause.forget();
        assert_eq!(pause.end(start), None);
        pause.grow(start);
        assert_eq!(pause.end(start), Some(start + STEP));
    }
}
