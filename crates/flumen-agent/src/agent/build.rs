//! Makes the parts of a plan. Nothing is opened here: a part is made before the one that it replaces stops.

use super::{
    Agent,
    board::{Card, Life},
    live_channel::{LiveChannel, Opening},
    task::{End, Task, Who},
};
use crate::plan::{GroupPlan, Part, Plan, SecretValues, SinkPlan, SourcePlan};
use flumen_core::{
    channel::{Channel, Signal},
    config::Origin,
    group::{Member, RunnerEnd, SinkProcessor, SinkRunner},
    metrics::{ChannelMetrics, MetricSet, SinkMetrics, SourceMetrics},
    processor::ChannelProcessor,
    registry::{BuildContext, BuildError, ChannelContext, ExtraMetrics, Kind, SinkContext, SourceContext},
    source::{BoxError, DynSource, Shutdown},
};
use std::{collections::BTreeMap, sync::Arc};

/// Channels by name, as the parts of a plan see them.
pub(crate) type Channels = BTreeMap<String, Arc<dyn Channel>>;

/// A channel that is made and not yet open.
pub(super) struct NewChannel {
    pub(super) channel: Arc<dyn Channel>,
    metrics: Arc<ChannelMetrics>,
    extra: ExtraMetrics,
    type_name: &'static str,
    secrets: SecretValues,
    origin: Origin,
}

/// Makes a fresh source at each call.
type SourceFactory = Box<dyn FnMut() -> Result<Box<dyn DynSource>, BuildError> + Send>;

/// A source that is made and not yet running.
pub(super) struct NewSource {
    first: Option<Box<dyn DynSource>>,
    factory: SourceFactory,
    processor: ChannelProcessor,
    channels: Vec<String>,
    metrics: Arc<SourceMetrics>,
    extra: Vec<ExtraMetrics>,
    type_name: &'static str,
    secrets: SecretValues,
    origin: Origin,
}

/// Makes the members and the policy of a group at each call.
type GroupFactory = Box<dyn FnMut() -> Result<(Vec<Member>, Box<dyn SinkProcessor>), BoxError> + Send>;

/// A group of sinks that is made and not yet running.
pub(super) struct NewGroup {
    first: Option<SinkRunner>,
    factory: GroupFactory,
    channels: Vec<String>,
    sinks: Vec<NewSink>,
    secrets: SecretValues,
}

/// What is entered of a sink when its group starts.
struct NewSink {
    name: String,
    type_name: &'static str,
    metrics: Arc<SinkMetrics>,
    extra: ExtraMetrics,
    origin: Origin,
}

impl Agent {
    pub(super) fn new_channel(&self, name: &str, part: &Part) -> Result<NewChannel, BuildError> {
        let entry = self.registry.find_channel(part.type_name).ok_or_else(|| gone(part))?;
        let metrics = Arc::new(ChannelMetrics::default());
        let context = ChannelContext { common: self.context(name), metrics: metrics.clone() };
        let channel = (entry.build)(&part.settings, &context)?;
        Ok(NewChannel {
            channel,
            metrics,
            extra: context.common.extra,
            type_name: part.type_name,
            secrets: SecretValues::of([(Kind::Channel, part)], &self.registry),
            origin: Origin::new(part.settings.clone()),
        })
    }

    pub(super) fn new_source(
        &self,
        name: &str,
        source: &SourcePlan,
        plan: &Plan,
        channels: &Channels,
    ) -> Result<NewSource, BuildError> {
        let entry = *self.registry.find_source(source.part.type_name).ok_or_else(|| gone(&source.part))?;
        let metrics = Arc::new(SourceMetrics::default());
        let context = SourceContext { common: self.context(name), metrics: metrics.clone() };
        // What interceptors count stays when the source is built anew; what the source counts does not.
        let around = BuildContext { extra: ExtraMetrics::default(), ..context.common.clone() };
        let processor = processor(source, plan, channels, &around, metrics.clone())?;
        let extra = context.common.extra.clone();
        let (settings, kept) = (source.part.settings.clone(), extra.clone());
        let mut factory: SourceFactory = Box::new(move || {
            kept.clear();
            (entry.build)(&settings, &context)
        });
        Ok(NewSource {
            first: Some(factory()?),
            factory,
            processor,
            channels: source.channels.clone(),
            metrics,
            extra: vec![extra, around.extra],
            type_name: source.part.type_name,
            secrets: SecretValues::of(source.parts(), &self.registry),
            origin: Origin::new(source.part.settings.clone()),
        })
    }

