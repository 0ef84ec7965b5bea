//! Notices a data directory whose disk is not mounted, before its events are given up as lost.
//!
//! A single file that has gone is a loss, and the rest is delivered. But where events wait in files that are nowhere, and a
//! directory has none of the files that the checkpoint knows, the files will be back with their disk. Going on without them would
//! have the next checkpoint forget their events, and the files be deleted when they come back.

use super::OpenError;
use crate::{checkpoint::Checkpoint, data_file, disk::Disk};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// Compares what the checkpoint says with the data files that are there.
pub(super) fn check(
    disk: &dyn Disk,
    checkpoint_dir: &Path,
    data_dirs: &[PathBuf],
    checkpoint: &Checkpoint,
) -> Result<(), OpenError> {
    let mut missing: BTreeMap<u32, u64> = BTreeMap::new();
    for run in &checkpoint.runs {
        *missing.entry(run.start.file).or_default() += u64::from(run.count);
    }
    let listed = data_file::list(disk, data_dirs).map_err(OpenError::disk(checkpoint_dir))?;
    let known = listed.iter().filter(|file| file.number <= checkpoint.file);
    let with_files: BTreeSet<usize> = known.map(|file| file.dir).collect();
    listed.iter().for_each(|file| {
        missing.remove(&file.number);
    });
    let empty = data_dirs.iter().enumerate().find(|(dir, _)| !with_files.contains(dir));
    match empty {
        Some((_, dir)) if !missing.is_empty() => Err(OpenError::WithoutFiles {
            dir: dir.clone(),
            n_files: missing.len(),
            events: missing.values().sum(),
            checkpoint_dir: checkpoint_dir.to_owned(),
        }),
        _ => Ok(()),
    }
}
