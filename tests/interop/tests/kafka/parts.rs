//! What components are built with here, without an agent around them.

use flumen_core::{
    channel::{Channel, ChannelLimits},
    config::{Configuration, Settings, read},
    processor::ChannelProcessor,
    registry::{BuildContext, Environment, ExtraMetrics, Registry, SourceContext},
    testing::{Everywhere, ScriptedChannel},
    world::SetClock,
};
use std::{sync::Arc, time::Duration};

pub(crate) fn context(name: &str) -> BuildContext {
    BuildContext {
        agent: "a".into(),
        name: name.into(),
        clock: Arc::new(SetClock::at(0)),
        seed: 1,
        environment: Arc::new(Environment::default()),
        registry: Arc::new(Registry::new()),
        extra: ExtraMetrics::default(),
    }
}

pub(crate) fn source_context() -> SourceContext {
    SourceContext { common: context("r"), metrics: Arc::default() }
}

pub(crate) fn config<C: Configuration>(prefix: &str, pairs: &[(&str, &str)]) -> C {
    let (config, problems) = read(&Settings::from_pairs(prefix, pairs), &[]);
    config.unwrap_or_else(|| panic!("{problems:?}"))
}

/// A durable channel.
pub(crate) fn channel() -> Arc<ScriptedChannel> {
    let keep_alive = Duration::from_millis(20);
    let limits =
        ChannelLimits { capacity: 100_000, transaction_capacity: 10_000, byte_slots: None, keep_alive };
    Arc::new(ScriptedChannel::with_limits("c", limits).durable())
}

pub(crate) fn processor(channel: &Arc<ScriptedChannel>) -> ChannelProcessor {
    let channels = vec![channel.clone() as Arc<dyn Channel>];
    ChannelProcessor::new(Vec::new(), Arc::new(Everywhere(1)), channels, &[0], Arc::default())
}
