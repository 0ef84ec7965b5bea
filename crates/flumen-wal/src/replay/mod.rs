//! Finds out what waits in a log: reads its data files in write order, from a checkpoint on or from their beginning.
//!
//! Up to the highest watermark everything was acknowledged: damage there is rot, what can be read is kept, and the loss is
//! counted. Above it, a run whose missing bytes were never written was never acknowledged, and is left out whole; where bytes
//! were written and are damaged, what can be read is kept. Java's files have no watermark: what lies before their fill counts
//! as below it.
//!
//! A replay changes nothing. What it found must be written down before the log opens: first the [`Fact`]s, into a new file,
//! then the [`Edit`]s, by [`settle`]. Then every further replay gives the same answer, and so does Java's.

mod belief;
mod cursor;
mod files;
mod index;
mod keys;
mod live;
mod report;
mod settle;
mod transactions;

pub use files::Found;
pub use keys::check_keys;
pub use report::{Damaged, Report};
pub use settle::{Edit, MAX_QUARANTINE, settle};
pub use transactions::Fact;

use crate::{
    checkpoint::Checkpoint,
    data_file::{Gap, GapKind, KeyLength, Meta, meta_name},
    disk::Disk,
    java_checkpoint::JavaCheckpoint,
    place::{Pointer, Run},
    record::FRAME_LEN,
};
use cursor::{Cursor, Seen, Step};
use live::Live;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    io,
    path::{Path, PathBuf},
};
use transactions::{Stretch, Transactions};

/// How many bytes are read between two reports of progress.
const PROGRESS_BYTES: u64 = 16 << 20;

/// What a replay needs besides the disk.
pub struct Options<'a> {
    /// The data directories, in the order of the settings.
    pub dirs: &'a [PathBuf],
    /// The key of an alias, if there is one.
    pub key: &'a dyn Fn(&str) -> Option<Vec<u8>>,
    /// Told of bytes that have been read, and bytes that there are to read, every 16 MiB.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// What is known before the data files are read.
