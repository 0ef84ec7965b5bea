//! Discards every event. For measuring, and for channels that nobody reads.
//!
//! Delivery: none. Every event that is taken is gone.
//! Transient and permanent failures: there are none.
//! Duplicates: none.

mod config;
#[cfg(test)]
mod tests;

pub use config::NullConfig;

use flumen_core::{
    event::Batch,
    registry::{BuildError, Facts, SinkContext, SinkType},
    sink::{DeliverError, Delivery, Sink},
};
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub struct NullSink {
    name: Arc<str>,
    log_every_n_events: u64,
    n_events: u64,
}

impl SinkType for NullSink {
    const NAMES: &'static [&'static str] = &["null", "org.apache.flume.sink.NullSink"];
    const SUMMARY: &'static str = "Discards every event.";
    type Config = NullConfig;

    fn build(config: Self::Config, context: &SinkContext) -> Result<Self, BuildError> {
        let name = context.common.name.clone();
        Ok(Self { name, log_every_n_events: config.log_every_n_events.max(1), n_events: 0 })
    }

    fn facts(config: &Self::Config) -> Facts {
        Facts { batch_size: Some(config.batch_size), batch_size_key: "batchSize", ..Facts::default() }
    }
}

impl Sink for NullSink {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        let every = self.log_every_n_events;
        let before = self.n_events / every;
        self.n_events += batch.len() as u64;
        for n in before + 1..=self.n_events / every {
            tracing::info!(sink = %self.name, "discarded {} events", n * every);
        }
        Ok(Delivery::all(batch))
    }
}
