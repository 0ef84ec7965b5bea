//! For tests: what components are built with, and a cluster within the process that the client library brings.

mod mock;
mod wait;

pub(crate) use mock::Mock;
pub(crate) use wait::{LIMIT, until};

use flumen_core::{
    channel::{Channel, ChannelLimits, Signal},
    config::{Configuration, Problem, Settings, read},
    metrics::{SinkMetrics, SourceMetrics},
    processor::ChannelProcessor,
    registry::{
        BuildContext, ChannelContext, Environment, ExtraMetrics, Registry, SinkContext, SourceContext,
    },
    testing::{Everywhere, ScriptedChannel},
    world::SetClock,
};
use std::{sync::Arc, time::Duration};

/// What a component `name` of agent `a` is built with.
pub(crate) fn build_context(name: &str) -> BuildContext {
    BuildContext {
        agent: "a".into(),
        name: name.into(),
        clock: Arc::new(SetClock::at(0)),
        seed: 1,
        environment: Arc::new(Environment::default()),
        registry: Arc::new(crate::register(Registry::new())),
        extra: ExtraMetrics::default(),
    }
}

/// What a sink is built with.
pub(crate) fn sink_context() -> SinkContext {
    SinkContext {
        common: build_context("k"),
        metrics: Arc::new(SinkMetrics::default()),
        wake: Arc::new(Signal::default()),
        durable_channel: true,
    }
}

/// What a channel is built with.
pub(crate) fn channel_context() -> ChannelContext {
    ChannelContext { common: build_context("c"), metrics: Arc::default() }
}

/// What a source is built with.
pub(crate) fn source_context() -> SourceContext {
    SourceContext { common: build_context("r"), metrics: Arc::new(SourceMetrics::default()) }
}

/// A durable channel for so many events, which makes a put wait for 20 ms.
pub(crate) fn channel(capacity: u64) -> Arc<ScriptedChannel> {
    let limits = ChannelLimits {
        capacity,
        transaction_capacity: 10_000,
        byte_slots: None,
        keep_alive: Duration::from_millis(20),
    };
    Arc::new(ScriptedChannel::with_limits("c", limits).durable())
}

/// What a source puts into a channel with.
pub(crate) fn processor(channel: &Arc<ScriptedChannel>, metrics: &Arc<SourceMetrics>) -> ChannelProcessor {
    let channels = vec![channel.clone() as Arc<dyn Channel>];
    ChannelProcessor::new(Vec::new(), Arc::new(Everywhere(1)), channels, &[0], metrics.clone())
}

/// Reads settings, with brokers that nobody is asked for, and what was told of them.
pub(crate) fn read_config<C: Configuration>(
    prefix: &str,
    pairs: &[(&str, &str)],
) -> (Option<C>, Vec<Problem>) {
    let mut all = pairs.to_vec();
    if !pairs
        .iter()
        .any(|(key, _)| matches!(*key, "kafka.bootstrap.servers" | "brokerList" | "zookeeperConnect"))
    {
        all.push(("kafka.bootstrap.servers", "127.0.0.1:9"));
    }
    read(&Settings::from_pairs(prefix, &all), &[])
}

/// Reads settings that are right.
pub(crate) fn config<C: Configuration>(prefix: &str, pairs: &[(&str, &str)]) -> C {
    let (config, problems) = read_config(prefix, pairs);
    config.unwrap_or_else(|| panic!("{problems:?}"))
}

/// What was told of settings, each as `key: text`.
pub(crate) fn told(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|problem| format!("{}: {}", problem.key, problem.what)).collect()
}
