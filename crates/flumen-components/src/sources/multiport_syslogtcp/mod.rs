//! Takes syslog messages on many TCP ports, each with its charset, by RFC 5424 and RFC 3164, in lines or counted.
//!
//! Delivery: at most once from the peer, as syslog over TCP has no answers; at least once from here on: what was read is held
//! until it is stored, and the peer waits meanwhile.
//! Transient failure (a full channel): tried again until it works; the connection is not read on.
//! Permanent failure (a message that no channel can ever hold): told and counted; the others go on. A message that is none of
//! syslog's, or not of its charset, is an event too, with the header `flume.syslog.status`.
//! Duplicates: none from here.

mod config;
mod message;
#[cfg(test)]
mod tests;

pub use config::{MultiportSyslogConfig, Ports};
#[doc(hidden)]
pub use message::events;

use crate::shared::syslog::{
    Body, Connection, Fields, Frames, Framing, Names, PeerNames, Puts, Rows, Stamps,
};
use flumen_core::{
    event::Text,
    processor::ChannelProcessor,
    registry::{BuildError, Facts, Listening, SourceContext, SourceType, Transport},
    seldom::Seldom,
    source::{Shutdown, Source, SourceError},
};
use flumen_java::{
    charset::{Charset, OnError},
    dates::Zone,
};
use flumen_rpc::net::{Accepted, Listener, ServerLimits, acceptor, bind};
use flumen_tls::tls::TlsSettings;
use message::{Rules, decode, invalid};
use std::{borrow::Cow, collections::BTreeMap, net::SocketAddr, sync::Arc};
use tokio::{sync::watch, task::JoinSet};

/// Connections that wait to be accepted on a port.
const BACKLOG: u32 = 1024;

/// See the module.
#[derive(Debug)]
pub struct MultiportSyslogSource {
    shared: Arc<Shared>,
    host: Option<String>,
    ports: Vec<u16>,
    ports_key: String,
    max_connections: usize,
    tls: Option<TlsSettings>,
    addresses: watch::Sender<Vec<SocketAddr>>,
}

/// What all connections have in common.
#[derive(Debug)]
struct Shared {
    context: SourceContext,
    rules: Rules,
    charset: Charset,
    port_charsets: BTreeMap<u16, Charset>,
    port_header: Option<Text>,
    peer_names: PeerNames,
    framing: Framing,
    event_size: usize,
    batch_size: usize,
    warnings: Arc<Seldom>,
}

impl MultiportSyslogSource {
    /// The addresses that it listens on, in the order of ports, once it does: with port 0 only the system knows it.
    pub fn addresses(&self) -> watch::Receiver<Vec<SocketAddr>> {
        self.addresses.subscribe()
    }

    fn new(config: MultiportSyslogConfig, context: &SourceContext) -> Result<Self, BuildError> {
        let common = &context.common;
        let key = |key: &str| format!("{}.sources.{}.{key}", common.agent, common.name);
        let ip = config.client_ip_header.as_deref();
        let shared = Shared {
            context: context.clone(),
            // Dates without a zone are UTC, whatever the zone of the machine, as in Java Flume.
            rules: Rules { keep: config.keep_fields, stamps: Stamps::new(Zone::utc()) },
            charset: config.charset.0,
            port_charsets: config.port_charsets.iter().map(|(port, charset)| (*port, charset.0)).collect(),
            port_header: config.port_header.filter(|name| !name.is_empty()).map(|name| Text::kept(&name)),
            peer_names: PeerNames::new(ip, config.client_hostname_header.as_deref()),
            framing: config.framing,
            event_size: config.event_size as usize,
            batch_size: config.batch_size as usize,
            warnings: Arc::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            host: config.host,
            ports: config.ports.0,
            ports_key: key("ports"),
            max_connections: config.max_connections as usize,
            tls: config.tls.settings(&common.environment, &key)?,
            addresses: watch::Sender::new(Vec::new()),
        })
    }
}

impl SourceType for MultiportSyslogSource {
    const NAMES: &'static [&'static str] =
        &["multiport_syslogtcp", "org.apache.flume.source.MultiportSyslogTCPSource"];
    const SUMMARY: &'static str = "Takes syslog messages on many TCP ports.";
    type Config = MultiportSyslogConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        Self::new(config, context)
    }

    fn facts(config: &Self::Config) -> Facts {
        let host = config.host.as_deref().map_or("0.0.0.0", str::trim);
        let listening = |port: &u16| Listening {
            host: host.to_owned(),
            port: *port,
            transport: Transport::Tcp,
            key: "ports",
        };
        Facts {
            listens: config.ports.0.iter().map(listening).collect(),
            batch_size: Some(config.batch_size),
            batch_size_key: "batchSize",
            // The time of each message that has one.
            sets_timestamp: true,
            ..Facts::default()
        }
    }
}

