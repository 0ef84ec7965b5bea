//! A disk in memory that runs full and fails when told to.

use super::super::disk::{Disk, OutFile};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

#[derive(Debug, Clone, Default)]
pub(super) struct FaultyDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) files: BTreeMap<PathBuf, Vec<u8>>,
    /// Files that somebody has removed while they are open.
    pub(super) removed: BTreeSet<PathBuf>,
    /// Bytes that still fit; `None` is no limit.
    pub(super) room: Option<usize>,
    pub(super) fail_create: bool,
    pub(super) fail_truncate: bool,
    pub(super) fail_sync: bool,
    /// Syncs of files and of the directory that worked.
    pub(super) syncs: (u32, u32),
}

impl FaultyDisk {
    pub(super) fn set<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }

    /// The contents of all files, by name.
    pub(super) fn texts(&self) -> Vec<String> {
        self.set(|state| {
            state.files.values().map(|bytes| String::from_utf8(bytes.clone()).unwrap()).collect()
        })
    }
}

struct MemoryFile(FaultyDisk, PathBuf);

fn failed(what: &str) -> io::Error {
    io::Error::other(what.to_owned())
}

impl Disk for FaultyDisk {
    fn create_new(&mut self, path: &Path, _synced: bool) -> io::Result<Box<dyn OutFile>> {
        self.set(|state| {
            if state.fail_create {
                return Err(failed("read-only"));
            }
            if state.files.contains_key(path) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            state.files.insert(path.to_owned(), Vec::new());
            Ok(())
        })?;
        Ok(Box::new(MemoryFile(self.clone(), path.to_owned())))
    }

    fn sync_dir(&mut self, _path: &Path) -> io::Result<()> {
        self.set(|state| state.syncs.1 += 1);
        Ok(())
    }
}

impl OutFile for MemoryFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.set(|state| {
            let fits = state.room.unwrap_or(usize::MAX).min(bytes.len());
            state.files.get_mut(&self.1).unwrap().extend_from_slice(&bytes[..fits]);
            state.room = state.room.map(|room| room - fits);
            if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        })
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.set(|state| {
            if state.fail_truncate {
                return Err(failed("no truncation"));
            }
            let file = state.files.get_mut(&self.1).unwrap();
            let cut = file.len() - usize::try_from(len).unwrap();
            file.truncate(file.len() - cut);
            state.room = state.room.map(|room| room + cut);
            Ok(())
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.set(|state| {
            if state.fail_sync {
                return Err(failed("i/o error"));
            }
            state.syncs.0 += 1;
            Ok(())
        })
    }

    fn is_removed(&self) -> bool {
        self.0.set(|state| state.removed.contains(&self.1))
    }
}
