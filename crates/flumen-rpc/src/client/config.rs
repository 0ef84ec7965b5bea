//! The settings of a client, by the keys of Flume's `RpcClientFactory`.

use crate::{
    net::{ClientTlsConfig, Target},
    thrift::Protocol,
};
use flumen_core::config::{Configuration, Millis, PropertyValue, Words, choose};
use std::{collections::BTreeMap, time::Duration};

/// Java's longest back-off, also where the setting says 0.
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// What a client is made of: the lines of a properties file, as `flume-ng avro-client --rpcProps` takes it.
#[derive(Debug, Clone, Configuration)]
#[configuration(refused(
    key = "kerberos",
    unless = "false",
    instead = "Kerberos is not there: protect the connection with `ssl = true`"
))]
#[configuration(ignored(key = "client-principal", why = "it is for `kerberos` only"))]
#[configuration(ignored(key = "client-keytab", why = "only `kerberos` needs it"))]
#[configuration(ignored(key = "server-principal", why = "nothing but `kerberos` reads it"))]
#[configuration(ignored(key = "maxIoWorkers", why = "threads are shared"))]
pub struct ClientConfig {
    /// What kind of client: `default` (Avro, one host), `default_failover` and `default_loadbalance` (Avro, several hosts), or
    /// `thrift` (one host).
    #[property(key = "client.type", default = "default")]
    pub kind: ClientKind,
    /// Names of the hosts, in order; each has its address under `hosts.NAME`.
    pub hosts: Words,
    /// The address of a host, as `name:port`.
    #[property(prefix = "hosts.")]
    pub addresses: BTreeMap<String, String>,
    /// Events to send in one call; longer lists are sent in several.
    #[property(key = "batch-size", default = "100", min = "1", max = "2147483647", on_bad = default)]
    pub batch_size: u32,
    /// How long to wait for a connection and its handshake; less than 1000 means 20000.
    #[property(key = "connect-timeout", default = "20000", min = "1000", on_bad = default)]
    pub connect_timeout: Millis,
    /// How long to wait for an answer; less than 1000 means 20000.
    #[property(key = "request-timeout", default = "20000", min = "1000", on_bad = default)]
    pub request_timeout: Millis,
    /// `deflate` compresses Avro's connections; the source must do the same.
    #[property(key = "compression-type", default = "none")]
    pub compression_type: String,
    /// How hard to compress, 0 to 9; 0 only wraps.
    #[property(key = "compression-level", default = "6", min = "0", max = "9", on_bad = default)]
    pub compression_level: u32,
    /// Thrift's protocol: `compact` or `binary`.
    #[property(default = "compact", on_bad = default)]
    pub protocol: Protocol,
    /// Connections of a Thrift client, for calls made at the same time.
    #[property(key = "maxConnections", default = "5", min = "1", max = "10000", on_bad = default)]
    pub max_connections: u32,
    /// How many times a failover client tries to deliver; unset: once for each host.
    #[property(key = "max-attempts", min = "1", on_bad = default)]
    pub max_attempts: Option<u32>,
    /// How a load-balancing client chooses: `round_robin` or `random`.
    #[property(key = "host-selector", default = "ROUND_ROBIN")]
    pub host_selector: HostSelector,
    /// Whether a load-balancing client leaves out a host that failed for 2 s, and for twice as long after each further failure.
    #[property(default = "false")]
    pub backoff: bool,
    /// The longest time for which a host is left out; 0 means 30000.
    #[property(key = "maxBackoff", default = "0")]
    pub max_backoff: Millis,
    /// TLS.
    #[property(flatten)]
    pub tls: ClientTlsConfig,
    /// Whether to trust any certificate, and so whoever sits on the way. The Thrift client does not read it, as in Java.
    #[property(key = "trust-all-certs", default = "false")]
    pub trust_all_certs: bool,
}

impl ClientConfig {
    /// The addresses in the order of `hosts`. A failover client passes over names that have none.
    ///
    /// # Errors
    /// A host has no address, or one that is none; in words that name the key.
    pub fn targets(&self) -> Result<Vec<Target>, String> {
        let mut targets = Vec::new();
        for name in self.hosts.iter() {
            match self.addresses.get(name) {
                Some(address) => targets.push(target(address).ok_or_else(|| {
                    format!("hosts.{name}: `{address}` is not an address: expected `host:port`")
                })?),
                None if self.kind == ClientKind::Failover => {}
                None => return Err(format!("hosts.{name} is required, as `hosts` names `{name}`")),
            }
        }
        match (self.kind, targets.len()) {
            (_, 0) => Err("hosts: no host is named".to_owned()),
            (ClientKind::LoadBalance, 1) => {
                Err("hosts: a load-balancing client needs two hosts or more".to_owned())
            }
            _ => Ok(targets),
        }
    }

    pub(super) fn longest_backoff(&self) -> Duration {
        if self.max_backoff.0 == 0 { LONGEST_BACKOFF } else { self.max_backoff.duration() }
    }
}

/// Reads `host:port`; an IPv6 address stands in brackets.
fn target(address: &str) -> Option<Target> {
    let (host, port) = address.trim().rsplit_once(':')?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).trim();
    let port = port.trim().parse().ok().filter(|port| *port > 0)?;
    let is_one = !host.is_empty() && (!host.contains(':') || address.contains('['));
    is_one.then(|| Target { host: host.into(), port })
}

/// The value of `client.type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientKind {
    /// Avro, one host.
    Default,
    /// Avro, the first of several hosts that works.
    Failover,
    /// Avro, several hosts in turn or at random.
    LoadBalance,
    /// Thrift, one host.
    Thrift,
}

impl PropertyValue for ClientKind {
    const KIND: &'static str = "a type of client";

    fn parse(text: &str) -> Result<Self, String> {
        let names = [
            ("default", Self::Default),
            ("default_failover", Self::Failover),
            ("default_loadbalance", Self::LoadBalance),
            ("thrift", Self::Thrift),
            ("org.apache.flume.api.NettyAvroRpcClient", Self::Default),
            ("org.apache.flume.api.FailoverRpcClient", Self::Failover),
            ("org.apache.flume.api.LoadBalancingRpcClient", Self::LoadBalance),
            ("org.apache.flume.api.ThriftRpcClient", Self::Thrift),
        ];
        choose(text, &names).map_err(|_| {
            "expected `default`, `default_failover`, `default_loadbalance` or `thrift`".to_owned()
        })
    }
}

/// The value of `host-selector`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostSelector {
    /// One after the other.
    RoundRobin,
    /// Any.
    Random,
}

impl PropertyValue for HostSelector {
    const KIND: &'static str = "`round_robin` or `random`";

    fn parse(text: &str) -> Result<Self, String> {
        choose(text, &[("round_robin", Self::RoundRobin), ("random", Self::Random)])
    }
}
