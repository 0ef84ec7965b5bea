//! The server's side: a port, and a task for each connection, all of which end with the server.

use super::{BoxIo, Compression, Deflate, accept, tune};
use flumen_core::{metrics::SourceMetrics, seldom::Seldom, source::Shutdown};
use flumen_tls::tls::handshake_failure;
use std::{fmt, future::Future, io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream, lookup_host},
    task::{JoinError, JoinSet},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

/// How long to wait after an accept has failed: the process is out of file handles, for instance.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Connections that were closed for a fault of their peers are told at most so often.
const CLOSED_PAUSE: Duration = Duration::from_secs(1);

/// How connections are treated.
#[derive(Debug, Clone)]
pub struct ServerLimits {
    /// Connections that may be open together; further ones wait until one ends.
    pub max_connections: usize,
    /// How long a TLS handshake may take.
    pub handshake: Duration,
    /// How long calls at work may take to end when the server stops.
    pub stop: Duration,
    /// Compression, where it is on.
    pub compression: Option<Compression>,
}

impl Default for ServerLimits {
    /// 10,000 connections, 30 s for a handshake, and 5 s to stop, as Java's servers have.
    fn default() -> Self {
        Self {
            max_connections: 10_000,
            handshake: Duration::from_secs(30),
            stop: Duration::from_secs(5),
            compression: None,
        }
    }
}

/// Opens the port, with Java's backlog where `backlog` says so.
///
/// # Errors
/// The address is unknown, or the port is in use or not allowed.
pub async fn bind(host: &str, port: u16, backlog: u32) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in lookup_host((host, port)).await? {
        match listen(address, backlog) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn listen(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(backlog)
}

/// A connection that was accepted, its TLS handshake done.
pub struct Accepted {
    /// The connection.
    pub stream: BoxIo,
    /// Who is at the other end.
    pub peer: SocketAddr,
    /// Ends when the server stops.
    pub shutdown: Shutdown,
}

/// An open port and what is done with who comes.
pub struct Listener {
    /// The name of the source, for messages.
    pub name: Arc<str>,
    /// The port.
    pub socket: TcpListener,
    /// TLS, where it is on.
    pub tls: Option<TlsAcceptor>,
    /// How connections are treated.
    pub limits: ServerLimits,
    /// Where open connections are counted.
    pub metrics: Arc<SourceMetrics>,
}

impl Listener {
    /// Accepts whom `admit` admits and runs `connection` for each until `shutdown`; then connections may end what they are
    /// at, for as long as the limits say. What a connection ends with is said in the log, with the peer's address.
    ///
    /// Whatever a peer does ends its own connection only.
    pub async fn serve<A, C, F>(self, mut shutdown: Shutdown, admit: A, connection: C)
    where
        A: Fn(SocketAddr) -> bool,
        C: Fn(Accepted) -> F + Clone + Send + 'static,
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        let mut connections = JoinSet::new();
        let mut told_full = false;
        let (refused, failed) = (Seldom::default(), Seldom::default());
        let closed = Arc::new(Seldom::every(CLOSED_PAUSE));
        loop {
            let is_full = connections.len() >= self.limits.max_connections;
            if is_full && !std::mem::replace(&mut told_full, true) {
                tracing::warn!(
                    source = &*self.name,
                    connections = self.limits.max_connections,
                    "all connections are in use"
                );
            }
            tokio::select! {
                biased;
                () = shutdown.requested() => break,
                Some(ended) = connections.join_next() => self.note_end(ended),
                accepted = accept(&self.socket), if !is_full => match accepted {
                    Ok((_, peer)) if !admit(peer) => {
                        if let Some(unsaid) = refused.due() {
                            tracing::warn!(source = &*self.name, %peer, unsaid, "refused by a rule");
                        }
                    }
                    Ok((stream, peer)) => {
                        self.metrics.open_connections.add(1);
                        let (tls, compression) = (self.tls.clone(), self.limits.compression);
                        let limit = self.limits.handshake;
                        let (name, connection) = (self.name.clone(), connection.clone());
                        let (shutdown, closed) = (shutdown.clone(), closed.clone());
                        connections.spawn(async move {
                            let ended = match secure(stream, tls, compression, limit, shutdown.clone()).await {
                                Ok(stream) => connection(Accepted { stream, peer, shutdown }).await,
                                Err(error) => Err(error),
                            };
                            let Err(error) = ended else { return };
                            match closed.due() {
                                Some(unsaid) => {
                                    tracing::warn!(source = &*name, %peer, error, unsaid, "connection closed");
                                }
                                None => tracing::debug!(source = &*name, %peer, error, "connection closed"),
                            }
                        });
                    }
                    Err(error) => {
                        self.metrics.generic_fail.add(1);
                        if let Some(unsaid) = failed.due() {
                            tracing::warn!(
                                source = &*self.name,
                                %error,
                                unsaid,
                                "cannot accept connections, trying again; is the limit of open files reached (ulimit -n)?"
                            );
                        }
                        tokio::select! {
                            () = shutdown.requested() => break,
                            () = sleep(ACCEPT_PAUSE) => {}
                        }
                    }
                }
            }
        }
        let Self { socket, name, limits, metrics, .. } = self;
        drop(socket);
        let ending = async { while connections.join_next().await.is_some() {} };
        if timeout(limits.stop, ending).await.is_err() {
            tracing::warn!(
                source = &*name,
                connections = connections.len(),
                "calls were cut off: they were not answered"
            );
        }
        metrics.open_connections.set(0);
    }

    fn note_end(&self, ended: Result<(), JoinError>) {
        self.metrics.open_connections.add(-1);
        if let Err(error) = ended {
            self.metrics.generic_fail.add(1);
            tracing::error!(source = &*self.name, %error, "a connection ended by a fault of the program");
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("name", &self.name)
            .field("socket", &self.socket)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accepted").field("peer", &self.peer).finish_non_exhaustive()
    }
}

async fn secure(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    compression: Option<Compression>,
    limit: Duration,
    mut shutdown: Shutdown,
) -> Result<BoxIo, String> {
    tune(&stream);
    let shake = async {
        Ok::<BoxIo, io::Error>(match (tls, compression) {
            (None, None) => Box::new(stream),
            (None, Some(Compression { level, .. })) => Box::new(Deflate::new(stream, level)),
            (Some(tls), None) => Box::new(tls.accept(stream).await?),
            (Some(tls), Some(Compression { level, within_tls: true })) => {
                Box::new(Deflate::new(tls.accept(stream).await?, level))
            }
            (Some(tls), Some(Compression { level, .. })) => {
                Box::new(tls.accept(Deflate::new(stream, level)).await?)
            }
        })
    };
    let shaken = tokio::select! {
        () = shutdown.requested() => return Err("the source stops".to_owned()),
        shaken = timeout(limit, shake) => shaken,
    };
    match shaken {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(format!("TLS handshake failed: {}", handshake_failure(&error))),
        Err(_) => Err(format!("no TLS handshake within {} s", limit.as_secs())),
    }
}
