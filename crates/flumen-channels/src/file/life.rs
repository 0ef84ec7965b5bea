//! The life of a file channel's log: opened on a thread of its own, tended, ended; opened again after a failure.

use super::{Shared, places};
use flumen_core::channel::{ChannelError, Commit};
use flumen_wal::{
    data_file::is_known_cipher,
    log::{self, Hooks, Keys, Log, LogError, OpenOptions, Opened},
    queue::QueueDepth,
};
use std::{
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::{sync::oneshot, time::Instant};

/// How often the log is tended.
const TEND_INTERVAL: Duration = Duration::from_millis(500);
/// How often a long opening says how far it is.
const TELL_INTERVAL: Duration = Duration::from_secs(5);
/// A log in which nothing has happened for so long says on disk that all is durable.
const QUIET: Duration = Duration::from_secs(1);

/// The log, when it is open, and what became of it.
#[derive(Debug, Default)]
pub(super) struct Life(Mutex<Now>);

#[derive(Debug, Default)]
struct Now {
    open: Option<Open>,
    /// What was in the channel when it ended, and what had come and gone until then.
    last_depth: QueueDepth,
    refuses: bool,
}

#[derive(Debug)]
struct Open {
    log: Arc<Log>,
    keeper: Keeper,
}

impl Life {
    fn now(&self) -> MutexGuard<'_, Now> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn depth(&self) -> QueueDepth {
        let now = self.now();
        let Some(open) = &now.open else { return now.last_depth };
        since_the_start(open.log.depth(), now.last_depth.removed)
    }

    pub(super) fn failure(&self) -> Option<LogError> {
        self.now().open.as_ref().and_then(|open| open.log.failure())
    }

    pub(super) fn refuse(&self) {
        let mut now = self.now();
        now.refuses = true;
        if let Some(open) = &now.open {
            open.log.refuse();
        }
    }
}

impl Shared {
    /// The log, if it is open.
    pub(super) fn open_log(&self) -> Result<Arc<Log>, ChannelError> {
        let now = self.life.now();
        match &now.open {
            _ if now.refuses => Err(ChannelError::closed(&self.name)),
            Some(open) => Ok(open.log.clone()),
            None => Err(ChannelError::storage(&self.name, io::Error::other("it is not open yet"))),
        }
    }

    pub(super) fn take_failed(&self) {
        self.metrics.take_attempt.add(1);
        self.file_metrics.take_errors.add(1);
    }

    /// Opens the log, after what was open has ended.
    pub(super) fn begin_to_open(self: &Arc<Self>) -> Commit {
        let shared = self.clone();
        self.on_a_thread("open", move || {
            shared.end_log(false);
            match shared.open_now() {
                Ok(()) => Ok(()),
                Err(error) => {
                    shared.file_metrics.set_open(false, true);
                    Err(ChannelError::storage(&shared.name, error))
                }
            }
        })
    }

    /// Ends the log: what is under way is finished, and the directories are free.
    pub(super) fn begin_to_end(self: &Arc<Self>) -> Commit {
        let shared = self.clone();
        self.on_a_thread("end", move || {
            shared.life.refuse();
            shared.end_log(true);
            Ok(())
        })
    }

    fn on_a_thread(
        &self,
        what: &str,
        work: impl FnOnce() -> Result<(), ChannelError> + Send + 'static,
    ) -> Commit {
        let (answer, answered) = oneshot::channel();
        let run = move || {
            // Who has gone away wants no answer.
            let _ = answer.send(work());
        };
        match thread::Builder::new().name(format!("{}-{what}", self.name)).spawn(run) {
            Ok(_) => Commit::pending(&self.name, answered),
            Err(error) => Commit::done(Err(ChannelError::storage(&self.name, error))),
        }
    }

