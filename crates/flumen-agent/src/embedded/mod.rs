//! An agent within a program: the program puts events, a channel holds them, Avro sinks send them to the next tier.
//!
//! It takes the properties of Java Flume's `EmbeddedAgent`, and has its rules: what can be done depends on whether it is
//! configured and started.
//!
//! ```no_run
//! # async fn run() -> Result<(), flumen_agent::embedded::EmbeddedError> {
//! use flumen_agent::embedded::EmbeddedAgent;
//!
//! let mut agent = EmbeddedAgent::new("app");
//! agent.configure([
//!     ("channel.type", "memory"),
//!     ("channel.capacity", "1000"),
//!     ("sinks", "k1 k2"),
//!     ("k1.type", "avro"),
//!     ("k1.hostname", "collector1"),
//!     ("k1.port", "41414"),
//!     ("k2.type", "avro"),
//!     ("k2.hostname", "collector2"),
//!     ("k2.port", "41414"),
//!     ("processor.type", "failover"),
//! ])?;
//! agent.start().await?;
//! agent.put([("host", "web-1")].into_iter().collect(), "a line").await?;
//! agent.stop().await?;
//! # Ok(())
//! # }
//! ```

mod source;
#[cfg(test)]
mod tests;
mod translate;

use crate::{
    agent::{Agent, StopReport, World},
    commands::SystemClock,
    conf::{Entries, Entry},
    plan::{self, Plan, PlanContext, SourcePlan},
};
use bytes::Bytes;
use flumen_core::{
    config::{Place, Problem, Severity},
    event::{Batch, Headers},
    processor::{ChannelProcessor, PutError},
    registry::{Environment, Registry},
};
use source::EmbeddedSource;
use std::{fmt, sync::Arc, time::Duration};

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// It cannot be done in the state that the agent is in.
    #[error("the embedded agent {0}")]
    State(&'static str),
    /// The properties cannot be used; one line for each problem.
    #[error("{}", .0.join("; "))]
    Settings(Vec<String>),
    /// A part cannot be started. Those that could are stopped again.
    #[error("the embedded agent was not started: {}", .0.join("; "))]
    Start(Vec<String>),
    /// The channel did not take the events: it is full, or closed. They are given back.
    #[error("the events were not put: {0}")]
    Put(#[from] PutError),
}

/// An agent within a program. Its tasks run on the runtime on which it is started. Dropping it stops it at once.
pub struct EmbeddedAgent {
    name: String,
    registry: Arc<Registry>,
    environment: Arc<Environment>,
    state: State,
}

enum State {
    New,
    Configured(Box<Configured>),
    Started { configured: Box<Configured>, agent: Box<Agent>, out: ChannelProcessor },
}

/// What is to run.
#[derive(Clone)]
struct Configured {
    plan: Plan,
    /// What stands between the program and the channel.
    source: SourcePlan,
}

impl EmbeddedAgent {
    /// An agent of this name, of the types that come with Flumen. Blanks of the name do not count.
    pub fn new(name: &str) -> Self {
        Self::with(name, crate::registry(), Environment::default())
    }

    /// An agent of types of one's own, with `-D` settings and environment variables of one's own choice.
    pub fn with(name: &str, registry: Registry, environment: Environment) -> Self {
        Self {
            name: name.split_whitespace().collect(),
            registry: Arc::new(registry.source::<EmbeddedSource>()),
            environment: Arc::new(environment),
            state: State::New,
        }
    }

    /// Reads the properties; nothing is opened. It may be called again while the agent is stopped.
    ///
    /// # Errors
    /// The agent is started, or the properties cannot be used.
    pub fn configure<K: Into<String>, V: Into<String>>(
        &mut self,
        properties: impl IntoIterator<Item = (K, V)>,
    ) -> Result<(), EmbeddedError> {
        if matches!(self.state, State::Started { .. }) {
            return Err(EmbeddedError::State("is started: stop it before it is configured"));
        }
        let properties = properties.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        let pairs = translate::translate(&self.name, properties).map_err(EmbeddedError::Settings)?;
        let context = PlanContext {
            registry: self.registry.clone(),
            environment: self.environment.clone(),
            clock: Arc::new(SystemClock),
        };
        let (mut plan, problems) = plan::read(&entries(&self.name, pairs), &self.name, &context);
        let errors = told(problems);
        let source = plan.sources.remove(&translate::source_name(&self.name));
        match source {
            Some(source) if errors.is_empty() => {
                self.state = State::Configured(Box::new(Configured { plan, source }));
                Ok(())
            }
            _ => Err(EmbeddedError::Settings(errors)),
        }
    }

    /// Starts the channel and the sinks.
    ///
    /// # Errors
    /// The agent is not configured, or started already, or a part cannot be started.
    pub async fn start(&mut self) -> Result<(), EmbeddedError> {
        let configured = match &self.state {
            State::New => return Err(EmbeddedError::State("is not configured")),
            State::Started { .. } => return Err(EmbeddedError::State("is started already")),
            State::Configured(configured) => configured.clone(),
        };
        let world = World {
            clock: Arc::new(SystemClock),
            seed: fastrand::u64(..),
            environment: self.environment.clone(),
        };
        let mut agent = Agent::new(self.registry.clone(), world);
        let applied = agent.apply(configured.plan.clone()).await;
        let mut errors = told(applied.problems);
        // Who has started it wants to put.
        agent.channels_settled().await;
        let out = agent.processor_for(&translate::source_name(&self.name), &configured.source);
        match out {
            Ok(out) if errors.is_empty() => {
                self.state = State::Started { configured, agent: Box::new(agent), out };
                Ok(())
            }
            out => {
                errors.extend(out.err().map(|error| error.to_string()));
                agent.stop(Duration::ZERO).await;
                Err(EmbeddedError::Start(errors))
            }
        }
    }

    /// Puts one event and waits until the channel has it.
    ///
    /// # Errors
    /// The agent is not started, or the channel does not take the event.
    pub async fn put(&self, headers: Headers, body: impl Into<Bytes>) -> Result<(), EmbeddedError> {
        let mut batch = Batch::with_capacity(1);
        batch.push(headers, body);
        self.put_all(batch).await
    }

    /// Puts events in one transaction, and waits until the channel has all of them.
    ///
    /// # Errors
    /// The agent is not started, or the channel does not take the events; then it has none of them.
    pub async fn put_all(&self, batch: Batch) -> Result<(), EmbeddedError> {
        match &self.state {
            State::Started { out, .. } => Ok(out.put(batch).await?),
            _ => Err(EmbeddedError::State("is not started: it takes no events")),
        }
    }

    /// Stops the sinks and the channel, and says what was left in it. The agent can be started again.
    ///
    /// # Errors
    /// The agent is not started.
    pub async fn stop(&mut self) -> Result<StopReport, EmbeddedError> {
        match std::mem::replace(&mut self.state, State::New) {
            State::Started { configured, agent, .. } => {
                self.state = State::Configured(configured);
                Ok(agent.stop(Duration::ZERO).await)
            }
            other => {
                self.state = other;
                Err(EmbeddedError::State("is not started: it cannot be stopped"))
            }
        }
    }
}

/// Properties in the order of a file, each on a line of its own.
fn entries(name: &str, pairs: Vec<(String, String)>) -> Entries {
    let file: Arc<str> = format!("embedded agent {name}").into();
    let entry = |(line, (key, value))| Entry {
        key,
        value,
        at: Place { file: file.clone(), line },
        used: false,
        secret: false,
        looked_up: false,
    };
    Entries { list: (1..).zip(pairs).map(entry).collect(), files: vec![file.clone()], unusable: Vec::new() }
}

/// The errors among problems; the others go to the log.
fn told(problems: Vec<Problem>) -> Vec<String> {
    let (errors, others): (Vec<Problem>, Vec<Problem>) =
        problems.into_iter().partition(|problem| problem.severity == Severity::Error);
    others.iter().for_each(|problem| tracing::warn!("{problem}"));
    errors.iter().map(|problem| format!("{}: {}", problem.key, problem.what)).collect()
}

impl fmt::Debug for EmbeddedAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedAgent").field("name", &self.name).finish_non_exhaustive()
    }
}
