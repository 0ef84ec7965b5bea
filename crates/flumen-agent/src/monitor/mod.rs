//! Shows what the agent counts: over HTTP, to Ganglia, or in the log, as `-Dflume.monitoring.type` says.

mod ganglia;
mod health;
mod json;
mod log_lines;
mod prometheus;
mod server;

pub(crate) use log_lines::write_lines;

use crate::agent::Board;
use flumen_core::{registry::Environment, source::ShutdownHandle};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::task::JoinHandle;

/// What all settings of a monitor begin with.
const PREFIX: &str = "flume.monitoring.";
/// What comes behind it.
const NAMES: [&str; 5] = ["type", "port", "hosts", "pollFrequency", "isGanglia3"];
/// Flume's port.
const DEFAULT_PORT: u16 = 41414;
/// Flume's pause between reports that are sent.
const DEFAULT_POLL_S: u64 = 60;

/// A running monitor. Dropping it stops it.
#[derive(Debug)]
pub struct Monitor {
    shutdown: ShutdownHandle,
    task: JoinHandle<()>,
    /// Where it listens, if it does.
    pub address: Option<SocketAddr>,
}

/// Why there is no monitor although one was asked for.
#[derive(Debug, thiserror::Error)]
pub enum MonitorError {
    /// The settings make no sense.
    #[error("monitoring: -D{PREFIX}{key}: {what}")]
    Setting {
        /// The setting, without what all begin with.
        key: &'static str,
        /// What is wrong, and the way out.
        what: String,
    },
    /// The port cannot be opened.
    #[error("monitoring: cannot listen on port {port}: {source}; choose another with -D{PREFIX}port=N")]
    Port {
        /// The port.
        port: u16,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Which format `/metrics` has where a client does not ask for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Prometheus,
}

impl Monitor {
    /// Starts the monitor that the environment asks for, if it asks for one.
    ///
    /// # Errors
    /// A setting makes no sense, or the port is in use. The agent runs without a monitor then.
    pub async fn start(environment: &Environment, board: Arc<Board>) -> Result<Option<Self>, MonitorError> {
        unread_settings(environment).iter().for_each(|line| tracing::warn!("{line}"));
        let Some(kind) = environment.property(&format!("{PREFIX}type")) else { return Ok(None) };
        let monitor = match kind.to_ascii_lowercase().as_str() {
            "http" => Self::serve(environment, board, Format::Json).await?,
            "prometheus" => Self::serve(environment, board, Format::Prometheus).await?,
            "ganglia" => {
                let settings = ganglia::Settings::read(environment)?;
                Self::spawn(None, |shutdown| ganglia::run(settings, board, shutdown))
            }
            "log" => {
                let every = poll_frequency(environment)?;
                Self::spawn(None, |shutdown| log_lines::run(every, board, shutdown))
            }
            _ => {
                let what = format!(
                    "`{kind}` is not http, prometheus, ganglia or log; Java classes cannot be loaded"
                );
                return Err(MonitorError::Setting { key: "type", what });
            }
        };
        Ok(Some(monitor))
    }

    /// Listens, or goes on trying where somebody else has the port: it may be an agent that is about to stop.
    async fn serve(
        environment: &Environment,
        board: Arc<Board>,
        format: Format,
    ) -> Result<Self, MonitorError> {
        let port = number(environment, "port", DEFAULT_PORT)?;
        match server::listen(port).await {
            Ok(listener) => {
                let address = listener.local_addr().ok();
                Ok(Self::spawn(address, |shutdown| server::run(listener, board, format, shutdown)))
            }
            Err(source) if source.kind() == std::io::ErrorKind::AddrInUse => {
                let error = MonitorError::Port { port, source };
                tracing::error!("{error}; trying again every {} s", server::RETRY.as_secs());
                Ok(Self::spawn(None, move |shutdown| server::run_when_free(port, board, format, shutdown)))
            }
            Err(source) => Err(MonitorError::Port { port, source }),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the monitor outlives reloads; it ends with its Monitor")]
    fn spawn<R>(address: Option<SocketAddr>, run: impl FnOnce(flumen_core::source::Shutdown) -> R) -> Self
    where
        R: Future<Output = ()> + Send + 'static,
    {
        let (handle, shutdown) = flumen_core::source::Shutdown::new();
        Self { shutdown: handle, task: tokio::spawn(run(shutdown)), address }
    }

    /// Stops it and waits for the end, at most a second.
    pub async fn stop(mut self) {
        self.shutdown.request();
        let _ = tokio::time::timeout(Duration::from_secs(1), &mut self.task).await;
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A line for each setting that nobody reads, as it is misspelt or no kind of monitor is named.
fn unread_settings(environment: &Environment) -> Vec<String> {
    let with_type = environment.property(&format!("{PREFIX}type")).is_some();
    let names = environment.properties.keys().filter_map(|name| name.strip_prefix(PREFIX));
    let unread = names.filter_map(|name| {
        if !NAMES.contains(&name) {
            let known = NAMES.join(", ");
            return Some(format!(
                "monitoring: -D{PREFIX}{name} is not known, and nobody reads it: known are {known}"
            ));
        }
        let cure = format!("say -D{PREFIX}type=http, or another kind");
        (!with_type)
            .then(|| format!("monitoring: -D{PREFIX}{name} without -D{PREFIX}type starts no monitor: {cure}"))
    });
    unread.collect()
}

fn number<N: std::str::FromStr>(
    environment: &Environment,
    key: &'static str,
    default: N,
) -> Result<N, MonitorError> {
    let Some(text) = environment.property(&format!("{PREFIX}{key}")) else { return Ok(default) };
    text.trim()
        .parse()
        .map_err(|_| MonitorError::Setting { key, what: format!("`{text}` is not a number that fits") })
}

fn poll_frequency(environment: &Environment) -> Result<Duration, MonitorError> {
    let seconds: u64 = number(environment, "pollFrequency", DEFAULT_POLL_S)?;
    if seconds == 0 {
        return Err(MonitorError::Setting { key: "pollFrequency", what: "must be a second or more".into() });
    }
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests;
