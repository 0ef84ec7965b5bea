//! Serves the sink of the highest priority that works; one that failed is tried again after a penalty.

mod config;
#[cfg(test)]
mod tests;

pub use config::FailoverConfig;

use super::pause::Pause;
use flumen_core::{
    group::{Outcome, SinkIndex, SinkProcessor},
    registry::{BuildContext, BuildError, SinkProcessorType},
};
use std::time::Duration;
use tokio::time::Instant;

/// The penalty of the first failure is twice this, and doubles with each further one.
const PENALTY_UNIT: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug)]
pub struct FailoverProcessor {
    /// By falling priority; of equal ones the first in the group's list.
    sinks: Vec<Standing>,
    longest_penalty: Duration,
    /// The sink in trial had nothing to take, which says nothing of its health: the working one is next.
    trial_was_idle: bool,
    pause: Pause,
}

#[derive(Debug)]
struct Standing {
    index: SinkIndex,
    failures: u32,
    /// Set aside until then, where it has failed.
    until: Option<Instant>,
}

impl FailoverProcessor {
    /// A processor for as many sinks as there are priorities.
    pub fn new(priorities: &[i64], longest_penalty: Duration) -> Self {
        let mut order: Vec<usize> = (0..priorities.len()).collect();
        order.sort_by_key(|i| std::cmp::Reverse(priorities[*i]));
        let standing = |i| Standing { index: SinkIndex(i), failures: 0, until: None };
        let sinks = order.into_iter().map(standing).collect();
        Self { sinks, longest_penalty, trial_was_idle: false, pause: Pause::default() }
    }

    fn standing(&mut self, index: SinkIndex) -> Option<&mut Standing> {
        self.sinks.iter_mut().find(|sink| sink.index == index)
    }
}

impl SinkProcessorType for FailoverProcessor {
    const NAMES: &'static [&'static str] = &["failover", "org.apache.flume.sink.FailoverSinkProcessor"];
    const SUMMARY: &'static str = "Serves the sink of the highest priority that works.";
    type Config = FailoverConfig;

    fn build(config: Self::Config, sinks: &[String], _context: &BuildContext) -> Result<Self, BuildError> {
        Ok(Self::new(&config.priorities(sinks), config.maxpenalty.duration()))
    }

    fn advice(config: &Self::Config, sinks: &[String]) -> Vec<(String, String)> {
        config.advice(sinks)
    }
}

impl SinkProcessor for FailoverProcessor {
    fn pick(&mut self, now: Instant) -> Result<SinkIndex, Instant> {
        if let Some(end) = self.pause.end(now) {
            return Err(end);
        }
        // The one whose penalty ended first is tried before the working one, as in Java.
        let due = self.sinks.iter().filter(|sink| sink.until.is_some_and(|until| until <= now));
        let trial = due.min_by_key(|sink| sink.until).map(|sink| sink.index);
        let working = self.sinks.iter().find(|sink| sink.until.is_none()).map(|sink| sink.index);
        let was_idle = std::mem::take(&mut self.trial_was_idle);
        match (trial, working) {
            (Some(trial), None) => Ok(trial),
            (Some(trial), Some(_)) if !was_idle => Ok(trial),
            (_, Some(working)) => Ok(working),
            (None, None) => Err(self.sinks.iter().filter_map(|sink| sink.until).min().unwrap_or(now)),
        }
    }

    fn report(&mut self, sink: SinkIndex, outcome: Outcome, now: Instant) {
        let longest = self.longest_penalty;
        let Some(standing) = self.standing(sink) else { return };
        let on_trial = standing.until.is_some();
        match outcome {
            Outcome::Failed => {
                standing.failures = standing.failures.saturating_add(1);
                let penalty = PENALTY_UNIT.saturating_mul(1 << standing.failures.min(20)).min(longest);
                standing.until = Some(now + penalty);
            }
            Outcome::Delivered => {
                (standing.failures, standing.until) = (0, None);
                self.pause.forget();
            }
            Outcome::Paused => self.pause.grow(now),
            Outcome::Idle => self.trial_was_idle = on_trial,
        }
    }
}
