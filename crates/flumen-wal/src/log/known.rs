//! What is known of a log before its data files are read: the checkpoints, ours and Java Flume's, and which of them counts.

use crate::{
    checkpoint::Checkpoint,
    data_file::{self, entries},
    disk::{Disk, Mode},
    java_checkpoint::{self, Invalid, JavaCheckpoint},
    replay::Start,
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// In a data directory: its files were changed by somebody who knew of no checkpoint, and ours does not count any more.
const REWRITTEN: &str = "flumen-rewritten";

/// What is known of a log.
#[derive(Debug)]
pub struct Known {
    /// Java's checkpoint, or why it does not count.
    pub java: Result<JavaCheckpoint, Invalid>,
    /// Whether Java ran on the directories since ours was written: it has left a checkpoint, valid or not.
    pub from_java: bool,
    /// Whether data files were changed by somebody who knew of no checkpoint.
    pub rewritten: bool,
    /// Whether data files are there again that were missing when ours was written: it does not reflect them.
    pub come_back: bool,
    /// Sequence number of our youngest checkpoint, whether it counts or not.
    pub sequence: u64,
    ours: Option<Checkpoint>,
}

impl Known {
    /// Reads the checkpoints.
    ///
    /// # Errors
    /// The disk cannot read a file that is there.
    pub fn read(
        disk: &dyn Disk,
        dir: &Path,
        backup: Option<&Path>,
        data_dirs: &[PathBuf],
    ) -> io::Result<Self> {
        let ours = Checkpoint::read_all(disk, dir)?.into_iter().next();
        let mut rewritten = false;
        for dir in data_dirs {
            rewritten |= entries(disk, dir)?.iter().any(|entry| entry.name == REWRITTEN);
        }
        let missing = ours.as_ref().map_or(&[][..], |checkpoint| &checkpoint.missing);
        let come_back = !missing.is_empty()
            && data_file::list(disk, data_dirs)?.iter().any(|file| missing.contains(&file.number));
        Ok(Self {
            come_back,
            java: java_checkpoint::read(disk, dir, backup)?,
            from_java: java_checkpoint::is_there(disk, dir)?,
            rewritten,
            sequence: ours.as_ref().map_or(0, |checkpoint| checkpoint.sequence),
            ours,
        })
    }

    /// What a replay begins with.
    pub fn start(&self) -> Start<'_> {
        if self.from_java {
            return self.java.as_ref().map_or(Start::Nothing, Start::Java);
        }
        self.ours().map_or(Start::Nothing, Start::Ours)
    }

    /// Our checkpoint, if it counts.
    pub fn ours(&self) -> Option<&Checkpoint> {
        self.ours.as_ref().filter(|_| !self.from_java && !self.rewritten && !self.come_back)
    }

    /// Our checkpoint, unless Java ran since: also where it does not reflect all that is there.
    pub(super) fn written(&self) -> Option<&Checkpoint> {
        self.ours.as_ref().filter(|_| !self.from_java)
    }

    /// Data files that were missing when our checkpoint was written, and files with events that could not be read.
    pub(super) fn missing_and_damaged(&self) -> (&[u32], &[u32]) {
        self.written().map_or((&[], &[]), |checkpoint| (&checkpoint.missing, &checkpoint.damaged))
    }
}

/// Notes that files of a data directory are about to be changed by somebody who knows of no checkpoint.
pub(crate) fn mark_rewritten(disk: &dyn Disk, dir: &Path) -> io::Result<()> {
    disk.open(&dir.join(REWRITTEN), Mode::Replace)?.sync()?;
    disk.sync_dir(dir)
}

/// Forgets that, once no checkpoint is there that could be wrong.
pub(super) fn unmark(disk: &dyn Disk, data_dirs: &[PathBuf]) -> io::Result<()> {
    for dir in data_dirs {
        if entries(disk, dir)?.iter().any(|entry| entry.name == REWRITTEN) {
            disk.remove(&dir.join(REWRITTEN))?;
            disk.sync_dir(dir)?;
        }
    }
    Ok(())
}
