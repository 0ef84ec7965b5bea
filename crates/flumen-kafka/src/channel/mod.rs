//! The Kafka channel: events wait in a topic, which all agents with the same topic and group share.
//!
//! A put is answered when the brokers have confirmed all of its records. A take lends events that were read ahead; its commit is
//! answered when the broker has the offsets. What is on loan or was only read ahead is another agent's, if this one goes.

mod config;
mod metrics;
mod put;
mod take;
#[cfg(test)]
mod tests;

pub use config::KafkaChannelConfig;

use crate::{
    client::{Reports, complete},
    inbox::Counts,
    outbox::{Outbox, drop_aside},
};
use flumen_core::{
    channel::{
        Channel, ChannelDepth, ChannelError, ChannelLimits, Commit, NeedsRebuild, PutTransaction, Signals,
        TakeTransaction,
    },
    event::BatchSize,
    metrics::ChannelMetrics,
    registry::{BuildContext, BuildError, ChannelContext, ChannelType, Environment, Facts, ReadsIn},
};
use metrics::KafkaChannelMetrics;
use put::{Room, UnderWay};
use std::{
    fmt, io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};
use take::{Lease, Reading};
use tokio::{sync::oneshot, task::spawn_blocking};

/// The topic has no end that a number could say.
const CAPACITY: u64 = i32::MAX as u64;

/// See the module.
#[derive(Debug)]
pub struct KafkaChannel(Arc<Shared>);

/// What the channel and its transactions share.
struct Shared {
    name: Arc<str>,
    config: KafkaChannelConfig,
    environment: Arc<Environment>,
    signals: Signals,
    metrics: Arc<ChannelMetrics>,
    numbers: Arc<KafkaChannelMetrics>,
    counts: Counts,
    outbox: Mutex<Option<Arc<Outbox>>>,
    /// What is held and sent, and not confirmed.
    under_way: Mutex<UnderWay>,
    /// Something of it is confirmed.
    confirmed: Condvar,
    reading: Mutex<Reading>,
    /// Events that left for good.
    n_removed: AtomicU64,
    closed: AtomicBool,
    /// Why it must be opened again.
    failure: Mutex<Option<ChannelError>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn storage(&self, why: impl Into<String>) -> ChannelError {
        ChannelError::storage(&self.name, io::Error::other(why.into()))
    }

    /// Whether it takes and gives.
    fn check(&self) -> Result<(), ChannelError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(ChannelError::Closed { channel: self.name.clone() });
        }
        lock(&self.failure).clone().map_or(Ok(()), Err)
    }

    /// It must be opened again.
    fn fail(&self, why: &ChannelError) {
        lock(&self.failure).get_or_insert_with(|| why.clone());
        self.signals.failed.raise();
    }

    fn reports(&self) -> Reports {
        Reports::new(self.name.clone(), &self.config.keys.servers.0)
    }

    /// Makes the producer.
    fn open(&self) -> Result<(), ChannelError> {
        let old = lock(&self.outbox).take();
        drop(old);
        let config = complete(&self.config.producer, &self.environment);
        let made = config.and_then(|mut config| {
            // What is under way is counted here, so that a put need not wait within a commit.
            config.set("queue.buffering.max.messages", "0").set("queue.buffering.max.kbytes", "2097151");
            Outbox::new(&config, self.reports())
        });
        *lock(&self.outbox) = Some(Arc::new(made.map_err(|why| self.storage(why))?));
        *lock(&self.failure) = None;
        self.signals.freed.raise();
        Ok(())
    }

    /// Waits for what is under way, and ends both clients.
    fn end(&self) {
        put::wait_until_confirmed(self);
        let (outbox, reading) = (lock(&self.outbox).take(), std::mem::take(&mut *lock(&self.reading)));
        if let Reading::Running(mut inbox) = reading {
            inbox.close_here();
        }
        drop(outbox);
    }
}

