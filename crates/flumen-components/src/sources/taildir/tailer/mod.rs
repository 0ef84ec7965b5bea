//! All files of a source: finds them, reads them in turn, and keeps their positions. It blocks, and knows no clock.

mod copies;
mod lost;
mod read;
mod scan;

use super::{
    disk::Disk,
    file::{Ack, Key, TailFile},
    group::Group,
    lines::{Cutter, Span},
    mark::Mark,
    positions::{MOST_GONE, Positions, Row},
};
use copies::Gone;
use flumen_core::{
    event::{Batch, Text},
    metrics::SourceMetrics,
    world::WallClock,
};
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    io,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

/// What a source is told to do.
pub(super) struct Setup {
    pub(super) name: Arc<str>,
    pub(super) groups: Vec<Group>,
    pub(super) position_file: PathBuf,
    pub(super) write_interval: Duration,
    pub(super) file_header: Option<Text>,
    pub(super) byte_offset_header: bool,
    pub(super) skip_to_end: bool,
    pub(super) idle_timeout: Duration,
    pub(super) batch_size: usize,
    pub(super) max_batch_count: u64,
    pub(super) max_open_files: usize,
    pub(super) decompress: bool,
    pub(super) cutter: Cutter,
    pub(super) multiline_timeout: Duration,
    pub(super) clock: Arc<dyn WallClock>,
    pub(super) metrics: Arc<SourceMetrics>,
}

/// Batches of one file, in order, each with how far it reaches.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) parts: Vec<(Batch, Ack)>,
}

/// See the module.
pub(super) struct Tailer {
    setup: Setup,
    disk: Box<dyn Disk>,
    positions: Option<Positions>,
    /// Rows of the position file that no file has claimed, by inode.
    saved: HashMap<u64, Vec<Row>>,
    files: BTreeMap<Key, Box<TailFile>>,
    by_id: HashMap<(u64, u64), Key>,
    next_key: Key,
    /// Files of the last scan, in the order of groups and times.
    order: Vec<Key>,
    /// Files in the order in which they were opened.
    opened: VecDeque<Key>,
    gone: VecDeque<Gone>,
    /// Contents whose acknowledgements belong to another file now.
    adopted: VecDeque<((Key, u32), Key)>,
    /// Files to be read in this round, and in the next one.
    queue: VecDeque<Key>,
    later: VecDeque<Key>,
    /// Files with an event that is over when its time is, or that may be copies.
    pending: BTreeMap<Key, Instant>,
    scans: u64,
    last_write: Option<Instant>,
    changed: bool,
    write_failed: bool,
    spans: Vec<Span>,
}

impl Tailer {
    pub(super) fn new(setup: Setup, disk: Box<dyn Disk>) -> Self {
        Self {
            setup,
            disk,
            positions: None,
            saved: HashMap::new(),
            files: BTreeMap::new(),
            by_id: HashMap::new(),
            next_key: 1,
            order: Vec::new(),
            opened: VecDeque::new(),
            gone: VecDeque::new(),
            adopted: VecDeque::new(),
            queue: VecDeque::new(),
            later: VecDeque::new(),
            pending: BTreeMap::new(),
            scans: 0,
            last_write: None,
            changed: false,
            write_failed: false,
            spans: Vec::new(),
        }
    }

    /// Reads the position file. Every group's directory must be there.
    pub(super) fn open(&mut self) -> Result<(), (String, io::Error)> {
        for group in &self.setup.groups {
            let directory = &group.files.directory;
            if let Err(error) = self.disk.stat(directory) {
                return Err((format!("cannot read directory {} of filegroups", directory.display()), error));
            }
        }
        let path = &self.setup.position_file;
        let opened = Positions::open(&*self.disk, path);
        let (positions, rows) =
            opened.map_err(|error| (format!("cannot read positionFile {}", path.display()), error))?;
        self.positions = Some(positions);
        for row in rows {
            if row.gone {
                self.gone.push_back(Gone::of_row(&row, false, 0));
            } else {
                self.saved.entry(row.ino).or_default().push(row);
            }
        }
        Ok(())
    }

    /// The next lines of the next file. `None`: this round is over, for all files or, where [`Self::has_more`], for those that
    /// have had their turn.
    pub(super) fn next(&mut self, now: Instant) -> Option<Piece> {
        loop {
            let Some(key) = self.queue.pop_front() else {
                if self.queue_pending(now) {
                    continue;
                }
                self.begin_round();
                return None;
            };
            let Some(mut file) = self.files.remove(&key) else { continue };
            file.queued = false;
            let read = self.read(&mut file, now);
            let again = match read {
                Ok(read) => {
                    file.failed = false;
                    read
                }
                Err(error) => {
                    self.tell_failure(&mut file, &error);
                    None
                }
            };
            let over = file.leaving.is_some() && !file.has_rest() && file.idle;
            self.files.insert(key, file);
            if over && again.is_none() {
                self.retire(key, now);
            }
            if let Some(piece) = again {
                return Some(piece);
            }
        }
    }

    /// Whether files wait for the next round.
    pub(super) fn has_more(&self) -> bool {
        !self.queue.is_empty()
    }