    pub(super) fn new_group(
        &self,
        name: &str,
        group: &GroupPlan,
        channels: &Channels,
    ) -> Result<NewGroup, BoxError> {
        let mut sinks = Vec::new();
        let mut parts = Vec::new();
        for sink in &group.sinks {
            let metrics = Arc::new(SinkMetrics::default());
            let common = self.context(&sink.name);
            let mut sink = sink.clone();
            sink.options.origin = Origin::new(sink.part.settings.clone());
            sinks.push(NewSink {
                name: sink.name.clone(),
                type_name: sink.part.type_name,
                metrics: metrics.clone(),
                extra: common.extra.clone(),
                origin: sink.options.origin.clone(),
            });
            let channel = channels[&sink.channel].clone();
            let durable_channel = channel.durable();
            let context = SinkContext { common, metrics, wake: Arc::new(Signal::default()), durable_channel };
            parts.push((sink, context, channel));
        }
        let processor =
            self.registry.find_processor(group.processor.type_name).ok_or_else(|| gone(&group.processor))?;
        let (build, settings) = (processor.build, group.processor.settings.clone());
        let names: Vec<String> = group.sinks.iter().map(|sink| sink.name.clone()).collect();
        let own = self.context(name);
        let registry = self.registry.clone();
        let mut factory: GroupFactory = Box::new(move || {
            let members = parts
                .iter()
                .map(|(sink, context, channel)| member(sink, context, channel.clone(), &registry));
            Ok((members.collect::<Result<_, _>>()?, build(&settings, &names, &own)?))
        });
        let (members, policy) = factory()?;
        let channels = group.sinks.iter().map(|sink| sink.channel.clone()).collect();
        let secrets = SecretValues::of(group.parts(), &self.registry);
        Ok(NewGroup { first: Some(SinkRunner::new(members, policy)), factory, channels, sinks, secrets })
    }

    /// What a program puts events with that takes the place of this source: it goes to the channels that run.
    ///
    /// # Errors
    /// A channel, an interceptor or the selector is not there.
    pub(crate) fn processor_for(
        &self,
        name: &str,
        source: &SourcePlan,
    ) -> Result<ChannelProcessor, BuildError> {
        let channels: Channels =
            self.channels.iter().map(|(name, live)| (name.clone(), live.channel.clone())).collect();
        if let Some(missing) = source.channels.iter().find(|name| !channels.contains_key(*name)) {
            return Err(BuildError::new(format!("channel {missing} is not there")));
        }
        processor(source, &self.plan, &channels, &self.context(name), Arc::default())
    }

    pub(super) fn start_channel(&mut self, name: &str, new: NewChannel) {
        self.enter(
            Kind::Channel,
            name,
            new.type_name,
            new.metrics,
            vec![new.extra],
            Some(new.channel.clone()),
        );
        let who = self.who(Kind::Channel, vec![name.to_owned()], new.origin, new.secrets);
        let live = LiveChannel::open(new.channel, who);
        self.channels.insert(name.to_owned(), live);
    }

    pub(super) fn start_source(&mut self, name: &str, new: NewSource) {
        self.enter(Kind::Source, name, new.type_name, new.metrics, new.extra, None);
        let NewSource { mut first, mut factory, processor, channels, origin, secrets, .. } = new;
        let ready = self.all_ready(channels);
        let run = move |mut shutdown: Shutdown| {
            let built = first.take().map_or_else(&mut factory, Ok);
            let (processor, ready) = (processor.clone(), ready());
            async move {
                let mut source = match built {
                    Ok(source) => source,
                    Err(error) => return End::Failed(error.to_string()),
                };
                tokio::select! {
                    biased;
                    () = shutdown.requested() => return End::Finished,
                    () = ready => {}
                }
                match source.run(processor, shutdown).await {
                    Ok(()) => End::Finished,
                    Err(error) => End::Failed(error.to_string()),
                }
            }
        };
        let who = self.who(Kind::Source, vec![name.to_owned()], origin, secrets);
        self.sources.insert(name.to_owned(), Task::start(who, run));
    }

