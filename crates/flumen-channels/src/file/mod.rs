//! The file channel: events wait on disk, and what was acknowledged is there after a crash. The files are those of Java Flume.

mod batch;
mod config;
mod keys;
mod life;
mod metrics;
mod pace;
mod transaction;

pub use config::FileConfig;

use flumen_core::{
    channel::{
        Channel, ChannelDepth, ChannelError, ChannelLimits, Commit, NeedsRebuild, PutTransaction, Signals,
        TakeTransaction,
    },
    event::BatchSize,
    metrics::ChannelMetrics,
    registry::{BuildContext, BuildError, ChannelContext, ChannelType, Facts},
    world::WallClock,
};
use flumen_wal::{
    disk::{Disk, OsDisk},
    log::{Log, LogError, LogSettings},
    queue::QueueDepth,
};
use life::Life;
use metrics::FileMetrics;
use pace::Pace;
use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{runtime::Handle, time::Instant};
use transaction::{Lease, Room};

/// A channel on disk. Puts and takes are bookkeeping under a short lock; what blocks is done by threads of the log.
#[derive(Debug)]
pub struct FileChannel(Arc<Shared>);

/// What the channel, its open transactions and its threads share.
#[derive(Debug)]
struct Shared {
    name: Arc<str>,
    settings: Settings,
    disk: Arc<dyn Disk>,
    limits: Mutex<ChannelLimits>,
    signals: Arc<Signals>,
    metrics: Arc<ChannelMetrics>,
    file_metrics: Arc<FileMetrics>,
    life: Life,
    pace: Pace,
    clock: Arc<dyn WallClock>,
    /// The log counts time in milliseconds from here.
    born: Instant,
}

/// What stays the same while the channel lives.
#[derive(Debug, Clone)]
struct Settings {
    log: LogSettings,
    checkpoint_interval: Duration,
    checkpoint_on_close: bool,
    backup_dir: Option<PathBuf>,
    adopt: bool,
}

impl Shared {
    fn error(&self, error: LogError) -> ChannelError {
        match error {
            LogError::Closed => ChannelError::closed(&self.name),
            LogError::TooLong { bytes, limit } => ChannelError::TooLarge {
                channel: self.name.clone(),
                asked: bytes,
                unit: "bytes of one event",
                limit_name: "maxFileSize",
                limit,
            },
            error @ (LogError::Failed(_) | LogError::NoSpace { .. }) => {
                ChannelError::storage(&self.name, io::Error::other(error.to_string()))
            }
        }
    }

    fn limits(&self) -> ChannelLimits {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Whether a put waits, so that a sink that keeps pace finds the next events in memory. Whoever waits is woken.
    fn holds_back(self: &Arc<Self>, log: &Log, bytes: u64, keep_alive: Duration) -> bool {
        // Who does not wait at all is not made to.
        if keep_alive.is_zero() || !log.would_outrun_memory(bytes) {
            return false;
        }
        let (Ok(runtime), now) = (Handle::try_current(), Instant::now()) else { return false };
        if !self.pace.waits(now) {
            return false;
        }
        if let Some(at) = self.pace.wakes_at(now) {
            let shared = self.clone();
            // It ends by itself, soon.
            drop(runtime.spawn(async move {
                tokio::time::sleep_until(at).await;
                shared.signals.freed.raise();
            }));
        }
        true
    }

    fn too_many(&self, asked: u32, limit: u32) -> ChannelError {
        ChannelError::TooLarge {
            channel: self.name.clone(),
            asked: u64::from(asked),
            unit: "events",
            limit_name: "transactionCapacity",
            limit: u64::from(limit),
        }
    }
}

impl FileChannel {
    /// A channel that is not open yet, on this disk.
    ///
    /// # Errors
    /// Keys are configured and cannot be read.
    pub fn new(
        disk: Arc<dyn Disk>,
        config: &FileConfig,
        context: &ChannelContext,
    ) -> Result<Self, BuildError> {
        let environment = &context.common.environment;
        let settings = Settings {
            log: config.log_settings(&context.common.name, environment)?,
            checkpoint_interval: config.checkpoint_interval(),
            checkpoint_on_close: config.checkpoint_on_close(),
            backup_dir: config.backup_dir(),
            adopt: config.adopt(),
        };
        let file_metrics = Arc::new(FileMetrics::default());
        context.common.extra.add(file_metrics.clone());
        Ok(Self(Arc::new(Shared {
            name: context.common.name.clone(),
            settings,
            disk,
            limits: Mutex::new(config.limits()),
            signals: Arc::default(),
            metrics: context.metrics.clone(),
            file_metrics,
            life: Life::default(),
            pace: Pace::default(),
            clock: context.common.clock.clone(),
            born: Instant::now(),
        })))
    }
}

impl Channel for FileChannel {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn limits(&self) -> ChannelLimits {
        self.0.limits()
    }

