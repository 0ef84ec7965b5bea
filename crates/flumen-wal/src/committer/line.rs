//! The line in which runs stand: pure bookkeeping, no disk and no lock.

use super::job::{Done, Job, NewFile};
use bytes::Bytes;
use std::{collections::VecDeque, io, ops::Range, sync::Arc};

/// Bytes that one write gathers. A single run may be longer.
const GATHER_BYTES: u64 = 4 << 20;

/// The numbers that were given last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Transaction id.
    pub(crate) transaction: u64,
    /// Write-order id.
    pub(crate) order: u64,
    /// Number of a data file.
    pub(crate) file: u32,
}

/// Runs in the order of their commits. `E` is what becomes of a run once it is durable.
#[derive(Debug)]
pub(crate) struct Line<E> {
    counters: Counters,
    /// Write-order id up to which everything is durable, in all directories.
    durable: u64,
    max_file_bytes: u64,
    dirs: Vec<Dir>,
    slots: VecDeque<Slot<E>>,
    /// Number of the first slot.
    front: u64,
    failed: Option<Arc<io::Error>>,
}

#[derive(Debug, Default)]
struct Dir {
    /// The file that is being filled, and where its next record begins.
    tail: Option<(u32, u64)>,
    /// The last file that was made, and the one that is being made.
    ready: u32,
    creating: bool,
    /// Parts that were not handed out, in order: slot and part.
    waiting: VecDeque<(u64, usize)>,
    /// Up to where everything is durable, and answered.
    durable_at: Option<(u32, u64)>,
}

#[derive(Debug)]
struct Slot<E> {
    dir: usize,
    last_order: u64,
    parts: Vec<Part>,
    open_parts: usize,
    /// There once the bytes are.
    entry: Option<E>,
}

/// What of a run lies in one file: nearly always all of it.
#[derive(Debug)]
struct Part {
    file: u32,
    at: u64,
    len: u64,
    bytes: Option<Bytes>,
}

/// The place of a run, and the numbers for its records.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) slot: u64,
    pub(crate) transaction: u64,
    pub(crate) first_order: u64,
    /// Up to which write-order id everything is durable.
    pub(crate) watermark: u64,
    /// For each part its file, its offset there, and which records are in it.
    pub(crate) parts: Vec<(u32, u64, Range<usize>)>,
}

impl<E> Line<E> {
    pub(crate) fn new(counters: Counters, n_dirs: usize, max_file_bytes: u64) -> Self {
        let dirs = (0..n_dirs).map(|_| Dir::default()).collect();
        let (slots, durable) = (VecDeque::new(), counters.order);
        Self { counters, durable, max_file_bytes, dirs, slots, front: 0, failed: None }
    }

    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    pub(crate) fn durable(&self) -> u64 {
        self.durable
    }

    pub(crate) fn failed(&self) -> Option<&Arc<io::Error>> {
        self.failed.as_ref()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.slots.is_empty()
    }

    /// For each directory the file and offset up to which everything is durable; `None` where nothing was written.
    pub(crate) fn durable_places(&self) -> Vec<Option<(u32, u64)>> {
        self.dirs.iter().map(|dir| dir.durable_at).collect()
    }

    /// Whether the last file of a directory has been left, and no other one was begun.
    pub(crate) fn has_left(&self, dir: usize) -> bool {
        self.dirs[dir].tail.is_none()
    }

    /// The file that is being filled, by directory.
    pub(crate) fn tails(&self) -> impl Iterator<Item = u32> {
        self.dirs.iter().filter_map(|dir| dir.tail.map(|(file, _)| file))
    }

    /// Begins a new file with the next run of each directory whose present one holds nothing that is needed any more: all of it
    /// is durable, and `oldest` is the oldest file in which events wait.
    pub(crate) fn leave(&mut self, oldest: Option<u32>) {
        if !self.is_idle() {
            return;
        }
        for dir in &mut self.dirs {
            let dead = |(file, _): &(u32, u64)| oldest.is_none_or(|oldest| oldest > *file);
            if dir.tail.as_ref().is_some_and(dead) {
                dir.tail = None;
            }
        }
    }

    /// The oldest file that something is still to be written to.
    pub(crate) fn oldest_open_file(&self) -> u32 {
        let waiting = self.slots.iter().filter_map(|slot| slot.parts.first()).map(|part| part.file);
        waiting.chain(self.tails()).min().unwrap_or(0)
    }

