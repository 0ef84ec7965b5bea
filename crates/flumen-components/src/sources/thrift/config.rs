//! The settings of the Thrift source.

use flumen_core::config::{AnyPort, Bytes, Configuration};
use flumen_rpc::{net::ServerTlsConfig, thrift::Protocol};

/// What stands below the source.
#[derive(Debug, Configuration)]
#[configuration(refused(
    key = "kerberos",
    unless = "false",
    instead = "Kerberos is not there: protect the connection with `ssl = true`, or keep this part with Java Flume"
))]
#[configuration(ignored(key = "agent-principal", why = "it is for `kerberos` only"))]
#[configuration(ignored(key = "agent-keytab", why = "only `kerberos` needs it"))]
pub struct ThriftSourceConfig {
    /// Address to listen on.
    pub bind: String,
    /// Port to listen on; 0 lets the system choose one, which the log tells.
    pub port: AnyPort,
    /// Calls that may be at work together, of all connections; 0 or less: any number.
    #[property(default = "0", on_bad = default)]
    pub threads: i32,
    /// The protocol that clients speak: `compact` or `binary`. Both are framed.
    #[property(default = "compact")]
    pub protocol: Protocol,
    /// TLS.
    #[property(flatten)]
    pub tls: ServerTlsConfig,
    /// The longest message in bytes; a connection with a longer one is closed.
    #[property(default = "268435456", min = "1", max = "268435456")]
    pub max_frame_bytes: Bytes,
    /// Bytes of messages that all connections may hold together, until they are in the channel. A message for which there is
    /// no room within 10 s ends its connection.
    #[property(default = "268435456", min = "1024", max = "1099511627776")]
    pub max_buffered_bytes: Bytes,
    /// Connections that may be open together; further ones wait until one ends.
    #[property(default = "10000", min = "1", max = "1000000")]
    pub max_connections: u32,
}
