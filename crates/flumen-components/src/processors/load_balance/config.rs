//! The settings of the load-balancing processor.

use flumen_core::config::{Configuration, Millis, PropertyValue, choose};
use std::time::Duration;

/// Java's longest back-off, also where the setting says 0.
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// What stands below `processor.`.
#[derive(Debug, Clone, Configuration)]
pub struct LoadBalanceConfig {
    /// How the next sink is chosen: `round_robin` or `random`.
    #[property(default = "round_robin")]
    pub selector: Order,
    /// Whether a sink that failed is left out for 2 s, and for twice as long after each further failure.
    #[property(default = "false")]
    pub backoff: bool,
    /// The longest time for which it is left out; 0 means 30000.
    #[property(key = "selector.maxTimeOut", default = "30000")]
    pub max_time_out: Millis,
}

impl LoadBalanceConfig {
    pub(super) fn longest_backoff(&self) -> Duration {
        if self.max_time_out.0 == 0 { LONGEST_BACKOFF } else { self.max_time_out.duration() }
    }
}

/// How the next sink is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// One after the other.
    RoundRobin,
    /// Any.
    Random,
}

impl PropertyValue for Order {
    const KIND: &'static str = "round_robin or random";

    fn parse(text: &str) -> Result<Self, String> {
        choose(text, &[("round_robin", Self::RoundRobin), ("random", Self::Random)]).map_err(|what| {
            if text.contains('.') { format!("{what}; Java classes cannot be loaded") } else { what }
        })
    }
}
