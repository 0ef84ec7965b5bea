//! Whole agents with scripted ends: start, failure, reload and stop.

mod parity;

use super::*;
use crate::{
    conf::{ConfigText, load},
    plan::{self, PlanContext},
};
use flumen_core::{
    config::{Configuration, Property, View},
    event::{Batch, Headers},
    group::SinkProcessor,
    metrics::Value,
    processor::ChannelProcessor,
    registry::{BuildError, Kind, PollSourceType, SinkContext, SinkType, SourceContext, SourceType},
    sink::{DeliverError, Delivery, Sink},
    source::{PollSource, Polled, Shutdown, Source, SourceError},
    world::SetClock,
};
use flumen_java::properties::Encoding;
use std::{
    collections::BTreeMap as Map,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// What the sinks of all tests have got, by the name of their `store`.
static STORES: Mutex<Map<String, Vec<String>>> = Mutex::new(Map::new());

fn stored(store: &str) -> Vec<String> {
    STORES.lock().unwrap_or_else(PoisonError::into_inner).get(store).cloned().unwrap_or_default()
}

/// Two texts that both scripted ends have.
#[derive(Debug)]
struct Script {
    store: String,
    mode: String,
}

impl Configuration for Script {
    const PROPERTIES: &'static [Property] = &[
        Property {
            key: "store",
            kind: "text",
            doc: "Where events go.",
            default: Some("none"),
            ..Property::NEW
        },
        Property {
            key: "mode",
            kind: "text",
            doc: "What goes wrong.",
            default: Some("good"),
            ..Property::NEW
        },
    ];

    fn read(view: &mut View<'_>) -> Option<Self> {
        Some(Self { store: view.value(&Self::PROPERTIES[0])?, mode: view.value(&Self::PROPERTIES[1])? })
    }
}

/// Keeps every body; fails or hangs as its mode says.
struct Collect(Script);

impl SinkType for Collect {
    const NAMES: &'static [&'static str] = &["collect"];
    const SUMMARY: &'static str = "Keeps every body.";
    type Config = Script;

    fn build(config: Script, _: &SinkContext) -> Result<Self, BuildError> {
        if config.mode == "unbuildable" {
            return Err(BuildError::new("this sink cannot be built"));
        }
        Ok(Self(config))
    }
}

impl Sink for Collect {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        match self.0.mode.as_str() {
            "failing" => return Err(DeliverError::backoff("no thanks")),
            "hanging" => std::future::pending().await,
            "slow" => tokio::time::sleep(Duration::from_millis(700)).await,
            "panics once" if stored(&format!("{} panics", self.0.store)).is_empty() => {
                let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
                stores.entry(format!("{} panics", self.0.store)).or_default().push(String::new());
                drop(stores);
                panic!("scripted");
            }
            _ => {}
        }
        let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
        let bodies = batch.iter().map(|event| String::from_utf8_lossy(event.body).into_owned());
        stores.entry(self.0.store.clone()).or_default().extend(bodies);
        Ok(Delivery::all(batch))
    }
}

/// Puts the numbers from 1, one a poll.
struct Count(u64);

impl PollSourceType for Count {
    const NAMES: &'static [&'static str] = &["count"];
    const SUMMARY: &'static str = "Counts.";
    type Config = Script;

    fn build(_: Script, _: &SourceContext) -> Result<Self, BuildError> {
        Ok(Self(0))
    }
}

impl PollSource for Count {
    async fn poll(&mut self, out: &ChannelProcessor) -> Result<Polled, SourceError> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let mut batch = Batch::new();
        batch.push(Headers::new(), (self.0 + 1).to_string());
        out.put(batch).await?;
        self.0 += 1;
        Ok(Polled::Ready)
    }
}

/// Panics or fails at its first run, and is good after that.
struct Shaky(Script);

impl SourceType for Shaky {
    const NAMES: &'static [&'static str] = &["shaky"];
    const SUMMARY: &'static str = "Fails once.";
    type Config = Script;

    fn build(config: Script, _: &SourceContext) -> Result<Self, BuildError> {
        Ok(Self(config))
    }
}

