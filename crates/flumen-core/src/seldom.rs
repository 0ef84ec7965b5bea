//! Warnings that could come a thousand times a second are written now and then, with the number of those left out.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Says when a repeated warning is due again. What happens is counted elsewhere, each time.
#[derive(Debug)]
pub struct Seldom {
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    said: Option<Instant>,
    unsaid: u64,
}

impl Default for Seldom {
    fn default() -> Self {
        Self::every(Duration::from_secs(60))
    }
}

impl Seldom {
    /// Due at once, and then at most once in this time.
    pub const fn every(pause: Duration) -> Self {
        Self { pause, state: Mutex::new(State { said: None, unsaid: 0 }) }
    }

    /// Notes one. Where it is due: how many were left out since the last one that was said.
    pub fn due(&self) -> Option<u64> {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.said.is_some_and(|said| now.duration_since(said) < self.pause) {
            state.unsaid += 1;
            return None;
        }
        state.said = Some(now);
        Some(std::mem::take(&mut state.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_is_said_at_once_and_the_others_are_counted() {
        let seldom = Seldom::default();
        assert_eq!(seldom.due(), Some(0));
        for _ in 0..1_000 {
            assert_eq!(seldom.due(), None);
        }
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_eq!(seldom.due(), None);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(seldom.due(), Some(1_001));
        assert_eq!(seldom.due(), None);
    }
}
