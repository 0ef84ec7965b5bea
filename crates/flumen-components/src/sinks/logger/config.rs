//! The settings of the logger sink.

use flumen_core::config::Configuration;

/// What stands below the sink.
#[derive(Debug, Clone, Configuration)]
pub struct LoggerConfig {
    /// Bytes of each body that the log shows.
    #[property(default = "16", min = "0", max = "2147483647", on_bad = default)]
    pub max_bytes_to_log: u32,
}
