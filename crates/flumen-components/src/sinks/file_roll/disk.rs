//! What the sink needs of a disk: a seam, so that tests can let it fail.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::Path,
};

/// A directory to make files in.
pub(super) trait Disk: Send {
    /// Makes a file that is not there yet, for appending.
    fn create_new(&mut self, path: &Path) -> io::Result<Box<dyn OutFile>>;
    /// Makes the names in a directory outlive a power cut.
    fn sync_dir(&mut self, path: &Path) -> io::Result<()>;
}

/// An open file. Bytes go to its end.
pub(super) trait OutFile: Send {
    /// Writes all of the bytes; after an error some of them may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Cuts the file to this length.
    fn truncate(&mut self, len: u64) -> io::Result<()>;
    /// Makes the bytes outlive a power cut.
    fn sync(&mut self) -> io::Result<()>;
    /// Whether no name leads to the file any more: what is written to it is gone when it is closed.
    fn is_removed(&self) -> bool;
}

/// The disk of the machine.
#[derive(Debug)]
pub(super) struct RealDisk;

impl Disk for RealDisk {
    fn create_new(&mut self, path: &Path) -> io::Result<Box<dyn OutFile>> {
        Ok(Box::new(OpenOptions::new().append(true).create_new(true).open(path)?))
    }

    fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

impl OutFile for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn is_removed(&self) -> bool {
        // A file system that cannot say it says so at the next write.
        self.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }
}
