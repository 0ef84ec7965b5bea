//! Shows each event in the log, at level INFO, with its headers and the beginning of its body. For trying things out.
//!
//! Delivery: at most what the log keeps. A batch is committed when all of its lines were handed to the log.
//! Transient and permanent failures: there are none; what the log loses is not known here.
//! Duplicates: all of a batch, if the agent stops between the lines and the commit.

mod config;
#[cfg(test)]
mod tests;
mod wire;

pub use config::LoggerConfig;

use flumen_core::{
    event::Batch,
    registry::{BuildError, SinkContext, SinkType},
    sink::{DeliverError, Delivery, Sink},
};

/// The name under which the lines stand in the log: that of the Java class, as filters by name expect it.
pub const LOG_TARGET: &str = "org.apache.flume.sink.LoggerSink";

/// See the module.
#[derive(Debug)]
pub struct LoggerSink {
    max_bytes: usize,
    line: String,
}

impl SinkType for LoggerSink {
    const NAMES: &'static [&'static str] = &["logger", "org.apache.flume.sink.LoggerSink"];
    const SUMMARY: &'static str = "Shows each event in the log.";
    type Config = LoggerConfig;

    fn build(config: Self::Config, _context: &SinkContext) -> Result<Self, BuildError> {
        Ok(Self { max_bytes: config.max_bytes_to_log as usize, line: String::new() })
    }
}

impl Sink for LoggerSink {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        if tracing::enabled!(target: LOG_TARGET, tracing::Level::INFO) {
            for event in batch.iter() {
                self.line.clear();
                wire::dump(event, self.max_bytes, &mut self.line);
                tracing::info!(target: LOG_TARGET, "Event: {}", self.line);
            }
        }
        Ok(Delivery::all(batch))
    }
}
