//! Whether a source that is to take the place of a running one can have the port it wants: looked at before the old one stops.

use crate::plan::{Plan, SourcePlan};
use flumen_core::registry::{Listening, Transport};
use std::{
    io,
    net::{IpAddr, Ipv4Addr, TcpListener, UdpSocket},
};

/// Why a source could not listen. `None`: it can, or that is not known before it tries: a port that another source of the
/// running plan has may be free by then, and names other than `localhost` are not looked up.
pub(super) fn refused(next: &SourcePlan, running: &Plan) -> Option<String> {
    let ours = |own: &Listening| {
        let mut all = running.sources.values().flat_map(|source| &source.part.facts.listens);
        all.any(|other| (other.port, other.transport) == (own.port, own.transport))
    };
    let new = next.part.facts.listens.iter().filter(|own| own.port != 0 && !ours(own));
    new.filter_map(|own| {
        let error = listen(address(&own.host)?, own).err()?;
        Some(format!("{}: cannot listen on {} port {}: {error}", own.key, own.host, own.port))
    })
    .next()
}

fn address(host: &str) -> Option<IpAddr> {
    match host.trim_matches(['[', ']']) {
        "" | "*" => Some(Ipv4Addr::UNSPECIFIED.into()),
        "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
        host => host.parse().ok(),
    }
}

/// Listens, and lets go at once.
fn listen(address: IpAddr, own: &Listening) -> io::Result<()> {
    match own.transport {
        Transport::Tcp => TcpListener::bind((address, own.port)).map(drop),
        Transport::Udp => UdpSocket::bind((address, own.port)).map(drop),
    }
}
