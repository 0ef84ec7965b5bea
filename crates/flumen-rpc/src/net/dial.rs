//! The client's side: a connection to a peer, with one time limit for name, connection and TLS handshake.

use super::{BoxIo, Compression, Deflate, stream::Stream, tune};
use rustls::pki_types::ServerName;
use std::{fmt, io, sync::Arc, time::Duration};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::TlsConnector;

/// Where a peer listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// Name or address; an IPv6 address without brackets.
    pub host: Arc<str>,
    /// The port.
    pub port: u16,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(f, "[{}]:{}", self.host, self.port);
        }
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The name has no address, nobody listens there, or the way is closed.
    #[error("cannot connect to {target}: {source}")]
    Connect {
        /// The peer.
        target: Target,
        /// What the system said.
        source: io::Error,
    },
    /// The TLS handshake failed: the peer does not speak TLS, or its certificate is not trusted.
    #[error("TLS with {target}: {}", flumen_tls::tls::handshake_failure(.source))]
    Tls {
        /// The peer.
        target: Target,
        /// What was wrong.
        source: io::Error,
    },
    /// Not all was done in time.
    #[error("cannot connect to {target}: no answer within {} ms", .limit.as_millis())]
    Timeout {
        /// The peer.
        target: Target,
        /// The limit.
        limit: Duration,
    },
}

/// Connects, with TLS where there is a connector, all within `limit`.
///
/// # Errors
/// See [`ConnectError`].
pub async fn dial(
    target: &Target,
    tls: Option<&TlsConnector>,
    limit: Duration,
) -> Result<BoxIo, ConnectError> {
    open(target, tls, None, limit).await.map(Stream::boxed)
}

/// The same, with compression where it is wanted.
pub(crate) async fn open(
    target: &Target,
    tls: Option<&TlsConnector>,
    compression: Option<Compression>,
    limit: Duration,
) -> Result<Stream, ConnectError> {
    let connect = async {
        let stream = TcpStream::connect((&*target.host, target.port))
            .await
            .map_err(|source| ConnectError::Connect { target: target.clone(), source })?;
        tune(&stream);
        let Some(tls) = tls else {
            return Ok(match compression {
                None => Stream::Plain(stream),
                Some(Compression { level, .. }) => Stream::Layered(Box::new(Deflate::new(stream, level))),
            });
        };
        let failed = |source| ConnectError::Tls { target: target.clone(), source };
        // Names that a certificate cannot have, with an underscore for instance, are in use, and nobody compares them.
        let name = ServerName::try_from(target.host.to_string())
            .or_else(|_| ServerName::try_from("localhost"))
            .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidInput, error)))?;
        let stream: BoxIo = match compression {
            None => Box::new(tls.connect(name, stream).await.map_err(failed)?),
            Some(Compression { level, within_tls: true }) => {
                Box::new(Deflate::new(tls.connect(name, stream).await.map_err(failed)?, level))
            }
            Some(Compression { level, .. }) => {
                Box::new(tls.connect(name, Deflate::new(stream, level)).await.map_err(failed)?)
            }
        };
        Ok(Stream::Layered(stream))
    };
    match timeout(limit, connect).await {
        Ok(connected) => connected,
        Err(_) => Err(ConnectError::Timeout { target: target.clone(), limit }),
    }
}
