//! Whom the sink sends to: one host, or what a client of several hosts chooses.

use super::AvroSinkConfig;
use flumen_core::config::Words;
use flumen_rpc::{
    client::{ClientConfig, ClientKind},
    net::Target,
    thrift::Protocol,
};
use std::fmt;

/// Where a sink sends to.
#[derive(Debug)]
pub(super) enum Peer {
    /// One Avro source.
    One(Target),
    /// What a client of several hosts chooses.
    Several(Box<ClientConfig>),
}

impl AvroSinkConfig {
    /// The peer by `client.type` and `hosts`, which Java hands to its client beside `hostname` and `port`.
    ///
    /// # Errors
    /// The hosts are none, or something was set that a client of several hosts does not have; in words that name the key.
    pub(super) fn peer(&self) -> Result<Peer, String> {
        if self.hosts.is_none() && self.client_type == ClientKind::Default {
            return Ok(Peer::One(Target { host: self.hostname.trim().into(), port: self.port.0 }));
        }
        let mut addresses = self.addresses.clone();
        let own = || format!("[{}]:{}", self.hostname.trim(), self.port.0);
        addresses.entry("h1".to_owned()).or_insert_with(own);
        let client = ClientConfig {
            kind: self.client_type,
            hosts: self.hosts.clone().unwrap_or_else(|| Words(vec!["h1".to_owned()])),
            addresses,
            batch_size: self.batch_size,
            connect_timeout: self.connect_timeout,
            request_timeout: self.request_timeout,
            compression_type: if self.compression_type.0 { "deflate".to_owned() } else { "none".to_owned() },
            compression_level: self.compression_level,
            protocol: Protocol::Compact,
            max_connections: 1,
            max_attempts: self.max_attempts,
            host_selector: self.host_selector,
            backoff: self.backoff,
            max_backoff: self.max_backoff,
            tls: self.tls.clone(),
            trust_all_certs: self.trust_all_certs,
        };
        let mut targets = client.targets()?;
        if self.client_type == ClientKind::Default {
            return Ok(Peer::One(targets.remove(0)));
        }
        let of_one_host = [
            ("keystore", self.keystore.is_some()),
            ("compression-within-tls", self.compression_within_tls),
            ("max-in-flight", self.max_in_flight.is_some()),
        ];
        match of_one_host.iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => Err(format!(
                "{key}: is not there with `client.type`: make a sink for each host, and a sink group of them"
            )),
            None => Ok(Peer::Several(Box::new(client))),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(target) => target.fmt(f),
            Self::Several(client) => {
                let targets = client.targets().unwrap_or_default();
                f.write_str(&targets.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
            }
        }
    }
}
