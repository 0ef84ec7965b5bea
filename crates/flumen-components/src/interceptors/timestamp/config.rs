//! The settings of the timestamp interceptor.

use flumen_core::config::Configuration;

/// What stands below the interceptor.
#[derive(Debug, Clone, Configuration)]
#[configuration(ignored(key = "header", why = "no version of Flume reads it; write `headerName`"))]
pub struct TimestampConfig {
    /// The header that is set.
    #[property(default = "timestamp")]
    pub header_name: String,
    /// Whether events that have the header keep theirs.
    #[property(default = "false")]
    pub preserve_existing: bool,
}
