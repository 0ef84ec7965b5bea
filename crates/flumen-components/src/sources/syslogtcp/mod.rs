//! Takes syslog messages over TCP, by RFC 5424 and RFC 3164, in lines or counted.
//!
//! Delivery: at most once from the peer, as syslog over TCP has no answers; at least once from here on: what was read is held
//! until it is stored, and the peer waits meanwhile.
//! Transient failure (a full channel): tried again until it works; the connection is not read on.
//! Permanent failure (a message that no channel can ever hold): told and counted; the others go on. A message that is none of
//! syslog's is an event too, with the header `flume.syslog.status`.
//! Duplicates: none from here.

mod config;
#[cfg(test)]
pub(crate) mod tests;

#[doc(hidden)]
pub use crate::shared::syslog::hostile;
pub use config::SyslogTcpConfig;

use crate::shared::syslog::{
    Connection, CustomFormat, Frames, Framing, Names, PeerNames, Puts, Rows, Rules, Stamps,
};
use flumen_core::{
    processor::ChannelProcessor,
    registry::{BuildError, Facts, Listening, SourceContext, SourceType, Transport},
    seldom::Seldom,
    source::{Shutdown, Source, SourceError},
};
use flumen_java::dates::Zone;
use flumen_rpc::net::{Accepted, Listener, ServerLimits, acceptor, bind};
use flumen_tls::tls::TlsSettings;
use std::{net::SocketAddr, sync::Arc};
use tokio::sync::watch;

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;
/// Messages in a batch, where channels take more.
const MAX_BATCH: usize = 10_000;
/// The smallest `eventSize`, as in Java Flume.
const MIN_EVENT_SIZE: u32 = 10;

/// See the module.
#[derive(Debug)]
pub struct SyslogTcpSource {
    shared: Arc<Shared>,
    host: String,
    port: u16,
    port_key: String,
    max_connections: usize,
    tls: Option<TlsSettings>,
    address: watch::Sender<Option<SocketAddr>>,
}

/// What all connections have in common.
#[derive(Debug)]
struct Shared {
    context: SourceContext,
    rules: Rules,
    peer_names: PeerNames,
    framing: Framing,
    event_size: usize,
    warnings: Arc<Seldom>,
}

impl SyslogTcpSource {
    /// The address that it listens on, once it does: with port 0 only the system knows it.
    pub fn address(&self) -> watch::Receiver<Option<SocketAddr>> {
        self.address.subscribe()
    }

    fn with_zone(config: SyslogTcpConfig, context: &SourceContext, zone: Zone) -> Result<Self, BuildError> {
        let common = &context.common;
        let key = |key: &str| format!("{}.sources.{}.{key}", common.agent, common.name);
        let ip = config.client_ip_header.as_deref();
        let shared = Shared {
            context: context.clone(),
            rules: Rules {
                keep: config.keep_fields,
                custom: CustomFormat::new(config.format, &zone)?,
                stamps: Stamps::new(zone),
            },
            peer_names: PeerNames::new(ip, config.client_hostname_header.as_deref()),
            framing: config.framing,
            event_size: config.event_size.max(MIN_EVENT_SIZE) as usize,
            warnings: Arc::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            host: config.host.trim().to_owned(),
            port: config.port.0,
            port_key: key("port"),
            max_connections: config.max_connections as usize,
            tls: config.tls.settings(&common.environment, &key)?,
            address: watch::Sender::new(None),
        })
    }
}

impl SourceType for SyslogTcpSource {
    const NAMES: &'static [&'static str] = &["syslogtcp", "org.apache.flume.source.SyslogTcpSource"];
    const SUMMARY: &'static str = "Takes syslog messages over TCP.";
    type Config = SyslogTcpConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        Self::with_zone(config, context, Zone::system())
    }

    fn facts(config: &Self::Config) -> Facts {
        let host = config.host.trim().to_owned();
        let listening = Listening { host, port: config.port.0, transport: Transport::Tcp, key: "port" };
        // The time of each message that has one.
        Facts { listens: vec![listening], sets_timestamp: true, ..Facts::default() }
    }
}

impl Source for SyslogTcpSource {
    async fn run(&mut self, out: ChannelProcessor, shutdown: Shutdown) -> Result<(), SourceError> {
        let tls = match &self.tls {
            None => None,
            Some(settings) => Some(acceptor(settings).await.map_err(SourceError::new)?),
        };
        let socket = bind(&self.host, self.port, BACKLOG).await.map_err(|error| {
            let (host, port, key) = (&self.host, self.port, &self.port_key);
            SourceError::with(
                format!("cannot listen on {host} port {port} (choose another with {key})"),
                error,
            )
        })?;
        let name = self.shared.context.common.name.clone();
        if let Ok(address) = socket.local_addr() {
            self.address.send_replace(Some(address));
            tracing::info!(source = &*name, %address, tls = tls.is_some(), "listens for syslog");
        }
        let limits = ServerLimits { max_connections: self.max_connections, ..ServerLimits::default() };
        let metrics = self.shared.context.metrics.clone();
        let listener = Listener { name, socket, tls, limits, metrics };
        let shared = self.shared.clone();
        let connection = move |accepted| shared.clone().serve(accepted, out.clone());
        listener.serve(shutdown, |_| true, connection).await;
        self.address.send_replace(None);
        Ok(())
    }
}

impl Shared {
    async fn serve(self: Arc<Self>, accepted: Accepted, out: ChannelProcessor) -> Result<(), String> {
        let name = self.context.common.name.clone();
        let connection = Connection {
            frames: Frames::cut_from(self.event_size, self.framing),
            rows: Rows::new(Names::lower()),
            clock: self.context.common.clock.clone(),
            more: self.peer_names.of(accepted.peer).await,
            with_numbers: true,
            max_batch: (out.max_batch_events() as usize).clamp(1, MAX_BATCH),
            puts: Puts::new(name, out, accepted.shutdown.clone(), self.warnings.clone()),
        };
        connection
            .serve(accepted, |message, is_cut, now_ms, with| with(&self.rules.read(message, is_cut, now_ms)))
            .await
    }
}
