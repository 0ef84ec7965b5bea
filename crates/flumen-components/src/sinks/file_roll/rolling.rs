//! One file after the other, written on a thread that may block.

use super::{
    buffer::Buffer,
    disk::{Disk, OutFile},
    names::Names,
};
use flumen_core::{
    event::Batch,
    metrics::SinkMetrics,
    registry::BuildError,
    serialize::EventSerializer,
    sink::{BlockingSink, DeliverError, Delivery},
    source::BoxError,
};
use std::{io, path::PathBuf, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Batches that one sync makes safe, at most.
const BATCHES_A_SYNC: u32 = 8;
/// How long a written batch may wait for others before it is synced.
const SYNC_WAIT: Duration = Duration::from_millis(2);
/// Names that are tried when files of these names are there already.
const NAMES_TRIED: u32 = 10_000;

/// When the disk is told to keep what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    /// Before events leave the channel.
    Batch,
    /// When a file is finished.
    Roll,
    /// Never.
    Never,
}

/// Makes a serializer for each file.
pub(super) type MakeSerializer = Box<dyn FnMut() -> Result<Box<dyn EventSerializer>, BuildError> + Send>;

/// What the sink is made of.
pub(super) struct Parts {
    pub(super) directory: PathBuf,
    pub(super) names: Names,
    pub(super) disk: Box<dyn Disk>,
    pub(super) make_serializer: MakeSerializer,
    pub(super) interval: Option<Duration>,
    /// Bytes of a file after which it is finished; 0: any number.
    pub(super) most_bytes: u64,
    pub(super) sync: Sync,
    pub(super) metrics: Arc<SinkMetrics>,
}

/// See the module.
pub(super) struct RollingFile {
    parts: Parts,
    open: Option<OpenFile>,
    buffer: Buffer,
    /// When the first file is to be made, until it was tried.
    start: Option<Instant>,
    next_roll: Option<Instant>,
    /// Batches that are written and not synced, and when to sync them.
    unsynced: u32,
    sync_due: Option<Instant>,
    settled: u32,
}

struct OpenFile {
    path: PathBuf,
    out: Box<dyn OutFile>,
    /// `None` until what stands before the first event is written.
    serializer: Option<Box<dyn EventSerializer>>,
    len: u64,
    /// Up to here the file holds what has left, or may leave, the channel.
    safe_len: u64,
    /// A write failed, and its part could not be cut off yet.
    torn: bool,
    /// The file's name outlives a power cut.
    name_synced: bool,
}

impl RollingFile {
    pub(super) fn new(parts: Parts) -> Self {
        let start = Some(Instant::now());
        Self {
            parts,
            open: None,
            buffer: Buffer::default(),
            start,
            next_roll: None,
            unsynced: 0,
            sync_due: None,
            settled: 0,
        }
    }

    /// Writes a batch whole, or leaves the file as it was.
    pub(super) fn deliver_at(&mut self, batch: &Batch, now: Instant) -> Result<Delivery, DeliverError> {
        self.leave_if_removed()?;
        if !self.turn(now)? && self.is_full() {
            self.finish()?;
        }
        self.ready()?;
        let discarded = self.serialize(batch)?;
        self.append("write to")?;
        self.buffer.shrink();
        let mut delivery = Delivery { discarded, ..Delivery::all(batch) };
        if self.parts.sync != Sync::Batch {
            self.all_is_safe();
            return Ok(delivery);
        }
        delivery.held = true;
        self.unsynced += 1;
        self.sync_due.get_or_insert(now + SYNC_WAIT);
        if self.unsynced >= BATCHES_A_SYNC {
            self.sync()?;
        }
        Ok(delivery)
    }

    /// Syncs what waits for it, and begins the next file where it is time to.
    pub(super) fn on_deadline_at(&mut self, now: Instant) -> Result<(), DeliverError> {
        if self.unsynced > 0 {
            self.sync()?;
        }
        if self.turn(now)? { self.ready() } else { Ok(()) }
    }

