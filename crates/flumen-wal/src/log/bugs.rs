//! Mistakes that can be switched on in tests, to show that the crash tests would find them. None exists outside of tests.

use super::work::Written;
use crate::{
    committer::write_joined,
    disk::{Disk, DiskFile, Mode},
};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// A deliberate mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bug {
    /// A failed write is answered as if it had worked.
    FailedWriteIsFine,
    /// A failed sync is tried again, and believed when it then works.
    SyncAgain,
    /// What could not be written is written to another file, and answered.
    WriteElsewhere,
    /// All writes to a file and their syncs go through one open file description.
    SharedDescription,
    /// Takes go on after a failure.
    TakesGoOn,
    /// Puts go on after a failure: they are answered, and never written.
    PutsGoOn,
    /// Events can be taken before their put is durable.
    VisibleBeforeDurable,
    /// A record's watermark names its own write-order id.
    WatermarkAhead,
    /// Data files are removed although they hold events that wait.
    RemoveLive,
    /// Data files are removed although a checkpoint still needs them.
    RemoveEarly,
    /// A checkpoint says more than is durable.
    CheckpointAhead,
    /// A checkpoint leaves out what is on loan.
    CheckpointWithoutLoans,
    /// What recovery decided is not written down.
    NotSettled,
    /// What recovery believed is not made durable.
    NotFirm,
    /// Recovery begins to number records anew.
    OldNumbers,
    /// Who hands a run in wakes no worker.
    QuietHandIn,
}

/// The mistake of this log, if it has one.
#[derive(Debug, Default)]
pub(super) struct Bugs {
    pub(super) bug: Option<Bug>,
    /// For [`Bug::SharedDescription`].
    files: Mutex<BTreeMap<PathBuf, Arc<dyn DiskFile>>>,
}

impl Bugs {
    pub(super) fn new(bug: Option<Bug>) -> Self {
        Self { bug, files: Mutex::default() }
    }

    pub(super) fn has(&self, bug: Bug) -> bool {
        cfg!(test) && self.bug == Some(bug)
    }

    /// The one description of a file. `None`: each write has its own, as it should.
    pub(super) fn shared_file(&self, disk: &dyn Disk, path: &Path) -> Option<io::Result<Arc<dyn DiskFile>>> {
        if !self.has(Bug::SharedDescription) {
            return None;
        }
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        Some(match files.get(path) {
            Some(file) => Ok(file.clone()),
            None => {
                disk.open(path, Mode::Write).inspect(|file| _ = files.insert(path.to_owned(), file.clone()))
            }
        })
    }

    /// What is done after a failed write or sync: nothing but telling it.
    pub(super) fn after_failure(&self, disk: &dyn Disk, of: &Written, error: io::Error) -> io::Result<()> {
        if self.has(Bug::FailedWriteIsFine) {
            return Ok(());
        }
        if self.has(Bug::SyncAgain) {
            return disk.open(&of.path, Mode::Write)?.sync();
        }
        if self.has(Bug::WriteElsewhere) {
            let mut path = of.path.clone().into_os_string();
            path.push("0000");
            let file = disk.open(Path::new(&path), Mode::Replace)?;
            write_joined(&file, 0, &of.buffers)?;
            file.sync()?;
            return of.path.parent().map_or(Ok(()), |dir| disk.sync_dir(dir));
        }
        Err(error)
    }
}