    /// What the channels have.
    pub(super) fn committed(&mut self, ack: Ack) {
        self.changed = true;
        if let Some(file) = self.files.get_mut(&ack.key).filter(|file| file.epoch == ack.epoch) {
            file.committed = ack.mark;
        } else if let Some(gone) = self.gone.iter_mut().find(|gone| gone.content == (ack.key, ack.epoch)) {
            gone.committed = ack.mark;
        } else if let Some((_, key)) =
            self.adopted.iter().find(|(content, _)| *content == (ack.key, ack.epoch))
            && let Some(file) = self.files.get_mut(key).filter(|file| file.committed.pos < ack.mark.pos)
        {
            // Of what is read, some is not in a shorter copy.
            file.committed = if ack.mark.pos > file.read.pos { file.read } else { ack.mark };
        }
    }

    /// When something is to be done although nothing has changed.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        let write = self.last_write.filter(|_| self.changed).map(|last| last + self.setup.write_interval);
        self.pending.values().copied().chain(write).min()
    }

    /// Writes positions, where they have changed and it is time to; at the end always.
    pub(super) fn write_positions(&mut self, now: Instant, at_once: bool) {
        let last = *self.last_write.get_or_insert(now);
        // Before the first look it is not known which files there are.
        if self.scans == 0 || !at_once && (!self.changed || now < last + self.setup.write_interval) {
            return;
        }
        self.last_write = Some(now);
        let rows = self.rows();
        let Some(positions) = &mut self.positions else { return };
        match positions.write(&*self.disk, &rows) {
            Ok(()) => (self.changed, self.write_failed) = (false, false),
            Err(error) => {
                self.setup.metrics.generic_fail.add(1);
                if !std::mem::replace(&mut self.write_failed, true) {
                    let path = positions.path().display();
                    tracing::warn!(source = %self.setup.name, file = %path, %error, "cannot write positions; a restart would read lines again");
                }
            }
        }
    }

    fn rows(&self) -> Vec<Row> {
        let unread =
            self.files.values().filter(|file| file.leaving.is_some() && file.committed.pos < file.len);
        let known = self.order.iter().filter_map(|key| self.files.get(key)).chain(unread);
        let row = |file: &TailFile| Row {
            dev: Some(file.id.0),
            birth_ns: file.birth_ns,
            head: file.head,
            tail: file.committed.tail,
            packed: file.is_packed(),
            seen: file.seen.filter(|_| file.committed == file.read),
            ..Row::new(file.id.1, file.committed.pos, file.path.to_string_lossy().into_owned())
        };
        let saved = self.saved.values().flatten().cloned();
        known.map(|file| row(file)).chain(saved).chain(self.gone.iter().map(Gone::row)).collect()
    }

    /// Forgets a file. Its content may turn up again.
    fn retire(&mut self, key: Key, now: Instant) {
        let Some(file) = self.files.remove(&key) else { return };
        self.by_id.remove(&file.id);
        self.pending.remove(&key);
        let is_remembered = self.remember(&file, false);
        self.note_unread(&file, is_remembered, now);
        self.changed = true;
        tracing::debug!(source = %self.setup.name, file = %file.path.display(), "no longer tailed");
    }

    /// Notes the content of a file that is about to lose it. False where nothing of it was read.
    fn remember(&mut self, file: &TailFile, truncated: bool) -> bool {
        let was_read = file.head.len > 0 && file.read.pos > 0;
        if was_read {
            self.gone.push_back(Gone::of_file(file, truncated, self.scans));
            if self.gone.len() > MOST_GONE {
                self.gone.pop_front();
            }
        }
        was_read
    }

    /// The file's content was replaced by another one.
    fn restart(&mut self, file: &mut TailFile, why: &'static str) {
        tracing::info!(source = %self.setup.name, file = %file.path.display(), position = file.read.pos, "read again from the start: {why}");
        self.remember(file, true);
        file.epoch += 1;
        file.read = Mark { pos: 0, tail: None };
        file.committed = file.read;
        (file.head, file.trail) = (super::mark::Head::NONE, super::mark::Trail::default());
        (file.packed, file.seen, file.idle) = (None, None, false);
        self.pending.remove(&file.key);
        self.changed = true;
    }

    fn queue_pending(&mut self, now: Instant) -> bool {
        let due: Vec<Key> = self.pending.iter().filter(|(_, at)| **at <= now).map(|(key, _)| *key).collect();
        for key in &due {
            self.pending.remove(key);
            if let Some(file) = self.files.get_mut(key) {
                file.flush = !file.held;
            }
            self.enqueue(*key);
        }
        !self.queue.is_empty()
    }

    fn begin_round(&mut self) {
        self.queue = std::mem::take(&mut self.later);
        for key in &self.queue {
            if let Some(file) = self.files.get_mut(key) {
                (file.turn_batches, file.turn_bytes) = (0, 0);
            }
        }
    }

    fn enqueue(&mut self, key: Key) {
        if let Some(file) = self.files.get_mut(&key).filter(|file| !file.queued) {
            file.queued = true;
            (file.turn_batches, file.turn_bytes) = (0, 0);
            self.queue.push_back(key);
        }
    }

    fn tell_failure(&self, file: &mut TailFile, error: &io::Error) {
        self.setup.metrics.read_fail.add(1);
        if !std::mem::replace(&mut file.failed, true) {
            tracing::warn!(source = %self.setup.name, file = %file.path.display(), %error, "cannot read; trying again, and going on with other files");
        }
    }
}
