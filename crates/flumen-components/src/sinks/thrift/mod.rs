//! Sends each batch in one call to a Thrift source.
//!
//! Delivery: at least once. A batch is committed when the source has answered OK, which it does when its channels have it.
//! Transient failure (no connection, a status FAILED, no answer in time): the batch stays in the channel and is tried again
//! after a pause, over a fresh connection.
//! Permanent failure: there is none; what the source refuses is offered again.
//! Duplicates: all of a batch whose answer did not arrive, and of one that the source stored in part.

mod config;

pub use config::ThriftSinkConfig;

use flumen_core::{
    event::Batch,
    metrics::SinkMetrics,
    registry::{BuildError, Facts, SinkContext, SinkType},
    sink::{DeliverError, Delivery, Sink},
};
use flumen_rpc::{
    net::{Target, connector, dial},
    thrift::{Connection, Protocol},
};
use flumen_tls::tls::TlsSettings;
use std::{fmt, sync::Arc, time::Duration};
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

/// See the module.
pub struct ThriftSink {
    target: Target,
    protocol: Protocol,
    connect_timeout: Duration,
    request_timeout: Duration,
    reset_after: Option<Duration>,
    tls: Option<TlsSettings>,
    /// Made of the settings at the first connection.
    connector: Option<TlsConnector>,
    open: Option<Open>,
    metrics: Arc<SinkMetrics>,
}

/// A connection, and when it is to be replaced.
struct Open {
    connection: Connection,
    reset_at: Option<Instant>,
}

impl SinkType for ThriftSink {
    const NAMES: &'static [&'static str] = &["thrift", "org.apache.flume.sink.ThriftSink"];
    const SUMMARY: &'static str = "Sends events to a Thrift source, as the next tier of agents has.";
    type Config = ThriftSinkConfig;

    fn build(config: Self::Config, context: &SinkContext) -> Result<Self, BuildError> {
        let interval = config.reset_connection_interval;
        Ok(Self {
            target: Target { host: config.hostname.trim().into(), port: config.port.0 },
            protocol: config.protocol,
            connect_timeout: config.connect_timeout.duration(),
            request_timeout: config.request_timeout.duration(),
            reset_after: (interval.0 > 0).then(|| interval.duration()),
            tls: config.tls.settings(&context.common.environment, false),
            connector: None,
            open: None,
            metrics: context.metrics.clone(),
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

impl Sink for ThriftSink {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        // Between calls, so that no batch is cut.
        if self.open.as_ref().is_some_and(|open| open.reset_at.is_some_and(|at| at <= Instant::now())) {
            self.disconnect();
        }
        // Taken out: a call that fails or is dropped leaves the connection unusable.
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.connect().await?,
        };
        let call = open.connection.append_batch(batch, 0..batch.len());
        let error = match timeout(self.request_timeout, call).await {
            Ok(Ok(())) => {
                self.open = Some(open);
                return Ok(Delivery::all(batch));
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {} ms", self.request_timeout.as_millis()),
        };
        self.metrics.connections_closed.add(1);
        Err(DeliverError::backoff(format!("{}: {error}", self.target)))
    }

    async fn close(&mut self) -> Result<(), DeliverError> {
        self.disconnect();
        Ok(())
    }
}

impl ThriftSink {
    async fn connect(&mut self) -> Result<Open, DeliverError> {
        let connected = self.dial().await;
        let counter = match connected {
            Ok(_) => &self.metrics.connections_created,
            Err(_) => &self.metrics.connections_failed,
        };
        counter.add(1);
        let connection = connected?;
        Ok(Open { connection, reset_at: self.reset_after.map(|after| Instant::now() + after) })
    }

    async fn dial(&mut self) -> Result<Connection, DeliverError> {
        if let (Some(settings), None) = (&self.tls, &self.connector) {
            self.connector = Some(connector(settings).await.map_err(DeliverError::backoff)?);
        }
        let stream = dial(&self.target, self.connector.as_ref(), self.connect_timeout).await;
        let stream = stream.map_err(|error| DeliverError::backoff(error.to_string()))?;
        Ok(Connection::new(stream, self.protocol))
    }

    fn disconnect(&mut self) {
        if self.open.take().is_some() {
            self.metrics.connections_closed.add(1);
        }
    }
}

impl fmt::Debug for ThriftSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThriftSink").field("target", &self.target).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
