//! What the source needs of a disk: the seam at which tests let it fail.

pub(super) use crate::shared::disk::{InFile, Stat};

use crate::shared::disk::replace;
use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    os::unix::fs::DirEntryExt,
    path::Path,
};

/// Directories, files to read, and small files to keep.
pub(super) trait Disk: Send {
    /// Calls with the name and inode of everything in a directory that is none itself.
    fn list(&self, directory: &Path, each: &mut dyn FnMut(&OsStr, u64)) -> io::Result<()>;

    /// What a path leads to.
    fn stat(&self, path: &Path) -> io::Result<Stat>;

    /// Opens a file for reading.
    fn open(&self, path: &Path) -> io::Result<Box<dyn InFile>>;

    /// A whole small file; `None` where there is none.
    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// Replaces a small file as a whole: whoever reads it finds the old or the new content, after a crash too.
    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()>;
}

/// The disk of the machine.
#[derive(Debug)]
pub(super) struct RealDisk;

impl Disk for RealDisk {
    fn list(&self, directory: &Path, each: &mut dyn FnMut(&OsStr, u64)) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                each(&entry.file_name(), entry.ino());
            }
        }
        Ok(())
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        fs::metadata(path).map(|metadata| Stat::of(&metadata))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn InFile>> {
        Ok(Box::new(File::open(path)?))
    }

    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match fs::read(path) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        replace(path, content)
    }
}