    /// Finishes the open file when its time is over. True when a file is to be made now, events or not.
    fn turn(&mut self, now: Instant) -> Result<bool, DeliverError> {
        if self.start.take().is_some() {
            self.next_roll = self.parts.interval.map(|interval| now + interval);
            return Ok(true);
        }
        let (Some(interval), Some(due)) = (self.parts.interval, self.next_roll) else { return Ok(false) };
        if now < due {
            return Ok(false);
        }
        self.finish()?;
        // The next full interval: those that were slept through make no file.
        let late = (now - due).as_nanos() % interval.as_nanos();
        self.next_roll = Some(now + interval - Duration::from_nanos(u64::try_from(late).unwrap_or(0)));
        Ok(true)
    }

    /// Whether the open file has as many bytes as it may have.
    fn is_full(&self) -> bool {
        let most = self.parts.most_bytes;
        most > 0 && self.open.as_ref().is_some_and(|file| file.len >= most)
    }

    /// Leaves a file that somebody has removed. What was not yet said to be safe is delivered again, to the next one.
    fn leave_if_removed(&mut self) -> Result<(), DeliverError> {
        let Some(file) = self.open.take_if(|file| file.out.is_removed()) else { return Ok(()) };
        self.parts.metrics.connections_closed.add(1);
        self.sync_due = None;
        let path = file.path.display();
        if std::mem::take(&mut self.unsynced) > 0 {
            let what = format!("file {path} was removed by somebody else, with what was not yet on the disk");
            return Err(DeliverError::backoff(what));
        }
        tracing::warn!("file {path} was removed by somebody else: a new one is begun");
        Ok(())
    }

    /// Has an open file that the next batch can go to.
    fn ready(&mut self) -> Result<(), DeliverError> {
        if self.open.is_none() {
            let opened = self.create();
            let count = match opened {
                Ok(_) => &self.parts.metrics.connections_created,
                Err(_) => &self.parts.metrics.connections_failed,
            };
            count.add(1);
            self.open = Some(opened?);
        }
        self.mend()?;
        if self.open.as_ref().is_some_and(|file| file.serializer.is_none()) {
            let failed = |error: BoxError| DeliverError::backoff("cannot make the serializer").because(error);
            let mut serializer = (self.parts.make_serializer)().map_err(|error| failed(error.into()))?;
            serializer.begin(self.buffer.clear()).map_err(|error| failed(error.into()))?;
            self.append("begin")?;
            if let Some(file) = &mut self.open {
                file.serializer = Some(serializer);
                file.safe_len = file.len;
            }
        }
        Ok(())
    }

