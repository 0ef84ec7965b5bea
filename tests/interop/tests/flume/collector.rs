//! A source of ours that runs in the test, and keeps what it gets.

use crate::wait::{LIMIT, free_port, listens, until};
use flumen_core::{
    channel::ChannelLimits,
    config::Settings,
    metrics::SourceMetrics,
    processor::ChannelProcessor,
    registry::{BuildContext, Environment, ExtraMetrics, Registry, SourceContext},
    source::{Shutdown, ShutdownHandle},
    testing::{Everywhere, ScriptedChannel},
    world::SetClock,
};
use std::{sync::Arc, time::Duration};
use tokio::{task::JoinSet, time::timeout};

/// A running source.
pub(crate) struct Collector {
    pub(crate) port: u16,
    pub(crate) stored: Arc<ScriptedChannel>,
    pub(crate) metrics: Arc<SourceMetrics>,
    stop: ShutdownHandle,
    tasks: JoinSet<()>,
}

pub(crate) fn context(name: &str, registry: &Arc<Registry>) -> BuildContext {
    BuildContext {
        agent: "a".into(),
        name: name.into(),
        clock: Arc::new(SetClock::default()),
        seed: 1,
        environment: Arc::new(Environment::default()),
        registry: registry.clone(),
        extra: ExtraMetrics::default(),
    }
}

/// A channel with room for everything.
pub(crate) fn channel() -> Arc<ScriptedChannel> {
    let keep_alive = Duration::from_secs(1);
    let limits =
        ChannelLimits { capacity: 10_000_000, transaction_capacity: 10_000, byte_slots: None, keep_alive };
    Arc::new(ScriptedChannel::with_limits("c", limits))
}

pub(crate) fn settings(port: u16, first: (&str, &str), more: &[(&str, String)]) -> Settings {
    let port = port.to_string();
    let mut pairs = vec![first, ("port", port.as_str())];
    pairs.extend(more.iter().map(|(key, value)| (*key, value.as_str())));
    Settings::from_pairs("a.x.y.", &pairs)
}

impl Collector {
    pub(crate) async fn start(protocol: &str, keys: &[(&str, String)]) -> Self {
        Self::start_at(free_port(), protocol, keys).await
    }

    pub(crate) async fn start_at(port: u16, protocol: &str, keys: &[(&str, String)]) -> Self {
        let registry = Arc::new(flumen_agent::registry());
        let entry = registry.find_source(protocol).unwrap();
        let metrics = Arc::new(SourceMetrics::default());
        let context = SourceContext { common: context("r", &registry), metrics: metrics.clone() };
        let mut source = (entry.build)(&settings(port, ("bind", "127.0.0.1"), keys), &context).unwrap();
        let stored = channel();
        let out = ChannelProcessor::new(
            Vec::new(),
            Arc::new(Everywhere(1)),
            vec![stored.clone()],
            &[0],
            metrics.clone(),
        );
        let (stop, shutdown) = Shutdown::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { source.run(out, shutdown).await.unwrap() });
        until("a source that listens", || listens(port)).await;
        Self { port, stored, metrics, stop, tasks }
    }

    /// Stops the source and waits for its end.
    pub(crate) async fn stop(mut self) {
        self.stop.request();
        timeout(LIMIT, self.tasks.join_next()).await.expect("the source stops").unwrap().unwrap();
    }
}
