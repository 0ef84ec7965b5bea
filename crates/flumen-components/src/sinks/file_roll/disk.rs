//! What the sink needs of a disk: a seam, so that tests can let it fail.

use rustix::fs::OFlags;
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

/// What is written past the system's cache begins and ends on this, in the file and in memory.
pub(super) const BLOCK: usize = 4096;
/// Less is not worth waiting for the disk.
const LEAST_DIRECT: usize = 128 << 10;

/// A directory to make files in.
pub(super) trait Disk: Send {
    /// Makes a file that is not there yet, for appending. `synced`: all that is written to it is synced soon, so that what is
    /// large need not go through the system's cache.
    fn create_new(&mut self, path: &Path, synced: bool) -> io::Result<Box<dyn OutFile>>;
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
    fn create_new(&mut self, path: &Path, synced: bool) -> io::Result<Box<dyn OutFile>> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        let past_cache = || {
            let direct = OFlags::DIRECT.bits().cast_signed();
            let opened = OpenOptions::new().append(true).custom_flags(direct).open(path).ok()?;
            let id = |file: &File| file.metadata().ok().map(|of| (of.dev(), of.ino()));
            (id(&opened) == id(&file)).then_some(opened)
        };
        let direct = if synced { past_cache() } else { None };
        Ok(Box::new(RealFile { file, direct, len: 0 }))
    }

    fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

/// An open file of the machine.
#[derive(Debug)]
struct RealFile {
    file: File,
    /// The same, for whole blocks past the system's cache. `None`: where the file system has no such thing, or nothing is gained.
    direct: Option<File>,
    len: u64,
}

impl RealFile {
    /// The bytes before the first whole block of the file, the whole blocks, and the rest.
    fn cut<'a>(&self, bytes: &'a [u8]) -> [&'a [u8]; 3] {
        let before = (self.len.next_multiple_of(BLOCK as u64) - self.len) as usize;
        let blocks = bytes.len().saturating_sub(before) / BLOCK * BLOCK;
        let lies_right = bytes.as_ptr().addr().wrapping_add(before).is_multiple_of(BLOCK);
        if self.direct.is_none() || blocks < LEAST_DIRECT || !lies_right {
            return [bytes, &[], &[]];
        }
        let (first, rest) = bytes.split_at(before);
        let (blocks, last) = rest.split_at(blocks);
        [first, blocks, last]
    }

    fn append_blocks(&mut self, blocks: &[u8]) -> io::Result<()> {
        let mut rest = blocks;
        while let Some(direct) = self.direct.as_mut().filter(|_| !rest.is_empty()) {
            match direct.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => rest = &rest[n..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Not begun: the file is not as long as we think, or its blocks are larger than ours.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => self.direct = None,
                Err(error) => return Err(error),
            }
        }
        self.file.write_all(rest)
    }
}

impl OutFile for RealFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let [first, blocks, last] = self.cut(bytes);
        self.file.write_all(first)?;
        self.len += first.len() as u64;
        if !blocks.is_empty() {
            self.append_blocks(blocks)?;
            self.len += blocks.len() as u64;
            self.file.write_all(last)?;
            self.len += last.len() as u64;
        }
        Ok(())
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)?;
        self.len = len;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn is_removed(&self) -> bool {
        // A file system that cannot say it says so at the next write.
        self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }
}
