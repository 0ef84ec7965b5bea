//! The first flow, `seq → memory → null`, with the real components under a runtime of one thread.

use crate::{
    Effort,
    clock::{median_cpu, ns_each},
    event_by_event, floors,
    report::Table,
};
use flumen_core::{
    channel::{Channel, Signal},
    config::Settings,
    group::{Member, MemberOptions, SinkRunner},
    intercept::Interceptor,
    metrics::{ChannelMetrics, SinkMetrics, SourceMetrics},
    processor::ChannelProcessor,
    registry::{
        BuildContext, ChannelContext, Environment, ExtraMetrics, Registry, SinkContext, SourceContext,
    },
    source::Shutdown,
    world::SetClock,
};
use std::{hint::black_box, sync::Arc};

/// Measures the flow with this batch size, beside the floors. With headers: two interceptors set a header each.
pub(crate) fn measure(effort: Effort, batch_size: usize, headers: bool, table: &mut Table) {
    // Single events are slow: fewer of them.
    let events = (effort.events / (1_000 / batch_size).clamp(1, 20)).next_multiple_of(batch_size);
    let cost = |work: &dyn Fn()| ns_each(median_cpu(effort.rounds, work), events);
    let flow = cost(&|| run(events, batch_size, headers));
    let queue = cost(&|| floors::bare_queue(events, batch_size));
    let single = cost(&|| event_by_event::run(events, batch_size, headers));
    let figures = |ns: f64| {
        vec![
            format!("{ns:.1}"),
            format!("{:.2}", 1_000.0 / ns),
            format!("{:.1}", single / ns),
            format!("{:.2}", ns / queue),
        ]
    };
    let what = if headers { ", host and timestamp" } else { "" };
    table.row(format!("{batch_size} a batch{what}"), figures(flow));
    if !headers {
        table.row(format!("{batch_size} a batch, bare queue"), figures(queue));
    }
    table.row(format!("{batch_size} a batch{what}, event by event"), figures(single));
}

/// What the components get.
pub(crate) fn context(name: &str, registry: &Arc<Registry>) -> BuildContext {
    BuildContext {
        agent: "bench".into(),
        name: name.into(),
        clock: Arc::new(SetClock::default()),
        seed: 1,
        environment: Arc::new(Environment::default()),
        registry: registry.clone(),
        extra: ExtraMetrics::default(),
    }
}

/// All components.
pub(crate) fn registry() -> Arc<Registry> {
    Arc::new(flumen_components::register(flumen_channels::register(Registry::new())))
}

/// An interceptor of this type.
pub(crate) fn interceptor(
    name: &str,
    pairs: &[(&str, &str)],
    registry: &Arc<Registry>,
) -> Arc<dyn Interceptor> {
    let entry = registry.find_interceptor(name).expect("it is registered");
    let settings = Settings::from_pairs("i", pairs);
    (entry.build)(&settings, &context("i", registry)).expect("these settings are right")
}

/// A memory channel with room for some batches of this size.
pub(crate) fn memory(batch_size: usize, registry: &Arc<Registry>) -> Arc<dyn Channel> {
    let size = batch_size.to_string();
    let settings = Settings::from_pairs("c", &[("capacity", "100000"), ("transactionCapacity", &size)]);
    let context =
        ChannelContext { common: context("c", registry), metrics: Arc::new(ChannelMetrics::default()) };
    let entry = registry.find_channel("memory").expect("it is registered");
    (entry.build)(&settings, &context).expect("these settings are right")
}

/// Moves `events` through the flow and checks that all arrived.
pub(crate) fn run(events: usize, batch_size: usize, headers: bool) {
    let registry = registry();
    let channel = memory(batch_size, &registry);
    let (size, total) = (batch_size.to_string(), events.to_string());

    let source_metrics = Arc::new(SourceMetrics::default());
    let source_context = SourceContext { common: context("r", &registry), metrics: source_metrics.clone() };
    let settings = Settings::from_pairs("r", &[("batchSize", &size), ("totalEvents", &total)]);
    let entry = registry.find_source("seq").expect("it is registered");
    let mut source = (entry.build)(&settings, &source_context).expect("these settings are right");
    let interceptors = match headers {
        true => vec![interceptor("host", &[], &registry), interceptor("timestamp", &[], &registry)],
        false => Vec::new(),
    };
    let selector = registry.find_selector("replicating").expect("it is registered");
    let selector =
        (selector.build)(&Settings::new("s"), &["c".into()], &source_context.common).expect("one channel");
    let processor =
        ChannelProcessor::new(interceptors, selector, vec![channel.clone()], &[0], source_metrics);

    let sink_metrics = Arc::new(SinkMetrics::default());
    let runner = sink_runner(&registry, channel.clone(), batch_size, sink_metrics.clone());

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async move {
        let (stop_source, source_shutdown) = Shutdown::new();
        let (stop_sink, sink_shutdown) = Shutdown::new();
        let watch = async {
            loop {
                let freed = channel.signals().freed.listen();
                if sink_metrics.drained.get() >= events as u64 {
                    break;
                }
                freed.await;
            }
            stop_source.request();
            stop_sink.request();
        };
        let mut runner = runner;
        // Tasks of their own, as in an agent: the two ends do not share one future.
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async move { _ = source.run(processor, source_shutdown).await });
        tasks.spawn(async move { _ = runner.run(sink_shutdown).await });
        watch.await;
        while tasks.join_next().await.is_some() {}
        assert_eq!(black_box(sink_metrics.drained.get()), events as u64, "an event was lost or doubled");
    });
}

/// A null sink under the default processor.
pub(crate) fn sink_runner(
    registry: &Arc<Registry>,
    channel: Arc<dyn Channel>,
    batch_size: usize,
    metrics: Arc<SinkMetrics>,
) -> SinkRunner {
    let wake = Arc::new(Signal::default());
    let common = context("k", registry);
    let processor = registry.find_processor("default").expect("it is registered");
    let policy = (processor.build)(&Settings::new("p"), &["k".into()], &common).expect("one sink");
    let sink_context =
        SinkContext { common, metrics: metrics.clone(), wake: wake.clone(), durable_channel: false };
    let size = batch_size.to_string();
    let settings = Settings::from_pairs("k", &[("batchSize", &size), ("logEveryNEvents", "2000000000")]);
    let entry = *registry.find_sink("null").expect("it is registered");
    let factory = Box::new(move || (entry.build)(&settings, &sink_context).map_err(Into::into));
    let batch_size = u32::try_from(batch_size).expect("a small batch");
    let member =
        Member::new("k".into(), factory, channel, batch_size, MemberOptions::default(), metrics, wake);
    SinkRunner::new(vec![member.expect("these settings are right")], policy)
}
