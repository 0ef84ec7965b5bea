//! What a log is told when it starts.

use crate::{committer::Counters, place::Run};
use std::{fmt, path::PathBuf};

/// The settings of a log.
#[derive(Debug, Clone)]
pub struct LogSettings {
    /// Where our checkpoints are.
    pub checkpoint_dir: PathBuf,
    /// Where the data files are; at least one.
    pub data_dirs: Vec<PathBuf>,
    /// Bytes of a data file; at most 2 GiB, which is what Java can address.
    pub max_file_bytes: u64,
    /// Bytes that must stay free below each data directory.
    pub minimum_free_bytes: u64,
    /// Bytes that copies of events may take in memory.
    pub memory_bytes: u64,
    /// Writes with their syncs that are in flight in each data directory.
    pub writes_in_flight: usize,
    /// For the names of threads.
    pub name: String,
}

/// Where recovery has ended.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The highest transaction id.
    pub transaction: u64,
    /// The highest write-order id.
    pub order: u64,
    /// The highest file number.
    pub file: u32,
    /// The events that wait, in the order of delivery.
    pub runs: Vec<Run>,
    /// The data files that are there, each with the position of its directory.
    pub files: Vec<(u32, usize)>,
    /// The sequence number of the youngest checkpoint of ours.
    pub checkpoint: u64,
    /// Now, in the caller's time.
    pub since: u64,
}

impl Start {
    pub(super) fn counters(&self) -> Counters {
        Counters { transaction: self.transaction, order: self.order, file: self.file }
    }
}

/// Who wants to know what. All are called from the log's threads, without a lock.
pub struct Hooks {
    /// Events have come into memory, and can be taken.
    pub readable: Box<dyn Fn() + Send + Sync>,
    /// The log has failed, and refuses everything from now on. Called once.
    pub failed: Box<dyn Fn() + Send + Sync>,
    /// So many events could not be read any more, and are lost.
    pub lost: Box<dyn Fn(u32) + Send + Sync>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooks")
    }
}