    fn open_now(self: &Arc<Self>) -> io::Result<()> {
        let started = Instant::now();
        if let Some(keys) = &self.settings.log.encryption {
            check_keys(keys)?;
        }
        let mut told = started;
        let mut progress = |done: u64, total: u64| {
            let (percent, left_s) = estimate(done, total, started.elapsed());
            self.file_metrics.set_replay(percent, left_s);
            if told.elapsed() >= TELL_INTERVAL {
                told = Instant::now();
                let channel = &*self.name;
                tracing::info!(channel, percent, left_s, "reading the data files: {done} of {total} bytes");
            }
        };
        let mut options = OpenOptions {
            backup_dir: self.settings.backup_dir.as_deref(),
            adopt: self.settings.adopt,
            since: self.now(),
            clock_ms: u64::try_from(self.clock.now_ms()).unwrap_or(0),
            progress: &mut progress,
        };
        let opened = log::open(self.disk.clone(), self.settings.log.clone(), &mut options, self.hooks())
            .map_err(|error| io::Error::other(error.to_string()))?;
        self.file_metrics.set_replay(100, 0);
        self.tell(&opened);
        let log = Arc::new(opened.log);
        log.tend(false);
        self.write_checkpoint(&log);
        let depth = log.depth();
        tracing::info!(
            channel = &*self.name,
            events = depth.queued,
            ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "open: {}",
            places(&self.settings.log)
        );
        let keeper = Keeper::start(self.clone(), log.clone())?;
        {
            let mut now = self.life.now();
            if now.refuses {
                log.refuse();
            }
            now.open = Some(Open { log, keeper });
        }
        self.file_metrics.set_open(true, false);
        self.signals.stored.raise();
        self.signals.freed.raise();
        Ok(())
    }

    /// Says what opening has found that is worth knowing.
    fn tell(&self, opened: &Opened) {
        let (channel, report) = (&*self.name, &opened.report);
        if opened.from_java {
            tracing::info!(
                channel,
                "the directories were used by Java Flume, and are taken over as they are"
            );
            if opened.blind {
                tracing::warn!(
                    channel,
                    "not every process can be looked into: make sure that no Java Flume uses them"
                );
            }
        }
        self.file_metrics.lost.add(report.lost_events);
        if report.lost_events > 0 {
            tracing::error!(
                channel,
                events = report.lost_events,
                "events that were stored are not on the disk any more, and are lost"
            );
        }
        if !report.is_clean() {
            tracing::warn!(
                channel,
                lost = report.lost_events,
                maybe_doubled = report.maybe_doubled_events,
                damaged_bytes = report.damaged_bytes,
                missing_files = ?report.missing_files,
                "what is on disk is not as it was left; what can be read is kept"
            );
            for damaged in report.damaged.iter().take(10) {
                tracing::warn!(channel, "{damaged}");
            }
        }
    }

    fn hooks(&self) -> Hooks {
        let (readable, failed) = (self.signals.clone(), self.signals.clone());
        let (name, metrics) = (self.name.clone(), self.file_metrics.clone());
        let failed_name = self.name.clone();
        Hooks {
            readable: Box::new(move || readable.stored.raise()),
            failed: Box::new(move || {
                tracing::error!(
                    channel = &*failed_name,
                    "a write has failed: it refuses everything until it is opened again"
                );
                failed.failed.raise();
                failed.stored.raise();
                failed.freed.raise();
            }),
            lost: Box::new(move |n| {
                metrics.lost.add(u64::from(n));
                metrics.unreadable.add(u64::from(n));
                tracing::error!(
                    channel = &*name,
                    events = n,
                    "events on disk cannot be read any more, and are lost"
                );
            }),
        }
    }

