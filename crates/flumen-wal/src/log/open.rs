//! Opens a log: locks its directories, finds out what waits, writes down what recovery decided, and starts.

use super::{
    Hooks, Log, LogSettings, Start, adopt,
    bugs::{Bug, Bugs},
    facts, firm,
    known::{self, Known},
    mounted,
};
use crate::{
    checkpoint::Checkpoint,
    data_file,
    disk::{Disk, DiskLock, Holder},
    replay::{self, Edit, Options, Recovered, ReplayError, Report},
};
use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The lock file of a directory, by Java Flume's name.
pub(crate) const LOCK_FILE: &str = "in_use.lock";

/// How a log is opened.
pub struct OpenOptions<'a> {
    /// Where Java Flume's second checkpoint may be.
    pub backup_dir: Option<&'a Path>,
    /// Whether directories that Java has left without a clean stop are taken although it cannot be seen who uses them.
    pub adopt: bool,
    /// Now, in the caller's time.
    pub since: u64,
    /// Milliseconds since 1970: new ids are above it, as Java Flume's are, and above all that are there. So the ids of two logs
    /// differ.
    pub clock_ms: u64,
    /// Told of bytes that have been read, and bytes that there are to read.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// A log that has been opened.
#[derive(Debug)]
pub struct Opened {
    /// The log.
    pub log: Log,
    /// What recovery found that was not as it should be.
    pub report: Report,
    /// Whether Java Flume has used the directories last.
    pub from_java: bool,
    /// Whether some processes could not be looked into.
    pub blind: bool,
}

/// Why a log is not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another channel or program has the directory.
    #[error(
        "{} is locked by {}: give each channel directories of its own, or stop the other one",
        dir.display(), name_of(by.as_ref())
    )]
    Locked {
        /// The directory.
        dir: PathBuf,
        /// Who has its lock file open, where another process can be seen to.
        by: Option<Holder>,
    },
    /// A process has files open there, without a lock: Java Flume, most likely.
    #[error("process {pid} ({name}) has {} open: stop it first; two programs on one directory ruin it", file.display())]
    InUse {
        /// Its process id.
        pid: u32,
        /// Its name.
        name: String,
        /// The file.
        file: PathBuf,
    },
    /// Java Flume may still run there, and it cannot be seen whether it does.
    #[error(
        "{} has a lock file that Java Flume has left, and not every process can be looked into: make sure that no Java \
         Flume uses it, and set `adopt = true` once",
        dir.display()
    )]
    MayBeInUse {
        /// The directory.
        dir: PathBuf,
    },
    /// Events wait in files that are nowhere, and a directory is empty: its disk may not be mounted.
    #[error(
        "{} has none of its data files, and {events} events wait in {n_files} files that are nowhere: is its disk mounted? \
         To go on without them for good, remove flumen-checkpoint-0 and flumen-checkpoint-1 from {}",
        dir.display(), checkpoint_dir.display()
    )]
    WithoutFiles {
        /// The directory.
        dir: PathBuf,
        /// How many files are missing.
        n_files: usize,
        /// How many events wait in them.
        events: u64,
        /// Where the checkpoint is that says so.
        checkpoint_dir: PathBuf,
    },
    /// The disk refuses.
    #[error("{}: {source}", path.display())]
    Disk {
        /// What was looked at.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What is there cannot be read, and nothing was changed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl OpenError {
    pub(super) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Disk { path: path.to_owned(), source }
    }
}

/// Opens the log in these directories, which are made where they are missing.
///
/// # Errors
/// Somebody else uses a directory, a key is missing or wrong, or the disk refuses. Opening again can work.
pub fn open(
    disk: Arc<dyn Disk>,
    mut settings: LogSettings,
    options: &mut OpenOptions<'_>,
    hooks: Hooks,
) -> Result<Opened, OpenError> {
    let dir = settings.checkpoint_dir.clone();
    let Prepared { start, report, locks, from_java, blind } =
        prepare(&*disk, &settings, options, &Bugs::default())?;
    settings.version_2.clone_from(&start.version_2);
    let log = Log::start(disk.clone(), settings, start, locks, hooks).map_err(OpenError::disk(&dir))?;
    if from_java {
        // Ours first, then Java's aside: at any moment one of the two tells what waits.
        log.checkpoint()
            .and_then(|()| adopt::move_aside(&*disk, &dir, options.backup_dir))
            .map_err(OpenError::disk(&dir))?;
    }
    Ok(Opened { log, report, from_java, blind })
}