impl Source for MultiportSyslogSource {
    async fn run(&mut self, out: ChannelProcessor, shutdown: Shutdown) -> Result<(), SourceError> {
        let tls = match &self.tls {
            None => None,
            Some(settings) => Some(acceptor(settings).await.map_err(SourceError::new)?),
        };
        let name = self.shared.context.common.name.clone();
        let host = self.host.as_deref().map(str::trim).filter(|host| !host.is_empty()).unwrap_or("0.0.0.0");
        let mut sockets = Vec::new();
        for port in &self.ports {
            match bind(host, *port, BACKLOG).await {
                Ok(socket) => sockets.push((*port, socket)),
                Err(error) => {
                    let key = &self.ports_key;
                    tracing::error!(source = &*name, port, %error, "cannot listen on {host} (see {key}); the other ports work");
                }
            }
        }
        if sockets.is_empty() {
            let (ports, key) = (&self.ports, &self.ports_key);
            return Err(SourceError::new(format!(
                "cannot listen on any of the ports {ports:?} of {host} (see {key})"
            )));
        }
        self.addresses
            .send_replace(sockets.iter().filter_map(|(_, socket)| socket.local_addr().ok()).collect());
        tracing::info!(
            source = &*name,
            ports = sockets.len(),
            host,
            tls = tls.is_some(),
            "listens for syslog"
        );
        let limits = ServerLimits { max_connections: self.max_connections, ..ServerLimits::default() };
        // Dropping it ends every listener.
        let mut listeners = JoinSet::new();
        for (port, socket) in sockets {
            let metrics = self.shared.context.metrics.clone();
            let listener =
                Listener { name: name.clone(), socket, tls: tls.clone(), limits: limits.clone(), metrics };
            let (shared, out) = (self.shared.clone(), out.clone());
            let port = listener.socket.local_addr().map_or(port, |address| address.port());
            let connection = move |accepted| shared.clone().serve(port, accepted, out.clone());
            listeners.spawn(listener.serve(shutdown.clone(), |_| true, connection));
        }
        while let Some(ended) = listeners.join_next().await {
            ended.map_err(|error| SourceError::with("a listener ended by a fault of this program", error))?;
        }
        self.addresses.send_replace(Vec::new());
        Ok(())
    }
}

impl Shared {
    async fn serve(
        self: Arc<Self>,
        port: u16,
        accepted: Accepted,
        out: ChannelProcessor,
    ) -> Result<(), String> {
        let mut more = self.peer_names.of(accepted.peer).await;
        if let Some(name) = &self.port_header {
            more.set(name.clone(), Text::from_display(port));
        }
        let name = self.context.common.name.clone();
        let connection = Connection {
            frames: Frames::cut_above(self.event_size, self.framing),
            rows: Rows::new(Names::capital()),
            clock: self.context.common.clock.clone(),
            more,
            with_numbers: false,
            max_batch: (out.max_batch_events() as usize).clamp(1, self.batch_size),
            puts: Puts::new(name, out, accepted.shutdown.clone(), self.warnings.clone()),
        };
        let charset = self.port_charsets.get(&port).copied().unwrap_or(self.charset);
        connection
            .serve(accepted, |message, is_cut, now_ms, with: &mut dyn FnMut(&Fields<'_>)| {
                self.read(charset, message, is_cut, now_ms, with);
            })
            .await
    }

    /// Reads a message in its charset. Its body has that charset too, as in Java Flume.
    fn read(
        &self,
        charset: Charset,
        message: &[u8],
        is_cut: bool,
        now_ms: i64,
        with: &mut dyn FnMut(&Fields<'_>),
    ) {
        let Some(text) = decode(charset, message) else { return with(&invalid(message.len())) };
        let mut fields = self.rules.read(&text, is_cut, now_ms);
        if let Cow::Owned(text) = &text {
            let body = match &fields.body {
                Body::Part(range) => text[range.clone()].as_bytes(),
                Body::Made(body) => body,
            };
            // What was decoded can be encoded.
            let body =
                std::str::from_utf8(body).ok().and_then(|body| charset.encode(body, OnError::Replace).ok());
            fields.body = match body {
                Some(body) => Body::Made(body.into_owned()),
                None => Body::Part(0..message.len()),
            };
        }
        with(&fields);
    }
}
