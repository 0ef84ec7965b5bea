//! The settings of the sequence source.

use flumen_core::config::Configuration;

/// What stands below the source.
#[derive(Debug, Clone, Configuration)]
pub struct SeqConfig {
    /// Events to make at a time.
    #[property(default = "1", min = "1", max = "2147483647")]
    pub batch_size: u32,
    /// How many events to make before it falls silent.
    #[property(default = "9223372036854775807", min = "0", max = "9223372036854775807")]
    pub total_events: u64,
}