#[derive(Debug, Clone, Copy)]
pub enum Start<'a> {
    /// Nothing: they are read from their beginning.
    Nothing,
    /// Our checkpoint.
    Ours(&'a Checkpoint),
    /// Java's.
    Java(&'a JavaCheckpoint),
}

/// What a replay found.
#[derive(Debug)]
pub struct Recovered {
    /// What waits, in the order of delivery.
    pub runs: Vec<Run>,
    /// The highest transaction id. New ones must be above it.
    pub transaction: u64,
    /// The highest write-order id. New ones must be above it.
    pub order: u64,
    /// The highest number of a data file. New ones must be above it.
    pub file: u32,
    /// The highest write-order id up to which a record says that all is durable.
    pub watermark: u64,
    /// The data files that are not empty, by number.
    pub files: BTreeMap<u32, Found>,
    /// For a file whose takes name a younger file, the youngest of these: it is deleted after that one, or a later replay would
    /// bring taken events back.
    pub takes_of: BTreeMap<u32, u32>,
    /// Data files of which nothing can be read and that have no meta: nobody knows what they are, and they are left alone.
    pub foreign_files: BTreeSet<u32>,
    /// To be written into a new file first.
    pub facts: Vec<Fact>,
    /// To be carried out by [`settle`] then.
    pub edits: Vec<Edit>,
    /// What was not as it should be.
    pub report: Report,
}

/// Why a log is not opened. Nothing has been changed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The disk failed.
    #[error("reading the data files failed: {0}")]
    Io(#[from] io::Error),
    /// A file is encrypted, and its key is not there.
    #[error("{} is encrypted with the key `{alias}`, which the key store does not have", file.display())]
    MissingKey {
        /// The data file.
        file: PathBuf,
        /// The key's name.
        alias: String,
    },
    /// A file is encrypted in an unknown way.
    #[error("{} is encrypted with `{cipher}`, which is not known", file.display())]
    UnknownCipher {
        /// The data file.
        file: PathBuf,
        /// What its meta says.
        cipher: String,
    },
    /// A key cannot be one.
    #[error("{}: {source}", file.display())]
    BadKey {
        /// The data file.
        file: PathBuf,
        /// What is wrong.
        source: KeyLength,
    },
    /// No record of an encrypted file can be read.
    #[error("no record of {} can be decrypted: the key store has another key under its name", file.display())]
    WrongKey {
        /// The data file.
        file: PathBuf,
    },
}

/// A gap, until the watermark is known.
struct Hole {
    file: u32,
    gap: Gap,
    tail: bool,
    /// Whether nothing but this end is left of its directory.
    last: bool,
    /// Write-order id of the next record of its directory.
    next: Option<u64>,
}

/// Reads the data files.
///
/// # Errors
/// The disk fails, or a key is missing or wrong.
pub fn replay(
    disk: &dyn Disk,
    options: &mut Options<'_>,
    start: Start<'_>,
) -> Result<Recovered, ReplayError> {
    let (mut aside, mut edits) = (Vec::new(), Vec::new());
    let found = files::find(disk, options, &mut aside, &mut edits)?;
    let files: BTreeMap<u32, Found> = found.into_iter().map(|found| (found.file.number, found)).collect();
    let foreign = match start {
        Start::Ours(checkpoint) => !belief::fits(disk, &files, checkpoint)?,
        Start::Java(checkpoint) => !belief::is_marked(&files, checkpoint),
        Start::Nothing => false,
    };
    let (told, start) = (start, if foreign { Start::Nothing } else { start });
    let mut recovered = run(disk, options, start, &files, edits.clone())?;
    if let (true, Start::Ours(checkpoint)) = (foreign, told) {
        recovered.report.foreign_checkpoint = true;
        let (missing, events) = belief::missing(&files, checkpoint);
        recovered.report.missing_files = missing.into_iter().collect();
        recovered.report.lost_events += events;
    }
    if let Start::Java(_) = start {
        let in_doubt = recovered.report.lost_events > 0 && recovered.report.missing_files.is_empty();
        if in_doubt || options.dirs.len() > 1 {
            let whole = run(disk, options, Start::Nothing, &files, edits)?;
            if in_doubt && whole.report.n_damaged == 0 {
                // It names events where none are, although nothing is damaged there: it is damaged itself.
                recovered = whole;
            } else {
                // Java deletes files by number, over all directories: takes may be gone whose events are still there.
                recovered.facts.extend(back_from_the_dead(disk, &files, &recovered.runs, &whole.runs)?);
                recovered.takes_of = whole.takes_of;
            }
        }
    }
    for twin in aside {
        let to = settle::aside_name(&twin.path, twin.number);
        recovered.report.duplicate_files.push(twin.path.clone());
        recovered.edits.push(Edit::Rename { from: twin.path, to });
    }
    recovered.files = files;
    Ok(recovered)
}

fn run(
    disk: &dyn Disk,
    options: &mut Options<'_>,
    start: Start<'_>,
    files: &BTreeMap<u32, Found>,
    mut edits: Vec<Edit>,
) -> Result<Recovered, ReplayError> {
    let n_dirs = options.dirs.len();
    let numbers: BTreeSet<u32> = files.keys().copied().collect();
    let mut state = Transactions::new(Live::new(disk, files), n_dirs, numbers);
    let skip_to = begin(&mut state, start, files)?;
    let mut cursors: Vec<Cursor<'_>> = (0..n_dirs)
        .map(|dir| {
            let of = files.values().filter(|found| found.file.dir == dir);
            let from: io::Result<Vec<_>> = of
                .filter_map(|found| Some(position(disk, found, start).transpose()?.map(|at| (found, at))))
                .collect();
            Ok(Cursor::new(disk, from?))
        })
        .collect::<io::Result<_>>()?;
    let total: u64 = cursors.iter().map(|cursor| cursor.total).sum();
    let mut walk = Walk { disk, files, holes: Vec::new(), ends: BTreeMap::new() };
    let mut heads: Vec<Option<Seen>> = vec![None; n_dirs];
    let mut heap = BinaryHeap::new();
    for (dir, cursor) in cursors.iter_mut().enumerate() {
        walk.advance(cursor, &mut state, dir, &mut heads, &mut heap)?;
    }
    let mut told = 0;
    while let Some(Reverse((_, _, dir))) = heap.pop() {
        if let Some(seen) = heads[dir].take() {
            if seen.stamp.order > skip_to {
                state.record(dir, &seen)?;
            } else {
                state.skip(&seen);
            }
        }
        walk.advance(&mut cursors[dir], &mut state, dir, &mut heads, &mut heap)?;
        let done: u64 = cursors.iter().map(|cursor| cursor.done).sum();
        if done - told >= PROGRESS_BYTES {
            told = done;
            (options.progress)(done, total);
        }
    }
    let mut noops = Vec::new();
    let facts = state.finish(&mut noops)?;
    walk.add_found(&state.live.found_gaps);
    walk.report(&mut state, skip_to);
    walk.edits(&noops, &mut edits);
    let Transactions { live, mut report, max_order, max_transaction, takes_of, watermark, .. } = state;
    report.lost_events += live.n_lost();
    report.unreadable_files = walk.unreadable();
    let foreign_files = files.keys().copied().filter(|file| walk.is_foreign(*file)).collect();
    let file = files.keys().next_back().copied().unwrap_or(0);
    let (mut transaction, mut order, mut highest) = (max_transaction, max_order.max(skip_to), file);
    if let Start::Ours(checkpoint) = start {
        transaction = transaction.max(checkpoint.transaction);
        order = order.max(checkpoint.order);
        highest = highest.max(checkpoint.file);
    }
    let runs = live.runs();
    Ok(Recovered {
        runs,
        transaction,
        order,
        file: highest,
        watermark,
        files: BTreeMap::new(),
        takes_of,
        foreign_files,
        facts,
        edits,
        report,
    })
}

/// Takes over what a checkpoint says. Records up to the returned write-order id are in it.
fn begin(state: &mut Transactions<'_>, start: Start<'_>, files: &BTreeMap<u32, Found>) -> io::Result<u64> {
    match start {
        Start::Nothing => Ok(0),
        Start::Ours(checkpoint) => {
            let mut missing = BTreeSet::new();
            for run in &checkpoint.runs {
                state.live.add_run(run);
                missing.extend((!files.contains_key(&run.start.file)).then_some(run.start.file));
            }
            state.report.missing_files = missing.into_iter().collect();
            Ok(checkpoint.order)
        }
        Start::Java(checkpoint) => {
            let open = |list: &[(u64, Vec<Pointer>)]| -> Vec<Pointer> {
                list.iter().flat_map(|(_, pointers)| pointers.iter().copied()).collect()
            };
            let mut takes = open(&checkpoint.takes);
            takes.sort_unstable();
            takes.dedup();
            let all = checkpoint.queue.iter().chain(&takes).copied().chain(open(&checkpoint.puts));
            let missing: BTreeSet<u32> =
                all.clone().map(|pointer| pointer.file).filter(|file| !files.contains_key(file)).collect();
            state.report.missing_files = missing.into_iter().collect();
            state.live.index_pointers(all)?;
            // What was taken and not committed goes back to the front. In which order it was taken, nothing says.
            takes.iter().chain(&checkpoint.queue).for_each(|pointer| state.live.add_pointer(*pointer));
            checkpoint.puts.iter().for_each(|(id, puts)| state.open_puts(*id, puts));
            checkpoint.takes.iter().for_each(|(id, takes)| state.open_takes(*id, takes));
            Ok(checkpoint.order)
        }
    }
}

/// Where to begin reading a file. `None`: not at all.
fn position(disk: &dyn Disk, found: &Found, start: Start<'_>) -> io::Result<Option<u64>> {
    Ok(match start {
        Start::Nothing => Some(0),
        Start::Ours(checkpoint) => {
            let number = found.file.number;
            let at = checkpoint.positions.iter().find(|(file, _)| *file == number);
            match at {
                Some((_, at)) => Some(*at),
                // All of it is reflected.
                None if number <= checkpoint.file => None,
                None => Some(0),
            }
        }
        Start::Java(checkpoint) => {
            let mark = found.marks.iter().find(|(at, order)| *at > 0 && *order <= checkpoint.order);
            match mark {
                Some((at, order)) if belief::is_between_records(disk, found, *at, *order)? => Some(*at),
                _ => Some(0),
            }
        }
    })
}

/// Events that wait in a replay of everything, and not where a checkpoint was believed.
fn back_from_the_dead(
    disk: &dyn Disk,
    files: &BTreeMap<u32, Found>,
    right: &[Run],
    whole: &[Run],
) -> io::Result<Option<Fact>> {
    let mut live = Live::new(disk, files);
    let mut places = |runs: &[Run]| -> io::Result<BTreeSet<u64>> {
        let mut all = BTreeSet::new();
        for run in runs {
            all.extend(live.places_of(run)?.iter().map(|place| place.pack()));
        }
        Ok(all)
    };
    let (right, whole) = (places(right)?, places(whole)?);
    let back: Vec<Pointer> = whole.difference(&right).map(|packed| Pointer::unpack(*packed)).collect();
    Ok((!back.is_empty()).then_some(Fact::Takes(back)))
}

/// What is noted of gaps and ends of files on the way.
struct Walk<'a> {
    disk: &'a dyn Disk,
    files: &'a BTreeMap<u32, Found>,
    holes: Vec<Hole>,
    /// Records that were read of each file, and whether it was read from its beginning.
    ends: BTreeMap<u32, (u64, bool)>,
}

