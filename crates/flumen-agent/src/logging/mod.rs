//! The agent's own log, as operators configured it.

mod config;
mod file;
mod layer;
mod levels;
mod log4j1;
mod log4j2;
mod mask;
mod names;
mod pattern;
mod routes;
mod settings;
mod writer;

pub(crate) use mask::{MASK, mask, mask_urls};
pub(crate) use settings::Settings;

use crate::commands::SystemClock;
use flumen_core::world::WallClock;
use layer::{Layout, LogLayer};
use std::sync::Arc;
use tracing_subscriber::{layer::SubscriberExt, util::SubscriberInitExt};
use writer::Writer;

/// What is not understood of a log4j file's text, or that it is none.
pub(crate) fn notes_of(
    name: &str,
    text: &[u8],
    environment: &flumen_core::registry::Environment,
) -> Vec<String> {
    settings::read_text(name, text, environment).map_or_else(|error| vec![error], |config| config.notes)
}

/// A running log. Dropping it writes what is queued.
#[derive(Debug)]
pub(crate) struct Logging {
    writer: Arc<Writer>,
}

impl Logging {
    /// Starts the log of this process.
    ///
    /// # Errors
    /// There is no thread to be had, or a log runs already.
    pub(crate) fn start(settings: Settings) -> Result<Self, String> {
        let clock: Arc<dyn WallClock> = Arc::new(SystemClock);
        let mut notes = Vec::new();
        let (appenders, outputs) = settings.open(clock.now_ms(), &mut notes);
        let as_json: Vec<bool> =
            appenders.iter().map(|appender| matches!(appender.layout, Layout::Json { .. })).collect();
        let lost = move |n: u64| {
            let message = format!("{n} log lines were lost, as the log could not be written fast enough");
            let line = |json: &bool| match json {
                true => format!("{}\n", serde_json::json!({"level": "WARN", "message": message})),
                false => format!("WARN {message}\n"),
            };
            as_json.iter().map(line).collect()
        };
        let failed = |error: String| format!("the log cannot be started: {error}");
        let writer =
            Writer::start(outputs, clock.clone(), lost).map_err(|error| failed(error.to_string()))?;
        let Settings { levels, names, routes, .. } = settings;
        let layer = LogLayer { levels, names, appenders, routes, writer: writer.clone(), clock };
        tracing_subscriber::registry().with(layer).try_init().map_err(|error| failed(error.to_string()))?;
        std::panic::set_hook(Box::new(|info| tracing::error!("a fault of this program: {info}")));
        for note in notes {
            tracing::warn!("{note}");
        }
        Ok(Self { writer })
    }
}

impl Drop for Logging {
    fn drop(&mut self) {
        self.writer.stop();
    }
}
