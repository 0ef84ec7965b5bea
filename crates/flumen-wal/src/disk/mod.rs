//! The seam to the disk: what the log needs of a file system, with the real one and a simulated one that fails on purpose.

mod holders;
mod os;
pub mod simulated;

pub use holders::Holder;
pub use os::OsDisk;

use std::{fmt::Debug, io, path::Path, sync::Arc};

/// A file system. Paths are whole paths; nothing is written but through it.
pub trait Disk: Debug + Send + Sync + 'static {
    /// Makes a directory with its parents, and makes their names durable. One that is there is left alone.
    ///
    /// # Errors
    /// What the system says.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// The files and directories in a directory, sorted by name. Names that are not Unicode are left out, and what is neither
    /// (a pipe, a device): none of ours is among them.
    ///
    /// # Errors
    /// What the system says.
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>>;

    /// Opens a file; what is none (a directory, a pipe) counts as damaged data. Every call makes an open file description of its own: what one of them is told about a failed
    /// write-back, another is told too.
    ///
    /// # Errors
    /// What the system says.
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Arc<dyn DiskFile>>;

    /// Gives a file another name in one step, replacing what has that name.
    ///
    /// # Errors
    /// What the system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// What the system says.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory with all that is in it, or a file.
    ///
    /// # Errors
    /// What the system says.
    fn remove_all(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable.
    ///
    /// # Errors
    /// What the system says.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// How much may still be written below a directory.
    ///
    /// # Errors
    /// What the system says.
    fn free_space(&self, dir: &Path) -> io::Result<FreeSpace>;

    /// Locks a directory through its lock file, which is made where it is missing, against other processes (Java Flume
    /// among them) and against this one. `None`: somebody holds it. The lock lasts until the value is dropped.
    ///
    /// # Errors
    /// What the system says.
    fn lock(&self, lock_file: &Path) -> io::Result<Option<Box<dyn DiskLock>>>;

    /// Whether somebody else holds the lock of this file. Nothing is locked and nothing is written; a file that is not there
    /// is not locked.
    ///
    /// # Errors
    /// What the system says.
    fn is_locked(&self, lock_file: &Path) -> io::Result<bool>;

    /// Other processes that have files below one of these directories open or mapped, as far as can be told.
    fn holders(&self, dirs: &[&Path]) -> Holders;
}

/// What is free below a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpace {
    /// The file system that it lies in: directories with the same number share their space.
    pub file_system: u64,
    /// Bytes that may still be written.
    pub bytes: u64,
}

/// An open file. Reads and writes name their place; none moves another.
pub trait DiskFile: Debug + Send + Sync {
    /// Its length in bytes.
    ///
    /// # Errors
    /// What the system says.
    fn len(&self) -> io::Result<u64>;

    /// Whether it has no bytes.
    ///
    /// # Errors
    /// What the system says.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads up to the length of `into`; fewer at the end of the file, none behind it.
    ///
    /// # Errors
    /// What the system says.
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Writes all of it. After an error any part of it may be there.
    ///
    /// # Errors
    /// What the system says.
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Writes all of these parts, one behind the other. After an error any part of them may be there.
    ///
    /// # Errors
    /// What the system says.
    fn write_all_at(&self, at: u64, parts: &[&[u8]]) -> io::Result<()> {
        let mut at = at;
        for part in parts {
            self.write_at(at, part)?;
            at += part.len() as u64;
        }
        Ok(())
    }

    /// Cuts the file off, or lengthens it with zeros.
    ///
    /// # Errors
    /// What the system says.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes what was written durable, and the length with it. After an error nothing is known of what was written, and
    /// a later success says nothing about it either.
    ///
    /// # Errors
    /// What the system says.
    fn sync(&self) -> io::Result<()>;
}

/// A lock that is held.
pub trait DiskLock: Debug + Send {
    /// Whether the lock file is still the one under its name: who unlinks it lets another one in.
    fn is_current(&self) -> bool;
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// For reading; it must be there.
    Read,
    /// For reading and writing; it must be there.
    Write,
    /// As `Read`, for reads past the system's cache, on blocks as with `Direct`. Other reads work, and go through it.
    ReadDirect,
    /// As `Write`, for writes past the system's cache, where the file system has that: they begin and end on blocks of 4096
    /// bytes, in memory and in the file. (The simulated disk's blocks have 512.)
    Direct,
    /// For reading and writing; it must not be there, in no form.
    Create,
    /// For reading and writing; one that is there is emptied.
    Replace,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name without its directory.
    pub name: String,
    /// Whether it is a directory.
    pub is_dir: bool,
    /// The length of a file in bytes.
    pub len: u64,
}

/// Who uses a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holders {
    /// Those that could be seen.
    pub seen: Vec<Holder>,
    /// Whether a process could not be looked into (another user's) that may be a Java Flume by its name.
    pub blind: bool,
}

/// Reads exactly `len` bytes.
///
/// # Errors
/// `UnexpectedEof` where the file ends before, and what the system says.
pub fn read_exact(file: &dyn DiskFile, at: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    if fill(file, at, &mut bytes)? < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

/// Reads until `into` is full or the file ends, and says how much that was.
///
/// # Errors
/// What the system says.
pub fn fill(file: &dyn DiskFile, at: u64, into: &mut [u8]) -> io::Result<usize> {
    let mut n_read = 0;
    while n_read < into.len() {
        match file.read_at(at + n_read as u64, &mut into[n_read..]) {
            Ok(0) => break,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_read)
}

/// Reads a whole file of at most `limit` bytes.
///
/// # Errors
/// `InvalidData` where it is longer, and what the system says.
pub fn read_whole(disk: &dyn Disk, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = disk.open(path, Mode::Read)?;
    let len = file.len()?;
    if len > limit {
        let what = format!("{} has {len} bytes, more than the {limit} that are allowed", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let mut bytes = vec![0; usize::try_from(len).map_err(io::Error::other)?];
    let n_read = fill(&*file, 0, &mut bytes)?;
    bytes.truncate(n_read);
    Ok(bytes)
}

/// Writes a file aside, makes it durable, and puts it under its name in one step.
///
/// # Errors
/// What the system says. The file that had the name is then still there, or the new one is.
pub fn write_whole(disk: &dyn Disk, path: &Path, aside: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = disk.open(aside, Mode::Replace)?;
    file.write_at(0, bytes)?;
    file.sync()?;
    disk.rename(aside, path)?;
    match path.parent() {
        Some(dir) => disk.sync_dir(dir),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
