//! Makes durable what recovery has believed. After a crash of the program bytes can be in the system's cache only; after a failed
//! write-back they can be there and marked as written. Both are seen by a replay, and neither need survive a loss of power. So
//! the last bytes are written once more, the same to the same place, and synced.

use super::LogSettings;
use crate::{
    checkpoint::Checkpoint,
    data_file::DataFile,
    disk::{Disk, Mode, fill},
};
use std::io;

/// Bytes that are written once more, at most, for each directory: more than can be in flight.
const MOST_BYTES: u64 = 64 << 20;
const PIECE: usize = 1 << 20;

/// Does so for each directory, from its youngest file back; what `known` has found durable is left alone.
pub(super) fn make_durable(
    disk: &dyn Disk,
    settings: &LogSettings,
    files: &[DataFile],
    known: Option<&Checkpoint>,
) -> io::Result<()> {
    for dir in 0..settings.data_dirs.len() {
        let mut left = MOST_BYTES;
        for file in files.iter().rev().filter(|file| file.dir == dir) {
            let from = known.map_or(0, |checkpoint| durable_up_to(checkpoint, file)).min(file.len);
            let from = from.max(file.len.saturating_sub(left));
            rewrite(disk, file, from)?;
            left -= file.len - from;
        }
        disk.sync_dir(&settings.data_dirs[dir])?;
    }
    Ok(())
}

fn durable_up_to(checkpoint: &Checkpoint, file: &DataFile) -> u64 {
    match checkpoint.positions.iter().find(|(number, _)| *number == file.number) {
        Some((_, at)) => *at,
        None if file.number <= checkpoint.file => file.len,
        None => 0,
    }
}

fn rewrite(disk: &dyn Disk, of: &DataFile, from: u64) -> io::Result<()> {
    if from == of.len {
        return Ok(());
    }
    let file = disk.open(&of.path, Mode::Write)?;
    let mut bytes = vec![0; PIECE.min(usize::try_from(of.len - from).unwrap_or(PIECE))];
    let mut at = from;
    while at < of.len {
        // What cannot be read cannot be made better here; recovery has said what it means.
        let Ok(n) = fill(&*file, at, &mut bytes) else { break };
        if n == 0 {
            break;
        }
        file.write_at(at, &bytes[..n])?;
        at += n as u64;
    }
    file.sync()
}
