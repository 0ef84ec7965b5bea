//! Keeping a log in order: free space, watermarks, checkpoints, and data files that nobody needs any more.

use super::{
    Entry, LogError, LogSettings, Shared, Start, State, bugs::Bug, encode, files, mark_lens, open::LOCK_FILE,
};
use crate::{
    checkpoint::Checkpoint,
    disk::FreeSpace,
    place::{Pointer, Run},
    record::TAKE_LEN,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

/// Bytes that even takes leave free, for commits, ends of blocks and checkpoints.
const LEFT_BY_TAKES: u64 = 64 << 10;

/// What is known of the disk beside the events.
#[derive(Debug)]
pub(super) struct Keep {
    /// What is free by directory, less what was written since that was asked for; nothing before the first look.
    free: Vec<Option<FreeSpace>>,
    /// Whether a directory has records behind its last watermark.
    unmarked: Vec<bool>,
    sequence: u64,
    /// Whether anything has changed since the last checkpoint.
    changed: bool,
    /// The oldest file that each of the last two checkpoints needs, once they were written.
    needed: [Option<u32>; 2],
    /// A file number that no data file had when the log was started.
    first_new: u32,
    /// For a file of Java's whose takes name a younger file, the youngest of these: it goes after that one.
    takes_of: BTreeMap<u32, u32>,
    /// Files with events that could not be read: they are put aside, and not removed.
    lost_in: BTreeSet<u32>,
    /// Files that are missing, and that events waited in.
    missing: Vec<u32>,
}

impl Keep {
    pub(super) fn new(start: &Start, n_dirs: usize) -> Self {
        Self {
            free: vec![None; n_dirs],
            unmarked: vec![false; n_dirs],
            sequence: start.checkpoint,
            changed: true,
            needed: [None; 2],
            first_new: start.file + 1,
            takes_of: start.takes_of.clone(),
            lost_in: start.damaged.iter().copied().collect(),
            missing: start.missing.clone(),
        }
    }

    pub(super) fn changed(&mut self) {
        self.changed = true;
    }

    pub(super) fn lost_in(&mut self, file: u32) {
        self.lost_in.insert(file);
    }

    pub(super) fn wrote(&mut self, dir: usize, bytes: u64) {
        self.unmarked[dir] = true;
        let Some(FreeSpace { file_system, .. }) = self.free[dir] else { return };
        for free in self.free.iter_mut().flatten().filter(|free| free.file_system == file_system) {
            free.bytes = free.bytes.saturating_sub(bytes);
        }
    }

    /// Whether so many more bytes leave what must stay free.
    pub(super) fn check_space(&self, settings: &LogSettings, bytes: u64) -> Result<(), LogError> {
        self.check_free(settings.minimum_free_bytes.saturating_add(bytes))
    }

    /// Whether takes of so many events can be written. They may use what must stay free of puts, to its last bytes: events that
    /// nobody can take for good would be delivered again and again.
    pub(super) fn check_space_of_takes(&self, events: u32) -> Result<(), LogError> {
        self.check_free(LEFT_BY_TAKES + u64::from(events) * TAKE_LEN as u64)
    }

    fn check_free(&self, required: u64) -> Result<(), LogError> {
        let free = self.free.iter().flatten().map(|free| free.bytes).min().unwrap_or(u64::MAX);
        if free > required { Ok(()) } else { Err(LogError::NoSpace { free, required }) }
    }
}

impl Shared {
    /// Asks how much space is free. Where that cannot be told it is not limited: a write will tell.
    pub(super) fn look_at_space(&self) -> bool {
        let free: Vec<_> = self.settings.data_dirs.iter().map(|dir| self.disk.free_space(dir).ok()).collect();
        let mut state = self.state();
        let was_full = state.keep.check_space(&self.settings, 0).is_err();
        state.keep.free = free;
        was_full && state.keep.check_space(&self.settings, 0).is_ok()
    }

    /// Where space is short: leaves files that hold nothing that waits, so that they can go. Says whether a checkpoint would have
    /// files removed.
    pub(super) fn make_room(&self) -> bool {
        let mut state = self.state();
        if state.line.failed().is_some() || state.keep.check_space(&self.settings, 0).is_ok() {
            return false;
        }
        let oldest = state.queue.oldest_file();
        state.line.leave(oldest);
        state.would_remove_files()
    }

    /// Writes a watermark to each directory that has records behind its last one, if all is durable.
    pub(super) fn mark(&self) {
        let mut marks = Vec::new();
        {
            let mut state = self.state();
            if !state.line.is_idle() || state.line.failed().is_some() {
                return;
            }
            for dir in 0..self.settings.data_dirs.len() {
                if std::mem::take(&mut state.keep.unmarked[dir]) {
                    let ticket = state.place(dir, &mark_lens(&self.settings));
                    state.keep.unmarked[dir] = false;
                    marks.push((dir, ticket));
                }
            }
        }
        for (dir, ticket) in marks {
            self.hand_in(dir, &ticket, encode::mark(&ticket), Entry::Mark);
        }
    }

    /// Writes a checkpoint if anything has changed, and removes what neither it nor the one before needs.
    pub(super) fn checkpoint(&self) -> io::Result<()> {
        let checkpoint = {
            let mut state = self.state();
            let needless = !state.keep.changed && !state.would_remove_files();
            if needless || state.line.failed().is_some() {
                return Ok(());
            }
            state.keep.changed = false;
            state.keep.sequence += 1;
            self.snapshot(&state)
        };
        let dir = &self.settings.checkpoint_dir;
        if let Err(error) = checkpoint.write(&*self.disk, dir) {
            // The name may be that of the new one or of the old one: neither is counted on for removing files.
            let mut state = self.state();
            state.keep.needed = [None; 2];
            state.keep.changed = true;
            return Err(error);
        }
        let old = {
            let mut state = self.state();
            let needed = checkpoint.oldest_file().unwrap_or(checkpoint.file + 1);
            state.keep.needed[usize::from(checkpoint.sequence % 2 == 1)] = Some(needed);
            self.not_needed(&state)
        };
        self.remove_files(&old)
    }

    /// What is true at the write-order id up to which all is durable. The queue changes under the same lock as that id.
    fn snapshot(&self, state: &State) -> Checkpoint {
        let counters = state.line.counters();
        let mut positions = Vec::new();
        for (dir, durable) in state.line.durable_places().into_iter().enumerate() {
            positions.extend(durable.filter(|_| !state.line.has_left(dir)));
            let from = durable.map_or(state.keep.first_new, |(file, _)| file + 1);
            let later = state.files.range(from..).filter(|(_, of)| **of == dir);
            positions.extend(later.map(|(file, _)| (*file, 0)));
        }
        let ahead = self.has(Bug::CheckpointAhead);
        let live = state.queue.live(!self.has(Bug::CheckpointWithoutLoans));
        let run = |(start, count, bytes): (Pointer, u32, u64)| Run { start, count, bytes };
        Checkpoint {
            sequence: state.keep.sequence,
            order: if ahead { counters.order } else { state.line.durable() },
            transaction: counters.transaction,
            file: counters.file,
            positions: if ahead { Vec::new() } else { positions },
            runs: live.into_iter().map(run).collect(),
            missing: state.keep.missing.clone(),
            damaged: state.keep.lost_in.iter().copied().collect(),
        }
    }

    /// Data files that hold nothing that waits, older than all that do, and that neither checkpoint needs.
    fn not_needed(&self, state: &State) -> Vec<(u32, usize)> {
        let mut keep = state.line.tails().min().unwrap_or(u32::MAX);
        if !self.has(Bug::RemoveLive) {
            keep = keep.min(state.queue.oldest_file().unwrap_or(u32::MAX));
        }
        if !self.has(Bug::RemoveEarly) && !self.has(Bug::RemoveLive) {
            let [Some(one), Some(other)] = state.keep.needed else { return Vec::new() };
            keep = keep.min(one).min(other);
        }
        let all: Vec<(u32, usize)> = state.files.range(..keep).map(|(file, dir)| (*file, *dir)).collect();
        in_order(all, &state.keep.takes_of, keep)
    }

    /// Java removes its lock files at a clean stop, and so do we.
    pub(super) fn remove_lock_files(&self) {
        let dirs = std::iter::once(&self.settings.checkpoint_dir).chain(&self.settings.data_dirs);
        for dir in dirs {
            // One that is left behind harms nobody.
            let _ = self.disk.remove(&dir.join(LOCK_FILE));
        }
    }

    /// The oldest first: a younger one goes once the older one is durably gone.
    fn remove_files(&self, files: &[(u32, usize)]) -> io::Result<()> {
        for (file, dir) in files {
            let aside = self.state().keep.lost_in.contains(file);
            let data_dir = &self.settings.data_dirs[*dir];
            if aside {
                files::put_aside(&*self.disk, data_dir, *file)?;
            } else {
                files::remove(&*self.disk, data_dir, *file)?;
            }
            let mut state = self.state();
            state.files.remove(file);
            state.keep.lost_in.remove(file);
        }
        Ok(())
    }
}

impl State {
    /// Whether files are there that hold nothing that waits, and stay only as one of the checkpoints says otherwise.
    fn would_remove_files(&self) -> bool {
        let live = self.line.tails().chain(self.queue.oldest_file()).min();
        let needed = live.unwrap_or(self.line.counters().file + 1);
        let behind = self.keep.needed.iter().any(|by| by.is_none_or(|by| by < needed));
        behind && self.files.range(..needed).next().is_some()
    }
}

/// The oldest first, and a file whose takes name a younger one after that one; up to the first that must stay for that. A take
/// that is gone while its event is there would bring the event back.
fn in_order(all: Vec<(u32, usize)>, takes_of: &BTreeMap<u32, u32>, keep: u32) -> Vec<(u32, usize)> {
    let mut ordered: Vec<(u32, usize)> = Vec::with_capacity(all.len());
    for (file, dir) in all.iter().copied() {
        let named = takes_of.get(&file).copied().unwrap_or(file);
        if named >= keep {
            break;
        }
        let first: Vec<_> =
            all.iter().copied().filter(|(other, _)| *other > file && *other <= named).collect();
        for one in first.into_iter().rev().chain([(file, dir)]) {
            if !ordered.contains(&one) {
                ordered.push(one);
            }
        }
    }
    ordered
}
