//! What the program can be told to do: one file a command.

pub mod agent;
pub mod check;
pub mod components;
pub mod config_test;
mod print_config;

use crate::{
    conf::{self, Entries, OriginError, Origins, Sources},
    plan::{self, Plan, PlanContext},
};
use flumen_core::{
    config::Problem,
    registry::{Environment, Registry},
    world::WallClock,
};
use std::{sync::Arc, time::UNIX_EPOCH};

/// What every command gets from `main`.
#[derive(Debug, Clone)]
pub struct Program {
    /// All types.
    pub registry: Arc<Registry>,
    /// What the process was started with.
    pub environment: Arc<Environment>,
}

impl Program {
    /// What reading a plan needs.
    pub fn plan_context(&self) -> PlanContext {
        PlanContext {
            registry: self.registry.clone(),
            environment: self.environment.clone(),
            clock: Arc::new(SystemClock),
        }
    }

    /// Reads the texts, with everything that is wrong in them.
    ///
    /// # Errors
    /// A text cannot be read at all.
    pub async fn read_entries(&self, origins: &mut Origins) -> Result<(Entries, Vec<Problem>), OriginError> {
        Ok(conf::load(&origins.read().await?))
    }

    /// Reads the texts and makes the plan, with everything that is wrong.
    ///
    /// # Errors
    /// A text cannot be read at all.
    pub async fn read_plan(
        &self,
        origins: &mut Origins,
        agent: &str,
    ) -> Result<(Plan, Vec<Problem>), OriginError> {
        let (entries, mut problems) = self.read_entries(origins).await?;
        let (plan, more) = plan::read(&entries, agent, &self.plan_context());
        problems.extend(more);
        entries.sort(&mut problems);
        Ok((plan, problems))
    }
}

/// Which agent of which configuration.
#[derive(Debug, Clone)]
pub struct Target {
    /// The agent's name.
    pub agent: String,
    /// Where its configuration is.
    pub sources: Sources,
}

/// The time of day of the machine.
#[derive(Debug)]
pub struct SystemClock;

impl WallClock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the wall clock that everything else is handed")]
    fn now_ms(&self) -> i64 {
        match std::time::SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
        }
    }
}
