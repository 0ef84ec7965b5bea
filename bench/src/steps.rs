//! Each of the nine steps of a batch by itself, over groups of batches.

use crate::{
    Effort,
    floors::seq_batch,
    flow::{context, memory, registry},
    report::Table,
};
use flumen_core::{
    channel::Channel,
    config::Settings,
    event::{Batch, Text},
    group::{Outcome, SinkIndex, SinkProcessor},
    intercept::{InterceptError, Interceptor},
    metrics::SinkMetrics,
    registry::Registry,
    route::Selector,
    sink::DynSink,
};
use std::{hint::black_box, sync::Arc, time::Duration};
use tokio::time::Instant;

const BATCH: usize = 100;

/// Sets one header on all events, as the static interceptor does.
#[derive(Debug)]
struct SetOne(Text, Text);

impl Interceptor for SetOne {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        batch.edit_headers(|headers| headers.set(self.0.clone(), self.1.clone()));
        Ok(())
    }
}

/// What the steps work on.
struct Bed {
    interceptors: Vec<Arc<dyn Interceptor>>,
    selector: Arc<dyn Selector>,
    channel: Arc<dyn Channel>,
    policy: Box<dyn SinkProcessor>,
    sink: Box<dyn DynSink>,
    metrics: SinkMetrics,
    runtime: tokio::runtime::Runtime,
}

/// The steps in order.
const STEPS: [&str; 9] = [
    "1 decode",
    "2 intercept (two static headers)",
    "3 route",
    "4 reserve",
    "5 commit",
    "6 pick and take",
    "7 deliver to null",
    "8 commit the take",
    "9 report",
];

/// Batches that go through a step together, so that reading the clock costs nothing beside it.
const GROUP: usize = 100;

/// Measures all steps.
pub(crate) fn measure(effort: Effort, table: &mut Table) {
    let mut bed = Bed::new(&registry());
    let groups = (effort.events / (GROUP * BATCH)).max(1);
    let mut rounds: Vec<[f64; STEPS.len()]> = Vec::new();
    bed.run(groups);
    for _ in 0..effort.rounds {
        rounds.push(bed.run(groups));
    }
    let median = |step: usize| {
        let mut all: Vec<f64> = rounds.iter().map(|round| round[step]).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let own: Vec<f64> = (0..STEPS.len()).map(median).collect();
    let all: f64 = own.iter().sum();
    for (step, own) in STEPS.iter().zip(&own) {
        table.row(*step, vec![format!("{own:.2}"), format!("{:.0} %", own / all * 100.0)]);
    }
    table.row("all", vec![format!("{all:.2}"), "100 %".to_owned()]);
}

impl Bed {
    fn new(registry: &Arc<Registry>) -> Self {
        let names = ["c".to_owned()];
        let common = context("r", registry);
        let selector = registry.find_selector("replicating").expect("it is registered");
        let policy = registry.find_processor("default").expect("it is registered");
        let sink = registry.find_sink("null").expect("it is registered");
        let sink_context = flumen_core::registry::SinkContext {
            common: common.clone(),
            metrics: Arc::default(),
            wake: Arc::default(),
            durable_channel: false,
        };
        let settings = Settings::from_pairs("k", &[("logEveryNEvents", "2000000000")]);
        let set = |name, value| {
            Arc::new(SetOne(Text::from_static(name), Text::from_static(value))) as Arc<dyn Interceptor>
        };
        Self {
            interceptors: vec![set("host", "h"), set("datacenter", "d")],
            selector: (selector.build)(&Settings::new("s"), &names, &common).expect("one channel"),
            channel: memory(BATCH, registry),
            policy: (policy.build)(&Settings::new("p"), &["k".into()], &common).expect("one sink"),
            sink: (sink.build)(&settings, &sink_context).expect("these settings are right"),
            metrics: SinkMetrics::default(),
            runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime"),
        }
    }

    /// Takes groups of batches through all steps; nanoseconds an event of each step.
    #[expect(clippy::cast_precision_loss, reason = "a figure of three digits")]
    fn run(&mut self, groups: usize) -> [f64; STEPS.len()] {
        let mut times = [Duration::ZERO; STEPS.len()];
        for group in 0..groups {
            self.run_group(group * GROUP * BATCH, &mut times);
        }
        times.map(|time| time.as_nanos() as f64 / (groups * GROUP * BATCH) as f64)
    }

    fn run_group(&mut self, first: usize, times: &mut [Duration; STEPS.len()]) {
        let mut clock = Instant::now();
        let mut step = 0;
        let mut lap = || {
            let now = Instant::now();
            times[step] += now - clock;
            (clock, step) = (now, step + 1);
        };
        let mut batches: Vec<Batch> = (0..GROUP).map(|i| seq_batch(first + i * BATCH, BATCH)).collect();
        lap();
        for batch in &mut batches {
            for interceptor in &self.interceptors {
                interceptor.intercept(batch).expect("it never refuses");
            }
        }
        lap();
        for batch in &batches {
            black_box((self.selector.fixed(), batch.len()));
        }
        lap();
        let reserve =
            |batch: &Batch| self.channel.try_put(batch.size()).expect("it is open").expect("there is room");
        let rooms: Vec<_> = batches.iter().map(reserve).collect();
        lap();
        for (room, batch) in rooms.into_iter().zip(batches) {
            room.commit(batch).try_answer().expect("memory answers at once").expect("room was held");
        }
        lap();
        let mut taken = Vec::with_capacity(GROUP);
        for _ in 0..GROUP {
            let sink = self.policy.pick(Instant::now()).expect("the sink is well");
            let batch = self.channel.try_take(BATCH as u32).expect("it is open").expect("there is a batch");
            taken.push((sink, batch));
        }
        lap();
        let sink = &mut self.sink;
        let delivered: Vec<_> = self.runtime.block_on(async {
            let mut delivered = Vec::with_capacity(GROUP);
            for (_, batch) in &taken {
                delivered.push(sink.deliver(batch.batch()).await.expect("null takes all"));
            }
            delivered
        });
        lap();
        let mut sinks = Vec::with_capacity(GROUP);
        for ((sink, batch), delivery) in taken.into_iter().zip(&delivered) {
            let committed = batch.commit_first(delivery.done).try_answer().expect("memory answers at once");
            committed.expect("it was on loan");
            sinks.push(sink);
        }
        lap();
        for (sink, delivery) in sinks.into_iter().zip(&delivered) {
            self.report(sink, u64::from(delivery.done));
        }
        lap();
    }

    fn report(&mut self, sink: SinkIndex, events: u64) {
        self.metrics.attempted.add(events);
        self.metrics.batch_complete.add(1);
        self.metrics.drained.add(events);
        self.policy.report(sink, Outcome::Delivered, Instant::now());
    }
}
