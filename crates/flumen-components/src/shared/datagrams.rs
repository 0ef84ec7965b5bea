//! Takes datagrams: as many at a time as have come, side by side in one piece of memory.

use bytes::{BufMut, Bytes, BytesMut};
use socket2::SockRef;
use std::{io, net::SocketAddr, ops::Range};
use tokio::net::UdpSocket;

/// The largest datagram.
const LARGEST: usize = 65_536;
/// What is read at a time.
const BUFFER: usize = 8 * LARGEST;
/// What the system is asked to hold while the channels are slow; it may give less.
const SYSTEM_BUFFER: usize = 8 << 20;

/// A socket and what was read from it.
#[derive(Debug)]
pub(crate) struct Datagrams {
    socket: UdpSocket,
    buffer: BytesMut,
    found: Vec<Datagram>,
}

/// A datagram, as a place in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) range: Range<usize>,
    pub(crate) sender: SocketAddr,
}

impl Datagrams {
    /// Listens; without a host on every address of the machine.
    ///
    /// # Errors
    /// The address is unknown, or the port is in use or not allowed.
    pub(crate) async fn bind(host: Option<&str>, port: u16) -> io::Result<Self> {
        let socket = match host.map(str::trim).filter(|host| !host.is_empty()) {
            Some(host) => UdpSocket::bind((host, port)).await?,
            // Machines without IPv6 have IPv4 only.
            None => match UdpSocket::bind(("::", port)).await {
                Ok(socket) => socket,
                Err(_) => UdpSocket::bind(("0.0.0.0", port)).await?,
            },
        };
        // A smaller buffer loses more datagrams while channels are slow, and works.
        let _ = SockRef::from(&socket).set_recv_buffer_size(SYSTEM_BUFFER);
        Ok(Self { socket, buffer: BytesMut::new(), found: Vec::new() })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }

    /// Waits for datagrams and takes those that are there, at most `max`. Dropping this future loses nothing.
    ///
    /// # Errors
    /// The socket failed.
    pub(crate) async fn next(&mut self, max: usize) -> io::Result<(Bytes, Vec<Datagram>)> {
        loop {
            self.socket.readable().await?;
            self.buffer.reserve(BUFFER);
            while self.found.len() < max && self.buffer.capacity() - self.buffer.len() >= LARGEST {
                let start = self.buffer.len();
                match self.socket.try_recv_buf_from(&mut (&mut self.buffer).limit(LARGEST)) {
                    Ok((n_bytes, sender)) => {
                        self.found.push(Datagram { range: start..start + n_bytes, sender })
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(_) if !self.found.is_empty() => break,
                    Err(error) => return Err(error),
                }
            }
            if !self.found.is_empty() {
                return Ok((self.buffer.split().freeze(), std::mem::take(&mut self.found)));
            }
        }
    }
}
