//! What a component gets besides its own settings. Building opens nothing: ports, files and directories are opened when
//! the component runs, so that a new part can be built before the old one stops.

use super::Registry;
use crate::{
    channel::Signal,
    metrics::{ChannelMetrics, MetricSet, SinkMetrics, SourceMetrics},
    source::BoxError,
    world::WallClock,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// What every component gets.
#[derive(Debug, Clone)]
pub struct BuildContext {
    /// The agent's name.
    pub agent: Arc<str>,
    /// The component's name.
    pub name: Arc<str>,
    /// The time of day.
    pub clock: Arc<dyn WallClock>,
    /// The seed of this run; [`crate::world::rng_for`] makes a generator of it and a name.
    pub seed: u64,
    /// What the process was started with.
    pub environment: Arc<Environment>,
    /// All types, for components that are made of others (a sink and its serializer).
    pub registry: Arc<Registry>,
    /// Where a component leaves numbers of its own.
    pub extra: ExtraMetrics,
}

/// What the process was started with, read once in `main`.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `-Dname=value` settings, from the command line, `JAVA_OPTS` and flume-env.sh.
    pub properties: BTreeMap<String, String>,
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
    /// The Java heap limit (`-Xmx`) in bytes, where one was given.
    pub max_heap_bytes: Option<u64>,
    /// The memory that the process may count on, in bytes: its control group's limit or half of the machine's memory,
    /// whichever is less.
    pub memory_bytes: Option<u64>,
}

impl Environment {
    /// A `-D` setting.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }

    /// Whether a `-D` setting says `true`, in any case, as Java's `Boolean.getBoolean`.
    pub fn flag(&self, name: &str) -> bool {
        self.property(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// The home directory (`-Duser.home`, else `HOME`), the base of several default directories.
    pub fn home(&self) -> &str {
        self.property("user.home").or(self.variables.get("HOME").map(String::as_str)).unwrap_or(".")
    }
}

/// Numbers of a component's own, beside what every component of its kind counts.
#[derive(Debug, Clone, Default)]
pub struct ExtraMetrics(Arc<Mutex<Vec<Arc<dyn MetricSet>>>>);

impl ExtraMetrics {
    /// Adds a group of numbers. A fresh instance of the same component replaces what the one before has left.
    pub fn add(&self, metrics: Arc<dyn MetricSet>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(metrics);
    }

    /// Forgets all, before a component is built anew.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// What was added.
    pub fn all(&self) -> Vec<Arc<dyn MetricSet>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What a source gets.
#[derive(Debug, Clone)]
pub struct SourceContext {
    /// What every component gets.
    pub common: BuildContext,
    /// Where it counts.
    pub metrics: Arc<SourceMetrics>,
}

/// What a channel gets.
#[derive(Debug, Clone)]
pub struct ChannelContext {
    /// What every component gets.
    pub common: BuildContext,
    /// Where it counts.
    pub metrics: Arc<ChannelMetrics>,
}

/// What a sink gets.
#[derive(Debug, Clone)]
pub struct SinkContext {
    /// What every component gets.
    pub common: BuildContext,
    /// Where it counts.
    pub metrics: Arc<SinkMetrics>,
    /// Raised by the sink when batches that it holds may have become safe.
    pub wake: Arc<Signal>,
    /// Whether its channel promises that what it holds outlives the process.
    pub durable_channel: bool,
}

/// Why a component cannot be built from settings that are each right.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct BuildError {
    reason: String,
    #[source]
    cause: Option<BoxError>,
}

impl BuildError {
    /// An error with a reason that names the setting and the way out.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), cause: None }
    }

    /// An error with a reason and what the system or a library said; both show in the message.
    pub fn with(reason: impl Into<String>, cause: impl Into<BoxError>) -> Self {
        let cause = cause.into();
        Self { reason: format!("{}: {cause}", reason.into()), cause: Some(cause) }
    }
}
