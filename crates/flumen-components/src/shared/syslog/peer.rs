//! `clientIPHeader` and `clientHostnameHeader`: who sent a message.

use crate::shared::local_host::shown;
use flumen_core::event::{Headers, Text};
use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    time::Duration,
};
use tokio::{task::spawn_blocking, time::timeout};

/// How long a name server may take; then the address stands for the name.
const LOOKUP_LIMIT: Duration = Duration::from_secs(2);
/// Peers whose headers are remembered.
const REMEMBERED: usize = 10_000;

/// The names of the headers, where they are wanted. An empty name is none.
#[derive(Debug, Clone, Default)]
pub(crate) struct PeerNames {
    ip: Option<Text>,
    host: Option<Text>,
}

impl PeerNames {
    pub(crate) fn new(ip: Option<&str>, host: Option<&str>) -> Self {
        let name = |name: Option<&str>| name.filter(|name| !name.is_empty()).map(Text::kept);
        Self { ip: name(ip), host: name(host) }
    }

    /// Whether there are any.
    pub(crate) fn are_wanted(&self) -> bool {
        self.ip.is_some() || self.host.is_some()
    }

    /// The headers of what this peer sends.
    pub(crate) async fn of(&self, peer: SocketAddr) -> Headers {
        let address = peer.ip().to_canonical();
        let mut headers = Headers::new();
        if let Some(name) = &self.ip {
            headers.set(name.clone(), shown(address).into());
        }
        if let Some(name) = &self.host {
            headers.set(name.clone(), host_name(address).await.into());
        }
        headers
    }
}

/// The headers of many peers, each looked up once.
#[derive(Debug)]
pub(crate) struct PeerHeaders {
    names: PeerNames,
    known: HashMap<IpAddr, Headers>,
}

impl PeerHeaders {
    pub(crate) fn new(names: PeerNames) -> Self {
        Self { names, known: HashMap::new() }
    }

    /// The headers of what this peer sends.
    pub(crate) async fn of(&mut self, peer: SocketAddr) -> Headers {
        if !self.names.are_wanted() {
            return Headers::new();
        }
        if let Some(headers) = self.known.get(&peer.ip()) {
            return headers.clone();
        }
        let headers = self.names.of(peer).await;
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(peer.ip(), headers.clone());
        headers
    }
}

/// The name that an address leads to, or the address as text (`InetAddress.getHostName`).
async fn host_name(address: IpAddr) -> String {
    let lookup = spawn_blocking(move || dns_lookup::lookup_addr(&address).ok());
    let found = timeout(LOOKUP_LIMIT, lookup).await;
    found.ok().and_then(Result::ok).flatten().unwrap_or_else(|| shown(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sys_24_peers_have_address_and_name() {
        let names = PeerNames::new(Some("ip"), Some("host"));
        let headers = names.of("[::ffff:127.0.0.1]:5140".parse().unwrap()).await;
        assert_eq!(headers.get("ip").unwrap(), "127.0.0.1");
        assert!(!headers.get("host").unwrap().is_empty());
        // An address that has no name, from the block for documentation.
        let headers = names.of("192.0.2.1:5140".parse().unwrap()).await;
        assert_eq!(
            (headers.get("ip").unwrap(), headers.get("host").unwrap()),
            (&"192.0.2.1".into(), &"192.0.2.1".into())
        );
        assert!(PeerNames::new(Some(""), None).of("127.0.0.1:1".parse().unwrap()).await.is_empty());
    }
}
