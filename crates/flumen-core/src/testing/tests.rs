//! The suites pass what is sound, and find what is broken on purpose.

use super::*;
use crate::{
    channel::{
        Channel, ChannelDepth, ChannelError, ChannelLimits, NeedsRebuild, PutTransaction, Signals,
        TakeTransaction,
    },
    event::{Batch, BatchSize, Text},
    intercept::{InterceptError, Interceptor},
    processor::ChannelProcessor,
    sink::{DeliverError, Delivery, DynSink, Retry, Sink},
    source::{DynSource, Shutdown, Source, SourceError},
};
use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

fn scripted(limits: &ChannelLimits) -> ScriptedChannel {
    ScriptedChannel::with_limits("c", limits.clone())
}

#[test]
fn the_scripted_channel_keeps_the_contract() {
    ChannelSuite::new(|limits| Arc::new(scripted(limits))).run();
}

#[test]
fn a_durable_channel_is_opened_again() {
    let opened = Mutex::new(Vec::<Arc<ScriptedChannel>>::new());
    let keep = |channel: ScriptedChannel| {
        let channel = Arc::new(channel);
        opened.lock().unwrap().push(channel.clone());
        channel
    };
    let reopen = |old: Arc<dyn Channel>| -> Arc<dyn Channel> {
        let all = opened.lock().unwrap();
        let same = all.iter().find(|known| std::ptr::addr_eq(Arc::as_ptr(known), Arc::as_ptr(&old)));
        let fresh = same.expect("it was opened here").reopened();
        drop(all);
        keep(fresh)
    };
    ChannelSuite::new(|limits| keep(scripted(limits).durable())).reopened_by(reopen).random_runs(5, 1).run();
}

/// A way in which a channel can be wrong.
#[derive(Debug, Clone, Copy)]
enum Flaw {
    /// Takes a little more than fits.
    RoomForOneMore,
    /// Takes more than a transaction may hold.
    AnySize,
    /// Does not say when something is stored.
    Silent,
    /// Goes on after it was closed.
    NeverCloses,
    /// Says that nothing is on loan.
    WrongDepth,
    /// Gives a batch of two the other way round.
    Reorders,
}

#[derive(Debug)]
struct Flawed(ScriptedChannel, Flaw, Signals);

impl Channel for Flawed {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn limits(&self) -> ChannelLimits {
        self.0.limits()
    }
    fn signals(&self) -> &Signals {
        if matches!(self.1, Flaw::Silent) { &self.2 } else { self.0.signals() }
    }
    fn try_put(&self, size: BatchSize) -> Result<Option<PutTransaction>, ChannelError> {
        self.0.try_put(size)
    }
    fn try_take(&self, max_events: u32) -> Result<Option<TakeTransaction>, ChannelError> {
        let Some(taken) = self.0.try_take(max_events)? else { return Ok(None) };
        if matches!(self.1, Flaw::Reorders) && taken.batch().len() == 2 {
            let mut batch = taken.batch().slice(1..2);
            batch.append(taken.batch().slice(0..1));
            return Ok(Some(TakeTransaction::new(Box::new(Whole(taken)), batch)));
        }
        Ok(Some(taken))
    }
    fn reconfigure(&self, limits: &ChannelLimits) -> Result<(), NeedsRebuild> {
        self.0.reconfigure(limits)
    }
    fn depth(&self) -> ChannelDepth {
        let depth = self.0.depth();
        if matches!(self.1, Flaw::WrongDepth) { ChannelDepth { on_loan: 0, ..depth } } else { depth }
    }
    fn close(&self) {
        if !matches!(self.1, Flaw::NeverCloses) {
            self.0.close();
        }
    }
}

struct Whole(TakeTransaction);

impl crate::channel::TakeLease for Whole {
    fn commit(self: Box<Self>, n_events: u32, _rest: Batch) -> crate::channel::Commit {
        self.0.commit_first(n_events)
    }
    fn rollback(self: Box<Self>, _batch: Batch) {}
}

