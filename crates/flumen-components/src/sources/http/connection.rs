//! One connection: requests in, answers out, and an end that its peer can understand.

use super::{
    service::Service,
    stream::{Patient, Progress},
};
use flumen_core::{processor::ChannelProcessor, source::Shutdown};
use hyper::{StatusCode, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use std::{convert::Infallible, future::poll_fn, io, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};
use tokio_rustls::TlsAcceptor;

/// What is read ahead of a connection at most; the head of a request must fit.
const READ_BUFFER_BYTES: usize = 128 << 10;
/// How long, and for how many bytes, a peer is listened to after the last answer, so that it gets that answer.
const FAREWELL: Duration = Duration::from_secs(1);
const FAREWELL_BYTES: usize = 1 << 20;

/// How a connection is treated.
#[derive(Debug, Clone)]
pub(super) struct ConnectionLimits {
    /// How long it may be silent.
    pub(super) idle: Duration,
    /// How long the head of a request may take, from its first byte on.
    pub(super) head: Duration,
    pub(super) keeps_alive: bool,
    pub(super) sends_date: bool,
    pub(super) max_head_bytes: usize,
}

/// What a connection needs.
pub(super) struct Connection {
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) limits: ConnectionLimits,
    pub(super) service: Arc<Service>,
    pub(super) out: ChannelProcessor,
    pub(super) shutdown: Shutdown,
}

/// Why a peer cannot be served any more.
struct Fault {
    /// What it is answered, if it is not only gone.
    status: StatusCode,
    what: String,
}

impl Connection {
    /// Serves it to its end.
    pub(super) async fn run(self, stream: TcpStream, peer: SocketAddr) {
        // Answers are short and complete; a failure changes nothing but their delay.
        let _ = stream.set_nodelay(true);
        let Some(tls) = self.tls.clone() else { return self.serve(stream, peer).await };
        let (service, out) = (self.service.clone(), self.out.clone());
        let limit = self.limits.idle.min(self.limits.head);
        match timeout(limit, tls.accept(stream)).await {
            Ok(Ok(stream)) => self.serve(stream, peer).await,
            // Whoever only looks whether the port is open says nothing.
            Ok(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                tracing::debug!(%peer, "connection ended before its handshake");
            }
            Ok(Err(error)) => service.cannot_read(
                peer,
                None,
                &format!("TLS: {}", flumen_tls::tls::handshake_failure(&error)),
                &out,
            ),
            Err(_) => service.cannot_read(peer, None, "TLS: no handshake in time", &out),
        }
    }

    async fn serve<S>(self, stream: S, peer: SocketAddr)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { limits, service, out, mut shutdown, .. } = self;
        let progress = Arc::new(Progress::default());
        let answer = {
            let (service, out, progress) = (service.clone(), out.clone(), progress.clone());
            service_fn(move |request| {
                let at_work = progress.request();
                let (service, out) = (service.clone(), out.clone());
                Box::pin(async move {
                    let answer = service.answer(request, peer, &out).await;
                    drop(at_work);
                    Ok::<_, Infallible>(answer)
                })
            })
        };
        let mut builder = http1::Builder::new();
        builder
            .keep_alive(limits.keeps_alive)
            .auto_date_header(limits.sends_date)
            .half_close(true)
            .max_buf_size(READ_BUFFER_BYTES.max(limits.max_head_bytes));
        let stream = TokioIo::new(Patient::new(stream, limits.idle, limits.head, progress.clone()));
        let mut connection = builder.serve_connection(stream, answer);
        let stopped = tokio::select! {
            ended = poll_fn(|context| connection.poll_without_shutdown(context)) => Some(ended),
            () = shutdown.requested() => None,
        };
        let ended = match stopped {
            Some(ended) => ended,
            None if progress.requests() == 0 => return,
            None => {
                Pin::new(&mut connection).graceful_shutdown();
                poll_fn(|context| connection.poll_without_shutdown(context)).await
            }
        };
        let mut stream = connection.into_parts().io.into_inner();
        let Err(error) = ended else {
            // The peer has all its answers, or is gone.
            let _ = stream.shutdown().await;
            return;
        };
        match fault(&error, &stream) {
            Some(fault) => {
                service.cannot_read(peer, Some(fault.status), &fault.what, &out);
                // The peer may be gone, or not listen.
                let _ = farewell(&mut stream, &fault).await;
            }
            None => tracing::debug!(%peer, %error, "connection ended"),
        }
    }
}

/// What a peer did wrong, unless the connection just broke.
fn fault<S>(error: &hyper::Error, stream: &Patient<S>) -> Option<Fault> {
    let status = if stream.was_too_slow() {
        let what = "the head of a request did not arrive in time".to_owned();
        return Some(Fault { status: StatusCode::REQUEST_TIMEOUT, what });
    } else if error.is_parse_too_large() {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
    } else if error.is_parse() || error.is_incomplete_message() {
        StatusCode::BAD_REQUEST
    } else {
        return None;
    };
    let mut what = format!("this is no request of HTTP/1: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        what += &format!(": {error}");
        cause = error.source();
    }
    Some(Fault { status, what })
}

/// Answers, if nobody has, ends our side, and listens on for a moment: closing at once with bytes unread would take the
/// answer from the peer.
async fn farewell<S>(stream: &mut Patient<S>, fault: &Fault) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if !stream.has_answered() {
        let Fault { status, what } = fault;
        let answer = format!(
            "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Length: {}\r\n\r\n{what}\n",
            what.len() + 1
        );
        stream.write_all(answer.as_bytes()).await?;
    }
    stream.shutdown().await?;
    let stream = stream.inner();
    let end = Instant::now() + FAREWELL;
    let mut ignored = vec![0; 16 << 10];
    let mut n_bytes = 0;
    while n_bytes < FAREWELL_BYTES {
        match timeout_at(end, stream.read(&mut ignored)).await {
            Ok(Ok(0)) | Err(_) => break,
            Ok(n) => n_bytes += n?,
        }
    }
    Ok(())
}
