//! What the source needs of a disk: the seam at which tests let it fail.

use super::listing::with_suffix;
use crate::shared::disk::{InFile, Stat};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, FileType, OpenOptions},
    io::{self, ErrorKind, Write},
    path::Path,
};

/// Directories, files to read, and small files to keep.
pub(super) trait Disk: Send {
    /// Calls with the name of everything in a directory, and whether it is a directory itself.
    fn list(&self, directory: &Path, each: &mut dyn FnMut(OsString, bool)) -> io::Result<()>;

    /// What a path leads to.
    fn stat(&self, path: &Path) -> io::Result<Stat>;

    /// Opens a file for reading.
    fn open(&self, path: &Path) -> io::Result<Box<dyn InFile>>;

    /// Makes a directory, where there is none; not those above it.
    fn make_directory(&self, path: &Path) -> io::Result<()>;

    /// Makes a file that is not there yet, and the directories above it.
    fn create_new(&self, path: &Path, content: &[u8]) -> io::Result<()>;

    /// Gives a file a name that nothing has yet.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file, where there is one.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// A whole small file; `None` where there is none.
    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// Replaces a small file as a whole: whoever reads it finds the old or the new content. A power cut may undo it.
    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()>;

    /// Adds to the end of a file that is there.
    fn append(&self, path: &Path, content: &[u8]) -> io::Result<()>;
}

/// The disk of the machine.
#[derive(Debug)]
pub(super) struct RealDisk;

impl Disk for RealDisk {
    fn list(&self, directory: &Path, each: &mut dyn FnMut(OsString, bool)) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let is_directory = entry.file_type().as_ref().is_ok_and(FileType::is_dir);
            each(entry.file_name(), is_directory);
        }
        Ok(())
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        fs::metadata(path).map(|metadata| Stat::of(&metadata))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn InFile>> {
        Ok(Box::new(File::open(path)?))
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        match fs::create_dir(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            made => made,
        }
    }

    fn create_new(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        OpenOptions::new().write(true).create_new(true).open(path)?.write_all(content)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Some file systems cannot look and rename at once.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {
                if fs::symlink_metadata(to).is_ok() {
                    return Err(ErrorKind::AlreadyExists.into());
                }
                fs::rename(from, to)
            }
            renamed => Ok(renamed?),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    fn load(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match fs::read(path) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let new = with_suffix(path, OsStr::new(".new"));
        fs::write(&new, content)?;
        fs::rename(&new, path)
    }

    fn append(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        OpenOptions::new().append(true).open(path)?.write_all(content)
    }
}
