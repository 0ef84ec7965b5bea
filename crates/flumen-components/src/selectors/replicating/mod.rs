//! Gives every event to all channels of its source; those listed as optional may miss some.

mod config;
#[cfg(test)]
mod tests;

pub use config::ReplicatingConfig;

use flumen_core::{
    event::Event,
    registry::{BuildContext, BuildError, SelectorType},
    route::{ChannelSet, Route, Selector},
};

/// See the module.
#[derive(Debug)]
pub struct ReplicatingSelector {
    route: Route,
}

impl ReplicatingSelector {
    /// All channels but those in `optional` are required.
    ///
    /// # Errors
    /// `optional` names a channel that is not in `channels`.
    pub fn new(channels: &[String], optional: &[String]) -> Result<Self, BuildError> {
        let place = |name: &String| channels.iter().position(|channel| channel == name);
        let mut route = Route { required: ChannelSet::first(channels.len()), optional: ChannelSet::EMPTY };
        for name in optional {
            let place = place(name).ok_or_else(|| {
                let channels = channels.join(" ");
                BuildError::new(format!(
                    "selector.optional: `{name}` is not among the channels of the source ({channels})"
                ))
            })?;
            route.optional.insert(place);
        }
        route.required = route.required.without(route.optional);
        Ok(Self { route })
    }
}

impl SelectorType for ReplicatingSelector {
    const NAMES: &'static [&'static str] =
        &["replicating", "org.apache.flume.channel.ReplicatingChannelSelector"];
    const SUMMARY: &'static str = "Gives every event to all channels of the source.";
    type Config = ReplicatingConfig;

    fn build(config: Self::Config, channels: &[String], _context: &BuildContext) -> Result<Self, BuildError> {
        Self::new(channels, &config.optional)
    }
}

impl Selector for ReplicatingSelector {
    fn route(&self, _event: Event<'_>) -> Route {
        self.route
    }

    fn fixed(&self) -> Option<Route> {
        Some(self.route)
    }
}
