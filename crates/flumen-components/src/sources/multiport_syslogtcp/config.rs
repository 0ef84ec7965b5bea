//! The settings of the syslog source on many ports.

use crate::shared::{
    charset::CharsetSetting,
    syslog::{Framing, Keep},
};
use flumen_core::config::{Configuration, PropertyValue};
use flumen_rpc::net::ServerTlsConfig;
use std::collections::BTreeMap;

/// Takes syslog messages on many TCP ports.
#[derive(Debug, Clone, Configuration)]
#[expect(clippy::duplicated_attributes, reason = "two keys mean nothing for one reason")]
#[configuration(
    ignored(key = "readBufferSize", why = "buffers grow with what comes in"),
    ignored(key = "readBufferBytes", why = "buffers grow with what comes in"),
    ignored(key = "numProcessors", why = "threads are shared by all components")
)]
pub struct MultiportSyslogConfig {
    /// The address or host name to listen on. Unset: every one of this machine.
    pub host: Option<String>,
    /// The TCP ports to listen on. One that cannot be opened is told, the others work.
    pub ports: Ports,
    /// The longest message in bytes. A longer one is cut: the first event has the header `flume.syslog.status` = `Incomplete`,
    /// the rest comes as events of their own.
    #[property(default = "2500", min = "1", max = "67108864")]
    pub event_size: u32,
    /// The most messages in a batch.
    #[property(default = "100", min = "1")]
    pub batch_size: u32,
    /// What stays in the body: `none` (or `false`), `all` (or `true`), or a list of `priority`, `version`, `timestamp` and
    /// `hostname`.
    #[property(default = "none")]
    pub keep_fields: Keep,
    /// The header that gets the port on which a message came.
    pub port_header: Option<String>,
    /// The header that gets the address of the peer.
    #[property(key = "clientIPHeader")]
    pub client_ip_header: Option<String>,
    /// The header that gets the name of the peer, which a name server is asked for once a connection.
    pub client_hostname_header: Option<String>,
    /// The charset of messages.
    #[property(key = "charset.default", default = "UTF-8")]
    pub charset: CharsetSetting,
    /// The charset of messages on this port.
    #[property(prefix = "charset.port.")]
    pub port_charsets: BTreeMap<u16, CharsetSetting>,
    /// How messages are told apart: `auto` takes octet counts (RFC 6587) where a message begins with digits, a blank and `<`, and
    /// newlines otherwise; `newline` takes newlines only.
    #[property(default = "auto")]
    pub framing: Framing,
    /// Connections at a time on each port. Further ones wait until one ends.
    #[property(key = "max-connections", default = "10000", min = "1", max = "1000000")]
    pub max_connections: u32,
    /// TLS.
    #[property(flatten)]
    pub tls: ServerTlsConfig,
}

/// Ports, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ports(pub Vec<u16>);

impl PropertyValue for Ports {
    const KIND: &'static str = "a list of ports";

    fn parse(text: &str) -> Result<Self, String> {
        let mut ports = Vec::new();
        for word in text.split([' ', ',', '\t']).filter(|word| !word.is_empty()) {
            let port = word.parse().map_err(|_| format!("`{word}` is no port (0 to 65535)"))?;
            if port == 0 || !ports.contains(&port) {
                ports.push(port);
            }
        }
        if ports.is_empty() { Err("it is empty".to_owned()) } else { Ok(Self(ports)) }
    }
}