impl Walk<'_> {
    /// Has the directory's next record stand at its head. Gaps on the way belong to what came before.
    fn advance(
        &mut self,
        cursor: &mut Cursor<'_>,
        state: &mut Transactions<'_>,
        dir: usize,
        heads: &mut [Option<Seen>],
        heap: &mut BinaryHeap<Reverse<(u64, u64, usize)>>,
    ) -> Result<(), ReplayError> {
        let from = self.holes.len();
        loop {
            match cursor.next_step()? {
                None => return Ok(()),
                Some(Step::Record(seen)) => {
                    self.holes[from..].iter_mut().for_each(|hole| hole.next = Some(seen.stamp.order));
                    heads[dir] = Some(seen);
                    heap.push(Reverse((seen.stamp.order, seen.stamp.transaction, dir)));
                    return Ok(());
                }
                Some(Step::Gap { file, gap, tail }) => {
                    let last = cursor.is_last();
                    state.gap(dir, file, &gap, tail, last);
                    if !(tail && gap.kind == GapKind::Fill) {
                        self.holes.push(Hole { file, gap, tail, last, next: None });
                    }
                }
                Some(Step::End { file, n_records, whole }) => {
                    self.ends.insert(file, (n_records, whole));
                    self.check_key(file)?;
                }
            }
        }
    }

    /// Gaps in what was read because a checkpoint named it. It was acknowledged.
    fn add_found(&mut self, gaps: &[(u32, Gap)]) {
        for (file, gap) in gaps {
            let tail = gap.end == self.files[file].file.len;
            let known = self.holes.iter().any(|hole| hole.file == *file && hole.gap.at == gap.at);
            let fill = tail && gap.kind == GapKind::Fill;
            if !known && !fill {
                self.holes.push(Hole { file: *file, gap: *gap, tail, last: false, next: Some(0) });
            }
        }
    }

    /// Whole records that cannot be decrypted, in a file of which nothing can.
    fn check_key(&self, file: u32) -> Result<(), ReplayError> {
        let found = &self.files[&file];
        let nothing = self.ends.get(&file) == Some(&(0, true));
        let damaged = |hole: &Hole| {
            let whole = hole.gap.end - hole.gap.at > FRAME_LEN as u64 && hole.gap.kind == GapKind::Damaged;
            hole.file == file && whole && !hole.gap.unreadable
        };
        let Some(cipher) = found.cipher.as_deref().filter(|cipher| nothing && !cipher.proves_its_key())
        else {
            return Ok(());
        };
        let holes = self.holes.iter().filter(|hole| damaged(hole));
        let says: Vec<Option<bool>> =
            holes.map(|hole| keys::is_right_key(self.disk, found, cipher, hole.gap.at)).collect();
        let is_wrong = says.contains(&Some(false)) && !says.contains(&Some(true));
        if is_wrong { Err(ReplayError::WrongKey { file: found.file.path.clone() }) } else { Ok(()) }
    }

    /// Files with damage and nothing else, of which nobody knows how they were written.
    fn is_foreign(&self, file: u32) -> bool {
        let found = &self.files[&file];
        let nothing = self.ends.get(&file) == Some(&(0, true));
        nothing && !found.has_meta && found.version == 3
    }

    fn unreadable(&self) -> Vec<PathBuf> {
        let of = self.files.values().filter(|found| {
            let number = found.file.number;
            self.is_foreign(number) && self.holes.iter().any(|hole| hole.file == number)
        });
        of.map(|found| found.file.path.clone()).collect()
    }

    fn report(&self, state: &mut Transactions<'_>, skip_to: u64) {
        for hole in &self.holes {
            let never_written = hole.gap.kind != GapKind::Damaged;
            let acknowledged = hole.next.is_some_and(|next| next <= state.watermark.max(skip_to));
            let unacknowledged_end = hole.tail && hole.last;
            let ours = state.watermark > 0;
            if never_written && (unacknowledged_end || (ours && !acknowledged)) {
                continue;
            }
            state.report.add_damage(self.files[&hole.file].file.path.clone(), hole.gap);
        }
    }

    fn edits(&self, noops: &[(u32, Stretch)], edits: &mut Vec<Edit>) {
        for (number, found) in self.files {
            if !found.has_meta && found.version == 3 && !self.is_foreign(*number) {
                let dir = found.file.path.parent().unwrap_or(Path::new("."));
                let bytes = Meta::new(*number, None).encode();
                edits.push(Edit::Write { file: dir.join(meta_name(*number)), bytes });
            }
        }
        for (file, stretch) in noops {
            let path = self.files[file].file.path.clone();
            let (at, end) = (u64::from(stretch.at), u64::from(stretch.end));
            edits.push(Edit::Noop { file: path, at, end, keep: false });
        }
        for hole in &self.holes {
            let found = &self.files[&hole.file];
            if hole.gap.unreadable || found.version == 2 || self.is_foreign(hole.file) {
                continue;
            }
            let (file, at, end) = (found.file.path.clone(), hole.gap.at, hole.gap.end);
            let torn_inside = hole.gap.kind == GapKind::Torn && !hole.tail;
            let keep = hole.gap.kind == GapKind::Damaged || torn_inside;
            edits.push(if hole.tail {
                Edit::Fill { file, at, end, keep }
            } else {
                Edit::Noop { file, at, end, keep }
            });
        }
    }
}
