//! The settings of the Avro sink.

use crate::shared::avro::Deflated;
use flumen_core::config::{Configuration, Millis, Port, Seconds, Secret, Words};
use flumen_rpc::{
    client::{ClientKind, HostSelector},
    net::ClientTlsConfig,
};
use std::collections::BTreeMap;

/// What stands below the sink.
#[derive(Debug, Configuration)]
#[configuration(ignored(
    key = "maxIoWorkers",
    why = "a connection needs no thread; Java overlooks it too, since 1.10"
))]
pub struct AvroSinkConfig {
    /// Host of the Avro source to send to.
    pub hostname: String,
    /// Port of the Avro source to send to.
    pub port: Port,
    /// What kind of client sends: `default`, one host; `default_failover`, the first of several hosts that works;
    /// `default_loadbalance`, several hosts in turn or at random. With a sink for each host and a sink group of them the metrics
    /// show which host does what.
    #[property(key = "client.type", default = "default")]
    pub client_type: ClientKind,
    /// Names of hosts, which take the place of `hostname` and `port`; each has its address under `hosts.NAME`. The default client
    /// uses the first.
    pub hosts: Option<Words>,
    /// The address of a host, as `name:port`.
    #[property(prefix = "hosts.")]
    pub addresses: BTreeMap<String, String>,
    /// How many times `default_failover` tries to deliver; unset: once for each host.
    #[property(key = "max-attempts", min = "1")]
    pub max_attempts: Option<u32>,
    /// How `default_loadbalance` chooses a host: `round_robin` or `random`.
    #[property(key = "host-selector", default = "ROUND_ROBIN")]
    pub host_selector: HostSelector,
    /// Whether `default_loadbalance` leaves out a host that failed for 2 s, and for twice as long after each further failure.
    #[property(default = "false")]
    pub backoff: bool,
    /// The longest time for which a host is left out; 0 means 30000.
    #[property(key = "maxBackoff", default = "0")]
    pub max_backoff: Millis,
    /// Events to send in one call.
    #[property(key = "batch-size", default = "100", min = "1", max = "2147483647", on_bad = default)]
    pub batch_size: u32,
    /// How long to wait for a connection, TLS included, and again for the first answer over it; less than 1000 means 20000.
    #[property(key = "connect-timeout", default = "20000", min = "1000", on_bad = default)]
    pub connect_timeout: Millis,
    /// How long to wait for each further answer; less than 1000 means 20000.
    #[property(key = "request-timeout", default = "20000", min = "1000", on_bad = default)]
    pub request_timeout: Millis,
    /// Seconds after which the next call uses a fresh connection, to spread sinks anew behind a load balancer; 0: never.
    #[property(key = "reset-connection-interval", default = "0")]
    pub reset_connection_interval: Seconds,
    /// Calls that may be under way together, each with a batch. Unset: up to 8 to a source that stores them in order, as Flumen's
    /// says it does (1 MiB of them, if that is less, to one that answers within a millisecond), and 1 to others. With a number of its own Java's source gets as many, and may then store batches in another order
    /// than they were sent.
    #[property(key = "max-in-flight", min = "1", max = "64")]
    pub max_in_flight: Option<u32>,
    /// `deflate`: the connection is compressed, both ways; the source must do the same.
    #[property(key = "compression-type", default = "none")]
    pub compression_type: Deflated,
    /// How hard to compress: 0 (not at all) to 9.
    #[property(key = "compression-level", default = "6", min = "0", max = "9")]
    pub compression_level: u32,
    /// With compression and TLS: whether what TLS carries is compressed, as sources of Flume up to 1.9 want it. Those of 1.10 and
    /// later want what comes out of TLS compressed, and cannot talk to the others.
    #[property(key = "compression-within-tls", default = "false")]
    pub compression_within_tls: bool,
    /// TLS.
    #[property(flatten)]
    pub tls: ClientTlsConfig,
    /// With TLS: whether any certificate of the source will do. Whoever sits on the way can then read along.
    #[property(key = "trust-all-certs", default = "false")]
    pub trust_all_certs: bool,
    /// With TLS: key store file with a key and certificate of the sink's own, for a source that asks for one. Java Flume has no
    /// such setting.
    pub keystore: Option<String>,
    /// Password of that file and of its keys.
    #[property(key = "keystore-password")]
    pub keystore_password: Option<Secret>,
    /// Type of that file: JKS, JCEKS, PKCS12 or PEM.
    #[property(key = "keystore-type")]
    pub keystore_type: Option<String>,
}
