//! The agent's own log, as operators configured it.

mod mask;

pub(crate) use mask::{MASK, mask, mask_urls};

use flumen_core::registry::{Environment, Registry};
use std::{
    io::{self, IsTerminal},
    path::Path,
};
use tracing_subscriber::EnvFilter;

/// How the log is written.
pub(crate) struct Settings {
    json: bool,
}

impl Settings {
    /// What properties, files and flags say.
    pub(crate) fn read(
        _: &Environment,
        _: Option<&Path>,
        json: bool,
        _: &Registry,
        _: &mut Vec<String>,
    ) -> Self {
        Self { json }
    }
}

/// A running log.
pub(crate) struct Logging;

impl Logging {
    /// Starts it.
    pub(crate) fn start(settings: Settings) -> Result<Self, String> {
        let builder = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new("info"))
            .with_writer(io::stderr)
            .with_ansi(io::stderr().is_terminal());
        if settings.json {
            builder.json().init();
        } else {
            builder.init();
        }
        Ok(Self)
    }

    /// Stops it.
    pub(crate) fn stop(self) {}
}
