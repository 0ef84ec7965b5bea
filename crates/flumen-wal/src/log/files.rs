//! Names of data files, and how they come and go.

use crate::disk::{Disk, Mode, write_whole};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The path of a data file.
pub(super) fn path(dir: &Path, file: u32) -> PathBuf {
    dir.join(format!("log-{file}"))
}

fn meta_path(dir: &Path, file: u32) -> PathBuf {
    dir.join(format!("log-{file}.meta"))
}

/// Makes an empty data file and then its meta, durable both; the directory is the caller's. In this order, as Java ignores an
/// empty file without a meta, and stops at one with records.
pub(super) fn create(disk: &dyn Disk, dir: &Path, file: u32) -> io::Result<()> {
    disk.open(&path(dir, file), Mode::Create)?.sync()?;
    let meta = meta_path(dir, file);
    write_whole(disk, &meta, &meta.with_extension("meta.tmp"), &empty_meta(file))
}

/// Removes a data file and then its meta, and makes that durable. In this order, as Java ignores a meta without its file.
pub(super) fn remove(disk: &dyn Disk, dir: &Path, file: u32) -> io::Result<()> {
    for path in [path(dir, file), meta_path(dir, file)] {
        match disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    disk.sync_dir(dir)
}

/// The meta of a new file without encryption: version 3, its number, and no checkpoint.
fn empty_meta(file: u32) -> Vec<u8> {
    let mut out = vec![46, 0x0d, 3, 0, 0, 0, 0x15];
    out.extend_from_slice(&file.to_le_bytes());
    for tag in [0x19, 0x21, 0x31, 0x39] {
        out.push(tag);
        out.extend_from_slice(&[0; 8]);
    }
    out
}