    fn end_log(&self, well: bool) {
        let (open, gone) = {
            let mut now = self.life.now();
            let Some(open) = now.open.take() else { return };
            let gone = now.last_depth.removed;
            now.last_depth = since_the_start(open.log.depth(), gone);
            (open, gone)
        };
        open.keeper.stop();
        let checkpoint = well && self.settings.checkpoint_on_close;
        if let Err(error) = open.log.close(checkpoint) {
            self.file_metrics.checkpoint_errors.add(1);
            tracing::warn!(
                channel = &*self.name,
                "no checkpoint at the end, so the next start takes longer: {error}"
            );
        }
        let depth = since_the_start(open.log.depth(), gone);
        self.life.now().last_depth = QueueDepth { reserved: 0, ..depth };
        self.file_metrics.set_open(false, false);
    }

    fn write_checkpoint(&self, log: &Log) {
        if let Err(error) = log.checkpoint() {
            self.file_metrics.checkpoint_errors.add(1);
            tracing::warn!(
                channel = &*self.name,
                "a checkpoint could not be written, and is tried again: {error}"
            );
        }
    }
}

/// A log counts from its opening, and finds what the one before it still had: what was gone by then came and went before.
fn since_the_start(depth: QueueDepth, gone: u64) -> QueueDepth {
    QueueDepth { stored: depth.stored + gone, removed: depth.removed + gone, ..depth }
}

/// The part that is done, in percent, and the seconds that the rest will take at the same speed.
fn estimate(done: u64, total: u64, took: Duration) -> (u64, u64) {
    let (total, done) = (total.max(1), done.min(total.max(1)));
    let percent = done.saturating_mul(100) / total;
    let left = took.as_secs_f64() * (total - done) as f64 / done.max(1) as f64;
    (percent, left as u64)
}

/// Whether new files can be encrypted: else nothing is opened.
fn check_keys(keys: &Keys) -> io::Result<()> {
    if !is_known_cipher(&keys.cipher_provider) {
        let what = format!(
            "the cipher provider `{}` is not known: use AESGCM, or AESCTRNOPADDING where Java Flume is to read the files",
            keys.cipher_provider
        );
        return Err(io::Error::other(what));
    }
    match (keys.key)(&keys.active_key) {
        Some(_) => Ok(()),
        None => {
            Err(io::Error::other(format!("the active key `{}` is not in the key store", keys.active_key)))
        }
    }
}

/// The thread that tends a log.
#[derive(Debug)]
struct Keeper {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: JoinHandle<()>,
}

impl Keeper {
    fn start(shared: Arc<Shared>, log: Arc<Log>) -> io::Result<Self> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let stopped = stop.clone();
        let thread = thread::Builder::new()
            .name(format!("{}-keep", shared.name))
            .spawn(move || keep(&shared, &log, &stopped))?;
        Ok(Self { stop, thread })
    }

    fn stop(self) {
        *self.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.1.notify_all();
        // A keeper that has panicked has stopped, too.
        let _ = self.thread.join();
    }
}

fn keep(shared: &Shared, log: &Log, stop: &(Mutex<bool>, Condvar)) {
    let mut last_checkpoint = Instant::now();
    let mut last_change = (Instant::now(), log.depth());
    let mut stopped = stop.0.lock().unwrap_or_else(PoisonError::into_inner);
    while !*stopped {
        stopped = stop.1.wait_timeout(stopped, TEND_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        if *stopped {
            return;
        }
        let depth = log.depth();
        if (depth.stored, depth.removed) != (last_change.1.stored, last_change.1.removed) {
            last_change = (Instant::now(), depth);
        }
        let was_full = log.tend(last_change.0.elapsed() >= QUIET);
        if was_full {
            shared.signals.freed.raise();
        }
        if log.make_room() || last_checkpoint.elapsed() >= shared.settings.checkpoint_interval {
            shared.write_checkpoint(log);
            last_checkpoint = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_is_left_follows_from_what_is_done() {
        let ten = Duration::from_secs(10);
        assert_eq!(estimate(25, 100, ten), (25, 30));
        assert_eq!(estimate(100, 100, ten), (100, 0));
        assert_eq!(estimate(150, 100, ten), (100, 0), "a file that grew");
        assert_eq!(estimate(0, 0, ten), (0, 10));
    }
}
