//! The settings of the Thrift sink.

use flumen_core::config::{Configuration, Millis, Port, Seconds};
use flumen_rpc::{net::ClientTlsConfig, thrift::Protocol};

/// What stands below the sink.
#[derive(Debug, Configuration)]
#[configuration(refused(
    key = "kerberos",
    unless = "false",
    instead = "Kerberos is not there: protect the connection with `ssl = true`, or keep this part with Java Flume"
))]
#[configuration(ignored(key = "client-principal", why = "it is for `kerberos` only"))]
#[configuration(ignored(key = "client-keytab", why = "only `kerberos` needs it"))]
#[configuration(ignored(key = "server-principal", why = "nothing but `kerberos` reads it"))]
#[configuration(ignored(key = "maxConnections", why = "a sink has one connection, in Java too"))]
#[configuration(ignored(
    key = "trust-all-certs",
    why = "the Thrift client checks certificates always, in Java too: name them with `truststore`"
))]
#[configuration(ignored(
    key = "connection-reset-interval",
    why = "Java Flume never reads it; write `reset-connection-interval`"
))]
pub struct ThriftSinkConfig {
    /// Host of the Thrift source to send to.
    pub hostname: String,
    /// Port of the Thrift source to send to.
    pub port: Port,
    /// Events to send in one call.
    #[property(key = "batch-size", default = "100", min = "1", max = "2147483647", on_bad = default)]
    pub batch_size: u32,
    /// How long to wait for a connection, TLS included; less than 1000 means 20000.
    #[property(key = "connect-timeout", default = "20000", min = "1000", on_bad = default)]
    pub connect_timeout: Millis,
    /// How long to wait for an answer; less than 1000 means 20000.
    #[property(key = "request-timeout", default = "20000", min = "1000", on_bad = default)]
    pub request_timeout: Millis,
    /// Seconds after which the next call uses a fresh connection, to spread sinks anew behind a load balancer; 0: never.
    #[property(key = "reset-connection-interval", default = "0")]
    pub reset_connection_interval: Seconds,
    /// The protocol that the source speaks: `compact` or `binary`.
    #[property(default = "compact", on_bad = default)]
    pub protocol: Protocol,
    /// TLS.
    #[property(flatten)]
    pub tls: ClientTlsConfig,
}
