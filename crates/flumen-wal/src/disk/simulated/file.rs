//! An open file and a held lock of the simulated disk.

use super::state::State;
use crate::disk::{DiskFile, DiskLock, Mode};
use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// What a write past the cache begins and ends with.
const BLOCK: usize = 512;

/// An open file description: it remembers how many write-back errors it has been told of.
#[derive(Debug)]
pub(super) struct SimulatedFile {
    disk: Arc<Mutex<State>>,
    inode: u64,
    seen_errors: AtomicU64,
    boot: u64,
    mode: Mode,
}

impl SimulatedFile {
    pub(super) fn new(disk: Arc<Mutex<State>>, inode: u64, seen: u64, boot: u64, mode: Mode) -> Self {
        Self { disk, inode, seen_errors: AtomicU64::new(seen), boot, mode }
    }

    fn disk(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        state.check_on()?;
        if state.boot != self.boot {
            return Err(io::Error::other("this file was open in a process that has ended"));
        }
        Ok(state)
    }

    fn disk_to_write(&self) -> io::Result<MutexGuard<'_, State>> {
        if matches!(self.mode, Mode::Read | Mode::ReadDirect) {
            return Err(io::Error::from_raw_os_error(nix::libc::EBADF));
        }
        self.disk()
    }
}

impl DiskFile for SimulatedFile {
    fn len(&self) -> io::Result<u64> {
        let mut state = self.disk()?;
        state.look()?;
        Ok(state.file(self.inode).content.len() as u64)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut state = self.disk()?;
        state.look()?;
        let content = &state.file(self.inode).content;
        let at = usize::try_from(at).map_err(io::Error::other)?.min(content.len());
        let n = into.len().min(content.len() - at);
        into[..n].copy_from_slice(&content[at..at + n]);
        Ok(n)
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let is_whole = |n: usize| n.is_multiple_of(BLOCK);
        let whole = is_whole(at as usize) && is_whole(bytes.len()) && is_whole(bytes.as_ptr().addr());
        if self.mode == Mode::Direct && !whole {
            return Err(io::Error::from_raw_os_error(nix::libc::EINVAL));
        }
        self.disk_to_write()?.write(self.inode, at, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk_to_write()?.set_len(self.inode, len)
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk()?;
        let result = state.sync(self.inode);
        let errors = state.file(self.inode).write_back_errors;
        if errors > self.seen_errors.swap(errors, Ordering::Relaxed) {
            return Err(io::Error::from_raw_os_error(nix::libc::EIO));
        }
        result
    }
}

/// A lock that is held until it is dropped, or until the process of its time ends.
#[derive(Debug)]
pub(super) struct SimulatedLock {
    disk: Arc<Mutex<State>>,
    path: PathBuf,
    boot: u64,
}

impl SimulatedLock {
    pub(super) fn new(disk: Arc<Mutex<State>>, path: PathBuf, boot: u64) -> Self {
        Self { disk, path, boot }
    }
}

impl DiskLock for SimulatedLock {
    fn is_current(&self) -> bool {
        let state = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        state.boot == self.boot && state.exists(&self.path)
    }
}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        let mut state = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        if state.boot == self.boot {
            state.locks.remove(&self.path);
        }
    }
}
