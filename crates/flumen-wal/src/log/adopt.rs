//! Moves Java Flume's checkpoint aside once ours says what waits: Java, coming back, then reads the data files, and does not
//! believe a checkpoint that is older than they are.

use crate::{data_file::entries, disk::Disk};
use std::{io, path::Path};

/// Put behind the names of Java's files.
const ASIDE: &str = ".before-flumen";
/// Java's files, the one that makes a backup whole first.
const NAMES: [&str; 6] =
    ["backupComplete", "checkpoint", "checkpoint.meta", "checkpoint.snappy", "inflightputs", "inflighttakes"];
/// Scratch of Java's, which it makes anew at each start.
const SCRATCH: &str = "queueset";

/// Moves the files of the backup directory and then those of the checkpoint directory aside, durably. With a backup left
/// behind Java would restore it.
pub(super) fn move_aside(disk: &dyn Disk, dir: &Path, backup: Option<&Path>) -> io::Result<()> {
    for dir in backup.into_iter().chain([dir]) {
        let there = entries(disk, dir)?;
        let mut any = false;
        for name in NAMES.iter().filter(|name| there.iter().any(|entry| entry.name == **name)) {
            disk.rename(&dir.join(name), &dir.join(format!("{name}{ASIDE}")))?;
            disk.sync_dir(dir)?;
            any = true;
        }
        if there.iter().any(|entry| entry.name == SCRATCH) {
            disk.remove_all(&dir.join(SCRATCH))?;
            any = true;
        }
        if any {
            disk.sync_dir(dir)?;
        }
    }
    Ok(())
}
