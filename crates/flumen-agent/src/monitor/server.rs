//! The HTTP side: Flume's `/metrics`, Prometheus beside it, and whether the agent is well.

use super::{Format, health, json, prometheus};
use crate::agent::Board;
use bytes::Bytes;
use flumen_core::{seldom::Seldom, source::Shutdown};
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ACCEPT, CONTENT_TYPE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{convert::Infallible, io, net::Ipv6Addr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};

/// Connections that are served at once; others wait. More than a careless client opens, so that probes get through.
const MAX_CONNECTIONS: usize = 1_024;
/// How long a client may take for its request head, also before its first byte.
const HEADER_LIMIT: Duration = Duration::from_secs(5);
/// The pause between tries for a port that somebody else has.
pub(super) const RETRY: Duration = Duration::from_secs(3);
/// Bytes of a request head.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// The type that Java's server names.
const JSON: &str = "application/json;charset=utf-8";

/// Listens on all addresses, as Java does.
pub(super) async fn listen(port: u16) -> io::Result<TcpListener> {
    match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
        Ok(listener) => Ok(listener),
        // A machine without IPv6.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(error),
        Err(_) => TcpListener::bind(("0.0.0.0", port)).await,
    }
}

/// Waits for the port, and then serves until told to stop.
pub(super) async fn run_when_free(port: u16, board: Arc<Board>, format: Format, mut shutdown: Shutdown) {
    loop {
        tokio::select! {
            biased;
            () = shutdown.requested() => return,
            () = tokio::time::sleep(RETRY) => {}
        }
        if let Ok(listener) = listen(port).await {
            tracing::info!("monitoring: listens on port {port} now");
            return run(listener, board, format, shutdown).await;
        }
    }
}

/// Serves until told to stop.
pub(super) async fn run(listener: TcpListener, board: Arc<Board>, format: Format, mut shutdown: Shutdown) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let warnings = Seldom::default();
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.requested() => return,
            accepted = accept(&listener, &room) => accepted,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, permit)) => {
                let board = board.clone();
                connections.spawn(async move {
                    serve(stream, board, format).await;
                    drop(permit);
                });
            }
            Err(error) => {
                // Mostly too many open files: a pause lets some be closed.
                if let Some(unsaid) = warnings.due() {
                    tracing::warn!(
                        unsaid,
                        "monitoring: no connection can be accepted, trying again: {error}. The next warning comes in a minute \
                         at the earliest"
                    );
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = room.clone().acquire_owned().await.map_err(io::Error::other)?;
    Ok((listener.accept().await?.0, permit))
}

async fn serve(stream: TcpStream, board: Arc<Board>, format: Format) {
    let service = service_fn(move |request| {
        let answer = answer(&request, &board, format);
        async move { Ok::<_, Infallible>(answer) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_LIMIT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!("monitoring: connection ended: {error}");
    }
}

fn answer(request: &Request<Incoming>, board: &Board, format: Format) -> Response<Full<Bytes>> {
    if matches!(*request.method(), Method::TRACE | Method::OPTIONS) {
        return reply(StatusCode::FORBIDDEN, "text/plain", "forbidden\n".into());
    }
    let metrics = |format| match format {
        Format::Json => reply(StatusCode::OK, JSON, json::render(&board.report_with_totals())),
        Format::Prometheus => {
            reply(StatusCode::OK, prometheus::CONTENT_TYPE, prometheus::render(&board.report_with_totals()))
        }
    };
    // Java takes the path in any case.
    match request.uri().path().to_ascii_lowercase().as_str() {
        "/metrics" => metrics(asked_for(request).unwrap_or(format)),
        "/metrics/json" => metrics(Format::Json),
        "/metrics/prometheus" => metrics(Format::Prometheus),
        "/health" => {
            let report = board.report();
            reply(StatusCode::OK, JSON, health::render(&report).1)
        }
        "/ready" => {
            let (well, text) = health::render(&board.report());
            reply(if well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, JSON, text)
        }
        "/" => {
            let page = "<html><body>For Flume metrics please click <a href = \"./metrics\"> here</a>.</body></html>\n";
            reply(StatusCode::OK, "text/html;charset=utf-8", page.into())
        }
        _ => reply(
            StatusCode::NOT_FOUND,
            "text/plain",
            "not found; there are /metrics, /metrics/prometheus, /health and /ready\n".into(),
        ),
    }
}

/// A scraper of Prometheus says so in its `Accept` header.
fn asked_for(request: &Request<Incoming>) -> Option<Format> {
    let accept = request.headers().get(ACCEPT)?.to_str().ok()?;
    let scraper = accept.contains("application/openmetrics-text") || accept.contains("version=0.0.4");
    if scraper {
        Some(Format::Prometheus)
    } else if accept.contains("application/json") {
        Some(Format::Json)
    } else {
        None
    }
}

fn reply(status: StatusCode, content_type: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(content_type));
    response
}