fn flawed(flaw: Flaw) -> impl Fn(&ChannelLimits) -> Arc<dyn Channel> + Send + Sync {
    move |limits| {
        let mut limits = limits.clone();
        match flaw {
            Flaw::RoomForOneMore => limits.capacity += 1,
            Flaw::AnySize => limits.transaction_capacity = u32::MAX,
            _ => {}
        }
        Arc::new(Flawed(scripted(&limits), flaw, Signals::default()))
    }
}

#[test]
fn a_broken_channel_is_found() {
    let flaws = [
        Flaw::RoomForOneMore,
        Flaw::AnySize,
        Flaw::NeverCloses,
        Flaw::WrongDepth,
        Flaw::Reorders,
        Flaw::Silent,
    ];
    std::thread::scope(|scope| {
        let found =
            |flaw| move || catch_unwind(|| ChannelSuite::new(flawed(flaw)).random_runs(10, 1).run()).is_err();
        let runs = flaws.map(|flaw| (flaw, scope.spawn(found(flaw))));
        for (flaw, run) in runs {
            assert!(run.join().unwrap(), "{flaw:?} was not found");
        }
    });
}

/// Interceptors that are sound, and some that are not.
#[derive(Debug)]
enum Rewrite {
    Shared,
    Own,
    DropsEmpty,
    Doubles,
    LooksAtTheFirstOnly,
    Reverses,
    Refuses,
}

impl Interceptor for Rewrite {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        match self {
            Self::Shared => batch.edit_headers(|headers| headers.set(Text::from_static("host"), "h".into())),
            Self::Own => {
                batch.edit_each(|event, own| own.set_fmt(Text::from_static("len"), event.body.len()))
            }
            Self::DropsEmpty => batch.retain(|event| !event.body.is_empty()),
            Self::Doubles => batch.expand(|event, emit| {
                emit.keep();
                emit.body(event.body);
            }),
            Self::LooksAtTheFirstOnly => {
                let len = batch.get(0).map_or(0, |event| event.body.len());
                batch.edit_headers(|headers| headers.set(Text::from_static("len"), len.to_string().into()));
            }
            Self::Reverses => {
                let mut reversed = Batch::new();
                (0..batch.len()).rev().for_each(|at| reversed.append(batch.slice(at..at + 1)));
                *batch = reversed;
            }
            Self::Refuses => {
                return Err(InterceptError { interceptor: "i".to_owned(), reason: "no".to_owned() });
            }
        }
        Ok(())
    }
}

#[test]
fn interceptors_that_keep_the_contract_pass() {
    for interceptor in [Rewrite::Shared, Rewrite::Own, Rewrite::DropsEmpty, Rewrite::Doubles] {
        InterceptorSuite::new(&interceptor).run();
    }
    InterceptorSuite::new(&Rewrite::LooksAtTheFirstOnly).volatile(&["len"]).looks_at_several().run();
}

#[test]
fn a_broken_interceptor_is_found() {
    for interceptor in [Rewrite::LooksAtTheFirstOnly, Rewrite::Reverses, Rewrite::Refuses] {
        let suite = InterceptorSuite::new(&interceptor);
        assert!(catch_unwind(AssertUnwindSafe(|| suite.run())).is_err(), "{interceptor:?} was not found");
    }
}

/// A peer that stores numbers, and a sink for it with or without a flaw.
#[derive(Debug, Default)]
struct Store {
    arrived: Mutex<Vec<u64>>,
    failing: AtomicBool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum SinkFlaw {
    None,
    AnswersBeforeItSends,
    SendsTwice,
    IgnoresFailures,
}

struct StoreSink(Arc<Store>, SinkFlaw);

impl Sink for StoreSink {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        tokio::time::sleep_until(tokio::time::Instant::now() + std::time::Duration::from_millis(1)).await;
        if self.0.failing.load(Ordering::Relaxed) {
            if self.1 == SinkFlaw::IgnoresFailures {
                return Ok(Delivery::all(batch));
            }
            return Err(DeliverError { retry: Retry::Rebuild, ..DeliverError::backoff("refused") });
        }
        let mut numbers = numbers(batch);
        match self.1 {
            SinkFlaw::AnswersBeforeItSends => drop(numbers.pop()),
            SinkFlaw::SendsTwice => numbers.push(numbers[0]),
            _ => {}
        }
        self.0.arrived.lock().unwrap().extend(numbers);
        Ok(Delivery::all(batch))
    }
}

