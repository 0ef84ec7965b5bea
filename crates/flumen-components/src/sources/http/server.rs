//! Listens, accepts, and ends with the source: every connection is a task of one set.

use super::{
    connection::{Connection, ConnectionLimits},
    service::Service,
};
use crate::shared::accept::{ACCEPT_PAUSE, FailedAccepts};
use flumen_core::{
    processor::ChannelProcessor,
    source::{Shutdown, SourceError},
};
use flumen_rpc::net::accept;
use std::{io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpSocket, lookup_host},
    task::{JoinError, JoinSet},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

/// How connections are treated.
#[derive(Debug, Clone)]
pub(super) struct ServerLimits {
    pub(super) max_connections: usize,
    /// How long requests at work may take to end.
    pub(super) stop: Duration,
    pub(super) connection: ConnectionLimits,
}

/// Opens the port.
///
/// # Errors
/// The address is unknown, or the port is in use or not allowed.
pub(super) async fn bind(host: &str, port: u16, backlog: u32) -> io::Result<TcpListener> {
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
    socket.listen(if backlog == 0 { 128 } else { backlog })
}

/// Serves until `shutdown`; then requests at work may end, and nothing new is accepted.
///
/// # Errors
/// None so far: whatever a peer does ends its own connection only.
pub(super) async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    limits: ServerLimits,
    service: Arc<Service>,
    out: ChannelProcessor,
    mut shutdown: Shutdown,
) -> Result<(), SourceError> {
    let mut connections = JoinSet::new();
    let failed_accepts = FailedAccepts::new(service.name.clone());
    let mut told_full = false;
    loop {
        let is_full = connections.len() >= limits.max_connections;
        if is_full && !std::mem::replace(&mut told_full, true) {
            tracing::warn!(
                source = &*service.name,
                connections = limits.max_connections,
                "all connections are in use: see maxConnections"
            );
        }
        tokio::select! {
            biased;
            () = shutdown.requested() => break,
            Some(ended) = connections.join_next() => note_end(ended, &out),
            accepted = accept(&listener), if !is_full => match accepted {
                Ok((stream, peer)) => {
                    let connection = Connection {
                        tls: tls.clone(),
                        limits: limits.connection.clone(),
                        service: service.clone(),
                        out: out.clone(),
                        shutdown: shutdown.clone(),
                    };
                    out.metrics().open_connections.add(1);
                    connections.spawn(connection.run(stream, peer));
                }
                Err(error) => {
                    failed_accepts.note(&error, out.metrics());
                    tokio::select! {
                        () = shutdown.requested() => break,
                        () = sleep(ACCEPT_PAUSE) => {}
                    }
                }
            }
        }
    }
    drop(listener);
    let ending = async {
        while let Some(ended) = connections.join_next().await {
            note_end(ended, &out);
        }
    };
    if timeout(limits.stop, ending).await.is_err() {
        tracing::warn!(
            source = &*service.name,
            connections = connections.len(),
            "requests were cut off: they were not answered"
        );
    }
    out.metrics().open_connections.set(0);
    Ok(())
}

fn note_end(ended: Result<(), JoinError>, out: &ChannelProcessor) {
    out.metrics().open_connections.add(-1);
    if let Err(error) = ended {
        out.metrics().generic_fail.add(1);
        tracing::error!(%error, "a connection ended by a fault of the program");
    }
}