/// Directories that are locked, read and settled.
pub(super) struct Prepared {
    pub(super) start: Start,
    pub(super) report: Report,
    pub(super) locks: Vec<Box<dyn DiskLock>>,
    from_java: bool,
    blind: bool,
}

pub(super) fn prepare(
    disk: &dyn Disk,
    settings: &LogSettings,
    options: &mut OpenOptions<'_>,
    bugs: &Bugs,
) -> Result<Prepared, OpenError> {
    let (locks, blind) = lock(disk, settings, options)?;
    let (start, report, from_java) = recover(disk, settings, options, bugs)?;
    Ok(Prepared { start, report, locks, from_java, blind })
}

/// Locks all directories, and looks for programs that use them without a lock.
fn lock(
    disk: &dyn Disk,
    settings: &LogSettings,
    options: &OpenOptions<'_>,
) -> Result<(Vec<Box<dyn DiskLock>>, bool), OpenError> {
    let dirs: Vec<&Path> =
        std::iter::once(&settings.checkpoint_dir).chain(&settings.data_dirs).map(PathBuf::as_path).collect();
    let mut left = None;
    for dir in &dirs {
        disk.create_dir_all(dir).map_err(OpenError::disk(dir))?;
        let there = disk.list(dir).map_err(OpenError::disk(dir))?.iter().any(|entry| entry.name == LOCK_FILE);
        left = left.or(there.then_some(*dir));
    }
    let (locks, blind) = hold(disk, &dirs)?;
    let dir = &settings.checkpoint_dir;
    let java = crate::java_checkpoint::is_there(disk, dir).map_err(OpenError::disk(dir))?;
    match left.filter(|_| blind && java && !options.adopt) {
        Some(dir) => Err(OpenError::MayBeInUse { dir: dir.to_owned() }),
        None => Ok((locks, blind)),
    }
}

/// Locks directories that are there, and looks for programs that use them without a lock. Says whether some processes could not
/// be looked into.
pub(crate) fn hold(disk: &dyn Disk, dirs: &[&Path]) -> Result<(Vec<Box<dyn DiskLock>>, bool), OpenError> {
    let mut locks = Vec::new();
    for dir in dirs {
        let lock = disk.lock(&dir.join(LOCK_FILE)).map_err(OpenError::disk(dir))?;
        locks.push(lock.ok_or_else(|| locked(disk, dir))?);
    }
    Ok((locks, holders(disk, dirs)?))
}

/// Whether nobody uses these directories now, as far as can be told without writing anything. Says whether some processes could
/// not be looked into.
///
/// # Errors
/// Somebody uses one, or it cannot be told.
pub fn check_unused(disk: &dyn Disk, dirs: &[&Path]) -> Result<bool, OpenError> {
    let blind = holders(disk, dirs)?;
    for dir in dirs {
        if disk.is_locked(&dir.join(LOCK_FILE)).map_err(OpenError::disk(dir))? {
            return Err(locked(disk, dir));
        }
    }
    Ok(blind)
}

fn locked(disk: &dyn Disk, dir: &Path) -> OpenError {
    let has_lock = |holder: &Holder| holder.file.file_name().is_some_and(|name| name == LOCK_FILE);
    let by = disk.holders(&[dir]).seen.into_iter().max_by_key(has_lock);
    OpenError::Locked { dir: dir.to_owned(), by }
}

fn name_of(by: Option<&Holder>) -> String {
    match by {
        Some(Holder { pid, name, .. }) => format!("process {pid} ({name})"),
        // One of this process, or of somebody whose files may not be looked at.
        None => "another channel or program".to_owned(),
    }
}