struct StorePeer(Arc<Store>, SinkFlaw);

impl SinkPeer for StorePeer {
    fn sink(&self) -> Box<dyn DynSink> {
        Box::new(StoreSink(self.0.clone(), self.1))
    }
    fn arrived(&self) -> Vec<u64> {
        self.0.arrived.lock().unwrap().clone()
    }
    fn set_failing(&self, failing: bool) {
        self.0.failing.store(failing, Ordering::Relaxed);
    }
}

fn sink_suite(flaw: SinkFlaw) -> bool {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let mut suite = SinkSuite::new(StorePeer(Arc::default(), flaw));
    catch_unwind(AssertUnwindSafe(|| runtime.block_on(suite.run()))).is_ok()
}

#[test]
fn sinks_pass_or_are_found() {
    assert!(sink_suite(SinkFlaw::None));
    for flaw in [SinkFlaw::AnswersBeforeItSends, SinkFlaw::SendsTwice, SinkFlaw::IgnoresFailures] {
        assert!(!sink_suite(flaw), "{flaw:?} was not found");
    }
}

/// A queue of numbers that are forgotten when they are acknowledged, and a source for it with or without a flaw.
#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<VecDeque<u64>>,
    acknowledged: Mutex<Vec<u64>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum SourceFlaw {
    None,
    AcknowledgesFirst,
    DropsWhatIsRefused,
}

struct QueueSource(Arc<Queue>, SourceFlaw);

impl QueueSource {
    fn acknowledge(&self, batch: &Batch) {
        let mut waiting = self.0.waiting.lock().unwrap();
        waiting.drain(..batch.len());
        self.0.acknowledged.lock().unwrap().extend(numbers(batch));
    }
}

impl Source for QueueSource {
    async fn run(&mut self, out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        while !shutdown.is_requested() {
            let waiting: Vec<u64> = self.0.waiting.lock().unwrap().iter().copied().take(7).collect();
            if waiting.is_empty() {
                tokio::select! {
                    biased;
                    () = shutdown.requested() => break,
                    () = tokio::time::sleep_until(tokio::time::Instant::now() + std::time::Duration::from_millis(1)) => continue,
                }
            }
            let batch = numbered(waiting[0]..waiting[0] + waiting.len() as u64);
            if self.1 == SourceFlaw::AcknowledgesFirst {
                self.acknowledge(&batch);
            }
            match out.put(batch.clone()).await {
                Ok(()) if self.1 != SourceFlaw::AcknowledgesFirst => self.acknowledge(&batch),
                Err(_) if self.1 == SourceFlaw::DropsWhatIsRefused => self.acknowledge(&batch),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }
}

struct QueuePeer(Arc<Queue>, SourceFlaw);

impl SourcePeer for QueuePeer {
    fn source(&self) -> Box<dyn DynSource> {
        Box::new(QueueSource(self.0.clone(), self.1))
    }
    fn offer(&self, numbers: std::ops::Range<u64>) {
        self.0.waiting.lock().unwrap().extend(numbers);
    }
    fn acknowledged(&self) -> Option<Vec<u64>> {
        Some(self.0.acknowledged.lock().unwrap().clone())
    }
    fn offers_again(&self) -> bool {
        true
    }
}

fn source_suite(flaw: SourceFlaw) -> bool {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let mut suite = SourceSuite::new(QueuePeer(Arc::default(), flaw));
    catch_unwind(AssertUnwindSafe(|| runtime.block_on(suite.run()))).is_ok()
}

#[test]
fn sources_pass_or_are_found() {
    assert!(source_suite(SourceFlaw::None));
    for flaw in [SourceFlaw::AcknowledgesFirst, SourceFlaw::DropsWhatIsRefused] {
        assert!(!source_suite(flaw), "{flaw:?} was not found");
    }
}
