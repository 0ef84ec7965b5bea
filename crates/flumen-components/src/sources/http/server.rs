//! Listens, accepts, and ends with the source: every connection is a task of one set.

use super::{service::Service, stream::Patient};
use flumen_core::{
    processor::ChannelProcessor,
    source::{Shutdown, SourceError},
};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream, lookup_host},
    task::{JoinError, JoinSet},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

/// What is read ahead of a connection at most; the head of a request must fit.
const READ_BUFFER_BYTES: usize = 128 << 10;
/// How long to wait after an accept has failed: the process is out of file handles, for instance.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How connections are treated.
#[derive(Debug, Clone)]
pub(super) struct ServerLimits {
    pub(super) max_connections: usize,
    /// How long a connection may be silent.
    pub(super) idle: Duration,
    /// How long requests at work may take to end.
    pub(super) stop: Duration,
    pub(super) keeps_alive: bool,
    pub(super) sends_date: bool,
    pub(super) max_head_bytes: usize,
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
            accepted = listener.accept(), if !is_full => match accepted {
                Ok((stream, peer)) => {
                    let connection = Connection {
                        tls: tls.clone(),
                        limits: limits.clone(),
                        service: service.clone(),
                        out: out.clone(),
                        shutdown: shutdown.clone(),
                    };
                    out.metrics().open_connections.add(1);
                    connections.spawn(connection.run(stream, peer));
                }
                Err(error) => {
                    tracing::warn!(source = &*service.name, %error, "a connection was not accepted");
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

struct Connection {
    tls: Option<TlsAcceptor>,
    limits: ServerLimits,
    service: Arc<Service>,
    out: ChannelProcessor,
    shutdown: Shutdown,
}

impl Connection {
    async fn run(self, stream: TcpStream, peer: SocketAddr) {
        // Answers are short and complete; a failure changes nothing but their delay.
        let _ = stream.set_nodelay(true);
        let ended = match self.tls.clone() {
            None => self.serve(stream).await,
            Some(tls) => match timeout(self.limits.idle, tls.accept(stream)).await {
                Ok(Ok(stream)) => self.serve(stream).await,
                Ok(Err(error)) => Err(format!("TLS: {error}")),
                Err(_) => Err("TLS: no handshake in time".to_owned()),
            },
        };
        if let Err(error) = ended {
            tracing::debug!(%peer, error, "connection ended");
        }
    }

    async fn serve<S>(self, stream: S) -> Result<(), String>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { limits, service, out, mut shutdown, .. } = self;
        let was_used = Arc::new(AtomicBool::new(false));
        let used = was_used.clone();
        let answer = service_fn(move |request| {
            used.store(true, Ordering::Relaxed);
            let (service, out) = (service.clone(), out.clone());
            async move { Ok::<_, Infallible>(service.answer(request, &out).await) }
        });
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(limits.idle)
            .keep_alive(limits.keeps_alive)
            .auto_date_header(limits.sends_date)
            .half_close(true)
            .max_buf_size(READ_BUFFER_BYTES.max(limits.max_head_bytes));
        let stream = TokioIo::new(Patient::new(stream, limits.idle));
        let mut connection = pin!(builder.serve_connection(stream, answer));
        tokio::select! {
            ended = connection.as_mut() => return ended.map_err(|error| error.to_string()),
            () = shutdown.requested() => {}
        }
        if !was_used.load(Ordering::Relaxed) {
            return Ok(());
        }
        connection.as_mut().graceful_shutdown();
        connection.await.map_err(|error| error.to_string())
    }
}
