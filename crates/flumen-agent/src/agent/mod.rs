//! A running agent: its channels, and a supervised task for each source and each group of sinks.

mod apply;
mod board;
pub(crate) mod build;
mod live_channel;
mod ports;
mod stop;
mod task;
mod totals;

pub use apply::Applied;
pub use board::{Board, ComponentReport, channel_report};
pub use stop::{Left, StopReport};
pub use totals::Totals;

use crate::plan::Plan;
use flumen_core::{
    config::Origin,
    registry::{BuildContext, Environment, ExtraMetrics, Kind, Registry},
    world::WallClock,
};
use live_channel::{LiveChannel, Opening};
use std::{collections::BTreeMap, sync::Arc};
use task::Task;

/// What is not ours and is handed in.
#[derive(Debug, Clone)]
pub struct World {
    /// The time of day.
    pub clock: Arc<dyn WallClock>,
    /// What all randomness of the run comes from.
    pub seed: u64,
    /// What the process was started with.
    pub environment: Arc<Environment>,
}

/// A running agent. Dropping it aborts its tasks; what was on loan is then back in the channels.
#[derive(Debug)]
pub struct Agent {
    registry: Arc<Registry>,
    world: World,
    plan: Plan,
    board: Arc<Board>,
    channels: BTreeMap<String, LiveChannel>,
    sources: BTreeMap<String, Task>,
    groups: BTreeMap<String, Task>,
    /// Where each component stands in its files, for what goes wrong while it runs.
    origins: BTreeMap<(Kind, String), Origin>,
}

impl Agent {
    /// An agent with nothing in it, for a first [`Agent::apply`].
    pub fn new(registry: Arc<Registry>, world: World) -> Self {
        Self {
            registry,
            world,
            plan: Plan::default(),
            board: Arc::new(Board::default()),
            channels: BTreeMap::new(),
            sources: BTreeMap::new(),
            groups: BTreeMap::new(),
            origins: BTreeMap::new(),
        }
    }

    /// The plan that runs.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What reports read.
    pub fn board(&self) -> Arc<Board> {
        self.board.clone()
    }

    /// Waits until a panic has left a channel half changed, and names it: the agent is then to be stopped, because nothing
    /// that goes through this channel can be trusted or acknowledged any more.
    pub fn broken_channel(&self) -> impl Future<Output = String> + Send + use<> {
        self.board.broken()
    }

    /// Waits until each channel is open, or has failed to open once.
    pub async fn channels_settled(&self) {
        for channel in self.channels.values() {
            // An error means that the channel goes away.
            let _ = channel.opening().wait_for(|opening| *opening != Opening::First).await;
        }
    }

    /// Lines move when a file is edited, also those of components that do not change.
    fn refresh_origins(&mut self) {
        let plan = &self.plan;
        let sinks = plan.groups.values().flat_map(|group| &group.sinks);
        let parts = plan.sources.iter().map(|(name, source)| (Kind::Source, name, &source.part));
        let parts = parts.chain(plan.channels.iter().map(|(name, part)| (Kind::Channel, name, part)));
        let parts: Vec<_> = parts.chain(sinks.map(|sink| (Kind::Sink, &sink.name, &sink.part))).collect();
        self.origins.retain(|(kind, name), _| parts.iter().any(|part| (part.0, part.1) == (*kind, name)));
        for (kind, name, part) in parts {
            if let Some(origin) = self.origins.get(&(kind, name.clone())) {
                origin.set(part.settings.clone());
            }
        }
    }

    fn context(&self, name: &str) -> BuildContext {
        BuildContext {
            agent: self.plan.agent.as_str().into(),
            name: name.into(),
            clock: self.world.clock.clone(),
            seed: self.world.seed,
            environment: self.world.environment.clone(),
            registry: self.registry.clone(),
            extra: ExtraMetrics::default(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
