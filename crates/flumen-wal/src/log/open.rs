//! Opens a log: locks its directories, finds out what is there, and starts.

use super::{Hooks, Log, LogSettings, Start};
use crate::{
    data_file::{self, DataFile},
    disk::{self, Disk, DiskLock, Holder},
    place::{Pointer, Run},
    record::{self, Body, FRAME_LEN, Frame, Of},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The lock file of a directory, by Java Flume's name.
const LOCK_FILE: &str = "in_use.lock";

/// Why a log is not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another channel or program has the directory.
    #[error(
        "{dir} is locked by another channel or program: give each channel directories of its own, or stop the other one"
    )]
    Locked {
        /// The directory.
        dir: PathBuf,
    },
    /// A process has files open there, without a lock: Java Flume, most likely.
    #[error("process {pid} ({name}) has {file} open: stop it first; two programs on one directory ruin it")]
    InUse {
        /// Its process id.
        pid: u32,
        /// Its name.
        name: String,
        /// The file.
        file: PathBuf,
    },
    /// The disk refuses.
    #[error("{path}: {source}")]
    Disk {
        /// What was looked at.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl OpenError {
    fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Disk { path: path.to_owned(), source }
    }
}

/// Opens the log in these directories, which are made where they are missing. `since` is now, in the caller's time.
///
/// # Errors
/// Somebody else uses a directory, or the disk refuses.
pub fn open(disk: Arc<dyn Disk>, settings: LogSettings, hooks: Hooks, since: u64) -> Result<Log, OpenError> {
    let locks = lock(&*disk, &settings)?;
    let start = Start { since, ..recover(&*disk, &settings)? };
    let dir = settings.checkpoint_dir.clone();
    Log::start(disk, settings, start, locks, hooks).map_err(OpenError::disk(&dir))
}

/// Locks all directories, and looks for programs that use them without a lock.
fn lock(disk: &dyn Disk, settings: &LogSettings) -> Result<Vec<Box<dyn DiskLock>>, OpenError> {
    let mut locks = Vec::new();
    let dirs: Vec<&Path> =
        std::iter::once(&settings.checkpoint_dir).chain(&settings.data_dirs).map(PathBuf::as_path).collect();
    for dir in &dirs {
        disk.create_dir_all(dir).map_err(OpenError::disk(dir))?;
        let lock = disk.lock(&dir.join(LOCK_FILE)).map_err(OpenError::disk(dir))?;
        locks.push(lock.ok_or_else(|| OpenError::Locked { dir: (*dir).to_owned() })?);
    }
    match disk.holders(&dirs).seen.into_iter().next() {
        Some(Holder { pid, name, file }) => Err(OpenError::InUse { pid, name, file }),
        None => Ok(locks),
    }
}

/// Finds what waits by reading all records.
fn recover(disk: &dyn Disk, settings: &LogSettings) -> Result<Start, OpenError> {
    let mut start = Start::default();
    let mut puts: BTreeMap<u64, Vec<(Pointer, u64)>> = BTreeMap::new();
    let mut takes: BTreeMap<u64, Vec<Pointer>> = BTreeMap::new();
    let mut commits = BTreeMap::new();
    let mut all_puts: BTreeMap<Pointer, u64> = BTreeMap::new();
    let listed =
        data_file::list(disk, &settings.data_dirs).map_err(OpenError::disk(&settings.checkpoint_dir))?;
    for DataFile { number: file, dir, path, .. } in listed {
        {
            start.files.push((file, dir));
            start.file = start.file.max(file);
            let bytes = disk::read_whole(disk, &path, u64::MAX).map_err(OpenError::disk(&path))?;
            let mut at = 0;
            while let Frame::Record(len) | Frame::Noop(len) = record::frame(&bytes[at..]) {
                let Some(whole) = bytes.get(at..at + FRAME_LEN + len as usize) else { break };
                if let Ok(record) = record::check(whole) {
                    let stamp = record.stamp;
                    start.order = start.order.max(stamp.order);
                    start.transaction = start.transaction.max(stamp.transaction);
                    let place = Pointer { file, offset: at as u32 };
                    match record.body {
                        Body::Put { body, .. } => {
                            all_puts.insert(place, body.len() as u64);
                            puts.entry(stamp.transaction).or_default().push((place, body.len() as u64));
                        }
                        Body::Take(place) => takes.entry(stamp.transaction).or_default().push(place),
                        Body::Commit(of) => drop(commits.insert(stamp.order, (stamp.transaction, of))),
                        Body::Rollback => {}
                    }
                }
                at += whole.len();
            }
        }
    }
    let taken: BTreeSet<Pointer> = commits
        .values()
        .filter(|(_, of)| *of == Of::Takes)
        .flat_map(|(transaction, _)| takes.remove(transaction).unwrap_or_default())
        .collect();
    let mut last: Option<Pointer> = None;
    for (transaction, _) in commits.values().filter(|(_, of)| *of == Of::Puts) {
        for (place, bytes) in puts.remove(transaction).unwrap_or_default() {
            if taken.contains(&place) {
                continue;
            }
            let before = all_puts.range(..place).next_back().map(|(place, _)| *place);
            let follows =
                last.is_some() && before == last && last.is_some_and(|last| last.file == place.file);
            last = Some(place);
            match start.runs.last_mut().filter(|_| follows) {
                Some(run) => (run.count, run.bytes) = (run.count + 1, run.bytes + bytes),
                None => start.runs.push(Run { start: place, count: 1, bytes }),
            }
        }
    }
    Ok(start)
}
