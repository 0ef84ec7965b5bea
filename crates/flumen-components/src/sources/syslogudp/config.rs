//! The settings of the syslog source over UDP.

use crate::shared::syslog::{FormatConfig, Keep};
use flumen_core::config::{AnyPort, Configuration};

/// Takes syslog messages over UDP.
#[derive(Debug, Clone, Configuration)]
pub struct SyslogUdpConfig {
    /// The address or host name to listen on. Unset: every one of this machine.
    pub host: Option<String>,
    /// The UDP port to listen on; 0 takes any free one.
    pub port: AnyPort,
    /// What stays in the body: `none` (or `false`), `all` (or `true`), or a list of `priority`, `version`, `timestamp` and
    /// `hostname`.
    #[property(default = "none")]
    pub keep_fields: Keep,
    /// The header that gets the address of the sender.
    #[property(key = "clientIPHeader")]
    pub client_ip_header: Option<String>,
    /// The header that gets the name of the sender, which a name server is asked for once a sender.
    pub client_hostname_header: Option<String>,
    /// A head of messages of one's own.
    #[property(nested = "format.")]
    pub format: FormatConfig,
}
