//! Gives each event to one channel of its source, in turn or at random.

#[cfg(test)]
mod tests;

use flumen_core::{
    config::{Configuration, PropertyValue, choose},
    event::Event,
    planted::{self, Bug},
    registry::{BuildContext, BuildError, SelectorType},
    route::{ChannelSet, Route, Selector},
    world::rng_for,
};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// What stands below `selector.`.
#[derive(Debug, Clone, Configuration)]
pub struct LoadBalancingConfig {
    /// How the channel of an event is chosen: `ROUND_ROBIN` or `RANDOM`.
    #[property(default = "ROUND_ROBIN")]
    pub policy: Policy,
}

/// How the channel of an event is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// One after the other.
    RoundRobin,
    /// Any.
    Random,
}

impl PropertyValue for Policy {
    const KIND: &'static str = "ROUND_ROBIN or RANDOM";

    fn parse(text: &str) -> Result<Self, String> {
        choose(text, &[("ROUND_ROBIN", Self::RoundRobin), ("RANDOM", Self::Random)])
    }
}

/// See the module.
#[derive(Debug)]
pub struct LoadBalancingSelector {
    n_channels: usize,
    turn: Turn,
}

#[derive(Debug)]
enum Turn {
    Next(AtomicUsize),
    Random(Mutex<fastrand::Rng>),
}

impl SelectorType for LoadBalancingSelector {
    const NAMES: &'static [&'static str] =
        &["load_balancing", "org.apache.flume.channel.LoadBalancingChannelSelector"];
    const SUMMARY: &'static str = "Gives each event to one channel of the source, in turn or at random.";
    type Config = LoadBalancingConfig;

    fn build(config: Self::Config, channels: &[String], context: &BuildContext) -> Result<Self, BuildError> {
        let turn = match config.policy {
            Policy::RoundRobin => Turn::Next(AtomicUsize::new(0)),
            Policy::Random => Turn::Random(Mutex::new(rng_for(context.seed, &context.name))),
        };
        Ok(Self { n_channels: channels.len().max(1), turn })
    }
}

impl Selector for LoadBalancingSelector {
    fn route(&self, _event: Event<'_>) -> Route {
        let channel = match &self.turn {
            Turn::Next(next) => next.fetch_add(1, Ordering::Relaxed) % self.n_channels,
            Turn::Random(rng) => rng.lock().unwrap_or_else(PoisonError::into_inner).usize(..self.n_channels),
        };
        if planted::is(Bug::BalancedEventsGoTwice) {
            return Route { required: ChannelSet::first(self.n_channels), optional: ChannelSet::EMPTY };
        }
        Route { required: ChannelSet::from_iter([channel]), optional: ChannelSet::EMPTY }
    }
}
