//! Posts bodies over one connection that is kept.

use bytes::Bytes;
use flumen_core::{config::Url, metrics::SinkMetrics};
use flumen_rpc::net::{Target, connector, dial};
use flumen_tls::tls::TlsSettings;
use http_body_util::{BodyExt, Full};
use hyper::{
    HeaderMap, Method, Request, Uri,
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
    header::{self, HeaderValue},
};
use hyper_util::rt::TokioIo;
use std::{fmt, sync::Arc, time::Duration};
use tokio::{task::JoinSet, time::timeout};
use tokio_rustls::TlsConnector;

/// What is read of an answer at most; after more the connection is closed.
const MOST_ANSWER_BYTES: usize = 64 << 10;

/// Where and how to post.
pub(super) struct Client {
    target: Target,
    path: Uri,
    headers: HeaderMap,
    connect_timeout: Duration,
    request_timeout: Duration,
    tls: Option<TlsSettings>,
    connector: Option<TlsConnector>,
    open: Option<Open>,
    metrics: Arc<SinkMetrics>,
}

/// A connection, and the task that moves its bytes.
struct Open {
    requests: SendRequest<Full<Bytes>>,
    _moving: JoinSet<()>,
}

/// How a client is made.
pub(super) struct Settings {
    pub(super) content_type: HeaderValue,
    pub(super) accept: HeaderValue,
    pub(super) connect_timeout: Duration,
    pub(super) request_timeout: Duration,
    pub(super) tls: Option<TlsSettings>,
    pub(super) metrics: Arc<SinkMetrics>,
}

impl Client {
    /// A client that connects with its first request.
    ///
    /// # Errors
    /// The URL has a path or a host that no request can have.
    pub(super) fn new(endpoint: &Url, settings: Settings) -> Result<Self, String> {
        let path = endpoint.path().parse::<Uri>().map_err(|error| format!("no path of a URL: {error}"))?;
        let default_port = if settings.tls.is_some() { 443 } else { 80 };
        let port = endpoint.port().unwrap_or(default_port);
        let target = Target { host: endpoint.host().into(), port };
        let mut host = target.to_string();
        if port == default_port {
            host.truncate(host.rfind(':').unwrap_or(host.len()));
        }
        let mut headers = HeaderMap::new();
        let host = HeaderValue::from_str(&host).map_err(|error| format!("no host of a URL: {error}"))?;
        headers.insert(header::HOST, host);
        headers.insert(header::USER_AGENT, HeaderValue::from_static("flumen"));
        headers.insert(header::CONTENT_TYPE, settings.content_type);
        headers.insert(header::ACCEPT, settings.accept);
        Ok(Self {
            target,
            path,
            headers,
            connect_timeout: settings.connect_timeout,
            request_timeout: settings.request_timeout,
            tls: settings.tls,
            connector: None,
            open: None,
            metrics: settings.metrics,
        })
    }

    /// Posts a body: the status of the answer.
    ///
    /// # Errors
    /// There is no connection, or no answer in time, or none that is HTTP.
    pub(super) async fn post(&mut self, body: Bytes) -> Result<u16, String> {
        // Taken out: an exchange that fails or is dropped leaves the connection unusable.
        if let Some(mut open) = self.open.take() {
            match self.exchange(&mut open, body.clone()).await {
                Ok(answer) => return Ok(self.keep(open, answer)),
                Err(Failed::Late(late)) => return Err(self.give_up(late)),
                // A server may close what it has kept for long enough: that says nothing about the next connection.
                Err(Failed::Broken(_)) => self.metrics.connections_closed.add(1),
            }
        }
        let mut open = self.connect().await?;
        match self.exchange(&mut open, body).await {
            Ok(answer) => Ok(self.keep(open, answer)),
            Err(Failed::Late(why) | Failed::Broken(why)) => Err(self.give_up(why)),
        }
    }

    /// Ends the connection.
    pub(super) fn close(&mut self) {
        if self.open.take().is_some() {
            self.metrics.connections_closed.add(1);
        }
    }

    /// One request and its answer.
    async fn exchange(&self, open: &mut Open, body: Bytes) -> Result<Answer, Failed> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.path.clone();
        *request.headers_mut() = self.headers.clone();
        let exchange = async {
            open.requests.ready().await?;
            let response = open.requests.send_request(request).await?;
            let status = response.status().as_u16();
            Ok::<_, hyper::Error>(Answer { status, is_whole: read_to_end(response.into_body()).await? })
        };
        match timeout(self.request_timeout, exchange).await {
            Ok(answer) => answer.map_err(|error| Failed::Broken(error.to_string())),
            Err(_) => {
                let limit = self.request_timeout.as_millis();
                Err(Failed::Late(format!("no answer within {limit} ms (requestTimeout)")))
            }
        }
    }

    /// Notes that a connection has ended before its answer.
    fn give_up(&self, why: String) -> String {
        self.metrics.connections_closed.add(1);
        why
    }

    fn keep(&mut self, open: Open, answer: Answer) -> u16 {
        if answer.is_whole && !open.requests.is_closed() {
            self.open = Some(open);
        } else {
            self.metrics.connections_closed.add(1);
        }
        answer.status
    }

    async fn connect(&mut self) -> Result<Open, String> {
        let connected = self.dial().await;
        let counter = match connected {
            Ok(_) => &self.metrics.connections_created,
            Err(_) => &self.metrics.connections_failed,
        };
        counter.add(1);
        connected
    }

    async fn dial(&mut self) -> Result<Open, String> {
        if let (Some(settings), None) = (&self.tls, &self.connector) {
            self.connector = Some(connector(settings).await?);
        }
        let stream = dial(&self.target, self.connector.as_ref(), self.connect_timeout).await;
        let stream = TokioIo::new(stream.map_err(|error| error.to_string())?);
        let (requests, connection) = handshake(stream).await.map_err(|error| error.to_string())?;
        let mut moving = JoinSet::new();
        moving.spawn(async {
            // What goes wrong is told to the request at work.
            let _ = connection.await;
        });
        Ok(Open { requests, _moving: moving })
    }
}

/// Why there is no answer.
enum Failed {
    /// The time is over.
    Late(String),
    /// The connection ended, or what came is not HTTP.
    Broken(String),
}

struct Answer {
    status: u16,
    /// Whether its body was read to the end.
    is_whole: bool,
}

/// Reads an answer that nobody wants, so that the connection can be used again. False: there is too much of it.
async fn read_to_end(mut body: Incoming) -> hyper::Result<bool> {
    let mut n_bytes = 0;
    while let Some(frame) = body.frame().await {
        n_bytes += frame?.data_ref().map_or(0, Bytes::len);
        if n_bytes > MOST_ANSWER_BYTES {
            return Ok(false);
        }
    }
    Ok(true)
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("target", &self.target).finish_non_exhaustive()
    }
}
