//! Repairs data files as Java Flume's integrity tool does (`flume-ng tool FCINTEGRITYTOOL`): what cannot be read becomes a no-op,
//! which every reader skips, and a file is copied to `log-N.bak` before it is changed.
//!
//! It knows no checkpoint and no keys. Where Java's tool changes one byte of a damaged record and stops at a damaged length, the
//! whole stretch up to the next record becomes one no-op here, and what is torn off at the end becomes fill.

use super::{Listed, list};
use crate::{
    data_file::{DataFile, Gap, GapKind, Item, Scanner},
    disk::{Disk, Mode, fill},
    log::{OpenError, hold, mark_rewritten},
    record::{Body, FRAME_LEN},
    replay::{Damaged, Edit, settle},
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// How much is copied at once.
const PIECE: usize = 1 << 20;
/// Stretches of one file that are changed in one run: a file that is damaged more often is repaired by running again.
const MAX_STRETCHES: usize = 1_000_000;

/// What the tool did. The counts are those of Java's summary.
#[derive(Debug, Clone, Default)]
pub struct Integrity {
    /// Records that were read, and for each file one more, as Java counts its end too.
    pub records: u64,
    /// Put records that were read.
    pub puts: u64,
    /// Damaged stretches that were found.
    pub corrupt: u64,
    /// Those stretches, the first hundred.
    pub damaged: Vec<Damaged>,
    /// The copies that were made.
    pub copies: Vec<PathBuf>,
    /// Files that were left as they are, and why.
    pub left: Vec<(PathBuf, Left)>,
    /// Whether some processes could not be looked into.
    pub blind: bool,
}

/// Why a file was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Left {
    /// Without its key nothing can be told of its records.
    #[error("it is encrypted with the key `{0}`")]
    Encrypted(String),
    /// Records of version 2 have no length: they cannot become no-ops.
    #[error("it is of version 2, whose records cannot be left out one by one")]
    Version2,
    /// Nothing in it is a record.
    #[error("it has no meta, and no record of it can be read")]
    Foreign,
    /// A stretch is shorter than a no-op, or the disk cannot read it.
    #[error("{0} damaged stretches of it cannot be written over")]
    Stretches(u64),
}

/// Looks through the data files of these directories, and repairs them.
///
/// # Errors
/// Somebody uses a directory, or the disk fails.
pub fn run(disk: &dyn Disk, dirs: &[PathBuf], progress: super::Progress<'_>) -> Result<Integrity, OpenError> {
    let paths: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
    let (locks, blind) = hold(disk, &paths)?;
    let mut done = Integrity { blind, ..Integrity::default() };
    for dir in dirs {
        let failed = |source| OpenError::Disk { path: dir.clone(), source };
        let listed = list(disk, std::slice::from_ref(dir)).map_err(failed)?;
        let total = listed.iter().map(|one| one.file.len).sum();
        let mut before = 0;
        for one in &listed {
            let path = &one.file.path;
            let mut tell = |at| progress(before + at, total);
            check_file(disk, one, &mut done, &mut tell)
                .map_err(|source| OpenError::Disk { path: path.clone(), source })?;
            before += one.file.len;
        }
    }
    for dir in dirs {
        // One that is left behind harms nobody.
        let _ = disk.remove(&dir.join(crate::log::LOCK_FILE));
    }
    drop(locks);
    Ok(done)
}

fn check_file(
    disk: &dyn Disk,
    one: &Listed,
    done: &mut Integrity,
    progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let DataFile { path, len, .. } = &one.file;
    let left = match one {
        Listed { encryption: Some(encryption), .. } => Some(Left::Encrypted(encryption.key_alias.clone())),
        Listed { version: 2, .. } => Some(Left::Version2),
        _ => None,
    };
    if let Some(left) = left {
        done.left.push((path.clone(), left));
        return Ok(());
    }
    if *len == 0 {
        return Ok(());
    }
    let mut scanner = Scanner::new(disk.open(path, Mode::Read)?, 0, None)?;
    let (mut gaps, mut records, mut told) = (Vec::new(), 0, 0);
    while let Some(item) = scanner.next_item()? {
        match item {
            Item::Record { record, .. } => {
                records += 1;
                done.puts += u64::from(matches!(record.body, Body::Put { .. }));
            }
            Item::Noop => {}
            Item::Gap(gap) if gap.kind == GapKind::Fill && gap.end == *len => {}
            Item::Gap(gap) => gaps.push(gap),
        }
        let at = scanner.position();
        if at - told >= PIECE as u64 {
            told = at;
            progress(at);
        }
        if gaps.len() >= MAX_STRETCHES {
            break;
        }
    }
    done.records += records + 1;
    if one.version == 0 && records == 0 && !gaps.is_empty() {
        done.left.push((path.clone(), Left::Foreign));
        return Ok(());
    }
    repair(disk, one, &gaps, done)
}

fn repair(disk: &dyn Disk, one: &Listed, gaps: &[Gap], done: &mut Integrity) -> io::Result<()> {
    let DataFile { path, len, .. } = &one.file;
    done.corrupt += gaps.len() as u64;
    for gap in gaps.iter().take(100 - done.damaged.len().min(100)) {
        done.damaged.push(Damaged { file: path.clone(), gap: *gap });
    }
    let edit = |gap: &Gap| {
        let (file, at, end) = (path.clone(), gap.at, gap.end);
        match gap.end == *len {
            _ if gap.unreadable => None,
            true => Some(Edit::Fill { file, at, end, keep: false }),
            false if end - at < FRAME_LEN as u64 => None,
            false => Some(Edit::Noop { file, at, end, keep: false }),
        }
    };
    let edits: Vec<Edit> = gaps.iter().filter_map(edit).collect();
    if edits.len() < gaps.len() {
        done.left.push((path.clone(), Left::Stretches((gaps.len() - edits.len()) as u64)));
    }
    if edits.is_empty() {
        return Ok(());
    }
    done.copies.push(copy(disk, path)?);
    mark_rewritten(disk, path.parent().unwrap_or(Path::new(".")))?;
    settle(disk, &edits)
}

/// Copies a file to `<name>.bak`, or to the first of `<name>.bak-2` and so on that is not there, durably.
fn copy(disk: &dyn Disk, path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let dir = path.parent().unwrap_or(Path::new("."));
    let from = disk.open(path, Mode::Read)?;
    let mut n = 1;
    let (to, file) = loop {
        let to = dir.join(if n == 1 { format!("{name}.bak") } else { format!("{name}.bak-{n}") });
        match disk.open(&to, Mode::Create) {
            Ok(file) => break (to, file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && n < 10_000 => n += 1,
            Err(error) => return Err(error),
        }
    };
    let mut piece = vec![0; PIECE];
    let mut at = 0;
    loop {
        let n = fill(&*from, at, &mut piece)?;
        if n == 0 {
            break;
        }
        file.write_at(at, &piece[..n])?;
        at += n as u64;
    }
    file.sync()?;
    disk.sync_dir(dir)?;
    Ok(to)
}
