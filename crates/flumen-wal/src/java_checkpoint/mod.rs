//! Java Flume's checkpoint: which events waited, which were on their way in or out, and up to which write-order id that holds.
//!
//! It is read and never written. Where it is valid, adopting a directory reads only what came after it and what waits; and it
//! knows of takes whose data file Java has deleted.

mod files;
mod inflight;

pub use files::{decode_meta, decode_ring};
pub use inflight::decode as decode_inflight;

use crate::{
    data_file::entries,
    disk::{Disk, read_whole},
    place::Pointer,
};
use std::{io, path::Path};

/// Slots before the ring: version, write-order id, two of version 2, marker, 1,024 counters of version 2.
pub(crate) const HEAD_SLOTS: u64 = 1029;
/// Where the counters begin.
pub(crate) const FIRST_COUNTER: u64 = 5;
/// The longest checkpoint that Java can write: its size is computed with 32 bits.
const MAX_CHECKPOINT: u64 = i32::MAX as u64;
/// The marker of a whole copy in the backup directory.
const BACKUP_COMPLETE: &str = "backupComplete";

/// What a valid checkpoint says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JavaCheckpoint {
    /// All records with a lower write-order id are reflected, none with a higher one.
    pub order: u64,
    /// What waited, in the order of delivery.
    pub queue: Vec<Pointer>,
    /// Puts that were neither committed nor rolled back, by transaction.
    pub puts: Vec<(u64, Vec<Pointer>)>,
    /// Takes that were neither committed nor rolled back, by transaction. They are not in the queue.
    pub takes: Vec<(u64, Vec<Pointer>)>,
    /// Whether it is the copy in the backup directory.
    pub from_backup: bool,
}

/// Why a checkpoint is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// There is none.
    #[error("there is none")]
    Missing,
    /// The agent stopped while it was writing it.
    #[error("it was not finished")]
    Unfinished,
    /// Its size, version or numbers are wrong.
    #[error("it is damaged")]
    Damaged,
    /// `checkpoint.meta` is missing, damaged or of another checkpoint.
    #[error("checkpoint.meta does not belong to it")]
    Meta,
    /// The checksum of `inflightputs` or `inflighttakes` is wrong.
    #[error("the list of open transactions is damaged")]
    InFlight,
}

/// Reads the checkpoint in `dir`, and where it is not valid, the whole copy in `backup`, as Java does. Its capacity is what
/// its size says: it need not be the channel's.
///
/// # Errors
/// The disk cannot read a file that is there. What is wrong with a checkpoint is the inner error: that of the first.
pub fn read(
    disk: &dyn Disk,
    dir: &Path,
    backup: Option<&Path>,
) -> io::Result<Result<JavaCheckpoint, Invalid>> {
    let first = read_dir(disk, dir)?;
    let (Err(_), Some(backup)) = (&first, backup) else { return Ok(first) };
    let complete = entries(disk, backup)?.iter().any(|entry| entry.name == BACKUP_COMPLETE);
    if !complete {
        return Ok(first);
    }
    let second = read_dir(disk, backup)?;
    Ok(second.map(|checkpoint| JavaCheckpoint { from_backup: true, ..checkpoint }).or(first))
}

/// Whether Java has left a checkpoint here, valid or not: it ran on this directory since its files were last moved aside.
///
/// # Errors
/// What the disk says.
pub fn is_there(disk: &dyn Disk, dir: &Path) -> io::Result<bool> {
    Ok(entries(disk, dir)?
        .iter()
        .any(|entry| matches!(entry.name.as_str(), "checkpoint" | "checkpoint.meta")))
}

fn read_dir(disk: &dyn Disk, dir: &Path) -> io::Result<Result<JavaCheckpoint, Invalid>> {
    let file = |name: &str| match read_whole(disk, &dir.join(name), MAX_CHECKPOINT) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {
            Ok(None)
        }
        Err(error) => Err(error),
    };
    let checkpoint = match file("checkpoint")? {
        Some(bytes) => Some(bytes),
        None => file("checkpoint.snappy")?.and_then(|bytes| files::unpack(&bytes, MAX_CHECKPOINT)),
    };
    let Some(checkpoint) = checkpoint else { return Ok(Err(Invalid::Missing)) };
    let meta = file("checkpoint.meta")?;
    let (puts, takes) = (file("inflightputs")?, file("inflighttakes")?);
    Ok(decode(&checkpoint, meta.as_deref(), puts.as_deref(), takes.as_deref()))
}

/// Puts the four files together.
///
/// # Errors
/// One of them is damaged or unfinished, or they do not belong together.
pub fn decode(
    checkpoint: &[u8],
    meta: Option<&[u8]>,
    puts: Option<&[u8]>,
    takes: Option<&[u8]>,
) -> Result<JavaCheckpoint, Invalid> {
    let (order, queue) = decode_ring(checkpoint, meta)?;
    let open = |bytes: Option<&[u8]>| match bytes {
        None => Ok(Vec::new()),
        // Java makes the files empty, and writes them before it writes its first checkpoint.
        Some([]) if order == 0 => Ok(Vec::new()),
        Some(bytes) => decode_inflight(bytes).ok_or(Invalid::InFlight),
    };
    Ok(JavaCheckpoint { order, queue, puts: open(puts)?, takes: open(takes)?, from_backup: false })
}

#[cfg(test)]
mod tests;
