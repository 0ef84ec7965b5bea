//! Takes lines of text over TCP, one event a line, and answers each with `OK`.
//!
//! Delivery: at least once, for a peer that sends a line again until it is answered with `OK`. `OK` comes after the
//! commit; the lines that one read brings are put as one batch.
//! Transient failure (a full channel): each line is answered with `FAILED` and the reason; the connection stays.
//! Permanent failure (a line that is too long, bytes that are none of the charset): the connection is closed; the line is
//! lost. So is a last line without newline.
//! Duplicates: lines whose `OK` did not arrive, as the peer sends them again.

mod config;
mod connection;
#[cfg(test)]
mod tests;
mod wire;

pub use config::NetcatConfig;

use crate::shared::accept::{ACCEPT_PAUSE, FailedAccepts};
use connection::{Shared, serve};
use flumen_core::{
    processor::ChannelProcessor,
    registry::{BuildError, Facts, Listening, SourceContext, SourceType, Transport},
    seldom::Seldom,
    source::{Shutdown, Source, SourceError},
};
use flumen_rpc::net::accept;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

/// How long open connections may take to finish what they have begun, when the source stops.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Debug)]
pub struct NetcatSource {
    shared: Arc<Shared>,
    bind: String,
    port: u16,
    /// The property that names the port, for messages.
    port_key: String,
    max_connections: usize,
    address: watch::Sender<Option<SocketAddr>>,
}

impl NetcatSource {
    /// The address that it listens on, once it does: with port 0 only the system knows it.
    pub fn address(&self) -> watch::Receiver<Option<SocketAddr>> {
        self.address.subscribe()
    }
}

impl SourceType for NetcatSource {
    const NAMES: &'static [&'static str] = &["netcat", "org.apache.flume.source.NetcatSource"];
    const SUMMARY: &'static str = "Takes lines of text over TCP, one event a line.";
    type Config = NetcatConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        let shared = Shared {
            name: context.common.name.clone(),
            charset: config.encoding.0,
            max_units: config.max_line_length,
            ack: config.ack_every_event,
            refused: Seldom::default(),
            closed: Seldom::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            bind: config.bind.trim().to_owned(),
            port: config.port.0,
            port_key: format!("{}.sources.{}.port", context.common.agent, context.common.name),
            max_connections: config.max_connections as usize,
            address: watch::Sender::new(None),
        })
    }

    fn facts(config: &Self::Config) -> Facts {
        let host = config.bind.trim().to_owned();
        let listening = Listening { host, port: config.port.0, transport: Transport::Tcp, key: "port" };
        Facts { listens: vec![listening], ..Facts::default() }
    }
}

impl Source for NetcatSource {
    async fn run(&mut self, out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        let listener = TcpListener::bind((self.bind.as_str(), self.port)).await.map_err(|error| {
            let (bind, port, key) = (&self.bind, self.port, &self.port_key);
            let what = format!("cannot listen on {bind} port {port} (choose another with {key})");
            SourceError::with(what, error)
        })?;
        let address = listener.local_addr().ok();
        self.address.send_replace(address);
        let shown = address.map_or_else(String::new, |address| address.to_string());
        tracing::info!(source = %self.shared.name, address = shown, "listens for lines");
        let failed_accepts = FailedAccepts::new(self.shared.name.clone());
        // Dropping it ends every connection.
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = shutdown.requested() => break,
                Some(ended) = connections.join_next(), if !connections.is_empty() => self.note_end(ended),
                accepted = accept(&listener) => match accepted {
                    Ok((stream, peer)) if connections.len() >= self.max_connections => self.refuse(&stream, peer),
                    Ok((stream, peer)) => {
                        connections.spawn(serve(stream, peer, self.shared.clone(), out.clone(), shutdown.clone()));
                    }
                    Err(error) => {
                        failed_accepts.note(&error, out.metrics());
                        sleep(ACCEPT_PAUSE).await;
                    }
                }
            }
        }
        drop(listener);
        self.address.send_replace(None);
        let finished = async {
            while let Some(ended) = connections.join_next().await {
                self.note_end(ended);
            }
        };
        if timeout(STOP_LIMIT, finished).await.is_err() {
            tracing::warn!(source = %self.shared.name, "connections cut off: they did not finish in {STOP_LIMIT:?}");
        }
        Ok(())
    }
}

impl NetcatSource {
    fn note_end(&self, ended: Result<(), tokio::task::JoinError>) {
        if let Err(error) = ended
            && error.is_panic()
        {
            tracing::error!(source = %self.shared.name, %error, "a connection ended by a fault of this program");
        }
    }

    fn refuse(&self, stream: &TcpStream, peer: SocketAddr) {
        let most = self.max_connections;
        tracing::warn!(source = %self.shared.name, %peer, "connection refused: max-connections = {most} are open");
        // Best effort: a peer that does not get it sees the close.
        let _ = stream.try_write(b"FAILED: too many connections\n");
    }
}
