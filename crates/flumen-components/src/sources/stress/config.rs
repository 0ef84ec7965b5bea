//! The settings of the stress source.

use flumen_core::config::Configuration;

/// What stands below the source.
#[derive(Debug, Clone, Configuration)]
pub struct StressConfig {
    /// Bytes of each event's body; each of them is 0x7f.
    #[property(default = "500", min = "0", max = "268435456")]
    pub size: u32,
    /// How many events to send, counting those that a channel refused; below zero there is no limit.
    #[property(default = "-1")]
    pub max_total_events: i64,
    /// How many events to store; below zero there is no limit.
    #[property(default = "-1")]
    pub max_successful_events: i64,
    /// Events to put at a time.
    #[property(default = "1", min = "1", max = "1000000")]
    pub batch_size: u32,
    /// Events a second, at most; without a limit if zero or less.
    #[property(default = "0", min = "-2147483648", max = "2147483647")]
    pub max_events_per_second: i64,
}