    /// Makes the next file. One that is there is never touched.
    fn create(&mut self) -> Result<OpenFile, DeliverError> {
        let mut path = self.parts.names.next();
        for _ in 0..NAMES_TRIED {
            match self.parts.disk.create_new(&path, self.parts.sync == Sync::Batch) {
                Ok(out) => {
                    return Ok(OpenFile {
                        path,
                        out,
                        serializer: None,
                        len: 0,
                        safe_len: 0,
                        torn: false,
                        name_synced: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => path = self.parts.names.next(),
                Err(error) => {
                    let why = "the directory (sink.directory) must be there and writable";
                    let what = format!("cannot make file {}; {why}", path.display());
                    return Err(DeliverError::backoff(what).because(error));
                }
            }
        }
        Err(DeliverError::backoff(format!(
            "no free file name: {NAMES_TRIED} are taken, up to {}",
            path.display()
        )))
    }

    /// Cuts off what a failed write has left, if that did not work at once.
    fn mend(&mut self) -> Result<(), DeliverError> {
        let Some(file) = self.open.as_mut().filter(|file| file.torn) else { return Ok(()) };
        file.out.truncate(file.safe_len).map_err(|error| {
            DeliverError::backoff(format!("cannot cut half a batch off file {}", file.path.display()))
                .because(error)
        })?;
        file.len = file.safe_len;
        file.torn = false;
        Ok(())
    }

    /// The batch's bytes in the buffer. Gives the events that the serializer cannot write.
    fn serialize(&mut self, batch: &Batch) -> Result<Vec<(u32, &'static str)>, DeliverError> {
        let mut discarded = Vec::new();
        let Some(file) = self.open.as_mut() else { return Err(DeliverError::backoff("no file is open")) };
        let size = batch.size();
        let n_bytes = size.bytes.saturating_add(u64::from(size.events));
        let out = self.buffer.lay(usize::try_from(n_bytes).unwrap_or(0), file.len);
        let Some(serializer) = file.serializer.as_mut() else {
            return Err(DeliverError::backoff("no file is open"));
        };
        for (n, event) in (0..).zip(batch.iter()) {
            if let Err(error) = serializer.write(event, out) {
                tracing::warn!(%error, "event cannot be written");
                discarded.push((n, "the serializer cannot write it"));
            }
        }
        serializer
            .flush(out)
            .map_err(|error| DeliverError::backoff("cannot write the batch").because(error))?;
        Ok(discarded)
    }

    /// Writes the buffer. After a failure nothing of it, nor of what was not synced, is in the file.
    fn append(&mut self, doing: &str) -> Result<(), DeliverError> {
        let Some(file) = self.open.as_mut() else { return Ok(()) };
        let bytes = self.buffer.bytes();
        if bytes.is_empty() {
            return Ok(());
        }
        match file.out.append(bytes) {
            Ok(()) => {
                file.len += bytes.len() as u64;
                Ok(())
            }
            Err(error) => Err(self.undo(doing, error)),
        }
    }

    /// Syncs the open file, and settles the batches that waited for it.
    fn sync(&mut self) -> Result<(), DeliverError> {
        if self.unsynced > 0 {
            self.leave_if_removed()?;
        }
        let Some(file) = self.open.as_mut() else { return Ok(()) };
        let synced = file.out.sync().and_then(|()| match file.name_synced {
            true => Ok(()),
            false => self.parts.disk.sync_dir(&self.parts.directory),
        });
        match synced {
            Ok(()) => {
                file.name_synced = true;
                self.all_is_safe();
                Ok(())
            }
            Err(error) => {
                let error = self.undo("sync", error);
                // What a disk has after a failed sync is not known: no further event goes into this file.
                self.open = None;
                self.parts.metrics.connections_closed.add(1);
                Err(error)
            }
        }
    }

    fn all_is_safe(&mut self) {
        self.settled += std::mem::take(&mut self.unsynced);
        self.sync_due = None;
        if let Some(file) = &mut self.open {
            file.safe_len = file.len;
        }
    }

    /// Takes back what was written since the file was safe: all of that is delivered again.
    fn undo(&mut self, doing: &str, error: io::Error) -> DeliverError {
        self.unsynced = 0;
        self.sync_due = None;
        let Some(file) = self.open.as_mut() else { return DeliverError::backoff("no file is open") };
        let failed =
            DeliverError::backoff(format!("cannot {doing} file {}", file.path.display())).because(error);
        file.torn = true;
        if let Err(error) = self.mend() {
            tracing::warn!(%error, "trying that again before the next batch");
        }
        failed
    }

    /// Ends and closes the open file, if there is one.
    fn finish(&mut self) -> Result<(), DeliverError> {
        self.mend()?;
        let Some(file) = self.open.as_mut() else { return Ok(()) };
        let out = self.buffer.clear();
        if let Some(serializer) = file.serializer.as_mut() {
            serializer
                .end(out)
                .map_err(|error| DeliverError::backoff("cannot end the file").because(error))?;
        }
        self.append("end")?;
        if self.parts.sync != Sync::Never {
            self.sync()?;
        }
        self.open = None;
        self.parts.metrics.connections_closed.add(1);
        Ok(())
    }
}

impl BlockingSink for RollingFile {
    fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        self.deliver_at(batch, Instant::now())
    }

    fn next_deadline(&self) -> Option<Instant> {
        [self.start, self.sync_due, self.next_roll].into_iter().flatten().min()
    }

    fn on_deadline(&mut self) -> Result<(), DeliverError> {
        self.on_deadline_at(Instant::now())
    }

    fn settled(&mut self) -> Result<u32, DeliverError> {
        Ok(std::mem::take(&mut self.settled))
    }

    fn close(&mut self) -> Result<(), DeliverError> {
        self.finish()
    }
}

impl std::fmt::Debug for RollingFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.open.as_ref().map(|file| &file.path);
        f.debug_struct("RollingFile")
            .field("open", &path)
            .field("next_roll", &self.next_roll)
            .finish_non_exhaustive()
    }
}
