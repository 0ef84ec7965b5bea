//! Chooses the channels of an event by the value of one of its headers.

mod config;
#[cfg(test)]
mod tests;

pub use config::MultiplexingConfig;

use flumen_core::{
    event::Event,
    planted::{self, Bug},
    registry::{BuildContext, BuildError, SelectorType},
    route::{ChannelSet, Route, Selector},
};
use std::collections::HashMap;

/// See the module.
#[derive(Debug)]
pub struct MultiplexingSelector {
    header: String,
    routes: HashMap<String, Route>,
    default: Route,
}

impl MultiplexingSelector {
    /// A selector for these channels.
    ///
    /// # Errors
    /// A mapping names a channel that is not in `channels`, or none at all.
    pub fn new(config: MultiplexingConfig, channels: &[String]) -> Result<Self, BuildError> {
        let default = set(channels, "default", &config.default)?;
        let mut routes: HashMap<String, Route> = HashMap::new();
        for (value, names) in &config.mapping {
            let key = format!("mapping.{value}");
            if names.is_empty() {
                return Err(BuildError::new(format!("selector.{key}: names no channel")));
            }
            let required = set(channels, &key, names)?;
            routes.insert(value.clone(), Route { required, optional: ChannelSet::EMPTY });
        }
        for (value, names) in &config.optional {
            let optional = set(channels, &format!("optional.{value}"), names)?;
            let fallback = Route { required: default, optional: ChannelSet::EMPTY };
            let route = routes.entry(value.clone()).or_insert(fallback);
            route.optional = optional.without(route.required);
        }
        let default = Route { required: default, optional: ChannelSet::EMPTY };
        Ok(Self { header: config.header, routes, default })
    }
}

fn set(channels: &[String], key: &str, names: &[String]) -> Result<ChannelSet, BuildError> {
    let place = |name: &String| {
        channels.iter().position(|channel| channel == name).ok_or_else(|| {
            let channels = channels.join(" ");
            BuildError::new(format!(
                "selector.{key}: `{name}` is not among the channels of the source ({channels})"
            ))
        })
    };
    names.iter().map(place).collect()
}

impl SelectorType for MultiplexingSelector {
    const NAMES: &'static [&'static str] =
        &["multiplexing", "org.apache.flume.channel.MultiplexingChannelSelector"];
    const SUMMARY: &'static str = "Chooses channels by the value of a header.";
    type Config = MultiplexingConfig;

    fn build(config: Self::Config, channels: &[String], _context: &BuildContext) -> Result<Self, BuildError> {
        Self::new(config, channels)
    }

    fn advice(config: &Self::Config, _channels: &[String]) -> Vec<(String, String)> {
        let both = |(value, optional): (&String, &flumen_core::config::Words)| {
            let required = config.mapping.get(value).unwrap_or(&config.default);
            let twice = optional.iter().find(|name| required.contains(name))?;
            let what = format!("`{twice}` is required for this value already, and so not optional");
            Some((format!("optional.{value}"), what))
        };
        let mut advice: Vec<_> = config.optional.iter().filter_map(both).collect();
        if config.mapping.is_empty() && config.default.is_empty() && config.optional.is_empty() {
            let what = "neither a mapping nor a default: every event is dropped";
            advice.push(("type".to_owned(), what.to_owned()));
        }
        advice
    }
}

impl Selector for MultiplexingSelector {
    fn route(&self, event: Event<'_>) -> Route {
        let value = event.headers.get(&self.header);
        let default = if planted::is(Bug::DefaultRouteIsIgnored) { Route::default() } else { self.default };
        value.and_then(|value| self.routes.get(value.as_str())).copied().unwrap_or(default)
    }
}