    fn signals(&self) -> &Signals {
        &self.0.signals
    }

    fn try_put(&self, size: BatchSize) -> Result<Option<PutTransaction>, ChannelError> {
        let shared = &self.0;
        let limits = shared.limits();
        let reserved = shared.open_log().and_then(|log| {
            if size.events > limits.transaction_capacity {
                return Err(shared.too_many(size.events, limits.transaction_capacity));
            }
            if shared.holds_back(&log, size.bytes, limits.keep_alive) {
                return Ok(None);
            }
            let room =
                log.reserve(size.events, size.bytes, limits.capacity).map_err(|error| shared.error(error))?;
            Ok(room.then_some(log))
        });
        match reserved {
            Ok(None) => Ok(None),
            Ok(Some(log)) => {
                shared.metrics.put_attempt.add(u64::from(size.events));
                shared.pace.accepted(size.bytes);
                Ok(Some(PutTransaction::new(Box::new(Room::new(shared.clone(), log, size.events)), size)))
            }
            Err(error) => {
                shared.metrics.put_attempt.add(u64::from(size.events));
                if matches!(error, ChannelError::Storage { .. }) {
                    shared.file_metrics.put_errors.add(1);
                }
                Err(error)
            }
        }
    }

    fn put_missed(&self, size: BatchSize) {
        self.0.metrics.put_attempt.add(u64::from(size.events));
    }

    fn try_take(&self, max_events: u32) -> Result<Option<TakeTransaction>, ChannelError> {
        let shared = &self.0;
        let limit = shared.limits().transaction_capacity;
        let log = shared.open_log().inspect_err(|_| shared.take_failed())?;
        if max_events > limit {
            return Err(shared.too_many(max_events, limit));
        }
        let loan = log.take(max_events).map_err(|error| {
            shared.take_failed();
            shared.error(error)
        })?;
        let Some(loan) = loan else {
            shared.metrics.take_attempt.add(1);
            return Ok(None);
        };
        shared.metrics.take_attempt.add(u64::from(loan.n_events()));
        let batch = batch::of_pieces(loan.pieces());
        Ok(Some(TakeTransaction::new(Box::new(Lease::new(shared.clone(), log, loan)), batch)))
    }

    fn reconfigure(&self, limits: &ChannelLimits) -> Result<(), NeedsRebuild> {
        *self.0.limits.lock().unwrap_or_else(PoisonError::into_inner) = limits.clone();
        self.0.signals.freed.raise();
        Ok(())
    }

    fn depth(&self) -> ChannelDepth {
        let QueueDepth { queued, on_loan, reserved, stored, removed, bytes, since } = self.0.life.depth();
        ChannelDepth {
            queued,
            on_loan,
            reserved,
            stored_total: stored,
            removed_total: removed,
            bytes,
            oldest: since.map(|since| self.0.born + Duration::from_millis(since)),
        }
    }

    fn durable(&self) -> bool {
        true
    }

    fn open(&self) -> Commit {
        self.0.begin_to_open()
    }

    fn failure(&self) -> Option<ChannelError> {
        self.0.life.failure().map(|error| self.0.error(error))
    }

    fn close(&self) {
        self.0.life.refuse();
        self.0.signals.stored.raise();
        self.0.signals.freed.raise();
    }

    fn end(&self) -> Commit {
        self.0.begin_to_end()
    }
}

impl ChannelType for FileChannel {
    const NAMES: &'static [&'static str] = &["file", "org.apache.flume.channel.file.FileChannel"];
    const SUMMARY: &'static str =
        "Keeps events on disk, in Java Flume's files: what it has acknowledged is there after a crash.";
    const LIVE_KEYS: &'static [&'static str] = &["capacity", "transactionCapacity", "keep-alive"];
    type Config = FileConfig;

    fn build(config: FileConfig, context: &ChannelContext) -> Result<Self, BuildError> {
        Self::new(Arc::new(OsDisk), &config, context)
    }

    fn limits_of(config: &FileConfig, _context: &BuildContext) -> ChannelLimits {
        config.limits()
    }

    fn facts(config: &FileConfig) -> Facts {
        config.facts()
    }
}

/// Where a channel's files are, for messages.
fn places(settings: &LogSettings) -> String {
    let dirs: Vec<String> =
        settings.data_dirs.iter().map(|dir: &PathBuf| dir.display().to_string()).collect();
    dirs.join(", ")
}

#[cfg(test)]
mod encryption_tests;
#[cfg(test)]
mod tests;
