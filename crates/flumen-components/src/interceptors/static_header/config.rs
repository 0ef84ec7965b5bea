//! The settings of the static interceptor.

use flumen_core::config::Configuration;

/// What stands below the interceptor.
#[derive(Debug, Clone, Configuration)]
pub struct StaticConfig {
    /// The header that is set.
    #[property(default = "key")]
    pub key: String,
    /// What it is set to.
    #[property(default = "value")]
    pub value: String,
    /// Whether events that have the header keep theirs.
    #[property(default = "true")]
    pub preserve_existing: bool,
}