fn holders(disk: &dyn Disk, dirs: &[&Path]) -> Result<bool, OpenError> {
    let holders = disk.holders(dirs);
    match holders.seen.into_iter().next() {
        Some(Holder { pid, name, file }) => Err(OpenError::InUse { pid, name, file }),
        None => Ok(holders.blind),
    }
}

/// Finds what waits, and settles it on disk.
fn recover(
    disk: &dyn Disk,
    settings: &LogSettings,
    options: &mut OpenOptions<'_>,
    bugs: &Bugs,
) -> Result<(Start, Report, bool), OpenError> {
    let dir = &settings.checkpoint_dir;
    let none = |_: &str| None;
    let key: &dyn Fn(&str) -> Option<Vec<u8>> = match &settings.encryption {
        Some(keys) => &*keys.key,
        None => &none,
    };
    let known =
        Known::read(disk, dir, options.backup_dir, &settings.data_dirs).map_err(OpenError::disk(dir))?;
    let from_java = known.from_java;
    if let Some(checkpoint) = known.written() {
        mounted::check(disk, dir, &settings.data_dirs, checkpoint)?;
    }
    let mut reading = Options { dirs: &settings.data_dirs, key, progress: options.progress };
    let recovered = replay::replay(disk, &mut reading, known.start())?;
    if !matches!(known.start(), replay::Start::Nothing) {
        replay::check_keys(disk, &recovered)?;
    }
    let sequence = known.sequence;
    let loses_records = recovered.edits.iter().any(|edit| matches!(edit, Edit::Noop { keep: true, .. }));
    if from_java || known.rewritten || loses_records {
        // A run is known by its start and its count: once a record within it is none any more, ours says too much.
        Checkpoint::discard(disk, dir).map_err(OpenError::disk(dir))?;
        known::unmark(disk, &settings.data_dirs).map_err(OpenError::disk(dir))?;
    }
    let written = facts::write(disk, settings, &recovered).map_err(OpenError::disk(dir))?;
    if !bugs.has(Bug::NotSettled) {
        replay::settle(disk, &recovered.edits).map_err(OpenError::disk(dir))?;
    }
    let listed = data_file::list(disk, &settings.data_dirs).map_err(OpenError::disk(dir))?;
    let believed = known.ours().filter(|_| !recovered.report.foreign_checkpoint);
    if !bugs.has(Bug::NotFirm) {
        firm::make_durable(disk, settings, &listed, believed).map_err(OpenError::disk(dir))?;
    }
    let Recovered { runs, transaction, order, file, files, takes_of, foreign_files, report, .. } = recovered;
    let highest = data_file::highest_number(disk, &settings.data_dirs).map_err(OpenError::disk(dir))?;
    let (known_missing, damaged) = known.missing_and_damaged();
    let damaged = if report.foreign_checkpoint { &[] } else { damaged };
    let numbers: BTreeSet<u32> = listed.iter().map(|file| file.number).collect();
    let mut missing: BTreeSet<u32> = known_missing.iter().chain(&report.missing_files).copied().collect();
    missing.retain(|file| !numbers.contains(file));
    let file = file.max(missing.last().copied().unwrap_or(0));
    let start = Start {
        transaction: (transaction + written.transactions).max(options.clock_ms),
        order: if bugs.has(Bug::OldNumbers) { 0 } else { (order + written.records).max(options.clock_ms) },
        file: file.max(highest),
        runs,
        files: listed
            .into_iter()
            .filter(|file| !foreign_files.contains(&file.number))
            .map(|file| (file.number, file.dir))
            .collect(),
        takes_of,
        version_2: files.values().filter(|found| found.version == 2).map(|found| found.file.number).collect(),
        missing: missing.into_iter().collect(),
        damaged: damaged.to_vec(),
        checkpoint: sequence,
        since: options.since,
    };
    Ok((start, report, from_java))
}