impl Source for Shaky {
    async fn run(&mut self, out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        let first = {
            let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
            let runs = stores.entry(format!("{} runs", self.0.store)).or_default();
            runs.push(String::new());
            runs.len() == 1
        };
        match self.0.mode.as_str() {
            "panic" if first => panic!("scripted"),
            "fail" if first => return Err(SourceError::new("scripted")),
            _ => {}
        }
        let mut batch = Batch::new();
        batch.push(Headers::new(), "after all");
        out.put(batch).await?;
        shutdown.requested().await;
        Ok(())
    }
}

pub(crate) fn registry() -> Arc<Registry> {
    Arc::new(
        crate::registry().poll_source::<Count>().source::<Shaky>().sink::<Collect>().channel::<Brittle>(),
    )
}

fn world() -> World {
    World { clock: Arc::new(SetClock::at(1_000)), seed: 1, environment: Arc::default() }
}

fn plan(text: &str) -> Plan {
    let context = PlanContext {
        registry: registry(),
        environment: Arc::default(),
        clock: Arc::new(SetClock::default()),
    };
    let text = ConfigText { name: "flume.conf".into(), bytes: text.into(), encoding: Encoding::Latin1 };
    let (plan, problems) = plan::read(&load(&[text]).0, "a", &context);
    let errors: Vec<_> =
        problems.iter().filter(|p| p.severity == flumen_core::config::Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    plan
}

fn flow(source: &str, sink: &str, more: &str) -> Plan {
    plan(&format!(
        "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = {source}\na.sources.r.channels = c\n\
         a.channels.c.type = memory\na.sinks.k.type = collect\na.sinks.k.channel = c\na.sinks.k.mode = {sink}\n{more}"
    ))
}

async fn start(plan: Plan) -> Agent {
    let mut agent = Agent::new(registry(), world());
    let applied = agent.apply(plan).await;
    assert!(applied.problems.is_empty(), "{:?}", applied.problems);
    agent
}

/// Waits, in paused time, until the condition holds.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn reading(agent: &Agent, kind: Kind, name: &str, reading: &str) -> u64 {
    let report = agent.board().report();
    let component = report.iter().find(|c| c.kind == kind && c.name == name).expect("it is on the board");
    match component.readings.iter().find(|r| r.name == reading).expect("it counts that").value {
        Value::Counter(n) => n,
        ref other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn cfg_18_events_flow_from_start_to_stop_and_none_is_left() {
    let agent = start(flow("count", "good", "a.sinks.k.store = flows\n")).await;
    until("ten events", || stored("flows").len() >= 10).await;
    assert!(agent.board().report().iter().all(|component| component.state == "running"));
    let report = agent.stop(Duration::from_secs(5)).await;
    assert_eq!(report, StopReport::default());
    let got = stored("flows");
    let want: Vec<_> = (1..=got.len()).map(|n| n.to_string()).collect();
    assert_eq!(got, want);
}

#[tokio::test(start_paused = true)]
async fn what_is_left_in_a_memory_channel_is_said_at_the_stop() {
    let agent = start(flow("count", "failing", "")).await;
    until("a full channel", || reading(&agent, Kind::Channel, "c", "EventPutSuccessCount") == 100).await;
    let report = agent.stop(Duration::ZERO).await;
    assert_eq!(report.left, [Left { channel: "c".into(), events: 100, kept: false }]);
    assert_eq!(report.cut_off, 0);
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_hangs_is_cut_off_and_its_events_are_counted_as_left() {
    let agent = start(flow("count", "hanging", "")).await;
    until("an event on loan", || reading(&agent, Kind::Sink, "k", "EventDrainAttemptCount") > 0).await;
    let before = Instant::now();
    let report = agent.stop(Duration::ZERO).await;
    assert_eq!(report.cut_off, 1);
    assert!(report.left[0].events > 0);
    assert!(before.elapsed() < Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn cfg_38_a_component_that_fails_or_panics_is_built_anew() {
    for mode in ["panic", "fail"] {
        let store = format!("shaky {mode}");
        let more =
            format!("a.sources.r.mode = {mode}\na.sources.r.store = {store}\na.sinks.k.store = {store}\n");
        let agent = start(flow("shaky", "good", &more)).await;
        until("the event of the second run", || stored(&store) == ["after all"]).await;
        let report = agent.board().report();
        let source = report.iter().find(|component| component.kind == Kind::Source).unwrap();
        assert_eq!((source.restarts, source.state), (1, "running"));
        assert!(source.last_error.as_ref().unwrap().contains("scripted"), "{:?}", source.last_error);
        agent.stop(Duration::ZERO).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_interceptors_count_stands_beside_their_source_as_one_sum() {
    // A number is no name of a month: both of them fail at every event.
    let one = |name: &str| {
        let key = format!("a.sources.r.interceptors.{name}");
        format!(
            "{key}.type = regex_extractor\n{key}.regex = (.*)\n{key}.serializers = s\n{key}.serializers.s.name = t\n\
             {key}.serializers.s.type = org.apache.flume.interceptor.RegexExtractorInterceptorMillisSerializer\n\
             {key}.serializers.s.pattern = MMM\n"
        )
    };
    let both = format!("a.sources.r.interceptors = i1 i2\n{}{}", one("i1"), one("i2"));
    let agent = start(flow("count", "good", &both)).await;
    until("some events", || reading(&agent, Kind::Source, "r", "EventReceivedCount") > 2).await;
    let report = agent.board().report();
    let source = report.iter().find(|component| component.kind == Kind::Source).unwrap();
    let counts = |name: &str| {
        let named = source.readings.iter().filter(|reading| reading.name == name);
        named.map(|reading| reading.value.clone()).collect::<Vec<_>>()
    };
    let [Value::Counter(received)] = counts("EventReceivedCount")[..] else { panic!("received once") };
    assert_eq!(counts("EventInterceptFailCount"), [Value::Counter(2 * received)]);
    agent.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn fix_04_a_reload_keeps_what_is_in_a_memory_channel_and_what_did_not_change() {
    let mut agent = start(flow("count", "failing", "a.channels.c.capacity = 500\n")).await;
    until("100 events", || reading(&agent, Kind::Channel, "c", "EventPutSuccessCount") >= 100).await;
    // The sink is mended, the channel grows: the source is not touched.
    let next = flow("count", "good", "a.channels.c.capacity = 1000\na.sinks.k.store = reload\n");
    let changes = agent.apply(next).await.changes;
    assert!(changes.sources_started.is_empty() && changes.channels_built.is_empty());
    assert!(changes.groups_started.contains("k") && changes.channels_reconfigured.contains("c"));
    until("200 events", || stored("reload").len() >= 200).await;
    agent.stop(Duration::from_secs(60)).await;
    let got = stored("reload");
    let want: Vec<_> = (1..=got.len()).map(|n| n.to_string()).collect();
    assert_eq!(got, want, "every event once and in order");
}

#[tokio::test(start_paused = true)]
async fn a_part_that_cannot_be_built_leaves_the_old_one_running() {
    let mut agent = start(flow("count", "good", "a.sinks.k.store = old part\n")).await;
    let next = flow("count", "unbuildable", "a.sinks.k.store = old part\n");
    let applied = agent.apply(next).await;
    assert_eq!(applied.problems.len(), 1);
    assert!(applied.problems[0].to_string().contains("this sink cannot be built"));
    assert!(applied.changes.is_empty(), "{:?}", applied.changes);
    let before = stored("old part").len();
    until("more events", || stored("old part").len() > before + 10).await;
    agent.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn parts_that_a_reload_stops_are_named_with_whether_that_was_meant() {
    let old = "a.sources = r s\na.channels = c\na.sinks = k\na.sources.r.type = count\na.sources.r.channels = c\n\
        a.sources.s.type = count\na.sources.s.channels = c\na.channels.c.type = memory\na.sinks.k.type = collect\n\
        a.sinks.k.channel = c\n";
    let mut agent = start(plan(old)).await;
    // Source r moves to a channel that cannot be built, s goes.
    let next = old
        .replace("r s", "r")
        .replace("= c\na.sinks =", "= c d\na.sinks =")
        .replace("r.channels = c", "r.channels = d")
        + "a.channels.d.type = brittle\na.channels.d.capacity = 7\na.channels.d.transactionCapacity = 7\n";
    let applied = agent.apply(plan(&next)).await;
    assert!(
        applied.problems[0].to_string().contains("this channel cannot be built"),
        "{:?}",
        applied.problems
    );
    assert_eq!(applied.lost, ["source r"]);
    assert_eq!(applied.gone, ["source s"]);
    let applied = agent.apply(plan(old)).await;
    assert_eq!((applied.lost, applied.gone), (vec![], vec![]));
    agent.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn an_error_while_running_has_file_and_line_also_after_lines_have_moved() {
    let text = "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = shaky\na.sources.r.mode = fail\n\
        a.sources.r.store = lines\na.sources.r.channels = c\na.channels.c.type = memory\na.sinks.k.type = collect\n\
        a.sinks.k.channel = c\n";
    let mut agent = start(plan(text)).await;
    let moved = agent.apply(plan(&format!("# remark\n\n{text}"))).await;
    assert!(moved.changes.is_empty());
    let last_error = || {
        let report = agent.board().report().into_iter().find(|component| component.name == "r").unwrap();
        report.last_error
    };
    until("a failure", || last_error().is_some()).await;
    assert_eq!(last_error().unwrap(), "flume.conf:6: a.sources.r: scripted");
    agent.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_removed_memory_channel_drains_through_its_old_sink() {
    let mut agent = start(flow("count", "good", "a.sinks.k.store = drained\n")).await;
    until("some events", || stored("drained").len() > 5).await;
    let accepted = agent.board();
    let next = plan(
        "a.sources = r\na.channels = d\na.sinks = k\na.sources.r.type = count\na.sources.r.channels = d\na.channels.d.type = memory\na.sinks.k.type = collect\na.sinks.k.channel = d\na.sinks.k.store = drained 2\n",
    );
    let changes = agent.apply(next).await.changes;
    assert!(changes.channels_removed.contains("c") && changes.channels_built.contains("d"));
    let first = stored("drained");
    let want: Vec<_> = (1..=first.len()).map(|n| n.to_string()).collect();
    assert_eq!(first, want, "all that the old source had put");
    until("events by the new way", || stored("drained 2").len() > 5).await;
    assert!(
        accepted.report().iter().all(|component| component.name != "c"),
        "the old channel has left the board"
    );
    agent.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_removed_memory_channel_that_no_sink_empties_is_not_waited_for() {
    let mut agent = start(flow(
        "count",
        "good",
        "a.channels = c d\na.channels.d.type = memory\na.sources.r.channels = c d\n",
    ))
    .await;
    let board = agent.board();
    let depth = |name: &str| {
        let report = board.report();
        let channel = report
            .iter()
            .find(|component| component.name == name)
            .map(|component| component.readings.clone());
        channel.iter().flatten().any(|reading| {
            reading.name == "ChannelSize"
                && !matches!(reading.value, flumen_core::metrics::Value::Gauge(size) if size == 0.0)
        })
    };
    until("events in the channel without a sink", || depth("d")).await;
    let before = tokio::time::Instant::now();
    let changes = agent.apply(flow("count", "good", "")).await.changes;
    assert!(changes.channels_removed.contains("d"));
    assert!(before.elapsed() < Duration::from_secs(1), "{:?}", before.elapsed());
    agent.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_channel_that_is_being_opened_is_shown_so_and_is_not_ready() {
    let agent = start(flow("count", "good", "")).await;
    let board = agent.board();
    let state =
        || board.report().iter().find(|component| component.name == "c").map(|component| component.state);
    until("the channel runs", || state() == Some("running")).await;
    board.set_opening("c", true);
    assert_eq!(state(), Some("opening"));
    board.set_opening("c", false);
    assert_eq!(state(), Some("running"));
    agent.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn cfg_20_a_reload_that_is_given_up_at_any_moment_leaves_an_agent_that_stops() {
    for ms in 0..60 {
        let mut agent = start(flow("count", "good", "a.sinks.k.store = given up\n")).await;
        let next = flow("count", "failing", "a.sources.r.store = other\na.channels.c.keep-alive = 1\n");
        let _ = tokio::time::timeout(Duration::from_millis(ms), agent.apply(next)).await;
        let stopped = tokio::time::timeout(Duration::from_secs(60), agent.stop(Duration::ZERO)).await;
        assert!(stopped.is_ok(), "given up after {ms} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn fix_93_a_panic_in_one_delivery_loses_nothing_and_the_sink_goes_on() {
    let agent = start(flow("count", "panics once", "a.sinks.k.store = fix 93\n")).await;
    until("events after the panic", || stored("fix 93").len() > 20).await;
    let report = agent.board().report();
    let sink = report.iter().find(|component| component.kind == Kind::Sink).unwrap();
    assert_eq!((sink.restarts, sink.state), (1, "running"));
    agent.stop(Duration::from_secs(60)).await;
    let got = stored("fix 93");
    let want: Vec<_> = (1..=got.len()).map(|n| n.to_string()).collect();
    assert_eq!(got, want, "every event once and in order");
}

#[tokio::test(start_paused = true)]
async fn cfg_13_a_channel_that_was_gone_for_a_reload_is_another_one_when_it_returns() {
    let other = flow("count", "good", "a.sinks.k.store = cfg 13\n");
    let mut agent = start(flow("count", "failing", "")).await;
    until("events", || reading(&agent, Kind::Channel, "c", "EventPutSuccessCount") >= 50).await;
    let without = plan(
        "a.sources = r\na.channels = d\na.sinks = k\na.sources.r.type = count\na.sources.r.channels = d\n\
         a.channels.d.type = memory\na.sinks.k.type = collect\na.sinks.k.channel = d\na.sinks.k.store = cfg 13 d\n",
    );
    agent.apply(without).await;
    agent.apply(other).await;
    assert!(reading(&agent, Kind::Channel, "c", "EventPutSuccessCount") < 50);
    until("events", || stored("cfg 13").len() > 5).await;
    assert_eq!(stored("cfg 13")[0], "1", "nothing of before is in it");
    agent.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn fix_95_a_part_that_does_not_stop_or_start_keeps_the_others_from_nothing() {
    let two = |mode: &str, other: &str| {
        let more = format!(
            "a.sinks = k l\na.channels = c d\na.channels.d.type = memory\na.sources.r.channels = c d\n\
             a.sinks.l.type = collect\na.sinks.l.channel = d\na.sinks.l.mode = {other}\na.sinks.l.store = fix 95\n"
        );
        flow("count", mode, &more)
    };
    let mut agent = start(two("hanging", "failing")).await;
    until("an event on loan", || reading(&agent, Kind::Sink, "k", "EventDrainAttemptCount") > 0).await;
    // The one hangs and is to be another; the other is to be mended; a third cannot be built.
    let applied = agent.apply(two("failing", "good")).await;
    assert!(applied.problems.is_empty(), "{:?}", applied.problems);
    until("events of the mended one", || !stored("fix 95").is_empty()).await;
    let applied = agent.apply(two("unbuildable", "slow")).await;
    assert_eq!(applied.problems.len(), 1);
    assert_eq!(applied.changes.groups_started.iter().collect::<Vec<_>>(), ["l"]);
    let board = agent.board();
    until("both sinks run", || board.report().iter().all(|component| component.state == "running")).await;
    let stopped = tokio::time::timeout(Duration::from_secs(60), agent.stop(Duration::ZERO)).await;
    assert!(stopped.is_ok());
}

#[tokio::test(start_paused = true)]
async fn fix_96_channels_close_last_so_that_what_is_under_way_at_the_stop_is_counted_once() {
    let agent = start(flow("count", "slow", "a.sinks.k.store = fix 96\n")).await;
    until("a delivery that is over", || !stored("fix 96").is_empty()).await;
    until("a delivery under way", || {
        let attempts = reading(&agent, Kind::Sink, "k", "EventDrainAttemptCount");
        attempts > reading(&agent, Kind::Sink, "k", "EventDrainSuccessCount")
    })
    .await;
    let board = agent.board();
    let report = agent.stop(Duration::ZERO).await;
    let channel = board.report().into_iter().find(|component| component.kind == Kind::Channel).unwrap();
    let put = channel.readings.iter().find(|reading| reading.name == "EventPutSuccessCount").unwrap();
    let Value::Counter(put) = put.value else { panic!("{:?}", put.value) };
    let left = report.left.iter().map(|left| left.events).sum::<u64>();
    assert_eq!(report.cut_off, 0);
    assert_eq!(stored("fix 96").len() as u64 + left, put, "stored and left are all that were put");
}

#[tokio::test(start_paused = true)]
async fn a_channel_that_a_panic_has_broken_is_told_so_that_the_agent_can_end() {
    let plan = flow("count", "panics once", "a.channels.c.type = brittle\na.sinks.k.store = broken\n");
    let agent = start(plan).await;
    let told = tokio::time::timeout(Duration::from_secs(60), agent.broken_channel()).await;
    assert_eq!(told.unwrap(), "c");
    let stopped = tokio::time::timeout(Duration::from_secs(60), agent.stop(Duration::from_secs(5))).await;
    assert!(stopped.is_ok(), "a broken channel keeps nobody from stopping");
}

/// A memory channel that calls itself broken as soon as something has been taken from it.
#[derive(Debug)]
struct Brittle(flumen_channels::memory::MemoryChannel, std::sync::atomic::AtomicBool);

impl flumen_core::registry::ChannelType for Brittle {
    const NAMES: &'static [&'static str] = &["brittle"];
    const SUMMARY: &'static str = "Breaks.";
    const LIVE_KEYS: &'static [&'static str] = &[];
    type Config = flumen_channels::memory::MemoryConfig;

    fn build(
        config: Self::Config,
        context: &flumen_core::registry::ChannelContext,
    ) -> Result<Self, BuildError> {
        if config.limits(&context.common.environment).capacity == 7 {
            return Err(BuildError::new("this channel cannot be built"));
        }
        let channel = flumen_core::registry::ChannelType::build(config, context)?;
        Ok(Self(channel, false.into()))
    }

    fn limits_of(config: &Self::Config, context: &BuildContext) -> flumen_core::channel::ChannelLimits {
        config.limits(&context.environment)
    }
}

impl flumen_core::channel::Channel for Brittle {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn limits(&self) -> flumen_core::channel::ChannelLimits {
        self.0.limits()
    }
    fn signals(&self) -> &flumen_core::channel::Signals {
        self.0.signals()
    }
    fn try_put(
        &self,
        size: flumen_core::event::BatchSize,
    ) -> Result<Option<flumen_core::channel::PutTransaction>, flumen_core::channel::ChannelError> {
        self.0.try_put(size)
    }
    fn try_take(
        &self,
        max_events: u32,
    ) -> Result<Option<flumen_core::channel::TakeTransaction>, flumen_core::channel::ChannelError> {
        self.1.store(true, std::sync::atomic::Ordering::Relaxed);
        self.0.try_take(max_events)
    }
    fn reconfigure(
        &self,
        limits: &flumen_core::channel::ChannelLimits,
    ) -> Result<(), flumen_core::channel::NeedsRebuild> {
        self.0.reconfigure(limits)
    }
    fn depth(&self) -> flumen_core::channel::ChannelDepth {
        self.0.depth()
    }
    fn is_broken(&self) -> bool {
        self.1.load(std::sync::atomic::Ordering::Relaxed)
    }
    fn close(&self) {
        self.0.close();
    }
}

/// The default processor of the tests' groups comes from the real registry.
#[test]
fn the_default_processor_is_there() {
    let registry = registry();
    let entry = registry.find_processor("default").unwrap();
    let context = Agent::new(registry.clone(), world()).context("g");
    let settings = flumen_core::config::Settings::new("a.sinks.k.processor");
    let mut policy: Box<dyn SinkProcessor> = (entry.build)(&settings, &["k".into()], &context).unwrap();
    assert!(policy.pick(Instant::now()).is_ok());
}
