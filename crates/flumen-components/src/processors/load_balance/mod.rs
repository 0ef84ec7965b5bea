//! Serves the sinks of a group in turn or at random; with back-off, those that fail are left out for a while.

mod config;
#[cfg(test)]
mod tests;

pub use config::{LoadBalanceConfig, Order};

use super::pause::Pause;
use flumen_core::{
    group::{Outcome, SinkIndex, SinkProcessor},
    registry::{BuildContext, BuildError, SinkProcessorType},
    world::rng_for,
};
use std::time::Duration;
use tokio::time::Instant;

/// The back-off of the first failure is twice this, and doubles with each further one in a row.
const BACKOFF_UNIT: Duration = Duration::from_secs(1);
/// A failure within this time after the last back-off counts as one in a row.
const IN_A_ROW: Duration = Duration::from_secs(3600);
/// The back-off doubles at most this often.
const MOST_DOUBLINGS: u32 = 16;

/// See the module.
#[derive(Debug)]
pub struct LoadBalanceProcessor {
    sinks: Vec<Standing>,
    order: Order,
    backs_off: bool,
    longest_backoff: Duration,
    /// The place, among the sinks that are not left out, at which the next turn begins.
    head: usize,
    /// The sinks of this turn that were not tried yet, in reverse.
    turn: Vec<SinkIndex>,
    rng: fastrand::Rng,
    pause: Pause,
}

#[derive(Debug, Default)]
struct Standing {
    failures: u32,
    last_failure: Option<Instant>,
    until: Option<Instant>,
}

impl LoadBalanceProcessor {
    /// A processor for this many sinks.
    pub fn new(n_sinks: usize, config: &LoadBalanceConfig, rng: fastrand::Rng) -> Self {
        Self {
            sinks: (0..n_sinks).map(|_| Standing::default()).collect(),
            order: config.selector,
            backs_off: config.backoff,
            longest_backoff: config.longest_backoff(),
            head: 0,
            turn: Vec::new(),
            rng,
            pause: Pause::default(),
        }
    }

    /// Begins a turn over the sinks that are not left out.
    fn begin_turn(&mut self, now: Instant) {
        let able = |sink: &Standing| sink.until.is_none_or(|until| until <= now);
        let standing = self.sinks.iter().enumerate();
        let mut turn: Vec<_> = standing.filter(|(_, sink)| able(sink)).map(|(i, _)| SinkIndex(i)).collect();
        match self.order {
            Order::RoundRobin if !turn.is_empty() => {
                // The number of sinks may have shrunk since the last turn.
                let begin = if self.head < turn.len() { self.head } else { 0 };
                self.head = (begin + 1) % turn.len();
                turn.rotate_left(begin);
            }
            Order::RoundRobin => {}
            Order::Random => self.rng.shuffle(&mut turn),
        }
        turn.reverse();
        self.turn = turn;
    }

    fn back_off(&mut self, sink: SinkIndex, now: Instant) {
        if !self.backs_off {
            return;
        }
        let longest = self.longest_backoff;
        let length =
            |failures: u32| BACKOFF_UNIT.saturating_mul(1 << failures.min(MOST_DOUBLINGS)).min(longest);
        let Some(standing) = self.sinks.get_mut(sink.0) else { return };
        let recent = |last: Instant| now.duration_since(last) < length(standing.failures) + IN_A_ROW;
        let in_a_row = standing.last_failure.is_some_and(recent);
        standing.failures = if in_a_row { (standing.failures + 1).min(MOST_DOUBLINGS) } else { 1 };
        standing.last_failure = Some(now);
        standing.until = Some(now + length(standing.failures));
    }
}

impl SinkProcessorType for LoadBalanceProcessor {
    const NAMES: &'static [&'static str] =
        &["load_balance", "org.apache.flume.sink.LoadBalancingSinkProcessor"];
    const SUMMARY: &'static str = "Serves the sinks of the group in turn, or at random.";
    type Config = LoadBalanceConfig;

    fn build(config: Self::Config, sinks: &[String], context: &BuildContext) -> Result<Self, BuildError> {
        Ok(Self::new(sinks.len(), &config, rng_for(context.seed, &context.name)))
    }

    fn advice(_config: &Self::Config, sinks: &[String]) -> Vec<(String, String)> {
        let what = || format!("balances {} sink; it wants two or more", sinks.len());
        (sinks.len() < 2).then(|| ("type".to_owned(), what())).into_iter().collect()
    }
}

impl SinkProcessor for LoadBalanceProcessor {
    fn pick(&mut self, now: Instant) -> Result<SinkIndex, Instant> {
        if let Some(end) = self.pause.end(now) {
            return Err(end);
        }
        if self.turn.is_empty() {
            self.begin_turn(now);
        }
        let next = self.turn.last().copied();
        next.ok_or_else(|| self.sinks.iter().filter_map(|sink| sink.until).min().unwrap_or(now))
    }

    fn report(&mut self, sink: SinkIndex, outcome: Outcome, now: Instant) {
        match outcome {
            Outcome::Failed => {
                self.back_off(sink, now);
                self.turn.retain(|other| *other != sink);
                // All that were able have failed in this turn: wait, unless their back-off says how long.
                if self.turn.is_empty() && !self.backs_off {
                    self.pause.grow(now);
                }
            }
            Outcome::Paused => {
                self.turn.clear();
                self.pause.grow(now);
            }
            Outcome::Delivered => {
                self.turn.clear();
                self.pause.forget();
            }
            Outcome::Idle => self.turn.clear(),
        }
    }
}
