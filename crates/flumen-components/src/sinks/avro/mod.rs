//! Sends each batch in one call to an Avro source.
//!
//! Delivery: at least once. A batch is committed when the source has answered OK, which it does when its channels have it. To a
//! source that stores calls in order, as Flumen's does, several batches are under way at a time; each stays in the channel until
//! its own answer is there.
//! Transient failure (no connection, a status FAILED, no answer in time): all that is under way stays in the channel and is
//! tried again after a pause, over a fresh connection.
//! Permanent failure: there is none; what the source refuses is offered again.
//! Duplicates: batches whose answers did not arrive.

mod config;
mod peer;
mod pipe;
#[cfg(test)]
mod tests;

pub use config::AvroSinkConfig;

use flumen_core::{
    channel::Signal,
    event::Batch,
    metrics::SinkMetrics,
    registry::{BuildError, Environment, Facts, SinkContext, SinkType},
    sink::{DeliverError, Delivery, Sink},
};
use flumen_rpc::{
    avro::{Client, Options},
    client::RpcClient,
    net::{Compression, connector},
};
use flumen_tls::{
    Password,
    tls::{StoreFile, TlsSettings},
};
use peer::Peer;
use pipe::{Most, Pipe};
use std::{fmt, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Calls under way to a source that stores them in order.
const IN_FLIGHT: u32 = 8;

/// See the module.
pub struct AvroSink {
    peer: Peer,
    environment: Arc<Environment>,
    options: Options,
    tls: Option<TlsSettings>,
    max_in_flight: Option<u32>,
    reset_after: Option<Duration>,
    open: Option<Open>,
    /// Batches that were answered with `held`, and of which the runner was told nothing else.
    n_held: u32,
    /// Of these, stored ones whose connection is gone.
    n_stored: u32,
    /// A failure of calls under way. It was told; the next delivery repeats it, so that there is a pause.
    failed: Option<String>,
    /// Whether the first connection was tried, which is done when the sink starts.
    started: bool,
    metrics: Arc<SinkMetrics>,
    wake: Arc<Signal>,
}

/// A connection, and when it is to be replaced.
struct Open {
    line: Line,
    reset_at: Option<Instant>,
}

enum Line {
    /// One call at a time.
    Single(Box<Client>),
    /// Several.
    Several(Pipe),
    /// One call at a time, to a host that the client chooses.
    Client(Box<RpcClient>),
}

impl SinkType for AvroSink {
    const NAMES: &'static [&'static str] = &["avro", "org.apache.flume.sink.AvroSink"];
    const SUMMARY: &'static str = "Sends events to an Avro source, as the next tier of agents has.";
    type Config = AvroSinkConfig;

    fn build(config: Self::Config, context: &SinkContext) -> Result<Self, BuildError> {
        let peer = config.peer().map_err(BuildError::new)?;
        let compression =
            Compression { level: config.compression_level, within_tls: config.compression_within_tls };
        let key_store = config.keystore.map(|path| StoreFile {
            path: path.into(),
            password: config.keystore_password.map(|secret| Password::new(secret.reveal().to_owned())),
            type_name: config.keystore_type,
        });
        let tls = config.tls.settings(&context.common.environment, config.trust_all_certs);
        let interval = config.reset_connection_interval;
        Ok(Self {
            peer,
            environment: context.common.environment.clone(),
            options: Options {
                compression: config.compression_type.0.then_some(compression),
                connect_timeout: config.connect_timeout.duration(),
                request_timeout: config.request_timeout.duration(),
                ..Options::default()
            },
            tls: tls.map(|settings| TlsSettings { key_store, ..settings }),
            max_in_flight: config.max_in_flight,
            reset_after: (interval.0 > 0).then(|| interval.duration()),
            open: None,
            n_held: 0,
            n_stored: 0,
            failed: None,
            started: false,
            metrics: context.metrics.clone(),
            wake: context.wake.clone(),
        })
    }

    fn facts(config: &Self::Config) -> Facts {
        Facts {
            batch_size: Some(config.batch_size),
            batch_size_key: "batch-size",
            sends_to: vec![(config.hostname.trim().to_owned(), config.port.0, "port")],
            ..Facts::default()
        }
    }
}

