//! Writes down what a replay decided, so that every later one decides the same, and so that Java can read the files.
//!
//! Before bytes that were damaged are written over, they are kept in a `quarantine-N` beside the data file.

use crate::{
    data_file::{entries, file_name},
    disk::{Disk, Mode, fill, write_whole},
    record::{OP_END, noop, pad_head},
};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

/// How much of damaged bytes is kept at one opening, for each directory. What is more stays where it is.
pub const MAX_QUARANTINE: u64 = 64 << 20;
/// How much is written at once.
const PIECE: usize = 1 << 20;

/// A change to the files of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// A stretch becomes a no-op record: its first 17 bytes change, or 5 where it is shorter.
    Noop {
        /// The data file.
        file: PathBuf,
        /// First byte.
        at: u64,
        /// Byte behind.
        end: u64,
        /// Whether its bytes are kept first.
        keep: bool,
    },
    /// What is left of a file becomes fill.
    Fill {
        /// The data file.
        file: PathBuf,
        /// First byte.
        at: u64,
        /// Byte behind.
        end: u64,
        /// Whether its bytes are kept first.
        keep: bool,
    },
    /// A file gets its name.
    Rename {
        /// The name that it has.
        from: PathBuf,
        /// The name that it should have.
        to: PathBuf,
    },
    /// A small file that is missing is written.
    Write {
        /// Its name.
        file: PathBuf,
        /// What it holds.
        bytes: Vec<u8>,
    },
}

/// Carries out the edits, and makes them durable. After a failure, or a stop in the middle, a replay comes to the same answer,
/// and the edits are made again.
///
/// # Errors
/// What the disk says.
pub fn settle(disk: &dyn Disk, edits: &[Edit]) -> io::Result<()> {
    let kept = quarantine(disk, edits)?;
    let mut by_file: BTreeMap<&Path, Vec<(u64, u64, bool)>> = BTreeMap::new();
    for (edit, kept) in edits.iter().zip(kept) {
        match edit {
            Edit::Noop { file, at, end, .. } if kept => {
                by_file.entry(file).or_default().push((*at, *end, false))
            }
            Edit::Fill { file, at, end, .. } if kept => {
                by_file.entry(file).or_default().push((*at, *end, true))
            }
            Edit::Noop { .. } | Edit::Fill { .. } => {}
            Edit::Rename { from, to } => {
                disk.rename(from, to)?;
                sync_parent(disk, to)?;
            }
            Edit::Write { file, bytes } => write_whole(disk, file, &file.with_extension("tmp"), bytes)?,
        }
    }
    for (path, mut stretches) in by_file {
        // From the back: what makes a run whole, its commit, goes first.
        stretches.sort_unstable_by(|one, other| other.cmp(one));
        let file = disk.open(path, Mode::Write)?;
        for (at, end, fills) in stretches {
            if fills {
                let piece = vec![OP_END; PIECE.min((end - at) as usize)];
                let mut from = at;
                while from < end {
                    let n = piece.len().min((end - from) as usize);
                    file.write_at(from, &piece[..n])?;
                    from += n as u64;
                }
            } else if let Some(head) = pad_head(end - at) {
                file.write_at(at, &head)?;
            } else if let Some(head) = noop(end - at) {
                file.write_at(at, &head)?;
            }
        }
        file.sync()?;
    }
    Ok(())
}

/// Keeps the bytes of damage. Says for each edit whether it may be made.
fn quarantine(disk: &dyn Disk, edits: &[Edit]) -> io::Result<Vec<bool>> {
    let mut may = vec![true; edits.len()];
    let mut by_dir: BTreeMap<&Path, Vec<usize>> = BTreeMap::new();
    for (i, edit) in edits.iter().enumerate() {
        if let Edit::Noop { file, keep: true, .. } | Edit::Fill { file, keep: true, .. } = edit {
            by_dir.entry(file.parent().unwrap_or(Path::new("."))).or_default().push(i);
        }
    }
    for (dir, indices) in by_dir {
        let mut out = Vec::new();
        for i in indices {
            let (Edit::Noop { file, at, end, .. } | Edit::Fill { file, at, end, .. }) = &edits[i] else {
                continue;
            };
            if out.len() as u64 + (end - at) > MAX_QUARANTINE {
                may[i] = false;
                continue;
            }
            let mut bytes = vec![0; (end - at) as usize];
            let n_read = fill(&*disk.open(file, Mode::Read)?, *at, &mut bytes)?;
            bytes.truncate(n_read);
            // The fill at the end says nothing.
            let len = bytes.iter().rposition(|byte| *byte != OP_END).map_or(0, |last| last + 1);
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            out.extend_from_slice(format!("{name} at {at}, {len} bytes:\n").as_bytes());
            out.extend_from_slice(&bytes[..len]);
            out.push(b'\n');
        }
        let path = dir.join(format!("quarantine-{}", next_number(disk, dir)?));
        write_whole(disk, &path, &dir.join("quarantine.tmp"), &out)?;
    }
    Ok(may)
}

fn next_number(disk: &dyn Disk, dir: &Path) -> io::Result<u32> {
    let number = |name: &str| name.strip_prefix("quarantine-").and_then(|digits| digits.parse::<u32>().ok());
    let highest = entries(disk, dir)?.iter().filter_map(|entry| number(&entry.name)).max();
    Ok(highest.unwrap_or(0).saturating_add(1))
}

fn sync_parent(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |dir| disk.sync_dir(dir))
}

/// The name that a data file gets whose number another one has.
pub(super) fn aside_name(path: &Path, number: u32) -> PathBuf {
    path.with_file_name(format!("duplicate-{}", file_name(number)))
}
