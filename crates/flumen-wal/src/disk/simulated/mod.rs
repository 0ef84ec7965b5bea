//! A disk in memory that fails on purpose: power loss with torn and lost writes, calls that fail, a full disk, a write-back
//! whose error is told once and whose bytes are gone.
//!
//! It promises no more than POSIX does: a write lasts once its file is synced, a name once its directory is; before that
//! any part of either may be there after a power loss, in pieces of 512 bytes.

mod file;
mod state;

pub use state::Fault;

use super::{Disk, DiskFile, DiskLock, Entry, FreeSpace, Holders, Mode};
use file::{SimulatedFile, SimulatedLock};
use state::{Call, State};
use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A simulated disk. Clones are the same disk.
#[derive(Debug, Clone)]
pub struct SimulatedDisk(Arc<Mutex<State>>);

impl SimulatedDisk {
    /// An empty disk without a limit. What is random in a power loss follows from the seed.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(State::new(seed))))
    }

    /// Calls that change the disk, so far: writes, syncs, renames, removals, and openings that make a file.
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// Lets the changing call number `call` (the first ever is 0) fail in this way.
    pub fn fail_at(&self, call: u64, fault: Fault) {
        self.lock().faults.insert(call, fault);
    }

    /// Calls that change nothing, so far: openings of files that are there, lengths, reads, and lists.
    pub fn looks(&self) -> u64 {
        self.lock().looks
    }

    /// Lets the call number `look` of those that change nothing fail in this way.
    pub fn fail_look_at(&self, look: u64, fault: Fault) {
        self.lock().look_faults.insert(look, fault);
    }

    /// Lets each changing call fail with this chance out of a thousand, in a random way.
    pub fn fail_sometimes(&self, per_thousand: u32) {
        self.lock().fail_per_thousand = per_thousand;
    }

    /// Lets no planned call fail any more.
    pub fn forget_faults(&self) {
        let mut state = self.lock();
        state.faults.clear();
        state.look_faults.clear();
        state.fail_per_thousand = 0;
    }

    /// Lets syncs of the files and directories whose path is chosen do nothing, as a disk that lies, or a program that leaves
    /// them out.
    pub fn skip_syncs(&self, skips: fn(&str) -> bool) {
        self.lock().skips = Some(skips);
    }

    /// Cuts the power, and switches it on again: what was not synced is there in part or not at all. All files that
    /// are open, and all locks, are gone; whoever still holds one gets errors.
    pub fn lose_power(&self) {
        self.lock().lose_power();
    }

    /// Ends the process: what was written is there, but open files and locks are gone.
    pub fn end_process(&self) {
        self.lock().end_process();
    }

    /// Whether the power is off after [`Fault::PowerLoss`]: every call fails until `lose_power`.
    pub fn is_off(&self) -> bool {
        self.lock().off
    }

    /// Limits what may still be written, or lifts the limit.
    pub fn set_free_space(&self, bytes: Option<u64>) {
        self.lock().free = bytes;
    }

    /// Changes a file behind everybody's back, durably: what rots.
    ///
    /// # Panics
    /// There is no such file.
    pub fn damage(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        self.lock().damage(path, change);
    }

    /// What a file holds now.
    pub fn content(&self, path: &Path) -> Option<Vec<u8>> {
        self.lock().content(path)
    }

    /// All files, by path.
    pub fn files(&self) -> Vec<PathBuf> {
        self.lock().files()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of a test thread says nothing about the disk.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for SimulatedDisk {
    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.lock().create_dir_all(dir)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.lock().list(dir)
    }

    fn open(&self, path: &Path, mode: Mode) -> io::Result<Arc<dyn DiskFile>> {
        let (inode, seen, boot) = self.lock().open(path, mode)?;
        Ok(Arc::new(SimulatedFile::new(self.0.clone(), inode, seen, boot, mode)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.lock().rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.lock().remove(path)
    }

    fn remove_all(&self, path: &Path) -> io::Result<()> {
        self.lock().remove_all(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.lock().sync_dir(dir)
    }

    fn free_space(&self, _dir: &Path) -> io::Result<FreeSpace> {
        let state = self.lock();
        state.check_on()?;
        Ok(FreeSpace { file_system: 0, bytes: state.free.unwrap_or(u64::MAX) })
    }

    fn lock(&self, lock_file: &Path) -> io::Result<Option<Box<dyn DiskLock>>> {
        let mut state = SimulatedDisk::lock(self);
        if !state.exists(lock_file) {
            state.call(Call::Names)?;
        }
        let Some(boot) = state.take_lock(lock_file)? else { return Ok(None) };
        Ok(Some(Box::new(SimulatedLock::new(self.0.clone(), lock_file.to_owned(), boot))))
    }

    fn is_locked(&self, lock_file: &Path) -> io::Result<bool> {
        let state = self.lock();
        state.check_on()?;
        Ok(state.locks.contains(lock_file))
    }

    fn holders(&self, _dirs: &[&Path]) -> Holders {
        Holders::default()
    }
}