    /// Gives a run of records with these lengths its place behind all others, each record one write-order id. The numbers
    /// of the records and of the files grow in the order of the line.
    pub(crate) fn place(&mut self, dir: usize, lens: &[u32]) -> Ticket {
        let n_records = lens.len() as u64;
        self.counters.transaction += 1;
        let first_order = self.counters.order + 1;
        self.counters.order += n_records;
        let slot = self.front + self.slots.len() as u64;
        let total: u64 = lens.iter().map(|len| u64::from(*len)).sum();
        let mut places = Vec::with_capacity(1);
        let mut from = 0;
        while from < lens.len() {
            let (file, at) =
                self.tail(dir, if total <= self.max_file_bytes { total } else { u64::from(lens[from]) });
            let mut end = at;
            let mut to = from;
            while to < lens.len() && (to == from || end + u64::from(lens[to]) <= self.max_file_bytes) {
                end += u64::from(lens[to]);
                to += 1;
            }
            self.dirs[dir].tail = Some((file, end));
            self.dirs[dir].waiting.push_back((slot, places.len()));
            places.push((file, at, from..to, end - at));
            from = to;
        }
        let parts: Vec<Part> = places
            .iter()
            .map(|(file, at, _, len)| Part { file: *file, at: *at, len: *len, bytes: None })
            .collect();
        let open_parts = parts.len();
        self.slots.push_back(Slot { dir, last_order: self.counters.order, parts, open_parts, entry: None });
        Ticket {
            slot,
            transaction: self.counters.transaction,
            first_order,
            watermark: self.durable,
            parts: places.into_iter().map(|(file, at, records, _)| (file, at, records)).collect(),
        }
    }

    /// A file of this directory with room for `len` more bytes.
    fn tail(&mut self, dir: usize, len: u64) -> (u32, u64) {
        match self.dirs[dir].tail {
            Some((file, at)) if at + len <= self.max_file_bytes || at == 0 => (file, at),
            _ => {
                self.counters.file += 1;
                (self.counters.file, 0)
            }
        }
    }

    /// Hands in the bytes of a run, by part, and what becomes of it. Gives that back where the line has failed meanwhile.
    pub(crate) fn fill(&mut self, slot: u64, bytes: Vec<Bytes>, entry: E) -> Result<(), E> {
        let slot = slot.checked_sub(self.front).and_then(|at| self.slots.get_mut(usize::try_from(at).ok()?));
        let Some(slot) = slot else { return Err(entry) };
        for (part, bytes) in slot.parts.iter_mut().zip(bytes) {
            debug_assert_eq!(part.len, bytes.len() as u64, "the bytes of a run are as long as its place");
            part.bytes = Some(bytes);
        }
        slot.entry = Some(entry);
        Ok(())
    }

    /// What a worker of this directory is to do next.
    pub(crate) fn next_job(&mut self, dir_at: usize) -> Option<Job> {
        if self.failed.is_some() {
            return None;
        }
        let (first_slot, first_part) = *self.dirs[dir_at].waiting.front()?;
        let (file, at) = self.part(first_slot, first_part).map(|part| (part.file, part.at))?;
        let dir = &mut self.dirs[dir_at];
        if file > dir.ready {
            if dir.creating {
                return None;
            }
            dir.creating = true;
            return Some(Job::Create(NewFile { dir: dir_at, file }));
        }
        let (mut buffers, mut parts, mut n_bytes) = (Vec::new(), Vec::new(), 0);
        while let Some(&(slot, part_at)) = self.dirs[dir_at].waiting.front() {
            let Some(part) = self.part(slot, part_at) else { break };
            let same = part.file == file && (parts.is_empty() || n_bytes + part.len <= GATHER_BYTES);
            let Some(bytes) = part.bytes.as_ref().filter(|_| same).cloned() else { break };
            n_bytes += part.len;
            buffers.push(bytes);
            parts.push((slot, part_at));
            self.dirs[dir_at].waiting.pop_front();
        }
        if parts.is_empty() { None } else { Some(Job::Write { dir: dir_at, file, at, buffers, parts }) }
    }

    fn part(&self, slot: u64, part: usize) -> Option<&Part> {
        self.slots.get(slot.checked_sub(self.front)? as usize)?.parts.get(part)
    }

    /// Takes what a job has come to, and gives the runs that have become durable with all before them, in order.
    pub(crate) fn finish(&mut self, done: Done) -> Vec<E> {
        match done {
            Done::Created(NewFile { dir, file }) => {
                self.dirs[dir].ready = file;
                self.dirs[dir].creating = false;
                return Vec::new();
            }
            Done::Written { parts } => {
                for (slot, part) in parts {
                    let Some(slot) =
                        slot.checked_sub(self.front).and_then(|at| self.slots.get_mut(at as usize))
                    else {
                        continue; // the line has failed meanwhile
                    };
                    slot.open_parts -= 1;
                    slot.parts[part].bytes = None;
                }
            }
        }
        self.pop_durable()
    }

    fn pop_durable(&mut self) -> Vec<E> {
        let mut durable = Vec::new();
        while let Some(slot) = self.slots.pop_front_if(|slot| slot.open_parts == 0) {
            self.front += 1;
            self.durable = slot.last_order;
            if let Some(part) = slot.parts.last() {
                self.dirs[slot.dir].durable_at = Some((part.file, part.at + part.len));
            }
            durable.extend(slot.entry);
        }
        durable
    }

    /// From now on nothing is accepted and nothing is done. Gives all that stood in the line, to be refused.
    pub(crate) fn fail(&mut self, error: Arc<io::Error>) -> Vec<E> {
        self.failed.get_or_insert(error);
        self.front += self.slots.len() as u64;
        self.dirs.iter_mut().for_each(|dir| dir.waiting.clear());
        self.slots.drain(..).filter_map(|slot| slot.entry).collect()
    }
}
