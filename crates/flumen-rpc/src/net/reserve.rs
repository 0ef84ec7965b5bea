//! File descriptors that connections never take: channels and monitors go on when clients have taken all others.

use rustix::process::{Resource, getrlimit};
use std::{io, net::SocketAddr, os::fd::AsRawFd};
use tokio::net::{TcpListener, TcpStream};

/// At most as many descriptors are kept from connections.
const MOST_KEPT: u64 = 256;

/// Accepts a connection, unless it would have one of the last descriptors: a quarter of the limit of open files, at most 256,
/// is for files, and for connections that this process opens itself. May be dropped between two connections.
///
/// # Errors
/// Those of the system. A connection for which no descriptor may be had is closed, with the error of a process that has none.
pub async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    const EMFILE: i32 = 24;
    let (stream, peer) = listener.accept().await?;
    let limit = getrlimit(Resource::Nofile).current;
    // The system gives out the lowest number that is free.
    let taken = u64::try_from(stream.as_raw_fd()).unwrap_or_default();
    if limit.is_some_and(|limit| taken >= for_connections(limit)) {
        return Err(io::Error::from_raw_os_error(EMFILE));
    }
    Ok((stream, peer))
}

/// Descriptors from this one on are not for connections.
fn for_connections(limit: u64) -> u64 {
    limit - (limit / 4).min(MOST_KEPT)
}

#[cfg(test)]
mod tests {
    use super::for_connections;

    #[test]
    fn a_quarter_is_kept_and_never_more_than_256() {
        assert_eq!([64, 1_024, 4_096].map(for_connections), [48, 768, 3_840]);
    }
}
