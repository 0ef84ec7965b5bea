//! One data file, `log-N`, and what lies beside it.

mod cipher;
mod meta;
mod scan;
mod sealed;

pub use cipher::{AUTHENTICATED, Cipher, CipherError, KeyLength, is_authenticated, is_known_cipher};
pub use meta::{Encryption, FoundMeta, Meta, find_meta};
pub use scan::{Gap, GapKind, Item, Scanner};

use crate::disk::Disk;
use std::{
    io,
    path::{Path, PathBuf},
};

/// How much of `0x80` Java writes ahead of its records: files end with up to so much of it.
pub const FILL_BYTES: u64 = 1 << 20;

/// A data file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// Its number.
    pub number: u32,
    /// Position of its directory.
    pub dir: usize,
    /// Where it is.
    pub path: PathBuf,
    /// Its length in bytes.
    pub len: u64,
}

/// The name of a data file.
pub fn file_name(number: u32) -> String {
    format!("log-{number}")
}

/// The name of a data file's meta.
pub fn meta_name(number: u32) -> String {
    format!("log-{number}.meta")
}

/// The number in the name of a data file: `log-`, digits, nothing else, and from 1 to 2^31-1. Other names are none of ours.
pub fn file_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("log-")?;
    let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = if all { digits.parse().ok()? } else { return None };
    (1..=i32::MAX as u32).contains(&number).then_some(number)
}

/// All data files, sorted by number and then by directory. A directory that is not there has none.
///
/// # Errors
/// What the disk says.
pub fn list(disk: &dyn Disk, dirs: &[PathBuf]) -> io::Result<Vec<DataFile>> {
    let mut files = Vec::new();
    for (dir, path) in dirs.iter().enumerate() {
        for entry in entries(disk, path)? {
            let Some(number) = file_number(&entry.name).filter(|_| !entry.is_dir) else { continue };
            files.push(DataFile { number, dir, path: path.join(&entry.name), len: entry.len });
        }
    }
    files.sort_by_key(|file| (file.number, file.dir));
    Ok(files)
}

/// The highest number that a name in these directories has, whatever has the name: no new data file gets it or a lower one.
///
/// # Errors
/// What the disk says.
pub(crate) fn highest_number(disk: &dyn Disk, dirs: &[PathBuf]) -> io::Result<u32> {
    let mut highest = 0;
    for dir in dirs {
        let there = entries(disk, dir)?;
        highest = there.iter().filter_map(|entry| file_number(&entry.name)).fold(highest, u32::max);
    }
    Ok(highest)
}

/// What is in a directory: nothing where it is not there.
pub(crate) fn entries(disk: &dyn Disk, dir: &Path) -> io::Result<Vec<crate::disk::Entry>> {
    match disk.list(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other,
    }
}

#[cfg(test)]
mod tests;
