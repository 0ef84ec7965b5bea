//! The line in which runs stand: pure bookkeeping, no disk and no lock.

use super::job::{Done, Job, NewFile};
use crate::record::PAD_LEN;
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
    blocks: Option<Blocks>,
    dirs: Vec<Dir>,
    slots: VecDeque<Slot<E>>,
    /// Number of the first slot.
    front: u64,
    failed: Option<Arc<io::Error>>,
}

/// Runs of some size have whole blocks of the file for themselves: they are written past the system's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// Bytes of a block: a power of two, and at least 32.
    pub size: u32,
    /// Bytes of the smallest run of which this is so.
    pub from: u64,
}

impl Blocks {
    /// Where the first block begins that leaves no room before it, or enough for a no-op.
    pub(super) fn next(self, at: u64) -> u64 {
        let next = at.next_multiple_of(u64::from(self.size));
        if next > at && next - at < PAD_LEN as u64 { next + u64::from(self.size) } else { next }
    }
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
    /// It has whole blocks.
    direct: bool,
}

/// The place of a run, and the numbers for its records.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) slot: u64,
    pub(crate) transaction: u64,
    pub(crate) first_order: u64,
    /// Up to which write-order id everything is durable.
    pub(crate) watermark: u64,
    pub(crate) parts: Vec<Place>,
}

/// Where a part of a run lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Number of the data file.
    pub(crate) file: u32,
    /// Where the part begins.
    pub(crate) at: u64,
    /// Which records of the run are in it. None: the part only fills up to the next block.
    pub(crate) records: Range<usize>,
    /// Bytes behind the records that are a no-op, up to the next block.
    pub(crate) pad: u64,
    /// Bytes of a block that the part begins and ends with; 0: it lies anywhere.
    pub(crate) block: u32,
}

impl<E> Line<E> {
    pub(crate) fn new(
        counters: Counters,
        n_dirs: usize,
        max_file_bytes: u64,
        blocks: Option<Blocks>,
    ) -> Self {
        let dirs = (0..n_dirs).map(|_| Dir::default()).collect();
        let (slots, durable) = (VecDeque::new(), counters.order);
        Self { counters, durable, max_file_bytes, blocks, dirs, slots, front: 0, failed: None }
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
        let blocks = self.blocks.filter(|blocks| total >= blocks.from);
        let in_blocks = blocks.and_then(|blocks| self.in_blocks(dir, total, lens.len(), blocks));
        let places = in_blocks.unwrap_or_else(|| self.anywhere(dir, total, lens));
        let mut parts = Vec::with_capacity(places.len());
        for place in &places {
            let records: u64 = lens[place.records.clone()].iter().map(|len| u64::from(*len)).sum();
            let len = records + place.pad;
            self.dirs[dir].tail = Some((place.file, place.at + len));
            self.dirs[dir].waiting.push_back((slot, parts.len()));
            parts.push(Part { file: place.file, at: place.at, len, bytes: None, direct: place.block > 0 });
        }
        let open_parts = parts.len();
        self.slots.push_back(Slot { dir, last_order: self.counters.order, parts, open_parts, entry: None });
        Ticket {
            slot,
            transaction: self.counters.transaction,
            first_order,
            watermark: self.durable,
            parts: places,
        }
    }

    /// Places for records one behind the other, in as many files as it takes.
    fn anywhere(&mut self, dir: usize, total: u64, lens: &[u32]) -> Vec<Place> {
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
            places.push(Place { file, at, records: from..to, pad: 0, block: 0 });
            from = to;
        }
        places
    }

    /// A place for `n` records with `total` bytes in blocks of their own; what is left of the last run's block is filled, and
    /// so is what is left of theirs. `None`: no file has so many blocks.
    fn in_blocks(&mut self, dir: usize, total: u64, n: usize, blocks: Blocks) -> Option<Vec<Place>> {
        let end = |at: u64| blocks.next(at + total);
        let fits = |at: u64| end(at) <= self.max_file_bytes;
        let place = |file: u32, at: u64| Place {
            file,
            at,
            records: 0..n,
            pad: end(at) - at - total,
            block: blocks.size,
        };
        match self.dirs[dir].tail {
            Some((file, tail)) if fits(blocks.next(tail)) => {
                let at = blocks.next(tail);
                let gap = Place { file, at: tail, records: 0..0, pad: at - tail, block: 0 };
                Some(
                    [gap, place(file, at)]
                        .into_iter()
                        .filter(|place| place.at < at || place.block > 0)
                        .collect(),
                )
            }
            _ if fits(0) => {
                let place = place(self.counters.file + 1, 0);
                self.counters.file += 1;
                Some(vec![place])
            }
            _ => None,
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
        let (file, at, direct) =
            self.part(first_slot, first_part).map(|part| (part.file, part.at, part.direct))?;
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
            let same = part.file == file
                && part.direct == direct
                && (parts.is_empty() || n_bytes + part.len <= GATHER_BYTES);
            let Some(bytes) = part.bytes.as_ref().filter(|_| same).cloned() else { break };
            n_bytes += part.len;
            buffers.push(bytes);
            parts.push((slot, part_at));
            self.dirs[dir_at].waiting.pop_front();
        }
        let write = Job::Write { dir: dir_at, file, at, direct, buffers, parts };
        if n_bytes == 0 { None } else { Some(write) }
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
