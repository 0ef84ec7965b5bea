//! The settings of the syslog source over TCP.

use crate::shared::syslog::{FormatConfig, Framing, Keep};
use flumen_core::config::{AnyPort, Configuration};
use flumen_rpc::net::ServerTlsConfig;

/// Takes syslog messages over TCP.
#[derive(Debug, Clone, Configuration)]
pub struct SyslogTcpConfig {
    /// The address or host name to listen on; `0.0.0.0` is every one of this machine.
    pub host: String,
    /// The TCP port to listen on; 0 takes any free one.
    pub port: AnyPort,
    /// The longest message in bytes, with its priority; 10 at the least. A longer one is cut: the first event has the header
    /// `flume.syslog.status` = `Incomplete`, the rest comes as events of their own.
    #[property(default = "2500", min = "1", max = "67108864")]
    pub event_size: u32,
    /// What stays in the body: `none` (or `false`), `all` (or `true`), or a list of `priority`, `version`, `timestamp` and
    /// `hostname`.
    #[property(default = "none")]
    pub keep_fields: Keep,
    /// The header that gets the address of the peer.
    #[property(key = "clientIPHeader")]
    pub client_ip_header: Option<String>,
    /// The header that gets the name of the peer, which a name server is asked for once a connection.
    pub client_hostname_header: Option<String>,
    /// How messages are told apart: `auto` takes octet counts (RFC 6587) where a message begins with digits, a blank and `<`, and
    /// newlines otherwise; `newline` takes newlines only.
    #[property(default = "auto")]
    pub framing: Framing,
    /// A head of messages of one's own.
    #[property(nested = "format.")]
    pub format: FormatConfig,
    /// Connections at a time. Further ones wait until one ends.
    #[property(key = "max-connections", default = "10000", min = "1", max = "1000000")]
    pub max_connections: u32,
    /// TLS.
    #[property(flatten)]
    pub tls: ServerTlsConfig,
}
