//! The settings of the null sink.

use flumen_core::config::Configuration;

/// What stands below the sink.
#[derive(Debug, Clone, Configuration)]
pub struct NullConfig {
    /// Events to take at a time.
    #[property(default = "100", min = "1", max = "2147483647")]
    pub batch_size: u32,
    /// Says so in the log each time that this many more events have been discarded.
    #[property(key = "logEveryNEvents", default = "10000", min = "1", max = "2147483647")]
    pub log_every_n_events: u64,
}
