//! What the program can be told to do: one file a command.

pub mod agent;
pub mod avro_client;
pub mod channel;
pub mod check;
pub mod components;
pub mod config_test;
mod folders;
pub mod integrity_tool;
mod print_config;

use crate::{
    conf::{
        self, Entries, FilterContext, LookupTable, Lookups, OriginError, Origins, Sources, Texts, filters,
    },
    plan::{self, Plan, PlanContext},
};
use flumen_core::{
    config::{Problem, Settings, Severity},
    registry::{Environment, Registry},
    world::WallClock,
};
use std::{path::PathBuf, sync::Arc, time::UNIX_EPOCH};

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

    /// Reads the texts and makes their lookups, with everything that is wrong. The future can be dropped at any time: what
    /// goes over a network may take a while.
    ///
    /// # Errors
    /// A text cannot be read, is no configuration at all, or lookups of the agent never end.
    pub async fn read_entries(&self, origins: &mut Origins) -> Result<(Entries, Vec<Problem>), OriginError> {
        let texts = origins.read().await?;
        let (sources, agent) = (origins.sources().clone(), origins.agent().to_owned());
        // A configuration may be long: it is not read where others wait.
        let (entries, problems) = blocking(move || properties(texts, &sources, &agent)).await?;
        origins.keep(&entries);
        Ok((entries, problems))
    }

    /// Fills the placeholders of an agent and makes its plan, with everything that is wrong.
    ///
    /// # Errors
    /// The program itself fails.
    pub async fn plan_of(
        &self,
        mut entries: Entries,
        agent: &str,
        conf_dirs: &[PathBuf],
    ) -> Result<(Plan, Vec<Problem>), OriginError> {
        let filters = FilterContext { environment: self.environment.clone(), conf_dirs: conf_dirs.to_vec() };
        let mut problems = filters::apply(&mut entries, agent, &filters).await;
        let (context, agent) = (self.plan_context(), agent.to_owned());
        blocking(move || {
            let (plan, more) = plan::read(&entries, &agent, &context);
            problems.extend(more);
            entries.sort(&mut problems);
            entries.hide_secrets(&mut problems);
            Ok((plan, problems))
        })
        .await
    }

    /// Reads the texts, and from them the settings of one component alone, whether or not the agent can run. `list`: `channels`
    /// and so on.
    ///
    /// # Errors
    /// A text cannot be read, or is no configuration at all.
    pub async fn read_settings(
        &self,
        origins: &mut Origins,
        agent: &str,
        list: &str,
        name: &str,
    ) -> Result<Settings, OriginError> {
        let (mut entries, _) = self.read_entries(origins).await?;
        let conf_dirs = origins.sources().conf_dirs.clone();
        let filters = FilterContext { environment: self.environment.clone(), conf_dirs };
        filters::apply(&mut entries, agent, &filters).await;
        let prefix = format!("{agent}.{list}.{name}.");
        let mut settings = Settings::new(prefix.trim_end_matches('.'));
        for entry in &entries.list {
            if let Some(key) = entry.key.strip_prefix(&prefix) {
                settings.set(key, &entry.value, Some(entry.at.clone()));
            }
        }
        Ok(settings)
    }

    /// Reads the texts and makes the plan, with everything that is wrong, in the order of the texts.
    ///
    /// # Errors
    /// A text cannot be read, is no configuration at all, or its lookups never end.
    pub async fn read_plan(
        &self,
        origins: &mut Origins,
        agent: &str,
    ) -> Result<(Plan, Vec<Problem>), OriginError> {
        let (entries, mut problems) = self.read_entries(origins).await?;
        if entries.list.is_empty() && origins.may_come_later() {
            let what = "has no configuration in ZooKeeper yet, and waits for it";
            problems.push(Problem::new(Severity::Warning, agent, None, what));
            return Ok((Plan { agent: agent.to_owned(), ..Plan::default() }, problems));
        }
        let order = Entries { files: entries.files.clone(), ..Entries::default() };
        let (plan, more) = self.plan_of(entries, agent, &origins.sources().conf_dirs).await?;
        problems.extend(more);
        order.sort(&mut problems);
        Ok((plan, problems))
    }
}

/// The properties of the texts, their lookups made.
fn properties(texts: Texts, sources: &Sources, agent: &str) -> Result<(Entries, Vec<Problem>), OriginError> {
    let (mut entries, more) = conf::load(&texts.list);
    let mut problems = texts.problems;
    problems.extend(more);
    if texts.lookups {
        let (table, told) = LookupTable::read(sources);
        problems.extend(told);
        let lookups =
            Lookups { table, environment: sources.environment.clone(), now_ms: SystemClock.now_ms() };
        for mut problem in lookups.resolve(&mut entries) {
            let own =
                agent.is_empty() || problem.key.strip_prefix(agent).is_some_and(|rest| rest.starts_with('.'));
            match problem.severity {
                Severity::Error if own => entries.unusable.push(problem),
                Severity::Error => {
                    problem.severity = Severity::Warning;
                    problems.push(problem);
                }
                _ => problems.push(problem),
            }
        }
    }
    if entries.unusable.is_empty() {
        return Ok((entries, problems));
    }
    let mut unusable = std::mem::take(&mut entries.unusable);
    entries.hide_secrets(&mut unusable);
    Err(OriginError::Many(unusable.iter().map(ToString::to_string).collect()))
}

/// Runs what takes a while on a thread of its own.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, OriginError> + Send + 'static,
) -> Result<T, OriginError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(OriginError::Many(vec![format!("the configuration cannot be read: {error}")])),
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
