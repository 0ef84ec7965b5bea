//! What a worker does with the disk: one write and one sync, or a new file. Nothing is done twice.

use crate::disk::{Disk, DiskFile, Mode};
use bytes::Bytes;
use std::{io, path::Path, sync::Arc};

/// Buffers shorter than this are joined before they are written.
const JOIN_BYTES: usize = 128 << 10;

/// Work for a worker.
#[derive(Debug)]
pub(crate) enum Job {
    /// A data file is to be made.
    Create(NewFile),
    /// Runs are to be written to a file that has been made, and synced.
    Write {
        /// Position of the directory.
        dir: usize,
        /// Number of the data file.
        file: u32,
        /// Where the first buffer goes; the others follow.
        at: u64,
        /// They have whole blocks, in memory and in the file.
        direct: bool,
        /// Bytes of the parts.
        buffers: Vec<Bytes>,
        /// Slot and part of each buffer.
        parts: Vec<(u64, usize)>,
    },
}

/// A data file that does not exist yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewFile {
    /// Position of the directory.
    pub(crate) dir: usize,
    /// Its number.
    pub(crate) file: u32,
}

/// A job that has worked.
#[derive(Debug)]
pub(crate) enum Done {
    /// File, meta and their names are durable.
    Created(NewFile),
    /// These parts are durable.
    Written {
        /// Slot and part.
        parts: Vec<(u64, usize)>,
    },
}

/// Opens a file and writes buffers end to end; syncing what is returned makes them durable. It is opened here, before the
/// write, so that a failed write-back of any of its pages from now on is told to that sync, whoever else syncs the file
/// meanwhile.
///
/// `direct`: the buffers are whole blocks, and are written past the system's cache.
pub(crate) fn write(
    disk: &dyn Disk,
    path: &Path,
    at: u64,
    direct: bool,
    buffers: &[Bytes],
) -> io::Result<Arc<dyn DiskFile>> {
    let file = disk.open(path, if direct { Mode::Direct } else { Mode::Write })?;
    if direct {
        let parts: Vec<&[u8]> = buffers.iter().map(|buffer| &buffer[..]).collect();
        file.write_all_at(at, &parts)?;
    } else {
        write_joined(&file, at, buffers)?;
    }
    Ok(file)
}

/// Writes buffers end to end. Small ones are joined; a large one is written as it is, so that its bytes are copied once only.
pub(crate) fn write_joined(file: &Arc<dyn DiskFile>, mut at: u64, buffers: &[Bytes]) -> io::Result<()> {
    let mut joined: Vec<u8> = Vec::new();
    let mut write = |bytes: &[u8]| -> io::Result<()> {
        if !bytes.is_empty() {
            file.write_at(at, bytes)?;
            at += bytes.len() as u64;
        }
        Ok(())
    };
    for buffer in buffers {
        if buffer.len() >= JOIN_BYTES {
            write(&joined)?;
            joined.clear();
            write(buffer)?;
            continue;
        }
        joined.extend_from_slice(buffer);
        if joined.len() >= JOIN_BYTES {
            write(&joined)?;
            joined.clear();
        }
    }
    write(&joined)
}
