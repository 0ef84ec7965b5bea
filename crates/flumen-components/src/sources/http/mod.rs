//! Takes events by HTTP: each request is one batch, and its answer says whether it was stored.
//!
//! Delivery: at least once. A request is answered with 200 when every required channel has committed all of its events.
//! Transient failure (full channel): 503, nothing is stored, the client sends again.
//! Permanent failure (bad request): 400 or another status of its own, nothing is stored. A port in use: an error, and
//! the source is started again after a pause.
//! Duplicates: all events of a request whose answer did not reach its client, as the client sends it again.
//! Deduplication key: whatever the client puts into headers, else none.

mod blob;
mod body;
mod config;
mod connection;
mod handler;
mod jetty;
mod json;
mod server;
mod service;
mod stream;
mod tls;

pub use config::HttpConfig;
pub use handler::{HandlerConfig, HandlerType};
pub use jetty::{HttpConfiguration, QueuedThreadPool, ServerConnector, SslContextFactory};

use body::{BodyLimits, Memory};
use bytes::Bytes;
use connection::ConnectionLimits;
use flumen_core::{
    event::Batch,
    processor::ChannelProcessor,
    registry::{BuildError, Facts, Listening, SourceContext, SourceType, Transport},
    seldom::Seldom,
    source::{Shutdown, Source, SourceError},
};
use flumen_tls::tls::TlsSettings;
use handler::Handler;
use server::ServerLimits;
use service::Service;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::sync::watch;

/// See the module.
#[derive(Debug)]
pub struct HttpSource {
    bind: String,
    port: u16,
    /// The property that names the port, for messages.
    port_key: String,
    backlog: u32,
    tls: Option<Arc<TlsSettings>>,
    limits: ServerLimits,
    service: Arc<Service>,
    address: watch::Sender<Option<SocketAddr>>,
}

/// The events of a request's JSON, or why there are none: for tests with hostile input.
///
/// # Errors
/// What the request would be answered.
pub fn json_events(content_type: Option<&str>, body: Bytes) -> Result<Batch, String> {
    json::batch(content_type, body).map_err(|refusal| refusal.reason)
}

/// The event of a request to a BLOB handler, or why there is none: for tests with hostile input.
///
/// # Errors
/// What the request would be answered.
pub fn blob_event(query: Option<&str>, body: Bytes) -> Result<Batch, String> {
    blob::batch(query, body, &[], usize::MAX).map_err(|refusal| refusal.reason)
}

impl HttpSource {
    /// The address that it listens on, once it does: with port 0 only the system knows it.
    pub fn address(&self) -> watch::Receiver<Option<SocketAddr>> {
        self.address.subscribe()
    }
}

impl SourceType for HttpSource {
    const NAMES: &'static [&'static str] = &["http", "org.apache.flume.source.http.HTTPSource"];
    const SUMMARY: &'static str = "Takes events by HTTP requests, as JSON or as they are.";
    type Config = HttpConfig;

    fn build(config: HttpConfig, context: &SourceContext) -> Result<Self, BuildError> {
        let common = &context.common;
        let key = |key: &str| format!("{}.sources.{}.{key}", common.agent, common.name);
        let tls = tls::settings(&config, &common.environment, &key)?;
        let max_bytes = config.max_request_bytes.0;
        if config.max_buffered_bytes.0 < max_bytes {
            let (low, high) = (key("maxBufferedBytes"), key("maxRequestBytes"));
            return Err(BuildError::new(format!("{low} must be at least {high} ({max_bytes})")));
        }
        let idle = config.connector.idle_timeout.duration();
        let max_head_bytes = config.http.request_header_size as usize;
        let service = Service {
            name: common.name.clone(),
            handler: Handler::new(config.handler, &config.handler_settings),
            limits: BodyLimits {
                max_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX),
                idle: u64::try_from(config.http.idle_timeout).map_or(idle, Duration::from_millis),
                whole: config.request_timeout.duration(),
                min_bytes_per_s: config.http.min_request_data_rate,
            },
            max_head_bytes,
            memory: Memory::new(config.max_buffered_bytes.0),
            sends_server: config.http.send_server_version,
            sends_powered_by: config.http.send_x_powered_by,
            refusals: Seldom::default(),
            unread: Seldom::default(),
        };
        Ok(Self {
            port: config.port.0,
            port_key: key("port"),
            backlog: config.connector.accept_queue_size,
            tls: tls.map(Arc::new),
            limits: ServerLimits {
                max_connections: config.max_connections as usize,
                stop: config.connector.stop_timeout.duration(),
                connection: ConnectionLimits {
                    idle,
                    head: config.request_timeout.duration(),
                    keeps_alive: config.http.persistent_connections_enabled,
                    sends_date: config.http.send_date_header,
                    max_head_bytes,
                },
            },
            service: Arc::new(service),
            bind: config.bind.trim().to_owned(),
            address: watch::Sender::new(None),
        })
    }

    fn facts(config: &HttpConfig) -> Facts {
        let listens = Listening {
            host: config.bind.clone(),
            port: config.port.0,
            transport: Transport::Tcp,
            key: "port",
        };
        // Its clients send headers of their own.
        Facts { listens: vec![listens], sets_timestamp: true, ..Facts::default() }
    }
}

impl Source for HttpSource {
    async fn run(&mut self, out: ChannelProcessor, shutdown: Shutdown) -> Result<(), SourceError> {
        let tls = match self.tls.clone() {
            None => None,
            Some(settings) => Some(
                tokio::task::spawn_blocking(move || tls::acceptor(&settings))
                    .await
                    .map_err(|error| SourceError::with("the key store was not read", error))?
                    .map_err(SourceError::new)?,
            ),
        };
        let listener = server::bind(&self.bind, self.port, self.backlog).await.map_err(|error| {
            let (bind, port, key) = (&self.bind, self.port, &self.port_key);
            SourceError::with(
                format!("cannot listen on {bind} port {port} (choose another with {key})"),
                error,
            )
        })?;
        if let Ok(address) = listener.local_addr() {
            self.address.send_replace(Some(address));
            tracing::info!(source = &*self.service.name, %address, tls = tls.is_some(), "listens for HTTP");
        }
        server::serve(listener, tls, self.limits.clone(), self.service.clone(), out, shutdown).await
    }
}

#[cfg(test)]
mod tests;
