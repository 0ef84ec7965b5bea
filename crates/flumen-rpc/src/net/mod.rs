//! Connections of both protocols: ports that are opened, peers that are dialled, in the open or within TLS by Java's settings.

mod deflate;
mod dial;
mod listen;
mod reserve;
mod stream;
mod tls;

pub use deflate::{Compression, Deflate};
pub(crate) use dial::open;
pub use dial::{ConnectError, Target, dial};
pub use listen::{Accepted, Listener, ServerLimits, bind};
pub use reserve::accept;
pub(crate) use stream::{ReadHalf, WriteHalf};
pub use tls::{ClientTlsConfig, ServerTlsConfig, acceptor, connector};

use socket2::{SockRef, TcpKeepalive};
use std::time::Duration;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

/// A connection, in the open or within TLS.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// A connection of either kind.
pub type BoxIo = Box<dyn Io>;

/// A peer that is silent for so long is asked by the system whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// Messages go out at once, and a peer that has vanished is noticed. Where the system refuses, nothing changes but delays.
fn tune(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let _ = SockRef::from(stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEP_ALIVE));
}