    pub(super) fn start_group(&mut self, name: &str, new: NewGroup) {
        let NewGroup { mut first, mut factory, channels, sinks, secrets } = new;
        let names = sinks.iter().map(|sink| sink.name.clone()).collect();
        // What ends a whole group is a fault of a channel, which no sink names.
        let origin = sinks.first().map(|sink| sink.origin.clone()).unwrap_or_default();
        for NewSink { name, type_name, metrics, extra, origin } in sinks {
            self.enter(Kind::Sink, &name, type_name, metrics, vec![extra], None);
            self.origins.insert((Kind::Sink, name), origin);
        }
        let ready = self.all_ready(channels);
        let run = move |mut shutdown: Shutdown| {
            let mut again = || factory().map(|(members, policy)| SinkRunner::new(members, policy));
            let built = first.take().map_or_else(&mut again, Ok);
            let ready = ready();
            async move {
                let mut runner = match built {
                    Ok(runner) => runner,
                    Err(error) => return End::Failed(error.to_string()),
                };
                tokio::select! {
                    biased;
                    () = shutdown.requested() => return End::Finished,
                    () = ready => {}
                }
                match runner.run(shutdown).await {
                    RunnerEnd::Stopped => End::Finished,
                    RunnerEnd::Channel(error) => End::Failed(error.to_string()),
                }
            }
        };
        let who = self.who(Kind::Sink, names, origin, secrets);
        self.groups.insert(name.to_owned(), Task::start(who, run));
    }

    /// Waits, at each call, until all of these channels are open.
    fn all_ready(
        &self,
        channels: Vec<String>,
    ) -> impl Fn() -> futures_util::future::BoxFuture<'static, ()> + Send + use<> {
        let live: Vec<_> = channels.iter().map(|name| self.channels[name].opening()).collect();
        move || {
            let live = live.clone();
            Box::pin(async move {
                for mut opening in live {
                    // An error means that the channel goes away; whoever waits is stopped by its own signal.
                    let _ = opening.wait_for(|opening| *opening == Opening::Open).await;
                }
            })
        }
    }

    fn who(&mut self, kind: Kind, names: Vec<String>, origin: Origin, secrets: SecretValues) -> Who {
        if let [name] = &names[..] {
            self.origins.insert((kind, name.clone()), origin.clone());
        }
        Who { kind, names, board: self.board.clone(), clock: self.world.clock.clone(), origin, secrets }
    }

    fn enter(
        &self,
        kind: Kind,
        name: &str,
        type_name: &'static str,
        metrics: Arc<dyn MetricSet>,
        extra: Vec<ExtraMetrics>,
        channel: Option<Arc<dyn Channel>>,
    ) {
        let started_ms = self.world.clock.now_ms();
        self.board.enter(
            kind,
            name,
            Card { type_name, started_ms, metrics, extra, channel, life: Life::default(), opening: false },
        );
    }
}

/// Between a source and its channels: its interceptors and its selector.
pub(crate) fn processor(
    source: &SourcePlan,
    plan: &Plan,
    channels: &Channels,
    context: &BuildContext,
    metrics: Arc<SourceMetrics>,
) -> Result<ChannelProcessor, BuildError> {
    let registry = &context.registry;
    let mut interceptors = Vec::new();
    for (name, part) in &source.interceptors {
        let entry = registry.find_interceptor(part.type_name).ok_or_else(|| gone(part))?;
        let own = BuildContext { name: name.as_str().into(), ..context.clone() };
        interceptors.push((entry.build)(&part.settings, &own)?);
    }
    let entry = registry.find_selector(source.selector.type_name).ok_or_else(|| gone(&source.selector))?;
    let selector = (entry.build)(&source.selector.settings, &source.channels, context)?;
    let order =
        |name: &String| plan.channel_order.iter().position(|channel| channel == name).unwrap_or(usize::MAX);
    let agent_order: Vec<usize> = source.channels.iter().map(order).collect();
    let own = source.channels.iter().map(|name| channels[name].clone()).collect();
    Ok(ChannelProcessor::new(interceptors, selector, own, &agent_order, metrics))
}

fn member(
    sink: &SinkPlan,
    context: &SinkContext,
    channel: Arc<dyn Channel>,
    registry: &flumen_core::registry::Registry,
) -> Result<Member, BoxError> {
    let entry = *registry.find_sink(sink.part.type_name).ok_or_else(|| gone(&sink.part))?;
    let (settings, own) = (sink.part.settings.clone(), context.clone());
    let factory = Box::new(move || {
        own.common.extra.clear();
        (entry.build)(&settings, &own).map_err(BoxError::from)
    });
    let (options, metrics, wake) = (sink.options.clone(), context.metrics.clone(), context.wake.clone());
    Member::new(sink.name.as_str().into(), factory, channel, sink.batch_size, options, metrics, wake)
}

/// A plan names only types that the registry had when it was read.
fn gone(part: &Part) -> BuildError {
    BuildError::new(format!("{}: type `{}` is not registered", part.settings.prefix(), part.type_name))
}
