//! The settings of the host interceptor.

use flumen_core::config::Configuration;

/// What stands below the interceptor.
#[derive(Debug, Clone, Configuration)]
pub struct HostConfig {
    /// Whether the header is the address (`10.0.0.7`); otherwise it is the full name.
    #[property(key = "useIP", default = "true")]
    pub use_ip: bool,
    /// The header that is set.
    #[property(default = "host")]
    pub host_header: String,
    /// Whether events that have the header keep theirs.
    #[property(default = "false")]
    pub preserve_existing: bool,
}
