//! The settings of the netcat source over UDP.

use flumen_core::config::{AnyPort, Configuration};

/// What stands below the source.
#[derive(Debug, Clone, Configuration)]
pub struct NetcatUdpConfig {
    /// The address or host name to listen on. Unset: every one of this machine.
    pub bind: Option<String>,
    /// The UDP port to listen on; 0 takes any free one.
    pub port: AnyPort,
    /// The header that gets the sender's address and port, as Java shows them (`/192.0.2.1:5000`). Unset: there is none.
    #[property(alias = "remoteAddressHeader")]
    pub remote_address: Option<String>,
}