impl Sink for AvroSink {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        self.started = true;
        if let Some(why) = self.failed.take() {
            return Err(DeliverError::backoff(format!("{why}; after a pause it goes on")));
        }
        if let Some(Open { line: Line::Several(pipe), .. }) = &self.open
            && let Some((why, _)) = pipe.failure()
        {
            if pipe.has_stored() {
                // These are to be committed first, or they would be sent again.
                return Ok(Delivery::first(0));
            }
            let expected = self.n_held == 0;
            self.disconnect();
            if !expected {
                return Err(self.give_up(why));
            }
        }
        if self.open.as_ref().is_some_and(|open| open.reset_at.is_some_and(|at| at <= Instant::now())) {
            self.reset().await?;
        }
        // Taken out: a call that fails or is dropped leaves the connection unusable.
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.connect().await?,
        };
        let sent = match &mut open.line {
            Line::Single(client) => client.append_batch(batch).await.map_err(|error| error.to_string()),
            Line::Several(pipe) => pipe.send(batch).await,
            Line::Client(client) => client.append_batch(batch).await.map_err(|error| error.to_string()),
        };
        let held = matches!(open.line, Line::Several(_));
        if let Err(why) = sent {
            self.keep_stored(&open);
            self.metrics.connections_closed.add(1);
            if self.n_stored > 0 {
                // These are to be committed first, or they would be sent again.
                self.failed = Some(why);
                return Ok(Delivery::first(0));
            }
            return Err(self.give_up(why));
        }
        self.open = Some(self.widen(open)?);
        if held {
            self.n_held += 1;
            return Ok(Delivery::held(batch));
        }
        Ok(Delivery::all(batch))
    }

    fn next_deadline(&self) -> Option<Instant> {
        match &self.open {
            None if !self.started => Some(Instant::now()),
            Some(Open { line: Line::Several(pipe), .. }) => pipe.deadline(),
            _ => None,
        }
    }

    async fn on_deadline(&mut self) -> Result<(), DeliverError> {
        if !std::mem::replace(&mut self.started, true) {
            match self.connect().await {
                Ok(open) => self.open = Some(open),
                Err(error) => tracing::warn!(%error, "not connected yet; the next batch tries again"),
            }
            return Ok(());
        }
        let Some(Open { line: Line::Several(pipe), .. }) = &self.open else { return Ok(()) };
        if pipe.deadline().is_none_or(|deadline| deadline > Instant::now()) || pipe.has_stored() {
            return Ok(());
        }
        let why = format!("{}: {}", self.peer, pipe.late());
        self.disconnect();
        self.failed = Some(why.clone());
        Err(self.give_up(why))
    }

    fn settled(&mut self) -> Result<u32, DeliverError> {
        let mut n_stored = std::mem::take(&mut self.n_stored);
        let mut failure = None;
        match &self.open {
            Some(Open { line: Line::Several(pipe), .. }) => {
                n_stored += pipe.take_stored();
                failure = pipe.failure();
            }
            _ if n_stored < self.n_held => {
                failure = Some(("the connection was given up".to_owned(), true));
            }
            _ => {}
        }
        if n_stored > 0 {
            // What failed behind them is told at the next call.
            self.n_held -= n_stored.min(self.n_held);
            return Ok(n_stored);
        }
        let Some((why, matters)) = failure else { return Ok(0) };
        self.disconnect();
        if !matters || self.n_held == 0 {
            return Ok(0);
        }
        let why = self.failed.get_or_insert(why).clone();
        Err(self.give_up(why))
    }

    async fn close(&mut self) -> Result<(), DeliverError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        self.metrics.connections_closed.add(1);
        match open.line {
            Line::Single(client) => {
                client.close().await;
                Ok(())
            }
            Line::Client(client) => {
                client.close().await;
                Ok(())
            }
            Line::Several(mut pipe) => {
                let answered = pipe.wait_below(1).await;
                self.n_stored += pipe.take_stored();
                pipe.close().await;
                // What is stored is committed; the rest goes back by itself.
                if let Err(why) = answered {
                    tracing::warn!(why, "batches under way at the end are sent again after the next start");
                }
                Ok(())
            }
        }
    }
}

