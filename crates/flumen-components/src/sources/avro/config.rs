//! The settings of the Avro source.

use super::filter::Rules;
use crate::shared::avro::Deflated;
use flumen_core::config::{AnyPort, Bytes, Configuration, Millis, PropertyValue, Secret, choose};
use flumen_rpc::net::ServerTlsConfig;
use flumen_tls::tls::ClientAuth;

/// What stands below the source.
#[derive(Debug, Configuration)]
#[configuration(ignored(
    key = "threads",
    why = "calls are tasks, not threads; Java overlooks it too, since 1.10"
))]
#[configuration(ignored(
    key = "ipFilter.rules",
    why = "no version of Flume reads it: write `ipFilterRules`"
))]
pub struct AvroSourceConfig {
    /// Address to listen on.
    pub bind: String,
    /// Port to listen on; 0 lets the system choose one, which the log tells.
    pub port: AnyPort,
    /// `deflate`: connections are compressed, both ways; clients must do the same.
    #[property(key = "compression-type", default = "none")]
    pub compression_type: Deflated,
    /// With compression and TLS: whether what TLS carries is compressed, as clients of Flume up to 1.9 do. Those of 1.10 and
    /// later compress what comes out of TLS, and cannot talk to the others.
    #[property(key = "compression-within-tls", default = "false")]
    pub compression_within_tls: bool,
    /// TLS.
    #[property(flatten)]
    pub tls: ServerTlsConfig,
    /// With TLS: whether clients are asked for a certificate: `none`, `want` (one that is shown must be good) or `need`. Java
    /// Flume never asks.
    #[property(key = "client-auth", default = "none")]
    pub client_auth: AskClients,
    /// File with the certificates that vouch for clients. Unset: `-Djavax.net.ssl.trustStore`, then
    /// `FLUME_SSL_TRUSTSTORE_PATH`, then those of the operating system.
    pub truststore: Option<String>,
    /// Password of that file; without one it is read unchecked.
    #[property(key = "truststore-password")]
    pub truststore_password: Option<Secret>,
    /// Type of that file: JKS, JCEKS, PKCS12 or PEM.
    #[property(key = "truststore-type")]
    pub truststore_type: Option<String>,
    /// Whether `ipFilterRules` decide who may connect.
    #[property(default = "false")]
    pub ip_filter: bool,
    /// Rules with commas between, each `allow` or `deny`, then `ip` or `name`, then a pattern with `*` and `?`, with colons
    /// between (`allow:ip:127.*,allow:name:localhost,deny:ip:*`). The first one that fits decides; who fits none may connect.
    pub ip_filter_rules: Option<Rules>,
    /// The longest message in bytes; a connection with a longer one is closed.
    #[property(default = "134217728", min = "1024", max = "1073741824")]
    pub max_frame_bytes: Bytes,
    /// Bytes of messages that all connections may hold together, until they are in the channel; a connection whose message does
    /// not fit is closed.
    #[property(default = "536870912", min = "1024", max = "1099511627776")]
    pub max_buffered_bytes: Bytes,
    /// How long a client may pause in the middle of a message. Between messages it may be silent for ever.
    #[property(default = "60000", min = "1")]
    pub max_pause: Millis,
    /// Connections that may be open together; further ones wait until one ends.
    #[property(default = "10000", min = "1", max = "1000000")]
    pub max_connections: u32,
}

/// Whether clients are asked for a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskClients(pub ClientAuth);

impl PropertyValue for AskClients {
    const KIND: &'static str = "`none`, `want` or `need`";

    fn parse(text: &str) -> Result<Self, String> {
        let choices = [("none", ClientAuth::None), ("want", ClientAuth::Want), ("need", ClientAuth::Need)];
        choose(text, &choices).map(Self)
    }
}
