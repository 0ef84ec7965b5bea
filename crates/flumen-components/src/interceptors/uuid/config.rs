//! The settings of the UUID interceptor.

use flumen_core::config::Configuration;

/// What stands below the interceptor.
#[derive(Debug, Clone, Configuration)]
pub struct UuidConfig {
    /// The header that is set.
    #[property(default = "id")]
    pub header_name: String,
    /// Whether events that have the header keep theirs.
    #[property(default = "true")]
    pub preserve_existing: bool,
    /// What stands before the UUID.
    #[property(default = "")]
    pub prefix: String,
}