impl ChannelType for KafkaChannel {
    const NAMES: &'static [&'static str] = &["kafka", "org.apache.flume.channel.kafka.KafkaChannel"];
    const SUMMARY: &'static str = "Keeps events in a topic of Kafka, which several agents can share.";
    const LIVE_KEYS: &'static [&'static str] = &[];
    type Config = KafkaChannelConfig;

    fn build(config: Self::Config, context: &ChannelContext) -> Result<Self, BuildError> {
        let (numbers, counts) = (Arc::new(KafkaChannelMetrics::default()), Counts::default());
        context.common.extra.add(numbers.clone());
        context.common.extra.add(counts.reader.clone());
        context.common.extra.add(counts.lag.clone());
        let under_way = UnderWay::up_to(&config.producer);
        Ok(Self(Arc::new(Shared {
            name: context.common.name.clone(),
            config,
            environment: context.common.environment.clone(),
            signals: Signals::default(),
            metrics: context.metrics.clone(),
            numbers,
            counts,
            outbox: Mutex::default(),
            under_way: Mutex::new(under_way),
            confirmed: Condvar::new(),
            reading: Mutex::default(),
            n_removed: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            failure: Mutex::default(),
        })))
    }

    fn limits_of(config: &Self::Config, _context: &BuildContext) -> ChannelLimits {
        limits(config)
    }

    fn facts(config: &Self::Config) -> Facts {
        let (group, topic) = (config.keys.group.clone(), config.keys.topic.clone());
        let reads_in = vec![ReadsIn { group, topic, key: "kafka.consumer.group.id" }];
        Facts { reads_in, open_to_others: true, ..Facts::default() }
    }
}

fn limits(config: &KafkaChannelConfig) -> ChannelLimits {
    ChannelLimits {
        capacity: CAPACITY,
        transaction_capacity: u32::MAX,
        byte_slots: None,
        keep_alive: config.keys.poll_timeout.duration(),
    }
}

impl Channel for KafkaChannel {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn limits(&self) -> ChannelLimits {
        limits(&self.0.config)
    }

    fn signals(&self) -> &Signals {
        &self.0.signals
    }

    fn try_put(&self, size: BatchSize) -> Result<Option<PutTransaction>, ChannelError> {
        self.0.check()?;
        let room = Room::reserve(&self.0, size);
        if room.is_some() {
            self.0.metrics.put_attempt.add(u64::from(size.events));
        }
        Ok(room.map(|room| PutTransaction::new(Box::new(room), size)))
    }

    fn put_missed(&self, size: BatchSize) {
        self.0.metrics.put_attempt.add(u64::from(size.events));
    }

    fn try_take(&self, max_events: u32) -> Result<Option<TakeTransaction>, ChannelError> {
        self.0.check()?;
        let Some((lease, batch)) = Lease::take(&self.0, max_events)? else {
            self.0.metrics.take_attempt.add(1);
            return Ok(None);
        };
        self.0.metrics.take_attempt.add(batch.len() as u64);
        Ok(Some(TakeTransaction::new(Box::new(lease), batch)))
    }

    fn reconfigure(&self, limits: &ChannelLimits) -> Result<(), NeedsRebuild> {
        if *limits == self.limits() {
            return Ok(());
        }
        Err(NeedsRebuild {
            channel: self.0.name.clone(),
            reason: "its clients take no new settings".to_owned(),
        })
    }

    fn depth(&self) -> ChannelDepth {
        let reserved = lock(&self.0.under_way).events;
        let (queued, on_loan, bytes) = match &*lock(&self.0.reading) {
            Reading::Running(inbox) => inbox.depth(),
            _ => (0, 0, 0),
        };
        let removed_total = self.0.n_removed.load(Ordering::Relaxed);
        let stored_total = removed_total + queued + on_loan;
        ChannelDepth { queued, on_loan, reserved, stored_total, removed_total, bytes, oldest: None }
    }

    fn durable(&self) -> bool {
        true
    }

    fn open(&self) -> Commit {
        aside(&self.0, |shared| shared.open())
    }

    fn failure(&self) -> Option<ChannelError> {
        lock(&self.0.failure).clone()
    }

    fn end(&self) -> Commit {
        aside(&self.0, |shared| {
            shared.end();
            Ok(())
        })
    }

    fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
        self.0.signals.stored.raise();
        self.0.signals.freed.raise();
    }
}

/// Does what takes its time on a thread that may wait.
fn aside(shared: &Arc<Shared>, work: fn(&Shared) -> Result<(), ChannelError>) -> Commit {
    let (sender, receiver) = oneshot::channel();
    let own = shared.clone();
    // Nobody waits for the task, but for its answer.
    drop(spawn_blocking(move || sender.send(work(&own))));
    Commit::pending(&shared.name, receiver)
}

impl Drop for Shared {
    fn drop(&mut self) {
        drop_aside(lock(&self.outbox).take());
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("name", &self.name).finish_non_exhaustive()
    }
}
