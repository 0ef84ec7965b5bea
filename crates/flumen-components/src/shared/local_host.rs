//! Name and address of this machine, as Java's `InetAddress.getLocalHost` finds them.

use std::{
    io,
    net::{IpAddr, ToSocketAddrs},
    sync::OnceLock,
};

/// The address that the host name stands for, IPv4 before IPv6. Asked for once a process: a reload does not wait for a name
/// server.
///
/// # Errors
/// The host name cannot be resolved. The next call asks again.
pub(crate) fn address() -> io::Result<IpAddr> {
    static KNOWN: OnceLock<IpAddr> = OnceLock::new();
    if let Some(known) = KNOWN.get() {
        return Ok(*known);
    }
    let name = dns_lookup::get_hostname()?;
    let no_address = |error: io::Error| {
        io::Error::new(error.kind(), format!("the host name `{name}` has no address: {error}"))
    };
    let addresses: Vec<IpAddr> =
        (name.as_str(), 0).to_socket_addrs().map_err(no_address)?.map(|address| address.ip()).collect();
    let first = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
    let first = first.ok_or_else(|| no_address(io::ErrorKind::NotFound.into()))?;
    Ok(*KNOWN.get_or_init(|| *first))
}

/// The full name of this machine: what its address is called, if that name leads back to the address; else the address
/// (`InetAddress.getCanonicalHostName`). Asked for once a process.
///
/// # Errors
/// As [`address`].
pub(crate) fn canonical_name() -> io::Result<String> {
    static KNOWN: OnceLock<String> = OnceLock::new();
    if let Some(known) = KNOWN.get() {
        return Ok(known.clone());
    }
    let address = address()?;
    let leads_back = |name: &String| {
        let found = (name.as_str(), 0).to_socket_addrs();
        found.is_ok_and(|mut found| found.any(|found| found.ip() == address))
    };
    let name = dns_lookup::lookup_addr(&address).ok().filter(leads_back);
    Ok(KNOWN.get_or_init(|| name.unwrap_or_else(|| shown(address))).clone())
}

/// An address as Java prints it: IPv6 without `::`.
pub(crate) fn shown(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => address.segments().map(|segment| format!("{segment:x}")).join(":"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_look_as_in_java() {
        assert_eq!(shown(IpAddr::from([10, 0, 0, 7])), "10.0.0.7");
        assert_eq!(shown("fe80::a:1".parse().unwrap()), "fe80:0:0:0:0:0:a:1");
    }

    #[test]
    fn the_canonical_name_leads_to_the_address() {
        let (address, name) = (address().unwrap(), canonical_name().unwrap());
        let found = (name.as_str(), 0).to_socket_addrs();
        assert!(
            name == shown(address) || found.unwrap().any(|found| found.ip() == address),
            "{name} {address}"
        );
        assert_eq!(canonical_name().unwrap(), name, "it is the same when asked again");
    }
}