impl AvroSink {
    async fn connect(&mut self) -> Result<Open, DeliverError> {
        let connected = self.dial().await;
        let counter = match connected {
            Ok(_) => &self.metrics.connections_created,
            Err(_) => &self.metrics.connections_failed,
        };
        counter.add(1);
        Ok(Open { line: connected?, reset_at: self.reset_after.map(|after| Instant::now() + after) })
    }

    async fn dial(&mut self) -> Result<Line, DeliverError> {
        let target = match &self.peer {
            Peer::One(target) => target,
            Peer::Several(config) => {
                let client = RpcClient::open(config, &self.environment).await;
                let client = client.map_err(|error| DeliverError::backoff(error.to_string()))?;
                return Ok(Line::Client(Box::new(client)));
            }
        };
        if let (Some(settings), None) = (&self.tls, &self.options.tls) {
            self.options.tls = Some(connector(settings).await.map_err(DeliverError::backoff)?);
        }
        let connected = Client::connect(target, &self.options).await;
        connected
            .map(|client| Line::Single(Box::new(client)))
            .map_err(|error| DeliverError::backoff(error.to_string()))
    }

    /// After the first call, with its handshake: several calls at a time, where the source stores them in order or the settings
    /// say so.
    fn widen(&self, open: Open) -> Result<Open, DeliverError> {
        let Open { line: Line::Single(client), reset_at } = open else { return Ok(open) };
        let most = self.max_in_flight.unwrap_or(if client.keeps_order() { IN_FLIGHT } else { 1 });
        if most == 1 {
            return Ok(Open { line: Line::Single(client), reset_at });
        }
        let (sender, receiver) = client.split().map_err(|error| DeliverError::backoff(error.to_string()))?;
        let limit = self.options.request_timeout;
        let most = Most { calls: most as usize, adapts: self.max_in_flight.is_none() };
        let pipe = Pipe::new(sender, receiver, most, limit, self.wake.clone());
        Ok(Open { line: Line::Several(pipe), reset_at })
    }

    /// Ends the connection for a fresh one, when all that is under way is answered.
    async fn reset(&mut self) -> Result<(), DeliverError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        self.metrics.connections_closed.add(1);
        match open.line {
            Line::Single(client) => client.close().await,
            Line::Client(client) => client.close().await,
            Line::Several(mut pipe) => {
                let answered = pipe.wait_below(1).await;
                self.n_stored += pipe.take_stored();
                answered.map_err(|why| self.give_up(why))?;
                pipe.close().await;
            }
        }
        Ok(())
    }

    fn disconnect(&mut self) {
        if let Some(open) = self.open.take() {
            self.keep_stored(&open);
            self.metrics.connections_closed.add(1);
        }
    }

    fn keep_stored(&mut self, open: &Open) {
        if let Line::Several(pipe) = &open.line {
            self.n_stored += pipe.take_stored();
        }
    }

    /// The runner puts all that is held back: there is nothing more to tell of it.
    fn give_up(&mut self, why: String) -> DeliverError {
        (self.n_held, self.n_stored) = (0, 0);
        DeliverError::backoff(why)
    }
}

impl fmt::Debug for AvroSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AvroSink").field("peer", &self.peer).finish_non_exhaustive()
    }
}
